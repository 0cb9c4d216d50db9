"""The facts of responses, for conditions."""

from datetime import date

from afterword import ids
from afterword.asking.instances import service, triggers
from afterword.asking.instances.issuing import IssueInput
from afterword.asking.instances.store import Instance
from afterword.core.questionnaires.conditions import Facts
from afterword.core.questionnaires.metadata import Changes
from afterword.kit import db
from tests.asking.instances.conftest import MULTI, NOW, NPS, SINGLE, TEXT, Shop, World


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
                await service.mark(database, "processed", times=times, now=NOW)
                await service.mark(database, "flow", times=times, now=NOW)
            after = await service.get(database, caller=world.caller, instance_id=instance.instance_id)
        assert (NOW, NOW, instance.version + 2) == (after.processed_time, after.flow_time, after.version)
