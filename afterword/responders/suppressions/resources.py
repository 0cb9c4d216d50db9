"""A suppression on the wire."""

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX
from afterword.core.wire import times
from afterword.responders import store
from afterword.responders.suppressions.service import Reason
from afterword.web import fields

ChannelId = Literal[1, 2, 3, 4, 5]
Note = Annotated[str, Meta(max_length=500)]


class SuppressionRequest(fields.Request):
    """An address that is not to be written to."""

    channel_id: ChannelId
    identifier: Annotated[str, Meta(min_length=1, max_length=IDENTIFIER_CHARACTERS_MAX, examples=["ann@example.com"])]
    reason: Reason = "blocked"
    expires_time: fields.Moment | None = None
    note: Note | None = None


class Suppression(fields.Answer):
    """An address that is not written to; `identifier` as it was given, a keyed hash after erasure."""

    suppression_id: fields.Id
    organization_id: fields.Id
    channel_id: int
    identifier: str
    reason: Reason
    expires_time: fields.DateTime | None
    note: str | None
    created_time: fields.DateTime
    created_by: fields.Id | None

    @classmethod
    def of(cls, suppression: store.Suppression, zone: tzinfo) -> "Suppression":
        """The record with its times in the organization's zone."""
        return _shown(suppression.as_event, zone)


def of_event(data: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    """The resource from what an event kept of the row, its times in the organization's zone."""
    return msgspec.to_builtins(_shown(data, zone))


def _shown(data: Mapping[str, Any], zone: tzinfo) -> Suppression:
    expires_time = data["expires_time"]
    return Suppression(
        suppression_id=data["suppression_id"],
        organization_id=data["organization_id"],
        channel_id=data["channel_id"],
        identifier=data["identifier"],
        reason=data["reason"],
        expires_time=expires_time and times.format_time(datetime.fromisoformat(expires_time), zone=zone),
        note=data["note"],
        created_time=times.format_time(datetime.fromisoformat(data["created_time"]), zone=zone),
        created_by=data["created_by"],
    )
