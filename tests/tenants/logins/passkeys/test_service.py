"""Passkeys: the places where browsers have some, and answers of strangers, which raise nothing."""

import json

import pytest

from afterword.core.wire.site import Site
from afterword.tenants.logins.passkeys import RelyingParty, new_count, new_credential, read_claim, relying_party
from tests.tenants.logins.passkeys.authenticator import Authenticator, text_of


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://answers.example", "answers.example"),
        ("https://answers.example:8443", "answers.example"),
        ("http://localhost:8000", "localhost"),
        ("http://answers.example", None),
        ("https://192.0.2.1", None),
        ("http://127.0.0.1:8000", None),
        ("https://[::1]", None),
    ],
)
def test_relying_party(url: str, host: str | None) -> None:
    party = relying_party(Site(url, b"s" * 32))
    assert host == (party and party.host)
    assert party is None or url == party.origin


CLIENT = text_of(json.dumps({"challenge": "AAAA"}).encode())
PARTY = RelyingParty("localhost", "http://localhost")


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "1", "{}", '{"id": "AA", "response": {}}', '{"id": 1, "response": {"clientDataJSON": "e30"}}',
        '{"id": "é", "response": {"clientDataJSON": "e30"}}', "[" * 19_000,
        json.dumps({"id": "AAAA", "response": {"clientDataJSON": CLIENT, "userHandle": 7}}),
    ],
)  # fmt: skip
def test_no_claim(text: str) -> None:
    assert read_claim(text) is None


@pytest.mark.parametrize("attestation", ["", "AAAA", text_of(b"\xa0"), text_of(b"\x81" * 5_000), text_of(b"\xff" * 99)])
def test_wrong_bytes(attestation: str) -> None:
    client = text_of(json.dumps({"type": "webauthn.create", "challenge": "AAAA", "origin": PARTY.origin}).encode())
    response = {"clientDataJSON": client, "attestationObject": attestation}
    text = json.dumps({"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": response})
    assert read_claim(text) is not None
    assert new_credential(text, challenge=b"\0\0\0", party=PARTY) is None
    assert new_count(text, challenge=b"\0\0\0", party=PARTY, public_key=b"", sign_count=0) is None


def test_right() -> None:
    device = Authenticator()
    made = new_credential(
        device.create({"user": {"id": "AAAA"}, "challenge": "AAAA"}), challenge=b"\0\0\0", party=PARTY
    )
    assert made is not None
    answer = device.get({"challenge": "AAAA"})
    assert 1 == new_count(
        answer, challenge=b"\0\0\0", party=PARTY, public_key=made.credential_public_key, sign_count=made.sign_count
    )
