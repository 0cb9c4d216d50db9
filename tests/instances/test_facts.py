"""The facts of responses, for conditions; and conditions tried on them."""

from datetime import date
from typing import Any

import pytest

from afterword import db, ids
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.metadata import Changes
from afterword.instances import facts, service
from afterword.instances.issuing import IssueInput
from afterword.instances.store import Instance
from tests.instances.conftest import MULTI, NOW, NPS, SINGLE, TEXT, Shop, World


async def facts_of(world: World, *instances: Instance) -> dict[str, Facts]:
    async with db.connection(world.pool) as database:
        return await facts.list_facts(
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
            assert {} == await facts.list_facts(
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
                await service.mark(database, "processed", times=times, now=NOW)
                await service.mark(database, "flow", times=times, now=NOW)
            after = await service.get(database, caller=world.caller, instance_id=instance.instance_id)
        assert (NOW, NOW, instance.version + 2) == (after.processed_time, after.flow_time, after.version)


class TestTryConditions:
    async def ask(self, shop: Shop, instance_id: str, conditions: object) -> Any:
        path = f"/q/questionnaire/{shop.world.questionnaire_id}/condition/test"
        return await shop.post(path, {"conditions": conditions, "instance_id": instance_id})

    @pytest.mark.parametrize(
        ("conditions", "pointer", "code"),
        [
            ({"subject": f"question:{'0' * 22}", "operator": "equal", "value": 1}, "/conditions/subject", "unknown_id"),
            ({"subject": f"question:{NPS}", "operator": "is"}, "/conditions/operator", "unknown_value"),
            ({"any": [{"subject": "metric:nps", "operator": "less", "value": 1}]}, "/conditions/any/0/subject", None),
            (
                {"subject": "questionnaire_metadata:store_pickup", "operator": "equal", "value": "perhaps"},
                "/conditions/value",
                "wrong_type",
            ),
            (
                {"subject": "responder_metadata:undeclared", "operator": "less", "value": 1},
                "/conditions/operator",
                "wrong_type",
            ),
        ],
    )
    async def test_wrong_conditions(self, shop: Shop, conditions: object, pointer: str, code: str | None) -> None:
        response = await self.ask(shop, (await shop.world.issue()).instance_id, conditions)
        [wrong] = [one for one in response.json()["errors"] if one["pointer"] == pointer]
        assert (422, code or wrong["code"]) == (response.status_code, wrong["code"])

    async def test_unknown_instance(self, shop: Shop) -> None:
        response = await self.ask(shop, "0" * 22, None)
        assert (422, [("/instance_id", "unknown_id")]) == (
            response.status_code,
            [(one["pointer"], one["code"]) for one in response.json()["errors"]],
        )

    async def test_another_application(self, shop: Shop) -> None:
        instance = await shop.world.issue()
        other = await shop.of_another_application()
        assert 404 == (await self.ask(other, instance.instance_id, None)).status_code

    async def test_no_conditions(self, shop: Shop) -> None:
        response = await self.ask(shop, (await shop.world.issue()).instance_id, None)
        assert {"matches": True, "leaves": []} == response.json()

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
