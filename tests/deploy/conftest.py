"""One store of images for all tests of containers."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.engine import PROGRAMS, Engine
from tests.run.worker.faults.rig import needs


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """Podman with all images; a nightly run fails where a program for it is missing."""
    for program in PROGRAMS:
        needs(program)
    engine = Engine(Path(tempfile.mkdtemp(prefix="afterword-engine-")))
    engine.set_up()
    yield engine
    engine.remove_all()
    shutil.rmtree(engine.folder, ignore_errors=True)
