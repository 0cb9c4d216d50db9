"""The locations that keep backups: a folder, or a store that speaks S3. Each object appears whole or not at all."""

import os
import re
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol

from afterword import errors

S3_PREFIX: Final = "s3://"
OBJECT_BYTES_MAX: Final = 1_000_000_000
REQUEST_SECONDS_MAX: Final = 60
CONNECT_SECONDS_MAX: Final = 10
RETRIES_MAX: Final = 5
RETRY_SECONDS_MAX: Final = 60
ADDRESS_VARIABLE: Final = "AWS_ENDPOINT_URL"


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
        path = self.path / name
        part = path.with_name(f".{path.name}.part")
        with _sentence(self.path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(part, "wb", opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
            for folder in {path.parent, self.path}:
                _sync(folder)

    def get(self, name: str) -> bytes:
        with _sentence(self.path):
            return (self.path / name).read_bytes()

    def list_names(self, folder: str = "") -> list[str]:
        with _sentence(self.path):
            paths = [path for path in (self.path / folder).rglob("*") if path.is_file() and path.name[0] != "."]
        return sorted(str(path.relative_to(self.path)) for path in paths)

    def delete(self, folder: str) -> None:
        path = self.path / folder
        with _sentence(self.path):
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
        if address and not re.fullmatch(r"https?://[\w.:\[\]-]+/?", address):
            raise CannotUse(f"{ADDRESS_VARIABLE} must be a scheme and a host alone, as in https://s3.example.com.")
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
                retry_config={"max_retries": RETRIES_MAX, "retry_timeout": timedelta(seconds=RETRY_SECONDS_MAX)},
            )

    def put(self, name: str, content: bytes) -> None:
        with self._sentence():
            self._functions.put(self._store, name, content)

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
            # The first line says it; the others repeat the request, with its signature.
            raise CannotUse(f"The store of backups cannot be used: {str(error).splitlines()[0]}") from error


@contextmanager
def _sentence(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise CannotUse(f"The folder of backups {folder} cannot be used: {error.strerror or error}.") from error


def _sync(folder: Path) -> None:
    """The name of a new file is on the disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems know no such thing
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
