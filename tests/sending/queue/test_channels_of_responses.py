"""The channel and the pipeline that a response was asked through are the response's own, and outlast its queue item."""

from collections import Counter
from datetime import timedelta

import pytest

from afterword.asking.instances.answers import lock_context, save_answers
from afterword.core.answers.values import Given
from afterword.core.figures import periods
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import CountQuery
from afterword.core.figures.reports import COUNTED
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.listening.reports import counts
from afterword.listening.reports.daily_counts import service as rollups
from afterword.run.migrations import FOLDER
from afterword.sending.queue import retention
from afterword.sending.queue.retention import RetentionCursor
from tests.conftest import TIME_ZONE, settled
from tests.sending.queue.conftest import EMAIL, OUTBOX, Queue

DAYS = 60
Figures = tuple[Counter[tuple[object, ...]], Counter[tuple[object, ...]], list[int]]


async def answered(queue: Queue, count: int) -> None:
    """So many people are sent an item of the pipeline and answer two days ago."""
    for number in range(count):
        await queue.schedule(f"{queue.pipeline_id}{number}@example.com")
    for dispatch in await queue.worker().send(Sent(), count):
        definition = dispatch.version.definition
        question = next(each for each in definition.questions() if each.type == "csat")
        async with db.transaction(queue.pool) as database:
            await save_answers(
                database,
                context=await lock_context(database, instance_id=dispatch.instance.instance_id),
                answers={question.question_id: Given(4)},
                complete=False,
                now=database.clock.now() - timedelta(days=2),
            )


async def keep_counts(queue: Queue) -> None:
    await settled(queue.pool)
    async with db.transaction(queue.pool) as database:
        now = database.clock.now()
        await rollups.survey(database, after="", now=now)
        await rollups.follow(database, now=now)
    for _ in range(20):
        await queue.run(rollups.keep, after=rollups.START, now=now)


async def figures(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> Figures:
    """Answers by channel from kept counts and from the rows, and the cases of each channel and pipeline."""
    async with db.connection(queue.pool) as database:
        now = database.clock.now()
        period = Period(now - timedelta(days=9), now + timedelta(days=1), TIME_ZONE)
        [csat] = await queue.fetch("select distinct question_id from answer")

        def asked(**more: object) -> CountQuery:
            return CountQuery(
                organization_id=queue.house.organization_id,
                questionnaire_ids=(queue.house.questionnaire_id,),
                period=period,
                buckets=periods.buckets(period, None),
                zone=TIME_ZONE,
                questions={csat["question_id"]: csat["question_id"]},
                types=COUNTED,
                **{"basis": "submitted", **more},  # pyrefly: ignore[bad-argument-type]
            )

        async def answers() -> Counter[tuple[object, ...]]:
            found: Counter[tuple[object, ...]] = Counter()
            cells, _ = await counts.answers(database, asked=asked(dimensions=(("channel", ""),)))
            for cell in cells:
                found[cell.dimensions, cell.value] += cell.count
            return found

        async def created(**more: object) -> int:
            cells, _ = await counts.cases(database, asked=asked(basis="sent", **more))
            return sum(cell.count for cell in cells if cell.value == "created")

        kept = await answers()
        with monkeypatch.context() as patch:
            patch.setattr(counts, "_is_kept", lambda _: False)
            raw = await answers()
        cases = [await created(channel_id=EMAIL), await created(channel_id=OUTBOX)]
        return kept, raw, [*cases, await created(pipeline_id=queue.pipeline_id)]


async def test_figures_are_equal_once_items_are_removed(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    outbox = await queue.pipeline(channel_id=OUTBOX, title="Outbox")
    await answered(queue, 3)
    await answered(outbox, 2)
    await keep_counts(queue)
    expected = Counter[tuple[object, ...]]({((str(EMAIL),), "4"): 3, ((str(OUTBOX),), "4"): 2})
    assert (expected, expected, [3, 2, 2]) == await figures(outbox, monkeypatch)
    async with db.transaction(queue.pool) as database:
        now = database.clock.now() + timedelta(days=DAYS + 1)
        await retention.prune(database, cursor=RetentionCursor(), days=DAYS, now=now, limit=100)
    assert 0 == await queue.value("select count(*) from queue_item")
    assert (expected, expected, [3, 2, 2]) == await figures(outbox, monkeypatch)
    await queue.execute("update rollup_span set generation = default, kept_until = default, due_time = default")
    await keep_counts(queue)
    assert (expected, expected, [3, 2, 2]) == await figures(outbox, monkeypatch)


class TestMigration:
    async def test_responses_of_before_take_it_from_their_items(
        self, queue: Queue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await answered(queue, 3)
        await queue.execute("update questionnaire_instance set channel_id = null, pipeline_id = null")
        for _ in range(2):  # an interrupted run begins anew
            await queue.execute((FOLDER / "0021_fill_channels.sql").read_text())
        kept, raw, cases = await figures(queue, monkeypatch)
        assert kept == raw == Counter({((str(EMAIL),), "4"): 3})
        assert [3, 0, 3] == cases

    async def test_the_release_before_does_not_write_it(self, queue: Queue) -> None:
        """Its processes go on issuing between the migration and their restart."""
        await answered(queue, 1)
        await queue.execute(
            """insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id,
                 responder_id, item_id, short_code, locale, valid_days, editable, question_ids)
               select organization_id, instance_id || 'x', questionnaire_id, version_id, responder_id, $1, short_code,
                 locale, valid_days, editable, question_ids from questionnaire_instance""",
            (await queue.schedule("bob@example.com")).item_id,
        )
        rows = await queue.fetch("select channel_id, pipeline_id from questionnaire_instance")
        assert [(EMAIL, queue.pipeline_id)] * 2 == [tuple(row.values()) for row in rows]
