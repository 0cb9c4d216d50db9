"""Which lanes are open, on a real PostgreSQL."""

from datetime import timedelta

import pytest

from afterword.core.scheduling.lanes import START
from afterword.kit import db
from afterword.sending.queue import lanes as queue_lanes
from afterword.sending.queue.lanes import Lane
from tests.sending.queue.conftest import EMAIL, LINK, Queue

END = ("~", "~")
MINUTE = timedelta(minutes=1)


async def lanes(queue: Queue, **values: object) -> list[Lane]:
    async with db.connection(queue.pool) as database:
        return await list_lanes(database, **values)


async def list_lanes(database: db.Database, **values: object) -> list[Lane]:
    known: dict[str, object] = {"after": START, "until": END, "channel_ids": [EMAIL, LINK], "busy": [], "limit": 32}
    return await queue_lanes.list_lanes(database, **{**known, **values})  # pyrefly: ignore[bad-argument-type]


async def account(queue: Queue) -> tuple[str, str]:
    account_id = await queue.value("select account_id from pipeline where pipeline_id = $1", queue.pipeline_id)
    return queue.house.organization_id, account_id


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
        other = await queue.pipeline(
            questionnaire_id=queue.house.questionnaire_id, channel_id=LINK, title="Link", priority=0
        )
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
