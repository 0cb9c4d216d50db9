"""Alerts, their cases, comments and statuses over the API. Scopes, tenants and bad input are in tests/contract."""

import asyncio
from typing import Any

import pytest

from tests.alerts.conftest import Desk
from tests.conftest import House
from tests.dates import YEAR

ABSENT = "zzzzzzzzzzzzzzzzzzzzzz"
METRIC = "metric:csat:"


class TestCreateAlert:
    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({"application_id": ABSENT}, "unknown_id /application_id"),
            ({"questionnaire_ids": [ABSENT]}, "unknown_id /questionnaire_ids/0"),
            ({"assigned_user_id": ABSENT}, "unknown_id /assigned_user_id"),
            ({"subscriber_user_ids": [ABSENT]}, "unknown_id /subscriber_user_ids/0"),
            ({"status_id": 99}, "unknown_id /status_id"),
            ({"chat_urls": ["https://chat.example/hook"]}, "unknown_value /chat_urls"),
            ({"due_hours": 721}, "out_of_range /due_hours"),
            ({"fold_hours": -1}, "out_of_range /fold_hours"),
            ({"trigger": "daily"}, "unknown_value /trigger"),
            ({"trigger": "schedule"}, "required /conditions"),
        ],
    )
    async def test_refused(self, desk: Desk, fields: dict[str, Any], expected: str) -> None:
        body = {"application_id": desk.house.application_id, "title": "A", **fields}
        assert (422, expected) == await desk.api.refused("POST", "/alert", body)

    async def test_conditions(self, desk: Desk) -> None:
        """They are read as they are meant: questions, declared types, tags, figures only by day."""
        score, store = f"question:{desk.score_id}", "questionnaire_metadata:store_pickup"
        cases: list[tuple[Any, str, str]] = [
            ({"subject": f"question:{ABSENT}", "operator": "equal", "value": 1}, "completed", "unknown_id /subject"),
            ({"subject": "question:", "operator": "equal", "value": 1}, "completed", "unknown_id /subject"),
            ({"subject": score, "operator": "contains", "value": 1}, "completed", "wrong_type /operator"),
            ({"subject": score, "operator": "equal", "value": "high"}, "completed", "wrong_type /value"),
            ({"subject": store, "operator": "equal", "value": "perhaps"}, "completed", "wrong_type /value"),
            ({"subject": "questionnaire_metadata:other", "operator": "less", "value": 2}, "completed",
             "wrong_type /operator"),
            ({"subject": "tag:vip", "operator": "equal", "value": "vip"}, "completed", "wrong_type /operator"),
            ({"subject": f"{METRIC}{desk.score_id}", "operator": "less", "value": 1}, "completed",
             "unknown_value /subject"),
            ({"subject": f"{METRIC}{ABSENT}", "operator": "less", "value": 1}, "schedule", "unknown_id /subject"),
            ({"subject": "metric:joy", "operator": "less", "value": 1}, "schedule", "unknown_value /subject"),
            ({"subject": "tag:vip", "operator": "is_empty"}, "schedule", "unknown_value /subject"),
            ({"subject": "responder_metadata:email", "operator": "is_empty"}, "schedule", "unknown_value "),
            ({"all": []}, "schedule", "unknown_value "),
            ({"subject": score, "operator": "equal", "value": 1, "valeu": 2}, "completed", "unknown_member /valeu"),
            ({"never": []}, "completed", "required /subject"),
        ]  # fmt: skip
        for conditions, trigger, expected in cases:
            code, _, place = expected.partition(" ")
            body = {"application_id": desk.house.application_id, "title": "A", "trigger": trigger}
            found = await desk.api.refused("POST", "/alert", {**body, "conditions": conditions})
            assert (422, f"{code} /conditions{place}") == found, conditions

    async def test_ok(self, desk: Desk) -> None:
        response = await desk.api.send("POST", "/alert", {"application_id": desk.house.application_id, "title": "All"})
        alert = response.json()
        assert 201 == response.status_code
        assert response.headers["location"].endswith(f"/v3.2/alert/{alert['alert_id']}")
        expected = {
            "organization_id": desk.house.organization_id,
            "description": None,
            "questionnaire_ids": [],
            "trigger": "completed",
            "conditions": None,
            "severity": "normal",
            "active": True,
            "status_id": 1,
            "assigned_user_id": None,
            "due_hours": None,
            "fold_hours": 0,
            "subscriber_user_ids": [],
            "chat_urls": [],
            "open_count": 0,
            "last_triggered_time": None,
            "created_by": desk.house.user_id,
        }
        assert expected == {name: alert[name] for name in expected}
        assert alert == await desk.api.get(f"/alert/{alert['alert_id']}")

    async def test_daily(self, desk: Desk) -> None:
        leaf = {"subject": f"{METRIC}{desk.score_id}", "operator": "less", "value": 80, "window_days": 7}
        other = {"subject": "metric:response", "operator": "less_equal", "value": 10.5}
        alert = await desk.alert(trigger="schedule", conditions={"any": [leaf, other]})
        assert {"any": [leaf, other]} == alert["conditions"]

    async def test_repeated_ids_count_once(self, desk: Desk) -> None:
        alert = await desk.alert(questionnaire_ids=[desk.house.questionnaire_id] * 2)
        assert [desk.house.questionnaire_id] == alert["questionnaire_ids"]

    async def test_user_of_another_application(self, desk: Desk) -> None:
        other = await desk.api.ok("POST", "/application", {"display_name": "Other"})
        anna = await desk.person("anna", application_ids=[other["application_id"]])
        body = {"application_id": desk.house.application_id, "title": "A", "assigned_user_id": anna.user_id}
        assert (422, "unknown_id /assigned_user_id") == await desk.api.refused("POST", "/alert", body)


class TestUpdateAlert:
    async def test_only_what_is_named(self, desk: Desk) -> None:
        alert = await desk.alert(conditions=desk.low(), due_hours=3)
        path = f"/alert/{alert['alert_id']}"
        after = await desk.api.ok("PATCH", path, {"title": "Other", "due_hours": None})
        changed = {name for name in alert if alert[name] != after[name]}
        assert {"title", "due_hours", "updated_time"} >= changed >= {"title", "due_hours"}

    async def test_conditions_are_taken_away(self, desk: Desk) -> None:
        alert = await desk.alert(conditions=desk.low())
        assert (await desk.api.ok("PATCH", f"/alert/{alert['alert_id']}", {"conditions": None}))["conditions"] is None

    async def test_trigger_that_does_not_fit(self, desk: Desk) -> None:
        alert = await desk.alert(conditions=desk.low())
        found = await desk.api.refused("PATCH", f"/alert/{alert['alert_id']}", {"trigger": "schedule"})
        assert (422, "unknown_value /conditions") == found

    async def test_whole_model_sent_back(self, desk: Desk) -> None:
        """It changes nothing, not even the time, though a user that it names has left since."""
        anna = await desk.person("anna")
        alert = await desk.alert(conditions=desk.low(), subscriber_user_ids=[anna.user_id])
        await desk.execute("update organization_user set active = false where user_id = $1", anna.user_id)
        assert alert == await desk.api.ok("PATCH", f"/alert/{alert['alert_id']}", alert)

    async def test_stale(self, desk: Desk) -> None:
        alert = await desk.alert()
        path = f"/alert/{alert['alert_id']}"
        await desk.api.ok("PATCH", path, {"title": "B"})
        for method in ("PATCH", "DELETE"):
            response = await desk.api.send(method, path, {"title": "C"}, headers={"If-Match": '"1"'})
            assert 412 == response.status_code

    async def test_two_at_once(self, desk: Desk) -> None:
        alert = await desk.alert()
        path = f"/alert/{alert['alert_id']}"
        bodies = [{"title": "B"}, {"due_hours": 5}, {"severity": "low"}]
        await asyncio.gather(*(desk.api.ok("PATCH", path, body) for body in bodies))
        after = await desk.api.get(path)
        assert ("B", 5, "low") == (after["title"], after["due_hours"], after["severity"])


class TestDeleteAlert:
    async def test_cases_stay(self, desk: Desk) -> None:
        case = await desk.case()
        await desk.api.ok("DELETE", f"/alert/{case['alert_id']}")
        assert (404, "not_found") == await desk.api.refused("GET", f"/alert/{case['alert_id']}/instance")
        assert case == await desk.api.get(f"/alert/instance/{case['alert_instance_id']}")
        assert [] == (await desk.api.get("/alert"))["results"]


class TestApplications:
    async def test_others_are_not_seen(self, desk: Desk) -> None:
        """Neither the rules nor the cases of an application that the caller is not for."""
        case = await desk.case()
        other = await desk.api.ok("POST", "/application", {"display_name": "Other"})
        stranger = await desk.token(application_ids=[other["application_id"]])
        for path in ("/alert", "/alert/instance"):
            assert [] == (await stranger.get(path))["results"]
        for path in (f"/alert/{case['alert_id']}", f"/alert/instance/{case['alert_instance_id']}"):
            assert (404, "not_found") == await stranger.refused("GET", path)
            assert (404, "not_found") == await stranger.refused("PATCH", path, {"severity": "low"})
        body = {"application_id": desk.house.application_id, "title": "A"}
        assert (422, "unknown_id /application_id") == await stranger.refused("POST", "/alert", body)
        assert (await stranger.ok("POST", "/alert", {**body, "application_id": other["application_id"]}))["active"]

    async def test_own_are(self, desk: Desk) -> None:
        case = await desk.case()
        friend = await desk.token(application_ids=[desk.house.application_id])
        assert [case] == (await friend.get("/alert/instance"))["results"]

    async def test_test_token_sees_no_case(self, desk: Desk) -> None:
        case = await desk.case()
        tester = await desk.token(test=True)
        assert [] == (await tester.get("/alert/instance"))["results"]
        assert [] == (await tester.get(f"/alert/{case['alert_id']}/instance"))["results"]
        path = f"/alert/instance/{case['alert_instance_id']}"
        assert (404, "not_found") == await tester.refused("GET", path)


class TestCases:
    async def test_fixed_segments_win(self, desk: Desk) -> None:
        case = await desk.case()
        assert [case] == (await desk.api.get("/alert/instance"))["results"]
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

    async def test_stale(self, desk: Desk) -> None:
        path = f"/alert/instance/{(await desk.case())['alert_instance_id']}"
        await desk.api.ok("PATCH", path, {"severity": "low"})
        response = await desk.api.send("PATCH", path, {"severity": "high"}, headers={"If-Match": '"1"'})
        assert 412 == response.status_code

    async def test_filter(self, desk: Desk) -> None:
        case = await desk.case()
        for query, count in (("EQUAL][StatusId]=1", 1), ("EQUAL][StatusId]=3", 0), ("NULL][ResolvedTime]=null", 1)):
            assert count == (await desk.api.get(f"/alert/instance?filter_by[{query}"))["total_results"]
        assert (
            1
            == (await desk.api.get(f"/alert/instance?filter_by[EQUAL][InstanceId]={case['instance_id']}"))[
                "total_results"
            ]
        )

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

    async def test_below_another_case(self, desk: Desk) -> None:
        first, second = await desk.case(), await desk.case()
        paths = [f"/alert/instance/{case['alert_instance_id']}" for case in (first, second)]
        comment = await desk.api.ok("POST", f"{paths[0]}/comment", {"body": "Here."})
        found = await desk.api.refused("PATCH", f"{paths[1]}/comment/{comment['comment_id']}", {"body": "There."})
        assert (404, "not_found") == found


class TestStatuses:
    async def create(self, desk: Desk, title: str = "Waiting", **fields: Any) -> dict[str, Any]:
        return await desk.api.ok("POST", "/alert/status", {"title": title, "color": "#112233", **fields})

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
        assert [100, 101] == [(await self.create(desk))["status_id"] for _ in range(2)]
        await desk.api.ok("DELETE", "/alert/status/101")
        assert 102 == (await self.create(desk))["status_id"]
        desk.api.token = neighbour.token
        assert 100 == (await self.create(desk))["status_id"]

    async def test_numbers_at_once(self, desk: Desk) -> None:
        made = await asyncio.gather(*(self.create(desk) for _ in range(8)))
        assert list(range(100, 108)) == sorted(status["status_id"] for status in made)

    async def test_limit(self, desk: Desk) -> None:
        await desk.execute(
            """insert into alert_status (organization_id, status_id, title, color)
               select $1, 1000 + n, 'x', '#000000' from generate_series(1, 100) n""",
            desk.house.organization_id,
        )
        body = {"title": "One too many", "color": "#000000"}
        assert (422, "too_many ") == await desk.api.refused("POST", "/alert/status", body)

    async def test_change(self, desk: Desk) -> None:
        await self.create(desk)
        after = await desk.api.ok("PATCH", "/alert/status/100", {"title": "Parked", "closing": True, "position": 7})
        assert ("Parked", True, 7, False) == (after["title"], after["closing"], after["position"], after["system"])
        assert after == (await desk.api.get("/alert/status"))[-1]
        assert after == await desk.api.ok("PATCH", "/alert/status/100", after)

    @pytest.mark.parametrize("number", ["0", "007", "1e2", "\u0661", "9999999999", "x", "-1", "100"])
    async def test_unknown(self, desk: Desk, number: str) -> None:
        assert (404, "not_found") == await desk.api.refused("GET", f"/alert/status/{number}")

    async def test_in_use(self, desk: Desk) -> None:
        await self.create(desk)
        case = await desk.case(status_id=100)
        assert (409, "in_use") == await desk.api.refused("DELETE", "/alert/status/100")
        assert (409, "in_use") == await desk.api.refused("PATCH", "/alert/status/100", {"closing": True})
        await desk.api.ok("PATCH", f"/alert/instance/{case['alert_instance_id']}", {"status_id": 1})
        assert (409, "in_use") == await desk.api.refused("DELETE", "/alert/status/100")
        await desk.api.ok("DELETE", f"/alert/{case['alert_id']}")
        await desk.api.ok("DELETE", "/alert/status/100")

    async def test_move(self, desk: Desk) -> None:
        """Its cases are done with it, and their alert gives the other status from now on."""
        await self.create(desk)
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

    async def test_of_one_application(self, desk: Desk) -> None:
        other = (await desk.api.ok("POST", "/application", {"display_name": "Other"}))["application_id"]
        await self.create(desk, application_id=other)
        case = await desk.case()
        path = f"/alert/instance/{case['alert_instance_id']}"
        assert (422, "unknown_id /status_id") == await desk.api.refused("PATCH", path, {"status_id": 100})
        ours = await desk.token(application_ids=[desk.house.application_id])
        assert 4 == len(await ours.get("/alert/status"))
        assert (404, "not_found") == await ours.refused("GET", "/alert/status/100")
        body = {"title": "Ours", "color": "#112233"}
        assert (422, "required /application_id") == await ours.refused("POST", "/alert/status", body)
        await self.create(desk)
        assert (403, "forbidden") == await ours.refused("DELETE", "/alert/status/101")

    async def test_pages_and_cursors(self, desk: Desk) -> None:
        for _ in range(3):
            await self.create(desk)
        target: str | None = "/alert/status?limit=2"
        found: list[int] = []
        while target:
            response = await desk.api.send("GET", target)
            found += [status["status_id"] for status in response.json()]
            link = response.headers.get("link")
            target = link and link.partition(">")[0].partition("/v3.2")[2]
        assert [1, 2, 3, 4, 100, 101, 102] == found
