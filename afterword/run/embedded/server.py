"""The server: one owner for each data folder, started, watched, started again, stopped."""

import asyncio
import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import asyncpg

from afterword.run.embedded import cluster as upgrades
from afterword.run.embedded.binaries import Binaries, choose_binaries, install
from afterword.run.embedded.cluster import ROLE, SUPERUSER, address, make_cluster, make_database, private_file
from afterword.run.embedded.processes import (
    PID_FILE_LINES,
    AlreadyRunning,
    EmbeddedError,
    User,
    clear_leftovers,
    disk_faults,
    end,
    pid_file,
    why,
)

START_SECONDS_MAX = 60  # crash recovery after much work takes its time
LOCK_SECONDS_MAX = 0.5  # `running_url` holds it for an instant
POLL_SECONDS = 0.01
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
            with private_file(self.home / "start.log", "wb") as log:
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
    if upgrades.is_ready(data_folder):
        raise EmbeddedError(
            f"An upgrade of the database in {data_folder} is unfinished. Run: afterword database upgrade"
        )
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
