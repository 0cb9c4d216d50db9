"""One store of images for all tests of containers."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from release import files
from tests.deploy.engine import PROGRAMS, Engine
from tests.worker.faults.rig import needs


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """Podman with all images; a nightly run fails where a program for it is missing."""
    for program in PROGRAMS:
        needs(program)
    engine = Engine(Path(tempfile.mkdtemp(prefix="afterword-engine-")))
    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "STORAGE_DRIVER",
        ):  # the first two trust the servers of tests alone
            patch.delenv(name, raising=False)
        patch.setenv("UV_NATIVE_TLS", "true")
        engine.set_up()
        for name, value in engine.environment.items():
            patch.setenv(name, value)
        dist = engine.folder / "dist"
        files.build(dist)
        engine.build_images(next(dist.glob("afterword-*.whl")))
    yield engine
    engine.remove_all()
    shutil.rmtree(engine.folder, ignore_errors=True)
