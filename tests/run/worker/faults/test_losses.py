"""A standby that lags takes over: nothing is mailed twice without a record, and what is gone is counted and told."""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg
import pytest

from afterword.run.worker.guard import CHECK_SECONDS
from tests.journeys import processes
from tests.run.worker.faults import nodes
from tests.run.worker.faults.nodes import Network, Node
from tests.run.worker.faults.rig import SLOTS, Rig
from tests.run.worker.faults.test_nodes import (
    BACK_SECONDS_MAX,
    SINK_PORT,
    Outside,
    _all_at_once,
    folder,
    orders_of,
    rig_on,
    start,
)
from tests.sizes import one_of

__all__ = ["folder"]

pytestmark = pytest.mark.faults
WORKERS = 2
LEASE_SECONDS = 60.0  # longer than a fail-over takes, as in production
PAUSE_SECONDS = 0.2  # of the sink, a mail
FRESH = 2  # new items, every tenth of a second
LOSS = re.compile(r"(\d+) events at least, of (\d+) attempts to send, .*? of (\d+) items that are gone")


@dataclass(frozen=True)
class Case:
    lag_seconds: float
    is_fresh: bool  # items are acknowledged, and sent, that the standby never hears of

    @property
    def items(self) -> int:
        """For the first mails and the time of the lag, and some more; few where new ones are to be sent at once."""
        return 60 if self.is_fresh else 150 + int(self.lag_seconds * WORKERS * SLOTS / PAUSE_SECONDS)

    def __str__(self) -> str:
        return f"{self.lag_seconds:g} s behind{', with new items' if self.is_fresh else ''}"


CASES = [Case(0, is_fresh=True), *(Case(lag, is_fresh=fresh) for lag in (2, 12) for fresh in (False, True))]


@pytest.mark.parametrize("case", one_of(CASES), ids=str)
async def test_a_standby_takes_over(case: Case, folder: Path, record_property: Callable[[str, object], None]) -> None:
    with nodes.network() as network:
        one, other, outside = network.add("db1"), network.add("db2"), network.add("sink")
        homes = [network.add(f"w{number}") for number in range(WORKERS)]
        async with (
            nodes.pair(one, other, folder, is_synchronous=False) as (primary, standby),
            rig_on(primary, folder, record_property, items=case.items) as rig,
        ):
            rig.target = target = Outside(file=folder / "accepted")
            children = [
                start(outside, ["-m", "tests.sending.channels.sink", "--host", outside.address,
                                "--port", str(SINK_PORT), "--file", str(target.file),
                                "--pause", str(PAUSE_SECONDS)], folder)
            ]  # fmt: skip
            try:
                orders = replace(orders_of(primary, standby, outside), lease_seconds=LEASE_SECONDS)
                workers = [start(home, ["-m", "tests.run.worker.faults.runner", orders.text], folder) for home in homes]
                children += workers
                await _all_at_once(rig, workers)
                await rig.until(lambda: target.read() >= 50, seconds=BACK_SECONDS_MAX, what="mails leave")
                await _fail_over(rig, network, primary, standby, case)
                is_paused = await _ended_or_paused(rig)
                if is_paused:
                    await rig.connection.execute(
                        """update sending_guard set paused_time = null, paused_reason = null,
                             confirmed_time = now() where paused_time is not null"""
                    )
                await rig.drained()
                await _judge(rig, case, is_paused=is_paused)
            except BaseException:
                print(*(f"\n{child.name}: {child.tail()}" for child in children))  # noqa: T201
                raise
            finally:
                for child in children:
                    processes.kill_tree(child)


async def _fail_over(rig: Rig, network: Network, primary: Node, standby: Node, case: Case) -> None:
    """The standby hears nothing for so long; then the primary loses its power, with all that it had not sent."""
    if case.lag_seconds:
        network.cut(standby.machine)
    until = time.monotonic() + case.lag_seconds
    while True:
        if case.is_fresh:
            await rig.schedule(FRESH)
        if time.monotonic() >= until:
            break
        await asyncio.sleep(0.1)
    network.cut(primary.machine)
    primary.kill()
    network.mend(standby.machine)
    await standby.promote()
    rig.connection.terminate()
    rig.connection = await asyncpg.connect(standby.url)


async def _ended_or_paused(rig: Rig) -> bool:
    """True if sending was paused."""

    async def paused() -> bool:
        return await rig.connection.fetchval("select exists (select from sending_guard where paused_time is not null)")

    async def either() -> bool:
        if await paused():
            return True
        met = await rig.connection.fetchval("select count(*) from sending_worker where timeline > 1")
        has_compared = met == WORKERS and (await _told(rig))[2] == 0  # else the pause follows
        return has_compared and await rig.nothing_open()

    await rig.until(either, seconds=3 * BACK_SECONDS_MAX, what="all is sent, or paused")
    return await paused()


async def _told(rig: Rig) -> tuple[int, int, int]:
    """The sums of what workers told: events, attempts recorded again, items that are gone."""
    text = await rig.connection.fetchval("select loss_text from sending_guard")
    told = [tuple(map(int, found)) for found in LOSS.findall(text or "")]
    events, recorded, gone = (sum(each) for each in zip((0, 0, 0), *told, strict=True))
    return events, recorded, gone


async def _judge(rig: Rig, case: Case, *, is_paused: bool) -> None:
    assert isinstance(rig.target, Outside)
    rig.target.read()
    figures = await rig.count()
    events, recorded, gone = await _told(rig)
    lost = figures.wrong.pop("acknowledged_missing", 0)
    of_nobody = figures.wrong.pop("sent_of_nobody", 0)
    rig.tell(
        f"T34 {case}: {figures.line}; {lost} acknowledged items lost, {of_nobody} mails of them; told: {events} events,"
        f" {recorded} recorded again, {gone} gone; {'paused' if is_paused else 'not paused'}"
    )
    assert {} == figures.wrong
    assert figures.unknown <= recorded, "all that is unknown or late was recorded again"
    assert of_nobody <= gone <= of_nobody + WORKERS * SLOTS, "what was being sent may have been refused"
    assert is_paused == (gone > 0)
    if case.lag_seconds:
        assert recorded > 0
        assert (lost > 0, gone > 0) == (case.is_fresh, case.is_fresh)
        # A worker looks at the log this often: of what came and went between two looks it knows no event.
        assert events > 0 or case.lag_seconds < CHECK_SECONDS
