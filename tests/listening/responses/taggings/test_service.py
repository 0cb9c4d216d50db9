"""Tags for many responses: those that match alone, in parts that go on, changed back by whoever tagged them."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword import errors
from afterword.asking.instances import tags
from afterword.core.organizations.access import Caller
from afterword.kit import db
from afterword.listening.responses import taggings
from tests.listening.reports.conftest import NPS, House, now_of
from tests.pruning import prune

PATH = "/q/response/tag"


@pytest.fixture
async def answered(house: House, now: datetime) -> list[str]:
    """Five responses, the unhappy ones first and last; the second has the tag already."""
    made = [
        (await house.respond({NPS: score}, now=now - timedelta(hours=1 + n))).instance_id
        for n, score in enumerate((1, 9, 9, 9, 2))
    ]
    await house.follow()
    async with db.transaction(house.pool) as database:
        await tags.add(database, caller=house.caller, instance_id=made[1], text="late", now=now)
    return made


async def tagged(house: House) -> list[str]:
    found = await house.get("/q/response", tag="late")
    return [one["instance_id"] for one in found.json()["results"]]


async def ask(house: House, body: dict[str, Any], **headers: str) -> dict[str, Any]:
    response = await house.send("POST", PATH, body, **headers)
    assert 201 == response.status_code, response.text
    return response.json()


async def work(house: House) -> int:
    async with db.transaction(house.pool) as database:
        return await taggings.work_next(database, now=database.clock.now())


async def maker_of(database: db.Database, tagging_id: str, house: House) -> Caller:
    query = "select created_by from tagging where tagging_id = $1"
    return replace(house.caller, user_id=await database.fetch_value(query, tagging_id))


async def test_refusals(house: House, answered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    reader = f"Bearer {await house.token_for(scopes={'Tag.Create', 'Tag.Read'})}"
    refused = await house.send("POST", PATH, {"tag": "late", "action": "remove"}, Authorization=reader)
    assert 403 == refused.status_code
    for body in ({"tag": "a/b"}, {"tag": "late", "action": "move"}, {"tag": "late", "filter": {"band": "angry"}}):
        assert 422 == (await house.send("POST", PATH, body)).status_code, body
    for body, pointer in (({"only": "unhappy"}, "/only"), ({"filter": {"bands": "detractor"}}, "/filter/bands")):
        wrong = (await house.send("POST", PATH, {"tag": "late", **body})).json()["errors"]
        assert [("unknown_member", pointer)] == [(one["code"], one["pointer"]) for one in wrong]
    made = await ask(house, {"tag": "late", "filter": {"only": "unhappy"}})
    path = f"{PATH}/{made['tagging_id']}"
    for method in ("GET", "DELETE"):  # somebody else's
        assert 404 == (await house.send(method, path, Authorization=reader)).status_code
    key = {"tagging_id": made["tagging_id"], "now": await now_of(house)}
    async with db.transaction(house.pool) as database:
        maker = await maker_of(database, made["tagging_id"], house)
        assert await taggings.get_record(database, caller=maker, tagging_id=made["tagging_id"])
        for lesser in (replace(maker, test=True), replace(maker, application_ids=("0" * 22,))):
            with pytest.raises(errors.NotFound):  # one's own, by a token that sees less
                await taggings.undo(database, caller=lesser, **key)
    monkeypatch.setattr(taggings, "FOUND_MAX", 2)
    assert 422 == (await house.send("POST", PATH, {"tag": "late"})).status_code


async def test_all_that_match(house: House, answered: list[str]) -> None:
    made = await ask(house, {"tag": " Late ", "filter": {"only": "unhappy"}})
    assert ("late", "done", 2, 2, 2) == tuple(made[name] for name in ("tag", "state", "found", "passed", "changed"))
    assert [answered[0], answered[1], answered[4]] == await tagged(house)
    assert 204 == (await house.send("DELETE", f"{PATH}/{made['tagging_id']}")).status_code
    assert [answered[1]] == await tagged(house)
    again = (await house.get(f"{PATH}/{made['tagging_id']}")).json()
    assert ("undone", 2) == (again["state"], again["undone"])


async def test_these(house: House, answered: list[str]) -> None:
    refused = await house.send("POST", PATH, {"tag": "late", "instance_ids": [answered[0], "0" * 22]})
    assert [("/instance_ids/1", "unknown_id")] == [(each["pointer"], each["code"]) for each in refused.json()["errors"]]
    unanswered = await house.respond({}, now=await now_of(house))
    body = {"tag": "late", "instance_ids": [*answered[:2], unanswered.instance_id]}
    made = await ask(house, body)
    assert (2, 1) == (made["found"], made["changed"])
    assert answered[:2] == await tagged(house)
    removed = await ask(house, {**body, "action": "remove"})
    assert 2 == removed["changed"]
    assert [] == await tagged(house)
    await house.send("DELETE", f"{PATH}/{removed['tagging_id']}")
    assert answered[:2] == await tagged(house)


async def test_parts(house: House, answered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The request does the first part, the job the others; undone half way, so much alone is changed back."""
    monkeypatch.setattr(taggings, "PART", 2)
    made = await ask(house, {"tag": "late"})
    assert ("running", 5, 2) == (made["state"], made["found"], made["passed"])
    assert [1, 1, 0] == [await work(house) for _ in range(3)]
    assert answered == await tagged(house)
    half = await ask(house, {"tag": "late", "action": "remove"})
    await house.send("DELETE", f"{PATH}/{half['tagging_id']}")
    while await work(house):
        pass
    assert answered == await tagged(house)


async def test_forgotten(house: House, answered: list[str]) -> None:
    made = await ask(house, {"tag": "late"})
    async with db.transaction(house.pool) as database:
        now = database.clock.now()
        assert 0 == await prune(database, "taggings", now=now)
        assert 1 == await prune(database, "taggings", now=now + timedelta(days=taggings.KEEP_DAYS, minutes=1))
    assert 404 == (await house.get(f"{PATH}/{made['tagging_id']}")).status_code
    assert answered == await tagged(house)
