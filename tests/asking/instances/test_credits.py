"""Answers and credits: a first answer uses one, any other none; without credits public links are closed."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from afterword.asking.instances.answers import lock_context, record_view, save_answers
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


async def test_used_by_nothing(paid: World) -> None:
    """An issue, a view, a wrong answer, a completion without answers, test data, and a transaction that fails."""
    instance = await paid.issue()
    async with db.transaction(paid.pool) as database:
        await record_view(database, instance_id=instance.instance_id, now=NOW)
    await paid.save(instance, {NPS: 99})
    await paid.save(instance, {NPS: None}, complete=True)
    await paid.save(await paid.issue(caller=replace(paid.caller, test=True)), {NPS: 3})

    async def save_and_fail() -> None:
        async with db.transaction(paid.pool) as database:
            context, answers = await lock_context(database, instance_id=instance.instance_id), {NPS: Given(3)}
            await save_answers(database, context=context, answers=answers, complete=False, now=NOW)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await save_and_fail()
    assert 2 == await left(paid)
    async with db.transaction(paid.pool) as database:
        await database.execute("update questionnaire set credits_accountable = false")
    await paid.save(await paid.issue(), {NPS: 3})
    assert 2 == await left(paid)


async def test_one_an_instance(paid: World) -> None:
    """Deleting it gives none back; what was issued may be answered without any."""
    first, *others = [await paid.issue() for _ in range(3)]
    await paid.save(first, {NPS: 3})
    assert 1 == await left(paid)
    await paid.save(first, {NPS: 4, TEXT: "More"})
    await paid.save(first, {NPS: None})
    await paid.save(first, {NPS: 10}, complete=True)
    assert 1 == await left(paid)
    await paid.delete(first)
    assert 1 == await left(paid)
    for instance, expected in zip(others, (0, -1), strict=True):
        await paid.save(instance, {NPS: 10}, complete=True)
        assert expected == await left(paid)


async def test_public_link(paid: World, shop: Shop) -> None:
    """It is closed without credits; what was issued is answered, and the API goes on issuing."""
    link = f"/p/{paid.questionnaire_id}"
    assert "<form" in (await shop.http.get(link)).text
    instance = await paid.issue(now=paid.pool.clock.now())  # the page goes by the same clock
    async with db.transaction(paid.pool) as database:
        await database.execute("update plan set remaining_credits = 0")
    page = await shop.http.get(link)
    assert (410, False) == (page.status_code, "<form" in page.text)
    assert "<form" not in (await shop.http.post(link, data={"page": "1"})).text
    assert "<form" in (await shop.http.get(f"/a/{instance.instance_id}")).text
    assert await paid.issue()
    async with db.connection(paid.pool) as database:
        assert 2 == await database.fetch_value("select count(*) from questionnaire_instance")
