"""Encryption of backups in the format of age (age-encryption.org), which its own program opens too.

With a passphrase each backup has a key of its own, which the passphrase opens: deriving it takes a second, and a backup
has hundreds of parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyrage

from afterword import errors

AGE: Final[Any] = pyrage  # compiled, without types
SUFFIX: Final = ".age"
IDENTITY_PREFIX: Final = "AGE-SECRET-KEY-"
IDENTITY_BYTES_MAX: Final = 100_000


class CannotOpen(errors.Invalid):
    """The passphrase or the identity is not the one that the backup was made with."""


@dataclass(frozen=True, slots=True)
class Sealer:
    """Encrypts parts; without recipients they stay as they are."""

    recipients: tuple[Any, ...] = ()
    key: bytes | None = None  # the backup's own key, as the passphrase opens it

    @property
    def suffix(self) -> str:
        return SUFFIX if self.recipients else ""

    def seal(self, content: bytes) -> bytes:
        return AGE.encrypt(content, list(self.recipients)) if self.recipients else content


def sealer_of(*, passphrase: str | None, recipients: Sequence[str]) -> Sealer:
    """The sealer of one backup. Raises Invalid for a recipient that age does not know."""
    known = [_recipient(text) for text in recipients]
    if not passphrase:
        return Sealer(tuple(known))
    identity = AGE.x25519.Identity.generate()
    return Sealer((*known, identity.to_public()), AGE.passphrase.encrypt(str(identity).encode(), passphrase))


def identities_of(*, key: bytes | None, passphrase: str | None, file: Path | None) -> list[Any]:
    """The identities that may open a backup. Raises CannotOpen."""
    found = [] if file is None else _of_file(file)
    if key is not None and passphrase:
        try:
            found.append(AGE.x25519.Identity.from_str(AGE.passphrase.decrypt(key, passphrase).decode()))
        except AGE.DecryptError as error:
            raise CannotOpen("The passphrase does not open this backup.") from error
    return found


def unseal(content: bytes, *, identities: Sequence[Any]) -> bytes:
    """Raises CannotOpen."""
    if not identities:
        raise CannotOpen("The backup is encrypted. Set AFTERWORD_BACKUP_PASSPHRASE, or name the file of an identity.")
    try:
        return AGE.decrypt(content, list(identities))
    except AGE.DecryptError as error:
        raise CannotOpen("The passphrase or identity does not open this backup.") from error


def _recipient(text: str) -> Any:
    kind = AGE.ssh if text.startswith("ssh-") else AGE.x25519
    try:
        return kind.Recipient.from_str(text)
    except AGE.RecipientError as error:
        raise errors.Invalid(
            "AFTERWORD_BACKUP_RECIPIENTS must be public keys, joined by commas: age1… or ssh-ed25519 …."
        ) from error


def _of_file(file: Path) -> list[Any]:
    try:
        with file.open("rb") as opened:
            content = opened.read(IDENTITY_BYTES_MAX)
        if b"PRIVATE KEY" in content:
            return [AGE.ssh.Identity.from_buffer(content)]
        lines = [line.strip() for line in content.decode().splitlines()]
        found = [AGE.x25519.Identity.from_str(line) for line in lines if line.startswith(IDENTITY_PREFIX)]
    except (OSError, UnicodeDecodeError, AGE.IdentityError) as error:
        raise CannotOpen(f"{file} cannot be read as an identity of age.") from error
    if not found:
        raise CannotOpen(f"{file} has no identity of age.")
    return found
