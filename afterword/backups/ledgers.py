"""The ledger of erasures beside the backups: newer than they are, so that a restore brings nobody back."""

import zlib
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from afterword import db
from afterword.backups import encryption, manifests
from afterword.backups.encryption import Sealer
from afterword.backups.locations import CannotUse, Location
from afterword.privacy import ledger
from afterword.privacy.store import LedgerLine

FOLDER: Final = "erasures"
NAME: Final = "ledger.jsonl.gz"
KEPT_MAX: Final = 10  # each holds all lines of the ones before
COMMIT_SECONDS_MAX: Final = 60  # a change is seen this long after its time at the latest


def is_behind(location: Location, *, changed: datetime) -> bool:
    """Whether the newest ledger there may be without a change of this time."""
    folders = _folders(location)
    return not folders or manifests.time_of(folders[-1].rpartition("/")[2]) <= changed + timedelta(
        seconds=COMMIT_SECONDS_MAX
    )


async def write(pool: db.Pool, *, location: Location, sealer: Sealer, now: datetime) -> None:
    """Write the whole ledger under the name of this second, and remove the oldest."""
    folder = f"{FOLDER}/{manifests.backup_id_of(now)}"
    content = "".join([f"{line}\n" async for line in ledger.lines(pool)]).encode()
    if sealer.key is not None:
        location.put(f"{folder}/{manifests.KEY}", sealer.key)
    location.put(f"{folder}/{NAME}{sealer.suffix}", sealer.seal(manifests.compressed(content)))
    for old in _folders(location)[:-KEPT_MAX]:
        location.delete(old)


def read(location: Location, *, passphrase: str | None, identity: Path | None) -> list[LedgerLine]:
    """The lines of all kept ledgers, as a copy of an older database may have written the newest of them.

    Raises CannotOpen, CannotUse, Invalid.
    """
    found: dict[tuple[str, str], LedgerLine] = {}
    for folder in _folders(location):
        for line in _read(location, folder, passphrase=passphrase, identity=identity):
            found[line.erasure.organization_id, line.erasure.erasure_id] = line
    return list(found.values())


def _read(location: Location, folder: str, *, passphrase: str | None, identity: Path | None) -> Iterable[LedgerLine]:
    (name,) = [name for name in location.list_names(folder) if name.rpartition("/")[2].startswith(NAME)]
    content = location.get(name)
    if name.endswith(encryption.SUFFIX):
        key = None
        with suppress(CannotUse):
            key = location.get(f"{folder}/{manifests.KEY}")
        identities = encryption.identities_of(key=key, passphrase=passphrase, file=identity)
        content = encryption.unseal(content, identities=identities)
    return ledger.read(zlib.decompress(content, manifests.GZIP).decode(), name=name)


def _folders(location: Location) -> list[str]:
    names = [name for name in location.list_names(FOLDER) if name.rpartition("/")[2].startswith(NAME)]
    return sorted({name.rpartition("/")[0] for name in names})
