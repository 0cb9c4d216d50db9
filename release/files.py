"""The files of a release, built from a commit: the service and the client, each as wheel and source archive."""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
PROJECTS: Final = (Path(), Path("clients/python"))
SUMS: Final = "SHA256SUMS"


SECONDS_MAX: Final = 3_600  # an image for another architecture takes long: each of its programs is emulated
ANSWERED: Final = "Read the answers back over the API"  # the demonstration came to its end


class NotReleasable(Exception):
    """Says what is the matter with the files."""


def run(*command: str | Path, folder: Path = ROOT, environment: Mapping[str, str] = os.environ) -> str:
    """Its output. Raises NotReleasable with that and its errors where the command fails."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    if done.returncode:
        raise NotReleasable(f"{' '.join(map(str, command))[:500]} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build(folder: Path) -> list[Path]:
    """Build the last commit. Raises NotReleasable where a second build differs, or one of the source archive."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _git("log", "-1", "--format=%ct").strip()}
    with (
        _sources() as first,
        _sources() as second,
        tempfile.TemporaryDirectory() as again,
        ThreadPoolExecutor() as pool,
    ):
        ways = ((first, folder, 0o022), (second, Path(again), 0o077))
        for done in [
            pool.submit(_build, source / project, into, environment, umask=umask)
            for project in PROJECTS
            for source, into, umask in ways
        ]:
            done.result()
        built = sorted(folder.iterdir())
        for path in built:
            _require_same(path, Path(again, path.name), "Two builds")
        for path in built:
            if path.name.endswith(".tar.gz"):
                with tarfile.open(path) as archive:
                    archive.extractall(again, filter="data")
                _build(
                    Path(again, path.name.removesuffix(".tar.gz")), Path(again, "of-sdist"), environment, umask=0o022
                )
        for path in folder.glob("*.whl"):
            _require_same(path, Path(again, "of-sdist", path.name), "The wheel and the one of its source archive")
    return built


def require_complete(wheel: Path, package: str) -> int:
    """The number of files below `package`. Raises NotReleasable where the wheel lacks one."""
    kept = tracked(package)
    with zipfile.ZipFile(wheel) as archive:
        missing = kept - {f"{package.rpartition('/')[0]}/{name}".lstrip("/") for name in archive.namelist()}
    if missing:
        raise NotReleasable(f"{wheel.name} lacks {', '.join(sorted(missing)[:10])}.")
    return len(kept)


def tracked(folder: str) -> set[str]:
    """Paths of its files that are in the last commit."""
    return set(_git("ls-tree", "-r", "--name-only", "HEAD", folder).split())


def write_sums(folder: Path) -> None:
    """As `sha256sum --check` reads them."""
    paths = sorted(path for path in folder.iterdir() if path.name != SUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths]
    (folder / SUMS).write_text("".join(lines))


def commit() -> str:
    return _git("rev-parse", "HEAD").strip()


def _build(project: Path, folder: Path, environment: Mapping[str, str], *, umask: int) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=project, env=environment, check=True, umask=umask, capture_output=True)


def _require_same(one: Path, other: Path, what: str) -> None:
    if one.read_bytes() != other.read_bytes():
        raise NotReleasable(f"{what} differ: {one.name}.")


@contextmanager
def _sources() -> Generator[Path]:
    """A folder with the files of the last commit, so that nothing else of the working tree is built."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "source.tar")
        _git("archive", "--output", str(archive), "HEAD")
        source = Path(folder, "source")
        with tarfile.open(archive) as files:
            files.extractall(source, filter="data")
        yield source


def _git(*arguments: str) -> str:
    return run("git", *arguments)
