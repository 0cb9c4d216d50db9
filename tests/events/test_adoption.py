"""A log that came with a dump of another cluster: its transactions are of another count, and nothing gets lost."""

import pytest

from afterword import db, ids
from afterword.errors import FieldError, Invalid
from afterword.events import service, store
from afterword.events.log import service as log
from afterword.events.service import NewEvent
from tests.conftest import House, settled

AHEAD = 10_000_000_000  # transactions that the other cluster had had, and this one has not


async def record(pool: db.Pool, house: House, count: int) -> None:
    """Events, each of a transaction of its own."""
    for _ in range(count):
        async with db.transaction(pool) as database:
            new = NewEvent(house.organization_id, ids.secret(), "test.event", None, None, None, "worker", None, {})
            await service.record(database, events=[new])


async def read(pool: db.Pool, reader: str, limit: int = 500, *, is_blind: bool = False) -> list[int]:
    """What the reader has not had, which it has had by that."""
    if not is_blind:
        await settled(pool)
    async with db.transaction(pool) as database:
        assert await store.claim_reader(database, reader=reader)
        events, _ = await store.list_unread_events(database, reader=reader, types=["test.event"], limit=limit)
        if events:
            await store.settle_reader(database, reader=reader, last=events[-1])
        return [event.seq for event in events if event.type == "test.event"]


async def other_events(pool: db.Pool) -> int:
    """Those that the house was built with, which come first."""
    async with db.connection(pool) as database:
        return await database._connection.fetchval("select count(*) from event where type <> 'test.event'")


async def restore(pool: db.Pool) -> None:
    """What a dump of a cluster that is ahead by so many transactions brings."""
    async with db.connection(pool) as database:
        for table in ("event", "event_cursor", "event_horizon"):
            await database._connection.execute(
                f"update {table} set xid = (xid::text::bigint + {AHEAD})::text::xid8 where xid > '0'"
            )


async def adopt(pool: db.Pool) -> int | None:
    async with db.transaction(pool) as database:
        return await log.adopt(database)


@pytest.mark.parametrize("written", [0, 3])
async def test_each_reader_goes_on_where_it_was(pool: db.Pool, house: House, written: int) -> None:
    """Nothing is missed and nothing is told twice, whatever was written before somebody noticed."""
    await record(pool, house, 9)
    assert 9 == len(await read(pool, "first"))
    await record(pool, house, 4)
    others = await other_events(pool)
    assert 11 == len(await read(pool, "second", limit=others + 11))
    assert 0 == len(await read(pool, "new", limit=0))
    await restore(pool)
    await record(pool, house, written)
    assert [] == await read(pool, "first", is_blind=True), "it is blind: that is the fault"

    assert await adopt(pool) is not None
    await record(pool, house, 2)

    async with db.connection(pool) as database:
        rows = await database._connection.fetch("select seq from event where type = 'test.event' order by seq")
    everything = [row["seq"] for row in rows]
    assert 13 + written + 2 == len(everything)
    assert everything[9:] == sorted(await read(pool, "first"))
    assert everything[11:] == sorted(await read(pool, "second"))
    assert everything == sorted(await read(pool, "new"))
    assert everything == sorted(await read(pool, "a later one"))
    assert [[], [], []] == [await read(pool, reader) for reader in ("first", "second", "new")]


async def test_a_second_time(pool: db.Pool, house: House) -> None:
    """A dump of a log that had been adopted before."""
    await record(pool, house, 3)
    await read(pool, "first")
    for _ in range(3):
        await restore(pool)
        await record(pool, house, 1)
        assert await adopt(pool) is not None
        assert await adopt(pool) is None
        assert 1 == len(await read(pool, "first"))
    assert 6 == len(await read(pool, "second"))


async def test_nothing_to_adopt(pool: db.Pool, house: House) -> None:
    await record(pool, house, 3)
    await read(pool, "first", limit=await other_events(pool))
    assert await adopt(pool) is None
    assert 3 == len(await read(pool, "first"))


async def test_a_log_that_was_pruned_whole(pool: db.Pool, house: House) -> None:
    """Only the readers' places are of the other cluster."""
    await record(pool, house, 3)
    await read(pool, "first")
    async with db.connection(pool) as database:
        await database._connection.execute("delete from event")
    await restore(pool)
    await record(pool, house, 2)
    assert await adopt(pool) is not None
    assert 2 == len(await read(pool, "first"))


async def test_a_cursor_of_the_other_cluster_is_refused(pool: db.Pool, house: House) -> None:
    """To a client that goes on with it nothing new would ever come."""
    wrong = FieldError("invalid_cursor", "Start again.", parameter="cursor")
    async with db.connection(pool) as database:
        with pytest.raises(Invalid):
            await log.require_kept(database, organization_id=house.organization_id, place=(AHEAD, 1), wrong=wrong)
