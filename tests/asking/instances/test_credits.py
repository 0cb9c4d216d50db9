"""Answers and credits: a first answer uses one, any other none; without credits public links are closed."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from afterword.asking.instances import issuing, service
from afterword.asking.instances.answers import Closed, lock_context, record_view, save_answers
from afterword.core.answers.values import Given
from afterword.kit import db
from afterword.tenants.organizations import plans
from tests.asking.instances.conftest import NOW, NPS, TEXT, Shop, World

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
async def paid(world: World) -> World:
    """A world with a plan of two credits."""
    async with db.transaction(world.pool) as database:
        await plans.add_plan(
            database,
            organization_id=world.caller.organization_id,
            title="Plan",
            kind="once",
            credits=2,
            start_time=LONG_AGO,  # the database's own clock decides whether it has begun
            now=NOW,
        )
    return world


async def left(world: World) -> int:
    async with db.connection(world.pool) as database:
        return await database.fetch_value("select remaining_credits from plan")


async def set_credits(world: World, remaining: int) -> None:
    async with db.transaction(world.pool) as database:
        await database.execute("update plan set remaining_credits = $1", remaining)


class TestUse:
    async def test_nothing_is_used_by(self, paid: World) -> None:
        """An issue, a view, a wrong answer, a completion without answers."""
        instance = await paid.issue()
        async with db.transaction(paid.pool) as database:
            await record_view(database, instance_id=instance.instance_id, now=NOW)
        await paid.save(instance, {NPS: 99})
        await paid.save(instance, {NPS: None}, complete=True)
        assert 2 == await left(paid)

    async def test_test_data(self, paid: World) -> None:
        instance = await paid.issue(caller=replace(paid.caller, test=True))
        await paid.save(instance, {NPS: 3})
        assert 2 == await left(paid)

    async def test_no_accountable_questionnaire(self, paid: World) -> None:
        async with db.transaction(paid.pool) as database:
            await database.execute("update questionnaire set credits_accountable = false")
        await paid.save(await paid.issue(), {NPS: 3})
        assert 2 == await left(paid)

    async def test_one_an_instance(self, paid: World) -> None:
        instance = await paid.issue()
        await paid.save(instance, {NPS: 3})
        assert 1 == await left(paid)
        await paid.save(instance, {NPS: 4, TEXT: "More"})
        await paid.save(instance, {NPS: None})
        await paid.save(instance, {NPS: 10}, complete=True)
        assert 1 == await left(paid)
        await paid.save(await paid.issue(), {NPS: 10}, complete=True)
        assert 0 == await left(paid)

    async def test_below_zero(self, paid: World) -> None:
        """Issued instances may be answered."""
        instances = [await paid.issue() for _ in range(3)]
        for instance in instances:
            await paid.save(instance, {NPS: 3})
        assert -1 == await left(paid)

    async def test_deleting_gives_none_back(self, paid: World) -> None:
        instance = await paid.issue()
        await paid.save(instance, {NPS: 3})
        async with db.transaction(paid.pool) as database:
            await service.delete(database, caller=paid.caller, instance_id=instance.instance_id, now=NOW)
        assert 1 == await left(paid)

    async def test_a_failed_transaction_uses_none(self, paid: World) -> None:
        instance = await paid.issue()

        async def save_and_fail() -> None:
            async with db.transaction(paid.pool) as database:
                await save_answers(
                    database,
                    context=await lock_context(database, instance_id=instance.instance_id),
                    answers={NPS: Given(3)},
                    complete=False,
                    now=NOW,
                )
                raise RuntimeError

        with pytest.raises(RuntimeError):
            await save_and_fail()
        assert 2 == await left(paid)


class TestPublicLink:
    async def test_without_credits(self, paid: World, shop: Shop) -> None:
        await set_credits(paid, 0)
        page = await shop.http.get(f"/p/{paid.questionnaire_id}")
        assert 410 == page.status_code
        assert "<form" not in page.text
        posted = await shop.http.post(f"/p/{paid.questionnaire_id}", data={"page": "1"})
        assert "<form" not in posted.text
        async with db.connection(paid.pool) as database:
            assert 0 == await database.fetch_value("select count(*) from questionnaire_instance")

    async def test_the_service_refuses_too(self, paid: World) -> None:
        await set_credits(paid, 0)
        async with db.transaction(paid.pool) as database:
            issuable = await issuing.get_issuable(
                database, organization_id=paid.caller.organization_id, questionnaire_id=paid.questionnaire_id
            )
            with pytest.raises(Closed):
                await issuing.version_to_start(database, issuable=issuable)

    async def test_with_credits(self, paid: World, shop: Shop) -> None:
        assert "<form" in (await shop.http.get(f"/p/{paid.questionnaire_id}")).text

    async def test_what_was_issued_is_answered(self, paid: World, shop: Shop) -> None:
        instance = await paid.issue(now=paid.pool.clock.now())  # the page goes by the same clock
        await set_credits(paid, 0)
        assert "<form" in (await shop.http.get(f"/a/{instance.instance_id}")).text

    async def test_the_api_goes_on_issuing(self, paid: World) -> None:
        await set_credits(paid, 0)
        assert await paid.issue()
