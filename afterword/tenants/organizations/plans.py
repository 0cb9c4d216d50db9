"""Plans: created by operators; credits, used by answers; renewals and ends."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal

from msgspec.structs import asdict, replace

from afterword import errors, ids
from afterword.core.organizations import plans as core_plans
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import NewEvent
from afterword.kit.db import Dangling, Database
from afterword.kit.db.columns import columns_of, qualified
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import OF_APPLICATION, Noun, TenantRecord
from afterword.kit.web import fields


class Plan(TenantRecord, kw_only=True):
    """Credits of the organization, or of one of its applications: one is used by each instance's first answer."""

    plan_id: fields.Id
    application_id: fields.Id | None
    title: str
    kind: core_plans.Kind
    credits: int | None
    remaining_credits: int | None
    extra_credits: int
    features: list[str]
    state: Literal["active", "expired", "cancelled"]
    start_time: datetime
    renew_time: datetime | None
    end_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime


PLAN = Noun(
    record=Plan,
    table="plan",
    one="plan",
    many="plans",
    tag="Plans",
    path="/plan",
    scope="Plan",
    about={"list": "An organization without a plan is unlimited."},
    operations=("list",),
    order=(("start_time", "desc"),),
    shows_organization=True,
    hides=("created_time", "updated_time"),
    visible=OF_APPLICATION,
)
routes = routes_of(PLAN)
_COLUMNS: Final = columns_of(Plan)
_COLUMNS_P: Final = qualified(_COLUMNS, "p")


async def _insert_plan(db: Database, *, organization_id: str, document: Mapping[str, object], now: datetime) -> Plan:
    """A new plan has all its credits. Raises Dangling if there is no such application."""
    return await db.records(Plan).fetch_one(
        f"""insert into plan (organization_id, plan_id, application_id, title, kind, credits, remaining_credits,
                             extra_credits, features, start_time, renew_time, end_time, created_time, updated_time)
           select $1, d.plan_id, d.application_id, d.title, d.kind, d.credits, d.credits, d.extra_credits, d.features,
             d.start_time, d.renew_time, d.end_time, $3, $3
           from jsonb_populate_record(null::plan, $2) d returning {_COLUMNS}""",
        *(organization_id, document, now),
    )


async def _count_plans(db: Database, *, organization_id: str) -> int:
    return await db.fetch_value("select count(*) from plan where organization_id = $1", organization_id)


async def list_all_plans(db: Database, *, limit: int) -> list[tuple[str, Plan]]:  # any tenant: for operators
    """The plans of all organizations with the organization's domain, oldest first."""
    rows = await db.fetch(
        f"""select o.domain, {_COLUMNS_P} from plan p join organization o on o.organization_id = p.organization_id
           order by o.domain, p.start_time, p.plan_id limit $1""",
        limit,
    )
    return [(row["domain"], Plan(**{name: row[name] for name in Plan.__struct_fields__})) for row in rows]


async def _claim_plan(db: Database, plan_id: str) -> Plan:  # any tenant: for operators
    found = await db.records(Plan).fetch_row(
        f"select {_COLUMNS} from plan where plan_id = $1 for no key update", plan_id
    )
    return errors.found(found, "There is no such plan.")


async def get_has_credits(db: Database, *, organization_id: str, application_id: str) -> bool:
    """True if the application has credits for new items and instances, or if there is no plan."""
    found = await db.fetch_value(
        "select has_credits from application_credit where organization_id = $1 and application_id = $2",
        *(organization_id, application_id),
    )
    return bool(found)


async def _update_credits_used(
    db: Database, *, organization_id: str, application_id: str, now: datetime
) -> Plan | None:
    """Subtract one credit from the application's plan; None if nothing is counted.

    Unlimited plans come first and count nothing; then plans with credits: the application's own before the
    organization's, an earlier end before a later one. If all are empty, the first goes below zero.
    """
    return await db.records(Plan).fetch_row(
        f"""update plan p
           set extra_credits = p.extra_credits - (p.extra_credits > 0)::int,
             remaining_credits = p.remaining_credits - (p.extra_credits <= 0)::int,
             version = p.version + 1, updated_time = greatest($3, p.updated_time)
           where p.organization_id = $1 and p.kind <> 'unlimited' and p.plan_id = (
             select plan_id from plan
             where organization_id = $1 and state = 'active' and (application_id is null or application_id = $2)
               and start_time <= $3 and (end_time is null or end_time > $3)
             order by kind <> 'unlimited', remaining_credits + extra_credits <= 0, application_id is null,
               coalesce(end_time, renew_time) nulls last, plan_id
             limit 1)
           returning {_COLUMNS}""",
        *(organization_id, application_id, now),
    )


async def _update_plan(
    db: Database, *, organization_id: str, plan_id: str, changes: Mapping[str, object], now: datetime
) -> Plan:
    return await db.records(Plan).fetch_one(
        f"""update plan p
           set (state, remaining_credits, extra_credits, renew_time, end_time)
               = (select s.state, s.remaining_credits, s.extra_credits, s.renew_time, s.end_time
                  from jsonb_populate_record(p, $3) s),
             version = version + 1, updated_time = greatest($4, updated_time)
           where organization_id = $1 and plan_id = $2 returning {_COLUMNS}""",
        *(organization_id, plan_id, changes, now),
    )


async def _claim_due_plans(db: Database, *, now: datetime, limit: int) -> list[Plan]:
    """Lock the plans that end or renew by now, except those locked by another worker."""
    return await db.records(Plan).fetch(
        f"""select {_COLUMNS} from plan
           where (organization_id, plan_id) in (
             (select organization_id, plan_id from plan where renew_time <= $1 order by renew_time limit $2) union all
             (select organization_id, plan_id from plan where end_time <= $1 and state = 'active'
              order by end_time limit $2)) and (renew_time <= $1 or (end_time <= $1 and state = 'active'))
           order by organization_id, plan_id limit $2 for no key update skip locked""",
        *(now, limit),
    )


PLANS_MAX: Final = 100  # of one organization, ended ones included
TITLE_CHARACTERS_MAX: Final = 200
FEATURES_MAX: Final = 50


async def add_plan(
    db: Database,
    *,
    organization_id: str,
    title: str,
    kind: core_plans.Kind,
    start_time: datetime,
    now: datetime,
    credits: int | None = None,  # noqa: A002  the field's own name
    extra_credits: int = 0,
    application_id: str | None = None,
    features: Sequence[str] = (),
    end_time: datetime | None = None,
) -> Plan:
    """Add a plan to an organization or application. From `start_time` on answers use credits. Raises Invalid."""
    wrong: list[FieldError] = []
    if not 1 <= len(title) <= TITLE_CHARACTERS_MAX:
        wrong.append(FieldError("too_long", f"A title has 1 to {TITLE_CHARACTERS_MAX} characters.", pointer="/title"))
    if (kind == "unlimited") != (credits is None):
        message = "A plan has credits, unless it is unlimited."
        wrong.append(FieldError("required", message, pointer="/credits"))
    if credits is not None and not 1 <= credits <= core_plans.CREDITS_MAX:
        wrong.append(FieldError("out_of_range", f"1 to {core_plans.CREDITS_MAX:,} credits.", pointer="/credits"))
    wrong += _extra_errors(extra_credits)
    if len(features) > FEATURES_MAX:
        wrong.append(FieldError("too_many", f"At most {FEATURES_MAX} features.", pointer="/features"))
    if end_time is not None and end_time <= max(start_time, now):
        wrong.append(FieldError("out_of_range", "It must end after its start, and in the future.", pointer="/end_time"))
    if await _count_plans(db, organization_id=organization_id) >= PLANS_MAX:
        wrong.append(FieldError("too_many", f"An organization has at most {PLANS_MAX} plans.", pointer=""))
    errors.check(wrong)
    document = {
        "plan_id": ids.ordered(now),
        "application_id": application_id,
        "title": title,
        "kind": kind,
        "credits": credits,
        "extra_credits": extra_credits,
        "features": features,
        "start_time": start_time,
        "renew_time": core_plans.next_renewal(start_time, after=max(start_time, now)) if kind == "monthly" else None,
        "end_time": end_time,
    }
    try:
        return await _insert_plan(db, organization_id=organization_id, document=document, now=now)
    except Dangling as error:
        unknown = FieldError("unknown_id", "There is no such application.", pointer="/application_id")
        raise errors.Invalid.of(unknown) from error


async def use_credit(db: Database, *, organization_id: str, application_id: str, now: datetime) -> None:
    """Use one credit for the first answer of an instance. Call it last: it locks the plan's row until the commit.

    Never refuses: an issued instance may be answered, so the balance may go below zero.
    """
    plan = await _update_credits_used(db, organization_id=organization_id, application_id=application_id, now=now)
    if plan is None or plan.credits is None or plan.remaining_credits is None:
        return
    news = core_plans.event_of_use(plan.remaining_credits + plan.extra_credits, credits=plan.credits)
    if news is not None:
        await events.record(db, events=[_event(plan, news, now=now)])


async def renew_plan(db: Database, *, plan_id: str, now: datetime, end_time: datetime | None = None) -> Plan:
    """Refill the plan, and make an ended one active again; for operators. Raises NotFound, Invalid.

    A monthly plan keeps the day of its renewals. `end_time`: its new end; None drops an end in the past.
    """
    plan = await _claim_plan(db, plan_id)
    if end_time is not None and end_time <= max(now, plan.start_time):
        raise errors.Invalid.at("/end_time", "out_of_range", "It must end after its start, and in the future.")
    kept = plan.end_time if plan.end_time is not None and plan.end_time > now else None
    return await _renew(db, replace(plan, end_time=end_time or kept), now=now)


async def add_extra_credits(db: Database, *, plan_id: str, extra_credits: int, now: datetime) -> Plan:
    """Extra credits are used first and survive renewals. Raises NotFound, Invalid."""
    plan = await _claim_plan(db, plan_id)
    total = plan.extra_credits + extra_credits
    errors.check(_extra_errors(total))
    return await _write(db, replace(plan, extra_credits=total), now=now)


async def cancel_plan(db: Database, *, plan_id: str, now: datetime) -> Plan:
    """End a plan. Raises NotFound. Answers are still counted: without another plan nothing more is sent."""
    plan = await _claim_plan(db, plan_id)
    return await _write(db, replace(plan, state="cancelled"), now=now)


async def turn_plans(db: Database, *, now: datetime, limit: int) -> int:
    """Renew monthly plans that are due and end expired ones, at most `limit`; return the count."""
    due = await _claim_due_plans(db, now=now, limit=limit)
    for plan in due:
        if plan.end_time is not None and plan.end_time <= now:
            ended = await _write(db, replace(plan, state="expired"), now=now)
            await events.record(db, events=[_event(ended, "expired", now=now)])
        else:
            await _renew(db, plan, now=now)
    return len(due)


async def _renew(db: Database, plan: Plan, *, now: datetime) -> Plan:
    remaining = plan.remaining_credits
    if remaining is not None and plan.credits is not None:
        remaining = core_plans.renewed_credits(remaining, credits=plan.credits)
    renewed = await _write(db, replace(plan, state="active", remaining_credits=remaining), now=now)
    await events.record(db, events=[_event(renewed, "renewed", now=now)])
    return renewed


async def _write(db: Database, plan: Plan, *, now: datetime) -> Plan:
    """Only an active monthly plan renews."""
    renews = plan.kind == "monthly" and plan.state == "active"
    renew_time = core_plans.next_renewal(plan.start_time, after=max(plan.start_time, now)) if renews else None
    changes = asdict(replace(plan, renew_time=renew_time))
    key = {"organization_id": plan.organization_id, "plan_id": plan.plan_id}
    return await _update_plan(db, **key, changes=changes, now=now)


def _extra_errors(extra_credits: int) -> list[FieldError]:
    if 0 <= extra_credits <= core_plans.CREDITS_MAX:
        return []
    message = f"A plan has 0 to {core_plans.CREDITS_MAX:,} extra credits."
    return [FieldError("out_of_range", message, pointer="/extra_credits")]


def _event(plan: Plan, kind: str, *, now: datetime) -> NewEvent:
    return NewEvent.of(plan, f"plan.{kind}", plan.plan_id, asdict(plan), now=now)
