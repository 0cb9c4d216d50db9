"""The form of the condition under which a question is asked."""

from functools import partial
from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.console import conditions
from afterword.console.conditions import Values
from afterword.console.questionnaires import condition_form, jump_rows, matching, outline
from afterword.console.questionnaires.builder import QUESTION, address_of, question_in, save
from afterword.console.questionnaires.questionnaires import Work, work_of
from afterword.console.screens import Screens, Visit
from afterword.core.questionnaires import editing
from afterword.core.questionnaires.editing import Document
from afterword.questionnaires import condition_rows
from afterword.questionnaires.condition_rows import Subjects
from afterword.web import html

SHOW_IF: Final = f"{QUESTION}/condition"

routes = Screens()


@routes.get(SHOW_IF, scope="Questionnaire.Update")
async def condition_page(visit: Visit) -> Response:
    async with visit.read() as db:
        work = await work_of(visit, db)
        question = question_in(work, visit.id("question_id"))
        condition = question.get("show_if")
        counts = await matching.of(visit, db, work)
        matching_text = counts.of_condition(question) if counts else ""
    values = conditions.stored(condition, _known(visit, work, condition))
    return _page(visit, work, question, values, matching_text=matching_text)


@routes.post(SHOW_IF, scope="Questionnaire.Update")
async def save_condition(visit: Visit) -> Response:
    """Drafts may be saved with errors; only a value that is no condition at all is refused."""
    question_id = visit.id("question_id")
    async with visit.read() as db:
        work = await work_of(visit, db)
    values = conditions.typed(visit)

    def change(document: Document) -> Document:
        condition = conditions.condition_of(visit, values, _known(visit, work, None))
        stored = errors.found(editing.question_of(document, question_id), "There is no such question.")
        condition_form.require_same(visit, condition_form.mark_of(stored.get("show_if")))
        kept = None if visit.form.text("then") == "remove" else condition
        return editing.with_question(document, {**stored, "show_if": kept})

    try:
        await save(visit, change)
    except (errors.Invalid, errors.Stale) as refusal:
        async with visit.read() as db:
            work = await work_of(visit, db)
        return _page(visit, work, question_in(work, question_id), values, refusal)
    return html.redirect(f"{address_of(visit)}/{question_id}?done=saved#show_if")


def _page(
    visit: Visit,
    work: Work,
    question: Document,
    values: Values,
    refusal: errors.Refusal | None = None,
    *,
    matching_text: str = "",
) -> Response:
    words, question_id = visit.words, str(question["question_id"])
    path, condition = f"{work.path}/edit/{question_id}", question.get("show_if")
    said = words("This condition cannot be published so.")
    return condition_form.page(
        visit,
        values,
        _known(visit, work, condition),
        title=words("When “{title}” is asked", title=outline.title_of(words, question)),
        hint=words("Rows without a subject are left out; without any, everybody is asked."),
        remove=words("Ask everybody") if condition else "",
        refusal=refusal,
        problems=condition_form.problems_of(
            work, question_id, "show_if", partial(condition_rows.place_of, rows=values.rows), said
        ),
        theirs=jump_rows.shown_sentence(words, work, question) if isinstance(refusal, errors.Stale) else "",
        matching=matching_text,
        path=path,
        action=f"{path}/condition",
        seen=condition_form.mark_of(condition),
    )


def _known(visit: Visit, work: Work, condition: object) -> Subjects:
    found = jump_rows.subjects(visit.words, work, visit.id("question_id"), is_own=False)
    return condition_rows.with_named(found, condition)
