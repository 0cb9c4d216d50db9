"""The endings of a questionnaire in its editor: their order with their conditions in words, and the form of one."""

from collections.abc import Mapping, Sequence
from typing import Final

from starlette.responses import Response

from afterword import errors, ids
from afterword.asking.coupons import POOL
from afterword.asking.instances import quotas
from afterword.asking.questionnaires import condition_rows
from afterword.asking.questionnaires.condition_rows import Row, Subjects
from afterword.asking.screens import question_form, questionnaires
from afterword.asking.screens.builder import EDIT, address_of, movable, save, show
from afterword.asking.screens.question_form import TextVariables, inserts
from afterword.asking.screens.questionnaires import Work, work_of
from afterword.console import conditions
from afterword.console.inputs import require_same, theirs_of
from afterword.console.screens import Form, Screens, Visit
from afterword.core.questionnaires import editing, endings
from afterword.core.questionnaires.editing import Document
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.texts import Marked, Texts
from afterword.kit.web import html

LIST: Final = f"{EDIT}/endings"
ENDING: Final = f"{LIST}/{{ending_id}}"
FIELDS: Final = (*endings.TEXTS, *endings.ADDRESSES)
LABELS: Final[Mapping[str, Marked]] = {
    "title": "Title", "text": "Text", "button_label": "Text of the button", "review_label": "Text of the review link",
    "button_url": "Address of the button", "review_url": "Address of the review link",
    "responses_max": "Maximum number of responses", "coupon_pool": "Coupon", "call_back": "Call back",
}  # fmt: skip
NUMBER_DIGITS_MAX: Final = 9
QUOTA_RESPONSES: Final = 100  # of a new quota

routes = Screens()


@routes.get(LIST, scope="Questionnaire.Update")
async def list_endings(visit: Visit, db: Database) -> Response:
    words = visit.words
    work = await work_of(visit, db)
    counts = await _counts(visit, db, work)
    known = _known(words, work, None)
    whole = editing.endings_of(work.draft.definition)
    found = [one for one in whole if not editing.is_quota(one)]
    rows = [
        {
            "url": f"{work.path}/edit/endings/{one.get('ending_id')}",
            "condition": _condition(words, one, known, is_first=number == 1),
            "name": questionnaires.ending_name(words, one, number),
            "is_first": number == 1,
            "is_last": number == len(found),
        }
        for number, one in enumerate(found, 1)
    ]
    quota_rows = [
        {
            "url": f"{work.path}/edit/endings/{one.get('ending_id')}",
            "condition": _condition(words, one, known, is_first=True),
            "name": questionnaires.ending_name(words, one, number),
            "count": words(
                "{n} of {max} responses",
                n=counts.get(str(one.get("ending_id")), 0),
                max=one.get("responses_max"),
            ),
        }
        for number, one in enumerate(whole, 1)
        if editing.is_quota(one)
    ]
    may_add = len(whole) < endings.ENDINGS_MAX
    listed = {"rows": rows, "quotas": quota_rows, "may_add": may_add}
    return show(visit, work, title=words("Endings"), current="endings", endings=listed)


@routes.post(LIST, scope="Questionnaire.Update")
async def add_ending(visit: Visit) -> Response:
    ending_id = ids.ordered(visit.now)
    ending: Document = {"ending_id": ending_id}
    if visit.form.text("kind") == "quota":
        ending["responses_max"] = QUOTA_RESPONSES
    await save(visit, lambda document: editing.with_ending(document, ending_id, ending))
    return html.redirect(f"{address_of(visit)}/endings/{ending_id}")


@routes.post(ENDING, scope="Questionnaire.Update", again=(errors.Invalid, errors.Stale))
async def save_ending(visit: Visit) -> Response:
    """Drafts may be saved with errors; a value that does not fit its field is refused."""
    ending_id, work = visit.id("ending_id"), await visit.reading(work_of)
    typed, values = _typed(visit.form, inserts(work)), conditions.typed(visit.form)

    def change(document: Document) -> Document:
        stored = errors.found(editing.ending_of(document, ending_id), "There is no such ending.")
        require_same(visit, _mark(stored), "seen")
        condition = conditions.condition_of(visit, values, _known(visit.words, work, None))
        return editing.with_ending(document, ending_id, {**stored, **typed, "conditions": condition})

    return await save(visit, change, then=f"/endings/{ending_id}")


movable(routes, ENDING, "ending_id", editing.moved_ending, editing.without_ending, own="/endings", is_listed=True)


@routes.get(ENDING, scope="Questionnaire.Update")
async def _page(visit: Visit, db: Database, refusal: errors.Refusal | None = None) -> Response:
    work, pools = await work_of(visit, db), await _pools(visit, db)
    words, insert = visit.words, inserts(work)
    every = editing.endings_of(work.draft.definition)
    found = next((one for one in enumerate(every, 1) if one[1].get("ending_id") == visit.id("ending_id")), None)
    number, stored = errors.found(found, "There is no such ending.")
    ending = {**stored, **_typed(visit.form, insert)} if refusal else stored
    known = _known(words, work, stored.get("conditions"))
    condition = conditions.typed(visit.form) if refusal else conditions.stored(stored.get("conditions"), known)
    is_stale = isinstance(refusal, errors.Stale)
    return show(
        visit,
        work,
        title=questionnaires.ending_name(words, ending, number),
        current=str(ending["ending_id"]),
        refusal=refusal,
        ending={
            "path": f"{work.path}/edit/endings/{ending['ending_id']}",
            "seen": visit.form.text("seen") if isinstance(refusal, errors.Invalid) else _mark(stored),
            "wrong": refusal or _wrong(visit, work, number, condition.rows),
            "theirs": theirs_of(words, LABELS, _shown(stored), _shown(ending)) if is_stale else [],
            "values": {name: insert.shown(str(ending.get(name) or "")) for name in FIELDS},
            "is_quota": editing.is_quota(ending),
            "responses_max": ending.get("responses_max"),
            "coupon_pool": ending.get("coupon_pool"),
            "call_back": ending.get("call_back"),
            "pools": _offered(words, pools, ending.get("coupon_pool")),
            "inserts": insert.offered,
            "limits": {
                "title": endings.TITLE_CHARACTERS_MAX,
                "text": endings.TEXT_CHARACTERS_MAX,
                "label": endings.LABEL_CHARACTERS_MAX,
                "address": endings.ADDRESS_CHARACTERS_MAX,
            },
            "condition": conditions.values_of(words, condition, known),
        },
    )


def _typed(form: Form, insert: TextVariables) -> Document:
    typed: Document = {name: insert.stored(form.text(name)) or None for name in FIELDS}
    if form.all("responses_max"):
        typed["responses_max"] = _number_of(form.text("responses_max"))
    if form.all("coupon_pool"):
        typed["coupon_pool"] = form.text("coupon_pool") or None
    if form.all("offers_call"):
        typed["call_back"] = bool(form.text("call_back")) or None
    return typed


def _shown(ending: Document) -> dict[str, str]:
    return {name: str(ending.get(name) or "") for name in LABELS}


def _wrong(visit: Visit, work: Work, number: int, rows: Sequence[Row]) -> errors.Refusal | None:
    path = f"/endings/{number - 1}/"
    found = [
        errors.FieldError(one.code, one.message, pointer=f"/{_field(one.path.removeprefix(path), rows)}")
        for one in work.findings
        if one.path.startswith(path) and one.severity == "error"
    ]
    return errors.Invalid(visit.words("This ending cannot be published like this."), errors=found) if found else None


def _field(path: str, rows: Sequence[Row]) -> str:
    first, *rest = path.split("/")
    if first != "conditions":
        return first
    return condition_rows.place_of(rest, rows) if rest else "conditions"


def _number_of(text: str) -> int | str:
    """A draft keeps what is no number too."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= NUMBER_DIGITS_MAX else text


async def _pools(visit: Visit, db: Database) -> list[tuple[str, str]]:
    if "Coupon Pool.Read" not in visit.caller.scopes:
        return []
    found = await nouns.every(POOL, db, organization_id=visit.caller.organization_id)
    return [(one.key, one.title) for one in found]


def _offered(words: Texts, pools: Sequence[tuple[str, str]], chosen: object) -> list[tuple[str, str]]:
    known = [("", words("none")), *pools]
    others = [] if chosen is None or str(chosen) in dict(known) else [(str(chosen), str(chosen))]
    return [*known, *others]


async def _counts(visit: Visit, db: Database, work: Work) -> dict[str, int]:
    found = await quotas.places(db, organization_id=visit.caller.organization_id, definition=work.definition)
    return {one.ending_id: count for one, count in found}


def _condition(words: Texts, ending: Document, known: Subjects, *, is_first: bool) -> str:
    condition = ending.get("conditions")
    if condition is None:
        return words("For everyone") if is_first else words("Otherwise")
    said = condition_rows.sentence_of(words, condition, condition_rows.with_named(known, condition))
    return words("If {condition}", condition=said)


def _known(words: Texts, work: Work, condition: object) -> Subjects:
    return condition_rows.with_named(question_form.subjects(words, work, ""), condition)


def _mark(ending: Document) -> str:
    return question_form.mark_of(
        {name: ending.get(name) or None for name in (*FIELDS, *endings.OPTIONAL, "conditions")}
    )
