"""A secret and those before it: what opens, what stays, and how it is written down."""

import pytest

from afterword.core import keys
from afterword.core.keys import Secret

OLD, OLDER, NEW = b"o" * 32, b"f" * 32, b"n" * 32


def test_first() -> None:
    for secret in (OLD, Secret(OLD)):
        assert OLD == keys.addresses_of(secret)
        assert () == tuple(keys.before(secret))
        assert OLD == keys.find(secret, lambda one: one == OLD)
        assert keys.find(secret, lambda one: one == NEW) is None
        assert OLD == keys.packed(secret)
    assert "o" not in repr(Secret(OLD)).replace("Secret", "")


def test_one_that_came_meanwhile() -> None:
    """A process that began before the rotation finds the new one."""
    files = [OLD]
    secret = Secret(OLD, again=lambda: files)
    assert keys.find(secret, lambda one: one == NEW) is None
    files.append(NEW)
    assert NEW == keys.find(secret, lambda one: one == NEW)


def test_written() -> None:
    secret = Secret(NEW, before=[OLD, OLDER], addresses=OLDER)
    current, _, text = keys.packed(secret).partition(keys.SEPARATOR)
    assert (NEW, ([OLD, OLDER], OLDER)) == (current, keys.read_before(text.decode()))
    assert ([OLD, OLDER], OLDER) == keys.read_before(text.decode().replace("\n", ","))
    assert ([], None) == keys.read_before("")
    assert not secret.is_first


@pytest.mark.parametrize("text", ["x", "opens:", "opens:zz", "others:00", "addresses"])
def test_misshapen(text: str) -> None:
    with pytest.raises(ValueError):
        keys.read_before(text)
