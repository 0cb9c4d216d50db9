"""The event log: refused doubles, order, completeness."""

from collections.abc import AsyncIterator

import pytest

from afterword import db, ids
from afterword.events import service, store
from afterword.events.service import NewEvent

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
        questionnaire_id=None,
        actor_kind="worker",
        actor_id=None,
        data={"text": 'é "quoted" \\ {}', "number": 1.5, "null": None, "list": [1, [2]]},
        is_terminal=is_terminal,
    )


async def test_second_end_of_an_item(database: db.Database) -> None:
    await service.record(database, events=[event("queue_item.sent", is_terminal=True)])
    with pytest.raises(db.Taken):
        await service.record(database, events=[event("queue_item.failed", is_terminal=True)])


async def test_unknown_actor(database: db.Database) -> None:
    wrong = NewEvent(ORGANIZATION, ids.secret(), "x", None, None, None, "somebody", None, {})
    with pytest.raises(Exception, match="actor_kind"):
        await service.record(database, events=[wrong])


async def test_other_organization(database: db.Database) -> None:
    await service.record(database, events=[event("queue_item.created", organization_id="p" * 22)])
    assert [] == await store.list_events(database, organization_id=ORGANIZATION)


async def test_nothing_to_record(database: db.Database) -> None:
    await service.record(database, events=[])
    assert 0 == await database.fetch_value("select count(*) from event")


async def test_batch_keeps_order_and_content(database: db.Database) -> None:
    wanted = [event(f"queue_item.{number}") for number in range(300)]
    await service.record(database, events=wanted)
    found = await store.list_events(database, organization_id=ORGANIZATION, subject_id=ITEM)
    assert [one.event_id for one in wanted] == [one.event_id for one in found]
    assert [dict(one.data) for one in wanted] == [one.data for one in found]
    assert (7, None, "worker", None, False, False) == (
        found[0].subject_version,
        found[0].questionnaire_id,
        found[0].actor_kind,
        found[0].actor_id,
        found[0].test,
        found[0].is_terminal,
    )
    assert 1 == len(await store.list_events(database, organization_id=ORGANIZATION, type_name="queue_item.7"))
