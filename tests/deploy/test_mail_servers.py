"""Debian's Postfix and Exim as relays: a mail leaves, comes back, and goes into the pipe that the documents describe.

Each runs on a copy of this machine, of which nothing stays: its files are in memory over ours, and its processes end
with the first of them. Its network has no way out.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests import programs
from tests.deploy.mail_host import PACKAGES
from tests.journeys.processes import ROOT
from tests.run.worker.faults.rig import lack, needs

pytestmark = pytest.mark.nightly
SECONDS_MAX: Final = 300
# $0: an empty folder, $1: the repository, $2: the packages; then the command. Package lists are copied: others may
# change them below us. The command is not the first process: Exim would take that for init and stay in the foreground.
COPY: Final = """\
mount -t tmpfs tmpfs "$0"
mkdir "$0/up" "$0/work" "$0/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/up,workdir=$0/work" "$0/root"
mount -t proc proc "$0/root/proc"
mount --rbind /dev "$0/root/dev"
mount -t tmpfs tmpfs "$0/root/tmp"
for kept in /var/lib/dpkg /var/lib/apt; do
  mount -t tmpfs tmpfs "$0/root$kept"
  cp -a "$kept/." "$0/root$kept"
done
[ -e "$0/root$1/pyproject.toml" ] || mount --bind "$1" "$0/root$1"
cp -r "$2" "$0/root/packages"
hostname mail.shop.example
ip link set lo up
root=$0/root repository=$1
shift 2
exec chroot "$root" sh -c 'chmod o+x /root && cd "$0" && "$@"; exit $?' "$repository" "$@"
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="afterword-mail-") as name:
        yield Path(name)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_bounce_goes_through_the_documented_pipe(name: str, folder: Path) -> None:
    for program in ("unshare", "setpriv", "chroot", "ip"):
        needs(program)
    if not programs.has_apt():
        lack("apt-get as root")
    (folder / "packages").mkdir()
    (folder / "machine").mkdir()
    programs.download_packages("ssl-cert", PACKAGES[name], folder=folder / "packages")
    apart = ("unshare", "--mount", "--uts", "--net", "--ipc", "--pid", "--fork", "--kill-child")
    job = (sys.executable, "-m", "tests.deploy.mail_host", name, "/packages")
    done = subprocess.run(
        [*apart, "sh", "-e", "-c", COPY, folder / "machine", ROOT, folder / "packages", *job],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert 0 == done.returncode, f"{done.stdout}\n{done.stderr}"
    found = json.loads(done.stdout.splitlines()[-1])
    assert [["gone@remote.example", "hard_bounce"]] == found["suppressed"]
    assert ["queue_item.created", "queue_item.sent", "queue_item.bounced"] == found["events"]
    assert "TLSv1.3" in found["relay"]  # with a certificate that nobody vouches for
    code, words = found["nobody"]
    assert 75 == code
    assert "as the user nobody. Let the mail server run it as the user that the service runs as" in words
    assert [] == list((folder / "machine").iterdir())
