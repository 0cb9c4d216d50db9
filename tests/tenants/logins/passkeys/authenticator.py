"""An authenticator in software, which can also cheat."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

ORIGIN = "http://localhost"
PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def text_of(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    host: str = "localhost"
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    user_handle: str = ""
    count: int = 0

    def create(self, options: dict[str, Any], *, origin: str = ORIGIN, verified: bool = True) -> str:
        self.user_handle = options["user"]["id"]
        numbers = self.key.public_key().public_numbers()
        key = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        attested = bytes(16) + len(self.credential_id).to_bytes(2, "big") + self.credential_id + cbor2.dumps(key)
        statement = {"fmt": "none", "attStmt": {}, "authData": self._data(ATTESTED, verified=verified) + attested}
        return self._answer(
            clientDataJSON=_client_data("webauthn.create", options["challenge"], origin),
            attestationObject=cbor2.dumps(statement),
        )

    def get(self, options: dict[str, Any], *, origin: str = ORIGIN, verified: bool = True) -> str:
        self.count += 1
        data = self._data(0, verified=verified)
        client = _client_data("webauthn.get", options["challenge"], origin)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._answer(
            clientDataJSON=client, authenticatorData=data, signature=signature, userHandle=bytes_of(self.user_handle)
        )

    def _data(self, flags: int, *, verified: bool) -> bytes:
        flags |= PRESENT | (VERIFIED if verified else 0)
        return hashlib.sha256(self.host.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _answer(self, **response: bytes) -> str:
        credential_id = text_of(self.credential_id)
        content = {name: text_of(value) for name, value in response.items()}
        return json.dumps({"id": credential_id, "rawId": credential_id, "type": "public-key", "response": content})


def _client_data(kind: str, challenge: str, origin: str) -> bytes:
    return json.dumps({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": False}).encode()
