"""Processes of PostgreSQL: their user, the processes of a cluster, and their end."""

import errno
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

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


@dataclass(frozen=True, slots=True)
class User:
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
            raise EmbeddedError(
                f"{command[0]} may not be executed. Is its folder mounted 'noexec', or closed to user {self.uid}?"
            ) from error


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
