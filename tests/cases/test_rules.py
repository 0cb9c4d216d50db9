"""Alert rules: what is refused, changed, deleted."""

import asyncio
from typing import Any

from tests.cases.conftest import Desk
from tests.cases.test_alert_instances import ABSENT

METRIC = "metric:csat:"


class TestCreateAlert:
    async def test_refused(self, desk: Desk) -> None:
        other = await desk.api.ok("POST", "/application", {"display_name": "Other"})
        anna = await desk.person("anna", application_ids=[other["application_id"]])
        for fields, expected in (
            ({"status_id": 99}, "unknown_id /status_id"),
            ({"chat_urls": ["https://chat.example/hook"]}, "unknown_value /chat_urls"),
            ({"trigger": "schedule"}, "required /conditions"),
            ({"assigned_user_id": anna.user_id}, "unknown_id /assigned_user_id"),
        ):
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


class TestUpdateAlert:
    async def test_only_what_is_named(self, desk: Desk) -> None:
        alert = await desk.alert(conditions=desk.low(), due_hours=3)
        path = f"/alert/{alert['alert_id']}"
        after = await desk.api.ok("PATCH", path, {"title": "Other", "due_hours": None})
        changed = {name for name in alert if alert[name] != after[name]}
        assert {"title", "due_hours", "updated_time"} >= changed >= {"title", "due_hours"}

    async def test_trigger_that_does_not_fit(self, desk: Desk) -> None:
        """The conditions stay as they are, or are taken away."""
        path = f"/alert/{(await desk.alert(conditions=desk.low()))['alert_id']}"
        found = await desk.api.refused("PATCH", path, {"trigger": "schedule"})
        assert (422, "unknown_value /conditions") == found
        assert (await desk.api.ok("PATCH", path, {"conditions": None}))["conditions"] is None

    async def test_whole_model_sent_back(self, desk: Desk) -> None:
        """It changes nothing, not even the time, though a user that it names has left since."""
        anna = await desk.person("anna")
        alert = await desk.alert(conditions=desk.low(), subscriber_user_ids=[anna.user_id])
        await desk.execute("update organization_user set active = false where user_id = $1", anna.user_id)
        assert alert == await desk.api.ok("PATCH", f"/alert/{alert['alert_id']}", alert)

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
