"""The types of members in requests and answers: msgspec annotations that `core/reading` checks and `openapi.py` prints.

In a request Struct: a member without default is required; `X | None` may be null; `X | UnsetType = UNSET` may be absent
(PATCH: untouched). In an answer Struct every member is required; times are strings from `times.format_time`.

    class QueueItemRequest(fields.Request):
        responder_channel_identifier: Annotated[str, Meta(min_length=1, max_length=320)]
        locale: fields.Locale | None = None
        send_time: fields.Moment | None = None
        metadata: fields.MetadataGroups | None = None
"""

import re
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Annotated, Any, Final, Literal, LiteralString, Self, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Meta, UnsetType

from afterword import ids
from afterword.core.questionnaires import metadata
from afterword.core.reading.documents import is_date
from afterword.core.reading.structs import TextKind
from afterword.core.text import locales
from afterword.core.wire import times
from afterword.core.wire.lists import Rows
from afterword.web import members

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CLOCK: Final = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]\Z")
_COLOR: Final = re.compile(r"#[0-9A-Fa-f]{6}\Z")
_LANGUAGE: Final = "A language tag is expected, such as el or en-US."


def _is_line(text: str) -> bool:
    return _CONTROL.search(text) is None


def _is_url(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and _is_line(text)


def _meaning(
    kind: str, parse: Callable[[str], object], code: str, message: str, *, converts: bool = False
) -> dict[str, Any]:
    """The `extra` of a text with a meaning, for its reader and its description."""
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
    str,
    Meta(extra_json_schema={"pattern": "^[0-9A-Za-z]{22}$"}, extra=ID, examples=["0QmCkLh2XnT7vRz9YbWd4e"]),
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
        extra={"kind": "metadata_any", "reader": metadata.read_any},
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
        if not given:
            return cls(*members.mapping_of(cls)(record, zone))  # by position: keywords take a third longer
        values = members.mapping_of(cls, tuple(given))(record, zone)
        for index, name in enumerate(cls.__struct_fields__):
            if name in given:
                values.insert(index, given[name])
        return cls(*values)

    @classmethod
    def of_rows(cls, rows: Rows[Any], zone: tzinfo | None = None) -> Rows[Self]:
        read = members.mapping_of(cls)
        return rows.map(lambda record: cls(*read(record, zone)))

    @classmethod
    def of_log(cls, data: Mapping[str, Any], zone: tzinfo) -> Self:
        """Convert a logged record, which may have more attributes than the resource shows."""
        return cls.of(members.record_of(cls, data), zone)


class MetadataGroups(Request):
    """Metadata of the questionnaire and of the responder."""

    questionnaire: MetadataMap | UnsetType = UNSET
    responder: MetadataMap | UnsetType = UNSET
