"""Maps an SMTP reply to the item's outcome, as one pure function.

Reply codes: RFC 5321 4.2; enhanced codes: RFC 3463 and the IANA registry.
"""

import re
from enum import IntEnum
from typing import Final, Literal

from afterword.channels import reports
from afterword.channels.base import Cause, Outcome, Refused, Retry, Sent, Unknown

GREYLIST_SECONDS = 300

# The only codes that say "this address does not exist": RFC 3463 3.2 and 3.3, and 5.1.10 of RFC 7505.
SUPPRESSING: Final = frozenset({"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"})
_ACCOUNT_CODES: Final = frozenset({530, 535})
_CLOSING: Final = 421
_THROTTLE_CODES: Final = frozenset({_CLOSING, 454})
_GREYLIST_CODES: Final = frozenset({450, 451})
_TRY_OTHER_LOGIN: Final = frozenset({504, 534, 538})  # this mechanism only; another may do

_ENHANCED = re.compile(r"(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)")  # and not three parts of an IP address
# "rate" as a word: separate, corporate and generated are not about speed; nor are loops and reputations. The quota of
# a day or an hour is a rate too, which some hosts refuse with 550, and so is Exchange Online's number of connections.
_THROTTLE_WORDS = re.compile(
    r"\brates?\b|\bratelimit|throttl|too many(?! (?:hops|received))|too much mail|\bdaily\b.*\b(?:limit|quota)\b"
    r"|\bexceeded\b.*\bper (?:minute|hour|day)\b|\bsender thread limit\b|\bconnections limit\b|SubmissionQuotaExceeded",
    re.IGNORECASE,
)
_REPUTATION_WORDS = re.compile(r"\b(?:complaint|bounce|spam) rates?\b", re.IGNORECASE)
_GREYLIST_WORDS = re.compile(r"gr[ea]y-?\s?list", re.IGNORECASE)
_REFERENCE = re.compile(
    r"\b(?:queued as|id=|queue id:?)\s*<?([A-Za-z0-9._+/=-]{4,100})|\bok:?\s+([A-Za-z0-9._-]{12,100})", re.IGNORECASE
)


class Phase(IntEnum):
    CONNECT = 1  # TCP, TLS, greeting, EHLO
    AUTH = 2
    MAIL = 3
    RCPT = 4
    DATA = 5  # up to 354
    BODY = 6  # begin() has committed; the dot is not handed over
    DOT = 7  # the point of no return


def classify(phase: Phase, code: int, text: str, *, recipient: str = "") -> Outcome:
    """The outcome of this reply in this phase. A positive reply is an outcome only after the dot."""
    reply = worded(code, text, recipient)
    kind = kind_of(code)
    if phase is Phase.DOT and kind == "done":
        return Sent(_reference(text), code, reply)
    if phase is Phase.DOT and kind == "odd":
        return Unknown(f"After the message came no answer that SMTP knows: {reply}")
    cause = _cause(phase, code, text)
    if kind == "never" and cause == "recipient":
        return Refused(reply, code, suppress=phase in {Phase.RCPT, Phase.DOT} and enhanced_of(text) in SUPPRESSING)
    if cause == "throttle":
        return Retry(cause, reply, code, domain=_throttling_domain(phase, code, text, recipient))
    return Retry(cause, reply, code, GREYLIST_SECONDS if cause == "recipient" and _is_greylisting(code, text) else None)


def _cause(phase: Phase, code: int, text: str) -> Cause:
    kind = kind_of(code)
    if kind in {"later", "never"} and is_throttle(code, text):
        return "throttle"
    if phase is Phase.CONNECT or (phase is Phase.AUTH and kind != "never"):
        return "connection"
    if phase is Phase.AUTH or code in _ACCOUNT_CODES:
        return "account"
    if kind in {"later", "never"} or phase >= Phase.RCPT:
        return "recipient"
    return "connection"


def broken(phase: Phase, why: str) -> Outcome:
    """The outcome of a conversation that broke off: closed, reset, silent, or no SMTP at all."""
    if phase is Phase.DOT:
        return Unknown(f"No answer after the message: {why}")
    if phase <= Phase.MAIL:
        return Retry("connection", why)
    # From RCPT on this recipient or body may be the cause, so the attempt counts.
    return Retry("recipient", why)


def is_throttle(code: int, text: str) -> bool:
    """True if the server asks for a lower rate."""
    if code in _THROTTLE_CODES or enhanced_of(text) == "4.5.3":
        return True
    return bool(_THROTTLE_WORDS.search(_REPUTATION_WORDS.sub("", text)))


def _throttling_domain(phase: Phase, code: int, text: str, recipient: str) -> str | None:
    """The recipient's domain, if it asks for a lower rate itself: in answer to RCPT, or later by its name.

    421 closes the connection, so it is about the account.
    """
    domain = recipient.rpartition("@")[2].lower()
    if not domain or code == _CLOSING or phase < Phase.RCPT:
        return None
    is_named = re.search(rf"(?<![\w.-]){re.escape(domain)}(?![\w-])", text, re.IGNORECASE) is not None
    return domain if phase is Phase.RCPT or is_named else None


def may_try_other_login(code: int) -> bool:
    """True if a refused login concerns its mechanism rather than the password."""
    return code in _TRY_OTHER_LOGIN


def worded(code: int, text: str, recipient: str = "") -> str:
    """A reply as it is kept: one line, addresses masked, at most 500 characters."""
    return reports.worded(f"{code if code > 0 else ''} {text}", recipient)


def kind_of(code: int) -> Literal["done", "later", "never", "odd"]:
    """Meaning of a reply's first digit (RFC 5321 4.2.1)."""
    match code // 100:
        case 2:
            return "done"
        case 4:
            return "later"
        case 5:
            return "never"
        case _:
            return "odd"


def enhanced_of(text: str) -> str | None:
    """The enhanced status code in a reply's text, `5.1.1`."""
    found = _ENHANCED.search(text)
    return found.group(1) if found else None


def _is_greylisting(code: int, text: str) -> bool:
    return code in _GREYLIST_CODES or enhanced_of(text) == "4.7.1" or bool(_GREYLIST_WORDS.search(text))


def _reference(text: str) -> str | None:
    """The server's own name for the mail."""
    found = _REFERENCE.search(text)
    return (found.group(1) or found.group(2)) if found else None
