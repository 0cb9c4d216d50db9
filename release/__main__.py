"""`python -m release [PROOF…]`: builds a release in dist/ and proves it in empty environments."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from release import files, images

FOLDER: Final = files.ROOT / "dist"
PROGRAMS: Final = Path(sys.executable).parent
BASE: Final = PROGRAMS.parent / "base.tar"  # of the image, by `make base`
VERSIONS: Final = ("3.11", "3.12", "3.13", "3.14")
OURS: Final = ("AFTERWORD_", "PYTHON", "VIRTUAL_ENV")  # variables that would lead back to the repository
IMAGE: Final = "image"
EMULATOR: Final = "qemu-user-static with binfmt"

Proof = Callable[[Path, Path, Path], None]


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument(
        "proofs", nargs="*", metavar="PROOF", help=f"of {', '.join(PROOFS)} and {IMAGE}; without any, all of them"
    )
    parser.add_argument(
        "--arch", action="append", choices=sorted(images.PLATFORMS), help="of the image; may be given for each"
    )
    known, given = (*PROOFS, IMAGE), parser.parse_args(arguments)
    chosen: list[str] = given.proofs or [*known]
    if not {*chosen} <= {*known}:
        parser.error(f"A PROOF is one of {', '.join(known)}.")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    wheel, client = build()
    with ThreadPoolExecutor() as beside:
        # It takes as long as the others together.
        architectures: list[str] = given.arch or [images.HERE]
        image = beside.submit(by_images, architectures, FOLDER) if IMAGE in chosen else None
        with tempfile.TemporaryDirectory() as folder:
            write_bill_of_materials(wheel, Path(folder))
        for name in chosen:
            if name in PROOFS:
                with tempfile.TemporaryDirectory() as empty:  # nothing of the repository is in reach
                    PROOFS[name](wheel, client, Path(empty))
        if image:
            print(image.result())
    files.write_sums(FOLDER)
    for path in sorted(FOLDER.iterdir()):
        print(f"{path.stat().st_size:>12,} bytes  dist/{path.name}")


def build() -> tuple[Path, Path]:
    """The wheels of the service and the client."""
    files.build(FOLDER)
    wheel, client = next(FOLDER.glob("afterword-*.whl")), next(FOLDER.glob("afterword_client-*.whl"))
    count = files.require_complete(wheel, "afterword")
    files.require_complete(client, "clients/python/src/afterword_client")
    print(f"{files.commit()[:10]} was built twice with the same bytes. {wheel.name} has all {count:,} files.")
    return wheel, client


def write_bill_of_materials(wheel: Path, folder: Path) -> None:
    """Write the packages of an installation with the locked dependencies and those of all extras as CycloneDX."""
    installed = _installed(folder / "installed", files.ROOT / "requirements-extras.lock")
    _run(folder, PROGRAMS / "uv", "pip", "install", "--quiet", "--python", installed / "python", "--no-deps", wheel)
    into = FOLDER / f"{wheel.name.removesuffix('-py3-none-any.whl')}.cdx.json"
    options = ("--output-reproducible", "--pyproject", files.ROOT / "pyproject.toml", "--output-file", into)
    _run(folder, _tools(folder) / "cyclonedx-py", "environment", *options, installed / "python")


def by_pip(wheel: Path, client: Path, folder: Path) -> None:
    """With each Python that is here and the newest dependencies, as a person installs it."""
    for version in VERSIONS:
        python = shutil.which(f"python{version}")
        if python is None or subprocess.run([python, "-c", "import venv"], capture_output=True, check=False).returncode:
            print(f"pip, Python {version}: not tried, it is not here.")
            continue
        began, programs = time.monotonic(), folder / version / "bin"
        _run(folder, python, "-m", "venv", folder / version)
        _run(folder, programs / "pip", "install", "--quiet", "--disable-pip-version-check", wheel, client)
        _run(folder, programs / "python", "-W", "error", "-c", "import afterword_client")
        _demonstrate(f"pip, Python {version}", began, folder, programs / "afterword")


def by_uvx(wheel: Path, _: Path, folder: Path) -> None:
    _demonstrate("uvx", time.monotonic(), folder, PROGRAMS / "uvx", "--from", wheel, "afterword")


def by_pipx(wheel: Path, _: Path, folder: Path) -> None:
    began, pipx = time.monotonic(), _tools(folder) / "pipx"
    _run(folder, pipx, "install", "--quiet", wheel)
    _demonstrate("pipx", began, folder, folder / "pipx" / "bin" / "afterword")


PROOFS: Final[dict[str, Proof]] = {"pip": by_pip, "uvx": by_uvx, "pipx": by_pipx}


def by_images(architectures: Sequence[str], dist: Path) -> str:
    return "\n".join(by_image(architecture, dist) for architecture in architectures)


def by_image(architecture: str, dist: Path) -> str:
    """Of the wheel in `dist`, in a store of its own, whose mounts end with the process; returns what it says."""
    if not (images.can_build() and images.can_run(architecture)):
        needed = ("root", "leave to mount", *images.PROGRAMS, *(() if architecture == images.HERE else (EMULATOR,)))
        return f"image for {architecture}: not tried, it needs {', '.join(needed)}."
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder, base = Path(name), Path(name, "base.tar")
        if BASE.exists() and architecture == images.HERE:
            shutil.move(BASE, base)  # used once, so that no other image gets an old one
        else:
            images.write_base(base, architecture=architecture)
        settings = folder / "storage.conf"
        store = f'graphroot = "{folder / "store"}"\nrunroot = "{folder / "run"}"\n'
        settings.write_text(f'[storage]\ndriver = "{images.storage_driver()}"\n{store}')
        command = ("unshare", "--mount", sys.executable, "-m", "release.images", "--base-archive", base)
        environment = {**os.environ, "CONTAINERS_STORAGE_CONF": str(settings)}
        printed = files.run(*command, "--arch", architecture, "--dist", dist, environment=environment)
    return f"image for {architecture}: {printed.strip()} It took {time.monotonic() - began:.0f} s."


def _demonstrate(name: str, began: float, folder: Path, *command: str | Path) -> None:
    printed = _run(folder, *command, "demo", "--once")
    if files.ANSWERED not in printed:
        raise files.NotReleasable(f"{name}: the demonstration did not come to its end.\n{printed}")
    print(f"{name}: installed, and a questionnaire sent and answered, in {time.monotonic() - began:.0f} s.")


def _tools(folder: Path) -> Path:
    return _installed(folder / "tools", files.ROOT / "release" / "requirements.lock")


def _installed(folder: Path, lock: Path) -> Path:
    """The programs of a new environment with the locked packages."""
    folder.mkdir()
    uv = PROGRAMS / "uv"
    _run(folder, uv, "venv", "--quiet", "--python", sys.executable, "--clear", folder)
    _run(folder, uv, "pip", "install", "--quiet", "--python", folder / "bin" / "python", "--require-hashes", "-r", lock)
    return folder / "bin"


def _run(folder: Path, *command: str | Path) -> str:
    """Its output. Nothing leads it back to the repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    pipx = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "pipx" / "bin")}
    return files.run(*command, folder=folder, environment={**kept, **pipx})


if __name__ == "__main__":
    main(sys.argv[1:])
