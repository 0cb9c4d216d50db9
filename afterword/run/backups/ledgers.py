"""The ledgers beside the backups, newer than they are: a restore brings nobody back, and nothing that was forgotten.

One has all erasures, the other one for each organization and kind of data the retention run that went furthest.
"""

import zlib
from collections.abc import Generator, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec

from afterword import errors
from afterword.kit import db
from afterword.privacy import erasure_replay, service as privacy
from afterword.privacy.erasure_replay import KeptRun
from afterword.privacy.service import LedgerLine
from afterword.run.backups import manifests
from afterword.run.backups.manifests import CannotUse, Location, Sealer

ERASURES: Final = "erasures"
RUNS: Final = "retention"
NAME: Final = "ledger.jsonl.gz"
KEPT_MAX: Final = 10  # each holds all lines of the ones before
COMMIT_SECONDS_MAX: Final = 60  # a change is seen this long after its time at the latest


def is_behind(location: Location, *, folder: str, changed: datetime) -> bool:
    """Whether the newest ledger there may be without a change of this time."""
    folders = _folders(location, folder)
    known = changed + timedelta(seconds=COMMIT_SECONDS_MAX)
    return not folders or manifests.time_of(folders[-1].rpartition("/")[2]) <= known


async def write_erasures(pool: db.Pool, *, location: Location, sealer: Sealer, now: datetime) -> None:
    """Write the whole ledger under the name of this moment, and remove the oldest."""
    _write([line async for line in privacy.lines(pool)], ERASURES, location=location, sealer=sealer, now=now)


async def write_runs(pool: db.Pool, *, location: Location, sealer: Sealer, now: datetime) -> None:
    """As `write_erasures`, of retention runs."""
    runs = await db.load(pool, erasure_replay.list_furthest_runs)
    lines = [msgspec.json.encode(run).decode() for run in runs]
    _write(lines, RUNS, location=location, sealer=sealer, now=now)


def read_erasures(location: Location, *, passphrase: str | None, identity: Path | None) -> list[LedgerLine]:
    """The lines of all kept ledgers, as a copy of an older database may have written the newest of them.

    Raises CannotOpen, CannotUse, Invalid.
    """
    found: dict[tuple[str, str], LedgerLine] = {}
    for name, text in _texts(location, ERASURES, passphrase=passphrase, identity=identity):
        for line in privacy.read(text, name=name):
            found[line.erasure.organization_id, line.erasure.erasure_id] = line
    return list(found.values())


def read_runs(location: Location, *, passphrase: str | None, identity: Path | None) -> list[KeptRun]:
    """As `read_erasures`, the run that went furthest for each organization and kind."""
    found: dict[tuple[str, str], KeptRun] = {}
    for name, text in _texts(location, RUNS, passphrase=passphrase, identity=identity):
        try:
            runs = [msgspec.json.decode(line, type=KeptRun) for line in text.splitlines()]
        except msgspec.DecodeError as error:
            raise errors.Invalid(f"{name} is no ledger of retention runs.") from error
        for run in runs:
            key = run.organization_id, run.kind
            if key not in found or found[key].before_time < run.before_time:
                found[key] = run
    return list(found.values())


def _write(lines: Iterable[str], folder: str, *, location: Location, sealer: Sealer, now: datetime) -> None:
    made = f"{folder}/{manifests.backup_id_of(now)}"
    content = "".join([f"{line}\n" for line in lines]).encode()
    if sealer.key is not None:
        location.put(f"{made}/{manifests.KEY}", sealer.key)
    location.put(f"{made}/{NAME}{sealer.suffix}", sealer.seal(manifests.compressed(content)))
    for old in _folders(location, folder)[:-KEPT_MAX]:
        location.delete(old)


def _texts(
    location: Location, folder: str, *, passphrase: str | None, identity: Path | None
) -> Generator[tuple[str, str]]:
    """Name and text of each kept ledger, the oldest first."""
    for kept in _folders(location, folder):
        (name,) = [name for name in location.list_names(kept) if name.rpartition("/")[2].startswith(NAME)]
        content = location.get(name)
        if name.endswith(manifests.SUFFIX):
            key = None
            with suppress(CannotUse):
                key = location.get(f"{kept}/{manifests.KEY}")
            identities = manifests.identities_of(key=key, passphrase=passphrase, file=identity)
            content = manifests.unseal(content, identities=identities)
        yield name, zlib.decompress(content, manifests.GZIP).decode()


def _folders(location: Location, folder: str) -> list[str]:
    names = [name for name in location.list_names(folder) if name.rpartition("/")[2].startswith(NAME)]
    return sorted({name.rpartition("/")[0] for name in names})
