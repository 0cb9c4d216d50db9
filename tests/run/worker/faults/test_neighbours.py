"""T18, the sending half: what one organization has waiting does not make another wait."""

import asyncio
import time
from functools import partial

import pytest

from afterword.core.messaging.networks import networks_of
from afterword.core.wire.site import Site
from afterword.events.webhooks import WEBHOOK
from afterword.kit import db
from afterword.kit.nouns import service
from tests.conftest import build_house
from tests.journeys.processes import until
from tests.run.worker.faults.rig import SECRET, Lossy, Rig, size
from tests.sending.channels.receiver import Receiver, Reply

pytestmark = pytest.mark.faults

DUE = size(5_000, 100_000)
ALONE_SECONDS = size(3, 20)
SECONDS = size(8, 60)
LATE_SECONDS_MAX = 1.0  # p99
QUEUED_SHARE_MAX = 0.1  # of the time that B would wait if it stood behind A: where the machine is slow, so is that
KEPT_SHARE_MIN = size(50, 80) / 100  # of what A gets alone; few seconds beside other processes tell less
SLOTS = 50
PAUSE_SECONDS = 0.1  # of the mail server, twice a mail: all slots together send 250 a second
HANGING_MAX = 2  # calls at a time to a target that hangs


async def test_one_item_a_second_beside_many(rig: Rig) -> None:
    """A has thousands due and a webhook target that takes calls and never answers; B has an item a second."""
    await rig.fill(organizations=1, lanes=2, items=0)
    lanes = await rig.lanes()
    other = await build_house(rig.pool, domain="other")
    await rig.connection.execute("update channel_account set slots_max = $1", SLOTS)  # so A could take all of them
    async with rig.sink(pause=PAUSE_SECONDS) as sink, Receiver(reply=Reply(way="silence")) as hanging:
        await _hook(rig, hanging.url)
        await rig.schedule(DUE, lanes=lanes)
        async with rig.workers(count=1, slots=SLOTS, networks="127.0.0.0/8"):
            await until(lambda: sink.count)
            alone = await _rate(sink, ALONE_SECONDS)
            began, before, most = time.monotonic(), sink.count, 0
            for _ in range(SECONDS):
                await rig.schedule(1, lanes=[(other, other.pipeline_id)])
                await asyncio.sleep(1)
                most = max(most, len(hanging.given))
            rate = (sink.count - before) / (time.monotonic() - began)
            waiting = (await rig.states()).get(1, 0)
            late = await until(partial(_late, rig, other.organization_id, number=SECONDS), what="B was left out")
            most_claimed = await rig.connection.fetchval("select count(*) from delivery where state = 'claimed'")
            await rig.connection.execute("update queue_item set not_after = now(), due_time = now() where status = 1")
            await rig.drained()
    p99, behind = late[int(len(late) * 0.99)], waiting / rate
    rig.tell(
        f"T18 B's {len(late)} items late p99 {p99 * 1000:.0f} ms beside {DUE} of A ({alone:.0f} sent a second alone, "
        f"{rate:.0f} then, {behind:.0f} s still to go); the hanging target holds {most_claimed} slots"
    )
    assert waiting, "A had nothing left, so B had no neighbour"
    assert 0 < most
    assert most_claimed <= HANGING_MAX
    assert p99 <= max(LATE_SECONDS_MAX, QUEUED_SHARE_MAX * behind)
    assert rate >= KEPT_SHARE_MIN * alone
    await rig.reconcile(unknown_max=0)


async def _rate(sink: Lossy, seconds: float) -> float:
    """Mails a second, for so long."""
    began, before = time.monotonic(), sink.count
    await asyncio.sleep(seconds)
    return (sink.count - before) / (time.monotonic() - began)


async def _hook(rig: Rig, url: str) -> None:
    """A webhook of A for everything."""
    house = rig.houses[0]
    columns = {"title": "Shop", "target_url": url, "event_types": ["*"], "active": True}
    columns |= {"questionnaire_id": None, "application_id": None}
    async with db.transaction(rig.pool) as database:
        site = Site(rig.public_url, SECRET.encode(), networks_of("127.0.0.0/8"))
        now = database.clock.now()
        await service.create(WEBHOOK, database, caller=house.caller, columns=columns, site=site, now=now)


async def _late(rig: Rig, organization_id: str, *, number: int) -> list[float] | None:
    """Seconds between due and begun, once so many items have begun."""
    rows = await rig.connection.fetch(
        """select extract(epoch from min(a.begin_time) - i.due_time)::float8 as seconds
           from queue_item i join attempt a using (organization_id, item_id)
           where organization_id = $1 group by organization_id, item_id, i.due_time""",
        organization_id,
    )
    return sorted(row["seconds"] for row in rows) if len(rows) == number else None
