"""Checking what an authenticator answers, by py_webauthn, which is imported with the first answer: it takes long."""

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any, Final

ALGORITHMS: Final = (-8, -7, -257)  # Ed25519, ECDSA and RSA with SHA-256, as COSE numbers them
# Bytes of a stranger's choice: the parsers raise more than the library's own exceptions.
_WRONG: Final = (ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The console as authenticators know it: its host, and the origin of its pages."""

    host: str
    origin: str


@dataclass(frozen=True, slots=True)
class Claim:
    """The credential and the challenge that an answer names; nothing of it is proven."""

    credential_id: bytes
    challenge: bytes
    user_handle: bytes | None


@dataclass(frozen=True, slots=True)
class NewCredential:
    credential_id: bytes
    public_key: bytes
    sign_count: int


def read_claim(text: str) -> Claim | None:
    """None for what is no answer of an authenticator."""
    try:
        credential: dict[str, Any] = json.loads(text)
        response = credential["response"]
        challenge = json.loads(_bytes_of(response["clientDataJSON"]))["challenge"]
        handle = response.get("userHandle")
        return Claim(_bytes_of(credential["id"]), _bytes_of(challenge), _bytes_of(handle) if handle else None)
    except (*_WRONG, binascii.Error, RecursionError):
        return None


def new_credential(text: str, *, challenge: bytes, party: RelyingParty) -> NewCredential | None:
    """The credential that was made for this challenge by a verified person; None if the answer is wrong."""
    from webauthn import verify_registration_response  # noqa: PLC0415
    from webauthn.helpers.cose import COSEAlgorithmIdentifier  # noqa: PLC0415
    from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

    try:
        found = verify_registration_response(
            credential=text,
            expected_challenge=challenge,
            expected_rp_id=party.host,
            expected_origin=party.origin,
            require_user_verification=True,
            supported_pub_key_algs=[COSEAlgorithmIdentifier(one) for one in ALGORITHMS],
        )
    except (WebAuthnException, *_WRONG):
        return None
    return NewCredential(found.credential_id, found.credential_public_key, found.sign_count)


def new_count(text: str, *, challenge: bytes, party: RelyingParty, public_key: bytes, sign_count: int) -> int | None:
    """The count of signatures with this one; None if the answer is wrong, or the count has not grown."""
    from webauthn import verify_authentication_response  # noqa: PLC0415
    from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415

    try:
        found = verify_authentication_response(
            credential=text,
            expected_challenge=challenge,
            expected_rp_id=party.host,
            expected_origin=party.origin,
            credential_public_key=public_key,
            credential_current_sign_count=sign_count,
            require_user_verification=True,
        )
    except (WebAuthnException, *_WRONG):
        return None
    return found.new_sign_count


def text_of(content: bytes) -> str:
    """Base64 for addresses without its padding, as WebAuthn writes bytes in JSON."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
