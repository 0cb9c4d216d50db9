"""A rule tried on the newest responses: counted as saving would match them, and nothing is stored."""

from datetime import datetime

import pytest

from afterword.cases import previews
from afterword.kit import db
from afterword.listening.responses import rows
from tests.cases.conftest import Desk
from tests.contract.alerting import read_all

PATH = "/alert/preview"


async def follow(database: db.Database, *, now: datetime, limit: int) -> int:
    return await rows.follow(database, now=now)


async def test_refusals(desk: Desk) -> None:
    application = {"application_id": desk.house.application_id}
    for wrong, place in (
        ({"trigger": "schedule"}, "unknown_value /trigger"),
        ({"conditions": {**desk.low(), "operator": "near"}}, "unknown_value /conditions/operator"),
        ({"conditions": {**desk.low(), "subject": f"question:{'0' * 22}"}}, "unknown_id /conditions/subject"),
    ):
        assert (422, place) == await desk.api.refused("POST", PATH, {**application, **wrong})


async def test_counts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "BATCH", 2)
    request = {"application_id": desk.house.application_id, "conditions": desk.low()}
    assert {"responses": 0, "matched": 0, "from_time": None, "owners": []} == await desk.api.ok("POST", PATH, request)
    for score, test in ((1, True), (1, False), (2, False), (3, False), (5, False), (1, False)):
        await desk.respond(score, test=test)
    await desk.answer(await desk.issue(), {desk.score_id: 1}, complete=False)
    await read_all(desk.pool, rows.READER, follow)

    async def tried(**changes: object) -> tuple[int, int]:
        found = await desk.api.ok("POST", PATH, {**request, **changes})
        return found["responses"], found["matched"]

    assert (5, 3) == await tried()
    assert (6, 4) == await tried(trigger="submitted", questionnaire_ids=[desk.house.questionnaire_id])
    assert (5, 2) == await tried(conditions={"not": desk.low()})
    assert (5, 5) == await tried(conditions=None)
    people = [(await desk.person(name)).user_id for name in ("ann", "ben")]
    choice = {"value": "1", "user_ids": people[:1]}
    assignment = {"subject": f"question:{desk.score_id}", "choices": [choice], "user_ids": people[1:]}
    found = await desk.api.ok("POST", PATH, {**request, "conditions": None, "assignment": assignment})
    assert [(people[1], 3), (people[0], 2)] == [tuple(one.values()) for one in found["owners"]]
    assert [] == (await desk.api.get("/alert"))["results"]
    monkeypatch.setattr(previews, "RESPONSES_MAX", 3)
    assert (3, 1) == await tried()
