"""The form of a condition in the editor: rows, or JSON for a tree that rows cannot show; wrong ones are saved too."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from afterword import errors
from afterword.console.conditions import Values, values_of
from afterword.console.questionnaires.questionnaires import Work
from afterword.console.screens import Visit
from afterword.core.questionnaires import editing
from afterword.errors import Refusal
from afterword.questionnaires.condition_rows import Row, Subjects
from afterword.web import static


def page(
    visit: Visit,
    values: Values,
    known: Subjects,
    *,
    title: str,
    hint: str,
    remove: str,
    seen: str,
    refusal: Refusal | None,
    problems: Refusal | None,
    first: Row | None = None,
    **others: Any,
) -> Response:
    """`remove`: the label of the button that takes it out, if there is one. `first`: a row to begin with."""
    words = visit.words
    return visit.page(
        "jump.html",
        title=title,
        status=refusal.status if refusal else 200,
        refusal=refusal or problems,
        script=static.url("console/edit.js"),
        hint=hint,
        remove=remove,
        **values_of(words, values, known, first=first),
        seen=visit.form.text("seen") if isinstance(refusal, errors.Invalid) else seen,
        **{"theirs": "", "targets": (), "target": "", **others},
    )


def require_same(visit: Visit, mark: str) -> None:
    """Raise Stale if the form began with something else than is stored now."""
    if mark != visit.form.text("seen"):
        raise errors.Stale(
            visit.words("Somebody changed this in the meantime. Compare below; saving again replaces their changes.")
        )


def mark_of(value: object) -> str:
    """A digest of what is stored, by which a change of somebody else is noticed; empty for nothing."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16] if value else ""


def problems_of(
    work: Work, question_id: str, below: str, field: Callable[[list[str]], str], said: str
) -> Refusal | None:
    """The problems of a question below a pointer, at the fields that `field` names by the parts of the rest of it."""
    found = [
        errors.FieldError(one.code, one.message, pointer=f"/{field(one.path.removeprefix(path).split('/')[1:])}")
        for number, group in enumerate(editing.groups_of(work.draft.definition))
        for place, each in enumerate(editing.questions_of(group))
        if each.get("question_id") == question_id
        for path in [f"/groups/{number}/questions/{place}/{below}"]
        for one in work.findings
        if f"{one.path}/".startswith(f"{path}/")
    ]
    return errors.Invalid(said, errors=found) if found else None
