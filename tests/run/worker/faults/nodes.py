"""Machines of their own on one machine: network namespaces on one switch, a primary and its standby in two of them."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import asyncpg

from afterword.run import embedded, embedded as cluster
from tests.journeys.processes import until

NETWORK = "10.77.0"
PORT = 5432
START_SECONDS_MAX = 60


def can_have_networks() -> bool:
    """Whether this machine lets us make network namespaces."""
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("setpriv") is None:
        return False
    name = f"afw-probe-{os.getpid()}"
    try:
        _ip("netns", "add", name)
        _ip("netns", "del", name)
    except subprocess.CalledProcessError:
        return False
    return True


@dataclass(frozen=True)
class Machine:
    name: str
    address: str
    cable: str

    def command(self, *words: str) -> list[str]:
        """The same command, on this machine."""
        return ["ip", "netns", "exec", self.name, *words]


@dataclass
class Network:
    """A switch, and the machines that are plugged into it."""

    hub: str
    machines: list[Machine] = field(default_factory=list[Machine])

    def add(self, name: str) -> Machine:
        number = len(self.machines) + 11
        machine = Machine(f"{self.hub}-{name}", f"{NETWORK}.{number}", f"port{number}")
        _ip("netns", "add", machine.name)
        self.machines.append(machine)
        _ip("-n", self.hub, "link", "add", machine.cable, "type", "veth", "peer", "name", "eth0", "netns", machine.name)
        _ip("-n", self.hub, "link", "set", machine.cable, "master", "switch", "up")
        _ip("-n", machine.name, "address", "add", f"{machine.address}/24", "dev", "eth0")
        for device in ("eth0", "lo"):
            _ip("-n", machine.name, "link", "set", device, "up")
        return machine

    def cut(self, machine: Machine) -> None:
        """Pull its cable: nobody is told anything."""
        _ip("-n", self.hub, "link", "set", machine.cable, "down")

    def mend(self, machine: Machine) -> None:
        """Put the cable back."""
        _ip("-n", self.hub, "link", "set", machine.cable, "up")


@contextlib.contextmanager
def network() -> Generator[Network]:
    """An empty network, gone with everything in it at the end of the block."""
    found = Network(f"afw-{uuid.uuid4().hex[:6]}")
    _ip("netns", "add", found.hub)
    try:
        _ip("-n", found.hub, "link", "add", "switch", "type", "bridge")
        _ip("-n", found.hub, "link", "set", "switch", "up")
        yield found
    finally:
        for machine in found.machines:
            _ip("netns", "del", machine.name)
        _ip("netns", "del", found.hub)


@dataclass
class Node:
    """A PostgreSQL on a machine of its own. Its socket is reached from everywhere: it is a file."""

    machine: Machine
    server: embedded.Server  # whose programs and user it takes; it does not run itself
    folder: Path
    socket: Path
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """For the test itself, through the socket."""
        parts = urlsplit(self.server.url)
        return f"postgresql://{parts.netloc}/afterword?host={quote(str(self.socket))}"

    def start(self, settings: Mapping[str, str]) -> None:
        user = self.server.user
        self.socket.mkdir(exist_ok=True)
        user.own(self.socket)
        given = {
            "listen_addresses": self.machine.address,
            "unix_socket_directories": str(self.socket),
            "max_connections": "100",
            "shared_buffers": "64MB",
            "wal_level": "replica",
            **settings,
        }
        options = [f"-c{name}={value}" for name, value in given.items()]
        with (self.folder.parent / f"{self.machine.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.machine.command(
                    *_as(user.uid, user.gid, user.changes),
                    str(self.server.binaries.folder / "postgres"),
                    "-D",
                    str(self.folder),
                    *options,
                ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
            )

    async def ready(self) -> None:
        """Wait until it takes connections."""

        async def answers() -> bool:
            try:
                await (await asyncpg.connect(self.url, timeout=5)).close()
            except (OSError, asyncpg.PostgresError):
                return False
            return True

        await until(answers, seconds=START_SECONDS_MAX, what=f"PostgreSQL on {self.machine.name}")

    def kill(self) -> None:
        """Its machine loses its power."""
        pid = int((self.folder / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        assert self.process is not None
        self.process.wait()

    def stop(self) -> None:
        """End it, as quickly as it goes."""
        if self.process is not None and self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                os.kill(int((self.folder / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
            self.process.wait(30)

    async def promote(self) -> None:
        connection: Any = await asyncpg.connect(_superuser(self))
        try:
            assert await connection.fetchval("select pg_promote(wait => true)")
        finally:
            await connection.close()


@contextlib.asynccontextmanager
async def pair(
    one: Machine, other: Machine, folder: Path, *, is_synchronous: bool = True
) -> AsyncGenerator[tuple[Node, Node]]:
    """A primary and a standby without which, if synchronous, it commits nothing: what was acknowledged is on both."""
    server = await embedded.start(folder, settings={"listen_addresses": ""})
    await server.stop()
    with (server.cluster / "pg_hba.conf").open("a") as rules:
        rules.write(f"host all,replication all {NETWORK}.0/24 scram-sha-256\n")
    primary = Node(one, server, server.cluster, server.home / "one")
    standby = Node(other, server, server.home / "standby", server.home / "other")
    try:
        primary.start({"synchronous_standby_names": ""})
        await primary.ready()
        await asyncio.to_thread(_copy, primary, standby)
        primary.stop()
        primary.start({"synchronous_standby_names": "standby" if is_synchronous else ""})
        password = (server.home / f"{cluster.SUPERUSER}.password").read_text().strip()
        standby.start(
            {
                "primary_conninfo": f"host={one.address} port={PORT} user={cluster.SUPERUSER} password={password} "
                "application_name=standby",
                "hot_standby": "on",
            }
        )
        await primary.ready()
        await standby.ready()
        yield primary, standby
    finally:
        standby.stop()
        primary.stop()


def _copy(primary: Node, standby: Node) -> None:
    server = primary.server
    back_up(server, socket=primary.socket, folder=standby.folder)
    (standby.folder / "standby.signal").touch()
    server.user.own(standby.folder / "standby.signal")


def back_up(server: embedded.Server, *, socket: Path, folder: Path) -> None:
    """A base backup of the server behind this socket, as a cluster in a new folder."""
    user, password = server.user, (server.home / f"{cluster.SUPERUSER}.password").read_text().strip()
    folder.mkdir(mode=0o700)
    user.own(folder)
    program = str(server.binaries.folder / "pg_basebackup")
    where = ["-D", str(folder), "-h", str(socket), "-U", cluster.SUPERUSER, "--checkpoint=fast"]
    subprocess.run(
        [*_as(user.uid, user.gid, user.changes), program, *where],
        env={"PATH": os.defpath, "PGPASSWORD": password},
        check=True,
        cwd="/",
    )


def _superuser(node: Node) -> str:
    parts = urlsplit(node.server.superuser_url)
    return f"postgresql://{parts.netloc}/postgres?host={quote(str(node.socket))}"


def _as(uid: int, gid: int, changes: bool) -> Sequence[str]:  # noqa: FBT001
    return ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"] if changes else []


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)  # noqa: S607
