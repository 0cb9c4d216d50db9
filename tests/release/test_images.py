"""The container image for another architecture, whose programs are emulated here."""

from pathlib import Path

import pytest

from release import files, images
from release.__main__ import by_image
from tests.worker.faults.rig import needs


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
