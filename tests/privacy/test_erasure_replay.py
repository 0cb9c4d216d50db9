"""Runs of a ledger in a restored database: those that went further than the backup knows are repeated, no others."""

from datetime import timedelta

from msgspec.structs import replace

from afterword.kit import db
from afterword.privacy import erasure_replay, retention
from tests.privacy.conftest import CANARY, Desk
from tests.privacy.test_retention import ABSENT, asked, keep, left, path, work


async def kept_of(desk: Desk) -> list[erasure_replay.KeptRun]:
    async with db.connection(desk.pool) as database:
        return await erasure_replay.list_furthest_runs(database)


async def test_the_furthest_of_each_kind(desk: Desk) -> None:
    await keep(desk, items_days=10)
    await work(desk, days=20)
    await keep(desk, items_days=50, texts_days=10)
    await work(desk, days=30)
    runs = {run.kind: run for run in await kept_of(desk)}
    assert {"items": 10, "texts": 10} == {kind: run.days for kind, run in runs.items()}
    assert timedelta(days=9) < runs["texts"].before_time - runs["items"].before_time < timedelta(days=11)


class TestForget:
    async def test_none_of_another_place(self, desk: Desk) -> None:
        await keep(desk, items_days=10)
        await work(desk, days=20)
        [run] = await kept_of(desk)
        strange = replace(run, organization_id=ABSENT)
        assert 0 == await erasure_replay.forget(desk.pool, kept=[run, strange, replace(run, run_id=ABSENT)])
        assert [run] == await kept_of(desk)

    async def test_one_under_way_goes_further(self, desk: Desk) -> None:
        """The backup was made amid a run of the same kind."""
        await asked(desk, CANARY)
        await keep(desk, items_days=10)
        async with db.transaction(desk.pool) as database:
            now = database.clock.now()
            assert 1 == (await retention.work_next(database, after=retention.START, now=now))[0]
        [run] = await kept_of(desk)
        further = replace(run, run_id=ABSENT, before_time=run.before_time + timedelta(days=20))
        assert 1 == await erasure_replay.forget(desk.pool, kept=[further])
        assert [further.before_time] == [one.before_time for one in await kept_of(desk)]
        assert "queue_item" not in await left(desk, CANARY)

    async def test_what_is_held_stays(self, desk: Desk) -> None:
        """The run waits for the end of the hold, and the restore does not wait for the run."""
        await asked(desk, CANARY)
        await keep(desk, items_days=10)
        await desk.ask("POST", path(desk, "/hold"), {"reason": "A suit"})
        run = erasure_replay.KeptRun(
            organization_id=desk.house.organization_id,
            run_id=ABSENT,
            kind="items",
            days=10,
            before_time=desk.pool.clock.now() + timedelta(days=20),
            started_time=desk.pool.clock.now(),
        )
        assert 1 == await erasure_replay.forget(desk.pool, kept=[run])
        assert "queue_item" in await left(desk, CANARY)
        assert "running" == await desk.value("select state from retention_run")
