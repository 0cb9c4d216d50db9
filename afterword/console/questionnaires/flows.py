"""The ways through a questionnaire: each jump as a line beside its questions, and those that nobody reaches."""

from typing import Final

from starlette.responses import Response

from afterword.console.questionnaires import jump_rows, matching, outline
from afterword.console.questionnaires.matching import Matching
from afterword.console.questionnaires.questionnaires import ONE, Work, work_of
from afterword.console.screens import Screens, Visit
from afterword.core.charts import lanes
from afterword.core.questionnaires import editing
from afterword.core.questionnaires.editing import Document
from afterword.core.questionnaires.flow import Flow

FLOW: Final = f"{ONE}/flow"

routes = Screens()


@routes.get(FLOW, scope="Questionnaire.Read")
async def flow_page(visit: Visit) -> Response:
    words = visit.words
    async with visit.read() as db:
        work = await work_of(visit, db)
        is_counted = any(map(matching.is_counted, _questions(work)))
        counts = await matching.of(visit, db, work) if is_counted else None
    flow = Flow(work.definition)
    rows = {question_id: number for number, question_id in enumerate(flow.nodes)}
    end = len(rows)
    lines = {
        (rows[edge.source], end if edge.target is None else rows[edge.target])
        for edge in flow.edges
        if edge.source is not None and edge.jump is not None
    }
    pieces, count = lanes.pieces(sorted(lines), rows=end + 1)
    unreached = set(flow.unreachable)
    may_edit = "Questionnaire.Update" in visit.caller.scopes
    questions = [(one, editing.question_of(work.draft.definition, one) or {}) for one in flow.nodes]
    return visit.page(
        "flow.html",
        title=words("Ways through “{name}”", name=work.questionnaire.display_name),
        path=work.path,
        width=lanes.width(count),
        end=pieces[end],
        rows=[
            {
                "title": outline.title_of(words, question),
                "url": f"{work.path}/edit/{question_id}" if may_edit else "",
                "jumps": _sentences(visit, work, question, counts),
                "is_unreached": question_id in unreached,
                "pieces": pieces[number],
            }
            for number, (question_id, question) in enumerate(questions)
        ],
    )


def _sentences(visit: Visit, work: Work, question: Document, counts: Matching | None) -> list[str]:
    """Its condition and its jumps, each with the number of responses for which it holds."""
    words = visit.words
    shown = [jump_rows.shown_sentence(words, work, question)] if question.get("show_if") else []
    asked = [counts.of_condition(question)] if counts and shown else []
    jumps = [
        f"{one['text']} {counts.of_jump(question, number) if counts else ''}".strip()
        for number, one in enumerate(jump_rows.sentences(words, work, question, path=""))
    ]
    return [*([" ".join([*shown, *asked]).strip()] if shown else []), *jumps]


def _questions(work: Work) -> list[Document]:
    return [one for group in editing.groups_of(work.draft.definition) for one in editing.questions_of(group)]
