"""The form of one jump: its condition as rows, and the question that it leads to."""

import hashlib
import json
from typing import Any, Final

from starlette.responses import Response

from afterword import errors
from afterword.console.cases.alert_rule_form import GROUPS, json_of
from afterword.console.questionnaires import jump_rows, outline
from afterword.console.questionnaires.builder import QUESTION, address_of, question_in, save
from afterword.console.questionnaires.questionnaires import Work, work_of
from afterword.console.screens import Screens, Visit
from afterword.core.questionnaires import editing
from afterword.core.questionnaires.editing import Document
from afterword.questionnaires import condition_rows
from afterword.questionnaires.condition_rows import COMPARISONS, Row, Subjects
from afterword.web import html, parsing

JUMP: Final = f"{QUESTION}/jump/{{number}}"
NEW: Final = "new"
CONDITION_DEPTH_MAX: Final = 16  # of the 24 levels that a definition may have

routes = Screens()


@routes.get(JUMP, scope="Questionnaire.Update")
async def jump_page(visit: Visit) -> Response:
    async with visit.read() as db:
        work = await work_of(visit, db)
    question = question_in(work, visit.id("question_id"))
    jump = _jump_in(visit, question)
    if jump is None:
        raise errors.NotFound("There is no such jump.")
    known = _known(visit, work, jump.get("conditions"))
    found = condition_rows.rows_of(jump.get("conditions"), known)
    group, rows = found or ("all", [])
    document = "" if found else json_of(jump.get("conditions"))
    return _page(visit, work, question, target=str(jump.get("target_question_id") or ""), group=group, rows=rows,
                 document=document, mark=_mark(visit, question))  # fmt: skip


@routes.post(JUMP, scope="Questionnaire.Update")
async def save_jump(visit: Visit) -> Response:
    """Saved even if it is wrong, as all of a draft; only what is no condition at all is asked for again."""
    form, question_id = visit.form, visit.id("question_id")
    async with visit.read() as db:
        work = await work_of(visit, db)
    question = question_in(work, question_id)
    rows, group = condition_rows.typed_rows(form.text), form.text("group")
    known = _known(visit, work, None)
    shown: dict[str, Any] = {"target": form.text("target"), "group": group, "rows": rows}
    shown |= {"document": form.text("document"), "mark": form.text("seen")}
    try:
        condition = (
            parsing.read_json(form.text("document").encode(), depth_max=CONDITION_DEPTH_MAX)
            if form.text("document")
            else condition_rows.document_of(group, rows, known)
        )
    except errors.Malformed:
        wrong = errors.Invalid.at("/document", "invalid_format", visit.words("This is no JSON."))
        return _page(visit, work, question, refusal=wrong, **shown)
    jump = {"target_question_id": form.text("target") or None, "conditions": condition}

    def change(document: Document) -> Document:
        stored = editing.question_of(document, question_id) or {}
        if visit.id("number") != NEW and _mark(visit, stored) != form.text("seen"):
            raise errors.Stale(
                visit.words(
                    "Somebody changed this in the meantime. Compare below; saving again replaces their changes."
                )
            )
        changed = editing.with_jump(stored, _number(visit, stored), None if form.text("then") == "remove" else jump)
        return editing.with_question(document, changed) if stored else document

    try:
        await save(visit, change)
    except errors.Stale as stale:
        async with visit.read() as db:
            work = await work_of(visit, db)
        question = question_in(work, question_id)
        return _page(visit, work, question, refusal=stale, **(shown | {"mark": _mark(visit, question)}))
    return html.redirect(f"{address_of(visit)}/{question_id}?done=saved#jumps")


def _page(
    visit: Visit,
    work: Work,
    question: Document,
    *,
    target: str,
    group: str,
    rows: list[Row],
    document: str,
    mark: str,
    refusal: errors.Refusal | None = None,
) -> Response:
    words, question_id = visit.words, str(question["question_id"])
    known = jump_rows.subjects(words, work, question_id)
    path = f"{work.path}/edit/{question_id}"
    is_new = visit.id("number") == NEW
    return visit.page(
        "jump.html",
        title=words("After “{title}”", title=outline.title_of(words, question)),
        status=refusal.status if refusal else 200,
        refusal=refusal or _wrong(visit, work, question_id),
        theirs=_theirs(visit, work, question) if isinstance(refusal, errors.Stale) else "",
        path=path,
        action=f"{path}/jump/{visit.id('number')}",
        is_new=is_new,
        seen=mark,
        target=target,
        targets=jump_rows.targets(words, work.draft.definition, question_id),
        group=group,
        groups=[(name, words(text)) for name, text in GROUPS.items()],
        rows=condition_rows.shown_rows([*rows, *([Row(f"question:{question_id}", "less_equal")] if is_new else [])]),
        grouped=condition_rows.grouped(known),
        labels=condition_rows.suggestions(known),
        comparisons=[(name, words(text)) for name, text in COMPARISONS.items()],
        document=document,
    )


def _theirs(visit: Visit, work: Work, question: Document) -> str:
    """The jump that is stored now, in words."""
    found = jump_rows.sentences(visit.words, work, question, path="")
    number = _number(visit, question)
    return found[number]["text"] if number < len(found) else visit.words("It was removed.")


def _wrong(visit: Visit, work: Work, question_id: str) -> errors.Refusal | None:
    """The problems of this jump at its fields."""
    groups = editing.groups_of(work.draft.definition)
    found = [
        errors.FieldError(one.code, one.message, pointer=f"/{_field(one.path.split('/')[7:])}")
        for number, group in enumerate(groups)
        for place, each in enumerate(editing.questions_of(group))
        if each.get("question_id") == question_id
        for one in work.findings
        if one.path.startswith(f"/groups/{number}/questions/{place}/jumps/{visit.id('number')}/")
    ]
    return errors.Invalid(visit.words("This jump cannot be published so."), errors=found) if found else None


def _field(parts: list[str]) -> str:
    return condition_rows.place_of(parts[1:]) if parts[:1] == ["conditions"] else "target"


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


def _mark(visit: Visit, question: Document) -> str:
    """The jump in short, by which a change of somebody else is noticed; empty for none."""
    jump = _jump_in(visit, question)
    return hashlib.sha256(json.dumps(jump, sort_keys=True).encode()).hexdigest()[:16] if jump else ""
