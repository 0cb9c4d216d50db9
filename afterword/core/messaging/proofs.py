"""Proof that a mail was ours: a header that goes out with it and that a bounce report quotes.

Anybody may write a bounce report. So each mail names its item with a keyed hash beside it, and a report counts for an
item only if it quotes both.
"""

import base64
import hashlib
import hmac
from typing import Final

from afterword.core import keys

ITEM_HEADER: Final = "X-Afterword-Item"
PROOF_BYTES: Final = 12  # 96 bits: nobody guesses one in the lifetime of an item


def item_proof(item_id: str, secret: bytes) -> str:
    """The value of `X-Afterword-Item`: `{item_id}.{16 letters, digits, - and _}`, equal in every attempt."""
    digest = hmac.digest(secret, f"item\0{item_id}".encode(), hashlib.sha256)[:PROOF_BYTES]
    return f"{item_id}.{base64.urlsafe_b64encode(digest).decode('ascii')}"


def item_of(proof: str, secret: bytes) -> str | None:
    """The item that a header's value proves; None where the proof is not ours."""
    item_id, dot, _ = proof.strip().partition(".")
    if not dot or not proof.isascii():
        return None
    sent = proof.strip()
    is_ours = keys.find(secret, lambda one: hmac.compare_digest(item_proof(item_id, one), sent)) is not None
    return item_id if is_ours else None


def reply_proof(message_id: str, secret: bytes) -> str:
    """The left part of the Message-ID of a mail whose answer is awaited: `{message_id}.{16 characters}`."""
    digest = hmac.digest(secret, f"reply\0{message_id}".encode(), hashlib.sha256)[:PROOF_BYTES]
    return f"{message_id}.{base64.urlsafe_b64encode(digest).decode('ascii')}"


def replied_to(proof: str, secret: bytes) -> str | None:
    """The mail that the left part of a Message-ID proves; None where it is not ours."""
    message_id = proof.partition(".")[0]
    if not proof.isascii():
        return None
    is_ours = keys.find(secret, lambda one: hmac.compare_digest(reply_proof(message_id, one), proof)) is not None
    return message_id if is_ours else None
