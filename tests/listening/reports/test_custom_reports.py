"""Custom reports: what may be saved, changed and read, and their runs."""

from datetime import datetime, timedelta
from typing import Any, Final

from afterword.kit import db
from afterword.tenants.organizations import service as accounts
from tests.listening.reports.conftest import CES, CHOICE, CSAT, NPS, TEXT, House, make_questionnaire
from tests.listening.reports.test_api import ABSENT, give

LIST: Final = "/report/custom"
_METRIC_LEAF: Final = {"subject": "metric:nps", "operator": "equal", "value": 1}


def spec(house: House, **more: Any) -> dict[str, Any]:
    return {"questionnaire_ids": [house.questionnaire_id], "metrics": [{"metric": "nps"}], **more}


async def save(house: House, **more: Any) -> dict[str, Any]:
    response = await house.send("POST", LIST, {"title": "Score", "spec": spec(house, **more)})
    assert 201 == response.status_code, response.text
    return response.json()


async def test_create_and_read(house: House) -> None:
    made = await save(house, group_by=["bucket"], bucket="week", last_days=90)
    assert {
        "questionnaire_ids": [house.questionnaire_id], "metrics": [{"metric": "nps", "question_id": None}],
        "group_by": ["bucket"], "bucket": "week", "filter": None, "from_time": None, "to_time": None,
        "last_days": 90, "date_basis": None, "time_zone": None, "compare": "none", "level": 0.95, "chart": "table",
        "template_id": None, "question_id": None, "metric": None, "metadata": None, "channel_id": None,
        "pipeline_id": None, "outcome_question_id": None, "question_ids": None, "by": None, "band": None,
        "calendar_period": None,
    } == made["spec"]  # fmt: skip
    response = await house.get(f"{LIST}/{made['report_id']}")
    assert (made, '"1"') == (response.json(), response.headers["etag"])
    listed = (await house.get(LIST)).json()
    assert [made] == listed["results"]


async def test_what_cannot_be_run_is_not_saved(house: House) -> None:
    for more, expected in (
        ({"questionnaire_ids": [ABSENT]}, ("/spec/questionnaire_ids/0", "unknown_id")),
        ({"questionnaire_ids": []}, ("/spec/questionnaire_ids", "too_few")),
        ({"metrics": []}, ("/spec/metrics", "too_few")),
        ({"metrics": [{"metric": "nps"}] * 6}, ("/spec/metrics", "too_many")),
        ({"metrics": [{"metric": "mean"}]}, ("/spec/metrics/0/question_id", "required")),
        ({"metrics": [{"metric": "nps", "question_id": ABSENT}]}, ("/spec/metrics/0/question_id", "unknown_id")),
        ({"metrics": [{"metric": "nps", "question_id": CES}]}, ("/spec/metrics/0/question_id", "unknown_value")),
        ({"group_by": ["bucket"]}, ("/spec/bucket", "required")),
        ({"group_by": ["weather"]}, ("/spec/group_by/0", "unknown_value")),
        ({"group_by": ["locale", "locale"]}, ("/spec/group_by/1", "exclusive")),
        ({"group_by": [f"question:{ABSENT}"]}, ("/spec/group_by/0", "unknown_id")),
        ({"group_by": [f"question:{TEXT}"]}, ("/spec/group_by/0", "unknown_value")),
        ({"group_by": ["locale", "version", "channel", "questionnaire"]}, ("/spec/group_by", "too_many")),
        ({"filter": _METRIC_LEAF}, ("/spec/filter/subject", "unknown_value")),
        ({"last_days": 0}, ("/spec/last_days", "out_of_range")),
        ({"last_days": 7, "from_time": "2026-01-01T00:00:00Z"}, ("/spec/last_days", "exclusive")),
        ({"from_time": "2026-01-02 10:00", "to_time": "2026-01-01 10:00"}, ("/spec/to_time", "out_of_range")),
    ):  # fmt: skip
        response = await house.send("POST", LIST, {"title": "Score", "spec": {**spec(house), **more}})
        assert 422 == response.status_code
        assert [expected] == [(error["pointer"], error["code"]) for error in response.json()["errors"]], more


async def test_update(house: House) -> None:
    made = await save(house)
    path = f"{LIST}/{made['report_id']}"
    assert 412 == (await house.send("PATCH", path, {"title": "No"}, **{"If-Match": '"7"'})).status_code
    response = await house.send("PATCH", path, {"title": "Better", "spec": spec(house, chart="line")})
    assert (200, "Better", "line") == (
        response.status_code,
        response.json()["title"],
        response.json()["spec"]["chart"],
    )
    again = await house.send("PATCH", path, {"title": "Better"})
    assert response.headers["etag"] == again.headers["etag"] == '"2"'
    bad = await house.send("PATCH", path, {"spec": spec(house, group_by=["weather"])})
    assert 422 == bad.status_code


async def test_delete(house: House) -> None:
    path = f"{LIST}/{(await save(house))['report_id']}"
    assert 204 == (await house.send("DELETE", path)).status_code
    assert 404 == (await house.get(path)).status_code


async def test_run_by_everything(house: House, now: datetime) -> None:
    """Three groups and two metrics; a bucket, the answer to another question, a value of metadata."""
    more: dict[str, Any] = {"metadata": {"store_id": "1"}, "locale": "el", "count": 20}
    for days in (0, 1):
        await house.respond({NPS: 9, CHOICE: days + 1, CSAT: 5}, now=now - timedelta(days=days), **more)
    made = await save(
        house,
        metrics=[{"metric": "nps"}, {"metric": "response"}],
        group_by=["bucket", f"question:{CHOICE}", "questionnaire_metadata:store_id"],
        bucket="quarter",
        last_days=60,
        compare="previous_period",
    )
    result = (await house.get(f"{LIST}/{made['report_id']}/run")).json()
    assert (made["report_id"], None, "Score") == (result["report_id"], result["template_id"], result["title"])
    key = {"questionnaire_metadata:store_id": "1", f"question:{CHOICE}": 1}
    [row] = [row for row in result["rows"] if key.items() <= row["key"].items() and row["figures"][0]["n"]]
    assert [("nps", 20), ("response", 20)] == [(found["metric"], found["n"]) for found in row["figures"]]
    assert [39, 39] == [found["n"] - 1 for found in result["total"]]


async def test_run_by(house: House, now: datetime) -> None:
    await give(house, now, [9] * 6, locale="el")
    expected = {"questionnaire": house.questionnaire_id, "channel": None, "locale": "el"}
    for group in ("questionnaire", "version", "channel", "locale"):
        made = await save(house, group_by=[group])
        result = (await house.get(f"{LIST}/{made['report_id']}/run")).json()
        [row] = result["rows"]
        assert [group] == list(row["key"])
        if group in expected:
            assert expected[group] == row["key"][group]


async def test_closed_applications(house: House, now: datetime) -> None:
    """A report about a questionnaire of an application that the caller may not see is as absent."""
    made = await save(house)
    async with db.transaction(house.pool) as database:
        other = await accounts.create_application(
            database, organization_id=house.caller.organization_id, display_name="Other", now=now
        )
        theirs = await make_questionnaire(database, house.caller.organization_id, other.application_id)
    house.token = await house.token_for(application_ids=[other.application_id])
    for path in (f"{LIST}/{made['report_id']}", f"{LIST}/{made['report_id']}/run"):
        assert 404 == (await house.get(path)).status_code
    assert [] == (await house.get(LIST)).json()["results"]
    body = {"title": "Mine", "spec": spec(house, questionnaire_ids=[theirs])}
    assert 201 == (await house.send("POST", LIST, body)).status_code
    body = {"title": "Mine", "application_id": house.application_id, "spec": body["spec"]}
    refused = await house.send("POST", LIST, body)
    assert [("/application_id", "unknown_id")] == [(e["pointer"], e["code"]) for e in refused.json()["errors"]]
