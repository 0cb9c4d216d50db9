"""The units of deploy/ under a real systemd, booted in a folder with Debian: the main job, limits, and the stop."""

import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from release import files, images
from tests.deploy.engine import ANSWER_COUNT, DEPLOY, do_main_job, ready
from tests.journeys.client import Client, client_of
from tests.journeys.processes import free_port, until
from tests.run.worker.faults.rig import needs

pytestmark = pytest.mark.nightly
SUITE, PYTHON = "bookworm", "3.11"  # its systemd runs beside cgroups of either version
PACKAGES: Final = "python3,ca-certificates,systemd,systemd-sysv,dbus,sudo,postgresql"
PROGRAM: Final = '#!/bin/sh\nPYTHONPATH=/opt/afterword/packages exec python3 -m afterword "$@"\n'
SOCKET_URL: Final = "postgresql:///afterword?host=/run/postgresql"
EXPOSURE_MAX: Final = 1.5  # of systemd-analyze security; 10 is a unit without any limit
SECONDS_MAX: Final = 120


@dataclass(frozen=True)
class Machine:
    """A booted system that shares the network of this one."""

    root: Path
    process: "subprocess.Popen[bytes]"

    def run(self, *words: str, is_checked: bool = True) -> str:
        """Standard output of a command in it."""
        assert self.process.poll() is None, (self.root.parent / "log").read_text()
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        inside = ("nsenter", "--target", (children or ["none"])[0], "--mount", "--uts", "--ipc", "--pid", "--")
        done = subprocess.run([*inside, *words], capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        assert not (is_checked and done.returncode), f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def afterword(self, *words: str) -> str:
        """A command as docs/installing.md says to run it."""
        config = "AFTERWORD_CONFIG=/etc/afterword/afterword.toml"
        return self.run("sudo", "-u", "afterword", config, "/opt/afterword/bin/afterword", *words)

    def configure(self, **values: object) -> None:
        """Write the settings of the file with these, owned as docs/installing.md says."""
        lines = {**tomllib.loads((DEPLOY / "systemd" / "afterword.toml").read_text()), **values}
        file = self.root / "etc/afterword/afterword.toml"
        file.write_text("".join(f"{name} = {value!r}\n" for name, value in lines.items()).replace("'", '"'))
        self.run("chown", "root:afterword", "/etc/afterword/afterword.toml")
        self.run("chmod", "640", "/etc/afterword/afterword.toml")


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    for program in ("systemd-nspawn", "mmdebstrap", "nsenter"):
        needs(program)
    folder = Path(tempfile.mkdtemp(prefix="afterword-machine-"))
    root = folder / "root"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):  # they trust the servers of tests alone
            patch.delenv(name, raising=False)
        patch.setenv("UV_NATIVE_TLS", "true")
        mirror = images.mirror_of_this_machine()
        options = ("--quiet", "--variant=minbase", f"--include={PACKAGES}")
        files.run("mmdebstrap", *options, SUITE, root, *([mirror] if mirror else []))
        files.build(folder / "dist")
        wheel = next((folder / "dist").glob("afterword-*.whl"))
        patch.setattr(images, "PYTHON", PYTHON)
        images.collect_packages(wheel, root / "opt/afterword/packages", architecture=images.HERE)
    program = root / "opt/afterword/bin/afterword"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    shutil.copytree(DEPLOY / "systemd", root / "etc/systemd/system", dirs_exist_ok=True)
    shutil.copy(DEPLOY / "systemd" / "afterword.sysusers", root / "usr/lib/sysusers.d/afterword.conf")
    (root / "etc/afterword").mkdir()
    with (folder / "log").open("wb") as log:
        command = ("systemd-nspawn", "--register=no", "--keep-unit", "--console=pipe", "--boot", "--directory", root)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    yield Machine(root, process)
    process.terminate()
    process.wait(SECONDS_MAX)
    shutil.rmtree(folder)


async def booted(machine: Machine) -> None:
    await until(
        lambda: machine.run("systemctl", "is-system-running", is_checked=False).strip() in {"running", "degraded"},
        seconds=SECONDS_MAX,
        what="systemd has booted",
    )


def seed(machine: Machine, site: str) -> Client:
    return replace(client_of(machine.afterword("seed", "--json")), base_url=f"{site}/v3.2")


def assert_stops(machine: Machine, unit: str) -> None:
    """By itself, within its TimeoutStopSec, and with success."""
    machine.run("systemctl", "stop", unit)
    assert "Result=success" in machine.run("systemctl", "show", unit, "--property=Result")


async def test_everything_in_one_unit(machine: Machine) -> None:
    await booted(machine)
    port = free_port()
    site = f"http://localhost:{port}"
    machine.configure(public_url=site, port=port)
    machine.run("systemctl", "start", "afterword-serve")
    await ready(site)
    assert ANSWER_COUNT == len(await do_main_job(seed(machine, site), site=site))
    assert site in machine.afterword("setup")
    await until(
        lambda: "Z" in machine.afterword("restore", "--from", "/var/lib/afterword/backups", "--list"),
        seconds=SECONDS_MAX,
        what="a backup is there",
    )
    assert_stops(machine, "afterword-serve")


async def test_web_and_workers_apart(machine: Machine) -> None:
    """On Debian's PostgreSQL, which knows the user by the socket."""
    await booted(machine)
    (next((machine.root / "etc/postgresql").glob("*/main/conf.d")) / "here.conf").write_text("listen_addresses = ''\n")
    machine.run("systemctl", "restart", "postgresql@*", "postgresql")
    machine.run("sudo", "-u", "postgres", "createuser", "afterword")
    machine.run("sudo", "-u", "postgres", "createdb", "--owner", "afterword", "afterword")
    port = free_port()
    site = f"http://localhost:{port}"
    machine.configure(public_url=site, port=port, database_url=SOCKET_URL, secret="s" * 64)
    units = ("afterword-web", "afterword-worker@1", "afterword-worker@2")
    machine.run("systemctl", "start", *units)  # which migrates first
    await ready(site)
    assert ANSWER_COUNT == len(await do_main_job(seed(machine, site), site=site))
    for unit in units:
        assert_stops(machine, unit)


async def test_limits(machine: Machine) -> None:
    await booted(machine)
    names = sorted(path.name.replace("@", "@1") for path in (DEPLOY / "systemd").glob("*.service"))
    assert "" == machine.run("systemd-analyze", "verify", *names)
    for name in names:
        printed = machine.run("systemd-analyze", "security", "--no-pager", name, is_checked=False)
        exposure = re.findall(r"exposure level for \S+: ([\d.]+)", printed)
        assert [EXPOSURE_MAX] >= [float(each) for each in exposure] != [], printed
