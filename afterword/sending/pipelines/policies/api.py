"""Routes of the contact policy."""

from datetime import date, time, tzinfo
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.core.scheduling import decisions
from afterword.core.scheduling.holidays import COUNTRY_CHARACTERS_MAX, COUNTRY_PATTERN, DATES_MAX
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.pipelines.policies import service, store

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
        values: dict[str, Any] = {name: getattr(self, name) for name in store.EDITABLE}
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
    policy = await store.get_policy(db, organization_id=call.caller.organization_id)
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
    policy = await service.replace(
        db, caller=call.caller, wanted=call.body.document, expect=call.expect, now=db.clock.now()
    )
    return Answer(_shown(policy, call.zone), version=policy.version)


def _shown(policy: store.ContactPolicy, zone: tzinfo) -> ContactPolicy:
    return ContactPolicy.of(policy, zone, holidays=[day.isoformat() for day in policy.holidays])
