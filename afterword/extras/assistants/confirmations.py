"""Codes by which a change is confirmed: a dry run gives one, and the change must carry it.

Nothing is stored. A code is sealed with the installation's secret, for one caller, one tool, the very arguments that
the dry run had, and the version of what it read.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from afterword.extras.assistants.client import Refused

CONFIRMATION_SECONDS: Final = 900
CODE_CHARACTERS_MAX: Final = 400
NONCE_BYTES: Final = 9
SEAL_BYTES: Final = 16
_AGAIN: Final = (
    "Call the tool without a confirmation, show the person what it would do, and use the code that it gives."
)
_canonical: Final = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True, slots=True)
class Confirmed:
    version: str
    """The ETag that the dry run saw; empty for none."""
    key: str
    """An Idempotency-Key: the same code acts once."""


class Confirmations:
    def __init__(self, secret: bytes, *, clock: Callable[[], float]) -> None:
        """`clock`: seconds since 1970."""
        self._key = hmac.digest(secret, b"confirmations of assistants", "sha256")
        self._clock = clock

    def issue(self, *, caller: str, tool: str, arguments: Any, version: str) -> str:
        until = int(self._clock()) + CONFIRMATION_SECONDS
        payload = msgspec.json.encode([until, version, secrets.token_urlsafe(NONCE_BYTES)])
        seal = self._seal(payload, caller, tool, arguments)
        return base64.urlsafe_b64encode(seal + payload).decode().rstrip("=")

    def check(self, code: str, *, caller: str, tool: str, arguments: Any) -> Confirmed:
        """Raises Refused for a code of other arguments, of another caller, or that is too old."""
        try:
            raw = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
        except (ValueError, binascii.Error):
            raise Refused(f"This is no confirmation code. {_AGAIN}") from None
        seal, payload = raw[:SEAL_BYTES], raw[SEAL_BYTES:]
        if not hmac.compare_digest(seal, self._seal(payload, caller, tool, arguments)):
            raise Refused(f"The confirmation is not for this change. {_AGAIN}")
        until, version, _ = msgspec.json.decode(payload)
        if until < self._clock():
            raise Refused(f"The confirmation is older than {CONFIRMATION_SECONDS // 60} minutes. {_AGAIN}")
        return Confirmed(version, hashlib.sha256(raw).hexdigest()[:40])

    def _seal(self, payload: bytes, caller: str, tool: str, arguments: Any) -> bytes:
        about = _canonical([hashlib.sha256(caller.encode()).hexdigest(), tool, arguments])
        return hmac.digest(self._key, payload + b"\n" + about, "sha256")[:SEAL_BYTES]
