"""From a response to a case: which alerts look, what matches, what repeats, and that each counts once."""

from contextlib import suppress
from datetime import datetime, timedelta

from afterword.cases import service
from afterword.kit import db
from tests.cases.conftest import Desk
from tests.conftest import settled


class TestNothing:
    async def test_no_alert(self, desk: Desk) -> None:
        """A completion is processed all the same."""
        response = await desk.raised()
        assert [] == await desk.cases()
        assert await desk.value(
            "select processed_time is not null from questionnaire_instance where instance_id = $1", response.instance_id
        )

    async def test_other_alerts(self, desk: Desk) -> None:
        """Their conditions do not hold; they are off, deleted, or of another questionnaire."""
        await desk.alert(title="Low", conditions=desk.low())
        await desk.alert(title="Off", active=False)
        deleted = await desk.alert(title="Deleted")
        await desk.api.ok("DELETE", f"/alert/{deleted['alert_id']}")
        await desk.alert(title="Elsewhere", questionnaire_ids=[desk.house.questionnaire_id])
        await desk.execute("update alert set questionnaire_ids = '{0000000000000000000000}' where title = 'Elsewhere'")
        await desk.raised(5)
        assert [] == await desk.cases()

    async def test_alert_that_is_younger_than_the_response(self, desk: Desk) -> None:
        await desk.respond()
        await desk.alert()
        await desk.raise_all()
        assert [] == await desk.cases()

    async def test_test_response(self, desk: Desk) -> None:
        await desk.alert()
        response = await desk.respond(test=True)
        await desk.raise_all()
        assert 0 == await desk.value("select count(*) from alert_instance")
        assert await desk.value(
            "select processed_time is not null from questionnaire_instance where instance_id = $1", response.instance_id
        )

    async def test_response_that_was_deleted_since(self, desk: Desk) -> None:
        await desk.alert()
        response = await desk.respond()
        await desk.api.ok("DELETE", f"/q/instance/{response.instance_id}")
        await desk.raise_all()
        assert [] == await desk.cases()

    async def test_other_organization(self, desk: Desk, neighbour: object) -> None:
        """Their responses are judged by their alerts, of which they have none."""
        await desk.alert()
        await desk.raise_all()
        assert [] == await desk.cases()


class TestCase:
    async def test_begins_as_its_alert_wants(self, desk: Desk) -> None:
        anna = await desk.person("anna")
        status = await desk.api.ok("POST", "/alert/status", {"title": "To call", "color": "#aa0000"})
        alert = await desk.alert(
            conditions=desk.low(),
            severity="high",
            status_id=status["status_id"],
            assigned_user_id=anna.user_id,
            due_hours=24,
        )
        response = await desk.raised(2)
        [case] = await desk.cases()
        expected = {
            "alert_id": alert["alert_id"],
            "questionnaire_id": desk.house.questionnaire_id,
            "instance_id": response.instance_id,
            "responder_id": response.responder_id,
            "status_id": 100,
            "assigned_user_id": anna.user_id,
            "severity": "high",
            "occurrences": 1,
            "comments_count": 0,
            "resolved_time": None,
            "resolved_by": None,
            "recovery_item_id": None,
            "updated_by": None,
        }
        assert expected == {name: case[name] for name in expected}
        opened, due = (datetime.fromisoformat(case[name]) for name in ("created_time", "due_time"))
        assert timedelta(hours=24) == due - opened
        leaf = {"subject": f"question:{desk.score_id}", "operator": "less_equal", "value": 2, "actual": 2}
        assert [{**leaf, "matches": True}] == case["matched"]

    async def test_alert_counts_it(self, desk: Desk) -> None:
        alert = await desk.alert()
        await desk.respond()
        await desk.raised()
        after = await desk.api.get(f"/alert/{alert['alert_id']}")
        assert 2 == after["open_count"]
        assert after["last_triggered_time"] is not None

    async def test_event(self, desk: Desk) -> None:
        """It has the case, but nothing of what was answered."""
        await desk.alert(conditions=desk.low())
        await desk.raised()
        [event] = await desk.news()
        [case] = await desk.cases()
        assert ("alert_instance.created", "worker", None) == (event.type, event.actor_kind, event.actor_id)
        assert case["alert_instance_id"] == event.subject_id == event.data["alert_instance_id"]
        assert [None] == [leaf["actual"] for leaf in event.data["matched"]]

    async def test_status_that_is_closing_from_the_beginning(self, desk: Desk) -> None:
        alert = await desk.alert(status_id=3)
        await desk.raised()
        [case] = await desk.cases()
        assert case["resolved_time"] is not None
        assert 0 == (await desk.api.get(f"/alert/{alert['alert_id']}"))["open_count"]

    async def test_every_alert_opens_its_own(self, desk: Desk) -> None:
        await desk.alert(title="One")
        await desk.alert(title="Two", conditions=desk.low())
        await desk.alert(title="Three", conditions={"not": desk.low()})
        await desk.raised()
        assert 2 == len(await desk.cases())

    async def test_conditions_of_tags_and_metadata(self, desk: Desk) -> None:
        await desk.alert(
            conditions={
                "all": [
                    {"subject": "tag:vip", "operator": "is_not_empty"},
                    {"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "7"},
                ]
            }
        )
        instance = await desk.issue()
        path = f"/q/instance/{instance.instance_id}"
        await desk.api.ok("POST", f"{path}/tag", {"tag": "vip"})
        await desk.api.ok("PATCH", path, {"metadata": {"store_id": "7"}})
        await desk.answer(instance, {desk.score_id: 5})
        await desk.raise_all()
        [case] = await desk.cases()
        assert ["tag:vip", "questionnaire_metadata:store_id"] == [leaf["subject"] for leaf in case["matched"]]


class TestTrigger:
    async def test_completed_waits_for_the_end(self, desk: Desk) -> None:
        await desk.alert()
        instance = await desk.answer(await desk.issue(), {desk.score_id: 1}, complete=False)
        await desk.raise_all()
        assert [] == await desk.cases()
        await desk.answer(instance, {})
        await desk.raise_all()
        assert 1 == len(await desk.cases())

    async def test_submitted_looks_again_at_the_end(self, desk: Desk) -> None:
        """The first answer may not be the one that the conditions ask for."""
        words = {"subject": f"question:{desk.comment_id}", "operator": "contains", "value": "late"}
        await desk.alert(trigger="submitted", conditions=words)
        instance = await desk.answer(await desk.issue(), {desk.score_id: 5}, complete=False)
        await desk.raise_all()
        assert [] == await desk.cases()
        await desk.answer(instance, {desk.comment_id: "It came LATE."})
        await desk.raise_all()
        assert 1 == len(await desk.cases())

    async def test_submitted_and_completed_count_once(self, desk: Desk) -> None:
        await desk.alert(trigger="submitted")
        instance = await desk.answer(await desk.issue(), {desk.score_id: 1}, complete=False)
        await desk.raise_all()
        assert 1 == len(await desk.cases())
        await desk.answer(instance, {})
        await desk.raise_all()
        assert 1 == len(await desk.cases())

    async def test_edit_after_the_end(self, desk: Desk) -> None:
        """An answer that got worse opens a case then; one that got better closes none."""
        await desk.alert(conditions=desk.low())
        await desk.execute("update questionnaire set editable = true")
        instance = await desk.raised(5)
        assert [] == await desk.cases()
        for score in (1, 5, 1):
            instance = await desk.answer(instance, {desk.score_id: score}, complete=False)
            await desk.raise_all()
            [case] = await desk.cases()
            assert (1, None) == (case["occurrences"], case["resolved_time"])

    async def test_edit_of_what_was_there_before_the_alert(self, desk: Desk) -> None:
        """Or whoever adds metadata to old responses would open a case for each."""
        old = await desk.raised()
        await desk.alert()
        for instance in (old, await desk.respond()):
            await desk.api.ok("PATCH", f"/q/instance/{instance.instance_id}", {"valid_days": 7})
        await desk.raise_all()
        assert [instance.instance_id] == [case["instance_id"] for case in await desk.cases()]


class TestFold:
    async def test_same_responder(self, desk: Desk) -> None:
        await desk.alert(fold_hours=24)
        first = await desk.raised()
        await desk.raised(responder_id=first.responder_id)
        [case] = await desk.cases()
        assert (2, first.instance_id) == (case["occurrences"], case["instance_id"])
        assert ["created", "repeated"] == await desk.kinds()

    async def test_within_one_batch(self, desk: Desk) -> None:
        alert = await desk.alert(fold_hours=24)
        first = await desk.respond()
        for _ in range(2):
            await desk.raised(responder_id=first.responder_id)
        [case] = await desk.cases()
        assert 3 == case["occurrences"]
        assert 1 == (await desk.api.get(f"/alert/{alert['alert_id']}"))["open_count"]

    async def test_resolved_case(self, desk: Desk) -> None:
        await desk.alert(fold_hours=24)
        first = await desk.raised()
        [case] = await desk.cases()
        await desk.api.ok("PATCH", f"/alert/instance/{case['alert_instance_id']}", {"status_id": 3})
        await desk.raised(responder_id=first.responder_id)
        assert [1, 1] == [case["occurrences"] for case in await desk.cases()]

    async def test_opens_another(self, desk: Desk) -> None:
        """Two hours later, where the alert folds for one hour or not at all; of another responder in any case."""
        alerts = [await desk.alert(fold_hours=hours) for hours in (24, 1, 0)]
        first = await desk.raised()
        await desk.respond(responder_id=first.responder_id)
        await desk.respond()
        await desk.raise_all(later=timedelta(hours=2))
        cases = await desk.cases()
        found = [[one["occurrences"] for one in cases if one["alert_id"] == each["alert_id"]] for each in alerts]
        assert [[2, 1], [1, 1, 1], [1, 1, 1]] == found


class TestOnce:
    async def test_reading_all_again(self, desk: Desk) -> None:
        """A cursor that went back, as after a restored backup, opens nothing twice."""
        await desk.alert(fold_hours=24)
        first = await desk.respond()
        await desk.raised(responder_id=first.responder_id)
        before = await desk.cases(), await desk.kinds()
        await desk.execute("update event_cursor set xid = '0', seq = 0")
        await desk.raise_all()
        assert before == (await desk.cases(), await desk.kinds())

    async def test_a_batch_that_fails_leaves_nothing(self, desk: Desk) -> None:
        await desk.alert()
        await desk.respond()
        await settled(desk.pool)
        with suppress(RuntimeError):
            async with db.transaction(desk.pool) as database:
                assert await service.raise_next(database, now=database.clock.now(), limit=99)
                raise RuntimeError
        assert [] == await desk.cases()
        await desk.raise_all()
        assert 1 == len(await desk.cases())

    async def test_small_batches(self, desk: Desk) -> None:
        await desk.alert()
        for _ in range(3):
            await desk.respond()
        await settled(desk.pool)
        for _ in range(200):
            async with db.transaction(desk.pool) as database:
                if not await service.raise_next(database, now=database.clock.now(), limit=1):
                    break
        assert 3 == len(await desk.cases())


class TestForgetting:
    async def test_deleted_response(self, desk: Desk) -> None:
        """The case stays, what was answered goes."""
        await desk.alert(conditions=desk.low())
        response = await desk.raised()
        await desk.api.ok("DELETE", f"/q/instance/{response.instance_id}")
        await desk.raise_all()
        [case] = await desk.cases()
        assert [None] == [leaf["actual"] for leaf in case["matched"]]

    async def test_erased_person(self, desk: Desk) -> None:
        """Texts about the person are erased too."""
        await desk.alert(conditions=desk.low())
        response = await desk.raised()
        [case] = await desk.cases()
        path = f"/alert/instance/{case['alert_instance_id']}"
        await desk.api.ok("POST", f"{path}/comment", {"body": "Ann called."})
        await desk.execute(
            """insert into event (organization_id, event_id, type, subject_id, actor_kind, data)
               values ($1, 'e', 'responder.erased', $2, 'worker', '{}')""",
            *(desk.house.organization_id, response.responder_id),
        )
        await desk.raise_all()
        case = await desk.api.get(path)
        assert ([None], 0) == ([leaf["actual"] for leaf in case["matched"]], case["comments_count"])
        assert [] == (await desk.api.get(f"{path}/comment"))["results"]


class TestSchedule:
    def conditions(self, desk: Desk) -> dict[str, object]:
        leaf = {"subject": f"metric:csat:{desk.score_id}", "operator": "less", "value": 80}
        return {"any": [leaf, {**leaf, "value": 60, "window_days": 7}]}

    async def raised(self, desk: Desk, figures: dict[tuple[str, int], float | None], *, days: int = 0) -> list[bool]:
        async with db.transaction(desk.pool) as database:
            now = database.clock.now() + timedelta(days=days)
            claimed = await service.claim_scheduled(database, now=now, limit=10)
            return [await service.raise_scheduled(database, alert=alert, figures=figures, now=now) for alert in claimed]

    async def test_matches(self, desk: Desk) -> None:
        """Each window has its own figure; the case is about no response."""
        await desk.alert(trigger="schedule", conditions=self.conditions(desk))
        subject = f"metric:csat:{desk.score_id}"
        assert [True] == await self.raised(desk, {(subject, 30): 90.0, (subject, 7): 59.5})
        [case] = await desk.cases()
        assert (None, None, None) == (case["questionnaire_id"], case["instance_id"], case["responder_id"])
        assert [(subject, 90.0, False), (subject, 59.5, True)] == [
            (leaf["subject"], leaf["actual"], leaf["matches"]) for leaf in case["matched"]
        ]

    async def test_does_not_match(self, desk: Desk) -> None:
        await desk.alert(trigger="schedule", conditions=self.conditions(desk))
        [alert] = await desk.run(service.claim_scheduled, now=await desk.now(), limit=10)
        subject = f"metric:csat:{desk.score_id}"
        assert [(subject, 30), (subject, 7)] == service.metrics_of(alert)
        await desk.raised()  # a response is not looked at
        assert [False] == await self.raised(desk, {(subject, 30): 80.0, (subject, 7): None}, days=2)
        assert [] == await desk.cases()

    async def test_once_a_day(self, desk: Desk) -> None:
        await desk.alert(trigger="schedule", conditions=self.conditions(desk))
        low: dict[tuple[str, int], float | None] = {(f"metric:csat:{desk.score_id}", 30): 1.0}
        assert [True] == await self.raised(desk, low)
        assert [] == await self.raised(desk, low)
        await desk.execute("update alert set evaluated_time = null")
        assert [False] == await self.raised(desk, low)
        assert [True] == await self.raised(desk, low, days=2)
        assert 2 == len(await desk.cases())

    async def test_folds(self, desk: Desk) -> None:
        await desk.alert(trigger="schedule", conditions=self.conditions(desk), fold_hours=720)
        low: dict[tuple[str, int], float | None] = {(f"metric:csat:{desk.score_id}", 30): 1.0}
        for days in (0, 2, 4):
            assert [True] == await self.raised(desk, low, days=days)
        [case] = await desk.cases()
        assert 3 == case["occurrences"]
