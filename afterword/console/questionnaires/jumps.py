"""The form of one jump: its condition as rows, and the question that it leads to."""

from collections.abc import Sequence
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
from afterword.questionnaires.condition_rows import Row, Subjects
from afterword.web import html

JUMP: Final = f"{QUESTION}/jump/{{number}}"
NEW: Final = "new"

routes = Screens()


@routes.get(JUMP, scope="Questionnaire.Update")
async def jump_page(visit: Visit) -> Response:
    async with visit.read() as db:
        work = await work_of(visit, db)
        question = question_in(work, visit.id("question_id"))
        jump = errors.found(_jump_in(visit, question), "There is no such jump.")
        counts = await matching.of(visit, db, work) if visit.id("number") != NEW else None
        matching_text = counts.of_jump(question, _number(visit, question)) if counts else ""
    values = conditions.stored(jump.get("conditions"), _known(visit, work, jump.get("conditions")))
    target = str(jump.get("target_question_id") or "")
    return _page(visit, work, question, target, values, matching_text=matching_text)


@routes.post(JUMP, scope="Questionnaire.Update")
async def save_jump(visit: Visit) -> Response:
    """Drafts may be saved with errors; only a value that is no condition at all is refused."""
    form, question_id = visit.form, visit.id("question_id")
    async with visit.read() as db:
        work = await work_of(visit, db)
    question_in(work, question_id)
    values = conditions.typed(visit)

    def change(document: Document) -> Document:
        condition = conditions.condition_of(visit, values, _known(visit, work, None))
        jump = {"target_question_id": form.text("target") or None, "conditions": condition}
        stored = editing.question_of(document, question_id) or {}
        if visit.id("number") != NEW:
            condition_form.require_same(visit, condition_form.mark_of(_jump_in(visit, stored)))
        changed = editing.with_jump(stored, _number(visit, stored), None if form.text("then") == "remove" else jump)
        return editing.with_question(document, changed) if stored else document

    try:
        await save(visit, change)
    except (errors.Invalid, errors.Stale) as refusal:
        async with visit.read() as db:
            work = await work_of(visit, db)
        return _page(visit, work, question_in(work, question_id), form.text("target"), values, refusal=refusal)
    return html.redirect(f"{address_of(visit)}/{question_id}?done=saved#jumps")


def _page(
    visit: Visit,
    work: Work,
    question: Document,
    target: str,
    values: Values,
    *,
    refusal: errors.Refusal | None = None,
    matching_text: str = "",
) -> Response:
    words, question_id = visit.words, str(question["question_id"])
    path, is_new = f"{work.path}/edit/{question_id}", visit.id("number") == NEW
    said = words("This jump cannot be published so.")
    return condition_form.page(
        visit,
        values,
        jump_rows.subjects(words, work, question_id),
        title=words("After “{title}”", title=outline.title_of(words, question)),
        hint=words(
            "Rows without a subject are left out; without any, it always goes there. "
            "The first jump that matches decides."
        ),
        remove="" if is_new else words("Remove the jump"),
        refusal=refusal,
        problems=condition_form.problems_of(
            work, question_id, f"jumps/{visit.id('number')}", partial(_field, values.rows), said
        ),
        first=Row(f"question:{question_id}", "less_equal") if is_new else None,
        theirs=_theirs(visit, work, question) if isinstance(refusal, errors.Stale) else "",
        matching=matching_text,
        path=path,
        action=f"{path}/jump/{visit.id('number')}",
        seen=condition_form.mark_of(_jump_in(visit, question)),
        target=target,
        targets=jump_rows.targets(words, work.draft.definition, question_id),
    )


def _theirs(visit: Visit, work: Work, question: Document) -> str:
    found = jump_rows.sentences(visit.words, work, question, path="")
    number = _number(visit, question)
    return found[number]["text"] if number < len(found) else visit.words("It was removed.")


def _field(rows: Sequence[Row], parts: list[str]) -> str:
    return condition_rows.place_of(parts[1:], rows) if parts[:1] == ["conditions"] else "target"


def _known(visit: Visit, work: Work, condition: object) -> Subjects:
    return condition_rows.with_named(jump_rows.subjects(visit.words, work, visit.id("question_id")), condition)


def _jump_in(visit: Visit, question: Document) -> Document | None:
    if visit.id("number") == NEW:
        return {"conditions": None}
    jumps, number = editing.jumps_of(question), _number(visit, question)
    return jumps[number] if number < len(jumps) else None


def _number(visit: Visit, question: Document) -> int:
    """The place of the jump; behind the last one for a new one and for one that is gone."""
    number, count = visit.id("number"), len(editing.jumps_of(question))
    return min(int(number[:4]), count) if number.isascii() and number.isdigit() else count
