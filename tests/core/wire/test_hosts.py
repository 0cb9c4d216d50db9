"""Names of hosts as people type them and as headers send them."""

import pytest

from afterword.core.wire import site

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
