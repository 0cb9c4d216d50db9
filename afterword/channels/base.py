"""The interface of channels: send one message, return its outcome, and announce the point of no return."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_LINK, CHANNEL_OUTBOX, CHANNEL_SMS, CHANNEL_WEBHOOK

EMAIL, SMS, WEBHOOK, LINK, OUTBOX = CHANNEL_EMAIL, CHANNEL_SMS, CHANNEL_WEBHOOK, CHANNEL_LINK, CHANNEL_OUTBOX

Cause = Literal["recipient", "throttle", "account", "connection"]
Begin = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Sent:
    """The other side took it. `reference` is its own name for the message, `reply` its words, addresses masked."""

    reference: str | None = None
    reply_code: int | None = None
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """Known not sent, and worth another try. Only the cause `recipient` counts as an attempt.

    throttle: slower, please (halves the account's rate) · account: our login or our trust is at fault (pauses the
    account, alerts) · connection: nobody there, or no conversation (a failure for the breaker).
    `after_seconds` is the least wait that the other side asked for; null: the backoff decides. `domain`: whose throttle
    it is, where it is not the account's but that of the recipient's domain.
    """

    cause: Cause
    reason: str
    reply_code: int | None = None
    after_seconds: int | None = None
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Known not sent, and never will be. `suppress`: the address does not exist; do not write to it again.

    `is_opt_out`: the person told the provider to be left alone, which is as good as telling us.
    """

    reason: str
    reply_code: int | None = None
    suppress: bool = False
    is_opt_out: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """The point of no return was passed and no answer came: it may have arrived."""

    reason: str


Outcome = Sent | Retry | Refused | Unknown


class Fenced(Exception):
    """Raised by `begin()`: the item is no longer ours. The channel backs out, sends nothing, and lets it pass."""


@dataclass(frozen=True, slots=True)
class Message:
    """One composed message to one person. Texts are final; a channel only encodes them.

    `item_id` is the identity of the send, equal in every attempt. `headers` are extra ones (List-Unsubscribe).
    `composed_time` becomes the Date of a mail. `target_url` is where a webhook goes, with `text` as its body.
    """

    item_id: str
    organization_id: str
    channel_id: int
    recipient: str
    sender: str
    sender_name: str | None
    reply_to: str | None
    subject: str
    html: str
    text: str
    locale: str
    composed_time: datetime
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    target_url: str | None = None


class Channel(Protocol):
    """A way out of the house. One object per account; `send` may be awaited many times at once."""

    @property
    def channel_id(self) -> int:
        """The channel's number in the API."""
        ...

    @property
    def resend_after_seconds(self) -> int | None:
        """Seconds until a retry after an unknown outcome; None: never, the item becomes uncertain."""
        ...

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        """Send it. `begin()` is awaited once, at the point of no return; what it raises passes through unsent."""
        ...

    async def close(self) -> None:
        """Let go of what is open. No send is under way any more."""
        ...
