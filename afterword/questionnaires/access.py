"""Questionnaires within the reach of a caller."""

from afterword.core.organizations.access import Caller
from afterword.db import Database
from afterword.questionnaires import store
from afterword.questionnaires.store import Questionnaire


async def get(db: Database, *, caller: Caller, questionnaire_id: str, is_locked: bool = False) -> Questionnaire:
    return await store.get_questionnaire(db, **caller.part, questionnaire_id=questionnaire_id, is_locked=is_locked)


async def lock(db: Database, *, caller: Caller, questionnaire_id: str) -> Questionnaire:
    return await get(db, caller=caller, questionnaire_id=questionnaire_id, is_locked=True)
