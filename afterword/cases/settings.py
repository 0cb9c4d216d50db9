"""The settings of cases of an organization: business hours, choices, saved texts."""

from collections.abc import Iterable
from datetime import datetime, time
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases.resources import Choice, unique
from afterword.core.organizations.access import Caller
from afterword.core.scheduling.windows import WEEKDAYS_ALL, Calendar
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import Change, Editable, Noun, SettingsRecord
from afterword.kit.web import fields
from afterword.tenants.organizations import checks

TEXTS_MAX: Final = 100
VARIABLES: Final = ("customer_name", "my_name", "organization_name", "alert_title", "order")

Weekdays = Annotated[list[Annotated[int, Meta(ge=1, le=7)]], Meta(min_length=1, max_length=7, examples=[[1, 2, 3]])]
Clock = Annotated[str, Meta(extra=fields.CLOCK, examples=["09:00"])]
Choices = Annotated[list[Choice], Meta(max_length=TEXTS_MAX)]


class SavedText(fields.Request):
    """A text for replies and comments; its variables stand in two braces."""

    title: fields.Text100
    body: Annotated[str, Meta(min_length=1, max_length=5000)]


SavedTexts = Annotated[list[SavedText], Meta(max_length=TEXTS_MAX)]
_CLOCK: Final = Editable(wire=Clock | None, shown=fields.ClockTime | None, write=fields.clock_of)


def _days(given: Iterable[int]) -> list[int]:
    return sorted(set(given))


class AlertSettings(SettingsRecord, kw_only=True):
    """Business hours in the organization's time zone, by ISO weekdays, 1 is Monday; and what cases offer to choose."""

    weekdays: Annotated[Weekdays, Editable(write=_days)] = msgspec.field(default_factory=lambda: _days(WEEKDAYS_ALL))
    start_time: Annotated[time | None, _CLOCK] = None
    end_time: Annotated[time | None, _CLOCK] = None
    closed_on_holidays: Annotated[bool, Editable()] = False
    causes: Annotated[Choices, Editable(write=unique)] = msgspec.field(default_factory=list[str])
    remedies: Annotated[Choices, Editable(write=unique)] = msgspec.field(default_factory=list[str])
    saved_texts: Annotated[list[dict[str, str]], Editable(wire=SavedTexts, shown=list[SavedText])] = msgspec.field(
        default_factory=list[dict[str, str]]
    )
    recovery_questionnaire_id: Annotated[fields.Id | None, Editable()] = None
    updated_time: datetime


def only_whole(caller: Caller, _settings: object) -> None:
    caller.require_whole()
    caller.require_real()


async def _check(change: Change[AlertSettings]) -> None:
    wrong = list[FieldError]()
    start, end = change.after("start_time"), change.after("end_time")
    if (start is None) != (end is None):
        missing = "start_time" if start is None else "end_time"
        wrong.append(FieldError("required", "Business hours have a start and an end.", pointer=f"/{missing}"))
    elif start is not None and start == end:
        wrong.append(FieldError("out_of_range", "The end must differ from the start.", pointer="/end_time"))
    recovery_id = change.columns.get("recovery_questionnaire_id")
    if recovery_id is not None and not await questionnaires_store.list_owners(
        change.db,
        organization_id=change.caller.organization_id,
        questionnaire_ids=[recovery_id],
        application_ids=[],
        limit=1,
    ):
        message = "There is no such questionnaire."
        wrong.append(FieldError("unknown_id", message, pointer="/recovery_questionnaire_id"))
    errors.check(wrong)


SETTINGS = Noun(
    record=AlertSettings,
    table="alert_settings",
    one="alert settings",
    many="alert settings",
    tag="Alert Settings",
    path="/alert/settings",
    scope="Alert",
    about_update="Changes of the settings; a list is replaced as a whole.",
    about={
        "update": "`due_hours` of alerts count within these hours; without `start_time` the whole of these days, "
        "holidays of the contact policy left out with `closed_on_holidays`. Variables of saved texts: "
        + ", ".join(f"`{{{{ {name} }}}}`" for name in VARIABLES)
        + ".",
    },
    summaries={"get": "Get the settings of cases", "update": "Update the settings of cases"},
    operations=("get", "update"),
    is_single=True,
    check=_check,
    fixed=only_whole,
)
routes = routes_of(SETTINGS)


async def calendar_of(db: Database, *, organization_id: str) -> Calendar:
    return (await checks.list_calendars(db, organization_ids=[organization_id]))[organization_id]
