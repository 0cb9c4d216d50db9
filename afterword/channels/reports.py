"""Reports of providers and mail hosts about sent messages: one type for callbacks, receipts and bounces.

The adapters beside this file read their senders' formats into `Report`; what one does is decided in `queue.reports`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from afterword.core.messaging import addresses

Kind = Literal["accepted", "delivered", "failed", "bounced", "complained", "unsubscribed"]

# Those of a message; a person unsubscribes from all of them.
KINDS: Final[tuple[Kind, ...]] = ("accepted", "delivered", "failed", "bounced", "complained")
REPORTS_MAX: Final = 500  # of one callback or one message; what is beyond it is not read
TEXT_CHARACTERS_MAX: Final = 500
CODE_CHARACTERS_MAX: Final = 40
REFERENCE_CHARACTERS_MAX: Final = 255


class Unsigned(Exception):
    """The signature is missing, wrong, too old or made with a stranger's key; the sentence says which."""


class Unreadable(Exception):
    """Signed well or not signed at all, but not a report; the sentence says why and quotes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One thing that happened to one message.

    `accepted`: the provider took it; `delivered`: it arrived; `failed` (SMS) and `bounced` (mail): it did not, for good
    if `is_hard`, which also says that the address does not exist; `complained`: the person called it spam;
    `unsubscribed`: the person wrote STOP, which is about the number in `recipient` and about no message. The message is
    told by `item_id`, else by the provider's own `provider_reference`, else by `recipient`. `code` and `text` are what
    the provider said, `time` is when it says that it happened. One that is not `is_proven` (a mail that anybody may
    have written) is kept in the log and does nothing else.
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


def worded(text: str, *known: str) -> str:
    """A provider's words as they are kept: one line, addresses masked, at most 500 characters."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text[: 4 * TEXT_CHARACTERS_MAX]).split())
    return addresses.mask(line, *known)[:TEXT_CHARACTERS_MAX]
