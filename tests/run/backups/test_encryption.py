"""Backups in the format of age: what opens them, and what does not."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyrage
import pytest

from afterword import errors
from afterword.run.backups.manifests import CannotOpen, identities_of, sealer_of, unseal

AGE: Final[Any] = pyrage
CONTENT = b"rows and rows"
TRIES_MAX = 10


def identity_in(folder: Path) -> tuple[Path, str]:
    """A file as `age-keygen` writes it, and its public key."""
    identity = AGE.x25519.Identity.generate()
    file = folder / "key.txt"
    file.write_text(f"# created: today\n# public key: {identity.to_public()}\n{identity}\n")
    return file, str(identity.to_public())


class TestRefusals:
    @pytest.mark.parametrize("text", ["age1nobody", "ssh-ed25519 nothing", "a password"])
    def test_no_recipient(self, text: str) -> None:
        with pytest.raises(errors.Invalid, match="AFTERWORD_BACKUP_RECIPIENTS"):
            sealer_of(passphrase=None, recipients=[text])

    @pytest.mark.parametrize("content", ["", "AGE-SECRET-KEY-1NOTHING", "-----BEGIN OPENSSH PRIVATE KEY-----\nx"])
    def test_no_identity(self, tmp_path: Path, content: str) -> None:
        file = tmp_path / "key"
        file.write_text(content)
        with pytest.raises(CannotOpen, match=str(file)):
            identities_of(key=None, passphrase=None, file=file)
        with pytest.raises(CannotOpen, match="cannot be read"):
            identities_of(key=None, passphrase=None, file=tmp_path / "absent")

    def test_nothing_to_open_with(self, tmp_path: Path) -> None:
        _, recipient = identity_in(tmp_path)
        with pytest.raises(CannotOpen, match="AFTERWORD_BACKUP_PASSPHRASE"):
            unseal(sealer_of(passphrase=None, recipients=[recipient]).seal(CONTENT), identities=[])

    def test_changed_or_anothers(self, tmp_path: Path) -> None:
        file, recipient = identity_in(tmp_path)
        sealed = sealer_of(passphrase=None, recipients=[recipient]).seal(CONTENT)
        identities = identities_of(key=None, passphrase=None, file=file)
        for bad in (sealed[:-1], sealed[:-1] + bytes([sealed[-1] ^ 1]), b""):
            with pytest.raises(CannotOpen):
                unseal(bad, identities=identities)
        with pytest.raises(CannotOpen):
            unseal(sealed, identities=[AGE.x25519.Identity.generate()])


def test_recipient(tmp_path: Path) -> None:
    file, recipient = identity_in(tmp_path)
    sealer = sealer_of(passphrase=None, recipients=[recipient])
    assert (".age", None) == (sealer.suffix, sealer.key)
    assert CONTENT == unseal(sealer.seal(CONTENT), identities=identities_of(key=None, passphrase=None, file=file))


def test_plain() -> None:
    sealer = sealer_of(passphrase=None, recipients=[])
    assert ("", CONTENT) == (sealer.suffix, sealer.seal(CONTENT))


@pytest.mark.costly
def test_passphrase_beside_a_recipient(tmp_path: Path) -> None:
    """Either opens it; age itself makes a passphrase slow to guess."""
    file, recipient = identity_in(tmp_path)
    sealer = sealer_of(passphrase="correct horse battery", recipients=[recipient])
    sealed = sealer.seal(CONTENT)
    with pytest.raises(CannotOpen):
        identities_of(key=sealer.key, passphrase="wrong horse battery", file=None)
    for passphrase, key_file in (("correct horse battery", None), (None, file)):
        identities = opened(partial(identities_of, key=sealer.key, passphrase=passphrase, file=key_file))
        assert CONTENT == unseal(sealed, identities=identities)


def opened(open_key: Callable[[], Sequence[Any]]) -> Sequence[Any]:
    """The identities; age refuses a passphrase where the machine is too slow in that moment."""
    for _ in range(TRIES_MAX - 1):
        with suppress(CannotOpen):
            return open_key()
    return open_key()
