"""The contents of a backup: parts with their checksums, and the manifest, which is written last and makes it one.

Parts are encrypted in the format of age (age-encryption.org), which its own program opens too. With a passphrase each
backup has a key of its own, which the passphrase opens: deriving it takes a second, and a backup has hundreds of parts.
A location, a folder or a store that speaks S3, keeps them; each object appears whole or not at all.
"""

import hashlib
import os
import re
import shutil
import time
import zlib
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
import pyrage

from afterword import errors
from afterword.kit.db import Database
from afterword.kit.files import sync, write_whole
from afterword.kit.web.metrics import Sample
from afterword.run.backups import store

AGE_PACKAGE: Final[Any] = pyrage  # compiled, without types
SUFFIX: Final = ".age"
IDENTITY_PREFIX: Final = "AGE-SECRET-KEY-"
IDENTITY_BYTES_MAX: Final = 100_000


class CannotOpen(errors.Invalid):
    """The passphrase or the identity is not the one that the backup was made with."""


class Sealer(msgspec.Struct, frozen=True):
    """Encrypts parts; without recipients they stay as they are."""

    recipients: tuple[Any, ...] = ()
    key: bytes | None = None  # the backup's own key, as the passphrase opens it

    @property
    def suffix(self) -> str:
        return SUFFIX if self.recipients else ""

    def seal(self, content: bytes) -> bytes:
        return AGE_PACKAGE.encrypt(content, list(self.recipients)) if self.recipients else content


def sealer_of(*, passphrase: str | None, recipients: Sequence[str]) -> Sealer:
    """The sealer of one backup. Raises Invalid for a recipient that age does not know."""
    known = recipients_of(recipients)
    if not passphrase:
        return Sealer(tuple(known))
    identity = AGE_PACKAGE.x25519.Identity.generate()
    return Sealer((*known, identity.to_public()), AGE_PACKAGE.passphrase.encrypt(str(identity).encode(), passphrase))


def identities_of(*, key: bytes | None, passphrase: str | None, file: Path | None) -> list[Any]:
    """The identities that may open a backup. Raises CannotOpen."""
    found = [] if file is None else _of_file(file)
    if key is not None and passphrase:
        try:
            found.append(AGE_PACKAGE.x25519.Identity.from_str(AGE_PACKAGE.passphrase.decrypt(key, passphrase).decode()))
        except AGE_PACKAGE.DecryptError as error:
            raise CannotOpen("The passphrase does not open this backup.") from error
    return found


def unseal(content: bytes, *, identities: Sequence[Any]) -> bytes:
    """Raises CannotOpen."""
    if not identities:
        raise CannotOpen("The backup is encrypted. Set AFTERWORD_BACKUP_PASSPHRASE, or name the file of an identity.")
    try:
        return AGE_PACKAGE.decrypt(content, list(identities))
    except AGE_PACKAGE.DecryptError as error:
        raise CannotOpen("The passphrase or identity does not open this backup.") from error


def recipients_of(texts: Sequence[str]) -> list[Any]:
    """Raises Invalid for a text that age does not know."""
    ssh, own = AGE_PACKAGE.ssh.Recipient, AGE_PACKAGE.x25519.Recipient
    try:
        return [(ssh if text.startswith("ssh-") else own).from_str(text) for text in texts]
    except AGE_PACKAGE.RecipientError as error:
        words = "AFTERWORD_BACKUP_RECIPIENTS must be public keys, joined by commas: age1… or ssh-ed25519 …."
        raise errors.Invalid(words) from error


def _of_file(file: Path) -> list[Any]:
    try:
        with file.open("rb") as opened:
            content = opened.read(IDENTITY_BYTES_MAX)
        if b"PRIVATE KEY" in content:
            return [AGE_PACKAGE.ssh.Identity.from_buffer(content)]
        lines = [line.strip() for line in content.decode().splitlines()]
        found = [AGE_PACKAGE.x25519.Identity.from_str(line) for line in lines if line.startswith(IDENTITY_PREFIX)]
    except (OSError, UnicodeDecodeError, AGE_PACKAGE.IdentityError) as error:
        raise CannotOpen(f"{file} cannot be read as an identity of age.") from error
    if not found:
        raise CannotOpen(f"{file} has no identity of age.")
    return found


S3_PREFIX: Final = "s3://"
NOT_ENCRYPTED: Final = (
    "A backup in a store elsewhere must be encrypted. Set AFTERWORD_BACKUP_PASSPHRASE or AFTERWORD_BACKUP_RECIPIENTS."
)
REQUEST_SECONDS_MAX: Final = 60
CONNECT_SECONDS_MAX: Final = 10
RETRIES_MAX: Final = 8  # by the library, which does not read Retry-After
RETRY_SECONDS_MAX: Final = 180
BACKOFF_SECONDS: Final = (1.0, 15.0)  # before the first, and at most
REPEAT_SECONDS: Final = (2.0, 10.0)  # before ours of a whole object, where the library tries once alone
ADDRESS_VARIABLE: Final = "AWS_ENDPOINT_URL"
KEY_VARIABLES: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
ROLE_VARIABLES: Final = (  # a machine of Amazon has one of these, or its role is asked for by the last
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
)
ANSWER_CHARACTERS_MAX: Final = 300


class CannotUse(errors.Unavailable):
    """The place cannot be read or written; the sentence says why."""


class Location(Protocol):
    """Objects by names of a form `folder/name`."""

    is_remote: bool

    def put(self, name: str, content: bytes) -> None: ...

    def get(self, name: str) -> bytes:
        """Raises CannotUse, also where there is none."""
        ...

    def list_names(self, folder: str = "") -> list[str]:
        """All names, of a folder where one is given, in order."""
        ...

    def delete(self, folder: str) -> None:
        """Remove a folder with all in it, or one object."""
        ...


def location_of(text: str) -> Location:
    """A place by its setting. Raises CannotUse where a package is missing."""
    return Bucket(text) if text.startswith(S3_PREFIX) else Folder(Path(text).expanduser().absolute())


class Folder:
    """A folder that only its owner can read."""

    is_remote = False

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, name: str, content: bytes) -> None:
        with using(f"The folder of backups {self.path}"):
            write_whole(self.path / name, content)
            with suppress(OSError):
                sync(self.path)

    def get(self, name: str) -> bytes:
        with using(f"The folder of backups {self.path}"):
            return (self.path / name).read_bytes()

    def list_names(self, folder: str = "") -> list[str]:
        with using(f"The folder of backups {self.path}"):
            paths = [path for path in (self.path / folder).rglob("*") if path.is_file() and path.name[0] != "."]
        return sorted(str(path.relative_to(self.path)) for path in paths)

    def delete(self, folder: str) -> None:
        path = self.path / folder
        with using(f"The folder of backups {self.path}"):
            if path.is_dir():
                # The manifest goes first: without it nothing takes the rest for a backup.
                for manifest in path.glob("manifest.json*"):
                    manifest.unlink()
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


class Bucket:
    """A bucket of S3 or of a store that speaks its language; AWS_* variables hold address, region and keys."""

    is_remote = True

    def __init__(self, url: str) -> None:
        try:
            import obstore  # noqa: PLC0415  an extra
            from obstore import store  # noqa: PLC0415
        except ImportError as error:
            raise CannotUse(f"{url} needs the package obstore: pip install 'afterword[s3]'.") from error
        self._functions: Any = obstore
        address = os.environ.get(ADDRESS_VARIABLE, "")
        if address and not re.fullmatch(r"https?://[\w.:\[\]-]+(/[\w.~/-]*)?", address):
            raise CannotUse(f"{ADDRESS_VARIABLE} must be an address without a query, as in https://s3.example.com.")
        missing = [name for name in KEY_VARIABLES if not os.environ.get(name)]
        if len(missing) == 1 or (missing and not any(map(os.environ.get, ROLE_VARIABLES))):
            raise CannotUse(f"The store of backups needs keys. Set {' and '.join(missing)}.")
        # Plain http is for a store in one's own network, and must be asked for by its address.
        is_plain = address.startswith("http://")
        with self._sentence():
            self._store: Any = store.S3Store.from_url(
                url,
                client_options={
                    "timeout": f"{REQUEST_SECONDS_MAX}s",
                    "connect_timeout": f"{CONNECT_SECONDS_MAX}s",
                    **({"allow_http": True} if is_plain else {}),
                },
                retry_config={
                    "max_retries": RETRIES_MAX,
                    "retry_timeout": timedelta(seconds=RETRY_SECONDS_MAX),
                    "backoff": {
                        "init_backoff": timedelta(seconds=BACKOFF_SECONDS[0]),
                        "max_backoff": timedelta(seconds=BACKOFF_SECONDS[1]),
                    },
                },
            )

    def put(self, name: str, content: bytes) -> None:
        """The library does not try again where an answer breaks off, or the store waited too long for a part."""
        for seconds in (*REPEAT_SECONDS, None):
            try:
                with self._sentence():
                    self._functions.put(self._store, name, content)
            except CannotUse as refused:
                if seconds is None or not _may_repeat(str(refused.__cause__)):
                    raise
            else:
                return
            time.sleep(seconds)

    def get(self, name: str) -> bytes:
        with self._sentence():
            return bytes(self._functions.get(self._store, name).bytes())

    def list_names(self, folder: str = "") -> list[str]:
        with self._sentence():
            found = [one["path"] for page in self._functions.list(self._store, folder or None) for one in page]
        return sorted(found)

    def delete(self, folder: str) -> None:
        names: Sequence[str] = self.list_names(folder) or [folder]
        with self._sentence():
            for name in sorted(names, key=lambda name: "/manifest.json" not in name):
                self._functions.delete(self._store, name)

    @contextmanager
    def _sentence(self) -> Generator[None]:
        from obstore.exceptions import BaseError  # noqa: PLC0415

        try:
            yield
        except (BaseError, OSError, ValueError) as error:
            raise CannotUse(f"The store of backups cannot be used: {_reason_of(str(error))}") from error


def _may_repeat(text: str) -> bool:
    """Whether the library gave up at once, and not because the store said no."""
    has_tried = re.search(r"after \d+ retries", text) is not None
    is_answer = "Server returned" in text and not re.search(r"<Code>(RequestTimeout|NoSuchUpload)</Code>", text)
    return not has_tried and not is_answer


def _reason_of(text: str) -> str:
    """The first line of an error, with the store's code or what its cause says; the rest repeats the request."""
    line = text.partition("\n")[0].partition("<")[0].rstrip(": ")
    answer = [re.search(rf"<{name}>\s*([^<]+?)\s*</{name}>", text) for name in ("Code", "Message")]
    words = " ".join(": ".join(found[1] for found in answer if found).split())
    if found := re.search(r"InvalidCertificate\(\s*(?:Other\(\s*OtherError\(\s*)?(\w+)", text):
        words = f"its certificate was not verified ({found[1]}). SSL_CERT_FILE names your own authority"
    elif not words and (found := re.search(r'message: "([^"\n]+)"', text)):
        words = found[1]
    return f"{line}: {words[:ANSWER_CHARACTERS_MAX]}" if words else line


@contextmanager
def using(folder: str) -> Generator[None]:
    """Raise CannotUse for what the system refuses. `folder`: the beginning of the sentence."""
    try:
        yield
    except OSError as error:
        raise CannotUse(f"{folder} cannot be used: {error.strerror} ({error.filename}).") from error


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


class Writer(msgspec.Struct):
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


class TableWriter(msgspec.Struct):
    """Takes the COPY text of a table, and cuts it into parts between rows."""

    writer: Writer
    table: str
    rows: int = 0
    parts: list[Part] = msgspec.field(default_factory=list[Part])
    _held: list[bytes] = msgspec.field(default_factory=list[bytes])
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


class Reader(msgspec.Struct):
    location: Location
    backup_id: str
    identities: list[Any]

    def get(self, part: Part) -> bytes:
        """Raises Damaged, CannotOpen, CannotUse."""
        content = self.location.get(f"{self.backup_id}/{part.name}")
        if hashlib.sha256(content).hexdigest() != part.sha256:
            raise Damaged(f"The part {part.name} of the backup {self.backup_id} was changed: its checksum differs.")
        if part.name.endswith(SUFFIX):
            content = unseal(content, identities=self.identities)
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
    if names[0].endswith(SUFFIX):
        with suppress(CannotUse):
            key = location.get(f"{backup_id}/{KEY}")
        identities = identities_of(key=key, passphrase=passphrase, file=identity)
        content = unseal(content, identities=identities)
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as error:
        raise Damaged(f"The manifest of the backup {backup_id} cannot be read.") from error
    if manifest.format != FORMAT or manifest.backup_id != backup_id:
        raise Damaged(f"The manifest of the backup {backup_id} belongs to another backup or to a newer release.")
    return manifest, Reader(location, backup_id, identities)


def compressed(content: bytes) -> bytes:
    return zlib.compress(content, LEVEL, GZIP)
