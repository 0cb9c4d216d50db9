"""Webhooks: the events and scopes of an endpoint, the signature of a delivery, the consequence of an answer to it.

Signatures are those of Standard Webhooks (https://www.standardwebhooks.com): `v1,` and the base64 of HMAC-SHA256 over
`id.timestamp.body`, one for each secret that holds, joined by spaces.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from afterword.core.messaging.notices import ENTITIES, TYPES, read_of

SECRET_PREFIX: Final = "whsec_"  # noqa: S105  it says what follows
SECRET_BYTES: Final = 32
TYPE_DEFAULT: Final = "questionnaire_instance.completed"
RETRY_SECONDS: Final = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
ATTEMPTS_MAX: Final = len(RETRY_SECONDS) + 1
FAILING_DAYS_MAX: Final = 5  # of nothing but failures
OVERLAP_HOURS: Final = 24  # in which both secrets sign
PAUSE_SECONDS_MAX: Final = 3_600.0  # that a target may ask for, of all its deliveries
REST_SECONDS: Final = (*[0] * 9, 1, 2, 4, 8, 15, 30, 60, 120, 300)  # by failures in a row: a failing target holds slots
EXCERPT_CHARACTERS_MAX: Final = 1_000
ERROR_CHARACTERS_MAX: Final = 1_000
_WAIT_STATUSES: Final = frozenset({429, 502, 503, 504})
_GONE: Final = 410
_DIGITS: Final = re.compile(r"\d{1,9}", re.ASCII)

PATTERNS: Final = TYPES | {f"{family}.*" for family in ENTITIES} | {"*"}
"""The values that `event_types` may have."""


def check_type(text: str) -> str | None:
    """Returns a sentence with the types or families that there are, where `text` is none of PATTERNS."""
    if text in PATTERNS:
        return None
    family = text.partition(".")[0]
    known = sorted(one for one in TYPES if one.startswith(f"{family}.")) if family in ENTITIES else []
    known = known or [f"{one}.*" for one in sorted(ENTITIES)]
    return f"There is no such type. There are: {', '.join(known)}, *."


assert timedelta(seconds=sum(RETRY_SECONDS) * 1.2) < timedelta(days=FAILING_DAYS_MAX)  # noqa: S101


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one attempt: the answer, or the reason for none."""

    duration_ms: int
    status: int | None = None
    retry_after_seconds: float | None = None
    excerpt: str | None = None
    error: str | None = None
    is_ours: bool = False  # a failure that says nothing about the target
    is_last: bool = False  # there is nothing to try again

    @property
    def is_delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004

    @property
    def is_gone(self) -> bool:
        """Whether the target wants no further deliveries."""
        return self.status == _GONE

    @property
    def pause_seconds(self) -> float | None:
        if self.status not in _WAIT_STATUSES or self.retry_after_seconds is None:
            return None
        return min(max(self.retry_after_seconds, 1.0), PAUSE_SECONDS_MAX)


def reads_of(patterns: Collection[str]) -> list[str]:
    """The scopes that open all events of an endpoint with these `event_types`, in the order of the alphabet."""
    types = [f"{family}." for family in ENTITIES] if "*" in patterns else patterns
    return sorted({scope for scope in map(read_of, types) if scope is not None})


def secret_of(key: bytes) -> str:
    """A key in the form that is shown once and that receivers' libraries take."""
    return SECRET_PREFIX + base64.b64encode(key).decode()


def sign(content: bytes, *, event_id: str, timestamp: int, keys: Sequence[str]) -> Mapping[str, str]:
    """The headers that go with the body at this Unix second."""
    signed = f"{event_id}.{timestamp}.".encode() + content
    signatures = [f"v1,{base64.b64encode(hmac.digest(_key_of(key), signed, hashlib.sha256)).decode()}" for key in keys]
    return {"webhook-id": event_id, "webhook-timestamp": str(timestamp), "webhook-signature": " ".join(signatures)}


def retry_time(reply: Reply, *, attempts: int, now: datetime, jitter: float) -> datetime | None:
    """When to try again after attempt number `attempts` (from 1) failed; None: never. `jitter`: 0.8 to 1.2."""
    if attempts >= ATTEMPTS_MAX or reply.is_gone or reply.is_last:
        return None
    seconds = RETRY_SECONDS[attempts - 1] * jitter
    return now + timedelta(seconds=max(seconds, reply.pause_seconds or 0.0))


def is_given_up(*, failing_since: datetime, now: datetime) -> bool:
    """Whether an endpoint has failed long enough to be switched off."""
    return now - failing_since >= timedelta(days=FAILING_DAYS_MAX)


def read_retry_after(text: str | None, *, now: datetime) -> float | None:
    """The seconds of a Retry-After header (RFC 9110 §10.2.3: a number or a date); None for anything else."""
    if text is None:
        return None
    text = text.strip()
    if _DIGITS.fullmatch(text):
        return float(text)
    try:
        until = parsedate_to_datetime(text)
        return max((until - now).total_seconds(), 0.0) if until.tzinfo is not None else None
    except (ValueError, TypeError, OverflowError):
        return None


def excerpt_of(body: bytes) -> str | None:
    """The beginning of an answer as text; bytes that are none, and control characters, are replaced."""
    text = body[: EXCERPT_CHARACTERS_MAX * 4].decode("utf-8", errors="replace")
    shown = "".join(one if one.isprintable() or one in "\n\t" else "\N{REPLACEMENT CHARACTER}" for one in text)
    return shown[:EXCERPT_CHARACTERS_MAX] or None


def _key_of(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(SECRET_PREFIX))
