"""The places where questions are used, as sentences for the page before their removal."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from afterword.alerts.resources import Alert
from afterword.alerts.rules import store as alerts_store
from afterword.console import outline
from afterword.console.questionnaires import Work
from afterword.console.reports import SAVED_LISTING
from afterword.console.screens import Visit
from afterword.core.questionnaires import editing
from afterword.core.questionnaires.editing import Document
from afterword.core.wire.lists import Page
from afterword.db import Database
from afterword.pipelines import resources as pipelines_resources
from afterword.pipelines import store as pipelines_store
from afterword.reports import store as reports_store
from afterword.web import fields

LISTED_MAX: Final = 200
ALERTS: Final = fields.listing_of(Alert)
PIPELINES: Final = fields.listing_of(pipelines_resources.Pipeline)


async def sentences(visit: Visit, db: Database, work: Work, questions: Sequence[Document]) -> list[str]:
    """Jumps of other questions, the question that lists show, alerts, saved reports and pipelines."""
    words, found = visit.words, list[str]()
    ids = {str(one.get("question_id")) for one in questions}
    for question in questions:
        leading, asking = editing.uses_of(work.draft.definition, str(question.get("question_id")))
        found += [_of(words("The jump of {titles} leads to it."), visit, leading, ids)]
        found += [_of(words("The jump of {titles} asks for its answer."), visit, asking, ids)]
    if work.questionnaire.key_question_id in ids:
        found.append(words("It is the question that lists of responses show."))
    reach: dict[str, Any] = {
        "organization_id": visit.caller.organization_id,
        "application_ids": visit.caller.application_ids,
    }
    alerts = await alerts_store.list_alerts(db, **reach, page=Page.first(ALERTS, limit=LISTED_MAX))
    reports = await reports_store.list_custom_reports(db, **reach, page=Page.first(SAVED_LISTING, limit=LISTED_MAX))
    pipelines = await pipelines_store.list_pipelines(db, **reach, page=Page.first(PIPELINES, limit=LISTED_MAX))
    for text, rows in (
        (words("The alert {titles} uses it."), alerts.items),
        (words("The saved report {titles} uses it."), reports.items),
        (words("The pipeline {titles} uses it."), pipelines.items),
    ):
        using = [one.title for one in rows if any(editing.names(asdict(one), each) for each in ids)]
        found.append(_filled(text, using))
    return [one for one in found if one] or [words("It is used in no jump, alert, saved report or pipeline.")]


def _of(text: str, visit: Visit, questions: Sequence[Document], removed: set[str]) -> str:
    staying = [one for one in questions if one.get("question_id") not in removed]
    return _filled(text, [outline.title_of(visit.words, one) for one in staying])


def _filled(text: str, titles: Sequence[str]) -> str:
    return text.replace("{titles}", ", ".join(f"“{one}”" for one in titles)) if titles else ""
