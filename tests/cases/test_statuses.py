"""Statuses of cases: those of the product, those that organizations add, and their deletion."""

import asyncio
from typing import Any

from tests.cases.conftest import Desk
from tests.conftest import House


async def create(desk: Desk, title: str = "Waiting", **fields: Any) -> dict[str, Any]:
    return await desk.api.ok("POST", "/alert/status", {"title": title, "color": "#112233", **fields})


class TestStatuses:
    async def test_system(self, desk: Desk) -> None:
        found = await desk.api.get("/alert/status")
        assert [("New", False), ("In progress", False), ("Closed", True), ("Dismissed", True)] == [
            (status["title"], status["closing"]) for status in found
        ]
        assert all(status["system"] for status in found)
        for method, body in (("PATCH", {"title": "Old"}), ("DELETE", None)):
            assert (409, "system_status") == await desk.api.refused(method, "/alert/status/1", body)

    async def test_numbers(self, desk: Desk, neighbour: House) -> None:
        """From 100, for each organization, never twice."""
        assert [100, 101] == [(await create(desk))["status_id"] for _ in range(2)]
        await desk.api.ok("DELETE", "/alert/status/101")
        assert 102 == (await create(desk))["status_id"]
        desk.api.token = neighbour.token
        assert 100 == (await create(desk))["status_id"]

    async def test_numbers_at_once(self, desk: Desk) -> None:
        made = await asyncio.gather(*(create(desk) for _ in range(8)))
        assert list(range(100, 108)) == sorted(status["status_id"] for status in made)

    async def test_change(self, desk: Desk) -> None:
        await create(desk)
        after = await desk.api.ok("PATCH", "/alert/status/100", {"title": "Parked", "closing": True, "position": 7})
        assert ("Parked", True, 7, False) == (after["title"], after["closing"], after["position"], after["system"])
        assert after == (await desk.api.get("/alert/status"))[-1]
        assert after == await desk.api.ok("PATCH", "/alert/status/100", after)


async def test_in_use(desk: Desk) -> None:
    await create(desk)
    case = await desk.case(status_id=100)
    assert (409, "in_use") == await desk.api.refused("DELETE", "/alert/status/100")
    assert (409, "in_use") == await desk.api.refused("PATCH", "/alert/status/100", {"closing": True})
    await desk.api.ok("PATCH", f"/alert/instance/{case['alert_instance_id']}", {"status_id": 1})
    assert (409, "in_use") == await desk.api.refused("DELETE", "/alert/status/100")
    await desk.api.ok("DELETE", f"/alert/{case['alert_id']}")
    await desk.api.ok("DELETE", "/alert/status/100")


async def test_move(desk: Desk) -> None:
    """Its cases are done with it, and their alert gives the other status from now on."""
    await create(desk)
    case = await desk.case(status_id=100)
    path, alert = f"/alert/instance/{case['alert_instance_id']}", f"/alert/{case['alert_id']}"
    for wrong in ("100", "777"):
        found = await desk.api.refused("DELETE", f"/alert/status/100?move_to={wrong}")
        assert (422, "unknown_id move_to") == found
    assert (422, "wrong_type move_to") == await desk.api.refused("DELETE", "/alert/status/100?move_to=x")
    await desk.api.ok("DELETE", "/alert/status/100?move_to=4")
    after = await desk.api.get(path)
    assert (4, desk.house.user_id) == (after["status_id"], after["resolved_by"])
    rule = await desk.api.get(alert)
    assert (4, 0) == (rule["status_id"], rule["open_count"])
    assert ["created", "status_changed", "resolved"] == await desk.kinds()


async def test_of_one_application(desk: Desk) -> None:
    other = (await desk.api.ok("POST", "/application", {"display_name": "Other"}))["application_id"]
    await create(desk, application_id=other)
    case = await desk.case()
    path = f"/alert/instance/{case['alert_instance_id']}"
    assert (422, "unknown_id /status_id") == await desk.api.refused("PATCH", path, {"status_id": 100})
    ours = await desk.token(application_ids=[desk.house.application_id])
    assert 4 == len(await ours.get("/alert/status"))
    assert (404, "not_found") == await ours.refused("GET", "/alert/status/100")
    body = {"title": "Ours", "color": "#112233"}
    assert (422, "required /application_id") == await ours.refused("POST", "/alert/status", body)
    await create(desk)
    assert (403, "forbidden") == await ours.refused("DELETE", "/alert/status/101")
