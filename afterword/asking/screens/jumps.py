"""The forms of a jump and of the condition under which a question is asked, and all ways through a questionnaire."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from starlette.responses import Response

from afterword import errors
from afterword.asking.questionnaires import condition_rows
from afterword.asking.questionnaires.condition_rows import Row, Subjects
from afterword.asking.screens import question_form, questionnaires
from afterword.asking.screens.builder import QUESTION, question_in, save
from afterword.asking.screens.question_form import Matching
from afterword.asking.screens.questionnaires import ONE, Work, work_of
from afterword.console import conditions
from afterword.console.inputs import require_same
from afterword.console.screens import Database, Screens, Visit
from afterword.core import charts
from afterword.core.questionnaires import editing
from afterword.core.questionnaires.editing import Document
from afterword.core.questionnaires.flow import Flow

JUMP: Final = f"{QUESTION}/jump/{{number}}"
NEW: Final = "new"

routes = Screens()


@routes.get(JUMP, scope="Questionnaire.Update")
async def jump_page(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    words, question_id = visit.words, visit.id("question_id")
    work = await work_of(visit, db)
    question = question_in(work, question_id)
    path, is_new = f"{work.path}/edit/{question_id}", visit.id("number") == NEW
    jump, counts = _jump_in(visit, question), None
    if refusal is None:
        stored = errors.found(jump, "There is no such jump.")
        counts = None if is_new else await question_form.matching_of(visit, db, work)
        values = conditions.stored(stored.get("conditions"), _known(visit, work, stored.get("conditions")))
        target = str(stored.get("target_question_id") or "")
    else:
        values, target = conditions.typed(visit.form), visit.form.text("target")
    said = words("This jump cannot be published like this.")
    return question_form.page(
        visit,
        values,
        question_form.subjects(words, work, question_id),
        title=words("After “{title}”", title=questionnaires.title_of(words, question)),
        lead=words("If"),
        hint=words("Without a condition, the jump is always made. The first jump that matches is used."),
        remove="" if is_new else words("Remove the jump"),
        refusal=refusal,
        problems=question_form.problems_of(
            work, question_id, f"jumps/{visit.id('number')}", partial(_field, values.rows), said
        ),
        first=Row(f"question:{question_id}", "equal") if is_new and refusal is None else None,
        theirs=_theirs(visit, work, question) if isinstance(refusal, errors.Stale) else "",
        matching=counts.of_jump(question, _number(visit, question)) if counts else "",
        path=path,
        action=f"{path}/jump/{visit.id('number')}",
        seen=question_form.mark_of(jump),
        target=target,
        targets=question_form.targets(words, work.draft.definition, question_id),
    )


@routes.post(JUMP, scope="Questionnaire.Update", again=(errors.Invalid, errors.Stale))
async def save_jump(visit: Visit) -> Response:
    """Drafts may be saved with errors; a value that does not fit its field is refused."""
    form, question_id = visit.form, visit.id("question_id")
    work = await visit.reading(work_of)
    question_in(work, question_id)
    values = conditions.typed(visit.form)

    def change(document: Document) -> Document:
        is_removal = form.text("then") == "remove"
        condition = None if is_removal else conditions.condition_of(visit, values, _known(visit, work, None))
        jump = {"target_question_id": form.text("target") or None, "conditions": condition}
        stored = editing.question_of(document, question_id) or {}
        if visit.id("number") != NEW:
            require_same(visit, question_form.mark_of(_jump_in(visit, stored)), "seen")
        changed = editing.with_jump(stored, _number(visit, stored), None if is_removal else jump)
        return editing.with_question(document, changed) if stored else document

    return await save(visit, change, then=f"/{question_id}#jumps")


def _theirs(visit: Visit, work: Work, question: Document) -> str:
    found = question_form.sentences(visit.words, work, question, path="")
    number = _number(visit, question)
    return found[number]["text"] if number < len(found) else visit.words("Removed.")


def _field(rows: Sequence[Row], parts: list[str]) -> str:
    return condition_rows.place_of(parts[1:], rows) if parts[:1] == ["conditions"] else "target"


def _known(visit: Visit, work: Work, condition: object) -> Subjects:
    return condition_rows.with_named(question_form.subjects(visit.words, work, visit.id("question_id")), condition)


def _jump_in(visit: Visit, question: Document) -> Document | None:
    if visit.id("number") == NEW:
        return {"conditions": None}
    jumps, number = editing.jumps_of(question), _number(visit, question)
    return jumps[number] if number < len(jumps) else None


def _number(visit: Visit, question: Document) -> int:
    """The place of the jump; behind the last one for a new one and for one that is gone."""
    number, count = visit.id("number"), len(editing.jumps_of(question))
    return min(int(number[:4]), count) if number.isascii() and number.isdigit() else count


SHOW_IF: Final = f"{QUESTION}/condition"


@routes.get(SHOW_IF, scope="Questionnaire.Update")
async def condition_page(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    words, question_id = visit.words, visit.id("question_id")
    work = await work_of(visit, db)
    question = question_in(work, question_id)
    path, condition = f"{work.path}/edit/{question_id}", question.get("show_if")
    known = _known_before(visit, work, condition)
    counts = await question_form.matching_of(visit, db, work) if refusal is None else None
    values = conditions.typed(visit.form) if refusal else conditions.stored(condition, known)
    said = words("This condition cannot be published like this.")
    return question_form.page(
        visit,
        values,
        known,
        title=words("When “{title}” is asked", title=questionnaires.title_of(words, question)),
        lead=words("Ask it if"),
        hint=words("Without a condition, everyone is asked."),
        remove=words("Ask everyone") if condition else "",
        refusal=refusal,
        problems=question_form.problems_of(
            work, question_id, "show_if", partial(condition_rows.place_of, rows=values.rows), said
        ),
        theirs=question_form.shown_sentence(words, work, question) if isinstance(refusal, errors.Stale) else "",
        matching=counts.of_condition(question) if counts else "",
        path=path,
        action=f"{path}/condition",
        seen=question_form.mark_of(condition),
    )


@routes.post(SHOW_IF, scope="Questionnaire.Update", again=(errors.Invalid, errors.Stale))
async def save_condition(visit: Visit) -> Response:
    """Drafts may be saved with errors; a value that does not fit its field is refused."""
    question_id = visit.id("question_id")
    work = await visit.reading(work_of)
    values = conditions.typed(visit.form)

    def change(document: Document) -> Document:
        is_removal = visit.form.text("then") == "remove"
        condition = None if is_removal else conditions.condition_of(visit, values, _known_before(visit, work, None))
        stored = errors.found(editing.question_of(document, question_id), "There is no such question.")
        require_same(visit, question_form.mark_of(stored.get("show_if")), "seen")
        return editing.with_question(document, {**stored, "show_if": condition})

    return await save(visit, change, then=f"/{question_id}#show_if")


def _known_before(visit: Visit, work: Work, condition: object) -> Subjects:
    found = question_form.subjects(visit.words, work, visit.id("question_id"), is_own=False)
    return condition_rows.with_named(found, condition)


FLOW: Final = f"{ONE}/flow"


@routes.get(FLOW, scope="Questionnaire.Read")
async def flow_page(visit: Visit, db: Database) -> Response:
    words = visit.words
    work = await work_of(visit, db)
    is_counted = any(map(question_form.is_counted, editing.all_questions(work.draft.definition)))
    counts = await question_form.matching_of(visit, db, work) if is_counted else None
    flow = Flow(work.definition)
    rows = {question_id: number for number, question_id in enumerate(flow.nodes)}
    end = len(rows)
    lines = {
        (rows[edge.source], end if edge.target is None else rows[edge.target])
        for edge in flow.edges
        if edge.source is not None and edge.jump is not None
    }
    pieces, count = charts.pieces(sorted(lines), rows=end + 1)
    unreached = set(flow.unreachable)
    may_edit = "Questionnaire.Update" in visit.caller.scopes
    questions = [(one, editing.question_of(work.draft.definition, one) or {}) for one in flow.nodes]
    return visit.page(
        "flow.html",
        title=words("Paths through “{name}”", name=work.questionnaire.display_name),
        path=work.path,
        width=charts.width(count),
        end=pieces[end],
        rows=[
            {
                "title": questionnaires.title_of(words, question),
                "url": f"{work.path}/edit/{question_id}" if may_edit else "",
                "jumps": _sentences(visit, work, question, counts),
                "is_unreached": question_id in unreached,
                "pieces": pieces[number],
            }
            for number, (question_id, question) in enumerate(questions)
        ],
    )


def _sentences(visit: Visit, work: Work, question: Document, counts: Matching | None) -> list[str]:
    words = visit.words
    shown = [question_form.shown_sentence(words, work, question)] if question.get("show_if") else []
    asked = [counts.of_condition(question)] if counts and shown else []
    jumps = [
        f"{one['text']} {counts.of_jump(question, number) if counts else ''}".strip()
        for number, one in enumerate(question_form.sentences(words, work, question, path=""))
    ]
    return [*([" ".join([*shown, *asked]).strip()] if shown else []), *jumps]
