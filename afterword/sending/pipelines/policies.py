"""Replaces an organization's contact policy."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, tzinfo
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.scheduling import decisions, windows
from afterword.core.scheduling.decisions import Policy, hours_of
from afterword.core.scheduling.windows import COUNTRY_CHARACTERS_MAX, COUNTRY_PATTERN, DATES_MAX, DaysOff, Hours
from afterword.errors import FieldError, Sentence
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import assigned
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactPolicyRecord:
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
    def of(cls, row: Row) -> "ContactPolicyRecord":
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


async def get_policy_record(db: Database, *, organization_id: str) -> ContactPolicyRecord:
    row = await db.fetch_row(
        f"""select {POLICY_COLUMNS}
           from organization o left join contact_policy cp on cp.organization_id = o.organization_id
           where o.organization_id = $1""",
        organization_id,
    )
    if row is None:
        raise AssertionError("a caller has an organization")
    return ContactPolicyRecord.of(row)


async def _get_policy_locked(db: Database, *, organization_id: str) -> ContactPolicyRecord:
    """As get_policy, locked until the transaction ends; inserts the row if there is none."""
    await db.execute(
        "insert into contact_policy (organization_id, version) values ($1, 0) on conflict do nothing", organization_id
    )
    await db.execute("select from contact_policy where organization_id = $1 for update", organization_id)
    return await get_policy_record(db, organization_id=organization_id)


async def _list_windows(db: Database, *, organization_id: str) -> list[DailyWindow]:
    rows = await db.fetch(
        """select dispatch_start_time as start, dispatch_end_time as end, min(title) as title from pipeline
           where organization_id = $1 and dispatch_start_time is not null and deleted_time is null
             and (end_time is null or end_time > now())
           group by dispatch_start_time, dispatch_end_time order by dispatch_start_time, dispatch_end_time""",
        organization_id,
    )
    return [DailyWindow(**row) for row in rows]


async def _update_policy(
    db: Database, *, organization_id: str, updated_by: str, document: Mapping[str, object]
) -> ContactPolicyRecord:
    """Write the policy from a document whose keys are columns; once enabled it counts from now on."""
    await db.execute(
        f"""update contact_policy p
           set {assigned(_EDITABLE, "d")}, enabled_time = case when d.enabled then coalesce(p.enabled_time, now()) end,
             version = p.version + 1, updated_time = greatest(p.updated_time, now()), updated_by = $2
           from jsonb_populate_record(null::contact_policy, $3::jsonb) d
           where p.organization_id = $1""",
        *(organization_id, updated_by, document),
    )
    return await get_policy_record(db, organization_id=organization_id)


async def replace(
    db: Database, *, caller: Caller, wanted: Mapping[str, Any], expect: errors.Expect = errors.ANY, now: datetime
) -> ContactPolicyRecord:
    """Replace the policy, if this one is new; workers read it with their next claim.

    Raises Forbidden, Stale (by `expect`), and Invalid: hours that leave a pipeline no time of a week, or a
    country without the region that its holidays need.
    """
    caller.require_whole()
    caller.require_real()
    before = await _get_policy_locked(db, organization_id=caller.organization_id)
    expect(before.version)
    document: dict[str, Any] = {**wanted, "holidays": sorted(set(wanted["holidays"]))}
    if document == {name: getattr(before, name) for name in EDITABLE}:
        return before
    quiet = hours_of(document["quiet_start_time"], document["quiet_end_time"])
    pipelines = await _list_windows(db, organization_id=caller.organization_id) if quiet else []
    regions = await asyncio.to_thread(windows.regions_of, document["holiday_country"] or "", now.year)
    errors.check(list(_errors(document, before, pipelines, regions=regions)))
    return await _update_policy(
        db, organization_id=caller.organization_id, updated_by=caller.actor_id, document=document
    )


def _errors(
    document: Mapping[str, Any], before: ContactPolicyRecord, pipelines: list[DailyWindow], *, regions: Sequence[str]
) -> Iterator[FieldError]:
    start: time | None = document["quiet_start_time"]
    end: time | None = document["quiet_end_time"]
    if (start is None) != (end is None):
        missing = "quiet_start_time" if start is None else "quiet_end_time"
        yield FieldError("required", "Quiet hours have a start and an end.", pointer=f"/{missing}")
    quiet = hours_of(start, end)
    if quiet is not None and quiet.start == quiet.end:
        yield FieldError("out_of_range", "Quiet hours of a whole day leave no time.", pointer="/quiet_end_time")
    elif quiet is not None:
        shut = next((each for each in pipelines if not each.leaves_time(quiet)), None)
        if shut is not None:
            text = Sentence("These hours leave no time for the pipeline “{pipeline}”.", pipeline=shut.title)
            yield FieldError("out_of_range", text, pointer="/quiet_start_time")
    country: str | None = document["holiday_country"]
    if country is not None and not windows.is_known(country):
        text = "The holidays of this country, or of this part of it, are not known."
        yield FieldError("unknown_value", text, pointer="/holiday_country")
    elif regions and country != before.holiday_country:
        text = Sentence("Its holidays differ by region: choose one of {regions}.", regions=", ".join(regions))
        yield FieldError("unknown_value", text, pointer="/holiday_country")


PATH: Final = "/policy/contact"
MEANING: Final = (
    "`enabled` counts: at most `invitations_max` to one address in `window_days`, over all pipelines, and none for "
    "`response_window_days` after a response. Quiet hours and holidays hold whether it is enabled or not."
)

Days = Annotated[int, Meta(ge=1, le=365)]
Clock = Annotated[str, Meta(extra=fields.CLOCK, examples=["21:00"])]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"}, extra=fields.DATE, examples=["2026-12-24"])]
Country = Annotated[
    str,
    Meta(
        min_length=2,
        max_length=COUNTRY_CHARACTERS_MAX,
        pattern=COUNTRY_PATTERN,
        extra={"expected": "A country of ISO 3166-1 is expected, perhaps with a part of it, such as GR or DE-BY."},
        examples=["GR"],
    ),
]

routes = Routes(tag="Contact policy")


class ContactPolicyRequest(fields.Request):
    """The whole policy; what is left out has its default."""

    enabled: bool = False
    invitations_max: Annotated[int, Meta(ge=1, le=decisions.INVITATIONS_MAX)] = 1
    window_days: Days = 30
    response_window_days: Days | None = None
    per_channel: bool = True
    count_reminders: bool = False
    if_exceeded: Literal["wait", "skip"] = "skip"
    quiet_start_time: Clock | None = None
    quiet_end_time: Clock | None = None
    holiday_country: Country | None = None
    holidays: Annotated[list[Day], Meta(max_length=DATES_MAX)] = msgspec.field(default_factory=list[str])

    @property
    def document(self) -> dict[str, Any]:
        values: dict[str, Any] = {name: getattr(self, name) for name in EDITABLE}
        for name in ("quiet_start_time", "quiet_end_time"):
            values[name] = None if values[name] is None else time.fromisoformat(values[name])
        return {**values, "holidays": [date.fromisoformat(day) for day in self.holidays]}


class ContactPolicy(fields.Resource):
    """The contact policy over all pipelines: how often people are asked, and days without sending."""

    organization_id: fields.Id
    enabled: bool
    invitations_max: int
    window_days: int
    response_window_days: int | None
    per_channel: bool
    count_reminders: bool
    if_exceeded: str
    quiet_start_time: fields.ClockTime | None
    quiet_end_time: fields.ClockTime | None
    holiday_country: str | None
    holidays: list[str]
    updated_time: fields.DateTime
    updated_by: fields.Id | None


@routes.get(
    PATH,
    scope="Contact Policy.Read",
    answer=ContactPolicy,
    summary="Get the contact policy",
    description=f"{MEANING} One that was never saved has the defaults.",
)
async def get_policy(call: Call[None], db: Database) -> Answer:
    policy = await get_policy_record(db, organization_id=call.caller.organization_id)
    return Answer(_shown(policy, call.zone), version=policy.version)


@routes.put(
    PATH,
    scope="Contact Policy.Update",
    body=ContactPolicyRequest,
    answer=ContactPolicy,
    summary="Replace the contact policy",
    description=(
        f"All of it. {MEANING} With `per_channel` false all addresses that are known of a person count together. A "
        "pipeline with `policy_exempt` sends regardless, and what it sends counts for the others; one with "
        "`on_holidays` `send` knows no holidays. Quiet hours that leave a pipeline no time are refused. Reminders "
        "count, and are counted against, with `count_reminders`."
    ),
)
async def replace_policy(call: Call[ContactPolicyRequest], db: Database) -> Answer:
    policy = await replace(db, caller=call.caller, wanted=call.body.document, expect=call.expect, now=db.clock.now())
    return Answer(_shown(policy, call.zone), version=policy.version)


def _shown(policy: ContactPolicyRecord, zone: tzinfo) -> ContactPolicy:
    return ContactPolicy.of(policy, zone, holidays=[day.isoformat() for day in policy.holidays])
