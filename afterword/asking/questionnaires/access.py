"""Questionnaires within the reach of a caller, and what they have published."""

from afterword.asking.questionnaires import store
from afterword.asking.questionnaires.store import Questionnaire, Version
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database


async def get(db: Database, *, caller: Caller, questionnaire_id: str, is_locked: bool = False) -> Questionnaire:
    return await store.get_questionnaire(db, **caller.part, questionnaire_id=questionnaire_id, is_locked=is_locked)


async def lock(db: Database, *, caller: Caller, questionnaire_id: str) -> Questionnaire:
    return await get(db, caller=caller, questionnaire_id=questionnaire_id, is_locked=True)


async def published(db: Database, questionnaire: Questionnaire) -> Version | None:
    version_id = questionnaire.published_version_id
    if version_id is None:
        return None
    return await store.get_version(db, organization_id=questionnaire.organization_id, version_id=version_id)
