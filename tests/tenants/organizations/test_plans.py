"""Plans and their credits: what is refused, which plan pays, what renews and ends, and what is told of it."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from afterword import errors
from afterword.kit import db
from afterword.tenants.organizations import plans
from afterword.tenants.organizations.plans import Plan
from tests.conftest import House
from tests.tenants.organizations.conftest import Desk

DAY = timedelta(days=1)


async def add(desk: Desk, kind: Any = "once", **changes: Any) -> Plan:
    async with db.transaction(desk.pool) as database:
        now = database.clock.now()
        wanted: dict[str, Any] = {
            "credits": None if kind == "unlimited" else 100,
            "start_time": now - timedelta(seconds=1),
            **changes,
        }  # the server's clock may be behind
        return await plans.add_plan(
            database, organization_id=desk.house.organization_id, title="Plan", kind=kind, now=now, **wanted
        )


async def use(desk: Desk, count: int = 1, *, application_id: str = "", now: datetime | None = None) -> None:
    for _ in range(count):
        async with db.transaction(desk.pool) as database:
            await plans.use_credit(
                database,
                organization_id=desk.house.organization_id,
                application_id=application_id or desk.house.application_id,
                now=now or database.clock.now(),
            )


async def has_credits(desk: Desk, application_id: str = "") -> bool:
    async with db.connection(desk.pool) as database:
        return await plans.get_has_credits(
            database,
            organization_id=desk.house.organization_id,
            application_id=application_id or desk.house.application_id,
        )


async def turn(desk: Desk, now: datetime, *, limit: int = 100) -> int:
    async with db.transaction(desk.pool) as database:
        return await plans.turn_plans(database, now=now, limit=limit)


async def plan_of(desk: Desk, plan: Plan) -> Plan:
    async with db.connection(desk.pool) as database:
        found = await plans.list_all_plans(database, limit=100)
    return next(each for _, each in found if each.plan_id == plan.plan_id)


async def balance(desk: Desk, plan: Plan) -> tuple[int | None, int]:
    found = await plan_of(desk, plan)
    return found.remaining_credits, found.extra_credits


class TestAdd:
    @pytest.mark.parametrize(
        ("kind", "changes", "pointer", "code"),
        [
            ("unlimited", {"credits": 5}, "/credits", "required"),
            ("once", {"credits": None}, "/credits", "required"),
            ("monthly", {"credits": 0}, "/credits", "out_of_range"),
            ("once", {"credits": 1_000_000_001}, "/credits", "out_of_range"),
            ("once", {"extra_credits": -1}, "/extra_credits", "out_of_range"),
            ("once", {"features": ["x"] * 51}, "/features", "too_many"),
            ("once", {"application_id": "z" * 22}, "/application_id", "unknown_id"),
        ],
    )
    async def test_wrong(self, desk: Desk, kind: str, changes: dict[str, Any], pointer: str, code: str) -> None:
        with pytest.raises(errors.Invalid) as refused:
            await add(desk, kind, **changes)
        assert [(pointer, code)] == [(each.pointer, each.code) for each in refused.value.errors]

    async def test_application_of_another(self, desk: Desk, neighbour: House) -> None:
        with pytest.raises(errors.Invalid):
            await add(desk, application_id=neighbour.application_id)

    async def test_end_before_the_beginning(self, desk: Desk) -> None:
        now = desk.pool.clock.now() if not desk.pool.clock.is_stale else (await add(desk)).start_time
        with pytest.raises(errors.Invalid):
            await add(desk, start_time=now + DAY, end_time=now + DAY)

    async def test_too_many(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(plans, "PLANS_MAX", 1)
        await add(desk)
        with pytest.raises(errors.Invalid):
            await add(desk)

    async def test_ok(self, desk: Desk) -> None:
        plan = await add(desk, "monthly", credits=50, extra_credits=7, features=["sms"])
        assert (50, 50, 7, "active", ["sms"]) == (
            plan.credits, plan.remaining_credits, plan.extra_credits, plan.state, plan.features,
        )  # fmt: skip
        assert plan.renew_time is not None
        assert timedelta(days=28) <= plan.renew_time - plan.start_time <= timedelta(days=31)


class TestList:
    async def test_of_another_application(self, desk: Desk) -> None:
        second = await desk.application()
        whole, own = await add(desk), await add(desk, application_id=desk.house.application_id)
        await add(desk, application_id=second)
        token = await desk.token(application_ids=[desk.house.application_id])
        found = (await desk.ask("GET", "/plan", token)).json()
        assert {whole.plan_id, own.plan_id} == {each["plan_id"] for each in found}

    async def test_ok(self, desk: Desk) -> None:
        plan = await add(desk, "unlimited", features=["sms"])
        [shown] = (await desk.ask("GET", "/plan")).json()
        assert {
            "plan_id": plan.plan_id, "organization_id": desk.house.organization_id, "application_id": None,
            "title": "Plan", "kind": "unlimited", "credits": None, "remaining_credits": None, "extra_credits": 0,
            "features": ["sms"], "state": "active", "start_time": shown["start_time"], "renew_time": None,
            "end_time": None,
        } == shown  # fmt: skip


class TestHasCredits:
    async def test_without_a_plan(self, desk: Desk) -> None:
        assert await has_credits(desk)
        await use(desk)

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ("remaining_credits = 1", True),
            ("remaining_credits = 0", False),
            ("remaining_credits = 0, extra_credits = 1", True),
            ("remaining_credits = -5, extra_credits = 5", False),
            ("state = 'expired'", False),
            ("state = 'cancelled'", False),
            ("start_time = now() - interval '2 days', end_time = now()", False),
            ("start_time = now() + interval '1 day'", True),  # it does not count yet
        ],
    )
    async def test_of_one_plan(self, desk: Desk, change: str, expected: bool) -> None:  # noqa: FBT001
        await add(desk)
        await desk.execute(f"update plan set {change}")
        assert expected is await has_credits(desk)

    async def test_of_another_application(self, desk: Desk, neighbour: House) -> None:
        """A plan of one application says nothing of the others; one of all is everybody's."""
        second = await desk.application()
        await add(desk, application_id=second)
        await desk.execute("update plan set remaining_credits = 0")
        assert (True, False) == (await has_credits(desk), await has_credits(desk, second))
        await add(desk, credits=1)
        assert (True, True) == (await has_credits(desk), await has_credits(desk, second))
        await use(desk)
        assert (False, False) == (await has_credits(desk), await has_credits(desk, second))


class TestUse:
    async def test_extra_ones_first_then_below_zero(self, desk: Desk) -> None:
        plan = await add(desk, credits=2, extra_credits=1)
        seen: list[tuple[int | None, int]] = []
        for _ in range(5):
            await use(desk)
            seen.append(await balance(desk, plan))
        assert [(2, 0), (1, 0), (0, 0), (-1, 0), (-2, 0)] == seen

    async def test_unlimited_pays_first(self, desk: Desk) -> None:
        once = await add(desk)
        await add(desk, "unlimited")
        await use(desk)
        assert (100, 0) == await balance(desk, once)

    async def test_own_before_all_and_what_ends_sooner(self, desk: Desk) -> None:
        lasting = await add(desk, credits=5)
        month = await add(desk, "monthly", credits=1)
        own = await add(desk, credits=1, application_id=desk.house.application_id)
        await use(desk, 3)
        assert [(4, 0), (0, 0), (0, 0)] == [await balance(desk, each) for each in (lasting, month, own)]

    async def test_of_another_application(self, desk: Desk) -> None:
        second = await desk.application()
        own, other = await add(desk, application_id=desk.house.application_id), await add(desk, application_id=second)
        await use(desk, application_id=second)
        assert [(100, 0), (99, 0)] == [await balance(desk, each) for each in (own, other)]

    @pytest.mark.parametrize("state", ["expired", "cancelled"])
    async def test_of_a_plan_that_has_ended(self, desk: Desk, state: str) -> None:
        plan = await add(desk)
        await desk.execute("update plan set state = $1", state)
        await use(desk)
        assert (100, 0) == await balance(desk, plan)

    async def test_at_the_same_time(self, desk: Desk) -> None:
        """None is lost and none is told twice."""
        plan = await add(desk, credits=40)
        await asyncio.gather(*(use(desk, 5) for _ in range(9)))
        assert (-5, 0) == await balance(desk, plan)
        assert ["plan.low_credits", "plan.credits_exhausted"] == await desk.told("plan.")

    async def test_told_once(self, desk: Desk) -> None:
        await add(desk, credits=20, extra_credits=3)
        await use(desk, 20)
        assert [] == await desk.told("plan.")
        await use(desk)
        assert ["plan.low_credits"] == await desk.told("plan.")
        await use(desk, 5)
        assert ["plan.low_credits", "plan.credits_exhausted"] == await desk.told("plan.")


class TestTurn:
    async def test_nothing_is_due(self, desk: Desk) -> None:
        plan = await add(desk, "monthly", end_time=None)
        assert 0 == await turn(desk, plan.start_time)

    async def test_renewal(self, desk: Desk) -> None:
        plan = await add(desk, "monthly", credits=10, extra_credits=2)
        await use(desk, 5)
        assert plan.renew_time is not None
        assert 1 == await turn(desk, plan.renew_time)
        renewed = await plan_of(desk, plan)
        assert (10, 0, "active") == (renewed.remaining_credits, renewed.extra_credits, renewed.state)
        assert renewed.renew_time is not None
        assert renewed.renew_time > plan.renew_time
        assert 0 == await turn(desk, plan.renew_time)
        assert ["plan.renewed"] == [told for told in await desk.told("plan.") if told == "plan.renewed"]

    async def test_what_was_used_beyond_is_taken_off(self, desk: Desk) -> None:
        plan = await add(desk, "monthly", credits=3)
        await use(desk, 5)
        assert plan.renew_time is not None
        await turn(desk, plan.renew_time)
        assert (1, 0) == await balance(desk, plan)

    async def test_a_worker_that_was_away_for_months(self, desk: Desk) -> None:
        plan = await add(desk, "monthly")
        later = plan.start_time + timedelta(days=200)
        assert 1 == await turn(desk, later)
        renewed = await plan_of(desk, plan)
        assert renewed.renew_time is not None
        assert later < renewed.renew_time <= later + timedelta(days=31)
        assert ["plan.renewed"] == await desk.told("plan.")

    async def test_end(self, desk: Desk) -> None:
        now = (await add(desk, "unlimited")).start_time
        plan = await add(desk, "monthly", end_time=now + 2 * DAY)
        assert 1 == await turn(desk, now + 2 * DAY)
        ended = await plan_of(desk, plan)
        assert ("expired", None) == (ended.state, ended.renew_time)
        assert 0 == await turn(desk, now + 400 * DAY)
        assert ["plan.expired"] == await desk.told("plan.")

    async def test_bounded(self, desk: Desk) -> None:
        now = (await add(desk)).start_time
        for _ in range(3):
            await add(desk, end_time=now + DAY)
        assert [2, 1, 0] == [await turn(desk, now + DAY, limit=2) for _ in range(3)]


class TestOperate:
    async def test_unknown(self, desk: Desk) -> None:
        for call in (plans.renew_plan, plans.cancel_plan):
            async with db.transaction(desk.pool) as database:
                with pytest.raises(errors.NotFound):
                    await call(database, plan_id="z" * 22, now=database.clock.now())

    async def test_renew_what_has_ended(self, desk: Desk) -> None:
        now = (await add(desk, "unlimited")).start_time
        plan = await add(desk, "once", credits=4, end_time=now + DAY)
        await desk.execute("update plan set remaining_credits = 0, state = 'expired' where plan_id = $1", plan.plan_id)
        async with db.transaction(desk.pool) as database:
            renewed = await plans.renew_plan(database, plan_id=plan.plan_id, now=now + 5 * DAY, end_time=now + 9 * DAY)
        assert ("active", 4, now + 9 * DAY) == (renewed.state, renewed.remaining_credits, renewed.end_time)
        async with db.transaction(desk.pool) as database:
            with pytest.raises(errors.Invalid):
                await plans.renew_plan(database, plan_id=plan.plan_id, now=now + 5 * DAY, end_time=now)

    async def test_extra_credits(self, desk: Desk) -> None:
        plan = await add(desk, "monthly", credits=4)
        await use(desk, 4)
        assert not await has_credits(desk)
        async with db.transaction(desk.pool) as database:
            now = database.clock.now()
            more = await plans.add_extra_credits(database, plan_id=plan.plan_id, extra_credits=5, now=now)
            with pytest.raises(errors.Invalid):
                await plans.add_extra_credits(database, plan_id=plan.plan_id, extra_credits=-6, now=now)
        assert (0, 5, plan.renew_time) == (more.remaining_credits, more.extra_credits, more.renew_time)
        assert await has_credits(desk)

    async def test_cancel(self, desk: Desk) -> None:
        plan = await add(desk, "monthly")
        async with db.transaction(desk.pool) as database:
            cancelled = await plans.cancel_plan(database, plan_id=plan.plan_id, now=database.clock.now())
        assert ("cancelled", None) == (cancelled.state, cancelled.renew_time)
        assert not await has_credits(desk)
