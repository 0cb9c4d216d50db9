"""The places where browsers have passkeys."""

import pytest

from afterword.core.wire.site import Site
from afterword.tenants.logins.passkeys import relying_party


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
