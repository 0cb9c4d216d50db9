"""Maps an SMTP reply to the item's outcome, as one pure function.

Reply codes: RFC 5321 4.2; enhanced codes: RFC 3463 and the IANA registry.
"""

import re
from enum import IntEnum
from typing import Final, Literal

from afterword.core.messaging.refusals import SUPPRESSING, enhanced_of, judge
from afterword.kit.transport import mime
from afterword.kit.transport.base import Cause, Outcome, Refused, Retry, Sent, Unknown

GREYLIST_SECONDS = 300

_ACCOUNT_CODES: Final = frozenset({530, 535})
_CLOSING: Final = 421
_BUSY: Final = 454  # a throttle, but relays also answer it to those whom they do not know
_GREYLIST_CODES: Final = frozenset({450, 451})
_TRY_OTHER_LOGIN: Final = frozenset({504, 534, 538})  # this mechanism only; another may do

# "rate" as a word: separate, corporate and generated are not about speed; nor are loops and reputations. The quota of
# a day or an hour is a rate too, which some hosts refuse with 550, and so is Exchange Online's number of connections.
_THROTTLE_WORDS = re.compile(
    r"\brates?\b|\bratelimit|throttl|too many(?! (?:hops|received))|too much mail|\bdaily\b.*\b(?:limit|quota)\b"
    r"|\bexceeded\b.*\bper (?:minute|hour|day)\b|\bsender thread limit\b|\bconnections limit\b|SubmissionQuotaExceeded",
    re.IGNORECASE,
)
_REPUTATION_WORDS = re.compile(r"\b(?:complaint|bounce|spam) rates?\b", re.IGNORECASE)
_GREYLIST_WORDS = re.compile(r"gr[ea]y-?\s?list", re.IGNORECASE)
# A refusal of us: this relay does not carry our mail, not our sender's address, not from our machine or not without a
# login. All are bounded: a reply may be long.
_OUR_CODES: Final = frozenset({"4.1.7", "5.1.7", "4.1.8", "5.1.8", "5.2.252", "5.7.8", "5.7.25", "5.7.54", "5.7.57"})
_RELAY_WORDS = re.compile(
    r"\brelay(?:ing)?\b[^.;]{0,40}?\b(?:denied|prohibited|forbidden|disallowed|not (?:permitted|allowed|authori[sz]ed))"
    r"|\b(?:unable to|(?:not (?:permitted|allowed|authori[sz]ed) to)|cannot|can't|do(?:es)? not|don't|won't) relay\b"
    r"|\brcpthosts\b",
    re.IGNORECASE,
)
_OUR_WORDS = re.compile(
    r"\bsender (?:address |domain )?(?:rejected:|(?:is )?not (?:verified|allowed|authori[sz]ed|permitted|owned))"
    r"|\bsender verify (?:failed|callout)\b|\b(?:email|from) address (?:is )?not verified\b|\bmatch a verified sender\b"
    r"|\bnot a sender signature\b|\bSendAsDenied\b|\bpermissions to send as\b"
    r"|\bnot (?:authori[sz]ed|allowed|permitted) to (?:send (?:as|from)|use this (?:sender|from))\b"
    r"|\bclient (?:was |is )?not authenticated\b|\b(?:must|please) (?:first )?authenticate\b"
    r"|\bauthentication (?:is )?required\b|\brequires authentication\b|\bissue a starttls\b"
    r"|\bclient host rejected\b|\bhelo command rejected\b|\binvalid helo\b|\bunauthorized ip\b"
    r"|\bsending paused for this account\b|\byour (?:\w{1,20} )?account\b[^.;]{0,40}?\b(?:suspended|disabled|locked)",
    re.IGNORECASE,
)
_LIST_WORDS = re.compile(
    r"\b(?:block|black|deny)[ -]?list|\bblackhole\b|\b(?:rbl|dnsbl|spamhaus|spamcop)\b|\bblocked using\b|\bbanned\b",
    re.IGNORECASE,
)
_CLIENT_NAMES = re.compile(
    r"\bclient host\b|\byour (?:ip|host|server)\b|\bsending ip\b|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"
    r"|\[(?:ipv6:)?[0-9a-f]{0,4}:[0-9a-f:.]{2,40}\]",
    re.IGNORECASE,
)
# The relay asked the recipient's server before it answered, and quotes it; or this recipient takes mail of few people.
_RECIPIENT_WORDS = re.compile(
    r"\bsaid:|\bin reply to\b|\bin response to\b|\bcallout verification\b|\bresponse to \"|\bRESOLVER\.", re.IGNORECASE
)
_OF_THIS_MAIL: Final = frozenset({500, 502, 503, 504, 552, 555})  # to MAIL: its size, its options, the order
_JUDGED_CHARACTERS = 2_000
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
        enhanced, is_gone = judge("", f"{code} {text}")
        is_known = enhanced in SUPPRESSING and phase in {Phase.RCPT, Phase.DOT}  # words alone do not count here
        return Refused(reply, code, suppress=is_gone and is_known)
    if cause == "throttle":
        return Retry(cause, reply, code, domain=_throttling_domain(phase, code, text, recipient))
    return Retry(cause, reply, code, GREYLIST_SECONDS if cause == "recipient" and _is_greylisting(code, text) else None)


def _cause(phase: Phase, code: int, text: str) -> Cause:
    kind = kind_of(code)
    if kind in {"later", "never"}:
        is_ours = _is_about_us(phase, code, text)
        if _asks_for_less(code, text) or (code == _BUSY and not is_ours):
            return "throttle"
        if is_ours:  # a look-up may succeed later, so the breaker tries it again by itself
            return "account" if kind == "never" or _RELAY_WORDS.search(text[:_JUDGED_CHARACTERS]) else "connection"
    if phase is Phase.CONNECT or (phase is Phase.AUTH and kind != "never"):
        return "connection"
    if phase is Phase.AUTH or code in _ACCOUNT_CODES:
        return "account"
    if kind in {"later", "never"} or phase >= Phase.RCPT:
        return "recipient"
    return "connection"


def broken(phase: Phase, why: str) -> Outcome:
    if phase is Phase.DOT:
        return Unknown(f"No answer after the message: {why}")
    if phase <= Phase.MAIL:
        return Retry("connection", why)
    # From RCPT on this recipient or body may be the cause, so the attempt counts.
    return Retry("recipient", why)


def _asks_for_less(code: int, text: str) -> bool:
    if code == _CLOSING or enhanced_of(text) == "4.5.3":
        return True
    return bool(_THROTTLE_WORDS.search(_REPUTATION_WORDS.sub("", text)))


def _is_about_us(phase: Phase, code: int, text: str) -> bool:
    """True if the relay refuses the sender's address, our machine or our login: it would refuse any recipient.

    False for a recipient's server whose refusal the relay passes on. Past RCPT a content filter may say "blocked", so
    addresses of machines say nothing there.
    """
    text, enhanced = text[:_JUDGED_CHARACTERS], enhanced_of(text) or ""
    if phase is Phase.CONNECT and enhanced.startswith("5.7."):
        return True
    if phase is Phase.MAIL and kind_of(code) == "never":
        return code not in _OF_THIS_MAIL and not enhanced.startswith(("5.3.", "5.5.", "5.6."))
    if _RECIPIENT_WORDS.search(text):
        return False
    if enhanced in _OUR_CODES or _RELAY_WORDS.search(text) or _OUR_WORDS.search(text):
        return True
    return phase <= Phase.RCPT and bool(_LIST_WORDS.search(text) and _CLIENT_NAMES.search(text))


def _throttling_domain(phase: Phase, code: int, text: str, recipient: str) -> str | None:
    """The recipient's domain, if it asks for a lower rate itself: in answer to RCPT, or later by its name.

    421 closes the connection, so it is about the account.
    """
    domain = recipient.rpartition("@")[2].lower()
    if not domain or code == _CLOSING or phase < Phase.RCPT or _is_about_us(phase, code, text):
        return None
    is_named = re.search(rf"(?<![\w.-]){re.escape(domain)}(?![\w-])", text, re.IGNORECASE) is not None
    return domain if phase is Phase.RCPT or is_named else None


def may_try_other_login(code: int) -> bool:
    """True if a refused login concerns its mechanism rather than the password."""
    return code in _TRY_OTHER_LOGIN


def worded(code: int, text: str, recipient: str = "") -> str:
    """A reply as it is kept: one line, addresses masked, at most 500 characters."""
    return mime.worded(f"{code if code > 0 else ''} {text}", recipient)


def kind_of(code: int) -> Literal["done", "later", "never", "odd"]:
    match code // 100:
        case 2:
            return "done"
        case 4:
            return "later"
        case 5:
            return "never"
        case _:
            return "odd"


def _is_greylisting(code: int, text: str) -> bool:
    return code in _GREYLIST_CODES or enhanced_of(text) == "4.7.1" or bool(_GREYLIST_WORDS.search(text))


def _reference(text: str) -> str | None:
    found = _REFERENCE.search(text)
    return (found.group(1) or found.group(2)) if found else None
