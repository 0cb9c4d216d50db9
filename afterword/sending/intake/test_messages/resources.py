"""A test message as the wire shows it."""

from typing import Annotated, Literal

from msgspec import Meta

from afterword.kit.web import fields


class TestSend(fields.Answer):
    """A test message and its result. `body` is the plain text; empty if nothing was written.

    `segments` and `encoding` are those of an SMS.
    """

    responder_channel_identifier: str
    locale: str
    subject: str | None
    body: str
    outcome: Literal["accepted", "retry", "throttled", "refused", "unknown"]
    reply: str | None
    sent_time: fields.DateTime | None
    segments: int | None
    encoding: Literal["gsm7", "ucs2"] | None


class AccountTestRequest(fields.Request):
    """The address to write to: an e-mail address, a phone number, or the web address of a webhook's receiver."""

    responder_channel_identifier: fields.Text320


class PreviewRequest(fields.Request):
    """A language (null: the item's, else the pipeline's), a reminder of the pipeline, and an item with its values."""

    locale: fields.Locale | None = None
    reminder_number: Annotated[int, Meta(ge=1, le=3)] | None = None
    item_id: fields.Id | None = None


class Preview(fields.Answer):
    """The message as it would be sent. `html` is null for other channels than e-mail, `segments` but for an SMS."""

    channel_id: fields.ChannelId
    locale: str
    subject: str | None
    text: str
    html: str | None
    segments: int | None
    encoding: Literal["gsm7", "ucs2"] | None
