"""`afterword plan`: what an installation's operator agrees with its organizations: plans and their credits."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from afterword import db, errors
from afterword.cli import tokens
from afterword.core.organizations import plans as core_plans
from afterword.core.wire.times import format_time
from afterword.organizations.plans import service as plans
from afterword.organizations.plans import store as plans_store
from afterword.organizations.plans.store import Plan

PLANS_MAX = 1_000


async def list_plans(pool: db.Pool, *, domain: str | None) -> list[str]:
    """A line for each plan: of all organizations, or of one. Raises NotFound for an unknown domain."""
    async with db.connection(pool) as database:
        if domain is not None:
            await tokens.organization_of(database, domain)
        found = await plans_store.list_all_plans(database, limit=PLANS_MAX)
    return [f"{name}  {line(plan)}" for name, plan in found if domain in {None, name}]


async def add(
    pool: db.Pool,
    *,
    kind: str,
    domain: str | None,
    title: str,
    credits: int | None,  # noqa: A002  the field's own name
    extra: int,
    application_id: str | None,
    features: Sequence[str],
    start: datetime | None,
    days: int | None,
) -> Plan:
    """Give an organization a plan, from now or from `start`, for so many days. Raises Invalid, NotFound."""
    kinds: dict[str, core_plans.Kind] = {each: each for each in core_plans.KINDS}
    chosen = kinds.get(kind)
    if chosen is None:
        raise errors.Invalid(f"A plan is one of {', '.join(core_plans.KINDS)}.")
    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization = await tokens.organization_of(database, domain)
        begin = now if start is None else start if start.tzinfo else start.replace(tzinfo=UTC)
        return await plans.add_plan(
            database,
            organization_id=organization.organization_id,
            title=title,
            kind=chosen,
            credits=credits,
            extra_credits=extra,
            application_id=application_id,
            features=features,
            start_time=begin,
            end_time=None if days is None else begin + timedelta(days=days),
            now=now,
        )


async def renew(pool: db.Pool, *, plan_id: str, extra: int | None, days: int | None) -> Plan:
    """Fill a plan up and let it go on, for so many days; with `extra` only add so many extra credits."""
    async with db.transaction(pool) as database:
        now = database.clock.now()
        if extra is not None:
            return await plans.add_extra_credits(database, plan_id=plan_id, extra_credits=extra, now=now)
        end_time = None if days is None else now + timedelta(days=days)
        return await plans.renew_plan(database, plan_id=plan_id, end_time=end_time, now=now)


async def cancel(pool: db.Pool, *, plan_id: str) -> tuple[Plan, bool]:
    """End a plan; with it whether the organization still has another active one."""
    async with db.transaction(pool) as database:
        plan = await plans.cancel_plan(database, plan_id=plan_id, now=database.clock.now())
        others = await plans_store.list_all_plans(database, limit=PLANS_MAX)
    remains = any(other.organization_id == plan.organization_id and other.state == "active" for _, other in others)
    return plan, remains


def line(plan: Plan) -> str:
    """The plan in one line."""
    parts = [plan.plan_id, plan.kind, plan.state]
    if plan.credits is not None:
        parts.append(f"{plan.remaining_credits:,} of {plan.credits:,} credits")
        if plan.extra_credits:
            parts.append(f"{plan.extra_credits:,} extra")
    if plan.application_id is not None:
        parts.append(f"application {plan.application_id}")
    ends = (("from", plan.start_time), ("renews", plan.renew_time), ("ends", plan.end_time))
    parts += [f"{word} {format_time(time)}" for word, time in ends if time is not None]
    return ", ".join([*parts, f"“{plan.title}”"])
