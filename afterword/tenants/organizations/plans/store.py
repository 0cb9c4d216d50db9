"""SQL of plans and their credits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of, qualified


@dataclass(frozen=True, slots=True)
class Plan:
    """Credits of an organization, or of one of its applications; None: unlimited."""

    organization_id: str
    plan_id: str
    application_id: str | None
    title: str
    kind: str
    credits: int | None
    remaining_credits: int | None
    extra_credits: int
    features: list[str]
    state: str
    start_time: datetime
    renew_time: datetime | None
    end_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime


_COLUMNS: Final = columns_of(Plan)
_COLUMNS_P: Final = qualified(_COLUMNS, "p")


async def insert_plan(db: Database, *, organization_id: str, document: Mapping[str, object], now: datetime) -> Plan:
    """A new plan has all its credits. Raises Dangling if there is no such application."""
    row = await db.fetch_one(
        f"""insert into plan (organization_id, plan_id, application_id, title, kind, credits, remaining_credits,
                             extra_credits, features, start_time, renew_time, end_time, created_time, updated_time)
           select $1, d.plan_id, d.application_id, d.title, d.kind, d.credits, d.credits, d.extra_credits, d.features,
             d.start_time, d.renew_time, d.end_time, $3, $3
           from jsonb_populate_record(null::plan, $2) d returning {_COLUMNS}""",
        *(organization_id, document, now),
    )
    return Plan(**row)


async def count_plans(db: Database, *, organization_id: str) -> int:
    return await db.fetch_value("select count(*) from plan where organization_id = $1", organization_id)


async def list_plans(db: Database, *, organization_id: str, page: Page, among: Sequence[str] = ()) -> Rows[Plan]:
    """The organization's plans; for callers of the applications `among` only those, and those for all."""
    rows = await db.fetch_list(
        f"""select {_COLUMNS} from plan
           where organization_id = $1
             and ($2::text[] = '{{}}' or application_id is null or application_id = any($2))""",
        *(organization_id, list(among)),
        page=page,
    )
    return rows.map(lambda row: Plan(**row))


async def list_all_plans(db: Database, *, limit: int) -> list[tuple[str, Plan]]:  # any tenant: for operators
    """The plans of all organizations with the organization's domain, oldest first."""
    rows = await db.fetch(
        f"""select o.domain, {_COLUMNS_P} from plan p join organization o on o.organization_id = p.organization_id
           order by o.domain, p.start_time, p.plan_id limit $1""",
        limit,
    )
    return [(row["domain"], Plan(**{name: row[name] for name in Plan.__dataclass_fields__})) for row in rows]


async def claim_plan(db: Database, *, plan_id: str) -> Plan | None:  # any tenant: for operators
    row = await db.fetch_row(f"select {_COLUMNS} from plan where plan_id = $1 for no key update", plan_id)
    return Plan(**row) if row else None


async def get_has_credits(db: Database, *, organization_id: str, application_id: str) -> bool:
    """True if the application has credits for new items and instances, or if there is no plan."""
    found = await db.fetch_value(
        "select has_credits from application_credit where organization_id = $1 and application_id = $2",
        *(organization_id, application_id),
    )
    return bool(found)


async def update_credits_used(db: Database, *, organization_id: str, application_id: str, now: datetime) -> Plan | None:
    """Subtract one credit from the application's plan; None if nothing is counted.

    Unlimited plans come first and count nothing; then plans with credits: the application's own before the
    organization's, an earlier end before a later one. If all are empty, the first goes below zero.
    """
    row = await db.fetch_row(
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
    return Plan(**row) if row else None


async def update_plan(
    db: Database, *, organization_id: str, plan_id: str, changes: Mapping[str, object], now: datetime
) -> Plan:
    """Update a locked plan after a renewal, a top-up or an end."""
    row = await db.fetch_one(
        f"""update plan p
           set (state, remaining_credits, extra_credits, renew_time, end_time)
               = (select s.state, s.remaining_credits, s.extra_credits, s.renew_time, s.end_time
                  from jsonb_populate_record(p, $3) s),
             version = version + 1, updated_time = greatest($4, updated_time)
           where organization_id = $1 and plan_id = $2 returning {_COLUMNS}""",
        *(organization_id, plan_id, changes, now),
    )
    return Plan(**row)


async def claim_due_plans(db: Database, *, now: datetime, limit: int) -> list[Plan]:
    """Lock the plans that end or renew by now, except those locked by another worker."""
    rows = await db.fetch(
        f"""select {_COLUMNS} from plan
           where renew_time <= $1 or (end_time <= $1 and state = 'active')
           order by organization_id, plan_id limit $2 for no key update skip locked""",
        *(now, limit),
    )
    return [Plan(**row) for row in rows]
