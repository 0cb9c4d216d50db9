"""The overview over the API: the same figures as the reports that it is made of."""

from datetime import datetime, timedelta

from tests.listening.reports.conftest import NPS, House


async def test_ok(house: House, now: datetime) -> None:
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
