"""The cluster of deploy/ha on machines of their own: network namespaces, Debian's programs, the files as they stand.

Two database nodes with Patroni and etcd, a third etcd that only votes, two machines with a web process and a worker,
and the world outside. Each machine has its files where docs/cluster.md puts them, through mounts that nobody else sees,
and runs the commands of Debian's units.
"""

import asyncio
import contextlib
import os
import pwd
import re
import shlex
import signal
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import asyncpg

from tests.deploy.engine import DEPLOY
from tests.journeys import processes
from tests.journeys.processes import Child, until
from tests.run.worker.faults import nodes
from tests.run.worker.faults.nodes import Machine, Network

HA: Final = DEPLOY / "ha"
UNITS: Final = Path("/lib/systemd/system")
DATABASES: Final = ("db1", "db2")
VOTERS: Final = (*DATABASES, "witness")
APPS: Final = ("app1", "app2")
PASSWORD: Final = "cluster"
SECRET: Final = "k" * 32
WEB_PORT: Final = 8080
SINK_PORT: Final = 2525
UNLIMITED: Final = 1_000_000  # requests a minute
START_SECONDS_MAX: Final = 120
# Folders in which a machine has files of its own, in the order of mounting.
OWN_FOLDERS: Final = ("/run/postgresql", "/etc/patroni", "/etc/haproxy", "/etc/pgbouncer", "/var/lib/postgresql",
                      "/var/lib/etcd")  # fmt: skip
# $0: the machine's folder, $1: the user of what follows. Only this process and those below it see these mounts.
ENTER: Final = f"""\
for kept in {" ".join(OWN_FOLDERS)}; do [ ! -d "$0$kept" ] || mount --bind "$0$kept" "$kept"; done
user=$1; shift
exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"
"""


def command_of(unit: str, environment: Mapping[str, str]) -> tuple[str, list[str]]:
    """The user and the command of Debian's unit, with this environment and its own."""
    lines = (UNITS / f"{unit}.service").read_text()
    [command] = re.findall(r"^ExecStart=(.*)$", lines, re.MULTILINE)
    user = re.findall(r"^User=(.*)$", lines, re.MULTILINE) or ["root"]
    named = [each for line in re.findall(r"^Environment=(.*)$", lines, re.MULTILINE) for each in shlex.split(line)]
    known = {**dict(each.split("=", 1) for each in named), **environment}
    words = [re.sub(r"\$\{?(\w+)\}?", lambda name: known[name[1]], word) for word in command.split()]
    return user[0], shlex.split(" ".join(words))


def environment_of(file: str, **values: str) -> dict[str, str]:
    """The variables of one of our files: those that differ from machine to machine have these values."""
    lines = re.findall(r"^(\w+)=(.*)$", (HA / file).read_text(), re.MULTILINE)
    examples = {name: value for name, value in lines if not value or ".example" in value or value == "db1"}
    assert examples.keys() <= values.keys(), f"{file}: a value for {sorted(examples.keys() - values.keys())}"
    assert values.keys() <= dict(lines).keys(), f"{file} lacks {sorted(values.keys() - dict(lines).keys())}"
    return {**dict(lines), **values}


@dataclass
class Host:
    """One machine, and what runs on it by its unit or name."""

    machine: Machine
    folder: Path
    children: dict[str, Child] = field(default_factory=dict[str, Child])

    def put(self, file: str, to: str, *, user: str) -> Path:
        """A file of deploy/ha where docs/cluster.md puts it, for this user alone."""
        path = self.folder / to.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((HA / file).read_bytes())
        self.own(path, user=user)
        return path

    def make(self, folder: str, *, user: str) -> Path:
        """A folder of its own, in the place of the one of this name."""
        path = self.folder / folder.lstrip("/")
        path.mkdir(parents=True, exist_ok=True)
        self.own(path, user=user)
        return path

    @staticmethod
    def own(path: Path, *, user: str) -> None:
        entry = pwd.getpwnam(user)
        os.chown(path, entry.pw_uid, entry.pw_gid)

    def inside(self, *words: str, user: str) -> list[str]:
        """The same command on this machine, as this user."""
        return self.machine.command("sh", "-e", "-c", ENTER, str(self.folder), user, *words)

    def start(self, unit: str, environment: Mapping[str, str]) -> None:
        """Start the command of Debian's unit; again, if it ran before."""
        user, command = command_of(unit, environment)
        log = self.folder / f"{unit}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                self.inside(*command, user=user),
                env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                start_new_session=True,
            )
        self.children[unit] = Child(process, log, f"{unit} on {self.machine.name}")

    def run(self, *words: str, user: str, environment: Mapping[str, str] | None = None, given: str = "") -> str:
        """Standard output of a command there, to which `given` is typed."""
        known = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **(environment or {})}
        done = subprocess.run(
            self.inside(*words, user=user),
            env=known,
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd="/",
        )
        assert 0 == done.returncode, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def python(self, name: str, arguments: Sequence[str], environment: Mapping[str, str]) -> Child:
        """A Python program of this repository."""
        log = self.folder / f"{name}.log"
        self.children[name] = processes.start(
            arguments, env=environment, log=log, name=name, before=self.machine.command()
        )
        return self.children[name]

    def kill(self) -> None:
        """SIGKILL to everything on it, at once: its power is gone."""
        while found := self._processes():
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for child in self.children.values():
            child.process.wait()

    def _processes(self) -> list[int]:
        """Those that still run."""
        words = ["ip", "netns", "pids", self.machine.name]
        found = subprocess.run(words, capture_output=True, text=True, check=True)
        for child in self.children.values():
            child.process.poll()  # what has ended is none
        return [pid for pid in map(int, found.stdout.split()) if processes.command_of(pid)]


@dataclass
class Cluster:
    """All machines of one installation."""

    network: Network
    folder: Path
    hosts: dict[str, Host] = field(default_factory=dict[str, Host])

    def add(self, name: str) -> Host:
        folder = self.folder / name
        folder.mkdir(mode=0o711)
        self.hosts[name] = Host(self.network.add(name), folder)
        return self.hosts[name]

    def address(self, name: str) -> str:
        return self.hosts[name].machine.address

    # Databases -------------------------------------------------------------------------------------------------------

    def start_etcd(self, name: str, *, state: str = "new") -> None:
        host, here = self.hosts[name], self.address(name)
        host.start("etcd", environment_of(
            "etcd.env",
            ETCD_NAME=name,
            ETCD_INITIAL_ADVERTISE_PEER_URLS=f"http://{here}:2380",
            ETCD_ADVERTISE_CLIENT_URLS=f"http://{here}:2379",
            ETCD_INITIAL_CLUSTER=",".join(f"{voter}=http://{self.address(voter)}:2380" for voter in VOTERS),
            ETCD_INITIAL_CLUSTER_STATE=state,
        ) | {"DAEMON_ARGS": ""})  # fmt: skip

    def start_patroni(self, name: str) -> None:
        self.hosts[name].start("patroni", self.patroni_environment(name))

    def patroni_environment(self, name: str) -> dict[str, str]:
        [programs] = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1:]
        return environment_of(
            "patroni.env",
            PATRONI_NAME=name,
            PATRONI_RESTAPI_CONNECT_ADDRESS=f"{self.address(name)}:8008",
            PATRONI_POSTGRESQL_CONNECT_ADDRESS=f"{self.address(name)}:5432",
            PATRONI_POSTGRESQL_BIN_DIR=str(programs),
            PATRONI_ETCD3_HOSTS=",".join(f"{self.address(voter)}:2379" for voter in VOTERS),
            PATRONI_SUPERUSER_PASSWORD=PASSWORD,
            PATRONI_REPLICATION_PASSWORD=PASSWORD,
            PATRONI_RESTAPI_PASSWORD=PASSWORD,
        )

    def patronictl(self, *words: str, on: str) -> str:
        return self.hosts[on].run(
            "patronictl", "-c", "/etc/patroni/config.yml", *words, user="postgres",
            environment=self.patroni_environment(on),
        )  # fmt: skip

    def psql(self, name: str, statement: str, *, database: str = "postgres") -> str:
        """As docs/cluster.md says: the system's user postgres, by the socket."""
        words = ("psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "-d", database, "-c", statement)
        return self.hosts[name].run(*words, user="postgres").strip()

    def url(self, name: str) -> str:
        """Of the test itself, through the socket."""
        socket = quote(str(self.hosts[name].folder / "run/postgresql"))
        return f"postgresql://afterword:{PASSWORD}@/afterword?host={socket}"

    async def is_primary(self, name: str) -> bool:
        try:
            connection: Any = await asyncpg.connect(self.url(name), timeout=5)
        except (OSError, asyncpg.PostgresError, TimeoutError):
            return False
        try:
            return not await connection.fetchval("select pg_is_in_recovery()")
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            return False
        finally:
            connection.terminate()

    async def streaming(self, name: str, *, primary: str, sync: bool) -> None:
        """Wait until a node follows the primary, and is its synchronous standby if wanted."""
        state = "sync" if sync else "async"
        select = (
            f"select count(*) from pg_stat_replication where application_name = '{name}' and sync_state = '{state}'"
        )

        async def follows() -> bool:
            return await asyncio.to_thread(self.psql, primary, f"{select} and state = 'streaming'") == "1"

        await until(follows, seconds=START_SECONDS_MAX, what=f"{name} is the {state} standby of {primary}")

    async def primary(self, among: Sequence[str] = DATABASES, *, seconds: float = START_SECONDS_MAX) -> str:
        """The node that takes writes, once there is one."""

        async def found() -> str:
            for name in among:
                if await self.is_primary(name):
                    return name
            return ""

        return await until(found, seconds=seconds, what="a primary")

    async def start_databases(self) -> str:
        """Patroni on both, with the role and the database; the name of the primary."""
        for name in VOTERS:
            host = self.add(name)
            host.make("/var/lib/etcd", user="etcd")
        for name in VOTERS:
            self.start_etcd(name)
        for name in DATABASES:
            host = self.hosts[name]
            for folder in ("/run/postgresql", "/var/lib/postgresql"):
                host.make(folder, user="postgres")
            host.put("patroni.yml", "/etc/patroni/config.yml", user="postgres")
            self.start_patroni(name)

        async def led() -> str:
            for name in DATABASES:
                with contextlib.suppress(AssertionError):
                    if await asyncio.to_thread(self.psql, name, "select pg_is_in_recovery()") == "f":
                        return name
            return ""

        primary = await until(led, seconds=START_SECONDS_MAX, what="Patroni has made a database")
        words = ("psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1")
        for _ in range(2):  # it may run again
            known = {"DATABASE_PASSWORD": PASSWORD}
            self.hosts[primary].run(*words, user="postgres", environment=known, given=(HA / "role.sql").read_text())
        other = next(name for name in DATABASES if name != primary)
        await self.streaming(other, primary=primary, sync=True)
        return primary

    # Processes of the product ----------------------------------------------------------------------------------------

    @property
    def several_hosts(self) -> str:
        """The address that names both servers."""
        hosts = ",".join(f"{self.address(name)}:5432" for name in DATABASES)
        return f"postgresql://afterword:{PASSWORD}@{hosts}/afterword?target_session_attrs=read-write"

    def start_poolers(self, name: str) -> None:
        """HAProxy and PgBouncer of one machine."""
        host = self.hosts[name]
        environment = environment_of("haproxy.env", **{each.upper(): self.address(each) for each in DATABASES})
        host.put("haproxy.cfg", "/etc/haproxy/haproxy.cfg", user="haproxy")
        folder = host.make("/run", user="root")
        control = {"EXTRAOPTS": f"-S {folder}/master.sock", "PIDFILE": str(folder / "haproxy.pid")}
        host.start("haproxy", environment | control)
        host.put("pgbouncer.ini", "/etc/pgbouncer/pgbouncer.ini", user="postgres")
        users = host.folder / "etc/pgbouncer/userlist.txt"
        primary = next(each for each in DATABASES if self.psql(each, "select pg_is_in_recovery()") == "f")
        users.write_text(self.psql(primary, userlist()) + "\n")
        host.own(users, user="postgres")
        host.start("pgbouncer", {})

    async def start_apps(self) -> list[str]:
        """A web process and a worker on each: the first by an address of both servers, the second by PgBouncer."""
        outside = self.add("outside")
        sink = ["-m", "tests.sending.channels.sink", "--host", outside.machine.address, "--port", str(SINK_PORT),
                "--file", str(outside.folder / "accepted")]  # fmt: skip
        outside.python("sink", sink, processes.environment())
        for name in APPS:
            self.add(name)
        self.start_poolers("app2")
        pooled = f"postgresql://afterword:{PASSWORD}@127.0.0.1:6432/afterword"
        urls = {"app1": (self.several_hosts, "100"), "app2": (pooled, "0")}
        for name, (url, cache) in urls.items():
            host = self.hosts[name]
            environment = processes.environment(
                database_url=url,
                statement_cache=cache,
                secret=SECRET,
                host=host.machine.address,
                port=WEB_PORT,
                public_url="http://shop.example",
                smtp_url=f"smtp://{outside.machine.address}:{SINK_PORT}?starttls=never",
                data_dir=host.folder / "data",
                token_requests_per_minute=UNLIMITED,
                organization_requests_per_minute=UNLIMITED,
            )
            for role in ("web", "worker"):
                host.python(role, ["-m", "afterword", role], environment)
        return [f"http://{self.address(name)}:{WEB_PORT}" for name in APPS]

    async def stop_apps(self) -> None:
        """SIGTERM to web processes and workers; each must end well."""
        for name in APPS:
            for role in ("worker", "web"):
                child = self.hosts[name].children[role]
                assert 0 == await child.stop(), child.tail()

    def tails(self) -> list[str]:
        return [f"\n{child.name}: {child.tail()}" for host in self.hosts.values() for child in host.children.values()]


def userlist() -> str:
    """The statement of docs/cluster.md that makes PgBouncer's userlist.txt."""
    page = (DEPLOY.parent / "docs/cluster.md").read_text(encoding="utf-8")
    [statement] = re.findall(r'psql .* --command "(select .*pg_authid.*)"', page)
    return statement.replace('\\"', '"')


@contextlib.asynccontextmanager
async def cluster(folder: Path) -> AsyncGenerator[Cluster]:
    """The machines, and nothing of them at the end, whatever happens."""
    with nodes.network() as network:
        made = Cluster(network, folder)
        try:
            yield made
        except BaseException:
            print(*made.tails())  # noqa: T201
            raise
        finally:
            for host in made.hosts.values():
                host.kill()
