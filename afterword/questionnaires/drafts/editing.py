"""Changes a part of a draft, so that an editor of one question need not send all others."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import definition as core_definition
from afterword.db import Database
from afterword.questionnaires import access
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.drafts import service, store
from afterword.questionnaires.drafts.store import Draft
from afterword.questionnaires.store import Questionnaire

Change = Callable[[dict[str, Any]], dict[str, Any]]


async def begun(db: Database, *, questionnaire: Questionnaire) -> dict[str, Any]:
    """The definition to edit: the draft's; without a draft the published version's, from which one begins."""
    draft = await store.get_draft(db, **questionnaire.key)
    if draft is not None:
        return draft.definition
    if questionnaire.published_version_id is None:
        return {"default_locale": questionnaire.default_locale, "groups": []}
    version = await questionnaires_store.get_version(
        db, organization_id=questionnaire.organization_id, version_id=questionnaire.published_version_id
    )
    return core_definition.document_of(version.definition)


async def edit(db: Database, *, caller: Caller, questionnaire_id: str, change: Change, now: datetime) -> Draft:
    """Save the draft as `change` makes it of the definition that is stored now. Raises NotFound, and what it raises."""
    questionnaire = await access.lock(db, caller=caller, questionnaire_id=questionnaire_id)
    document = change(await begun(db, questionnaire=questionnaire))
    draft, _ = await service.save(
        db,
        questionnaire=questionnaire,
        document=document,
        caller=caller,
        check_version=lambda _: None,  # the change was made of this very revision: the questionnaire is locked
        is_strict=False,
        now=now,
    )
    return draft
