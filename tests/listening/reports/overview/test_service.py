"""The overview's figures are those of the ordinary reports, for the same questionnaires and days."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.core.figures import periods
from afterword.kit import db
from afterword.listening.reports import overview as reports_overview
from afterword.listening.reports.overview import Overview
from tests.listening.reports.conftest import CSAT, NPS, House


async def overview(house: House, **given: Any) -> Overview | None:
    asked: dict[str, Any] = {"caller": house.caller, "period": {"last_days": 30}, **given}
    async with db.connection(house.pool) as database:
        found = await reports_overview.get_subjects(database, caller=asked["caller"], application_id=None)
        return await reports_overview.overview_of(database, subjects=found, now=database.clock.now(), **asked)


async def test_without_answers(house: House) -> None:
    found = await overview(house)
    assert found is not None
    assert ["nps", "csat", "ces"] == [score.metric for score in found.scores]
    assert {0} == {score.figure.measure.n for score in found.scores}
    assert "week" == found.bucket


async def test_equal_to_the_reports(house: House, now: datetime) -> None:
    for number in range(15):
        answers = {NPS: 10 if number % 3 else 2, CSAT: 1 + number % 5}
        at = now - timedelta(days=number, minutes=1)
        await house.respond(answers, now=at, count=4, every=timedelta(days=15))
    found = await overview(house)
    assert found is not None
    nps = found.scores[0]
    begin = periods.days_before(now, 30, found.period.zone)
    times = {"from_time": begin.isoformat(), "to_time": now.isoformat()}
    report = await house.template("trend", metric="nps", bucket=found.bucket, compare="previous_period", **times)
    total, measure = report["total"][0], nps.figure.measure
    assert total["n"] == measure.n
    assert measure.value is not None
    assert total["value"] == round(measure.value, 2)
    assert nps.figure.change is not None
    assert total["change"]["difference"] == round(nps.figure.change.difference, 2)
    shown = [None if each.figure.suppressed else each.figure.measure.n for each in nps.bins]
    assert [row["figures"][0]["n"] for row in report["rows"]] == shown
    before = [each.figure.change and round(each.figure.change.previous, 2) for each in nps.bins]
    assert [(row["figures"][0]["change"] or {}).get("previous") for row in report["rows"]] == before
    assert any(before)
    assert ("week", True) == (found.bucket, found.is_coarse)  # 30 answers are too few for days


async def test_readers_of_figures_alone_get_whole_months(house: House, now: datetime) -> None:
    await house.respond({NPS: 9}, now=now - timedelta(days=35), count=40, every=timedelta(minutes=1))
    found = await overview(
        house, caller=replace(house.caller, scopes=frozenset({"Report.Read"})), period={"last_days": 90}
    )
    assert found is not None
    assert (True, "month") == (found.is_of_months, found.bucket)
    assert 1 == found.period.from_time.astimezone(found.period.zone).day
    assert 40 == found.scores[0].figure.measure.n


async def test_funnel(house: House, now: datetime) -> None:
    for answers, complete, count in (({}, False, 3), ({NPS: 9}, False, 2), ({NPS: 9}, True, 3)):
        await house.respond(answers, now=now - timedelta(days=1), complete=complete, count=count)
    found = await overview(house)
    assert found is not None
    counts = {stage: figure.measure.value for stage, figure in found.funnel}
    assert {"sent": 8, "started": 5, "completed": 3} == {
        stage: counts[stage] for stage in ("sent", "started", "completed")
    }


async def test_bins_of_weeks_and_months(house: House, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    await house.respond({NPS: 9}, now=now, count=70, every=timedelta(days=1))
    found = await overview(house, period={"last_days": 90})
    assert found is not None
    assert ("month", True) == (found.bucket, found.is_coarse)
    monkeypatch.setattr(reports_overview, "BIN_ANSWERS", 1)
    found = await overview(house, period={"last_days": 90})
    assert found is not None
    assert ("week", False) == (found.bucket, found.is_coarse)  # 90 points could not be told apart


async def test_bins_of_days_where_there_are_enough(house: House, now: datetime) -> None:
    await house.respond({NPS: 9}, now=now, count=90, every=timedelta(minutes=1))
    found = await overview(house, period={"last_days": 1})
    assert found is not None
    assert ("day", False) == (found.bucket, found.is_coarse)


async def test_over_the_api(house: House, now: datetime) -> None:
    for number in range(12):
        await house.respond({NPS: 10 if number % 3 else 3}, now=now - timedelta(days=number))
    found = (await house.get("/report/overview", days=30)).json()
    ready = await house.template("nps", compare="previous_period")
    scores = {score["figure"]["metric"]: score for score in found["scores"]}
    for member in ("value", "n", "interval"):
        assert ready["total"][0][member] == scores["nps"]["figure"][member]
    steps = await house.template("trend", metric="nps", bucket="week")
    assert [row["figures"][0]["value"] for row in steps["rows"]] == [
        step["figure"]["value"] for step in scores["nps"]["bins"]
    ]
    assert [12, 12] == [figure["value"] for figure in found["funnel"] if figure["metric"] in {"sent", "completed"}]
    assert ("week", 1) == (found["bucket"], found["questionnaires"])


async def test_of_another_application(house: House) -> None:
    refused = await house.get("/report/overview", application_id="z" * 22)
    assert 422 == refused.status_code
    found = [(each["parameter"], each["code"]) for each in refused.json()["errors"]]
    assert [("application_id", "unknown_id")] == found
