"""Forms that are declared: fields with the names of a request's members, read as the API reads that request."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time
from typing import Any, Final, Literal, TypeVar, cast
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from afterword import errors
from afterword.console.screens import Form, Visit
from afterword.core.reading import structs
from afterword.core.reading.structs import Context
from afterword.core.wire import times
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.text import NOTHING

SHOWN_MAX: Final = 200  # characters of a stored value beside the form
CHANGED: Final[Marked] = "Someone changed this in the meantime. Compare below; saving again replaces their changes."
KEPT: Final[Marked] = "Somebody changed this in the meantime. Open it again: nothing of yours was stored."
YES_OR_NO: Final[tuple[tuple[str, Marked], ...]] = (("1", "yes"), ("", "no"))
Kind = Literal["number", "text", "area", "clock", "moment", "choice", "checks", "switch", "lines", "secret"]
Options = Mapping[str, Sequence[tuple[str, str]]]
Read = TypeVar("Read", bound=msgspec.Struct)


class Input(msgspec.Struct, frozen=True):
    """A field with the name of its member. `options`: values and texts of a choice.

    `switch` is a choice between no, empty, and yes, "1"; `lines` is a list with an entry a line; `secret` is never
    filled in.
    """

    name: str
    kind: Kind
    label: Marked
    hint: Marked = ""
    options: Sequence[tuple[str, Marked]] = ()
    required: bool = False


def document_of(form: Form, inputs: Sequence[Input]) -> dict[str, Any]:
    """The members as JSON has them; an empty field that is not required is null, or 0 where it is a number."""
    return {one.name: _typed(form, one) for one in inputs}


def read_as(kind: type[Read], document: Mapping[str, Any], visit: Visit) -> Read:
    """The document as the API would read it in a request. Raises Invalid."""
    context = Context(now=visit.now, zone=times.zone_of(visit.zone), lax=True, partial=True)
    request = structs.collect(kind, dict(document), context)
    context.check()
    return cast("Read", request)


def shown(
    visit: Visit, inputs: Sequence[Input], stored: object, options: Options | None = None
) -> list[dict[str, Any]]:
    """The fields for the macro `inputs`: as they were typed, else as they are stored in members of `stored`.

    `options`: those that are read from the database, by name.
    """
    form = visit.form
    return [
        {
            "name": one.name,
            "kind": "choice" if one.options and one.kind != "checks" else one.kind,
            "label": visit.words(one.label),
            "hint": visit.words(one.hint),
            "options": _options(visit.words, one, options),
            "value": _value(form, one) if form.values else text_of(getattr(stored, one.name, None), one, visit.zone),
            "required": one.required,
        }
        for one in inputs
    ]


def theirs_of(
    words: Texts,
    labels: Mapping[str, str],
    stored: Mapping[str, Any],
    typed: Mapping[str, Any],
    shown_as: Callable[[str, Any], str] = lambda _, value: value,
) -> list[tuple[str, str]]:
    """The label and the stored value of each member that the form has otherwise, in the order of `stored`."""
    return [
        (words(labels[name]), shown_as(name, value) or NOTHING)
        for name, value in stored.items()
        if typed.get(name) != value
    ]


def differences(
    visit: Visit, inputs: Sequence[Input], stored: object, options: Options | None = None
) -> list[tuple[str, str]]:
    names = {one.name: dict(_options(visit.words, one, options)) for one in inputs}

    def shown_as(name: str, value: Any) -> str:
        each = value if isinstance(value, list) else [value]
        return ", ".join(names[name].get(one, one) for one in each)[:SHOWN_MAX]

    values = {one.name: text_of(getattr(stored, one.name, None), one, visit.zone) for one in inputs}
    typed = {one.name: _value(visit.form, one) for one in inputs}
    return theirs_of(visit.words, {one.name: one.label for one in inputs}, values, typed, shown_as)


def same_version(visit: Visit, sentence: Marked = CHANGED) -> errors.Expect:
    """The check of an update: raises Stale with the sentence where the form began with another version."""
    return lambda version: require_same(visit, version, "version", sentence)


def require_same(visit: Visit, stored: object, name: str, sentence: str = CHANGED) -> None:
    """Raise Stale unless the field `name` of the form has what is stored now."""
    if str(stored) != visit.form.text(name):
        raise errors.Stale(visit.words(sentence))


def text_of(value: Any, one: Input, zone: str) -> str | list[str]:
    """The value of a member as the field of a form has it."""
    if one.kind == "lines":
        return "\n".join(str(each) for each in value or ())
    if isinstance(value, bool):
        return "1" if value else ""
    if isinstance(value, datetime):
        return f"{value.astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M}"
    if isinstance(value, time):
        return f"{value:%H:%M}"
    if isinstance(value, list | tuple):
        return [str(each) for each in cast("Sequence[object]", value)]
    return "" if value is None or one.kind == "secret" else str(value)


def _typed(form: Form, one: Input) -> Any:
    if one.kind == "checks":
        return form.ids(one.name)
    text = form.secret(one.name) if one.kind == "secret" else form.text(one.name)
    if one.kind == "switch":
        return text == "1"
    if one.kind == "lines":
        return [line.strip() for line in text.split("\n") if line.strip()]
    if not text and one.kind == "number" and one.required:
        return 0
    return text if text or one.required else None


def _options(words: Texts, one: Input, more: Options | None) -> Sequence[tuple[str, str]]:
    if more and one.name in more:
        return more[one.name]
    options = one.options or (YES_OR_NO if one.kind == "switch" else ())
    return [(key, words(text)) for key, text in options]


def _value(form: Form, one: Input) -> str | list[str]:
    return form.all(one.name) if one.kind == "checks" else "" if one.kind == "secret" else form.text(one.name)


def form_page(
    visit: Visit,
    *,
    title: str,
    back: tuple[str, str],
    inputs: Sequence[Input],
    stored: object = None,
    version: int | str = "",
    refusal: errors.Refusal | None = None,
    options: Options | None = None,
    links: Sequence[tuple[str, str]] = (),
    thing: tuple[str, str] | None = None,
    tab: str = "",
    lead: str = "",
) -> Response:
    """The page of a form that is posted to its own address.

    `links`: texts and addresses below it; `thing`: kind and id of its entries in the log.
    """
    return visit.page(
        "form.html",
        title=title,
        back=back,
        action=visit.request.url.path,
        below=links,
        thing=thing,
        tab=tab,
        lead=lead,
        **filled(visit, inputs, stored, version=version, refusal=refusal, options=options),
    )


def filled(
    visit: Visit,
    inputs: Sequence[Input],
    stored: object,
    *,
    version: int | str,
    refusal: errors.Refusal | None,
    options: Options | None = None,
) -> dict[str, Any]:
    """Values of a page with one form: its fields, version and refusal, and in `theirs` what others stored."""
    is_stale = isinstance(refusal, errors.Stale)
    return {
        "fields": shown(visit, inputs, stored, options),
        "version": visit.form.text("version") if visit.form.values and not is_stale else version,
        "theirs": differences(visit, inputs, stored, options) if is_stale else [],
        "refusal": refusal if refusal is None or is_stale else placed(refusal),
    }


def _first(pointer: str) -> str:
    return "/" + pointer.lstrip("/").partition("/")[0]


def placed(refusal: errors.Refusal, place: Callable[[str], str] = _first) -> errors.Refusal:
    """The refusal, of the same kind, with its errors at the fields of the form, which `place` finds."""
    wrong = [replace(one, pointer=place(one.pointer or "")) for one in refusal.errors]
    kind = next(one for one in type(refusal).__mro__ if "status" in vars(one))  # without arguments of its own
    return kind(refusal.detail, errors=wrong) if wrong else refusal
