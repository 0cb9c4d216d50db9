"""Responses that events tell of, their facts, and conditions tried on them."""

from datetime import date, timedelta
from typing import Any

import pytest

from afterword import ids
from afterword.asking.instances import service, triggers
from afterword.asking.instances.issuing import IssueInput
from afterword.asking.instances.store import Instance
from afterword.core.organizations.access import SCOPES
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.metadata import Changes
from afterword.events.service import Event
from afterword.kit import db
from tests.asking.instances.conftest import MULTI, NOW, NPS, SINGLE, TEXT, Shop, World

SUBMITTED, COMPLETED = "questionnaire_instance.submitted", "questionnaire_instance.completed"


def event(kind: str, *, subject: str | None = "i", minutes: int = 0, **data: Any) -> Event:
    return Event(
        organization_id="o", event_id="e", seq=1, type=kind, questionnaire_id="q", subject_id=subject,
        subject_version=1, is_terminal=False, actor_kind="responder", actor_id=None, test=False, data=data,
        created_time=NOW + timedelta(minutes=minutes),
    )  # fmt: skip


@pytest.mark.parametrize(
    "told",
    [event("questionnaire_instance.viewed"), event(SUBMITTED, subject=None), event(triggers.UPDATED, finalized=False)],
)
def test_nothing_to_look_at(told: Event) -> None:
    assert [] == triggers.responses_of([told])


def test_each_response_once() -> None:
    batch = [event(SUBMITTED), event(SUBMITTED, subject="j"), event(COMPLETED, minutes=5)]
    first, second = triggers.responses_of(batch)
    assert ("i", {"submitted", "completed"}) == (first.instance_id, first.triggers)
    assert ("j", {"submitted"}) == (second.instance_id, second.triggers)
    assert triggers.applies(first, trigger="completed", since_time=NOW + timedelta(minutes=5))
    assert not triggers.applies(first, trigger="completed", since_time=NOW + timedelta(minutes=6))
    assert not triggers.applies(second, trigger="completed", since_time=NOW)


def test_an_edit_is_of_the_time_of_its_response() -> None:
    completed = (NOW - timedelta(days=1)).isoformat()
    [found] = triggers.responses_of([event(triggers.UPDATED, finalized=True, completed_time=completed)])
    assert not triggers.applies(found, trigger="completed", since_time=NOW)


async def facts_of(world: World, *instances: Instance) -> dict[str, Facts]:
    async with db.connection(world.pool) as database:
        return await triggers.list_facts(
            database,
            organization_id=world.caller.organization_id,
            instance_ids=[instance.instance_id for instance in instances],
        )


async def answered(world: World) -> Instance:
    metadata = Changes({"transaction_date": "2026-11-20", "colour": "red"}, {"email": "ann@example.com"})
    instance = await world.issue(IssueInput(metadata=metadata))
    await world.save(instance, {NPS: 3, SINGLE: 1, MULTI: [1, 2], TEXT: "Late"})
    return instance


class TestListFacts:
    async def test_nothing(self, world: World) -> None:
        assert {} == await facts_of(world)

    async def test_ok(self, shop: Shop) -> None:
        instance, other = await answered(shop.world), await shop.world.issue()
        await shop.post(f"/q/instance/{instance.instance_id}/tag", {"tag": "VIP"})

        found = await facts_of(shop.world, instance, other)

        assert {
            f"question:{NPS}": 3,
            f"question:{SINGLE}": 1,
            f"question:{MULTI}": [1, 2],
            f"question:{TEXT}": "Late",
            "questionnaire_metadata:transaction_date": date(2026, 11, 20),
            "questionnaire_metadata:colour": "red",
            "responder_metadata:email": "ann@example.com",
            "tag:vip": True,
        } == found[instance.instance_id]
        assert {} == found[other.instance_id]

    async def test_what_a_machine_may_have_answered(self, world: World) -> None:
        instance = await answered(world)
        async with db.connection(world.pool) as database:
            await database.execute("update answer set provisional = true")
        assert f"question:{NPS}" not in (await facts_of(world, instance))[instance.instance_id]

    async def test_another_organization_and_deleted_ones(self, shop: Shop) -> None:
        instance = await answered(shop.world)
        async with db.connection(shop.world.pool) as database:
            assert {} == await triggers.list_facts(
                database, organization_id=ids.ordered(NOW), instance_ids=[instance.instance_id]
            )
        await shop.delete(f"/q/instance/{instance.instance_id}")
        assert {} == await facts_of(shop.world, instance)


class TestMarks:
    async def test_once(self, world: World) -> None:
        instance = await world.issue()
        times = {(instance.organization_id, instance.instance_id): NOW}
        async with db.transaction(world.pool) as database:
            for _ in range(2):
                await service.settle_times(database, "processed", times=times, now=NOW)
                await service.settle_times(database, "flow", times=times, now=NOW)
        after = await world.stored(instance)
        assert (NOW, NOW, instance.version + 2) == (after.processed_time, after.flow_time, after.version)


class TestTryConditions:
    async def ask(self, shop: Shop, instance_id: str, conditions: object) -> Any:
        path = f"/q/questionnaire/{shop.world.questionnaire_id}/condition/test"
        return await shop.post(path, {"conditions": conditions, "instance_id": instance_id})

    async def test_wrong_conditions(self, shop: Shop) -> None:
        instance_id = (await shop.world.issue()).instance_id
        pickup, undeclared = "questionnaire_metadata:store_pickup", "responder_metadata:undeclared"
        for conditions, below, code in (
            ({"subject": f"question:{'0' * 22}", "operator": "equal", "value": 1}, "subject", "unknown_id"),
            ({"subject": f"question:{NPS}", "operator": "is"}, "operator", "unknown_value"),
            ({"any": [{"subject": "metric:nps", "operator": "less", "value": 1}]}, "any/0/subject", None),
            ({"subject": pickup, "operator": "equal", "value": "perhaps"}, "value", "wrong_type"),
            ({"subject": undeclared, "operator": "less", "value": 1}, "operator", "wrong_type"),
        ):
            response = await self.ask(shop, instance_id, conditions)
            [wrong] = [one for one in response.json()["errors"] if one["pointer"] == f"/conditions/{below}"]
            assert (422, code or wrong["code"]) == (response.status_code, wrong["code"])

    async def test_values_out_of_reach(self, shop: Shop) -> None:
        instance_id = (await shop.world.issue()).instance_id
        for subject, scope in (
            ("questionnaire_metadata:transaction_date", "Questionnaire Value.Read"),
            ("responder_metadata:email", "Responder Value.Read"),
        ):
            conditions = {"not": {"all": [{"subject": subject, "operator": "is_not_empty"}]}}
            reader = await shop.with_token(scopes=SCOPES - {scope})
            response = await self.ask(reader, instance_id, conditions)
            assert (403, "insufficient_scope") == (response.status_code, response.json()["code"])
            assert scope in response.json()["detail"]
            assert 200 == (await self.ask(shop, instance_id, conditions)).status_code
        assert {"matches": True, "leaves": []} == (await self.ask(shop, instance_id, None)).json()

    async def test_ok(self, shop: Shop) -> None:
        instance = await answered(shop.world)
        await shop.post(f"/q/instance/{instance.instance_id}/tag", {"tag": "vip"})
        leaves = [
            {"subject": f"question:{NPS}", "operator": "less_equal", "value": 6},
            {"subject": "questionnaire_metadata:transaction_date", "operator": "greater", "value": "2026-11-01"},
            {"subject": "tag:vip", "operator": "is_not_empty"},
            {"subject": f"question:{TEXT}", "operator": "contains", "value": "early"},
        ]

        response = await self.ask(shop, instance.instance_id, {"any": [{"all": leaves[:3]}, leaves[3]]})

        assert 200 == response.status_code, response.text
        assert {
            "matches": True,
            "leaves": [
                {**leaves[0], "actual": 3, "matches": True},
                {**leaves[1], "actual": "2026-11-20", "matches": True},
                {**leaves[2], "value": None, "actual": True, "matches": True},
                {**leaves[3], "actual": "Late", "matches": False},
            ],
        } == response.json()
