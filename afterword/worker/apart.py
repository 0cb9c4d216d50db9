"""Runs one piece of work in a process of its own, within limits: whatever it does there, the worker lives on.

For items that were in a worker's hands when it died. The process is a copy of this one (`fork`), so it needs nothing
handed over; it touches neither the event loop nor the database, and ends without cleanup.
"""

import asyncio
import os
import resource
import select
import signal
import time
import warnings
from collections.abc import Callable
from typing import Final

SECONDS_MAX: Final = 10.0
MEMORY_BYTES_MAX: Final = 512 * 1024 * 1024  # beyond what the worker itself has
ANSWER_BYTES_MAX: Final = 32 * 1024 * 1024
READ_BYTES: Final = 65_536
_AT_ONCE = asyncio.Semaphore(2)


class Died(Exception):
    """The process ended without an answer; the sentence says how."""


async def run(work: Callable[[], bytes], *, seconds: float = SECONDS_MAX) -> bytes:
    """What `work` gives, from a process of its own; raises Died. `work` must not raise."""
    async with _AT_ONCE:
        reading, writing = os.pipe()
        with warnings.catch_warnings():  # of forks beside threads: the copy uses nothing that they could hold
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
    """The other process: its limits, the work, its answer, its end."""
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
    """Read until the other process ends, at most so long; then see to its end."""
    deadline = time.monotonic() + seconds
    answer = bytearray()
    is_late = False
    try:
        while True:
            ready, _, _ = select.select([reading], [], [], max(deadline - time.monotonic(), 0.0))
            is_late = not ready or len(answer) > ANSWER_BYTES_MAX
            piece = b"" if is_late else os.read(reading, READ_BYTES)
            if not piece:
                break
            answer += piece
    finally:
        os.close(reading)
        if is_late:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if is_late:
        raise Died(f"it took more than {seconds:g} seconds")
    if code < 0:
        raise Died(f"it was killed by signal {-code}")
    if code > 0:
        raise Died(f"its process ended with {code}")
    return bytes(answer)
