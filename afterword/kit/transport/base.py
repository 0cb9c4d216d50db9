"""The interface of channels: send one message, return its outcome, and announce the point of no return."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, TypeVar, final

import msgspec

from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_LINK, CHANNEL_OUTBOX, CHANNEL_SMS, CHANNEL_WEBHOOK
from afterword.core.reading import structs
from afterword.errors import FieldError

EMAIL, SMS, WEBHOOK, LINK, OUTBOX = CHANNEL_EMAIL, CHANNEL_SMS, CHANNEL_WEBHOOK, CHANNEL_LINK, CHANNEL_OUTBOX

Cause = Literal["recipient", "throttle", "account", "connection"]
Begin = Callable[[], Awaitable[None]]
Settings = TypeVar("Settings", bound=msgspec.Struct)


class Sent(msgspec.Struct, frozen=True):
    """The other side took it. `reference` is its own name for the message, `reply` its text, addresses masked."""

    reference: str | None = None
    reply_code: int | None = None
    reply: str = ""


class Retry(msgspec.Struct, frozen=True):
    """Known not sent, and worth another try. Only the cause `recipient` counts as an attempt.

    throttle: the other side asks for a lower rate (halves the account's) · account: our login or our trust is at fault
    (pauses the account, alerts) · connection: no connection or no conversation (a failure for the breaker).
    `after_seconds`: the least wait that the other side asked for; null: the backoff decides. `domain`: the recipient's
    domain, if the throttle is its own and not the account's.
    """

    cause: Cause
    reason: str
    reply_code: int | None = None
    after_seconds: int | None = None
    domain: str | None = None


class Refused(msgspec.Struct, frozen=True):
    """Known not sent, for good. `suppress`: the address does not exist and is not written to again.

    `is_opt_out`: the person opted out at the provider, which counts as opting out here.
    """

    reason: str
    reply_code: int | None = None
    suppress: bool = False
    is_opt_out: bool = False


class Unknown(msgspec.Struct, frozen=True):
    """The point of no return was passed and no answer came: the message may have arrived."""

    reason: str


Outcome = Sent | Retry | Refused | Unknown


class Fenced(Exception):
    """Raised by `begin()`: the item is no longer ours. The channel sends nothing and does not catch it."""


@final
class Message(msgspec.Struct, frozen=True):
    """One composed message to one person. Texts are final; a channel only encodes them.

    `item_id` is the identity of the send, equal in every attempt. `html_quoted`: `html` as quoted-printable, where its
    composer has that. `headers` are extra ones (List-Unsubscribe).
    `composed_time` becomes the Date of a mail. `target_url` is where a webhook goes, with `text` as its body.
    `to_user`: a mail of the installation to a person who logs in; it may hold a link that logs in. `by_person`: a
    person wrote it, so no header calls it automatic.
    """

    item_id: str
    organization_id: str
    channel_id: int
    recipient: str
    sender: str
    locale: str
    composed_time: datetime
    sender_name: str | None = None
    reply_to: str | None = None
    subject: str = ""
    html: str = ""
    html_quoted: bytes = b""
    text: str = ""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    target_url: str | None = None
    to_user: bool = False
    by_person: bool = False


class Channel(Protocol):
    """The interface of all channels. One object per account; `send` may be awaited many times at once."""

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        """Send it. `begin()` is awaited once, at the point of no return; what it raises passes through unsent."""
        ...

    async def close(self) -> None:
        """Close open connections. No send is under way any more."""
        ...


class Connectionless:
    """A channel that keeps no connection from one send to the next."""

    async def close(self) -> None:
        """Nothing is open."""


class WrongSettings(ValueError):
    """Settings of an account that cannot be used: `errors` point into them, and quote no value."""

    def __init__(self, *wrong: FieldError) -> None:
        super().__init__(" ".join(f"{one.place}: {one.message}" for one in wrong))
        self.errors = wrong


def wrong_setting(name: str, sentence: str) -> WrongSettings:
    return WrongSettings(FieldError("invalid_format", sentence, pointer=f"/{name}"))


def read_settings(document: Mapping[str, Any], form: type[Settings]) -> Settings:
    """The settings of an account. Raises WrongSettings."""
    try:
        return msgspec.convert(document, form)
    except msgspec.ValidationError as error:
        context = structs.Context(now=datetime.min.replace(tzinfo=UTC), zone=UTC, strict=True)  # no setting is a time
        structs.collect(form, document, context)
        raise WrongSettings(*context.errors or [FieldError("invalid_format", f"{error}.", pointer="")]) from None
