"""Work in a process of its own: its answer, or how it ended. The worker that asked lives on."""

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from afterword.run.worker import isolation
from afterword.run.worker.isolation import Died

DEADLINE_SECONDS = 30.0


def kill() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def exit_at_once() -> bytes:
    os._exit(137)


def turn_for_ever() -> bytes:
    while True:
        pass


def eat() -> bytes:
    pieces = []
    while True:
        pieces.append(bytearray(64 * 1024 * 1024))


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (kill, "killed by signal 9"),
        (exit_at_once, "ended with 137"),
        (turn_for_ever, "more than 0.5 seconds"),
        (eat, "ended with 1"),
    ],
)
async def test_died(work: "isolation.Callable[[], bytes]", words: str) -> None:
    seconds = 0.5 if work is turn_for_ever else DEADLINE_SECONDS
    with pytest.raises(Died, match=words):
        await isolation.run(work, seconds=seconds)


async def test_the_loop_turns_meanwhile() -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.01)

    turning = asyncio.create_task(turn())
    await isolation.run(lambda: time.sleep(0.3) or b"", seconds=DEADLINE_SECONDS)
    turning.cancel()
    assert turns > 3


async def test_cancelled() -> None:
    running = asyncio.create_task(isolation.run(turn_for_ever, seconds=DEADLINE_SECONDS))
    await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, DEADLINE_SECONDS)


class TestLocks:
    """The copy has the locks that other threads held, and not these threads."""

    async def test_the_next_copy_has_its_chance(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(isolation, "STALL_SECONDS_MAX", 0.2)
        lock, begun = threading.Lock(), tmp_path / "begun"

        def work() -> bytes:
            begun.touch()
            with lock:
                return b"done"

        def lease_key() -> None:
            deadline = time.monotonic() + DEADLINE_SECONDS
            while not begun.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            lock.release()

        lock.acquire()
        holding = asyncio.create_task(asyncio.to_thread(lease_key))
        assert b"done" == await isolation.run(work, seconds=DEADLINE_SECONDS)
        await holding

    async def test_never_released(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(isolation, "STALL_SECONDS_MAX", 0.1)
        lock = threading.Lock()
        with lock, pytest.raises(Died, match="stood still"):
            await isolation.run(lambda: bytes(lock.acquire()), seconds=DEADLINE_SECONDS)

    async def test_work_is_no_waiting(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(isolation, "STALL_SECONDS_MAX", 0.2)
        with pytest.raises(Died, match="more than 2 seconds"):
            await isolation.run(turn_for_ever, seconds=2.0)


async def test_ok() -> None:
    content = os.urandom(300_000)  # more than a pipe holds

    assert content == await isolation.run(lambda: content)
