"""The event log: refused doubles, order, completeness."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any

import asyncpg
import pytest
from msgspec.structs import replace

from afterword import errors, ids
from afterword.events import service
from afterword.events.service import Event, NewEvent
from afterword.kit import db
from afterword.sending.queue import restores
from tests.conftest import settled
from tests.event_log import list_events
from tests.journeys.processes import until

ORGANIZATION = "o" * 22
ITEM = "i" * 22


@pytest.fixture
async def database(pool: db.Pool) -> AsyncIterator[db.Database]:
    async with db.connection(pool) as database:
        yield database


def event(type_name: str, *, organization_id: str = ORGANIZATION, is_terminal: bool = False) -> NewEvent:
    return NewEvent(
        organization_id=organization_id,
        event_id=ids.secret(),
        type=type_name,
        subject_id=ITEM,
        subject_version=7,
        data={"text": 'é "quoted" \\ {}', "number": 1.5, "null": None, "list": [1, [2]]},
        is_terminal=is_terminal,
    )


async def test_second_end_of_an_item(database: db.Database) -> None:
    await service.record(database, events=[event("queue_item.sent", is_terminal=True)])
    with pytest.raises(db.Taken):
        await service.record(database, events=[event("queue_item.failed", is_terminal=True)])


async def test_unknown_actor(database: db.Database) -> None:
    wrong = replace(event("x"), actor_kind="somebody")
    with pytest.raises(Exception, match="actor_kind"):
        await service.record(database, events=[wrong])


async def test_other_organization(database: db.Database) -> None:
    await service.record(database, events=[event("queue_item.created", organization_id="p" * 22)])
    assert [] == await list_events(database, organization_id=ORGANIZATION)


async def test_nothing_to_record(database: db.Database) -> None:
    await service.record(database, events=[])
    assert 0 == await database.fetch_value("select count(*) from event")


async def test_batch_keeps_order_and_content(database: db.Database) -> None:
    wanted = [event(f"queue_item.{number}") for number in range(300)]
    await service.record(database, events=wanted)
    found = await list_events(database, organization_id=ORGANIZATION, subject_id=ITEM)
    assert [one.event_id for one in wanted] == [one.event_id for one in found]
    assert [dict(one.data) for one in wanted] == [one.data for one in found]
    names = ("subject_version", "questionnaire_id", "actor_kind", "actor_id", "test", "is_terminal")
    assert (7, None, "worker", None, False, False) == tuple(getattr(found[0], name) for name in names)
    assert 1 == len(await list_events(database, organization_id=ORGANIZATION, type_name="queue_item.7"))


async def test_reader_passes_each_event_once(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await service.record(database, events=[event(f"tag.{n}") for n in range(7)])
    await settled(pool)
    found: list[str] = []
    passed = 3
    while passed == 3:
        async with db.transaction(pool) as database:
            events, passed = await service.read_next(database, reader="test", types={"tag.1", "tag.5"}, limit=3)
            found += [each.type for each in events]
    assert ["tag.1", "tag.5"] == found


async def test_reader_waits_for_transactions_that_may_still_commit(pool: db.Pool) -> None:
    async with db.transaction(pool) as slow:
        await service.record(slow, events=[event("tag.slow")])
        async with db.transaction(pool) as quick:
            await service.record(quick, events=[event("tag.quick")])
        async with db.transaction(pool) as database:
            assert ([], 0) == await service.read_next(database, reader="test", types={"tag.quick"}, limit=9)
    await settled(pool)
    async with db.transaction(pool) as database:
        events, _ = await service.read_next(database, reader="test", types={"tag.slow", "tag.quick"}, limit=9)
    assert ["tag.slow", "tag.quick"] == [each.type for each in events]


@pytest.mark.parametrize(
    ("statement", "is_held"), [("create table other (number int)", False), ("select pg_current_xact_id()", True)]
)
async def test_transactions_of_other_databases(
    pool: db.Pool, server_url: str, statement: str, *, is_held: bool
) -> None:
    """One that holds a table there never writes an event here; of any other nobody can tell."""
    await settled(pool)
    other: Any = await asyncpg.connect(server_url)
    try:
        await other.execute("begin")
        await other.execute(statement)
        async with db.transaction(pool) as quick:
            await service.record(quick, events=[event("tag.quick")])

        async def is_read() -> bool:
            async with db.transaction(pool) as database:
                _, passed = await service.read_next(database, reader="test", types={"tag.quick"}, limit=9)
            return passed == 1

        if is_held:
            assert not await is_read()
            async with db.connection(pool) as database:
                _, whose = await restores.get_oldest_transaction(database)
            assert "in the database “afterword”" in whose
        else:
            await until(is_read, seconds=30, what="what others of this run have under way has ended")
    finally:
        await other.close()


async def test_reader_that_fails_reads_again(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await service.record(database, events=[event("tag.added")])
    await settled(pool)
    await _fail_to_read(pool)
    async with db.transaction(pool) as database:
        events, _ = await service.read_next(database, reader="test", types={"tag.added"}, limit=9)
    assert 1 == len(events)


async def test_one_process_reads_at_a_time(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await service.read_next(database, reader="test", types=(), limit=1)
        await service.record(database, events=[event("tag.added")])
    await settled(pool)
    async with db.transaction(pool) as first:
        assert 1 == (await service.read_next(first, reader="test", types={"tag.added"}, limit=9))[1]
        async with db.transaction(pool) as second:
            assert ([], 0) == await service.read_next(second, reader="test", types={"tag.added"}, limit=9)


async def _fail_to_read(pool: db.Pool) -> None:
    with suppress(RuntimeError):
        async with db.transaction(pool) as database:
            assert 1 == (await service.read_next(database, reader="test", types={"tag.added"}, limit=9))[1]
            raise RuntimeError


async def test_bad_event_is_passed_over_alone(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await service.record(database, events=[event(f"tag.{n}") for n in range(3)])
    await settled(pool)
    async with db.transaction(pool) as database:

        async def handle(events: Sequence[Event]) -> None:
            for each in events:
                await service.record(database, events=[event(f"{each.type}.handled")])
                if each.type == "tag.1":
                    await database.execute("select 1 / 0")

        types = {f"tag.{n}" for n in range(3)}
        assert 3 == await service.handle_next(database, reader="test", types=types, limit=9, handle=handle)
    async with db.connection(pool) as database:
        found = await list_events(database, organization_id=ORGANIZATION)
    assert ["tag.0.handled", "tag.2.handled"] == [each.type for each in found if each.type.endswith("handled")]


async def test_database_that_is_away_fails_all(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await service.record(database, events=[event("tag.1")])
    await settled(pool)

    async def handle(_: Sequence[Event]) -> None:
        raise errors.Unavailable("away")

    async def read() -> None:
        async with db.transaction(pool) as database:
            await service.handle_next(database, reader="test", types={"tag.1"}, limit=9, handle=handle)

    for _ in range(2):
        with pytest.raises(errors.Unavailable):
            await read()
