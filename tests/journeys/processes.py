"""Real processes of the product for tests: started with an environment of their own, signalled, waited for, weighed."""

import asyncio
import contextlib
import inspect
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

ROOT = Path(__file__).parents[2]
PREFIX = "AFTERWORD_"
POLL_SECONDS = 0.01
READY_SECONDS_MAX = 60.0
SECONDS_MAX = 60.0
LOG_CHARACTERS_MAX = 4_000
PORT_MIN = 10_000
EPHEMERAL_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")  # the kernel gives these to whoever connects
CPU_CLOCK = 2  # CPUCLOCK_SCHED of Linux, in the clock that belongs to a process: clock_getcpuclockid(3)
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


async def until(condition: Callable[[], Any], *, seconds: float = SECONDS_MAX, what: str = "") -> Any:
    """The value of `condition`, awaited if it wants to be, as soon as that is true; fails the test after so long."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return found
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds:g} s: {what}")
        await asyncio.sleep(POLL_SECONDS)


def free_port() -> int:
    """A port on loopback that nobody listens on at the moment, and that no connection is given until it is bound."""
    connections_from = int(EPHEMERAL_PORTS.read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(PORT_MIN, connections_from)  # hardly the one that another run asks for
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def environment(**settings: object) -> dict[str, str]:
    """This process's environment without settings of Afterword, and these instead."""
    without = (PREFIX, "PYTHONDONTWRITEBYTECODE")  # or each start reads all of the source again, as no operator's does
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(without)}
    return {**inherited, **{f"{PREFIX}{name.upper()}": str(value) for name, value in settings.items()}}


@dataclass
class Child:
    """One real process. What it writes goes to `log`."""

    process: "subprocess.Popen[bytes]"
    log: Path
    name: str
    is_paused: bool = field(default=False, init=False)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def send(self, sign: signal.Signals) -> None:
        """The signal; a child that is gone already takes none."""
        if self.is_alive:
            self.process.send_signal(sign)

    async def ended(self, *, seconds: float) -> int:
        """Its exit code, once it has ended."""
        await until(lambda: not self.is_alive, seconds=seconds, what=f"{self.name} ends\n{self.tail()}")
        code = self.process.poll()
        assert code is not None
        return code

    async def stop(self, *, seconds: float = 40.0) -> int:
        """SIGTERM, and the exit code."""
        self.send(signal.SIGTERM)
        return await self.ended(seconds=seconds)

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-LOG_CHARACTERS_MAX:] if self.log.exists() else ""

    def told(self, name: str) -> str:
        """The first value under this name that it logged; empty when there is none yet."""
        found = re.search(rf'"{name}": ?"([^"]+)"', self.log.read_text(errors="replace"))
        return found[1] if found else ""

    def errors(self) -> list[str]:
        """Lines of its log that tell of a bug: what it logged as an error, or a bare traceback."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if '"level":"error"' in line.replace(" ", "") or line.startswith("Traceback")]


def cpu_seconds(pid: int) -> float:
    """User and system time that a process has used until now."""
    return time.clock_gettime(~pid << 3 | CPU_CLOCK)  # ticks of /proc/<pid>/stat miss whatever is shorter than they are


def rss_bytes(pid: int) -> int:
    """The memory that a process holds at the moment."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES


def descendants(pid: int) -> list[int]:
    """The processes below this one."""
    children = [int(word) for path in _child_lists(pid) for word in path.read_text().split()]
    return [*children, *(below for child in children for below in descendants(child))]


def command_of(pid: int) -> list[str]:
    """The command line of a process; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except OSError:
        return []


def _child_lists(pid: int) -> Sequence[Path]:
    return list(Path(f"/proc/{pid}/task").glob("*/children"))


def start(
    arguments: Sequence[str], *, env: Mapping[str, str], log: Path, name: str, before: Sequence[str] = ()
) -> Child:
    """Start `python …` at the root of the repository; `before` it what it is to run in, such as a namespace."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*before, sys.executable, *arguments],
            cwd=ROOT,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Child(process, log, name)


@contextlib.asynccontextmanager
async def command(name: str, *, folder: Path, **settings: object) -> AsyncGenerator[Child]:
    """`afterword <name>` with these settings while the block lasts; killed at its end if it still runs."""
    settings = {"data_dir": folder / "data", **settings}
    child = start(["-m", "afterword", name], env=environment(**settings), log=folder / f"{name}.log", name=name)
    try:
        yield child
    finally:
        kill_tree(child)


def kill_tree(child: Child) -> None:
    """End a child and what it started, without waiting for anybody's consent."""
    if child.is_alive:
        below = descendants(child.pid)
        child.process.kill()
        for pid in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    child.process.wait()


async def ready(url: str, child: Child) -> float:
    """Wait until the web process at `url` is ready; the seconds that it took."""
    began = time.perf_counter()
    async with httpx2.AsyncClient(timeout=5) as client:

        async def answers() -> bool:
            assert child.is_alive, child.tail()
            try:
                return (await client.get(f"{url}/readyz")).status_code == 200
            except httpx2.TransportError:
                return False

        await until(answers, seconds=READY_SECONDS_MAX, what=f"{child.name} is ready")
    return time.perf_counter() - began
