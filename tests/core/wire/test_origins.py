"""Origins of the addresses that an application gives as its websites."""

import pytest

from afterword.core.wire.site import origins_of


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
