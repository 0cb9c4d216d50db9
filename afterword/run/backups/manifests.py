"""The contents of a backup: parts with their checksums, and the manifest, which is written last and makes it one."""

import hashlib
import re
import zlib
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

from afterword import errors
from afterword.kit.db import Database
from afterword.kit.web.metrics import Sample
from afterword.run.backups import encryption, store
from afterword.run.backups.encryption import Sealer
from afterword.run.backups.locations import CannotUse, Location

AGE: Final = ("afterword_backup_age_seconds", "Age of the last backup, of the installation where there is none.")
LATE: Final = (
    "afterword_backup_late_seconds",
    "How late the next backup is; absent where AFTERWORD_BACKUP_TO is unset. Alert above 0.",
)
GRACE: Final = timedelta(hours=2)  # that a backup of much data may take


def seconds_late(age_seconds: float, *, every: timedelta) -> float:
    return max(0.0, age_seconds - (every + GRACE).total_seconds())


async def samples(db: Database, *, every: timedelta | None) -> list[Sample]:
    """`every`: workers make backups this often; None: somebody else does, or nobody."""
    age = await store.get_age_seconds(db)
    if age is None:
        return []
    late = [] if every is None else [Sample(*LATE, seconds_late(age, every=every))]
    return [Sample(*AGE, age), *late]


FORMAT: Final = 1
PART_BYTES: Final = 16 * 1024 * 1024  # of COPY text before compression; a part is in memory as a whole
MANIFEST: Final = "manifest.json"
KEY: Final = "key.age"
LEVEL: Final = 3
GZIP: Final = 31  # zlib's word for a header of gzip
ID: Final = re.compile(r"(\d{8}T\d{6})(\.\d{6})?Z(-[a-z0-9.-]+)?")
_TIME: Final = "%Y%m%dT%H%M%S.%fZ"


class Damaged(errors.Invalid):
    """A part is missing, was changed, or is not the one that was written."""


class Part(msgspec.Struct, frozen=True):
    """An object of a backup. `sha256` is of its bytes as they lie there."""

    name: str
    sha256: str
    bytes: int


class TableParts(msgspec.Struct, frozen=True):
    """The rows of a table as COPY text; each part begins and ends with a row."""

    name: str
    columns: list[str]
    rows: int
    parts: list[Part]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """All that a restore needs to know."""

    format: int
    backup_id: str
    version: str
    revision: str
    started_time: datetime
    organization_id: str | None
    tables: list[TableParts]
    sequences: dict[str, int]
    secret: Part
    files: list[Part]


def backup_id_of(now: datetime, *, suffix: str = "") -> str:
    return now.astimezone(UTC).strftime(_TIME) + (f"-{suffix}" if suffix else "")


def time_of(backup_id: str) -> datetime:
    """The start of a backup. Older releases named it by the second. Raises ValueError."""
    found = ID.fullmatch(backup_id)
    if found is None:
        raise ValueError(backup_id)
    seconds, fraction, _ = found.groups()
    return datetime.strptime(f"{seconds}{fraction or '.0'}Z", _TIME).replace(tzinfo=UTC)


def list_backups(location: Location) -> list[str]:
    """The ids of the finished backups, the oldest first."""
    folders = {name.partition("/")[0] for name in location.list_names() if name.partition("/")[2].startswith(MANIFEST)}
    return sorted(folder for folder in folders if ID.fullmatch(folder))


# Writing ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Writer:
    """Writes the parts of one backup; `size` counts their bytes."""

    location: Location
    backup_id: str
    sealer: Sealer
    size: int = 0
    _number: int = 0

    def put(self, name: str, content: bytes) -> Part:
        """Compress, encrypt and write a part of its own."""
        self._number += 1
        return self._put(f"{self._number:05}-{name}.gz{self.sealer.suffix}", self.sealer.seal(compressed(content)))

    def put_manifest(self, manifest: Manifest) -> None:
        if self.sealer.key is not None:
            self._put(KEY, self.sealer.key)
        self._put(f"{MANIFEST}{self.sealer.suffix}", self.sealer.seal(msgspec.json.encode(manifest)))

    def _put(self, name: str, content: bytes) -> Part:
        self.location.put(f"{self.backup_id}/{name}", content)
        self.size += len(content)
        return Part(name, hashlib.sha256(content).hexdigest(), len(content))


@dataclass(slots=True)
class TableWriter:
    """Takes the COPY text of a table, and cuts it into parts between rows."""

    writer: Writer
    table: str
    rows: int = 0
    parts: list[Part] = field(default_factory=list[Part])
    _held: list[bytes] = field(default_factory=list[bytes])
    _bytes: int = 0

    async def take(self, content: bytes) -> None:
        """Each piece ends with a row, and COPY text has a newline nowhere else."""
        self.rows += content.count(b"\n")
        self._held.append(content)
        self._bytes += len(content)
        if self._bytes >= PART_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._held:
            self.parts.append(self.writer.put(self.table, b"".join(self._held)))
            self._held, self._bytes = [], 0


# Reading ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Reader:
    """Reads the parts of one backup, and checks each."""

    location: Location
    backup_id: str
    identities: list[Any]

    def get(self, part: Part) -> bytes:
        """Raises Damaged, CannotOpen, CannotUse."""
        content = self.location.get(f"{self.backup_id}/{part.name}")
        if hashlib.sha256(content).hexdigest() != part.sha256:
            raise Damaged(f"The part {part.name} of the backup {self.backup_id} was changed: its checksum differs.")
        if part.name.endswith(encryption.SUFFIX):
            content = encryption.unseal(content, identities=self.identities)
        return zlib.decompress(content, GZIP)

    async def rows(self, table: TableParts) -> AsyncGenerator[bytes]:
        for part in table.parts:
            yield self.get(part)


def open_backup(
    location: Location, backup_id: str, *, passphrase: str | None, identity: Path | None
) -> tuple[Manifest, Reader]:
    """The manifest of a backup, and a reader of its parts. Raises NotFound, CannotOpen, Damaged."""
    names = [name for name in location.list_names(backup_id) if name.startswith(f"{backup_id}/{MANIFEST}")]
    if not ID.fullmatch(backup_id) or not names:
        raise errors.NotFound(f"There is no finished backup “{backup_id}”.")
    content, key = location.get(names[0]), None
    identities: list[Any] = []
    if names[0].endswith(encryption.SUFFIX):
        with suppress(CannotUse):
            key = location.get(f"{backup_id}/{KEY}")
        identities = encryption.identities_of(key=key, passphrase=passphrase, file=identity)
        content = encryption.unseal(content, identities=identities)
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as error:
        raise Damaged(f"The manifest of the backup {backup_id} cannot be read.") from error
    if manifest.format != FORMAT or manifest.backup_id != backup_id:
        raise Damaged(f"The manifest of the backup {backup_id} belongs to another backup or to a newer release.")
    return manifest, Reader(location, backup_id, identities)


def compressed(content: bytes) -> bytes:
    return zlib.compress(content, LEVEL, GZIP)
