"""An organization's contact policy: how often people are asked, and when nothing is sent."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.core.scheduling import decisions, windows
from afterword.core.scheduling.decisions import Policy, hours_of
from afterword.core.scheduling.windows import COUNTRY_CHARACTERS_MAX, COUNTRY_PATTERN, DATES_MAX, DaysOff, Hours
from afterword.errors import FieldError, Sentence
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import Change, Editable, Hidden, Noun, SettingsRecord
from afterword.kit.texts import Marked
from afterword.kit.web import fields

MEANING: Final = (
    "`enabled` counts: at most `invitations_max` to one address in `window_days`, over all pipelines, and none for "
    "`response_window_days` after a response. Quiet hours and holidays hold whether it is enabled or not."
)

Most = Annotated[int, Meta(ge=1, le=decisions.INVITATIONS_MAX)]
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

_COUNTED: Final[Sequence[tuple[str, Marked]]] = (
    ("1", "for its address"),
    ("", "for all known addresses of the person"),
)
_BEYOND: Final[Sequence[tuple[str, Marked]]] = (("skip", "is not sent"), ("wait", "waits"))


def _clock(label: Marked, hint: Marked = "") -> Editable:
    return Editable(label, hint, "clock", wire=Clock | None, shown=fields.ClockTime | None, write=fields.clock_of)


class ContactPolicy(SettingsRecord, kw_only=True):
    """The contact policy over all pipelines: how often people are asked, and days without sending."""

    enabled: Annotated[bool, Editable("Limit how often people are asked", "", "switch")] = False
    enabled_time: Annotated[datetime | None, Hidden()] = None
    invitations_max: Annotated[
        Most, Editable("Invitations at most", "To one address, over all pipelines.", "number")
    ] = 1
    window_days: Annotated[Days, Editable("Within (days)", "", "number")] = 30
    response_window_days: Annotated[
        Days | None, Editable("Days without invitations after a response", "Empty: none.", "number")
    ] = None
    per_channel: Annotated[bool, Editable("An invitation counts", "", "switch", _COUNTED)] = True
    count_reminders: Annotated[bool, Editable("Reminders count too", "", "switch")] = False
    if_exceeded: Annotated[
        Literal["wait", "skip"], Editable("A message beyond the limit", "", "choice", _BEYOND, shown=str, holds="fixed")
    ] = "skip"
    quiet_start_time: Annotated[
        time | None, _clock("Quiet hours from", "Nothing is sent at these hours, in the customer's time zone.")
    ] = None
    quiet_end_time: Annotated[time | None, _clock("Quiet hours to")] = None
    holiday_country: Annotated[
        Country | None,
        Editable("Country of the holidays", "Such as GR, or DE-BY for a part. Empty: no holidays.", holds="fixed"),
    ] = None
    holidays: Annotated[
        list[date],
        Editable(
            "Other days without sending",
            "One per line, such as 2026-12-24.",
            "lines",
            wire=Annotated[list[Day], Meta(max_length=DATES_MAX)],
            shown=list[str],
            write=lambda days: sorted({date.fromisoformat(day) for day in days}),
        ),
    ] = msgspec.field(default_factory=list[date])
    updated_time: datetime

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "ContactPolicy":
        """The policy of a row with POLICY_COLUMNS; one that was never saved has the defaults."""
        values = {name: row[f"policy_{name}"] for name in cls.__struct_fields__}
        return cls(**{name: value for name, value in values.items() if value is not None})

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


def _of_policy(columns: LiteralString) -> LiteralString:
    return ", ".join(f"cp.{name} as policy_{name}" for name in columns.split(", "))


# Of a row with the organization `o` and its policy `cp`, if it has one.
_STORED: Final[LiteralString] = columns_of(ContactPolicy, without={"organization_id", "updated_time"})
POLICY_COLUMNS: Final[LiteralString] = f"""o.organization_id as policy_organization_id,
  coalesce(cp.updated_time, o.created_time) as policy_updated_time, {_of_policy(_STORED)}"""


async def _list_windows(db: Database, *, organization_id: str) -> list[tuple[Hours, str]]:
    """The hours in which pipelines send, each with the title of one of them."""
    rows = await db.fetch(
        """select dispatch_start_time as start, dispatch_end_time as end, min(title) as title from pipeline
           where organization_id = $1 and dispatch_start_time is not null and deleted_time is null
             and (end_time is null or end_time > now())
           group by dispatch_start_time, dispatch_end_time order by dispatch_start_time, dispatch_end_time""",
        organization_id,
    )
    return [(Hours(row["start"], row["end"]), row["title"]) for row in rows]


async def _check(change: Change[ContactPolicy]) -> None:
    """Raise Invalid for hours that leave a pipeline no time of a week, or a country without the region it needs.

    Workers read the policy with their next claim; once enabled it counts from now on.
    """
    quiet = hours_of(change.after("quiet_start_time"), change.after("quiet_end_time"))
    pipelines = await _list_windows(change.db, organization_id=change.caller.organization_id) if quiet else []
    regions = await asyncio.to_thread(windows.regions_of, change.after("holiday_country") or "", change.now.year)
    errors.check(list(_errors(change, pipelines, regions=regions)))
    if "enabled" in change.columns:
        change.columns["enabled_time"] = change.now if change.columns["enabled"] else None


def _errors(
    change: Change[ContactPolicy], pipelines: Sequence[tuple[Hours, str]], *, regions: Sequence[str]
) -> Iterator[FieldError]:
    start: time | None = change.after("quiet_start_time")
    end: time | None = change.after("quiet_end_time")
    if (start is None) != (end is None):
        missing = "quiet_start_time" if start is None else "quiet_end_time"
        yield FieldError("required", "Quiet hours have a start and an end.", pointer=f"/{missing}")
    quiet = hours_of(start, end)
    if quiet is not None and quiet.start == quiet.end:
        yield FieldError("out_of_range", "Quiet hours of a whole day leave no time.", pointer="/quiet_end_time")
    elif quiet is not None:
        days = windows.WEEKDAYS_ALL
        shut = [
            title for hours, title in pipelines if not windows.leaves_time(window=hours, weekdays=days, quiet=quiet)
        ]
        if shut:
            text = Sentence("These hours leave no time for the pipeline “{pipeline}”.", pipeline=shut[0])
            yield FieldError("out_of_range", text, pointer="/quiet_start_time")
    country: str | None = change.after("holiday_country")
    if country is not None and not windows.is_known(country):
        text = "The holidays of this country, or of this part of it, are not known."
        yield FieldError("unknown_value", text, pointer="/holiday_country")
    elif regions and "holiday_country" in change.columns:
        text = Sentence("Its holidays differ by region: choose one of {regions}.", regions=", ".join(regions))
        yield FieldError("unknown_value", text, pointer="/holiday_country")


POLICY = Noun(
    record=ContactPolicy,
    table="contact_policy",
    one="policy",
    many="policies",
    tag="Contact policy",
    path="/policy/contact",
    scope="Contact Policy",
    about_create="The whole policy; what is left out has its default.",
    about={
        "get": f"{MEANING} One that was never saved has the defaults.",
        "replace": f"All of it. {MEANING} With `per_channel` false all addresses that are known of a person count "
        "together. A pipeline with `policy_exempt` sends regardless, and what it sends counts for the others; one with "
        "`on_holidays` `send` knows no holidays. Quiet hours that leave a pipeline no time are refused. Reminders "
        "count, and are counted against, with `count_reminders`.",
    },
    summaries={"get": "Get the contact policy", "replace": "Replace the contact policy"},
    operations=("get", "replace"),
    is_single=True,
    filled_later=("enabled_time",),
    check=_check,
    fixed=lambda caller, _: caller.require_all(),
)
routes = routes_of(POLICY)
