"""The container image from nothing: Debian's base, the packages, and the demonstration in it on a read-only root."""

from pathlib import Path

import pytest

from release import files, images


@pytest.mark.nightly
def test_the_main_job_runs_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORAGE_DRIVER", "vfs")  # the others want mounts that not every machine gives
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):  # they trust the servers of tests alone
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_NATIVE_TLS", "true")
    dist = tmp_path / "dist"
    files.build(dist)
    wheel = next(dist.glob("afterword-*.whl"))
    base = images.make_base(images.mirror_of_this_machine())
    image = images.build(wheel, architecture=images.architecture_here(), base=base)
    images.write_archive(image, tmp_path / "image.oci.tar")
    assert files.ANSWERED in images.prove(image)
