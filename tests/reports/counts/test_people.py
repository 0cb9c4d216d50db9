"""Groups and intervals are of people: whoever answers often counts once, from kept counts and from answers alike."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from afterword import db
from afterword.core.figures import metrics
from afterword.reports.counts import service as counts
from afterword.reports.rollups import service as rollups
from tests.reports.conftest import CES, CSAT, NPS, House
from tests.reports.test_rollups import asked, survey, work

NOW = datetime(2026, 6, 20, 9, 30, tzinfo=UTC)
FROM, TO = "2026-05-01T00:00:00+03:00", "2026-06-20T09:30:00Z"


async def give(house: House, values: list[int], *, people: int, store: str = "1", days: int = 1) -> None:
    """Answers of so many people in turn, on several days."""
    who: list[str] = []
    for number, value in enumerate(values):
        instance = await house.respond(
            {NPS: value, CSAT: value % 5 + 1, CES: value % 7 + 1},
            now=NOW - timedelta(days=2 + number % days, minutes=number),
            metadata={"store_id": store},
            responder_id=who[number % people] if len(who) == people else None,
        )
        if len(who) < people:
            who.append(instance.responder_id)


async def keep(house: House) -> None:
    await survey(house, NOW)
    await work(house, NOW)


async def template(house: House, template_id: str, **parameters: str) -> dict[str, Any]:
    return await house.template(template_id, from_time=FROM, to_time=TO, **parameters)


@pytest.mark.parametrize("way", ["answers", "kept"])
class TestSmallGroups:
    async def test_answers_of_one_person_are_no_group(self, house: House, way: str) -> None:
        """Nor of four, however many they give, on one day or on many; a second group is hidden with them."""
        for store, people, days in (("a", 1, 1), ("b", 4, 6), ("c", 5, 6), ("d", 9, 1), ("e", 12, 3)):
            await give(house, [9] * 12, people=people, store=store, days=days)
        if way == "kept":
            await keep(house)
        result = await template(house, "by_metadata", metric="nps", metadata="questionnaire_metadata:store_id")
        shown = {row["key"]["questionnaire_metadata:store_id"]: row["figures"][0]["n"] for row in result["rows"]}
        assert {"a": None, "b": None, "c": 12, "d": 12, "e": 12} == shown
        assert 60 == result["total"][0]["n"]

    async def test_everything_of_four_people_is_hidden(self, house: House, way: str) -> None:
        await give(house, [number % 11 for number in range(40)], people=4, days=10)
        if way == "kept":
            await keep(house)
        asked: list[tuple[str, dict[str, str]]] = [
            ("nps", {}),
            ("csat", {}),
            ("trend", {"metric": "nps", "bucket": "day"}),
            ("distribution", {"question_id": NPS}),
            ("funnel", {}),
            ("drivers", {"outcome_question_id": NPS}),
        ]
        for template_id, parameters in asked:
            result = await template(house, template_id, **parameters)
            figures = [*result["total"], *(figure for row in result["rows"] for figure in row["figures"])]
            assert [] == [figure for figure in figures if figure["n"]], template_id
            assert any(figure["suppressed"] for figure in figures), template_id

    async def test_hidden_groups_together_are_people_too(self, house: House, way: str) -> None:
        """Two stores of the same two people are still two people: a third one is hidden with them."""
        who = [(await house.respond({NPS: 9}, now=NOW - timedelta(days=2), metadata={"store_id": "a"})).responder_id
               for _ in range(2)]  # fmt: skip
        for store in ("a", "b"):
            for responder_id in who * 2:
                moment, metadata = NOW - timedelta(days=2), {"store_id": store}
                await house.respond({NPS: 9}, now=moment, metadata=metadata, responder_id=responder_id)
        await give(house, [9] * 7, people=7, store="c")
        await give(house, [9] * 8, people=8, store="d")
        if way == "kept":
            await keep(house)
        result = await template(house, "by_metadata", metric="nps", metadata="questionnaire_metadata:store_id")
        shown = {row["key"]["questionnaire_metadata:store_id"]: row["figures"][0]["n"] for row in result["rows"]}
        assert {"a": None, "b": None, "c": None, "d": 8} == shown


class TestIntervals:
    async def test_of_people(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of ten people with three answers each as wide as of ten; all are known, or some, from kept counts or not."""
        await give(house, [9, 9, 9, 9, 9, 0, 6, 7, 8, 7] * 3, people=10, days=3)
        expected = metrics.nps(15, 6, 30, effect=3.0).interval
        assert expected is not None
        for is_kept, sampled_max in ((False, 1_000), (False, 5), (True, 5), (True, 1_000)):
            if is_kept:
                await keep(house)
            monkeypatch.setattr(counts, "SAMPLED_MAX", sampled_max)
            found = (await template(house, "nps"))["total"][0]
            assert (30, 30.0) == (found["n"], found["value"])
            interval = [found["interval"]["low"], found["interval"]["high"]]
            assert [round(expected.low, 2), round(expected.high, 2)] == interval, (is_kept, sampled_max)

    async def test_who_answers_once_a_day_is_another_one_each_day(self, house: House) -> None:
        """In a row of one day each person answered once; in the total three times."""
        await give(house, [9, 9, 9, 9, 9, 0, 6, 7, 8, 7] * 3, people=10, days=3)
        result = await template(house, "trend", metric="nps", bucket="day")
        row = next(row["figures"][0] for row in result["rows"] if row["figures"][0]["n"])
        once = metrics.nps(5, 2, 10).interval
        assert once is not None
        assert [round(once.low, 2), round(once.high, 2)] == [row["interval"]["low"], row["interval"]["high"]]
        assert result["total"][0]["interval"] == row["interval"]

    async def test_funnel(self, house: House) -> None:
        """Thirty cases of ten people."""
        await give(house, [9] * 30, people=10)
        found = next(each for each in (await template(house, "funnel"))["total"] if each["metric"] == "response")
        expected = metrics.share(30, 30, metric="response", effect=3.0).interval
        assert expected is not None
        assert (30, round(expected.low, 2)) == (found["n"], found["interval"]["low"])


async def test_a_larger_base_is_counted_again(house: House) -> None:
    """Kept people are as many as the base was: of a larger one they say nothing."""
    await give(house, [9] * 30, people=6, days=3)
    await keep(house)
    await house.set_organization(minimum_base=7)
    assert (await template(house, "nps"))["total"][0]["suppressed"]
    await survey(house, NOW)
    await work(house, NOW)
    async with db.connection(house.pool) as database:
        kept = await database.fetch_value("select min(people_max) from rollup_span")
    assert (7, True) == (kept, (await template(house, "nps"))["total"][0]["suppressed"])
    await house.set_organization(minimum_base=6)
    assert 30 == (await template(house, "nps"))["total"][0]["n"]


async def test_days_that_the_release_before_counted_are_counted_again(house: House) -> None:
    """It writes no people: the day is read live, and counted once more."""
    await give(house, [9] * 6, people=6)
    await keep(house)
    async with db.transaction(house.pool) as database:
        await database.execute(
            """with old as (delete from rollup_count returning *)
               insert into rollup_count
               select (jsonb_populate_record(null::rollup_count, to_jsonb(old) - 'people')).* from old"""
        )
    assert 6 == (await template(house, "nps"))["total"][0]["n"]
    await work(house, datetime.now(UTC) + timedelta(seconds=rollups.AGAIN_SECONDS))
    async with db.connection(house.pool) as database:
        assert 0 == await database.fetch_value("select count(*) from rollup_count where people is null")
    assert 6 == (await template(house, "nps"))["total"][0]["n"]


async def test_people_beside_kept_counts_are_read_with_the_answers(
    house: House, monkeypatch: pytest.MonkeyPatch, statements: list[str]
) -> None:
    """A group of the day that is not kept may be small: its answers are not read again to find its people."""
    await give(house, [9] * 12, people=6, days=3)
    await keep(house)
    for number in range(6):
        await house.respond({NPS: 9}, now=NOW - timedelta(minutes=number + 1))
    monkeypatch.setattr(counts, "READ_AT_ONCE_MAX", 5)
    statements.clear()
    async with db.connection(house.pool) as database:
        cells, people = await counts.answers(database, asked=asked(house, bucket="day"), people_max=7)
    assert 18 == sum(cell.count for cell in cells if cell.question_id == NPS)
    [today] = [group.people for group in people.groups if group.bucket == max(cell.bucket for cell in cells)]
    assert 6 == len(today)
    assert 3 == len(statements)  # kept counts, those of today, answers of each person
