"""The locations that keep backups: a folder, or a store that speaks S3. Each object appears whole or not at all."""

import os
import re
import shutil
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol

from afterword import errors

S3_PREFIX: Final = "s3://"
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
