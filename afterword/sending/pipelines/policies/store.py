"""The SQL of contact policies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Final, LiteralString

from afterword.core.scheduling import decisions, windows
from afterword.core.scheduling.decisions import Policy
from afterword.core.scheduling.holidays import DaysOff
from afterword.core.scheduling.windows import Hours
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import assigned


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

    @classmethod
    def of(cls, row: Row) -> "ContactPolicy":
        """The policy of a row with POLICY_COLUMNS; one that was never saved has the defaults."""
        values = {name: row[f"policy_{name}"] for name in cls.__dataclass_fields__}
        if values["version"] is None:
            return cls(organization_id=values["organization_id"], updated_time=values["updated_time"])
        return cls(**values)

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
# Of a row with the organization `o` and its policy `cp`, if it has one.
POLICY_COLUMNS: Final[LiteralString] = """o.organization_id as policy_organization_id, cp.enabled as policy_enabled,
  cp.enabled_time as policy_enabled_time, cp.invitations_max as policy_invitations_max,
  cp.window_days as policy_window_days, cp.response_window_days as policy_response_window_days,
  cp.per_channel as policy_per_channel, cp.count_reminders as policy_count_reminders,
  cp.if_exceeded as policy_if_exceeded, cp.quiet_start_time as policy_quiet_start_time,
  cp.quiet_end_time as policy_quiet_end_time, cp.holiday_country as policy_holiday_country,
  cp.holidays as policy_holidays, cp.version as policy_version,
  coalesce(cp.updated_time, o.created_time) as policy_updated_time, cp.updated_by as policy_updated_by"""


async def get_policy(db: Database, *, organization_id: str) -> ContactPolicy:
    row = await db.fetch_row(
        f"""select {POLICY_COLUMNS}
           from organization o left join contact_policy cp on cp.organization_id = o.organization_id
           where o.organization_id = $1""",
        organization_id,
    )
    if row is None:
        raise AssertionError("a caller has an organization")
    return ContactPolicy.of(row)


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
        *(organization_id, updated_by, document),
    )
    return await get_policy(db, organization_id=organization_id)
