"""The container image: its archive, and that for another architecture, whose programs are emulated here."""

import json
from pathlib import Path

import pytest

from release import files, images
from release.__main__ import by_image
from tests.run.embedded.servers import needs_root
from tests.run.worker.faults.rig import needs


@needs_root
def test_archive_keeps_name_and_health_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that loads it knows both: commands of docs/installing.md start it by this name."""
    needs("buildah")
    needs("zstd")
    settings = tmp_path / "storage.conf"
    settings.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{tmp_path}/store"\nrunroot = "{tmp_path}/run"\n')
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(settings))
    container = files.run("buildah", "from", "scratch").strip()
    files.run("buildah", "config", "--healthcheck", "CMD true", container)
    files.run("buildah", "commit", "--quiet", "--rm", "--format", "docker", container, images.TAG)
    archive = images.write_archive(images.TAG, tmp_path / "image.tar.zst")
    files.run("buildah", "rmi", images.TAG)
    files.run("buildah", "pull", "--quiet", f"docker-archive:{archive}")
    loaded = json.loads(files.run("buildah", "inspect", "--type", "image", f"{images.TAG}:latest"))
    assert ["CMD", "true"] == loaded["Docker"]["config"]["Healthcheck"]["Test"]


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
