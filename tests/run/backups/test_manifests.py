"""Backups as objects: finished ones are listed, changed ones are refused, rows come back as they went."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import boto3
import pyrage
import pytest
from moto.server import ThreadedMotoServer

from afterword import errors
from afterword.run.backups import manifests
from afterword.run.backups.manifests import (
    CannotOpen,
    CannotUse,
    Damaged,
    Folder,
    Location,
    Manifest,
    Sealer,
    TableParts,
    TableWriter,
    Writer,
    identities_of,
    location_of,
    open_backup,
    sealer_of,
    unseal,
)
from tests.run.backups.store import BROKEN, OK, Store, answer, error, running
from tests.sending.channels.conftest import (
    Certificate,
    certificate as certificate,  # noqa: PLC0414  a fixture
)
from tests.sending.channels.receiver import closed_port

NOW = datetime(2026, 11, 26, 17, 52, 3, tzinfo=UTC)
ID = "20261126T175203Z"
PRECISE = "20261126T175203.000070Z"


async def saved(folder: Path, *, backup_id: str = ID, rows: int = 0) -> TableParts:
    writer = Writer(Folder(folder), backup_id, Sealer())
    table = TableWriter(writer, "answer")
    for number in range(rows):
        await table.take(f"{number}\tan answer\n".encode())
    table.flush()
    parts = TableParts("answer", ["n", "value"], table.rows, table.parts)
    writer.put_manifest(
        Manifest(
            format=manifests.FORMAT,
            backup_id=backup_id,
            version="1",
            revision="0110",
            started_time=NOW,
            organization_id=None,
            tables=[parts],
            sequences={},
            secret=writer.put("secret", b"s" * 32),
            files=[],
        )
    )
    assert writer.size == sum(path.stat().st_size for path in (folder / backup_id).iterdir())
    return parts


def opened(folder: Path, backup_id: str = ID) -> tuple[Manifest, manifests.Reader]:
    return open_backup(Folder(folder), backup_id, passphrase=None, identity=None)


class TestRefusals:
    @pytest.mark.parametrize("name", ["", "..", "20261126T175203Z-", "20261126T175204Z", "../20261126T175203Z"])
    async def test_no_such_backup(self, tmp_path: Path, name: str) -> None:
        await saved(tmp_path / "backups")
        with pytest.raises(errors.NotFound):
            opened(tmp_path / "backups", name)

    async def test_under_another_name(self, tmp_path: Path) -> None:
        await saved(tmp_path)
        (tmp_path / ID).rename(tmp_path / "20261126T175204Z")
        with pytest.raises(Damaged, match="another backup"):
            opened(tmp_path, "20261126T175204Z")

    async def test_manifest_cut_off(self, tmp_path: Path) -> None:
        await saved(tmp_path)
        file = tmp_path / ID / "manifest.json"
        file.write_bytes(file.read_bytes()[:-1])
        with pytest.raises(Damaged, match="cannot be read"):
            opened(tmp_path)

    async def test_part_exchanged(self, tmp_path: Path) -> None:
        await saved(tmp_path, rows=10)
        manifest, reader = opened(tmp_path)
        file = tmp_path / ID / manifest.secret.name
        file.write_bytes((tmp_path / ID / manifest.tables[0].parts[0].name).read_bytes())
        with pytest.raises(Damaged, match=re.escape(manifest.secret.name)):
            reader.get(manifest.secret)

    async def test_part_missing(self, tmp_path: Path) -> None:
        await saved(tmp_path)
        manifest, reader = opened(tmp_path)
        (tmp_path / ID / manifest.secret.name).unlink()
        with pytest.raises(errors.Unavailable, match="cannot be used"):
            reader.get(manifest.secret)


async def test_rows_are_cut_between_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "PART_BYTES", 1_000)
    parts = await saved(tmp_path, rows=500)
    assert (500, True) == (parts.rows, len(parts.parts) > 5)
    manifest, reader = opened(tmp_path)
    pieces = [piece async for piece in reader.rows(manifest.tables[0])]
    assert all(piece.endswith(b"\n") for piece in pieces)
    assert [f"{n}\tan answer" for n in range(500)] == b"".join(pieces).decode().splitlines()


async def test_list(tmp_path: Path) -> None:
    """In order of time, the unfinished ones left out."""
    for name in (f"{PRECISE}-demo", "20261126T175203.000069Z", "20261125T000000Z", "20261127T000000Z-migration"):
        await saved(tmp_path, backup_id=name)
    (tmp_path / "20261128T000000Z").mkdir()
    (tmp_path / "20261128T000000Z/00001-secret.gz").touch()
    await saved(tmp_path, backup_id="erasures")
    assert [
        "20261125T000000Z", "20261126T175203.000069Z", f"{PRECISE}-demo", "20261127T000000Z-migration"
    ] == manifests.list_backups(Folder(tmp_path))  # fmt: skip


def test_ids() -> None:
    """Two backups of one second differ; names of older releases, with seconds alone, are read too."""
    now = NOW.replace(microsecond=70)
    assert (PRECISE, f"{PRECISE}-demo") == (manifests.backup_id_of(now), manifests.backup_id_of(now, suffix="demo"))
    assert (now, NOW) == (manifests.time_of(f"{PRECISE}-demo"), manifests.time_of(f"{ID}-demo"))
    with pytest.raises(ValueError, match="erasures"):
        manifests.time_of("erasures")


AGE: Final[Any] = pyrage
CONTENT = b"rows and rows"
TRIES_MAX = 10


def identity_in(folder: Path) -> tuple[Path, str]:
    """A file as `age-keygen` writes it, and its public key."""
    identity = AGE.x25519.Identity.generate()
    file = folder / "key.txt"
    file.write_text(f"# created: today\n# public key: {identity.to_public()}\n{identity}\n")
    return file, str(identity.to_public())


class TestSealing:
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


def test_passphrase_beside_a_recipient(tmp_path: Path) -> None:
    """Either opens it; age itself makes a passphrase slow to guess."""
    file, recipient = identity_in(tmp_path)
    sealer = sealer_of(passphrase="correct horse battery", recipients=[recipient])
    sealed = sealer.seal(CONTENT)
    with pytest.raises(CannotOpen):
        identities_of(key=sealer.key, passphrase="wrong horse battery", file=None)
    for passphrase, key_file in (("correct horse battery", None), (None, file)):
        identities = opened_in_time(partial(identities_of, key=sealer.key, passphrase=passphrase, file=key_file))
        assert CONTENT == unseal(sealed, identities=identities)


def opened_in_time(open_key: Callable[[], Sequence[Any]]) -> Sequence[Any]:
    """The identities; age refuses a passphrase where the machine is too slow in that moment."""
    for _ in range(TRIES_MAX - 1):
        with suppress(CannotOpen):
            return open_key()
    return open_key()


BUCKET = "s3://backups/afterword"


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of a store that speaks S3, in this process."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty bucket, and the variables that open it."""
    for name, value in {
        "AWS_ENDPOINT_URL": s3,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    client: Any = boto3.resource("s3", endpoint_url=s3, region_name="us-east-1")
    client.create_bucket(Bucket="backups")
    client.Bucket("backups").objects.delete()
    return BUCKET


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of a store with faults, and no waiting for it."""
    monkeypatch.setattr(manifests, "BACKOFF_SECONDS", (0.001, 0.001))
    monkeypatch.setattr(manifests, "REPEAT_SECONDS", (0, 0))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.setenv(name, "us-east-1")


def at(monkeypatch: pytest.MonkeyPatch, store: Store, path: str = "") -> Location:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{store.port}{path}")
    return location_of(BUCKET)


@pytest.fixture(params=["folder", "bucket"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    name = request.getfixturevalue("bucket") if request.param == "bucket" else str(tmp_path / "made/when/needed")
    return location_of(name)


def test_objects(location: Location) -> None:
    assert [] == location.list_names()
    with pytest.raises(CannotUse):
        location.get("a/one")
    for name, content in {"a/one": b"1", "a/manifest.json": b"{}", "b/one": b"2"}.items():
        location.put(name, content)
    location.put("a/one", b"3" * 100_000)
    assert ["a/manifest.json", "a/one", "b/one"] == location.list_names()
    assert ["a/manifest.json", "a/one"] == location.list_names("a")
    assert [] == location.list_names("c")
    assert b"3" * 100_000 == location.get("a/one")
    location.delete("a")
    location.delete("a")
    assert ["b/one"] == location.list_names()
    location.delete("b/one")
    assert [] == location.list_names()


class TestFolder:
    def test_only_its_owner_reads(self, tmp_path: Path) -> None:
        location_of(str(tmp_path / "backups")).put("a/one", b"1")
        assert {0} == {path.stat().st_mode & 0o077 for path in (tmp_path / "backups").rglob("*")}

    def test_cut_off(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A disk that is full leaves no object, and a sentence."""
        folder = location_of(str(tmp_path))
        monkeypatch.setattr(os, "fsync", _full)
        with pytest.raises(CannotUse, match="No space left on device"):
            folder.put("a/one", b"1")
        assert [] == folder.list_names()


class TestBucket:
    def test_nothing_listens(self, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(manifests, "RETRIES_MAX", 0)
        with closed_port() as port:
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
            with pytest.raises(CannotUse, match="store of backups cannot be used") as refused:
                location_of(bucket).list_names()
        assert "secret" not in str(refused.value)

    @pytest.mark.parametrize(
        "address",
        ["s3.example.com", "http://", "http://a b", "ftp://a", "https://a/path?x=1", "https://a/#b", "https://u:p@a"],
    )
    def test_no_address(self, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(CannotUse, match="AWS_ENDPOINT_URL must be"):
            location_of(BUCKET)

    @pytest.mark.parametrize("unset", [["AWS_ACCESS_KEY_ID"], ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]])
    def test_no_keys(self, faulty: None, monkeypatch: pytest.MonkeyPatch, unset: list[str]) -> None:
        """Said at once: without keys the library would ask an address that only machines of a cloud have."""
        for name in unset:
            monkeypatch.delenv(name)
        with pytest.raises(CannotUse, match=f"Set {' and '.join(unset)}\\."):
            location_of(BUCKET)
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")  # of a machine that has a role
        with nullcontext() if len(unset) == 2 else pytest.raises(CannotUse):
            assert location_of(BUCKET).is_remote

    @pytest.mark.parametrize(
        ("reply", "reason"),
        [
            (
                answer("403 Forbidden", error("SignatureDoesNotMatch", "Check your key.")),
                "403 Forbidden: SignatureDoesNotMatch: Check your key.",
            ),
            (answer("403 Forbidden", error("RequestTimeTooSkewed")), "403 Forbidden: RequestTimeTooSkewed"),
            (answer("404 Not Found", error("NoSuchBucket", "x" * 900)), "NoSuchBucket: xxx"),
            (answer("403 Forbidden", "no"), "403 Forbidden: no"),
        ],
    )
    def test_reason(self, faulty: None, monkeypatch: pytest.MonkeyPatch, reply: bytes, reason: str) -> None:
        """The store's own word stands in the second line of its answer."""
        with running(reply) as store, pytest.raises(CannotUse) as refused:
            at(monkeypatch, store).put("a/one", b"1")
        assert reason in str(refused.value)
        assert (True, 1) == (len(str(refused.value)) < 700, len(store.asked))

    def test_reasons_without_an_answer(
        self, faulty: None, monkeypatch: pytest.MonkeyPatch, certificate: Certificate
    ) -> None:
        with closed_port() as port:
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
            with pytest.raises(CannotUse, match="Connection refused"):
                location_of(BUCKET).put("a/one", b"1")
        with running(OK, tls=certificate.context) as store:
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"https://127.0.0.1:{store.port}")
            with pytest.raises(CannotUse, match=r"certificate was not verified.*SSL_CERT_FILE"):
                location_of(BUCKET).put("a/one", b"1")

    def test_it_goes_on_trying(self, faulty: None, monkeypatch: pytest.MonkeyPatch) -> None:
        slow = answer("503 Slow Down", error("SlowDown"))
        with running(*[slow] * 8, OK) as store:
            at(monkeypatch, store).put("a/one", b"1")
            assert 9 == len(store.asked)
        with running(slow) as store:
            with pytest.raises(CannotUse, match="SlowDown"):
                at(monkeypatch, store).put("a/one", b"1")
            assert 9 == len(store.asked)
        assert manifests.RETRIES_MAX * manifests.CONNECT_SECONDS_MAX <= manifests.RETRY_SECONDS_MAX

    @pytest.mark.parametrize("reply", [answer("400 Bad Request", error("RequestTimeout")), b"no protocol\r\n\r\n"])
    def test_object_is_put_again(self, faulty: None, monkeypatch: pytest.MonkeyPatch, reply: bytes) -> None:
        """The library itself asks only once here."""
        with running(reply, reply, OK) as store:
            at(monkeypatch, store).put("a/one", b"1")
            assert 3 == len(store.asked)
        with running(reply) as store:
            with pytest.raises(CannotUse):
                at(monkeypatch, store).put("a/one", b"1")
            assert 3 == len(store.asked)

    def test_object_of_many_parts_is_put_again(self, faulty: None, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its first request is answered in half."""
        begun, done = (f"<{name}MultipartUploadResult>" for name in ("Initiate", "Complete"))
        begun += f"<Bucket>b</Bucket><Key>k</Key><UploadId>u</UploadId>{begun.replace('<', '</')}"
        done += f'<ETag>"x"</ETag>{done.replace("<", "</")}'
        script = [BROKEN, answer("200 OK", begun), OK, OK, answer("200 OK", done)]
        with running(*script) as store:
            at(monkeypatch, store).put("a/one", b"1" * 6_000_000)
            assert ["POST", "POST", "PUT", "PUT", "POST"] == [line.partition(" ")[0] for line in store.asked]

    @pytest.mark.parametrize("path", ["/storage/v1/s3", "/storage/v1/s3/"])
    def test_address_with_a_path(self, faulty: None, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
        with running(OK) as store:
            at(monkeypatch, store, path).put("a/one", b"1")
            assert ["PUT /storage/v1/s3/backups/afterword/a/one HTTP/1.1"] == store.asked

    def test_package_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "obstore", None)
        with pytest.raises(CannotUse, match="afterword\\[s3\\]"):
            location_of(BUCKET)


def _full(_: int) -> None:
    raise OSError(28, "No space left on device")
