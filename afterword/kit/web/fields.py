"""The types of members in requests and answers: msgspec annotations that `core/reading` checks and `openapi.py` prints.

In a request Struct: a member without default is required; `X | None` may be null; `X | UnsetType = UNSET` may be absent
(PATCH: untouched). In an answer Struct every member is required; times are strings from `times.format_time`.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, time, tzinfo
from operator import attrgetter
from types import SimpleNamespace
from typing import Annotated, Any, Final, Literal, LiteralString, Self, TypeVar, cast
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Meta, UnsetType, inspect

from afterword import ids
from afterword.core.questionnaires import metadata
from afterword.core.reading.documents import is_date
from afterword.core.reading.structs import Member, TextKind, members_of
from afterword.core.text import locales
from afterword.core.wire import times
from afterword.core.wire.lists import Column, Direction, Kind, Listing, Rows

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CLOCK: Final = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]\Z")
_COLOR: Final = re.compile(r"#[0-9A-Fa-f]{6}\Z")
_LANGUAGE: Final = "A language tag is expected, such as el or en-US."

_KINDS: Final[Mapping[type, Kind]] = {
    inspect.StrType: "text", inspect.IntType: "integer", inspect.FloatType: "number", inspect.BoolType: "boolean",
}  # fmt: skip
_KINDS_OF_META: Final[Mapping[str, Kind]] = {"id": "id", "date_time": "time", "date": "date"}


def _is_line(text: str) -> bool:
    return _CONTROL.search(text) is None


def _is_url(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and _is_line(text)


def _meaning(
    kind: str, parse: Callable[[str], object], code: str, message: str, *, converts: bool = False
) -> dict[str, Any]:
    return {"kind": kind, "text": TextKind(parse, code, message, converts)}


ID: Final = _meaning("id", ids.is_id, "unknown_id", "There is nothing with this id.")
LINE: Final = _meaning("line", _is_line, "invalid_format", "Control characters are not allowed.")
DATE: Final = _meaning("date", is_date, "invalid_format", "A date is expected, such as 2026-11-21.")
CLOCK: Final = _meaning("clock", _CLOCK.match, "invalid_format", "A time is expected, such as 09:30.")
COLOR: Final = _meaning("color", _COLOR.match, "invalid_format", "A colour is expected, such as #1a2b3c.")
ZONE: Final = _meaning("zone", times.zone_of, "unknown_value", "An IANA time zone is expected, such as Europe/Athens.")
URL: Final = _meaning("url", _is_url, "invalid_format", "An http or https address is expected.")
LOCALE: Final = _meaning("locale", locales.normalise, "invalid_locale", _LANGUAGE)
LOCALE_NORMAL: Final = _meaning("locale_normal", locales.normalise, "invalid_locale", _LANGUAGE, converts=True)

Id = Annotated[
    str, Meta(extra_json_schema={"pattern": "^[0-9A-Za-z]{22}$"}, extra=ID, examples=["0QmCkLh2XnT7vRz9YbWd4e"])
]
"""22 letters and digits. In a request a misshapen one is 422 `unknown_id`."""

DateTime = Annotated[
    str,
    Meta(
        extra_json_schema={"format": "date-time"}, extra={"kind": "date_time"}, examples=["2026-11-21T18:23:45+02:00"]
    ),
]
"""In answers: the text of `times.format_time`. In requests take `Moment`, which is read with the caller's zone."""

Moment = Annotated[times.Moment, Meta(extra={"reader": times.read_moment})]

Locale = Annotated[str, Meta(extra_json_schema={"maxLength": 35}, extra=LOCALE, examples=["el"])]
"""A well-formed BCP 47 tag, kept as it was sent."""

LocaleNormal = Annotated[str, Meta(extra_json_schema={"maxLength": 35}, extra=LOCALE_NORMAL, examples=["en-us"])]
"""A well-formed BCP 47 tag, given to the handler in normal form (`core.locales.normalise`)."""


def enum_names(*names: str) -> Meta:
    """Annotation with the names that generators give to the values of a `Literal`, in their order."""
    return Meta(extra_json_schema={"x-enum-varnames": list(names)})


ChannelId = Annotated[Literal[1, 2, 3, 4, 5], enum_names("Email", "Sms", "Webhook", "Link", "Outbox")]
Zone = Annotated[str, Meta(min_length=1, max_length=64, extra=ZONE, examples=["Europe/Athens"])]
Url = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2000,
        extra_json_schema={"format": "uri"},
        extra=URL,
        examples=["https://example.com/a"],
    ),
]
ClockTime = Annotated[str, Meta(extra=CLOCK, examples=["09:30"])]
"""In answers: hours and minutes of a `datetime.time`."""


def clock_of(text: str | None) -> time | None:
    """The column of a clock that a request names."""
    return None if text is None else time.fromisoformat(text)


Date = Annotated[str, Meta(extra_json_schema={"format": "date"}, extra=DATE, examples=["2026-11-21"])]

Value = TypeVar("Value")
Computed = Annotated[Value, Meta(extra={"column": None})]
"""In answers: a member that lists cannot be filtered or ordered by, as no column of theirs has it."""

ShownOnce = Annotated[str | None, Meta(extra={"column": None, "secret": True})]
"""In answers: a secret, null but in the answer that makes it. No record, list, kept answer or replay shows it."""

Text50 = Annotated[str, Meta(min_length=1, max_length=50)]
Text100 = Annotated[str, Meta(min_length=1, max_length=100)]
Text200 = Annotated[str, Meta(min_length=1, max_length=200)]
Text320 = Annotated[str, Meta(min_length=1, max_length=320)]
Text500 = Annotated[str, Meta(min_length=1, max_length=500)]
Text2000 = Annotated[str, Meta(max_length=2000)]

_METADATA_VALUE: Final = {"type": ["string", "number", "boolean", "null"], "maxLength": 4096}

MetadataMap = Annotated[
    dict[str, str | None],
    Meta(
        extra={"kind": "metadata", "reader": metadata.read_map},
        extra_json_schema={"additionalProperties": _METADATA_VALUE, "maxProperties": 200},
        examples=[{"transaction_id": "1042"}],
    ),
]
"""Names to values; the handler sees texts (12 -> "12", true -> "true"), null and "" as None, which removes."""

MetadataAny = Annotated[
    dict[str, str | dict[str, str | None] | None],
    Meta(
        extra={"kind": "metadata_any", "reader": functools.partial(metadata.read_map, groups=metadata.KINDS)},
        extra_json_schema={
            "additionalProperties": {"anyOf": [_METADATA_VALUE, {"type": "object"}]},
            "maxProperties": 200,
        },
        examples=[{"transaction_id": "1042"}],
    ),
]
"""As MetadataMap; `questionnaire` and `responder` may hold a map each (the grouped form)."""


def column(name: LiteralString) -> Meta:
    """Annotation of a member whose column has another name in the queries of its lists."""
    return Meta(extra={"column": name})


def named(name: LiteralString) -> Meta:
    """Annotation of a member with another name in records and queries."""
    return Meta(extra={"column": name, "attribute": name})


def offset_of(name: LiteralString) -> Meta:
    """Annotation of a time that is shown at its own offset, by the record's attribute with the minutes."""
    return Meta(extra={"offset": name})


class Request(msgspec.Struct, kw_only=True):
    """The members that a request may set; others in its body are ignored."""

    def named(self) -> dict[str, Any]:
        """The members that a PATCH sent: those that are not UNSET."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not UNSET}


class Answer(msgspec.Struct, kw_only=True):
    """The members of a response; none is ever absent."""


class Resource(Answer):
    """A response that shows a record: each member is the record's attribute of that name."""

    @classmethod
    def of(cls, record: object, zone: tzinfo | None = None, **given: Any) -> Self:
        """Convert a record, times in `zone`; `given` are members that the record lacks."""
        [shown] = mapping_of(cls, tuple(given))([record], zone, *((value,) for value in given.values()))
        return shown

    @classmethod
    def of_rows(cls, rows: Rows[Any], zone: tzinfo | None = None) -> Rows[Self]:
        return rows.map_all(lambda records: mapping_of(cls)(records, zone))

    @classmethod
    def of_columns(cls, rows: Sequence[Mapping[Any, Any]], zone: tzinfo) -> list[Self]:
        """As `of` for rows of the database, whose first columns are the members, in their order."""
        return mapping_of(cls, is_row=True)(rows, zone)

    @classmethod
    def of_log(cls, data: Mapping[str, Any], zone: tzinfo) -> Self:
        """Convert a logged record, which may have more attributes than the resource shows."""
        return cls.of(record_of(cls, data), zone)


class MetadataGroups(Request):
    """Metadata of the questionnaire and of the responder."""

    questionnaire: MetadataMap | UnsetType = UNSET
    responder: MetadataMap | UnsetType = UNSET


def secrets_of(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(member.name for member in members_of(struct) if "secret" in member.extra)


def listing_of(
    struct: type[msgspec.Struct],
    *,
    order: Sequence[tuple[str, Direction]] = (("created_time", "desc"),),
    id: LiteralString | None = None,  # noqa: A002  the name that Listing has for it
    more: Sequence[LiteralString] | None = None,
    hidden: Mapping[str, Column] | None = None,
) -> Listing:
    """A listing filtered and ordered by each plain member that is a column of the base query.

    `fields.Computed` members are left out; `fields.column` and `fields.named` give the column of a member with another
    name. The id is the first member, unless `id` names another column. `more` makes the list a lean one: its rows have
    the columns of these members and then those, which may have a cast.
    """
    columns = {member.name: column for member in members_of(struct) if (column := _column_of(member)) is not None}
    names = [column.name for column in columns.values()]
    return Listing(columns, order, id or names[0], None if more is None else [*names, *more], hidden or {})


def _column_of(member: Member) -> Column | None:
    name = member.extra.get("column", member.name)
    kind = _KINDS_OF_META.get(member.kind) or _KINDS.get(type(member.type))
    if isinstance(member.type, inspect.LiteralType):
        kind = "text" if isinstance(member.type.values[0], str) else "integer"
    if isinstance(member.type, inspect.UnionType):
        kind = "number" if {type(each) for each in member.type.types} == {inspect.IntType, inspect.FloatType} else None
    if name is None or kind is None:
        return None
    return Column(cast("LiteralString", name), kind, member.is_nullable or not member.is_required)


@functools.cache
def mapping_of(
    struct: type[msgspec.Struct], given: tuple[str, ...] = (), *, is_row: bool = False
) -> Callable[..., list[Any]]:
    """Build a function from records, a zone and the columns of the `given` members to Structs.

    Built once for each Struct. It goes by columns, in half the time. Each other member is the record's attribute of
    that name, or of `fields.named`; of a row the column at its place, and offsets follow. Times are shown in the zone.
    """
    members = members_of(struct)
    names = [member.name for member in members]
    count = len(names)
    given_at = [names.index(name) for name in given]
    found = [(index, member) for index, member in enumerate(members) if member.name not in given]
    offsets = {index: str(member.extra["offset"]) for index, member in found if "offset" in member.extra}
    times_at = [index for index, member in found if member.kind == "date_time" and index not in offsets]
    clocks_at = [index for index, member in found if member.kind == "clock"]
    moments_at = [(index, count + position) for position, index in enumerate(offsets)]
    secrets_at = [index for index, member in found if "secret" in member.extra]
    own = {index: str(member.extra.get("attribute", member.name)) for index, member in found if index not in secrets_at}
    taken = [own.get(index, "__class__") for index in range(count)]  # stands where another value comes
    take = attrgetter(*taken, *offsets.values(), "__class__")  # one name gives no tuple

    def shown(records: Sequence[Any], zone: tzinfo | None, *more: Sequence[object]) -> list[msgspec.Struct]:
        columns: list[Sequence[Any]] = [*zip(*(records if is_row else map(take, records)), strict=True)]
        if not columns:
            return []
        text_of = times.KnownTexts(zone or UTC).__getitem__
        for index in times_at:
            columns[index] = [*map(text_of, columns[index])]
        for index, offset_at in moments_at:
            moments = zip(columns[index], columns[offset_at], strict=True)
            columns[index] = [times.texts_at(offset)(instant) for instant, offset in moments]
        for index in clocks_at:
            columns[index] = [None if clock is None else f"{clock:%H:%M}" for clock in columns[index]]
        for index in secrets_at:
            columns[index] = [None] * len(records)
        for index, column in zip(given_at, more, strict=True):
            columns[index] = column
        return [*map(struct, *columns[:count])]  # keywords take a third longer

    return shown


def record_of(struct: type[msgspec.Struct], data: Mapping[str, Any]) -> SimpleNamespace:
    """Rebuild a record from JSON of the Struct's members, times parsed; raises KeyError."""
    return SimpleNamespace(
        **{
            member.name: datetime.fromisoformat(value) if member.kind == "date_time" and value else value
            for member, value in ((member, data[member.name]) for member in members_of(struct))
        }
    )
