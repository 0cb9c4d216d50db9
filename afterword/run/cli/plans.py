"""`afterword plan`: the plans and credits that an installation's operator agrees with its organizations."""

import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from afterword.core.organizations import plans as core_plans
from afterword.core.wire.times import format_time
from afterword.run.cli.context import (
    open_organization,
    open_transaction,
    organization_of,
)
from afterword.run.cli.organizations import OnlyDomain, OrganizationDomain
from afterword.tenants.organizations import plans
from afterword.tenants.organizations.plans import Plan

PLANS_MAX = 1_000

app = cyclopts.App(name="plan")
PlanId = Annotated[str, Parameter(help="Its id, as “afterword plan list” shows it.")]


@app.command(name="list")
async def list_plans(*, organization: OnlyDomain = None) -> None:
    """List the plans, one a line."""
    async with open_transaction() as (_, database):
        if organization is not None:
            await organization_of(database, organization)
        found = await plans.list_all_plans(database, limit=PLANS_MAX)
    lines = [f"{name}  {_line(plan)}" for name, plan in found if organization in {None, name}]
    print("\n".join(lines) or "No plan: all is unlimited.")


@app.command(name="add")
async def add(
    kind: core_plans.Kind,
    /,
    *,
    credits: int | None = None,  # noqa: A002  the field's own name
    organization: OrganizationDomain = None,
    title: str | None = None,
    extra: int = 0,
    application: str | None = None,
    feature: Annotated[list[str] | None, Parameter(negative="")] = None,
    start: datetime | None = None,
    days: int | None = None,
) -> None:
    """Give an organization a plan: from then on its answers are counted, and nothing is sent without credits.

    Args:
        kind: once: its credits and no more; monthly: the same number anew each month; unlimited.
        credits: How many instances may be answered; not for unlimited.
        title: Its name; without, its kind.
        extra: Credits beside them, which are used first and outlast renewals.
        application: The id of the one application that it pays for; without, it pays for all.
        feature: A word that the plan shows; repeatable.
        start: The time when it begins, in UTC; without, now.
        days: How long it lasts; without, until it is cancelled.
    """
    async with open_organization(organization) as (_, database, owner):
        now = database.clock.now()
        begin = now if start is None else start if start.tzinfo else start.replace(tzinfo=UTC)
        plan = await plans.add_plan(
            database,
            organization_id=owner.organization_id,
            title=title or kind.capitalize(),
            kind=kind,
            credits=credits,
            extra_credits=extra,
            application_id=application,
            features=feature or [],
            start_time=begin,
            end_time=None if days is None else begin + timedelta(days=days),
            now=now,
        )
    print(_line(plan))


@app.command(name="renew")
async def renew(plan_id: PlanId, /, *, extra: int | None = None, days: int | None = None) -> None:
    """Fill a plan up now, and let it go on where it had ended.

    Args:
        extra: Do not fill it up, but add so many extra credits.
        days: Let it end so many days from now.
    """
    async with open_transaction() as (_, database):
        now = database.clock.now()
        if extra is not None:
            plan = await plans.add_extra_credits(database, plan_id=plan_id, extra_credits=extra, now=now)
        else:
            end_time = None if days is None else now + timedelta(days=days)
            plan = await plans.renew_plan(database, plan_id=plan_id, end_time=end_time, now=now)
    print(_line(plan))


@app.command(name="cancel")
async def cancel(plan_id: PlanId, /) -> None:
    """End a plan. Without another active one nothing more is sent for its organization."""
    async with open_transaction() as (_, database):
        plan = await plans.cancel_plan(database, plan_id=plan_id, now=database.clock.now())
        others = await plans.list_all_plans(database, limit=PLANS_MAX)
    print(_line(plan))
    if not any(other.organization_id == plan.organization_id and other.state == "active" for _, other in others):
        sentence = "No active plan is left: nothing is sent. To send without counting: afterword plan add unlimited."
        print(sentence, file=sys.stderr)


def _line(plan: Plan) -> str:
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
