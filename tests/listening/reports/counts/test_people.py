"""Intervals are of people: whoever answers often counts once, from kept counts and from answers alike."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from afterword.core.figures import metrics
from afterword.listening.reports import counts
from tests.listening.reports.conftest import CES, CSAT, NPS, House
from tests.listening.reports.test_daily_counts import survey, work

NOW = datetime(2026, 6, 20, 9, 30, tzinfo=UTC)
FROM, TO = "2026-05-01T00:00:00+03:00", "2026-06-20T09:30:00Z"


async def give(house: House, values: list[int], *, people: int, store: str = "1", days: int = 1) -> None:
    """Answers of so many people in turn, on several days."""
    who: list[str] = []
    for number, value in enumerate(values):
        instance = await house.respond(
            {NPS: value, CSAT: value % 5 + 1, CES: value % 7 + 1},
            now=NOW - timedelta(days=2 + number // people % days, minutes=number),
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


class TestIntervals:
    async def test_of_people(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of ten people with two answers each as wide as of ten; all are known, or some, from kept counts or not."""
        await give(house, [9, 9, 9, 9, 9, 0, 6, 7, 8, 7] * 2, people=10, days=2)
        expected = metrics.nps(10, 4, 20, effect=2.0).interval
        assert expected is not None
        for is_kept, sampled_max in ((False, 1_000), (False, 5), (True, 5), (True, 1_000)):
            if is_kept:
                await keep(house)
            monkeypatch.setattr(counts, "SAMPLED_MAX", sampled_max)
            found = (await template(house, "nps"))["total"][0]
            assert (20, 30.0) == (found["n"], found["value"])
            interval = [found["interval"]["low"], found["interval"]["high"]]
            assert [round(expected.low, 2), round(expected.high, 2)] == interval, (is_kept, sampled_max)

    async def test_a_sample_is_read_once_an_hour(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        await give(house, [9] * 8, people=4, days=2)
        monkeypatch.setattr(counts, "SAMPLED_MAX", 5)
        read: list[datetime] = []
        list_repeats = vars(counts)["_list_repeats"]

        async def note(*given: Any, **named: Any) -> Any:
            read.append(given[1].period.to_time)
            return await list_repeats(*given, **named)

        monkeypatch.setattr(counts, "_list_repeats", note)
        first = await template(house, "nps")
        assert first["total"] == (await template(house, "nps"))["total"]
        assert [NOW.replace(minute=0)] == read
        await house.template("nps", from_time=FROM, to_time="2026-06-20T10:00:01Z")
        assert [NOW.replace(minute=0), NOW.replace(hour=10, minute=0)] == read

    async def test_who_answers_once_a_day_is_another_one_each_day(self, house: House) -> None:
        """In a row of one day each person answered once; in the total twice."""
        await give(house, [9, 9, 9, 9, 9, 0, 6, 7, 8, 7] * 2, people=10, days=2)
        result = await template(house, "trend", metric="nps", bucket="day")
        row = next(row["figures"][0] for row in result["rows"] if row["figures"][0]["n"])
        once = metrics.nps(5, 2, 10).interval
        assert once is not None
        assert [round(once.low, 2), round(once.high, 2)] == [row["interval"]["low"], row["interval"]["high"]]
        assert result["total"][0]["interval"] == row["interval"]

    async def test_funnel(self, house: House) -> None:
        """Ten cases of five people."""
        await give(house, [9] * 10, people=5)
        found = next(each for each in (await template(house, "funnel"))["total"] if each["metric"] == "response")
        expected = metrics.share(10, 10, metric="response", effect=2.0).interval
        assert expected is not None
        assert (10, round(expected.low, 2)) == (found["n"], found["interval"]["low"])
