"""A folder and a bucket: the same objects, whole or not at all, and a sentence where they cannot be used."""

import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from afterword.run.backups import manifests
from afterword.run.backups.manifests import CannotUse, Location, location_of
from tests.run.backups.store import BROKEN, OK, Store, answer, error, running
from tests.sending.channels.conftest import Certificate
from tests.sending.channels.conftest import certificate as certificate  # noqa: PLC0414  a fixture
from tests.sending.channels.receiver import closed_port

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


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.costly)])
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
