"""Addresses at the provider; its answers are in test_service.py, with a real one."""

from contextlib import nullcontext
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import ECKey
from msgspec.structs import replace

from afterword.tenants.logins.identities import openid
from afterword.tenants.logins.identities.openid import (
    Challenge,
    Client,
    Document,
    ProviderFailed,
    check_issuer,
    end_url,
    login_url,
    said,
)

CLIENT = Client("us", None, "https://ask.example/console/login/identity")
# RFC 7636, appendix B
VERIFIER, CHALLENGE = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_login_url() -> None:
    url = login_url(
        "https://login.example/a?tenant=1",
        CLIENT,
        Challenge("s", "n", VERIFIER),
        scopes=["groups", "email"],
        is_anew=True,
    )
    query = {name: value for name, [value] in parse_qs(urlsplit(url).query).items()}
    assert {
        "tenant": "1",
        "response_type": "code",
        "client_id": "us",
        "redirect_uri": CLIENT.redirect_url,
        "scope": "openid email profile groups",
        "state": "s",
        "nonce": "n",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "prompt": "login",
        "max_age": "30",
    } == query


def document(**given: Any) -> Document:
    bare = Document("https://login.example", "", "", "", None, None, has_basic=True, tells_issuer=False)
    return replace(bare, **given)


@pytest.mark.parametrize(
    ("end", "hint", "expected"),
    [
        (None, "e.y.j", None),
        ("https://login.example/end", None, {"client_id": ["us"]}),
        ("https://login.example/end?a=1", "e.y.j", {"a": ["1"], "client_id": ["us"], "id_token_hint": ["e.y.j"]}),
    ],
)
def test_end_url(end: str | None, hint: str | None, expected: dict[str, list[str]] | None) -> None:
    back = "https://ask.example/console/login"
    url = end_url(document(end_url=end), client_id="us", back_url=back, hint=hint)
    query = None if url is None else parse_qs(urlsplit(url).query)
    assert (None if expected is None else {**expected, "post_logout_redirect_uri": [back]}) == query


@pytest.mark.parametrize(
    ("told", "tells_issuer", "is_taken"),
    [
        ("https://evil.example", False, False),
        ("https://evil.example", True, False),
        ("https://login.example/", True, False),
        ("", True, False),
        ("", False, True),
        ("https://login.example", False, True),
        ("https://login.example", True, True),
    ],
)
def test_issuer_of_an_answer(*, told: str, tells_issuer: bool, is_taken: bool) -> None:
    with nullcontext() if is_taken else pytest.raises(ProviderFailed, match="`iss`"):
        assert check_issuer(document(tells_issuer=tells_issuer), told) is None


def test_words_of_a_stranger() -> None:
    assert "a b" == said("a\r\n\x1b\u202e b")
    assert 200 == len(said("x" * 10_000))


# RFC 7517, section 5: a key that is not understood is as if it were not there.
@pytest.mark.parametrize(
    "other",
    [
        {"kty": "EC", "crv": "BP-256", "x": "AAAA", "y": "AAAA"},
        {"kty": "OKP", "crv": "X99", "x": "AAAA"},
        {"kty": "RSA", "n": "not base64!", "e": "AQAB"},
        {"kty": "AKP", "pub": "AAAA"},
        {"kty": "EC"},
        {"kty": []},
        {},
        "text",
        None,
    ],
)
def test_other_keys(other: object) -> None:
    key = ECKey.generate_key("P-256", auto_kid=True)
    found = openid._keys_of({"keys": [other, key.as_dict(private=False), other]})
    assert [key.kid] == [one.kid for one in found.keys]


@pytest.mark.parametrize("keys", [None, 7, {}, "text", []])
def test_no_keys(keys: object) -> None:
    assert [] == openid._keys_of({"keys": keys}).keys
