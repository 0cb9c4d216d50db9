"""Daily alerts get their figures from here."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.kit import db
from afterword.listening.reports import counts, results
from tests.listening.reports.conftest import NPS, House


async def alert(house: House, condition: dict[str, Any]) -> str:
    body = {"application_id": house.application_id, "title": "Low", "trigger": "schedule", "conditions": condition}
    response = await house.send("POST", "/alert", body)
    assert 201 == response.status_code, response.text
    return response.json()["alert_id"]


async def evaluate(house: House, now: datetime) -> int:
    async with db.transaction(house.pool) as database:
        return await results.evaluate_alerts(database, now=now, limit=10)


async def cases(house: House, alert_id: str) -> list[dict[str, Any]]:
    return (await house.get(f"/alert/{alert_id}/instance")).json()["results"]


def below(value: int, **more: Any) -> dict[str, Any]:
    return {"subject": f"metric:nps:{NPS}", "operator": "less", "value": value, "window_days": 7, **more}


class TestEvaluateAlerts:
    async def test_a_figure_that_matches_opens_a_case(self, house: House, now: datetime) -> None:
        for value in (0, 0, 0, 9, 9):
            await house.respond({NPS: value}, now=now - timedelta(days=1))
        low, high = await alert(house, below(0)), await alert(house, below(-50))
        assert 2 == await evaluate(house, now)
        [case] = await cases(house, low)
        assert [-20.0] == [leaf["actual"] for leaf in case["matched"]]
        assert [] == await cases(house, high)

    async def test_once_a_day(self, house: House, now: datetime) -> None:
        await house.respond({NPS: 0}, now=now - timedelta(days=1), count=5)
        low = await alert(house, below(0))
        assert [1, 0] == [await evaluate(house, now), await evaluate(house, now + timedelta(hours=1))]
        assert 1 == len(await cases(house, low))

    @pytest.mark.parametrize("number", [0, 4])
    async def test_below_the_minimum_base_it_is_missing(self, house: House, now: datetime, number: int) -> None:
        if number:
            await house.respond({NPS: 0}, now=now - timedelta(days=1), count=number)
        low = await alert(house, below(0))
        empty = await alert(house, {"subject": f"metric:nps:{NPS}", "operator": "is_empty", "window_days": 7})
        assert 2 == await evaluate(house, now)
        assert [0, 1] == [len(await cases(house, each)) for each in (low, empty)]

    async def test_each_window_has_its_own_figure(self, house: House, now: datetime) -> None:
        await house.respond({NPS: 10}, now=now - timedelta(days=1), count=5)
        await house.respond({NPS: 0}, now=now - timedelta(days=20), count=5)
        both = {"all": [below(100, operator="equal", window_days=2), below(0, operator="equal", window_days=30)]}
        alert_id = await alert(house, both)
        assert 1 == await evaluate(house, now)
        assert 1 == len(await cases(house, alert_id))

    async def test_rates(self, house: House, now: datetime) -> None:
        for answers, count in (({NPS: 9}, 3), ({}, 7)):
            await house.respond(answers, now=now - timedelta(days=1), count=count)
        alert_id = await alert(house, {"subject": "metric:response", "operator": "less", "value": 31, "window_days": 7})
        assert 1 == await evaluate(house, now)
        assert 1 == len(await cases(house, alert_id))

    async def test_one_that_fails_keeps_no_other_from_its_day(
        self, house: House, now: datetime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await house.respond({NPS: 0}, now=now - timedelta(days=1), count=5)
        slow, good = await alert(house, below(0, window_days=90)), await alert(house, below(0))
        figure_values = results.figure_values

        async def fail(database: db.Database, **options: Any) -> list[float | None]:
            if options["wanted"][0][1] == 90:
                await database.execute("set local statement_timeout = 1")
                await database.execute("select pg_sleep(1)")
            return await figure_values(database, **options)

        monkeypatch.setattr(results, "figure_values", fail)
        assert 2 == await evaluate(house, now)
        assert [0, 1] == [len(await cases(house, each)) for each in (slow, good)]
        assert 0 == await evaluate(house, now + timedelta(hours=1))

    async def test_more_than_a_report_reads_is_missing(
        self, house: House, now: datetime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await house.respond({NPS: 0}, now=now - timedelta(days=1), count=5)
        monkeypatch.setattr(counts, "RESPONSES_MAX", 2)
        alert_id = await alert(house, below(0))
        assert 1 == await evaluate(house, now)
        assert [] == await cases(house, alert_id)
