"""The SQL of contact policies."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Final, LiteralString

from afterword.core.scheduling import decisions, windows
from afterword.core.scheduling.decisions import Policy
from afterword.core.scheduling.holidays import DaysOff
from afterword.core.scheduling.windows import Hours
from afterword.db import Database, Row
from afterword.db.columns import assigned, qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactPolicy:
    """An organization's policy; `version` 0 was never saved, and has the defaults."""

    organization_id: str
    enabled: bool = False
    enabled_time: datetime | None = None
    invitations_max: int = 1
    window_days: int = 30
    response_window_days: int | None = None
    per_channel: bool = True
    count_reminders: bool = False
    if_exceeded: str = "skip"
    quiet_start_time: time | None = None
    quiet_end_time: time | None = None
    holiday_country: str | None = None
    holidays: list[date] = field(default_factory=list[date])
    version: int = 0
    updated_time: datetime
    updated_by: str | None = None

    @property
    def rule(self) -> Policy | None:
        if not self.enabled:
            return None
        return Policy(
            invitations_max=self.invitations_max,
            days=self.window_days,
            response_days=self.response_window_days,
            counts_reminders=self.count_reminders,
            if_exceeded=self.if_exceeded,
        )

    @property
    def quiet(self) -> Hours | None:
        """The hours in which nothing is sent, also while the policy is disabled."""
        return decisions.hours_of(self.quiet_start_time, self.quiet_end_time)

    @property
    def days_off(self) -> DaysOff:
        """The days on which nothing is sent, also while the policy is disabled."""
        return DaysOff(self.holiday_country, frozenset(self.holidays))


@dataclass(frozen=True, slots=True)
class DailyWindow:
    start: time
    end: time
    title: str

    def leaves_time(self, quiet: Hours) -> bool:
        return windows.leaves_time(window=Hours(self.start, self.end), weekdays=windows.WEEKDAYS_ALL, quiet=quiet)


_EDITABLE: Final[LiteralString] = """enabled, invitations_max, window_days, response_window_days, per_channel,
  count_reminders, if_exceeded, quiet_start_time, quiet_end_time, holiday_country, holidays"""
EDITABLE: Final = tuple(name.strip() for name in _EDITABLE.split(","))


async def get_policy(db: Database, *, organization_id: str) -> ContactPolicy:
    return (await list_policies(db, organization_ids=[organization_id]))[organization_id]


async def list_policies(  # any tenant: a claimed batch serves many organizations
    db: Database, *, organization_ids: Collection[str]
) -> dict[str, ContactPolicy]:
    """The policy of each of these organizations; one that was never saved has the defaults."""
    rows = await db.fetch(
        f"""select o.organization_id, {qualified(_EDITABLE, "p")}, p.enabled_time, p.version,
             coalesce(p.updated_time, o.created_time) as updated_time, p.updated_by
           from organization o left join contact_policy p on p.organization_id = o.organization_id
           where o.organization_id = any($1)""",
        sorted(organization_ids),
    )
    return {row["organization_id"]: _policy(row) for row in rows}


async def get_policy_locked(db: Database, *, organization_id: str) -> ContactPolicy:
    """As get_policy, locked until the transaction ends; inserts the row if there is none."""
    await db.execute(
        "insert into contact_policy (organization_id, version) values ($1, 0) on conflict do nothing", organization_id
    )
    await db.execute("select from contact_policy where organization_id = $1 for update", organization_id)
    return await get_policy(db, organization_id=organization_id)


async def list_windows(db: Database, *, organization_id: str) -> list[DailyWindow]:
    rows = await db.fetch(
        """select dispatch_start_time as start, dispatch_end_time as end, min(title) as title from pipeline
           where organization_id = $1 and dispatch_start_time is not null and deleted_time is null
             and (end_time is null or end_time > now())
           group by dispatch_start_time, dispatch_end_time order by dispatch_start_time, dispatch_end_time""",
        organization_id,
    )
    return [DailyWindow(**row) for row in rows]


async def update_policy(
    db: Database, *, organization_id: str, updated_by: str, document: Mapping[str, object]
) -> ContactPolicy:
    """Write the policy from a document whose keys are columns; once enabled it counts from now on."""
    await db.execute(
        f"""update contact_policy p
           set {assigned(_EDITABLE, "d")}, enabled_time = case when d.enabled then coalesce(p.enabled_time, now()) end,
             version = p.version + 1, updated_time = greatest(p.updated_time, now()), updated_by = $2
           from jsonb_populate_record(null::contact_policy, $3::jsonb) d
           where p.organization_id = $1""",
        organization_id,
        updated_by,
        document,
    )
    return await get_policy(db, organization_id=organization_id)


def _policy(row: Row) -> ContactPolicy:
    if row["version"] is None:
        return ContactPolicy(organization_id=row["organization_id"], updated_time=row["updated_time"])
    return ContactPolicy(**row)
