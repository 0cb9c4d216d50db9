"""Runs one piece of work in a process of its own, within limits, so that it cannot end the worker.

For items that a worker held when it died. The process is a copy of this one (`fork`), so it needs no input; it uses
neither the event loop nor the database, and ends without cleanup. It has none of this one's threads, so a lock that a
thread held at the fork (such as OpenSSL's, while the heartbeat logs in to the database) is never released there. A copy
that waits for such a lock uses no processor time, unlike endless work; it is ended, and another one is tried.
"""

import asyncio
import contextlib
import os
import resource
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Final

SECONDS_MAX: Final = 10.0
STALL_SECONDS_MAX: Final = 2.0  # without any processor time
COPIES_MAX: Final = 5
CPU_CLOCK: Final = 2  # CPUCLOCK_SCHED of Linux, in the clock that belongs to a process: clock_getcpuclockid(3)
MEMORY_BYTES_MAX: Final = 512 * 1024 * 1024  # beyond what the worker itself has
ANSWER_BYTES_MAX: Final = 32 * 1024 * 1024
READ_BYTES: Final = 65_536
_AT_ONCE = asyncio.Semaphore(2)


class Died(Exception):
    """The process ended without an answer; the sentence says why."""


class _Stalled(Died):
    """The process waited for a lock that is never released."""


async def run(work: Callable[[], bytes], *, seconds: float = SECONDS_MAX) -> bytes:
    """Run `work` in a process of its own; raises Died. `work` must not raise or wait for others."""
    async with _AT_ONCE:
        for _ in range(COPIES_MAX - 1):
            with contextlib.suppress(_Stalled):
                return await _run_copy(work, seconds)
        return await _run_copy(work, seconds)


async def _run_copy(work: Callable[[], bytes], seconds: float) -> bytes:
    reading, writing = os.pipe()
    with warnings.catch_warnings():  # of forks beside threads: see above
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _serve(work, reading, writing, seconds)
    os.close(writing)
    collecting = asyncio.create_task(asyncio.to_thread(_collect, pid, reading, seconds))
    try:
        return await asyncio.shield(collecting)
    except asyncio.CancelledError:
        os.kill(pid, signal.SIGKILL)  # it is reaped below, so the number is still its own
        await asyncio.wait([collecting])
        collecting.exception()
        raise


def _serve(work: Callable[[], bytes], reading: int, writing: int, seconds: float) -> None:
    code = 1
    try:
        os.close(reading)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        limit = _memory_bytes() + MEMORY_BYTES_MAX
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        left = memoryview(work())
        while left:
            left = left[os.write(writing, left) :]
        code = 0
    finally:
        os._exit(code)


def _memory_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  before anything else can go wrong
        return int(file.read().split()[0]) * resource.getpagesize()


def _collect(pid: int, reading: int, seconds: float) -> bytes:
    answer = bytearray()
    end: Died | None = None
    try:
        end = _read(pid, reading, seconds, answer)
    finally:
        os.close(reading)
        if end is not None:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if end is not None:
        raise end
    if code < 0:
        raise Died(f"it was killed by signal {-code}")
    if code > 0:
        raise Died(f"its process ended with {code}")
    return bytes(answer)


def _read(pid: int, reading: int, seconds: float, answer: bytearray) -> Died | None:
    """Read its answer to the end, or return the reason to end it."""
    deadline = time.monotonic() + seconds
    stall_seconds = min(STALL_SECONDS_MAX, seconds / 4)
    used = _cpu_seconds(pid)
    while (left := deadline - time.monotonic()) > 0 and len(answer) <= ANSWER_BYTES_MAX:
        ready, _, _ = select.select([reading], [], [], min(left, stall_seconds))
        if ready:
            piece = os.read(reading, READ_BYTES)
            if not piece:
                return None
            answer += piece
        elif left > stall_seconds:
            before, used = used, _cpu_seconds(pid)
            if used == before:
                return _Stalled(f"it stood still for {stall_seconds:g} seconds")
    return Died(f"it took more than {seconds:g} seconds")


def _cpu_seconds(pid: int) -> float:
    """CPU seconds of another process; grows on systems that do not tell."""
    return time.clock_gettime(~pid << 3 | CPU_CLOCK) if sys.platform == "linux" else time.monotonic()
