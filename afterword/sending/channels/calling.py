"""Maps the response of an HTTP call to an outcome, for SMS gateways and the webhook channel.

`begin()` is awaited when the connection stands, before the first byte. Until then nothing was sent and no attempt
counts; after it only an answer that refuses proves that the message was not taken.
"""

import math
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

import msgspec

from afterword.kit.transport.base import Begin, Cause, Outcome, Refused, Retry, Sent, Unknown
from afterword.kit.transport.http import Answer, Blocked, Caller, NoAnswer, NotSent, Untrusted

THROTTLED: Final = frozenset({429, 503})
OURS: Final = frozenset({401, 403})
LATER: Final = frozenset({408, 425})
SECONDS_MAX: Final = 3600


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """Rules for judging the other side's responses.

    `is_ours`: its address is a setting of the account, so that a wrong one is a fault of the account and no item fails.
    Else an author typed it, and its faults count for the item alone: all receivers of an organization share an account,
    and one of them must not close it for the others. `may_repeat`: it takes no identity twice, so that its own failures
    are worth a retry.
    """

    is_ours: bool
    may_repeat: bool
    seconds: float


async def call(
    caller: Caller,
    *,
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes,
    terms: Terms,
    begin: Begin | None = None,
    judge: Callable[[Answer], Outcome],
) -> Outcome:
    """The outcome of the answer by `judge`, or of a call without one. Errors of `begin` pass through, nothing sent."""
    try:
        answer = await caller.request(
            method, url, headers=headers, content=content, seconds=terms.seconds, before_sending=begin
        )
    except (Blocked, Untrusted) as error:  # operators may correct their settings in time
        return Retry("account" if terms.is_ours else "recipient", error.reason)
    except NotSent as error:
        return Retry("connection" if terms.is_ours else "recipient", error.reason)
    except NoAnswer as error:
        return Retry("recipient", error.reason) if terms.is_ours and terms.may_repeat else Unknown(error.reason)
    return judge(answer)


def json_of(answer: Answer) -> Any:
    try:
        return msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def outcome_of(answer: Answer, terms: Terms) -> Outcome:
    """Outcome by status: 2xx sent; 429, 503 throttled; 401, 403 and redirects our fault; other 4xx refused.

    Where an author typed the address, a fault of ours is worth a retry instead, since it may be corrected in time.
    """
    status, reason = answer.status, f"HTTP {answer.status}"
    if status // 100 == 2:  # noqa: PLR2004
        return Sent(reply_code=status, reply=reason)
    if status in THROTTLED:
        return Retry("throttle", reason, status, retry_after(answer))
    if status in OURS or status // 100 == 3:  # noqa: PLR2004  a redirect is an address that is wrong, and not followed
        return Retry("account" if terms.is_ours else "recipient", reason, status)
    if status in LATER:
        return Retry("recipient", reason, status, retry_after(answer))
    if status // 100 == 4:  # noqa: PLR2004
        return Refused(reason, status)
    return Retry("recipient", reason, status, retry_after(answer)) if terms.may_repeat else Unknown(reason)


def retry_after(answer: Answer) -> int | None:
    """The seconds in Retry-After, 1 to 3600: a number, or a date measured by the answer's own (RFC 9110, 10.2.3)."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal() and len(text) <= 9:  # noqa: PLR2004
        return _clamped(int(text))
    try:
        until, now = parsedate_to_datetime(text), parsedate_to_datetime(answer.headers.get("date", ""))
        return _clamped(math.ceil((until - now).total_seconds()))
    except (ValueError, TypeError):
        return None


def of_cause(cause: Cause, reason: str, answer: Answer) -> Retry:
    return Retry(cause, reason, answer.status, retry_after(answer) if cause in {"throttle", "recipient"} else None)


def _clamped(seconds: int) -> int:
    return min(max(seconds, 1), SECONDS_MAX)
