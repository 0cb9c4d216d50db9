"""Secrets that the program must read again (a provider's login, a webhook's key), sealed before they are stored.

AES-256-GCM under keys derived from the installation's secret: whoever reads the database alone reads nothing, and a
sealed text moved to another row, or changed, does not open.
"""

import secrets
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
_FORM: Final = b"\x01"  # the first byte says how the rest was made


class Unreadable(Exception):
    """It was sealed under another secret, for another context, or it was changed."""


def seal(text: str, *, secret: bytes, context: str) -> bytes:
    """`text`, readable only with the same secret and `context`, such as `webhook:{organization_id}:{id}`."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return _FORM + nonce + _cipher(secret).encrypt(nonce, text.encode(), context.encode())


def unseal(sealed: bytes, *, secret: bytes, context: str) -> str:
    """Open a text that was sealed for the same context; raises Unreadable."""
    if sealed[:1] != _FORM:
        raise Unreadable
    nonce, rest = sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :]
    try:
        return _cipher(secret).decrypt(nonce, rest, context.encode()).decode()
    except InvalidTag as error:
        raise Unreadable from error


def _cipher(secret: bytes) -> AESGCM:
    return AESGCM(HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=b"afterword sealing").derive(secret))
