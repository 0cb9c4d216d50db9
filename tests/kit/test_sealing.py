"""Sealed texts open with their secret and context, unchanged; nothing else does."""

from collections.abc import Callable

import pytest

from afterword.core.keys import Secret
from afterword.kit import sealing
from afterword.kit.sealing import Unreadable

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


class TestRotation:
    def test_before_and_after(self) -> None:
        """The new secret opens what the old one sealed, and the mark tells the two apart without opening."""
        old, new = b"o" * 32, b"n" * 32
        first, both = Secret(old), Secret(new, before=[old], addresses=old)
        before, after = (sealing.seal("text", secret=one, context="here") for one in (first, both))
        assert ["text", "text"] == [sealing.unseal(one, secret=both, context="here") for one in (before, after)]
        heads = [sealing.head_of(first), sealing.head_of(both)]
        assert [True, True] == [before.startswith(heads[0]), after.startswith(heads[1])]
        assert heads[1][:1] != heads[0]
        alone = Secret(new, addresses=old)
        assert "text" == sealing.unseal(after, secret=alone, context="here")
        for sealed, secret, context in ((before, alone, "here"), (after, first, "here"), (after, both, "there")):
            with pytest.raises(sealing.Unreadable):
                sealing.unseal(sealed, secret=secret, context=context)

    @pytest.mark.parametrize("length", [0, 1, 4, 5, 6, 17, 20])
    def test_cut_off(self, length: int) -> None:
        secret = Secret(b"n" * 32, before=[b"o" * 32], addresses=b"o" * 32)
        with pytest.raises(sealing.Unreadable):
            sealing.unseal(sealing.seal("text", secret=secret, context="here")[:length], secret=secret, context="here")
