"""Responses that are held back: nothing tells of them until somebody accepts them, and that can be taken back."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.asking.instances.answers import Start
from afterword.asking.instances.store import Instance
from afterword.cases import service
from afterword.kit import db
from tests.listening.reports.conftest import (
    NPS,
    TEXT,
    House,
    house as house,  # noqa: PLC0414  a fixture
    now as now,  # noqa: PLC0414  a fixture
)
from tests.making import make_application

DOUBTFUL = "/q/response/doubtful"
DAY = timedelta(days=1)


@pytest.fixture
async def held(house: House, now: datetime) -> Instance:
    return await house.respond(
        {NPS: 1, TEXT: "Dear sir"}, now=now - timedelta(minutes=5), start=Start(has_hidden_field=True, is_burst=True)
    )


async def told(house: House, instance: Instance) -> list[str]:
    async with db.connection(house.pool) as database:
        rows = await database.fetch(
            "select type from event where subject_id = $1 order by xid, seq", instance.instance_id
        )
    return [row["type"].partition(".")[2] for row in rows]


async def seen(house: House, instance: Instance) -> dict[str, Any]:
    """All that figures, lists and cases tell."""
    await house.follow()
    async with db.transaction(house.pool) as database:
        while await service.raise_next(database, now=database.clock.now(), limit=100):
            pass
        cases = await database.fetch_value("select count(*) from alert_instance")
    await house.set_organization(minimum_base=1)
    report = await house.template("nps")
    one = (await house.get(f"/q/instance/{instance.instance_id}")).json()
    return {
        "figure": report["total"][0]["n"],
        "listed": (await house.get("/q/response/count")).json()["count"],
        "cases": cases,
        "times": [one[name] is not None for name in ("viewed_time", "submitted_time", "completed_time")],
    }


async def judge(house: House, *there: Instance, judgement: str = "accepted", **headers: str) -> int:
    body = {"instance_ids": [one.instance_id for one in there], "judgement": judgement}
    answer = await house.send("POST", f"{DOUBTFUL}/judgement", body, **headers)
    assert 200 == answer.status_code, answer.text
    return answer.json()["count"]


async def test_refused(house: House, held: Instance) -> None:
    """By a token of another application, and with wrong members."""
    body = {"instance_ids": [held.instance_id], "judgement": "accepted"}
    other_id = await make_application(house.pool, house.caller.organization_id)
    confined = replace(house, token=await house.token_for(application_ids=[other_id]))
    refused = await confined.send("POST", f"{DOUBTFUL}/judgement", body)
    assert (422, "unknown_id") == (refused.status_code, refused.json()["errors"][0]["code"])
    assert [] == (await confined.get(DOUBTFUL)).json()["results"]
    for wrong in ({"judgement": "held"}, {"instance_ids": []}, {"instance_ids": ["x"]}):
        assert 422 == (await house.send("POST", f"{DOUBTFUL}/judgement", {**body, **wrong})).status_code
    assert ["created"] == await told(house, held)


async def test_nothing_tells_of_it_until_it_is_accepted(house: House, held: Instance) -> None:
    rule = {
        "title": "Unhappy",
        "application_id": house.application_id,
        "questionnaire_ids": [house.questionnaire_id],
        "trigger": "completed",
        "conditions": {"subject": f"question:{NPS}", "operator": "less_equal", "value": 6},
    }
    made = await house.send("POST", "/alert", rule)
    assert 201 == made.status_code, made.text
    nothing = {"figure": 0, "listed": 0, "cases": 0, "times": [False, False, False]}
    assert (nothing, ["created"]) == (await seen(house, held), await told(house, held))
    [row] = (await house.get(DOUBTFUL)).json()["results"]
    assert (["burst", "hidden_field"], "held") == (row["flags"], row["state"])
    assert 1 == len((await house.get(DOUBTFUL, flag="burst")).json()["results"])
    assert [] == (await house.get(DOUBTFUL, flag="speeding")).json()["results"]

    assert (1, 0) == (await judge(house, held), await judge(house, held))
    everything = {"figure": 1, "listed": 1, "cases": 1, "times": [True, True, True]}
    events = ["created", "accepted", "viewed", "submitted", "completed"]
    assert (everything, events) == (await seen(house, held), await told(house, held))
    async with db.connection(house.pool) as database:
        assert await database.fetch_value(
            "select held_submitted_time is null and submitted_time < updated_time from questionnaire_instance"
        )

    assert 1 == await judge(house, held, judgement="rejected")
    assert {**nothing, "cases": 1} == await seen(house, held)  # what people did stays
    assert [*events, "rejected"] == await told(house, held)
    assert ["rejected"] == [row["state"] for row in (await house.get(DOUBTFUL, state="rejected")).json()["results"]]
    assert 1 == await judge(house, held)
    assert 1 == (await seen(house, held))["figure"]


async def test_only_what_was_held_back_is_judged(house: House, now: datetime) -> None:
    person = await house.respond({NPS: 9}, now=now - DAY)
    begun = await house.respond({}, now=now - DAY)
    assert 0 == await judge(house, person, begun, judgement="rejected")
    assert 1 == (await seen(house, person))["figure"]
