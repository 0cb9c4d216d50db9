"""Reports of providers and mail hosts about sent messages: one type for callbacks, receipts and bounces.

The adapters beside this file read their senders' formats into `Report`; `sending.receipts.service` applies them.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from afterword.core.messaging import addresses

Kind = Literal["accepted", "delivered", "failed", "bounced", "complained", "unsubscribed"]

# The kinds about one message; `unsubscribed` is about all.
KINDS: Final[tuple[Kind, ...]] = ("accepted", "delivered", "failed", "bounced", "complained")
REPORTS_MAX: Final = 500  # of one callback or one message; more are not read
TEXT_CHARACTERS_MAX: Final = 500
CODE_CHARACTERS_MAX: Final = 40
REFERENCE_CHARACTERS_MAX: Final = 255


class Unsigned(Exception):
    """The signature is missing, wrong, too old or of another key; the sentence says which."""


class Unreadable(Exception):
    """The content is no report; the sentence says why and quotes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One thing that happened to one message.

    `accepted`: the provider took it; `delivered`: it arrived; `failed` (SMS) and `bounced` (mail): it did not, because
    the address does not exist if `is_hard`; `complained`: the person called it spam; `unsubscribed`: the person wrote
    STOP, which is about the number in `recipient` and about no message. The message is identified by `item_id`, else by
    the provider's `provider_reference`, else by `recipient`. `code`, `text` and `time` are the provider's own. A report
    that is not `is_proven` (a mail that anybody may have written) is kept in the log and does nothing else.
    """

    kind: Kind
    is_hard: bool = False
    item_id: str | None = None
    provider_reference: str | None = None
    recipient: str | None = None
    code: str = ""
    text: str = ""
    time: datetime | None = None
    is_proven: bool = True


def folded(reference: str) -> str:
    """An id or code in one spelling: SMSCs write the same one with other case, or with zeros before it."""
    return reference.casefold().lstrip("0") or reference[:1]


def worded(text: str, *known: str) -> str:
    """A provider's text as it is kept: one line, addresses masked, at most 500 characters."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text[: 4 * TEXT_CHARACTERS_MAX]).split())
    return addresses.mask(line, *known)[:TEXT_CHARACTERS_MAX]
