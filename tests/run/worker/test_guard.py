"""A worker remembers its database over restarts, and sends nothing from an older one."""

import uuid
from datetime import timedelta
from pathlib import Path

import pytest

from afterword.kit import db
from afterword.run.worker import guard
from afterword.run.worker.guard import FILE_NAME, Guard
from afterword.sending.queue import restores
from afterword.sending.queue.sending.losses import Loss
from tests.promotions import Standby
from tests.run.worker.conftest import Bench

OTHER = uuid.UUID(int=1)


async def test_the_memory_outlasts_the_process(bench: Bench, tmp_path: Path) -> None:
    first = Guard(pool=bench.queue.pool, folder=tmp_path)
    await bench.queue.schedule()
    assert 0 == first.seq_min
    assert await first.is_open()

    second = Guard(pool=bench.queue.pool, folder=tmp_path)

    assert second.seq_min == first.seq_min > 0
    assert [FILE_NAME] == [path.name for path in tmp_path.iterdir()]  # noqa: ASYNC240


async def test_a_file_that_cannot_be_read(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("{")

    assert await Guard(pool=bench.queue.pool, folder=tmp_path).is_open()


async def test_an_older_database(bench: Bench, tmp_path: Path) -> None:
    """Nothing leaves until it is confirmed; then the rest goes."""
    await Guard(pool=bench.queue.pool, folder=tmp_path).is_open()
    file = tmp_path / FILE_NAME
    remembered = Guard(pool=bench.queue.pool, folder=tmp_path)
    await bench.queue.execute("alter sequence event_seq_seq restart with 1000")
    item = await bench.queue.schedule()
    await remembered._check()
    await bench.queue.execute("delete from event")
    await bench.queue.execute("alter sequence event_seq_seq restart with 1")
    assert file.exists()

    assert not await Guard(pool=bench.queue.pool, folder=tmp_path).is_open()
    async with bench.worker():
        await bench.until("select paused_time is not null from sending_guard")
        assert 1 == await bench.queue.status(item)
        async with db.transaction(bench.queue.pool) as database:
            assert await restores.update_to_confirmed(database)
        await bench.until_done()
    assert {item.item_id: 1} == bench.channel.accepted


class TestAnotherTimeline:
    """A standby took over that had not received all: nobody claims there before all have compared."""

    @pytest.fixture
    def standby(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Standby:
        monkeypatch.setattr(guard, "CHECK_SECONDS", 0.1)
        return Standby(bench.database_url, monkeypatch)

    async def test_an_item_is_gone(self, bench: Bench, standby: Standby) -> None:
        """Sending stops until a person has looked, and the doctor counts it."""
        async with bench.worker():
            await self.is_at_work(bench)
            await standby.follow()
            await bench.queue.schedule()
            await bench.until_done()
            await standby.promote()
            item = await bench.queue.schedule("ben@example.com")
            await bench.until("select paused_time is not null from sending_guard")
            assert 1 == await bench.queue.status(item)
            reason = await bench.queue.value("select paused_reason from sending_guard")
            assert "1 items that are gone" in reason
            assert reason == await bench.queue.run(restores.get_loss)
            assert await bench.queue.run(restores.update_to_confirmed)
            await bench.until_done()
        assert 1 == bench.channel.accepted[item.item_id]

    async def test_what_many_workers_know_is_one_sentence(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        """Attempts and items are each worker's own; the same events are gone for all."""
        monkeypatch.setattr(Guard, "_is_of_another", lambda *_: True)
        now = await bench.queue.now()
        for worker in range(1, 5):
            one = Guard(pool=bench.queue.pool, folder=None)
            one._mark = restores.SendingMark("i", now, seq=1_000_000 * worker)
            one._loss = Loss(worker, {("o", f"{worker}{number}", 1) for number in range(worker)})
            await one._meet(2)
        text = await bench.queue.run(restores.get_loss)
        end = await bench.queue.value("select coalesce(max(seq), 0) from event")
        assert text is not None
        assert f"workers know of {4_000_000 - end} events at least, of 10 attempts to send, which" in text
        assert text.endswith("and of 10 items that are gone though a message may have left.")

    async def test_a_worker_that_does_not_come_back(
        self, bench: Bench, standby: Standby, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nobody knows the messages that it sent: where something is lost, sending stops."""
        monkeypatch.setattr(guard, "OTHERS_SECONDS_MAX", 0.5)
        await bench.queue.execute("insert into sending_worker (run_id, timeline) values ($1, 1)", OTHER)
        async with bench.worker():
            await self.is_at_work(bench)
            await bench.queue.schedule("ben@example.com", send_time=await bench.queue.now() + timedelta(hours=1))
            await standby.follow()  # before it is sent, however slow
            await bench.queue.execute("update queue_item set due_time = now() where status = 1")
            await bench.until_done()
            await standby.promote()
            await bench.until("select paused_time is not null from sending_guard")
            assert "1 attempts to send" in await bench.queue.value("select paused_reason from sending_guard")
        assert 2 == sum(bench.channel.accepted.values())

    async def test_nobody_claims_before_the_others(
        self, bench: Bench, standby: Standby, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(restores, "SEEN_SECONDS", 0.0)  # each look is noted
        await bench.queue.execute("insert into sending_worker (run_id, timeline) values ($1, 1)", OTHER)
        async with bench.worker():
            await self.is_at_work(bench)
            await standby.follow()
            await standby.promote()
            item = await bench.queue.schedule("ben@example.com")
            await bench.until("select exists (select from sending_worker where timeline = 2)")
            now = await bench.queue.now()
            await bench.until("select seen_time > $1 from sending_worker where timeline = 2", now)
            assert 1 == await bench.queue.status(item)
            await bench.queue.execute("update sending_worker set timeline = 2")
            await bench.until_done()
        assert {1} == set(bench.channel.accepted.values())

    async def test_all_is_recorded_again(self, bench: Bench, standby: Standby) -> None:
        """Nothing is mailed twice, and sending goes on by itself."""
        async with bench.worker():
            await self.is_at_work(bench)
            item = await bench.queue.schedule(
                "ben@example.com", send_time=await bench.queue.now() + timedelta(seconds=1)
            )
            await standby.follow()
            await bench.until_done()
            await standby.promote()
            later = await bench.queue.schedule("cat@example.com")
            await bench.until_done()
        assert {1} == set(bench.channel.accepted.values())
        assert ["accepted_late"] == await bench.queue.attempts(item)
        assert ["accepted"] == await bench.queue.attempts(later)
        assert not await bench.queue.value("select exists (select from sending_worker)"), "it has left"

    async def test_nothing_is_lost(self, bench: Bench, standby: Standby) -> None:
        async with bench.worker():
            await self.is_at_work(bench)
            await standby.follow()
            await standby.promote()
            item = await bench.queue.schedule("ben@example.com")
            await bench.until_done()
        assert 1 == bench.channel.accepted[item.item_id]
        assert await bench.queue.run(restores.get_loss) is None

    async def test_a_worker_of_before_with_its_file(
        self, bench: Bench, standby: Standby, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It was started anew and remembers the newest event alone: something is lost that nobody knows."""
        await bench.queue.schedule()
        await Guard(pool=bench.queue.pool, folder=tmp_path).is_open()
        await standby.follow()
        await bench.queue.schedule()
        await Guard(pool=bench.queue.pool, folder=tmp_path).is_open()
        await standby.promote()

        monkeypatch.setattr(guard, "OTHERS_SECONDS_MAX", 0.0)
        await bench.queue.execute("select setval('event_seq_seq', 1000)")  # by others, who are at work already
        assert not await Guard(pool=bench.queue.pool, folder=tmp_path).is_open()
        assert "events at least" in await bench.queue.value("select paused_reason from sending_guard")

    async def is_at_work(self, bench: Bench) -> None:
        """The server has received all until now."""
        await bench.queue.schedule()
        await bench.until_done()
        await bench.queue.execute("update sending_guard set watched_time = now()")
