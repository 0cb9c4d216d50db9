"""The resources of suppressions."""

from typing import Annotated

from msgspec import Meta

from afterword.core.messaging.addresses import IDENTIFIER_CHARACTERS_MAX
from afterword.responders.suppressions.service import Reason
from afterword.web import fields

Note = Annotated[str, Meta(max_length=500)]


class SuppressionRequest(fields.Request):
    """An address to suppress."""

    channel_id: fields.ChannelId
    identifier: Annotated[str, Meta(min_length=1, max_length=IDENTIFIER_CHARACTERS_MAX, examples=["ann@example.com"])]
    reason: Reason = "blocked"
    expires_time: fields.Moment | None = None
    note: Note | None = None


class Suppression(fields.Resource):
    """A suppressed address; `identifier` is its normal form, after erasure a keyed hash."""

    suppression_id: fields.Id
    organization_id: fields.Id
    channel_id: fields.ChannelId
    identifier: str
    reason: Reason
    expires_time: fields.DateTime | None
    note: str | None
    created_time: fields.DateTime
    created_by: fields.Id | None
