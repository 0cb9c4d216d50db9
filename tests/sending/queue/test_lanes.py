"""Open lanes on a real PostgreSQL; the statements of a batch, which pays for no rule that its lane does not have."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from afterword.core.scheduling.lanes import START
from afterword.kit import db
from afterword.sending.queue import lanes as queue_lanes
from afterword.sending.queue.lanes import Lane
from afterword.sending.queue.sending import service as sending
from tests.journeys.processes import until
from tests.sending.queue.conftest import EMAIL, LINK, OK, Queue

END = ("~", "~")
MINUTE = timedelta(minutes=1)


async def lanes(queue: Queue, **values: object) -> list[Lane]:
    return await queue.run(list_lanes, **values)


async def list_lanes(database: db.Database, **values: object) -> list[Lane]:
    known: dict[str, object] = {"after": START, "until": END, "channel_ids": [EMAIL, LINK], "busy": [], "limit": 32}
    return await queue_lanes.list_lanes(database, **{**known, **values})  # pyrefly: ignore[bad-argument-type]


async def account(queue: Queue) -> tuple[str, str]:
    return queue.house.organization_id, await queue.account_id()


class TestListLanes:
    async def test_nothing_due(self, queue: Queue) -> None:
        await queue.schedule(send_time=await queue.now() + MINUTE)

        assert [] == await lanes(queue)

    @pytest.mark.parametrize(
        "statement",
        [
            "update pipeline set paused = true",
            "update channel_account set paused_time = now()",
            "update channel_account set open_until = now() + interval '1 minute'",
            "update channel_account set rate = 1, tokens = 0.5, refilled_time = now() + interval '1 hour'",
            "update queue_item set status = 7",
        ],
    )
    async def test_closed(self, queue: Queue, statement: str) -> None:
        await queue.schedule()
        await queue.execute(statement)

        assert [] == await lanes(queue)

    async def test_left_out(self, queue: Queue) -> None:
        await queue.schedule()

        assert [] == await lanes(queue, channel_ids=[LINK])
        assert [] == await lanes(queue, busy=[await account(queue)])
        assert [] == await lanes(queue, after=queue.lane)
        assert [] == await lanes(queue, until=(queue.lane[0], ""))
        assert [] == await lanes(queue, limit=0)

    async def test_ok(self, queue: Queue) -> None:
        await queue.schedule()
        other = await queue.pipeline(channel_id=LINK, title="Link", priority=0)
        await other.schedule("key")

        found = await lanes(queue)

        assert [queue.pipeline_id, other.pipeline_id] == [lane.pipeline_id for lane in found]
        assert [(5, None, 10), (0, None, 10)] == [(lane.priority, lane.tokens, lane.slots_max) for lane in found]
        assert [found[1]] == await lanes(queue, after=queue.lane)

    async def test_a_rested_breaker_wants_a_probe(self, queue: Queue) -> None:
        await queue.schedule()
        await queue.execute("update channel_account set open_until = now() - interval '1 second', failures = 5")

        [lane] = await lanes(queue)

        assert 5 == lane.failures
        assert lane.open_until is not None

    async def test_tokens(self, queue: Queue) -> None:
        await queue.schedule()
        for passed, tokens in ((timedelta(seconds=3), 7), (timedelta(hours=1), 20)):
            async with db.transaction(queue.pool) as database:  # in one moment
                await database.execute(
                    "update channel_account set rate = 2, tokens = 1, refilled_time = now() - $1::interval", passed
                )
                assert [tokens] == [lane.tokens for lane in await list_lanes(database)]


class TestSettingsCache:
    async def test_a_change_is_seen_at_once(self, queue: Queue) -> None:
        cache = queue_lanes.SettingsCache()
        titles: list[str] = []
        for statement in ("title = 'One'", "title = 'Two'"):
            await queue.change_pipeline(statement)
            async with db.connection(queue.pool) as database:
                settings = await queue_lanes.settings_of(database, lanes=[queue.lane], cache=cache)
            titles.append(settings[queue.lane].pipeline.title)

        assert ["One", "Two"] == titles

    async def test_it_is_bounded(self, queue: Queue) -> None:
        cache = queue_lanes.SettingsCache()
        async with db.connection(queue.pool) as database:
            settings = await queue_lanes.settings_of(database, lanes=[queue.lane], cache=cache)
        cache.kept = {(str(number), ""): settings[queue.lane] for number in range(queue_lanes.LANES_KEPT_MAX)}

        cache.keep(list(settings.values()))

        assert [queue.lane] == list(cache.kept)


BATCH = 6


async def batch(queue: Queue, statements: list[str], prefix: str) -> tuple[list[str], list[str], list[str]]:
    """The statements of claiming, beginning and settling a batch to known people; settings are cached."""
    worker = queue.worker()
    for _ in range(2):
        for number in range(BATCH):
            await queue.schedule(f"{prefix}{number}@example.com")
    assert BATCH == len(await worker.send(OK, BATCH))
    statements.clear()
    dispatches = await worker.claim(BATCH)
    claimed = statements.copy()
    statements.clear()
    assert BATCH == len(await worker.begin(*dispatches))
    begun = statements.copy()
    statements.clear()
    await worker.settle(OK, *dispatches)
    return claimed, begun, statements.copy()


def counts(found: tuple[list[str], list[str], list[str]]) -> tuple[int, ...]:
    return tuple(len(one) for one in found)


async def test_statements_of_a_batch(queue: Queue, statements: list[str]) -> None:
    """Its items, stamps, people with suppressions, questionnaire, instances; its intent; its outcomes."""
    assert (5, 1, 2) == counts(await batch(queue, statements, "a"))

    await queue.change_pipeline(
        """reminders = '[{"delay_days": 3, "delay_hours": 0, "delay_minutes": 0, "messages": {}}]'"""
    )
    assert (5, 1, 2 + 3) == counts(await batch(queue, statements, "b"))

    # Others that wait; people asked lately, locked; the places that are taken.
    await queue.execute(
        """insert into contact_policy (organization_id, enabled, enabled_time, invitations_max)
           values ($1, true, '2020-01-01', 100)""",
        queue.house.organization_id,
    )
    assert (5 + 3, 1, 2 + 3) == counts(await batch(queue, statements, "c"))


async def tidy(queue: Queue) -> int:
    """As a worker does once the notes are old enough."""
    await queue.execute("update lane_due set due_time = due_time - interval '1 minute' where not closed")
    return await queue.run(queue_lanes.settle_notes, limit=500)


async def noted(queue: Queue) -> list[tuple[bool, bool]]:
    """Whether each note is due, and of a closed lane."""
    rows = await queue.fetch("select due_time <= now() as due, closed from lane_due order by due_time")
    return [(row["due"], row["closed"]) for row in rows]


async def _insert(queue: Queue) -> None:
    await queue.schedule("new@example.com")


async def _insert_later(queue: Queue) -> None:
    """Due before anything else, and later than now."""
    await queue.schedule("new@example.com", send_time=await queue.now() + MINUTE)
    await queue.execute("update lane_due set due_time = due_time - interval '2 minutes'")
    await queue.execute("update queue_item set due_time = due_time - interval '2 minutes' where due_time > now()")


async def _edit(queue: Queue) -> None:
    await queue.execute("update queue_item set due_time = now() where status = 1")


async def _hand_back(queue: Queue) -> None:
    await queue.execute("update queue_item set status = 1, owner = null, lease_until = null where status = 2")


async def _reap(queue: Queue) -> None:
    await queue.execute("update queue_item set lease_until = now() - interval '1 second' where status = 2")
    assert 1 == await queue.reap()
    await queue.execute("update queue_item set due_time = now() - interval '1 second' where status = 1")


class TestNotes:
    """Each scheduled item has a note of its lane at its due time or before."""

    @pytest.mark.parametrize("way_in", [_insert, _insert_later, _edit, _hand_back, _reap])
    async def test_a_lane_that_was_empty_a_moment_ago(
        self, queue: Queue, way_in: Callable[[Queue], Awaitable[None]]
    ) -> None:
        await queue.schedule("later@example.com", send_time=await queue.now() + 600 * MINUTE)
        await queue.schedule()
        assert 1 == len(await queue.worker().claim(1))
        await tidy(queue)
        assert [(False, False)] == await noted(queue)
        assert [] == await lanes(queue)

        await way_in(queue)

        assert [queue.lane] == [(lane.organization_id, lane.pipeline_id) for lane in await lanes(queue)]

    async def test_a_lane_with_nothing_left_has_no_note(self, queue: Queue) -> None:
        await queue.sent()
        assert 1 == await tidy(queue)
        assert [] == await noted(queue)
        assert 0 == await tidy(queue)

    async def test_one_note_serves_many_items(self, queue: Queue) -> None:
        for number in range(5):
            await queue.schedule(f"ann{number}@example.com")
        assert [(True, False)] == await noted(queue)

    async def test_what_is_due_is_left_alone(self, queue: Queue) -> None:
        await queue.schedule()
        assert 0 == await tidy(queue)
        assert [(True, False)] == await noted(queue)

    async def test_nobody_waits_for_who_inserts(self, queue: Queue) -> None:
        """The insert relies on a note that it sees: it stays until that has ended."""
        await queue.sent()
        async with db.transaction(queue.pool) as slow:
            await slow.execute(
                """insert into queue_item select (jsonb_populate_record(null::queue_item, to_jsonb(i)
                     || '{"item_id": "0000000000000000000002", "status": 1, "dispatched_time": null}')).*
                   from queue_item i"""
            )
            assert 0 == await tidy(queue)
        assert 1 == len(await lanes(queue))

    async def test_who_inserts_behind_a_removal_sees_it(self, queue: Queue) -> None:
        await queue.sent()
        await queue.execute("update lane_due set due_time = due_time - interval '1 minute'")
        async with db.transaction(queue.pool) as removing:
            assert 1 == await queue_lanes.settle_notes(removing, limit=500)
            inserting = asyncio.create_task(queue.schedule("new@example.com"))
            await until(lambda: queue.value("select exists (select from pg_locks where not granted)"))
        await inserting
        assert 1 == len(await lanes(queue))

    async def test_who_moves_an_item_meanwhile_has_a_note_of_its_own(self, queue: Queue) -> None:
        await queue.schedule()
        worker = queue.worker()
        [dispatch] = await worker.claim(1)
        async with db.transaction(queue.pool) as slow:
            await sending.hand_back(slow, items=[dispatch.item])
            assert 1 == await tidy(queue)
            assert [] == await noted(queue)
        assert 1 == len(await lanes(queue))

    @pytest.mark.parametrize(
        ("close", "open_again"),
        [
            ("update pipeline set paused = true", "update pipeline set paused = false"),
            ("update channel_account set paused_time = now()", "update channel_account set paused_time = null"),
            ("update application set active = false", "update application set active = true"),
            (
                "update channel_account set open_until = now() + interval '1 hour'",
                "update channel_account set open_until = null",
            ),
        ],
    )
    async def test_a_closed_lane_is_not_looked_at_until_it_is_open(
        self, queue: Queue, close: str, open_again: str
    ) -> None:
        await queue.schedule()
        await queue.execute(close)
        assert 1 == await tidy(queue)
        assert [(False, True)] == await noted(queue)
        assert [queue.lane] == await queue.run(queue_lanes.list_closed_lanes, after=START, limit=10)

        await queue.execute(open_again)

        assert 1 == len(await lanes(queue))
        await queue.sent()
        await tidy(queue)
        assert [] == await noted(queue)

    async def test_a_pipeline_that_is_gone(self, queue: Queue) -> None:
        await queue.execute("insert into lane_due values (repeat('o', 22), repeat('p', 22), now())")
        assert 0 == await tidy(queue)
        assert [] == await noted(queue)
