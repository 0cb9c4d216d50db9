"""Open lanes on a real PostgreSQL; the statements of a batch, which pays for no rule that its lane does not have."""

from datetime import timedelta

import pytest

from afterword.core.scheduling.lanes import START
from afterword.kit import db
from afterword.sending.queue import lanes as queue_lanes
from afterword.sending.queue.lanes import Lane
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
