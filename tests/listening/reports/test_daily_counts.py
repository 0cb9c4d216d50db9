"""Kept counts equal the answers themselves, whatever happens to these, and however late the reader of the log is."""

import dataclasses
import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from afterword.asking.instances import service as instances
from afterword.asking.instances.answers import Start, lock_context, save_answers
from afterword.asking.instances.service import Change
from afterword.asking.instances.store import Instance
from afterword.core.answers.values import Given
from afterword.core.figures import periods, queries
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import CountQuery, Part
from afterword.core.figures.reports import COUNTED, STAGES, Cell
from afterword.core.questionnaires.metadata import Changes
from afterword.kit import db
from afterword.listening.reports import counts
from afterword.listening.reports.daily_counts import service as rollups, store
from tests.conftest import settled
from tests.listening.reports.conftest import CES, CHOICE, CONSENT, CSAT, MANY, NPS, ZONE, House
from tests.sizes import share_of

NOW = datetime(2026, 6, 20, 9, 30, tzinfo=UTC)
DAYS = 40
DIMENSIONS: tuple[tuple[tuple[str, str], ...], ...] = (
    (), (("version", ""),), (("locale", ""),), (("channel", ""),), (("questionnaire_metadata", "store_id"),),
    (("questionnaire_metadata", "transaction_date"),),
)  # fmt: skip


async def work(house: House, now: datetime, *, follow: bool = True, keep: bool = True, rounds: int = 50) -> int:
    """Run a worker's jobs until nothing is left, once all commits are visible."""
    if follow:
        await settled(house.pool)
    done = 0
    for _ in range(rounds):
        passed = count = 0
        if follow:
            async with db.transaction(house.pool) as database:
                passed = await rollups.follow(database, now=now)
        if keep:
            async with db.transaction(house.pool) as database:
                count, _ = await rollups.keep(database, after=rollups.START, now=now)
        done += count
        if not count and passed < rollups.EVENTS_MAX:
            break
    return done


async def survey(house: House, now: datetime = NOW) -> None:
    async with db.transaction(house.pool) as database:
        await rollups.survey(database, after="", now=now)


async def keep(house: House) -> None:
    await survey(house)
    await work(house, NOW)


def asked(house: House, *, zone: str = ZONE, bucket: Any = None, **more: Any) -> CountQuery:
    period = more.pop("period", Period(NOW - timedelta(days=DAYS), NOW, zone))
    return CountQuery(
        organization_id=house.caller.organization_id,
        questionnaire_ids=(house.questionnaire_id,),
        period=period,
        buckets=periods.buckets(period, bucket),
        basis="submitted",
        zone=more.pop("organization_zone", zone),
        questions={each: each for each in more.pop("question_ids", (NPS, CSAT, CES, CHOICE, MANY, CONSENT))},
        types=COUNTED,
        **more,
    )


def summed(cells: list[Cell]) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for cell in cells:
        found[cell.bucket, cell.questionnaire_id, cell.dimensions, cell.question_id, cell.value] += cell.count
    return found


async def compare(house: House, what: CountQuery) -> Counter[tuple[object, ...]]:
    """The same, counted both ways."""
    async with db.connection(house.pool) as database:
        mixed, _ = await counts.answers(database, asked=what)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counts, "_is_kept", lambda _: False)
            raw, _ = await counts.answers(database, asked=what)
    assert summed(raw) == summed(mixed)
    return summed(raw)


async def compare_parts(house: House, what: CountQuery, cut: datetime, bucket: Any) -> None:
    """Two periods that are counted together, as each by itself."""
    before, now = [
        dataclasses.replace(what, period=period, buckets=periods.buckets(period, bucket))
        for period in (replace(what.period, to_time=cut), replace(what.period, from_time=cut))
    ]
    together = dataclasses.replace(now, earlier=Part(before.period, before.buckets))
    async with db.connection(house.pool) as database:
        found = await counts.answers_of_parts(database, asked=together)
        for what_alone, (cells, people) in zip((before, now), found, strict=True):
            alone, people_alone = await counts.answers(database, asked=what_alone)
            assert summed(alone) == summed(cells)
            assert sorted(people_alone.repeats, key=str) == sorted(people.repeats, key=str)


async def compare_cases(house: House, what: CountQuery) -> Counter[tuple[object, ...]]:
    """The stages of cases from kept counts, as from the cases themselves."""
    of_cases = dataclasses.replace(what, basis="sent", questions={}, types=frozenset(), dimensions=())
    async with db.connection(house.pool) as database:
        [(kept, _)] = await counts.cases_of_parts(database, asked=of_cases, has_repeats=False)
        live, _ = await counts.cases(database, asked=of_cases)
    assert summed([each for each in live if each.value in STAGES]) == summed(kept)
    return summed(kept)


async def kept_days(house: House, what: CountQuery) -> int:
    """The number of days that are read from kept counts."""
    async with db.connection(house.pool) as database:
        found = await counts._kept(database, what)
    if found is None:
        return 0
    [days] = queries.whole_days(what)
    until = min(found.until.get(house.questionnaire_id, days.first), days.after)
    live = [day for day in found.live.get(house.questionnaire_id, []) if days.first <= day < until]
    return max(0, (until - days.first).days - len(live))


def answers(draw: random.Random) -> dict[str, object]:
    given: dict[str, object] = {
        NPS: draw.randint(0, 10), CSAT: draw.randint(1, 5), CES: draw.randint(1, 7), CHOICE: draw.randint(1, 3),
        MANY: draw.sample([1, 2, 3], draw.randint(1, 3)), CONSENT: draw.random() < 0.5,
    }  # fmt: skip
    return {name: value for name, value in given.items() if draw.random() < 0.8} or {NPS: 5}


async def change(house: House, instance: Instance, draw: random.Random, now: datetime) -> None:
    if draw.random() < 0.6:  # nothing happens to one that was never held back
        await house.judge(instance, decision=draw.choice(["accepted", "accepted", "rejected"]), now=now)
        return
    async with db.transaction(house.pool) as database:
        await instances.update(
            database,
            caller=house.caller,
            instance_id=instance.instance_id,
            change=Change(
                locale=draw.choice(["en", "el"]),
                metadata=Changes(questionnaire={"store_id": draw.choice(["1", "2", ""])}),
            ),
            now=now,
        )


async def respond(house: House, draw: random.Random, step: int) -> Instance:
    """A response of one of the days; some are held back."""
    metadata = {"store_id": draw.choice("123"), "transaction_date": f"{NOW + timedelta(days=step):%Y-%m-%d}"}
    return await house.respond(
        answers(draw),
        now=NOW - timedelta(seconds=draw.randrange(draw.choice([DAYS * 86_400, 86_400 // 2]))),
        metadata=metadata,
        complete=draw.random() < 0.7,
        start=Start(has_hidden_field=True) if draw.random() < 0.4 else None,
    )


@pytest.mark.parametrize("seed", share_of(range(5), 0.4))
async def test_equal_to_the_answers_themselves(house: House, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Answers, edits, deletions, changes, judgements, and a reader that comes now and then, or never."""
    draw = random.Random(seed)  # noqa: S311  a test's own
    monkeypatch.setattr(rollups, "CHUNK_RESPONSES_MAX", 5)
    monkeypatch.setattr(rollups, "AGAIN_SECONDS", 0)
    monkeypatch.setattr(rollups, "VALUES_MAX", 3)
    there: list[Instance] = []
    for step in range(60):
        match draw.choices(["answer", "edit", "delete", "change", "work", "survey", "compare"], [8, 5, 2, 5, 4, 1, 3])[
            0
        ]:
            case "answer":
                there.append(await respond(house, draw, step))
            case "edit" if there:
                given: dict[str, object] = {**answers(draw), draw.choice([CES, CHOICE]): None}
                await house.answer(draw.choice(there), given, now=NOW, complete=draw.random() < 0.3)
            case "delete" if there:
                await house.delete(there.pop(draw.randrange(len(there))), now=NOW)
            case "change" if there:
                await change(house, draw.choice(there), draw, NOW)
            case "work":
                await work(house, NOW, follow=draw.random() < 0.7, keep=draw.random() < 0.8, rounds=draw.randint(1, 9))
            case "survey":
                await survey(house)
            case _:
                cut = NOW - timedelta(seconds=draw.randrange(DAYS * 86_400))
                for dimensions in DIMENSIONS:
                    bucket = draw.choice([None, "day", "week", "month"])
                    await compare(house, asked(house, bucket=bucket, dimensions=dimensions))
                bucket = draw.choice([None, "day", "week", "month"])
                await compare_cases(house, asked(house, bucket=bucket))
                await compare_parts(house, asked(house, dimensions=draw.choice(DIMENSIONS)), cut, bucket)
    await keep(house)
    assert await compare_cases(house, asked(house, bucket="day"))
    for dimensions in DIMENSIONS:
        what = asked(house, bucket="day", dimensions=dimensions)
        assert await compare(house, what)
        assert await kept_days(house, what) > (DAYS // 2 if dimensions != DIMENSIONS[-1] else 0)


async def respond_daily(house: House, *, days: int = 10) -> list[Instance]:
    return [
        await house.respond(
            {NPS: number % 11, MANY: [1, 2]}, now=NOW - timedelta(days=number, minutes=1), metadata={"store_id": "1"}
        )
        for number in range(days)
    ]


async def keep_daily(house: House) -> list[Instance]:
    there = await respond_daily(house)
    await keep(house)
    return there


class TestKept:
    async def test_nothing_is_kept_at_first(self, house: House) -> None:
        await respond_daily(house)
        assert 0 == await kept_days(house, asked(house))
        assert await compare(house, asked(house))

    async def test_existing_answers_are_taken_in(self, house: House) -> None:
        """All days but today, from answers of before the first start; the log behind them may be gone."""
        await respond_daily(house)
        await house.execute("truncate event cascade")
        await survey(house)
        assert await work(house, NOW)
        assert DAYS - 1 == await kept_days(house, asked(house))
        found = await compare(house, asked(house))
        assert 10 == sum(count for key, count in found.items() if key[3] == NPS)
        assert 10 == sum(count for key, count in found.items() if key[3:] == (MANY, "*"))

    async def test_the_next_day(self, house: House) -> None:
        await keep_daily(house)
        tomorrow = NOW + timedelta(days=1)
        assert 0 < await work(house, tomorrow)
        period = Period(NOW - timedelta(days=DAYS), tomorrow, ZONE)
        assert DAYS == await kept_days(house, asked(house, period=period))
        assert await compare(house, asked(house, period=period))
        assert 0 == await work(house, tomorrow)

    async def test_unread_news_make_their_day_live(self, house: House) -> None:
        there = await keep_daily(house)
        before = await kept_days(house, asked(house))
        await house.answer(there[5], {NPS: 10}, now=NOW)
        assert before - 1 == await kept_days(house, asked(house))
        found = await compare(house, asked(house))
        assert 1 == found[0, house.questionnaire_id, (), NPS, "10"]

    async def test_read_news_mark_their_day(self, house: House) -> None:
        there = await keep_daily(house)
        before = await kept_days(house, asked(house))
        await house.delete(there[5], now=NOW)
        await work(house, NOW, keep=False)
        assert before - 1 == await kept_days(house, asked(house))
        await work(house, NOW)
        assert before - 1 == await kept_days(house, asked(house)), "a day is counted again once a minute at most"
        await work(house, NOW + timedelta(seconds=rollups.AGAIN_SECONDS))
        assert before == await kept_days(house, asked(house))
        assert await compare(house, asked(house))

    async def test_an_unfinished_response_that_goes_on_after_its_day(self, house: House) -> None:
        instance = await house.respond({NPS: 3}, now=NOW - timedelta(days=3), complete=False)
        await keep(house)
        await house.answer(instance, {CSAT: 4}, now=NOW)
        found = await compare(house, asked(house))
        assert 1 == found[0, house.questionnaire_id, (), CSAT, "4"]

    async def test_far_behind_the_log_everything_is_live(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        await keep_daily(house)
        monkeypatch.setattr(counts, "UNREAD_MAX", 3)
        assert DAYS - 1 == await kept_days(house, asked(house))
        await respond_daily(house, days=2)
        assert 0 == await kept_days(house, asked(house))
        assert await compare(house, asked(house))

    async def test_another_zone_of_the_organization(self, house: House) -> None:
        """Days are others then: all is counted again, and what was kept is removed an hour later."""
        await keep_daily(house)
        await house.set_organization(time_zone="Pacific/Auckland")
        what = asked(house, zone="Pacific/Auckland", bucket="day")
        assert 0 == await kept_days(house, what)
        assert await compare(house, what)
        await keep(house)
        assert DAYS - 1 <= await kept_days(house, what)
        assert await compare(house, what)
        assert 2 == len(await self.generations(house))
        for _ in range(20):
            await survey(house, NOW + timedelta(hours=2))
        assert 1 == len(await self.generations(house))
        assert await compare(house, what)

    @staticmethod
    async def generations(house: House) -> set[int]:
        async with db.connection(house.pool) as database:
            rows = await database.fetch("select distinct generation from rollup_count where dimension = ''")
        return {row["generation"] for row in rows}

    async def test_a_zone_of_the_report(self, house: House) -> None:
        """Its days are not those that are kept; without buckets only the ends differ."""
        await keep_daily(house)
        for bucket, kept in (("day", 0), (None, DAYS - 1)):
            what = asked(house, zone="Pacific/Auckland", organization_zone=ZONE, bucket=bucket)
            assert kept == await kept_days(house, what)
            assert await compare(house, what)

    async def test_many_values_of_a_dimension_are_not_kept(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rollups, "VALUES_MAX", 2)
        for number in range(5):
            day = NOW - timedelta(days=1 if number < 3 else 2)
            await house.respond({NPS: 9}, now=day, metadata={"transaction_date": f"2026-01-0{number + 1}"})
        await keep(house)
        what = asked(house, dimensions=(("questionnaire_metadata", "transaction_date"),))
        assert DAYS - 2 == await kept_days(house, what)
        assert 5 == len(await compare(house, what))

    async def test_a_day_with_very_many_responses_is_not_kept(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rollups, "CHUNK_RESPONSES_MAX", 1)
        monkeypatch.setattr(rollups, "DAY_RESPONSES_MAX", 2)
        for _ in range(3):
            await house.respond({NPS: 9}, now=NOW - timedelta(days=1))
        await keep_daily(house)
        assert DAYS - 2 == await kept_days(house, asked(house))
        assert await compare(house, asked(house))

    async def test_personal_names_are_never_kept(self, house: House) -> None:
        await house.execute(
            """insert into metadata_definition (organization_id, metadata_id, kind, name, title, type, anonymize,
                 level, application_id)
               values ($1, $2, 'questionnaire', 'nurse', 'Nurse', 'text', true, 'application', $3)""",
            *(house.caller.organization_id, "m" * 22, house.application_id),
        )
        await house.respond({NPS: 9}, now=NOW, metadata={"nurse": "Ann", "undeclared": "Bob"})
        await survey(house)
        names = {span.dimension.removeprefix("questionnaire_metadata:") for span in await self.spans(house)}
        assert "store_id" in names
        assert not {"nurse", "undeclared", "transaction_id"} & names

    async def test_a_name_that_is_no_longer_declared_is_given_up(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await keep_daily(house)
        before = {span.dimension for span in await self.spans(house)}
        monkeypatch.setattr(rollups, "NAMES_MAX", 0)
        await survey(house)
        assert set(rollups.FIXED) == {span.dimension for span in await self.spans(house)} < before

    @staticmethod
    async def spans(house: House) -> list[store.Span]:
        pair = (house.caller.organization_id, house.questionnaire_id)
        async with db.connection(house.pool) as database:
            return await store.list_spans(database, questionnaires=[pair])

    async def test_test_data_are_not_counted(self, house: House) -> None:
        there = await respond_daily(house)
        async with db.transaction(house.pool) as database:
            await database.execute(
                "update questionnaire_instance set test = true where instance_id = $1", there[3].instance_id
            )
            await database.execute("update answer set provisional = true where instance_id = $1", there[4].instance_id)
        await keep(house)
        found = await compare(house, asked(house, question_ids=(NPS,)))
        assert 8 == found.total()
        tested = await compare(house, asked(house, question_ids=(NPS,), test=True))
        assert 1 == tested.total()

    async def test_a_survey_of_two_organizations_reads_as_often_as_one_of_one(
        self, house: House, neighbour: House, statements: list[str]
    ) -> None:
        await survey(house)
        statements.clear()
        await survey(house)
        assert 5 == len(statements), "questionnaires, their spans, their names, marks of hours, and old counts"


class TestHours:
    """The hours of today, which began at 21:00 UTC; it is 9:30."""

    @staticmethod
    async def kept(house: House, what: CountQuery) -> set[str]:
        async with db.connection(house.pool) as database:
            found = await counts._kept(database, what)
        assert found is not None
        return found.hours.get(house.questionnaire_id, set())

    @staticmethod
    async def keep_hourly(house: House) -> list[Instance]:
        """Each at half past, the newest first: the hour that begins at nine is not over."""
        there = [
            await house.respond({NPS: number % 11, MANY: [1]}, now=NOW - timedelta(hours=number))
            for number in range(13)
        ]
        await keep(house)
        return there

    async def test_only_what_is_not_over_is_live(self, house: House) -> None:
        await self.keep_hourly(house)
        assert 12 == len(await self.kept(house, asked(house)))
        assert await compare(house, asked(house))
        async with db.connection(house.pool) as database:
            found = await counts._kept(database, asked(house))
        assert found is not None
        assert NOW - timedelta(minutes=30) == queries.gaps_of(asked(house), found)[-1].from_time
        by_locale = asked(house, dimensions=(("locale", ""),))
        assert not await self.kept(house, by_locale)
        assert await compare(house, by_locale)

    async def test_periods_that_end_before(self, house: House) -> None:
        await self.keep_hourly(house)
        for hours in (2, 24):
            period = Period(NOW - timedelta(days=9), NOW - timedelta(hours=hours, minutes=15), ZONE)
            what = asked(house, period=period)
            assert not await self.kept(house, what)
            await compare(house, what)

    async def test_a_change_makes_its_hour_live(self, house: House) -> None:
        there = await self.keep_hourly(house)
        before = await self.kept(house, asked(house))
        await house.answer(there[5], {NPS: 10}, now=NOW)
        assert {"2026-06-20T04"} == before - await self.kept(house, asked(house)), "it is in the log"
        await work(house, NOW, keep=False)
        await house.delete(there[7], now=NOW)
        await work(house, NOW)
        assert {"2026-06-20T02", "2026-06-20T04"} == before - await self.kept(house, asked(house)), "it is marked"
        assert await compare(house, asked(house))
        await work(house, NOW + timedelta(seconds=rollups.AGAIN_SECONDS))
        assert before == await self.kept(house, asked(house))
        assert await compare(house, asked(house))

    async def test_the_next_hour_and_the_next_day(self, house: House) -> None:
        await self.keep_hourly(house)
        await house.respond({NPS: 3}, now=NOW + timedelta(minutes=1))
        later = NOW + timedelta(minutes=29)
        assert 0 == await work(house, later), "its hour is not over"
        later = NOW + timedelta(minutes=31)
        await work(house, later)
        what = asked(house, period=Period(NOW - timedelta(days=3), later, ZONE))
        assert "2026-06-20T09" in await self.kept(house, what)
        assert await compare(house, what)
        tomorrow = NOW + timedelta(days=1)
        await house.respond({NPS: 4}, now=tomorrow - timedelta(hours=2))
        await work(house, tomorrow - timedelta(seconds=rollups.AGAIN_SECONDS))
        await work(house, tomorrow)
        what = asked(house, period=Period(NOW - timedelta(days=3), tomorrow, ZONE))
        assert "2026-06-21T07" in await self.kept(house, what)
        assert await compare(house, what)
        async with db.connection(house.pool) as database:
            days = await database.fetch("select distinct day from rollup_count where dimension = 'hour'")
        assert [tomorrow.date()] == [row["day"] for row in days], "those of the day before were removed"

    async def test_another_generation(self, house: House) -> None:
        """As migrations ask for that change answers without an event."""
        await self.keep_hourly(house)
        await house.execute("update rollup_span set generation = default, due_time = default")
        assert not await self.kept(house, asked(house))
        assert await compare(house, asked(house))
        await keep(house)
        assert 12 == len(await self.kept(house, asked(house)))
        await house.set_organization(time_zone="Pacific/Auckland")  # whose day is 21 hours old
        await keep(house)
        what = asked(house, zone="Pacific/Auckland")
        assert 13 <= len(await self.kept(house, what)), "without another answer"
        assert await compare(house, what)

    async def test_an_hour_with_very_many_responses_is_not_kept(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rollups, "DAY_RESPONSES_MAX", 1)
        for number in range(2):
            await house.respond({NPS: 3}, now=NOW - timedelta(hours=2, minutes=number))
        await keep(house)
        assert "2026-06-20T06" in await self.kept(house, asked(house))
        assert "2026-06-20T07" not in await self.kept(house, asked(house))
        assert await compare(house, asked(house))


class TestTogether:
    async def test_two_workers_count_each_day_once(self, house: House) -> None:
        await respond_daily(house)
        await survey(house)
        async with db.transaction(house.pool) as first:
            start = rollups.START
            assert (await rollups.keep(first, after=start, now=NOW))[0]
            async with db.transaction(house.pool) as second:
                assert (1, start) == await rollups.keep(second, after=start, now=NOW), "those of cases alone"
        await work(house, NOW)
        assert await compare(house, asked(house))

    async def test_an_answer_that_commits_while_its_day_is_counted(self, house: House) -> None:
        """Counted without it, kept, and yet read live: its event is above the watermark, then its day is marked."""
        there = await respond_daily(house)
        await survey(house)
        async with db.transaction(house.pool) as slow:
            await save_answers(
                slow,
                context=await lock_context(slow, instance_id=there[4].instance_id),
                answers={CSAT: Given(5)},
                complete=False,
                now=NOW,
            )
            await work(house, NOW)
        assert DAYS - 2 == await kept_days(house, asked(house))
        found = await compare(house, asked(house))
        assert 1 == found[0, house.questionnaire_id, (), CSAT, "5"]
        later = NOW + timedelta(seconds=rollups.AGAIN_SECONDS)
        await work(house, NOW)
        await work(house, later)
        assert DAYS - 1 == await kept_days(house, asked(house))
        assert await compare(house, asked(house))


def test_days_are_those_of_the_zone() -> None:
    """The day of a moment and the borders of days agree, in every hour of a year with changes of the clock."""
    for name in ("Europe/Athens", "America/Santiago", "Asia/Beirut", "Pacific/Apia", "UTC", "Australia/Lord_Howe"):
        zone = periods.times.zone_of(name)
        moment = datetime(2011, 12, 25, tzinfo=UTC)
        for _ in range(9_000):
            day = periods.day_of(moment, zone)
            assert periods.day_start(day, zone) <= moment < periods.day_start(day + date.resolution, zone)
            moment += timedelta(hours=1)
