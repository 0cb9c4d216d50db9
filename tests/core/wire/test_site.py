"""Public addresses: all begin with the one setting, none holds the secret."""

import pytest

from afterword.core.wire import site
from afterword.core.wire.site import API_PREFIX, Site, origins_of

SITE = Site("https://ask.shop.example/survey", b"secret" * 6)
PAGES = SITE.pages("O")


def test_addresses() -> None:
    addresses = {
        SITE.base_url: API_PREFIX,
        SITE.api("/token"): f"{API_PREFIX}/token",
        PAGES.collection_url("I"): "/a/I",
        PAGES.short_url("C"): "/s/C",
        PAGES.unsubscribe_url("U"): "/u/U",
        SITE.inbound_url("N"): "/inbound/N",
        PAGES.public_link_url("Q"): "/p/Q",
        SITE.problem_url("not_found"): "/problems/not_found",
    }
    assert {f"https://ask.shop.example/survey{path}": path for path in addresses.values()} == addresses


def test_the_secret_is_not_shown() -> None:
    assert "secret" not in repr(SITE)


HOST = "ask.shop.example"


@pytest.mark.parametrize(
    ("text", "host"),
    [
        (HOST, HOST),
        ("https://Ask.Shop.example./", HOST),
        ("ερωτήσεις.example", "xn--jxanbq1bjeg8b.example"),
        ("ask.shop.example/a", None),
        ("https://u@ask.shop.example", None),
        ("ask.shop.example:8443", None),
        ("ask.shop.example:port", None),
        ("127.0.0.1", None),
        ("shop", None),
        ("a.localhost", None),
        ("a b.example", None),
        ("-a.example", None),
        ("a_b.example", None),
        (f"{'a' * 64}.example", None),
        (f"{'a.' * 120}example", None),
    ],
)
def test_typed_host(text: str, host: str | None) -> None:
    if host is None:
        with pytest.raises(ValueError, match="name"):
            site.typed_host(text)
    else:
        assert host == site.typed_host(text)


@pytest.mark.parametrize(
    ("header", "host"), [("Ask.Shop.example:443", HOST), ("ask.shop.example.", HOST), ("", ""), ("[::1]:80", "[")]
)
def test_requested_host(header: str, host: str) -> None:
    assert host == site.requested_host(header)


def test_record() -> None:
    assert "_afterword.ask.shop.example" == site.record_name(HOST)
    assert site.has_record(["v=spf1 -all", " v=1 "], "v=1")
    assert not site.has_record(["v=12"], "v=1")
    assert not site.has_record(None, "v=1")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Shop.Example/a?b=1#c", "https://shop.example"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("https://shop.example:443/", "https://shop.example"),
        ("http://[::1]:9/", "http://[::1]:9"),
        ("https://καφές.example", "https://xn--ixah0a8as.example"),
        ("https://anna:secret@shop.example", "https://shop.example"),
        ("https://shop.example:no", None),
        ("https://*.example", None),
        ("https://a.example; script-src *", None),
        ("https://a_b.example'", None),
        ("ftp://shop.example", None),
        ("shop.example", None),
    ],
)
def test_origins(url: str, origin: str | None) -> None:
    assert ((origin,) if origin else ()) == origins_of([url, url])
