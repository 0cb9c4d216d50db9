"""Questionnaires within the reach of a caller, and what they have published."""

from collections.abc import Collection

from afterword.asking.questionnaires import store
from afterword.asking.questionnaires.store import Questionnaire, Version
from afterword.core.organizations.access import Caller, Part
from afterword.kit.db import Database
from afterword.kit.ui import lists


async def get(db: Database, *, caller: Caller, questionnaire_id: str, is_locked: bool = False) -> Questionnaire:
    return await store.get_questionnaire(db, **caller.part, questionnaire_id=questionnaire_id, is_locked=is_locked)


async def lock(db: Database, *, caller: Caller, questionnaire_id: str) -> Questionnaire:
    return await get(db, caller=caller, questionnaire_id=questionnaire_id, is_locked=True)


async def offered(db: Database, part: Part, *, also: Collection[str] = ()) -> list[Questionnaire]:
    """The newest of a part, to choose from, and those with the ids `also`, which were chosen before."""
    return await lists.offered(db, store.list_questionnaires, store.LISTING, part, also)


async def published(db: Database, questionnaire: Questionnaire) -> Version | None:
    version_id = questionnaire.published_version_id
    if version_id is None:
        return None
    return await store.get_version(db, organization_id=questionnaire.organization_id, version_id=version_id)
