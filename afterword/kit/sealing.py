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

from afterword.core import keys
from afterword.core.keys import Secret

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
_FORM: Final = b"\x01"  # the first byte says how the rest was made
_MARKED: Final = b"\x02"  # the same behind a mark of the secret, once there was more than one
MARK_BYTES: Final = 4


class Unreadable(Exception):
    """It was sealed under another secret, for another context, or it was changed."""


def seal(text: str, *, secret: bytes, context: str) -> bytes:
    """`text`, readable only with the same secret and `context`, such as `webhook:{organization_id}:{id}`."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return head_of(secret) + nonce + _cipher(secret).encrypt(nonce, text.encode(), context.encode())


def unseal(sealed: bytes, *, secret: bytes, context: str) -> str:
    """Open a text that was sealed for the same context, also with a secret of before; raises Unreadable."""
    is_marked = sealed[:1] == _MARKED
    if not is_marked and sealed[:1] != _FORM:
        raise Unreadable
    start = 1 + MARK_BYTES if is_marked else 1
    nonce, rest, opened = sealed[start : start + NONCE_BYTES], sealed[start + NONCE_BYTES :], b""

    def opens(one: bytes) -> bool:
        nonlocal opened
        if is_marked and sealed[1:start] != _mark(one):
            return False
        try:
            opened = _cipher(one).decrypt(nonce, rest, context.encode())
        except (InvalidTag, ValueError):
            return False
        return True

    if keys.find(secret, opens) is None:
        raise Unreadable
    return opened.decode()


def head_of(secret: bytes) -> bytes:
    """The first bytes of all that is sealed with this secret, and with no other one that was ever in use."""
    return _FORM if not isinstance(secret, Secret) or secret.is_first else _MARKED + _mark(secret)


def _mark(secret: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=MARK_BYTES, salt=None, info=b"afterword mark").derive(secret)


def _cipher(secret: bytes) -> AESGCM:
    return AESGCM(HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=b"afterword sealing").derive(secret))
