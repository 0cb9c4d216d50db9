"""The secret of an installation and those that it had before, which open what they sealed until they are retired."""

from collections.abc import Callable, Sequence
from typing import Final, Self

OPENS: Final = "opens"
ADDRESSES: Final = "addresses"
SEPARATOR: Final = b"\0"  # in a backup, between the secret and those before it


class Secret(bytes):
    """The secret in use, as bytes; `before` still open what they sealed, the newest first.

    `addresses` keys the hashes of addresses for good: of some people the hash alone is kept. `again` reads all that
    open now, so that a process finds a secret that another one uses already.
    """

    before: Sequence[bytes]
    addresses: bytes
    again: Callable[[], Sequence[bytes]]

    def __new__(
        cls,
        current: bytes,
        *,
        before: Sequence[bytes] = (),
        addresses: bytes | None = None,
        again: Callable[[], Sequence[bytes]] = tuple,
    ) -> Self:
        secret = super().__new__(cls, current)
        secret.before, secret.addresses, secret.again = tuple(before), addresses or current, again
        return secret

    def __repr__(self) -> str:
        return "Secret(…)"

    @property
    def is_first(self) -> bool:
        """Whether there was never another one."""
        return bytes(self) == self.addresses


def find(secret: bytes, is_right: Callable[[bytes], bool]) -> bytes | None:
    """The secret of which this is true: the one in use, one before it, or one that came meanwhile."""
    known = [bytes(secret), *before(secret)]
    found = next((one for one in known if is_right(one)), None)
    if found is None and isinstance(secret, Secret):
        return next((one for one in secret.again() if one not in known and is_right(one)), None)
    return found


def before(secret: bytes) -> Sequence[bytes]:
    """Those that still open, beside the one in use."""
    return secret.before if isinstance(secret, Secret) else ()


def addresses_of(secret: bytes) -> bytes:
    """The secret that keys hashes of addresses, and whatever else must stay equal for years."""
    return secret.addresses if isinstance(secret, Secret) else secret


def written(*, opening: Sequence[bytes], addresses: bytes) -> str:
    """Lines for `read_before`."""
    lines = [f"{OPENS}:{one.hex()}" for one in dict.fromkeys(opening)]
    return "\n".join([*lines, f"{ADDRESSES}:{addresses.hex()}"])


def read_before(text: str) -> tuple[list[bytes], bytes | None]:
    """The secrets that still open, and the one of addresses. Raises ValueError."""
    opening: list[bytes] = []
    addresses: bytes | None = None
    for line in text.replace(",", "\n").split():
        kind, _, value = line.partition(":")
        if kind not in {OPENS, ADDRESSES} or not value:
            raise ValueError
        if kind == OPENS:
            opening.append(bytes.fromhex(value))
        else:
            addresses = bytes.fromhex(value)
    return opening, addresses


def packed(secret: bytes) -> bytes:
    """The secret for a backup, with those before it."""
    if not isinstance(secret, Secret) or (secret.is_first and not secret.before):
        return bytes(secret)
    return bytes(secret) + SEPARATOR + written(opening=secret.before, addresses=secret.addresses).encode()
