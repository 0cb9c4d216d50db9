"""A database that went back in time: nothing is claimed from it until a person has looked."""

from datetime import timedelta

from msgspec.structs import replace

from afterword.kit import db
from afterword.sending.queue import restores
from afterword.sending.queue.restores import LATE_ITEMS_MAX, SendingMark, View
from afterword.sending.queue.sending import service as sending
from tests.sending.queue.conftest import Queue


async def look(queue: Queue, mark: SendingMark | None = None, *, is_first: bool = True) -> View:
    return await queue.run(restores.check_log, mark=mark, is_first=is_first)


async def confirm(queue: Queue) -> bool:
    return await queue.run(restores.update_to_confirmed)


async def remembered(queue: Queue) -> SendingMark:
    mark = (await look(queue)).mark
    assert mark is not None
    return mark


async def fill_late(queue: Queue, count: int) -> None:
    """So many items that should have gone twenty minutes ago, and nobody who worked since."""
    await queue.schedule()
    await queue.execute(
        """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
             responder_channel_identifier, address_key, send_time, send_offset_minutes, due_time, not_after,
             attempts_max)
           select organization_id, lpad(n::text, 22, '0'), questionnaire_id, pipeline_id, n || '@example.com',
             address_key, send_time, 0, now() - interval '20 minutes', not_after, 3
           from queue_item, generate_series(1, $1) n""",
        count,
    )
    await queue.execute("update sending_guard set watched_time = now() - interval '16 minutes'")


class TestWentBack:
    async def test_the_log_ends_too_early(self, queue: Queue) -> None:
        await queue.schedule()
        mark = replace(await remembered(queue), seq=10_000)

        view = await look(queue, mark, is_first=False)

        assert view.reason is not None
        assert "put back to an earlier moment" in view.reason
        assert mark == view.mark, "what is remembered stays until somebody has looked"
        assert [] == await queue.worker().claim()

    async def test_it_is_older_than_a_confirmation(self, queue: Queue) -> None:
        mark = await remembered(queue)

        view = await look(queue, replace(mark, confirmed_time=mark.confirmed_time + timedelta(seconds=1)))

        assert view.reason is not None

    async def test_the_claim_itself_compares(self, queue: Queue) -> None:
        """A worker that has not looked since the database was exchanged claims nothing either."""
        await queue.schedule()
        worker = queue.worker()
        async with db.transaction(queue.pool) as database:
            found = await worker.queue.value("select last_value from event_seq_seq")
            nothing = await guard_claim(database, worker.queue, seq_min=found + 1)
            something = await guard_claim(database, worker.queue, seq_min=found)

        assert (0, 1) == (nothing, something)

    async def test_another_installation(self, queue: Queue) -> None:
        mark = SendingMark("another", (await remembered(queue)).confirmed_time, 10_000)

        assert (await look(queue, mark)).reason is None

    async def test_ok(self, queue: Queue) -> None:
        first = await remembered(queue)
        await queue.schedule()

        view = await look(queue, first, is_first=False)

        assert view.reason is None
        assert view.mark is not None
        assert view.mark.seq > first.seq


class TestNothingRemembered:
    async def test_much_is_late_and_nobody_worked(self, queue: Queue) -> None:
        await fill_late(queue, LATE_ITEMS_MAX + 1)

        assert (await look(queue)).reason is not None
        assert [] == await queue.worker().claim()
        assert 1 == await queue.value("select count(*) from sending_guard where paused_time is not null")

    async def test_a_backlog_while_others_work(self, queue: Queue) -> None:
        """A node that is added has no file, and the others have a backlog: that is no restored backup."""
        await fill_late(queue, LATE_ITEMS_MAX + 1)
        await queue.execute("update sending_guard set watched_time = now() - interval '10 seconds'")

        assert (await look(queue)).reason is None

    async def test_with_a_file_it_was_an_outage(self, queue: Queue) -> None:
        mark = await remembered(queue)
        await fill_late(queue, LATE_ITEMS_MAX + 1)

        assert (await look(queue, mark)).reason is None

    async def test_little_is_late(self, queue: Queue) -> None:
        await fill_late(queue, LATE_ITEMS_MAX - 1)

        assert (await look(queue)).reason is None


class TestConfirm:
    async def test_not_paused(self, queue: Queue) -> None:
        assert not await confirm(queue)

    async def test_every_node_stops_and_goes_on(self, queue: Queue) -> None:
        await queue.schedule()
        mark = await remembered(queue)
        old = replace(mark, seq=10_000)
        reason = (await look(queue, old)).reason
        assert reason is not None

        assert (await look(queue, mark)).reason is not None, "a node that knows nothing of it stops too"
        assert reason == (await look(queue, old)).reason
        assert await confirm(queue)
        assert (await look(queue, old)).reason is None, "what was remembered from before counts no more"
        assert 1 == len(await queue.worker().claim())


async def guard_claim(database: db.Database, queue: Queue, *, seq_min: int) -> int:
    items = await sending.claim_bare(database, shares={queue.lane: 1}, lease=queue.worker().lease, seq_min=seq_min)
    return len(items)
