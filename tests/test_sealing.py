"""Sealed texts open with their secret and context, unchanged; nothing else does."""

from collections.abc import Callable

import pytest

from afterword import sealing
from afterword.sealing import Unreadable

SECRET = b"s" * 32


def test_round_trip() -> None:
    sealed = sealing.seal("whsec_ключ", secret=SECRET, context="webhook:1")
    assert "whsec_ключ" == sealing.unseal(sealed, secret=SECRET, context="webhook:1")
    assert b"whsec" not in sealed
    assert sealed != sealing.seal("whsec_ключ", secret=SECRET, context="webhook:1")


@pytest.mark.parametrize(
    ("change", "secret", "context"),
    [
        (lambda sealed: sealed, b"t" * 32, "webhook:1"),
        (lambda sealed: sealed, SECRET, "webhook:2"),
        (lambda sealed: sealed[:-1] + bytes([sealed[-1] ^ 1]), SECRET, "webhook:1"),
        (lambda sealed: b"\x02" + sealed[1:], SECRET, "webhook:1"),
        (lambda _: b"", SECRET, "webhook:1"),
    ],
)
def test_nothing_else_opens_it(change: Callable[[bytes], bytes], secret: bytes, context: str) -> None:
    with pytest.raises(Unreadable):
        sealing.unseal(change(sealing.seal("x", secret=SECRET, context="webhook:1")), secret=secret, context=context)
