"""A test message as the wire shows it."""

from typing import Literal

from afterword.web import fields


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
