"""`python -m release.debian SUITE`: a person installs the wheel in dist/ on that Debian, with the Python that it has.

The Debian is a folder made by mmdebstrap, entered by chroot, as root. It reaches the index as this machine does.
"""

import argparse
import os
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Final

from release import files, images

PACKAGES: Final = "python3,python3-venv,ca-certificates"
USER: Final = 10001
HOME: Final = "/home/person"
KEPT: Final = ("PIP_CERT", "PIP_DEFAULT_TIMEOUT", "UV_NATIVE_TLS")
COMMANDS: Final = """
cd
python3 --version
python3 -m venv own
own/bin/pip install --quiet --disable-pip-version-check /opt/dist/*.whl uv pipx
own/bin/python -W error -c 'import afterword_client'
own/bin/afterword demo --once
own/bin/uvx --from /opt/dist/afterword-*.whl afterword demo --once
own/bin/pipx install --quiet /opt/dist/afterword-*.whl
.local/bin/afterword demo --once
"""


def prove(wheels: Path, suite: str) -> str:
    """Run the commands in a Debian of `suite`; returns their output. Raises NotReleasable if a demonstration fails."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        # A mirror may lag behind: it is tried here, and nothing of it is kept.
        images.write_base(root, suite=suite, packages=PACKAGES, more=('--aptopt=Acquire::Check-Valid-Until "false"',))
        shutil.copytree(wheels, root / "opt" / "dist", ignore=shutil.ignore_patterns("*.tar*", "*.json"))
        (root / "opt" / "dist").chmod(0o755)
        with (root / "etc" / "passwd").open("a") as users:
            users.write(f"person:x:{USER}:{USER}::{HOME}:/bin/sh\n")
        (root / HOME.lstrip("/")).mkdir()
        os.chown(root / HOME.lstrip("/"), USER, USER)
        for name in ("resolv.conf", "hosts", "pip.conf"):
            if Path("/etc", name).exists():
                shutil.copy(Path("/etc", name), root / "etc" / name)
        printed = _within(root)
    if printed.count(files.ANSWERED) != len(("pip", "uvx", "pipx")):
        raise files.NotReleasable(f"{suite}: a demonstration did not come to its end.\n{printed}")
    return printed


def _within(root: Path) -> str:
    mounts = (
        f"mount -t proc proc {root}/proc", f"mount --rbind /dev {root}/dev", f"mount -t tmpfs tmpfs {root}/tmp",  # noqa: S108
        f"mount --bind /etc/ssl/certs {root}/etc/ssl/certs",
    )  # fmt: skip
    kept = [f"{name}={os.environ[name]}" for name in KEPT if name in os.environ]
    command = ("chroot", f"--userspec={USER}:{USER}", root, "env", "--ignore-environment", f"HOME={HOME}", *kept)
    within = shlex.join([*map(str, command), "PATH=/usr/bin:/bin", "sh", "-ec", COMMANDS])
    return files.run("unshare", "--mount", "sh", "-ec", "\n".join([*mounts, within]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m release.debian", description=__doc__.partition("\n")[0])
    parser.add_argument("suite")
    print(prove(files.ROOT / "dist", parser.parse_args().suite))


if __name__ == "__main__":
    main()
