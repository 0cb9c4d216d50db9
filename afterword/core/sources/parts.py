"""The interface of a kind of source: a check of the signature, and a reader of what happened."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal

import msgspec

from afterword.core.text.locales import Marked

What = Literal[
    "order.created", "order.paid", "order.shipped", "order.delivered", "order.cancelled", "order.refunded",
    "customer.created", "subscription.ended", "ticket.created", "ticket.solved", "ticket.reopened", "other",
]  # fmt: skip
Value = str | int | float | bool
ORDER_WHATS: Final[tuple[What, ...]] = (
    "order.created", "order.paid", "order.shipped", "order.delivered", "order.cancelled", "order.refunded",
)  # fmt: skip
TICKET_WHATS: Final[tuple[What, ...]] = ("ticket.created", "ticket.solved", "ticket.reopened")

BODY_BYTES_MAX: Final = 1 << 20
AGE_SECONDS_MAX: Final = 300  # of a signature that has a time
_LABELS: Final[Mapping[str, Marked]] = {
    "total": "Order total", "currency": "Currency", "refunded": "Refunded amount", "payment": "Payment method",
    "country": "Country", "store": "Shop", "channel": "Sales channel", "items": "Number of items",
    "carrier": "Carrier", "status": "Status", "tags": "Tags", "ticket_subject": "Subject", "group": "Group",
    "priority": "Priority", "type": "Type", "agent": "Name of the agent", "brand": "Brand",
}  # fmt: skip
SIGNING_SECRET: Final[Marked] = "Signing secret"  # noqa: S105  it says what it is
CLIENT_SECRET: Final[Marked] = "Client secret"  # noqa: S105
SHARED_SECRET: Final[Marked] = "Shared secret"  # noqa: S105


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """One event in our words. `event_id`: the sender's own, the same when it repeats the call.

    `name`: the sender's own name of the event. `time`: when it happened there, which orders events of one subject.
    `subject`: the number of the order or ticket as people know it. `object_id`: the sender's own id of that, equal in
    all of its events: a refund often names neither number nor address. `values`: what rules may compare, such as
    total and currency.
    """

    event_id: str
    what: What
    name: str
    time: datetime | None = None
    subject: str = ""
    object_id: str = ""
    email: str = ""
    phone: str = ""
    first_name: str = ""
    last_name: str = ""
    locale: str = ""
    is_test: bool = False  # the sender tries it out: shown, but nobody is asked
    values: Mapping[str, Value] = msgspec.field(default_factory=dict[str, Value])


class NotSigned(Exception):
    """The signature is missing, wrong or too old; the text says which, without the secret."""


class SourceKind(msgspec.Struct, frozen=True, kw_only=True):
    """One system. `headers`: names in small letters. `secret_label`: what its own settings call the secret.

    `verify(secret, headers, body, now, url)` raises NotSigned and compares in constant time. `read(headers, body)`
    raises Invalid; a call that says nothing of interest, such as a ping, gives none. `whats`: what it can say.
    `configure(settings)`: the kind as one source has it, whose `verify`, `read` and `values` then count; raises
    Invalid. A kind with `settings` cannot read without it.
    """

    name: str
    label: str
    secret_label: Marked
    verify: Callable[[str, Mapping[str, str], bytes, datetime, str], None]
    read: Callable[[Mapping[str, str], bytes], Sequence[Happening]]
    whats: tuple[What, ...]
    values: Mapping[str, Marked] = msgspec.field(default_factory=dict[str, Marked])  # label of each value
    steps: tuple[Marked, ...] = ()  # in that system, so that it calls us
    template: str = ""  # the body to write there, where that system leaves it to its users
    settings: Mapping[str, Marked] = msgspec.field(default_factory=dict[str, Marked])  # label of each; all are texts
    configure: Callable[[Mapping[str, str]], "SourceKind"] | None = None


def labels_of(*names: str) -> Mapping[str, Marked]:
    """The labels of values that several kinds have."""
    return {name: _LABELS[name] for name in names}
