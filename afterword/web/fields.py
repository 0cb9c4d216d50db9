"""The types of members in requests and answers: msgspec annotations that `web/body.py` checks and `openapi.py` prints.

In a request Struct: a member without default is required; `X | None` may be null; `X | UnsetType = UNSET` may be absent
(PATCH: untouched). In an answer Struct every member stands, without default; times are texts from `times.format_time`.

    class QueueItemRequest(fields.Request):
        responder_channel_identifier: Annotated[str, Meta(min_length=1, max_length=320)]
        locale: fields.Locale | None = None
        send_time: fields.Moment | None = None
        metadata: fields.MetadataGroups | None = None
"""

from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from afterword.core.wire.times import Moment

__all__ = [
    "UNSET",
    "Answer",
    "DateTime",
    "Id",
    "Locale",
    "LocaleNormal",
    "Meta",
    "MetadataAny",
    "MetadataGroups",
    "MetadataMap",
    "Moment",
    "Request",
    "Text1",
    "Text50",
    "Text100",
    "Text200",
    "Text320",
    "Text500",
    "Text2000",
    "UnsetType",
    "Url",
    "Zone",
]  # fmt: skip

Id = Annotated[
    str,
    Meta(extra_json_schema={"pattern": "^[0-9A-Za-z]{22}$"}, extra={"kind": "id"}, examples=["0QmCkLh2XnT7vRz9YbWd4e"]),
]
"""22 letters and digits. In a request a misshapen one is 422 `unknown_id`."""

DateTime = Annotated[
    str,
    Meta(
        extra_json_schema={"format": "date-time"}, extra={"kind": "date_time"}, examples=["2026-11-21T18:23:45+02:00"]
    ),
]
"""In answers: the text of `times.format_time`. In requests take `Moment`, which is read with the caller's zone."""

Locale = Annotated[str, Meta(extra_json_schema={"maxLength": 35}, extra={"kind": "locale"}, examples=["el"])]
"""A well-formed BCP 47 tag, kept as it was sent."""

LocaleNormal = Annotated[
    str, Meta(extra_json_schema={"maxLength": 35}, extra={"kind": "locale_normal"}, examples=["en-us"])
]
"""A well-formed BCP 47 tag, given to the handler in normal form (`core.locales.normalise`)."""

Zone = Annotated[str, Meta(min_length=1, max_length=64, extra={"kind": "zone"}, examples=["Europe/Athens"])]
Url = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2000,
        extra_json_schema={"format": "uri"},
        extra={"kind": "url"},
        examples=["https://example.com/a"],
    ),
]
Text1 = Annotated[str, Meta(min_length=1)]
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
        extra={"kind": "metadata"},
        extra_json_schema={"additionalProperties": _METADATA_VALUE, "maxProperties": 200},
        examples=[{"transaction_id": "1042"}],
    ),
]
"""Names to values; the handler sees texts (12 -> "12", true -> "true"), null and "" as None, which removes."""

MetadataAny = Annotated[
    dict[str, str | dict[str, str | None] | None],
    Meta(
        extra={"kind": "metadata_any"},
        extra_json_schema={
            "additionalProperties": {"anyOf": [_METADATA_VALUE, {"type": "object"}]},
            "maxProperties": 200,
        },
        examples=[{"transaction_id": "1042"}],
    ),
]
"""As MetadataMap; `questionnaire` and `responder` may hold a map each (the grouped form)."""


class Request(msgspec.Struct, kw_only=True):
    """What a request may set; anything else in its body is ignored."""

    def named(self) -> dict[str, Any]:
        """The members that a PATCH names: those that are not UNSET."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not UNSET}


class Answer(msgspec.Struct, kw_only=True):
    """What an answer shows; every member always stands in it."""


class MetadataGroups(Request):
    """Values of the questionnaire's names and of the responder's."""

    questionnaire: MetadataMap | UnsetType = UNSET
    responder: MetadataMap | UnsetType = UNSET
