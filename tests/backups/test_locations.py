"""A folder and a bucket: the same objects, whole or not at all, and a sentence where they cannot be used."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from afterword.backups import locations
from afterword.backups.locations import CannotUse, Location, location_of
from tests.channels.receiver import closed_port

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
        monkeypatch.setattr(locations, "RETRIES_MAX", 0)
        with closed_port() as port:
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
            with pytest.raises(CannotUse, match="store of backups cannot be used") as refused:
                location_of(bucket).list_names()
        assert "secret" not in str(refused.value)

    @pytest.mark.parametrize("address", ["s3.example.com", "http://", "http://a b", "ftp://a", "https://a/path"])
    def test_no_address(self, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(CannotUse, match="AWS_ENDPOINT_URL must be"):
            location_of(BUCKET)

    def test_package_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "obstore", None)
        with pytest.raises(CannotUse, match="afterword\\[s3\\]"):
            location_of(BUCKET)


def _full(_: int) -> None:
    raise OSError(28, "No space left on device")
