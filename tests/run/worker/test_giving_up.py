"""An item that cannot be made ready while the database is away: it is given up once, and only by who holds it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from afterword import errors
from afterword.kit import db
from afterword.sending.messages import composing
from afterword.sending.messages.composing import MessageContext
from afterword.sending.queue.sending import service as sending
from afterword.sending.queue.sending import store
from tests.run.worker.conftest import DEADLINE_SECONDS, RIG, Bench, Logs
from tests.run.worker.test_sender import FAILED, PATIENT, SENT

REFUSALS = 5


@dataclass
class Outage:
    """While `is_on`, no transaction begins; and how many tried."""

    is_on: bool = False
    refused: int = 0


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Outage:
    """The database goes away as the first item cannot be rendered, and stays away until the test says otherwise."""
    found, real = Outage(), db.transaction

    @asynccontextmanager
    async def transaction(pool: db.Pool) -> AsyncGenerator[db.Database]:
        if found.is_on:
            found.refused += 1
            raise errors.Unavailable("away")
        async with real(pool) as database:
            yield database

    monkeypatch.setattr(db, "transaction", transaction)
    return found


def break_rendering(monkeypatch: pytest.MonkeyPatch, outage: Outage, *, times: int = 1_000) -> None:
    compose, left = composing.compose_mail, [times]

    def broken(context: MessageContext) -> Any:
        if not left[0]:
            return compose(context)
        left[0] -= 1
        outage.is_on = True
        raise ZeroDivisionError("no such thing")

    monkeypatch.setattr(composing, "compose_mail", broken)


async def refused(outage: Outage, times: int) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while outage.refused < times:
            await asyncio.sleep(0.01)


async def test_it_is_written_when_the_database_is_back(
    bench: Bench, outage: Outage, monkeypatch: pytest.MonkeyPatch, logs: Logs
) -> None:
    item = await bench.queue.schedule()
    await bench.queue.execute("update queue_item set attempts_max = 1")
    break_rendering(monkeypatch, outage)
    async with bench.worker(PATIENT):
        await refused(outage, REFUSALS)
        row = await bench.queue.row(item)
        assert (2, 1) == (row["status"], row["attempts"])
        outage.is_on = False
        await bench.until_done()
    row = await bench.queue.row(item)
    assert FAILED == row["status"]
    assert "Rendering failed: ZeroDivisionError: no such thing" in row["result"]
    assert ["created", "failed!"] == await bench.queue.told(item)
    assert {} == bench.channel.accepted
    assert "an outcome was lost" not in logs.events


async def test_its_answer_is_lost(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was written, nobody heard, and it is written again: once."""
    item = await bench.queue.schedule()
    await bench.queue.execute("update queue_item set attempts_max = 1")
    break_rendering(monkeypatch, Outage())
    real, calls = sending.give_up, list[int]()

    async def losing(database: db.Database, **values: Any) -> None:
        await real(database, **values)
        calls.append(1)
        if len(calls) == 1:
            await database._connection.execute("commit")
            raise errors.Unavailable("the answer was lost")

    monkeypatch.setattr(sending, "give_up", losing)
    async with bench.worker(PATIENT):
        await bench.until_done()
        async with asyncio.timeout(DEADLINE_SECONDS):
            while len(calls) < 2:
                await asyncio.sleep(0.01)
    assert FAILED == await bench.queue.status(item)
    assert ["created", "failed!"] == await bench.queue.told(item)


async def test_another_has_it_by_then(bench: Bench, outage: Outage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lease runs out during the outage; what the first one says afterwards changes nothing."""
    item = await bench.queue.schedule()
    break_rendering(monkeypatch, outage, times=1)
    moved: list[int] = []
    real = store.settle_claimed_items

    async def counting(database: db.Database, **values: Any) -> Any:
        found = await real(database, **values)
        moved.append(len(found))
        return found

    monkeypatch.setattr(store, "settle_claimed_items", counting)
    async with bench.worker():
        await refused(outage, REFUSALS)
        await bench.queue.execute(  # as the reaper of another worker does
            "update queue_item set epoch = epoch + 1, status = 1, owner = null, lease_until = null, due_time = now()"
        )
        outage.is_on = False
        await bench.until_done()
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not moved:
                await asyncio.sleep(0.01)
    assert [0] == moved
    assert SENT == await bench.queue.status(item)
    assert {item.item_id: 1} == bench.channel.accepted


async def test_it_stays_away(bench: Bench, outage: Outage, monkeypatch: pytest.MonkeyPatch, logs: Logs) -> None:
    """Nobody waits for ever: the item is left to the reaper, and the log says so."""
    await bench.queue.schedule()
    break_rendering(monkeypatch, outage)
    pace = replace(RIG, send_seconds_max=0.3)
    async with bench.worker(pace):
        await refused(outage, 2)
        async with asyncio.timeout(DEADLINE_SECONDS):
            while "an outcome was lost" not in logs.events:
                await asyncio.sleep(0.01)
        outage.is_on = False
    assert 1 == await bench.queue.value("select count(*) from queue_item where status < 4")
