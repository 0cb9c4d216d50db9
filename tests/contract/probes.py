"""Wrong requests, made from the types of a route's members: one wrong thing in each, and what must be said of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, cast

import msgspec
from msgspec import inspect

from afterword.core.wire.times import Moment
from tests.contract.wire import CANARY
from tests.contract.world import ADDRESS, Tenant
from tests.dates import YEAR

TEXT_CHARACTERS_MAX: Final = 4096
ENTRIES_MAX: Final = 1000
METADATA_VALUE_MAX: Final = 4096

SAMPLES: Final[Mapping[str, object]] = {
    "text": CANARY, "integer": 7, "number": 7.5, "boolean": True, "list": [CANARY], "object": {"a": CANARY},
}  # fmt: skip
BY_NAME: Final[Mapping[str, object]] = {
    "responder_channel_identifier": ADDRESS, "scopes": ["Queue.Read"], "country": "GR", "currency": "EUR",
    "application_type_id": "0000000000000000custom", "conditions": {"all": []}, "event_types": ["*"],
    "words": ["parking"], "condition": {"all": []}, "host": "ask.shop.example",
    "issuer": "https://login.shop.example", "cursor": f"{4_000_000_000_000_000}_{'0' * 22}",
}  # fmt: skip
people: Final = count()  # an organization has each address once
names: Final = count()  # and each name of its metadata
MADE: Final[Mapping[str, Callable[[Tenant], object]]] = {
    "status_id": lambda _: 1,  # a number, of each organization; those of paths are texts
    "spec": lambda tenant: {
        "questionnaire_ids": [tenant.ids["questionnaire_id"]], "metrics": [{"metric": "response"}],
    },
    "email": lambda _: f"person{next(people)}@example.com",
    "identifier": lambda _: f"person{next(people)}@example.com",
    "key": lambda _: f"sample_{next(names)}",
    "path": lambda _: f"export/{next(names)}",
    "codes": lambda _: [f"A-{next(names)}"],
    "instance_ids": lambda tenant: [tenant.ids["instance_id"]],
    "answers": lambda tenant: {tenant.ids["question_id"]: 5},
    "external_id": lambda _: f"R-{next(names)}",
}  # fmt: skip
BESIDES: Final[Mapping[str, Mapping[str, object]]] = {
    "ChatRequest": {"kind": "webhook", "address": "https://chat.invalid/hook"},
    "PipelineRequest": {"message_subject": "Well?", "message_body": "Tell us."},  # e-mail needs them
    "InboundRequest": {"adapter": "standard"},
    "ProviderRequest": {"kind": "smtp", "settings": {"host": "smtp.shop.example"}},
    "ProviderUpdate": {"settings": {"username": "us"}},
    "RedeliveryRequest": {"from_time": "2026-01-01T00:00:00Z"},  # this or a cursor
    "SourceRequest": {"kind": "shopify"},
    "MetadataDefinitionRequest": {"level": "organization"},  # another level wants an id
}
PERSON: Final = ("UserRequest", "email")  # an account of a service has none

REFUSED_DATES: Final[Mapping[str, str]] = {
    "0000-01-01T00:00:00Z": "out_of_range",
    "0001-01-01T00:00:00Z": "out_of_range",
    "0001-01-01T00:00:00+14:00": "out_of_range",
    "1969-12-31T23:59:59Z": "out_of_range",
    "1970-01-01T01:59:59+02:00": "out_of_range",
    "1970-01-01 01:59": "out_of_range",  # local, two hours early
    "2099-01-01T00:00:00Z": "out_of_range",
    "9999-12-31T23:59:59Z": "out_of_range",
    "9999-12-31T23:59:59-14:00": "out_of_range",
    "2026-11-21T18:23:45+14:01": "out_of_range",
    "2026-11-21T18:23:45-14:01": "out_of_range",
    "2026-11-21T18:23:45+24:00": "out_of_range",
    "2026-11-21T18:23:45-99:00": "out_of_range",
    "2026-06-30T23:59:60Z": "leap_second",
    "2026-11-21 18:23:60": "leap_second",
    "": "invalid_date_time",
    " ": "invalid_date_time",
    "now": "invalid_date_time",
    "null": "invalid_date_time",
    "10000-01-01T00:00:00Z": "invalid_date_time",
    "+002026-11-21T18:23:45Z": "invalid_date_time",
    "-2026-11-21T18:23:45Z": "invalid_date_time",
    "26-11-21T18:23:45Z": "invalid_date_time",
    "2026-11-21": "invalid_date_time",
    "2026-11": "invalid_date_time",
    "2026": "invalid_date_time",
    "20261121T182345Z": "invalid_date_time",
    "2026-325T18:23:45Z": "invalid_date_time",
    "2026-W47-6": "invalid_date_time",
    "2026-W47-6T18:23:45Z": "invalid_date_time",
    "1795278225": "invalid_date_time",
    "1795278225.5": "invalid_date_time",
    "2026-11-21T24:00:00Z": "invalid_date_time",
    "2026-11-21T24:00": "invalid_date_time",
    "2026-11-21T18:60:00Z": "invalid_date_time",
    "2026-11-21T18:23:61Z": "invalid_date_time",
    "2026-02-29T10:00:00Z": "invalid_date_time",
    "2026-02-30T10:00:00Z": "invalid_date_time",
    "2026-00-10T10:00:00Z": "invalid_date_time",
    "2026-13-10T10:00:00Z": "invalid_date_time",
    "2026-11-00T10:00:00Z": "invalid_date_time",
    "2026-11-31T10:00:00Z": "invalid_date_time",
    "2026-1-2T3:4:5Z": "invalid_date_time",
    "2026-11-21T18Z": "invalid_date_time",
    "2026-11-21T18:23:45.Z": "invalid_date_time",
    "2026-11-21T18:23:45.1234567890Z": "invalid_date_time",
    "2026-11-21T18:23:45,5Z": "invalid_date_time",
    "2026-11-21T18:23:45+2": "invalid_date_time",
    "2026-11-21T18:23:45+02": "invalid_date_time",
    "2026-11-21T18:23:45+02:60": "invalid_date_time",
    "2026-11-21T18:23:45 02:00": "invalid_date_time",  # outside of forms a space is no plus
    "2026-11-21T18:23:45Z+02:00": "invalid_date_time",
    "2026-11-21T18:23:45 Europe/Athens": "invalid_date_time",
    "2026-11-21T18:23:45ZZ": "invalid_date_time",
    "2026-11-21  18:23:45": "invalid_date_time",
    " 2026-11-21T18:23:45Z": "invalid_date_time",
    "2026-11-21T18:23:45Z ": "invalid_date_time",
    "2026-11-21T18:23:45Z\n": "invalid_date_time",
    "2026/11/21 18:23:45": "invalid_date_time",
    "21-11-2026 18:23:45": "invalid_date_time",
    "21/11/2026 18:23": "invalid_date_time",
    "11/21/2026 6:23 PM": "invalid_date_time",
    "Sat, 21 Nov 2026 18:23:45 GMT": "invalid_date_time",
    "２０２６-11-21T18:23:45Z": "invalid_date_time",  # noqa: RUF001  digits, but not of ASCII
    "2026-11-21T18:23:45\u221202:00": "invalid_date_time",  # a minus, but not of ASCII
    "2026-11-21T18:23:45" + "0" * 60: "invalid_date_time",
}  # fmt: skip
"""The dates of wire.md 1.5 that are refused, and how."""

LONG_LOCALE: Final = "el-variant1-variant2-variant3-variant4"  # well-formed, but of more than 35 characters
BAD: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "locale": (
        "invalid_locale",
        ("", "e", "12", "el_", "-el", "el--gr", "english language", "el\n", CANARY, LONG_LOCALE),
    ),
    "locale_normal": ("invalid_locale", ("", "12", "el--gr", CANARY)),
    "id": ("unknown_id", ("", "7", CANARY, "0" * 21, "0" * 23, "../" + "0" * 19, "0" * 21 + "é", "0" * 21 + "\n")),
    "zone": ("unknown_value", ("Europe/Nowhere", "../../etc/passwd", "UTC+2", CANARY)),
    "url": ("invalid_format", (CANARY, "ftp://example.com", "javascript:alert(1)", "https://", "https://[::1")),
    "date": ("invalid_format", (CANARY, "2026-02-30", "2026-1-2")),
    "clock": ("invalid_format", (CANARY, "24:00", "9:30")),
    "color": ("invalid_format", (CANARY, "#12345", "red")),
    "line": ("invalid_format", (f"{CANARY}\r\nBcc: a@b.example", "a\x07b")),
}


@dataclass(frozen=True, slots=True)
class Probe:
    """A body with one wrong thing in it, where it is wrong, and the codes that say so."""

    label: str
    document: object
    pointer: str
    codes: tuple[str, ...]


def valid(struct: type[msgspec.Struct], tenant: Tenant) -> dict[str, Any]:
    """A body with every required member."""
    name = struct.__name__
    members = [each for each in _members(struct) if each.required or (name, each.encode_name) == PERSON]
    return {each.encode_name: _sample(each, tenant) for each in members} | dict(BESIDES.get(name, {}))


def required_of(struct: type[msgspec.Struct]) -> list[str]:
    """The members that must be there."""
    return [each.encode_name for each in _members(struct) if each.required]


def filled(struct: type[msgspec.Struct], tenant: Tenant) -> dict[str, Any]:
    """A body with every member."""
    return {each.encode_name: _sample(each, tenant) for each in _members(struct)}


def moments_of(struct: type[msgspec.Struct]) -> list[str]:
    """The members that are dates."""
    return [each.encode_name for each in _members(struct) if any(_is_moment(o) for o in _options(each.type))]


def ids_of(struct: type[msgspec.Struct]) -> list[str]:
    """The members that are ids."""
    return [each.encode_name for each in _members(struct) if any(_kind(o) == "id" for o in _options(each.type))]


def wrong_bodies(struct: type[msgspec.Struct], tenant: Tenant, *, is_patch: bool) -> Iterator[Probe]:
    """Everything that one member of a body can do wrong."""
    base = valid(struct, tenant)
    for sample in (CANARY, 7, True, None, [CANARY], [{}]):
        yield Probe(f"{sample!r} in place of the body", sample, "", ("wrong_type",))
    for each in _members(struct):
        name, pointer = each.encode_name, f"/{each.encode_name}"
        if each.required:
            absent = {key: value for key, value in base.items() if key != name}
            yield Probe(f"no {name}", absent, pointer, ("required",))
            yield Probe(f"null {name}", {**base, name: None}, pointer, ("required",))
        elif is_patch and not _is_nullable(each.type):
            yield Probe(f"null {name}", {**base, name: None}, pointer, ("not_nullable",))
        for label, value, place, codes in _wrong_values(each.type):
            yield Probe(f"{name}: {label}", {**base, name: value}, pointer + place, codes)


Wrong = tuple[str, object, str, tuple[str, ...]]


def _wrong_values(kind: inspect.Type) -> Iterator[Wrong]:
    options = [option for option in _options(kind) if not isinstance(option, inspect.NoneType)]
    yield from _wrong_types(options)
    for option in options:
        yield from _wrong_option(option)


def _wrong_types(options: list[inspect.Type]) -> Iterator[Wrong]:
    accepted = frozenset[str]().union(*(_accepted(option) for option in options))
    codes = ("wrong_type", "invalid_date_time") if any(_is_moment(option) for option in options) else ("wrong_type",)
    for name, sample in SAMPLES.items():
        if name not in accepted:
            yield f"a value that is of the type {name}", sample, "", codes


def _accepted(kind: inspect.Type) -> set[str]:  # noqa: PLR0911  one line for each type
    match kind:
        case inspect.Metadata(type=inner):
            return _accepted(inner)
        case inspect.StrType():
            return {"text"}
        case inspect.IntType():
            return {"integer"}
        case inspect.FloatType():
            return {"integer", "number"}
        case inspect.BoolType():
            return {"boolean"}
        case inspect.LiteralType(values=values):
            return {"text" if isinstance(value, str) else "integer" for value in values}
        case inspect.ListType():
            return {"list"}
        case inspect.DictType() | inspect.StructType():
            return {"object"}
        case _ if _is_moment(kind):
            return {"text"}
        case _:
            raise AssertionError(f"say in tests/contract/probes.py how {kind} can be wrong")


def _wrong_option(kind: inspect.Type) -> Iterator[Wrong]:
    special = _kind(kind)
    inner = kind.type if isinstance(kind, inspect.Metadata) else kind
    if special:
        yield from _wrong_special(special)
    elif isinstance(inner, inspect.StrType):
        yield from _wrong_text(inner)
    elif isinstance(inner, inspect.IntType):
        yield from _wrong_integer(inner)
    elif isinstance(inner, inspect.LiteralType):
        yield from _wrong_choice(inner)
    elif isinstance(inner, inspect.ListType):
        yield from _wrong_list(inner)
    elif isinstance(inner, inspect.StructType):
        yield from _wrong_struct(inner.cls)
    elif _is_moment(inner):
        for text, code in REFUSED_DATES.items():
            yield f"the date {text!r}", text, "", (code,)


def _wrong_special(special: str) -> Iterator[Wrong]:
    if special in {"metadata", "metadata_any"}:
        yield from _wrong_metadata(grouped=special == "metadata_any")
        return
    code, texts = BAD[special]
    for text in texts:
        yield f"{special} {text!r}", text, "", (code, "too_short")


def _wrong_integer(kind: inspect.IntType) -> Iterator[Wrong]:
    for bound, step in ((kind.ge, -1), (kind.le, 1)):
        if bound is not None:
            yield f"{bound} {step:+}", int(bound) + step, "", ("out_of_range",)


def _wrong_choice(kind: inspect.LiteralType) -> Iterator[Wrong]:
    wrong: object = CANARY if isinstance(kind.values[0], str) else max(cast("tuple[int, ...]", kind.values)) + 1
    yield "a value that is not in the list", wrong, "", ("unknown_value",)


def _wrong_list(kind: inspect.ListType) -> Iterator[Wrong]:
    most = ENTRIES_MAX if kind.max_length is None else kind.max_length
    yield "too many entries", [None] * (most + 1), "", ("too_many",)
    if kind.min_length:
        yield "too few entries", [], "", ("too_few",)
    for label, value, place, codes in _wrong_values(kind.item_type):
        yield f"entry: {label}", [value], f"/0{place}", codes


def _wrong_struct(struct: type[msgspec.Struct]) -> Iterator[Wrong]:
    base = _least(struct)
    for each in _members(struct):
        name = each.encode_name
        for label, value, place, codes in _wrong_values(each.type):
            yield f"{name}: {label}", {**base, name: value}, f"/{name}{place}", codes


def required(struct: type[msgspec.Struct]) -> list[inspect.Field]:
    """The members that must be there."""
    return [each for each in _members(struct) if each.required]


def _least(struct: type[msgspec.Struct]) -> dict[str, object]:
    """The required members, of the right types."""
    return {each.encode_name: SAMPLE_OF_KIND.get(_kind(each.type)) or _plain(each.type) for each in required(struct)}


def _plain(kind: inspect.Type) -> object:
    inner = kind.type if isinstance(kind, inspect.Metadata) else kind
    if _kind(kind) == "id":
        return "0" * 22
    if isinstance(inner, inspect.StructType):
        return _least(inner.cls)
    if isinstance(inner, inspect.ListType):
        return [_plain(inner.item_type)] * (inner.min_length or 0)
    if isinstance(inner, inspect.LiteralType):
        return inner.values[0]
    if isinstance(inner, inspect.IntType):
        return max(1, int(inner.ge or 0))
    return GOOD.get(type(inner), [])


def _wrong_text(kind: inspect.StrType) -> Iterator[Wrong]:
    most = TEXT_CHARACTERS_MAX if kind.max_length is None else kind.max_length
    yield f"{most + 1} characters", CANARY + "x" * (most + 1 - len(CANARY)), "", ("too_long",)
    yield f"{most + 1} characters of four bytes", "😀" * (most + 1), "", ("too_long",)
    if kind.min_length:
        yield "too short", "x" * (kind.min_length - 1), "", ("too_short",)
    if kind.pattern:
        yield "a control character", f"{CANARY}\n", "", ("invalid_format",)


def _wrong_metadata(*, grouped: bool) -> Iterator[Wrong]:
    yield "a name without characters", {"": CANARY}, "/", ("invalid_format",)
    yield "a name with a line end", {"a\nb": CANARY}, "/a\nb", ("invalid_format",)
    yield "a long value", {"a": CANARY + "x" * METADATA_VALUE_MAX}, "/a", ("too_long",)
    yield "a list as value", {"a": [CANARY]}, "/a", ("wrong_type",)
    yield "an object as value", {"a~/b": {"b": CANARY}}, "/a~0~1b", ("wrong_type",)
    if grouped:
        yield "a list as value of a group", {"questionnaire": {"a": [1]}}, "/questionnaire/a", ("wrong_type",)
        yield "a long value in a group", {"responder": {"a": "x" * 4097}}, "/responder/a", ("too_long",)


def _sample(each: inspect.Field, tenant: Tenant) -> object:
    name = each.encode_name
    if name == "name" and "[A-Za-z][A-Za-z0-9_]*" in repr(each.type):
        return f"sample_{next(names)}"
    if name in MADE:
        return MADE[name](tenant)
    return tenant.ids.get(name) or BY_NAME.get(name) or _sample_of(_options(each.type)[0], tenant)


def _sample_of(kind: inspect.Type, tenant: Tenant) -> object:
    special = _kind(kind)
    inner = kind.type if isinstance(kind, inspect.Metadata) else kind
    if special in SPECIAL:
        return SPECIAL[special]
    if isinstance(inner, inspect.IntType):
        return max(1, int(inner.ge or 0))
    if isinstance(inner, inspect.LiteralType):
        return inner.values[0]
    if isinstance(inner, inspect.ListType):
        return []
    if isinstance(inner, inspect.StructType):
        return filled(inner.cls, tenant)
    assert type(inner) in GOOD, f"say in tests/contract/probes.py what a good {kind} is"
    return GOOD[type(inner)]


GOOD: Final[Mapping[type[inspect.Type], object]] = {
    inspect.StrType: "Sample",
    inspect.FloatType: 1.5,
    inspect.BoolType: True,
    inspect.DictType: {},
    inspect.DataclassType: f"{YEAR}-01-15T10:30:00+02:00",  # a Moment: nothing else is one
}
SAMPLE_OF_KIND: Final[Mapping[str, object]] = {"id": "0" * 22}
SPECIAL: Final[Mapping[str, object]] = {
    "locale": "el", "locale_normal": "el", "zone": "Europe/Athens", "url": "https://example.com", "date": "2026-11-21",
    "clock": "09:30", "color": "#1a2b3c", "metadata": {"transaction_id": "1042"}, "metadata_any": {"store_id": "7"},
}  # fmt: skip


def _members(struct: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    return cast("inspect.StructType", inspect.type_info(struct)).fields


def _options(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    """The types that a value may have; a description of all of them aside."""
    inner = kind.type if isinstance(kind, inspect.Metadata) and not _kind(kind) else kind
    return (
        tuple(each for one in inner.types for each in _options(one))
        if isinstance(inner, inspect.UnionType)
        else (kind,)
    )


def _is_nullable(kind: inspect.Type) -> bool:
    return any(isinstance(option, (inspect.NoneType, inspect.AnyType)) for option in _options(kind))


def _kind(kind: inspect.Type) -> str:
    return str((kind.extra or {}).get("kind", "")) if isinstance(kind, inspect.Metadata) else ""


def _is_moment(kind: inspect.Type) -> bool:
    inner = kind.type if isinstance(kind, inspect.Metadata) else kind
    return isinstance(inner, inspect.DataclassType) and inner.cls is Moment
