"""Addresses at the provider; its answers are in test_service.py, with a real one."""

from urllib.parse import parse_qs, urlsplit

from afterword.logins.identities.openid import Challenge, Client, Document, end_url, login_url

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
        "max_age": "0",
    } == query


def test_end_url() -> None:
    document = Document("https://login.example", "", "", "", None, None, has_basic=True)
    assert end_url(document, client_id="us", back_url="https://ask.example/console/login") is None
