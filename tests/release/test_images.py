"""The container image: its archive, and that for another architecture, whose programs are emulated here."""

import json
import tarfile
from pathlib import Path

import pytest

from release import files, images
from release.__main__ import by_image
from tests.embedded.servers import needs_root
from tests.worker.faults.rig import needs


@needs_root
def test_archive_names_its_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`podman load` gives it this name, by which the commands of docs/installing.md start it."""
    needs("buildah")
    settings = tmp_path / "storage.conf"
    settings.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{tmp_path}/store"\nrunroot = "{tmp_path}/run"\n')
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(settings))
    container = files.run("buildah", "from", "scratch").strip()
    files.run("buildah", "commit", "--quiet", "--rm", container, images.TAG)
    with tarfile.open(images.write_archive(images.TAG, tmp_path / "image.oci.tar")) as archive:
        index = archive.extractfile("index.json")
        assert index is not None
        [manifest] = json.load(index)["manifests"]
    assert "localhost/afterword:latest" == manifest["annotations"]["org.opencontainers.image.ref.name"]


@pytest.mark.nightly
def test_the_other_architecture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is built, small enough, and its packages are of its architecture."""
    for program in (*images.PROGRAMS, "qemu-aarch64-static"):
        needs(program)
    [other] = images.PLATFORMS.keys() - {images.HERE}
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):  # they trust the servers of tests alone
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_NATIVE_TLS", "true")
    files.build(tmp_path)
    assert images.LOADED in by_image(other, tmp_path)
