"""The number of newest responses that a condition of the editor matches."""

from typing import Final

from afterword import errors
from afterword.alerts.previews import service
from afterword.console.questionnaires.questionnaires import Work
from afterword.console.screens import Visit
from afterword.db import Database

COUNT: Final = "count"  # in the address


def may_count(visit: Visit) -> bool:
    """The scope of trying an alert, which counts in the same way."""
    return "Alert.Create" in visit.caller.scopes


async def sentence(visit: Visit, db: Database, work: Work, condition: object) -> str:
    """In words; empty where nobody asked for it."""
    words = visit.words
    if COUNT not in visit.query or not may_count(visit):
        return ""
    columns = {
        "application_id": work.questionnaire.owner_application_id,
        "questionnaire_ids": [work.questionnaire.questionnaire_id],
        "trigger": "submitted",
        "conditions": condition,
        "assignment": None,
        "assigned_user_id": None,
    }
    try:
        found = await service.preview(db, caller=visit.caller, columns=columns)
    except errors.Invalid:
        return words("It asks for what is not published yet, so it cannot be counted.")
    return words(
        "Of the last {responses} responses, {matched} match.",
        responses=words.count(found.responses),
        matched=words.count(found.matched),
    )
