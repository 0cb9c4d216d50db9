"""The places where questions are used, as sentences for the page before their removal."""

from collections.abc import Sequence

from afterword.console.questionnaires import outline
from afterword.console.questionnaires.questionnaires import Work
from afterword.console.screens import Visit
from afterword.core.questionnaires import editing
from afterword.core.questionnaires.editing import Document
from afterword.db import Database
from afterword.search.uses import service as uses


async def sentences(visit: Visit, db: Database, work: Work, questions: Sequence[Document]) -> list[str]:
    """Jumps, conditions and texts, the question that lists show, alerts, sequences and saved reports."""
    words, found = visit.words, list[str]()
    ids = {str(one.get("question_id")) for one in questions}
    for question in questions:
        found += _uses_of(visit, work, str(question.get("question_id")), ids)
    if work.questionnaire.key_question_id in ids:
        found.append(words("It is the question that lists of responses show."))
    elsewhere = await uses.elsewhere(db, caller=visit.caller, question_ids=sorted(ids))
    for kind, text in (
        ("alert", words("The alert {titles} uses it.")),
        ("sequence", words("The sequence {titles} uses it.")),
        ("report", words("The saved report {titles} uses it.")),
    ):
        found.append(_filled(text, [one.title for one in elsewhere if one.kind == kind]))
    return [one for one in found if one] or [
        words("It is used in no jump, condition, text, alert, sequence or saved report.")
    ]


def _uses_of(visit: Visit, work: Work, question_id: str, removed: set[str]) -> list[str]:
    """In this questionnaire; those in what is removed too do not count."""
    words, document = visit.words, work.draft.definition
    leading, asking = editing.uses_of(document, question_id)
    piping = editing.piping_of(document, question_id)
    asked = editing.endings_asking(document, question_id)
    pages = [words("Page {n}", n=words.count(number)) for number in piping.groups]
    return [
        _of(words("The jump of {titles} leads to it."), visit, leading, removed),
        _of(words("A condition of {titles} asks for its answer."), visit, asking, removed),
        _filled(words("The ending {titles} asks for its answer."), [_ending(visit, work, one) for one in asked]),
        _of(words("The text of {titles} shows its answer."), visit, piping.questions, removed),
        _filled(words("The text of {titles} shows its answer."), pages),
        _filled(words("The ending {titles} shows its answer."), [_ending(visit, work, one) for one in piping.endings]),
        words("A text around the questions shows its answer.") if piping.is_around else "",
    ]


def _ending(visit: Visit, work: Work, ending: Document) -> str:
    number = 1 + [one.get("ending_id") for one in editing.endings_of(work.draft.definition)].index(ending["ending_id"])
    return outline.ending_name(visit.words, ending, number)


def _of(text: str, visit: Visit, questions: Sequence[Document], removed: set[str]) -> str:
    staying = [one for one in questions if one.get("question_id") not in removed]
    return _filled(text, [outline.title_of(visit.words, one) for one in staying])


def _filled(text: str, titles: Sequence[str]) -> str:
    return text.replace("{titles}", ", ".join(f"“{one}”" for one in titles)) if titles else ""
