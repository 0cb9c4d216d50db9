"""A data folder with a cluster in it, made once, and copies of it."""

import asyncio
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterword.run import embedded
from tests.run.embedded.servers import start


@pytest.fixture(scope="session")
def ready_folder(scratch: Path) -> Iterator[Path]:
    """The one to copy from."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-t", dir=scratch))
    server = asyncio.run(start(folder))
    asyncio.run(server.stop())
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def new_folder(scratch: Path) -> Iterator[Path]:
    """An empty folder that is gone afterwards, and what ran in it too."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-t", dir=scratch))
    yield folder
    embedded.clear_leftovers(folder / "postgresql/cluster")
    shutil.rmtree(folder)


@pytest.fixture
def folder(ready_folder: Path, new_folder: Path) -> Path:
    """A data folder with a cluster, the test's own."""
    subprocess.run(["/bin/cp", "-a", f"{ready_folder}/.", new_folder], check=True)
    return new_folder
