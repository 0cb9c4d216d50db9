"""`python -m release.images`: the container image, built by buildah from the wheel in dist/, for one architecture.

The packages are put together outside, so that building needs no compiler and no pip in the image. An image for another
architecture is built and tried where the kernel hands its programs to an emulator (qemu-user-static). Where no registry
is reached, `--make-base` makes Debian's base by mmdebstrap, as root. `python -m release image` does it all with a store
of its own.
"""

import argparse
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from release import files
from release.files import ANSWERED, run

TAG: Final = "localhost/afterword"
BASE: Final = "docker.io/library/debian:trixie-slim"
MADE_BASE: Final = "localhost/debian:trixie-slim"
EXTRAS: Final = (
    "import afterword.extras.assistants.server, asyncssh, obstore, opentelemetry.exporter.otlp.proto.http, "
    "polars, pyreadstat, smpp34"
)
PROGRAMS: Final = ("buildah", "mmdebstrap", "unshare", "zstd")
SUITE: Final = "trixie"
PYTHON: Final = "3.13"  # of that Debian
PLATFORMS: Final[Mapping[str, str]] = {"amd64": "x86_64-manylinux_2_28", "arm64": "aarch64-manylinux_2_28"}
HERE: Final = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
LEFT_OUT: Final = ("*.c", "*.pyx", "*.pxd", "*.h")  # sources of compiled modules
UNUSED: Final = ("doc", "man", "info", "locale", "groff", "lintian")  # folders of /usr/share, as in Debian's slim image
COMPRESSED_BYTES_MAX: Final = 250_000_000
TRIED: Final = "A questionnaire was sent and answered in it, as its own user on a read-only root."
LOADED: Final = (
    "Its packages were loaded under emulation, as its own user on a read-only root; no questionnaire was sent."
)


def can_build() -> bool:
    """Whether it can be made and tried here with its base: containers often allow no mounts."""
    return os.geteuid() == 0 and all(map(shutil.which, PROGRAMS)) and _works("unshare", "--mount", "true")


def can_run(architecture: str) -> bool:
    """Whether this machine runs its programs; F: the kernel has opened the emulator, so that a container finds it."""
    if architecture == HERE:
        return True
    entry = Path("/proc/sys/fs/binfmt_misc", f"qemu-{PLATFORMS[architecture].partition('-')[0]}")
    return entry.exists() and re.search(r"^flags:.*F", entry.read_text(), re.MULTILINE) is not None


def storage_driver() -> str:
    """`overlay` where its mounts are allowed, else `vfs`, which copies each layer."""
    with tempfile.TemporaryDirectory() as folder:
        lower, upper, work, merged = (Path(folder, name) for name in ("lower", "upper", "work", "merged"))
        for path in (lower, upper, work, merged):
            path.mkdir()
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        mounts = _works("unshare", "--mount", "mount", "-t", "overlay", "-o", options, "overlay", str(merged))
    return "overlay" if mounts else "vfs"


def _works(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, timeout=files.SECONDS_MAX, check=False).returncode == 0


def build(wheel: Path, *, architecture: str, base: str, tag: str = TAG) -> str:
    """The name of the image."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("Containerfile", "afterword.sh"):
            shutil.copy(files.ROOT / "release" / "image" / name, folder)
        collect_packages(wheel, Path(folder, "packages"), architecture=architecture)
        options = ("--quiet", "--format", "docker", "--isolation", "chroot", "--arch", architecture)
        run("buildah", "bud", *options, "--build-arg", f"BASE={base}", "--tag", tag, folder)
    return tag


def write_archive(image: str, path: Path) -> Path:
    """Write the image with its name, compressed. Raises NotReleasable where it is too large.

    The archive is of Docker's form, since that of OCI has no health check.
    """
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        plain = Path(folder, "image.tar")
        run("buildah", "push", "--quiet", image, f"docker-archive:{plain}:{image}:latest")
        run("zstd", "--quiet", "--force", "-o", path, plain)
    if path.stat().st_size > COMPRESSED_BYTES_MAX:
        raise files.NotReleasable(f"The image has {path.stat().st_size:,} bytes, at most {COMPRESSED_BYTES_MAX:,}.")
    return path


def collect_packages(wheel: Path, folder: Path, *, architecture: str) -> None:
    """Install the wheel, the locked dependencies and those of the extras: an image is not added to."""
    uv = Path(sys.executable).with_name("uv")
    install = (uv, "pip", "install", "--quiet", "--target", folder, "--python-version", PYTHON)
    chosen = ("--python-platform", PLATFORMS[architecture], "--only-binary", ":all:")
    run(*install, *chosen, "--require-hashes", "--requirement", files.ROOT / "requirements-extras.lock")
    run(*install, "--no-deps", wheel)
    for pattern in LEFT_OUT:
        for path in folder.rglob(pattern):
            path.unlink()


def make_base(architecture: str = HERE, *, suite: str = SUITE, tag: str = MADE_BASE) -> str:
    with tempfile.TemporaryDirectory() as folder:
        archive = write_base(Path(folder, "base.tar"), architecture=architecture, suite=suite)
        return load_base(archive, architecture=architecture, tag=tag)


def write_base(
    archive: Path,
    *,
    architecture: str = HERE,
    suite: str = SUITE,
    packages: str = "python3,ca-certificates",
    more: Sequence[str] = (),
) -> Path:
    """Write the files of Debian's base with Python, as an archive or a folder. Needs root, and nothing of a release."""
    excluded = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in UNUSED]
    kept = "--dpkgopt=path-include=/usr/share/doc/*/copyright"
    unsynced = "--dpkgopt=force-unsafe-io"  # a base that is not finished is thrown away
    chosen = (f"--architectures={architecture}", f"--include={packages}", *excluded, kept, unsynced, *more)
    options = ("--quiet", "--variant=minbase", *chosen)
    mirror = mirror_of_this_machine()
    run("mmdebstrap", *options, suite, archive, *([mirror] if mirror else []))
    return archive


def load_base(archive: Path, *, architecture: str, tag: str = MADE_BASE) -> str:
    container = run("buildah", "from", "scratch").strip()
    run("buildah", "add", "--quiet", container, archive, "/")
    run("buildah", "config", "--arch", architecture, container)
    run("buildah", "commit", "--quiet", "--rm", container, tag)
    return tag


def mirror_of_this_machine() -> str | None:
    """Debian's archive, as apt here reaches it."""
    found = run("apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages").splitlines()
    return next((line.removeprefix("Debian ") for line in found if line.startswith("Debian http")), None)


def prove(image: str, *, architecture: str) -> str:
    """Import the extras and run the demonstration, as its user on a read-only root; returns a sentence. Needs root.

    An emulator is too slow for the time limits of the demonstration's database, so that it imports the extras alone.
    Mounts and chroot stand for an engine: they ask less of the machine, and read-only is read-only.
    """
    container = run("buildah", "from", image).strip()
    try:
        root = Path(run("buildah", "mount", container).strip())
        config = json.loads(run("buildah", "inspect", container))["OCIv1"]["config"]
        (root / "etc" / "hosts").write_text("127.0.0.1 localhost\n")  # as every engine does
        with tempfile.TemporaryDirectory() as volume:
            user, group = (int(number) for number in config["User"].split(":"))
            os.chown(volume, user, group)
            mounts = (
                f"mount --bind {root} {root}", f"mount -o remount,bind,ro {root}", f"mount -t proc proc {root}/proc",
                f"mount --rbind /dev {root}/dev", f"mount -t tmpfs tmpfs {root}/tmp",  # noqa: S108
                *(f"mount --bind {volume} {root}{path}" for path in config["Volumes"]),
            )  # fmt: skip
            within = ["chroot", f"--userspec={config['User']}", str(root), "env", "--ignore-environment"]
            within += [f"--chdir={config['WorkingDir']}", *config["Env"]]
            demonstration = [*config["Entrypoint"], "demo", "--once"]
            tried = [["python3", "-c", EXTRAS], *([demonstration] if architecture == HERE else [])]
            commands = [*mounts, *(shlex.join([*within, *command]) for command in tried)]
            printed = run("unshare", "--mount", "sh", "-ec", "\n".join(commands))
    finally:
        run("buildah", "rm", container)
    if architecture != HERE:
        return LOADED
    if ANSWERED not in printed:
        raise files.NotReleasable("The demonstration did not come to its end.")
    return TRIED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", default=BASE)
    parser.add_argument("--make-base", action="store_true")
    parser.add_argument("--base-archive", type=Path, help="a base that is made already")
    parser.add_argument("--write-base", type=Path, help="make the base alone, and write it there")
    parser.add_argument("--dist", type=Path, default=files.ROOT / "dist", help="the folder of the wheel and the image")
    parser.add_argument("--arch", choices=sorted(PLATFORMS), default=HERE)
    chosen = parser.parse_args()
    if chosen.write_base:
        if can_build():
            write_base(chosen.write_base, architecture=chosen.arch)
        return
    wheel = next(chosen.dist.glob("afterword-*.whl"), None)
    if wheel is None:
        raise files.NotReleasable(f"There is no wheel in {chosen.dist}: make release.")
    base = chosen.base
    if chosen.base_archive or chosen.make_base:
        made = chosen.base_archive
        base = load_base(made, architecture=chosen.arch) if made else make_base(chosen.arch)
    image = build(wheel, architecture=chosen.arch, base=base)
    release = wheel.name.removesuffix("-py3-none-any.whl")
    archive = write_archive(image, wheel.parent / f"{release}-image-{chosen.arch}.tar.zst")
    files.write_sums(wheel.parent)
    print(f"{image}: {archive.stat().st_size:,} bytes compressed, dist/{archive.name}")
    if can_run(chosen.arch):
        print(prove(image, architecture=chosen.arch))


if __name__ == "__main__":
    main()
