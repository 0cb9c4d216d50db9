"""Old items go, in their order, counted; never one that somebody still needs."""

from datetime import timedelta

import pytest

from afterword.core.scheduling.statuses import Item
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.sending.queue import retention
from afterword.sending.queue.retention import FAILED_DAYS_MIN, RetentionCursor
from tests.bar import Tell
from tests.conftest import House, settled
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_endings import ENDS, End

DAYS = 60
HOUR = 1 / 24
START = RetentionCursor()
DEAD = [end for end, status in ENDS.items() if status in {Item.FAILED, Item.UNCERTAIN}]


@pytest.fixture
async def read(queue: Queue) -> Queue:
    """A queue whose events every reader has seen."""
    await queue.execute("insert into event_cursor (reader, xid) values ('all', '9223372036854775807')")
    return queue


async def prune(
    queue: Queue, *, days: int = DAYS, later: float = DAYS + 1, mark: RetentionCursor = START, limit: int = 100
) -> RetentionCursor:
    """One step, so many days from now."""
    async with db.transaction(queue.pool) as database:
        now = database.clock.now() + timedelta(days=later)
        _, mark = await retention.prune(database, cursor=mark, days=days, now=now, limit=limit)
    return mark


async def left(queue: Queue) -> list[int]:
    return [row["status"] for row in await queue.fetch("select status from queue_item order by item_id")]


async def test_what_has_ended_long_ago_goes_with_its_attempts(read: Queue) -> None:
    await read.sent(outcome=Sent())
    waiting = await read.schedule("bob@example.com")
    await prune(read, later=DAYS - 1)
    assert [Item.SENT, Item.SCHEDULED] == await left(read)
    await prune(read, days=0)
    assert [Item.SENT, Item.SCHEDULED] == await left(read)
    await prune(read)
    assert [waiting.item_id] == [row["item_id"] for row in await read.fetch("select item_id from queue_item")]
    assert 0 == await read.value("select count(*) from attempt")
    assert {Item.SENT: 1} == await read.run(retention.count_pruned)


@pytest.mark.parametrize("end", DEAD, ids=lambda end: end.__name__)
async def test_a_dead_letter_stays_for_thirty_days(read: Queue, end: End, tell: Tell) -> None:
    """Whatever it died of, and however soon the operators let go of all else."""
    await end(read)
    await prune(read, days=1, later=FAILED_DAYS_MIN - HOUR)
    kept = len(await left(read))
    await prune(read, days=1, later=FAILED_DAYS_MIN + HOUR)
    removed = kept - len(await left(read))
    counted = await read.run(retention.count_pruned)
    tell(
        "{dead} dead letters: {kept} kept before 30 days, {removed} removed after, {counted} counted as removed",
        dead=1, kept=kept, removed=removed, counted=sum(counted.values()), whole=len(DEAD),
    )  # fmt: skip
    assert FAILED_DAYS_MIN >= 30
    assert (1, 1) == (kept, removed)
    assert {ENDS[end]: 1} == counted


async def test_an_open_attempt_keeps_its_item(read: Queue) -> None:
    await read.sent(outcome=Sent())
    await read.execute("update attempt set outcome = null, finish_time = null")
    await prune(read)
    assert [Item.SENT] == await left(read)


async def test_an_unread_event_keeps_its_item(queue: Queue) -> None:
    await queue.sent(outcome=Sent())
    await queue.execute("insert into event_cursor (reader) values ('behind'), ('all')")
    await queue.execute("update event_cursor set xid = '9223372036854775807' where reader = 'all'")
    await prune(queue)
    assert [Item.SENT] == await left(queue)
    await settled(queue.pool)
    await queue.execute("update event_cursor set xid = pg_current_xact_id()")
    await prune(queue)
    assert [] == await left(queue)


async def test_the_walk_goes_through_all_organizations_and_begins_anew(read: Queue, neighbour: House) -> None:
    theirs = Queue(read.pool, neighbour, neighbour.pipeline_id)
    for house in (read, theirs):
        for number in range(3):
            item = await house.schedule(f"person{number}@example.com")
            await house.cancel(item)
    mark, steps = START, 0
    while steps == 0 or mark != START:
        mark = await prune(read, mark=mark, limit=2)
        steps += 1
        assert steps < 10
    assert [] == await left(read)
    assert 5 <= steps
