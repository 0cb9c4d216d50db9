"""Cases and their comments: resolved, assigned, found, told, and seen by callers of some applications."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword.cases.alert_instances import store
from afterword.cases.alert_instances.store import WorkItem
from afterword.kit import db
from tests.cases.conftest import Desk
from tests.dates import YEAR
from tests.making import make_application


class TestCases:
    async def test_fixed_segments_win(self, desk: Desk) -> None:
        case = await desk.case()
        own = await desk.token(application_ids=[desk.house.application_id])
        for reader in (desk.api, own):
            assert [case] == (await reader.get("/alert/instance"))["results"]
        assert [case] == (await desk.api.get(f"/alert/{case['alert_id']}/instance"))["results"]
        assert [1, 2, 3, 4] == [status["status_id"] for status in await desk.api.get("/alert/status")]

    async def test_refused(self, desk: Desk) -> None:
        path = f"/alert/instance/{(await desk.case())['alert_instance_id']}"
        for body, expected in (
            ({"status_id": 77}, "unknown_id /status_id"),
            ({"assigned_user_id": ABSENT}, "unknown_id /assigned_user_id"),
            ({"severity": "none"}, "unknown_value /severity"),
            ({"status_id": None}, "not_nullable /status_id"),
        ):
            assert (422, expected) == await desk.api.refused("PATCH", path, body)

    async def test_resolve_and_reopen(self, desk: Desk) -> None:
        case = await desk.case()
        path, alert = f"/alert/instance/{case['alert_instance_id']}", f"/alert/{case['alert_id']}"
        closed = await desk.api.ok("PATCH", path, {"status_id": 3})
        assert (3, desk.house.user_id) == (closed["status_id"], closed["resolved_by"])
        assert 0 == (await desk.api.get(alert))["open_count"]
        dismissed = await desk.api.ok("PATCH", path, {"status_id": 4})
        assert closed["resolved_time"] == dismissed["resolved_time"]
        again = await desk.api.ok("PATCH", path, {"status_id": 2})
        assert (None, None) == (again["resolved_time"], again["resolved_by"])
        assert 1 == (await desk.api.get(alert))["open_count"]
        assert ["created", "status_changed", "resolved", "status_changed", "status_changed", "reopened"] == (
            await desk.kinds()
        )
        actors = {(event.actor_kind, event.actor_id) for event in (await desk.news())[1:]}
        assert {("user", desk.house.user_id)} == actors

    async def test_assign(self, desk: Desk) -> None:
        anna = await desk.person("anna")
        path = f"/alert/instance/{(await desk.case())['alert_instance_id']}"
        after = await desk.api.ok(
            "PATCH", path, {"assigned_user_id": anna.user_id, "severity": "critical", "due_time": f"{YEAR}-01-15 10:00"}
        )
        assert (anna.user_id, "critical") == (after["assigned_user_id"], after["severity"])
        assert f"{YEAR}-01-15T10:00:00+02:00" == after["due_time"]
        free = await desk.api.ok("PATCH", path, {"assigned_user_id": None, "due_time": None})
        assert (None, None) == (free["assigned_user_id"], free["due_time"])
        assert ["created", "assigned", "assigned"] == await desk.kinds()

    async def test_whole_model_sent_back(self, desk: Desk) -> None:
        case = await desk.case()
        path = f"/alert/instance/{case['alert_instance_id']}"
        assert case == await desk.api.ok("PATCH", path, case)
        assert ["created"] == await desk.kinds()

    async def test_user_who_leaves(self, desk: Desk) -> None:
        """The case is nobody's then; the row of the user takes nothing with it."""
        anna = await desk.person("anna")
        case = await desk.case(assigned_user_id=anna.user_id)
        await desk.execute("delete from token where user_id = $1", anna.user_id)
        await desk.execute("delete from organization_user where user_id = $1", anna.user_id)
        after = await desk.api.get(f"/alert/instance/{case['alert_instance_id']}")
        assert after["assigned_user_id"] is None


class TestComments:
    async def test_write_change_delete(self, desk: Desk) -> None:
        path = f"/alert/instance/{(await desk.case())['alert_instance_id']}"
        comment = await desk.api.ok("POST", f"{path}/comment", {"body": "Called."})
        assert (desk.house.user_id, "Called.") == (comment["user_id"], comment["body"])
        assert 1 == (await desk.api.get(path))["comments_count"]
        one = f"{path}/comment/{comment['comment_id']}"
        after = await desk.api.ok("PATCH", one, {"body": "Called twice."})
        assert [after] == (await desk.api.get(f"{path}/comment"))["results"]
        assert after == await desk.api.ok("PATCH", one, {})
        response = await desk.api.send("PATCH", one, {"body": "x"}, headers={"If-Match": '"1"'})
        assert 412 == response.status_code
        await desk.api.ok("DELETE", one)
        assert 0 == (await desk.api.get(path))["comments_count"]
        assert (404, "not_found") == await desk.api.refused("DELETE", one)
        [event] = await desk.news("commented")
        assert comment["comment_id"] == event.data["comment_id"]
        assert "Called" not in str(event.data)

    async def test_another_author(self, desk: Desk) -> None:
        path = f"/alert/instance/{(await desk.case())['alert_instance_id']}"
        comment = await desk.api.ok("POST", f"{path}/comment", {"body": "Mine."})
        anna, machine = await desk.person("anna", role="admin"), await desk.token()
        for other in (anna, machine):
            one = f"{path}/comment/{comment['comment_id']}"
            assert (403, "forbidden") == await other.refused("PATCH", one, {"body": "Yours."})
            assert (403, "forbidden") == await other.refused("DELETE", one)
            assert 1 == (await other.get(f"{path}/comment"))["total_results"]

    async def test_token_of_the_organization(self, desk: Desk) -> None:
        path = f"/alert/instance/{(await desk.case())['alert_instance_id']}"
        machine = await desk.token()
        comment = await machine.ok("POST", f"{path}/comment", {"body": "From the shop."})
        assert comment["user_id"] is None
        await machine.ok("DELETE", f"{path}/comment/{comment['comment_id']}")


class TestClock:
    async def test_stands_still_while_waiting(self, desk: Desk) -> None:
        case = await desk.case(due_hours=5)
        path = f"/alert/instance/{case['alert_instance_id']}"
        waits = await desk.api.ok("PATCH", path, {"waiting": True})
        assert waits["waiting"]
        assert waits["due_time"] is None
        assert 4 * 3_600 < waits["due_left_seconds"] <= 5 * 3_600
        assert waits == await desk.api.ok("PATCH", path, {"waiting": True})
        await desk.execute("update alert_instance set waiting_since = waiting_since - interval '3 days'")
        again = await desk.api.ok("PATCH", path, {"waiting": False})
        assert not again["waiting"]
        assert again["due_left_seconds"] is again["waiting_since"] is None
        assert datetime.fromisoformat(again["due_time"]) >= datetime.fromisoformat(case["due_time"])

    @pytest.mark.parametrize("change", [{"status_id": 3}, {"due_time": "2027-01-02T10:00:00Z"}])
    async def test_waits_no_longer(self, desk: Desk, change: dict[str, Any]) -> None:
        """Closing ends the waiting, and so does a new due time."""
        case = await desk.case(due_hours=5)
        path = f"/alert/instance/{case['alert_instance_id']}"
        await desk.api.ok("PATCH", path, {"waiting": True})
        after = await desk.api.ok("PATCH", path, change)
        assert not after["waiting"]
        assert after["due_time"] is not None
        assert (await desk.api.ok("PATCH", path, {"waiting": True}))["waiting"] == ("due_time" in change)


async def test_mentioned(desk: Desk) -> None:
    """A colleague whom a comment mentions gets one notice, by mail too; somebody of another application gets none."""
    anna = await desk.person("anna")
    far = await desk.person("far", application_ids=[await other_application(desk)])
    case = await desk.told_case()
    path = f"/alert/instance/{case['alert_instance_id']}/comment"
    await desk.api.ok("POST", path, {"body": "@anna@demo.example and @far@demo.example: who calls?"})
    await desk.notify_all()
    assert ["alert_instance.mentioned"] == [one["type"] for one in (await anna.get("/notification"))["results"]]
    assert [] == (await far.get("/notification"))["results"]
    assert 1 == await desk.value("select count(*) from notice_mail where user_id = $1", anna.user_id)


async def other_application(desk: Desk) -> str:
    return await make_application(desk.pool, desk.house.organization_id)


ABSENT = "zzzzzzzzzzzzzzzzzzzzzz"


async def test_order(desk: Desk) -> None:
    await desk.alert()
    for _ in range(4):
        await desk.raised()
    ids = [case["alert_instance_id"] for case in await desk.cases()]
    for case_id, hours in zip(ids, (None, 5, -5, 1), strict=True):
        await desk.execute(
            "update alert_instance set due_time = now() + make_interval(hours => $2) where alert_instance_id = $1",
            *(case_id, hours),
        )
    assert [ids[2], ids[3], ids[1], ids[0]] == [one.alert_instance_id for one in await listed(desk)]
    assert [ids[2]] == [one.alert_instance_id for one in await listed(desk, tab="overdue")]
    assert [] == await listed(desk, after=(store.NEVER, ids[0]))


async def test_closed(desk: Desk) -> None:
    case = await desk.case()
    now = await desk.now()
    await desk.execute("update alert_instance set resolved_time = $1", now)
    assert [] == await listed(desk)
    async with db.connection(desk.pool) as database:
        given: dict[str, Any] = {**desk.house.caller.reach, "since": now - timedelta(days=1), "limit": 5, "only": None}
        found = await store.list_closed(database, **given, before=now + timedelta(seconds=1))
        assert [case["alert_instance_id"]] == [one.alert_instance_id for one in found]
        assert [] == await store.list_closed(database, **given, before=now)
        given["only"] = ["store_id", "station"]
        assert [] == await store.list_closed(database, **given, before=now + timedelta(seconds=1))


async def test_one_branch(desk: Desk) -> None:
    """Nobody sees the cases of another branch, nor those that a daily figure opened: no branch has them."""
    await desk.alert()
    for _ in range(3):
        await desk.raised()
    cases = [case["alert_instance_id"] for case in await desk.cases()]
    for case_id, branch in zip(cases[:2], ("harbour", "station"), strict=True):
        await desk.execute(
            """update questionnaire_instance i set metadata = jsonb_build_object('store_id', $2::text)
               from alert_instance c where c.alert_instance_id = $1 and i.instance_id = c.instance_id""",
            *(case_id, branch),
        )
    await desk.execute(
        """update alert_instance set instance_id = null, questionnaire_id = null, responder_id = null
           where alert_instance_id = $1""",
        cases[2],
    )
    assert set(cases) == {one.alert_instance_id for one in await listed(desk)}
    for values, seen in ((["harbour"], cases[:1]), (["harbour", "station"], cases[:2]), (["nowhere"], []), ([], [])):
        only = ["store_id", *values]
        assert set(seen) == {one.alert_instance_id for one in await listed(desk, only=only)}
        given = {"only": only, "user_id": None, "now": await desk.now()}
        counts = await desk.run(store.count_cases, **desk.house.caller.reach, **given)
        assert len(seen) == counts["open"] == counts["unassigned"]


async def listed(
    desk: Desk,
    *,
    tab: str = "open",
    after: tuple[datetime, str] | None = None,
    only: Sequence[str] | None = None,
) -> list[WorkItem]:
    given = {"tab": tab, "user_id": None, "now": await desk.now(), "after": after, "limit": 10}
    return await desk.run(store.list_work, **desk.house.caller.reach, only=only, **given)
