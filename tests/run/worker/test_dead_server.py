"""T21, the dead half: a mail server that dies amid sending is tried by one mail a rest, and costs nobody an attempt.

The rest of 30 seconds is real at full size; in every run it is shorter, and so is the time that the server is dead.
"""

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import Final

import pytest

from afterword.core.scheduling import retries
from tests import machine
from tests.bar import Tell
from tests.run.worker.conftest import RIG, Bench
from tests.run.worker.faults.rig import DRAIN_SECONDS_MAX, size
from tests.run.worker.test_smtp import over
from tests.sending.channels.sink import Fault, Phase, Sink

FACTOR: Final = size(1, 30) / 30  # of all waits: the account's rests, and those of items between attempts
REST_SECONDS: Final = retries.BREAKER_SECONDS * FACTOR
DEAD_SECONDS: Final = 60 * FACTOR
BACK_SECONDS_MAX: Final = 30 * FACTOR  # until the full rate is back
NOTICED_SECONDS_MAX: Final = 2.0  # beside that: rests end between two polls, and probes take time
MESSAGES: Final = size(200, 1_000)
PAUSE_SECONDS: Final = 0.1  # of the server, twice a mail: its slots set the rate, so all of them in use is the full one
SLOTS: Final = 10
HELD_MAX: Final = 2 * SLOTS  # items in a worker's hands: being sent, and as many again whose outcome is being written
BEFORE: Final = 60  # mails that are taken before it dies
REST_LEFT: Final = "select extract(epoch from open_until - now())::float8 from channel_account where open_until > now()"
ALL_IN_USE: Final = "select count(*) >= $1 from queue_item where status in (2, 3)"
PACE: Final = replace(RIG, slots=SLOTS, backoff_factor=FACTOR)
# A conversation that has come as far as RCPT goes on to its end: from there on a broken one may be the recipient's
# fault, and counts (test_every_phase_and_fault of the channel).
DEAD: Final[tuple[Phase, ...]] = ("greeting", "ehlo", "mail")


@dataclass
class Mortal(Sink):
    """A sink that dies and lives again; it notes when somebody called in vain."""

    pause: float = PAUSE_SECONDS
    keep: bool = False
    calls: list[float] = field(default_factory=list[float])

    def die(self) -> None:
        self.faults = {phase: Fault("drop") for phase in DEAD}

    def live(self) -> None:
        self.faults = {}

    def fault(self, phase: Phase) -> Fault | None:
        fault = super().fault(phase)
        if fault is not None and phase == "greeting":
            self.calls.append(time.monotonic())
        return fault

    async def asked(self, *, after: float) -> None:
        """Until somebody has called in vain: a slow machine may be late to look whether it is back."""
        async with asyncio.timeout(DRAIN_SECONDS_MAX):
            while not any(moment > after for moment in self.calls):
                await asyncio.sleep(0.01)

    async def took(self, count: int) -> None:
        async with asyncio.timeout(DRAIN_SECONDS_MAX):
            while self.count < count:
                await asyncio.sleep(0.01)


async def test_a_server_that_dies_amid_sending(bench: Bench, tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "BREAKER_SECONDS", REST_SECONDS)
    monkeypatch.setattr(retries, "BREAKER_SECONDS_MAX", retries.BREAKER_SECONDS_MAX * FACTOR)
    for number in range(MESSAGES):
        await bench.queue.schedule(f"a{number}@example.com")
    async with Mortal() as sink, over(bench, sink.url) as smtp, smtp.worker(PACE):
        await sink.took(BEFORE)
        await bench.until(ALL_IN_USE, SLOTS)
        died = time.monotonic()
        sink.die()
        async with asyncio.timeout(DRAIN_SECONDS_MAX):
            opened = time.monotonic()
            while (rest := await bench.queue.value(REST_LEFT)) is None:
                opened = time.monotonic()
        ends = opened + rest
        await asyncio.sleep(DEAD_SECONDS)  # that is the fault
        await sink.asked(after=opened + REST_SECONDS / 2)
        sink.live()
        lived, left = time.monotonic(), MESSAGES - sink.count
        await bench.until(ALL_IN_USE, SLOTS)
        back = time.monotonic() - lived
        async with asyncio.timeout(DRAIN_SECONDS_MAX):
            while await bench.queue.value("select exists (select from queue_item where status < 4)"):
                await asyncio.sleep(0.1)
    calls = [moment for moment in sink.calls if moment > opened]
    probes = [moment for moment in calls if moment > opened + REST_SECONDS / 2]
    tell(
        f"dead for {DEAD_SECONDS:g} s with {left} messages to go: noticed after {opened - died:.2f} s, {len(probes)} "
        f"probes in rests of {REST_SECONDS:g} s and more, the full rate back {back:.2f} s after; no attempt counted"
    )
    assert MESSAGES == sink.count
    counted = "select outcome, reply from attempt join queue_item using (organization_id, item_id) where attempts > 1"
    assert [] == [tuple(row.values()) for row in await bench.queue.fetch(counted)]
    assert MESSAGES == await bench.queue.value("select count(*) from queue_item where status = 4")
    assert len(calls) - len(probes) <= HELD_MAX, "more than what was under way when the rest began"
    assert min(probes) >= ends, "a probe before the rest was over"
    assert len(probes) <= 1 + (lived - ends) / REST_SECONDS, "two probes in one rest"
    assert not machine.is_over(back - BACK_SECONDS_MAX, limit=NOTICED_SECONDS_MAX)
