"""Changes the settings of cases."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Annotated, Any, Final, LiteralString

from msgspec import Meta

from afterword import errors
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases.resources import Choice
from afterword.core.organizations.access import Caller
from afterword.core.scheduling.windows import WEEKDAYS_ALL, Calendar
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.db.columns import assigned, qualified
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.organizations import checks


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of an organization; `version` 0 was never saved, and has the defaults: every hour counts."""

    organization_id: str
    weekdays: list[int] = field(default_factory=lambda: sorted(WEEKDAYS_ALL))
    start_time: time | None = None
    end_time: time | None = None
    closed_on_holidays: bool = False
    causes: list[str] = field(default_factory=list[str])
    remedies: list[str] = field(default_factory=list[str])
    saved_texts: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    recovery_questionnaire_id: str | None = None
    version: int = 0
    updated_time: datetime
    updated_by: str | None = None


_EDITABLE: Final[LiteralString] = """weekdays, start_time, end_time, closed_on_holidays, causes, remedies,
  saved_texts, recovery_questionnaire_id"""
EDITABLE: Final = tuple(name.strip() for name in _EDITABLE.split(","))


async def get_settings(db: Database, *, organization_id: str) -> Settings:
    row = await db.fetch_one(
        f"""select o.organization_id, {qualified(_EDITABLE, "s")}, s.version,
             coalesce(s.updated_time, o.created_time) as updated_time, s.updated_by
           from organization o left join alert_settings s on s.organization_id = o.organization_id
           where o.organization_id = $1""",
        organization_id,
    )
    values = dict(row)
    if values["version"] is None:
        return Settings(organization_id=organization_id, updated_time=values["updated_time"])
    return Settings(**values)


async def _get_settings_locked(db: Database, *, organization_id: str) -> Settings:
    """As get_settings, locked until the transaction ends; inserts the row if there is none."""
    await db.execute(
        "insert into alert_settings (organization_id, version) values ($1, 0) on conflict do nothing", organization_id
    )
    await db.execute("select from alert_settings where organization_id = $1 for update", organization_id)
    return await get_settings(db, organization_id=organization_id)


async def _update_settings(
    db: Database, *, organization_id: str, document: Mapping[str, Any], now: datetime, updated_by: str
) -> Settings:
    await db.execute(
        f"""update alert_settings s
           set {assigned(_EDITABLE, "d")}, version = s.version + 1, updated_time = greatest(s.updated_time, $3),
             updated_by = $4
           from jsonb_populate_record(null::alert_settings, $2::jsonb) d where s.organization_id = $1""",
        *(organization_id, document, now, updated_by),
    )
    return await get_settings(db, organization_id=organization_id)


async def update(
    db: Database, *, caller: Caller, changes: Mapping[str, Any], now: datetime, expect: errors.Expect = errors.ANY
) -> Settings:
    """Change the named members; due times of cases stay. Raises Forbidden, Invalid, and what `expect` raises."""
    caller.require_whole()
    caller.require_real()
    before = await _get_settings_locked(db, organization_id=caller.organization_id)
    expect(before.version)
    document = {name: changes.get(name, getattr(before, name)) for name in EDITABLE}
    document["weekdays"] = sorted(set(document["weekdays"]))
    for name in ("causes", "remedies"):
        document[name] = list(dict.fromkeys(document[name]))
    wrong = list(_errors(document))
    if document["recovery_questionnaire_id"] not in {None, before.recovery_questionnaire_id}:
        owners = await questionnaires_store.list_owners(
            db,
            organization_id=caller.organization_id,
            questionnaire_ids=[document["recovery_questionnaire_id"]],
            application_ids=[],
            limit=1,
        )
        if not owners:
            message = "There is no such questionnaire."
            wrong.append(FieldError("unknown_id", message, pointer="/recovery_questionnaire_id"))
    errors.check(wrong)
    if document == {name: getattr(before, name) for name in EDITABLE}:
        return before
    return await _update_settings(
        db, organization_id=caller.organization_id, document=document, now=now, updated_by=caller.actor_id
    )


async def calendar_of(db: Database, *, organization_id: str) -> Calendar:
    return (await checks.list_calendars(db, organization_ids=[organization_id]))[organization_id]


def _errors(document: Mapping[str, Any]) -> Iterator[FieldError]:
    start, end = document["start_time"], document["end_time"]
    if (start is None) != (end is None):
        missing = "start_time" if start is None else "end_time"
        yield FieldError("required", "Business hours have a start and an end.", pointer=f"/{missing}")
    elif start is not None and start == end:
        yield FieldError("out_of_range", "The end is another time than the start.", pointer="/end_time")


PATH: Final = "/alert/settings"
TEXTS_MAX: Final = 100
VARIABLES: Final = ("customer_name", "my_name", "organization_name", "alert_title", "order")

routes = Routes(tag="Alert Settings")

Weekdays = Annotated[list[Annotated[int, Meta(ge=1, le=7)]], Meta(min_length=1, max_length=7, examples=[[1, 2, 3]])]
Clock = Annotated[str, Meta(extra=fields.CLOCK, examples=["09:00"])]
Choices = Annotated[list[Choice], Meta(max_length=TEXTS_MAX)]


class SavedText(fields.Request):
    """A text for replies and comments; its variables stand in braces."""

    title: fields.Text100
    body: Annotated[str, Meta(min_length=1, max_length=5000)]


SavedTexts = Annotated[list[SavedText], Meta(max_length=TEXTS_MAX)]


class AlertSettingsUpdate(fields.Request):
    """Changes of the settings; a list is replaced as a whole."""

    weekdays: Weekdays | UnsetType = UNSET
    start_time: Clock | UnsetType | None = UNSET
    end_time: Clock | UnsetType | None = UNSET
    closed_on_holidays: bool | UnsetType = UNSET
    causes: Choices | UnsetType = UNSET
    remedies: Choices | UnsetType = UNSET
    saved_texts: SavedTexts | UnsetType = UNSET
    recovery_questionnaire_id: fields.Id | UnsetType | None = UNSET


class AlertSettings(fields.Resource):
    """Business hours in the organization's time zone, by ISO weekdays, 1 is Monday; and what cases offer to choose."""

    organization_id: fields.Id
    weekdays: list[int]
    start_time: fields.ClockTime | None
    end_time: fields.ClockTime | None
    closed_on_holidays: bool
    causes: list[str]
    remedies: list[str]
    saved_texts: list[SavedText]
    recovery_questionnaire_id: fields.Id | None
    updated_time: fields.DateTime
    updated_by: fields.Id | None


@routes.get(PATH, scope="Alert.Read", answer=AlertSettings, summary="Get the settings of cases")
async def get_alert_settings(call: Call[None], db: Database) -> Answer:
    return _shown(call, await get_settings(db, organization_id=call.caller.organization_id))


@routes.patch(
    PATH,
    scope="Alert.Update",
    body=AlertSettingsUpdate,
    answer=AlertSettings,
    summary="Update the settings of cases",
    description=(
        "`due_hours` of alerts count within these hours; without `start_time` the whole of these days, holidays of the "
        "contact policy left out with `closed_on_holidays`. Variables of saved texts: "
        + ", ".join(f"`{{{name}}}`" for name in VARIABLES)
        + "."
    ),
)
async def update_alert_settings(call: Call[AlertSettingsUpdate], db: Database) -> Answer:
    settings = await update(db, caller=call.caller, changes=_columns(call.body), now=call.now, expect=call.expect)
    return _shown(call, settings)


def _columns(body: AlertSettingsUpdate) -> dict[str, Any]:
    columns = body.named()
    for name in ("start_time", "end_time"):
        if columns.get(name) is not None:
            columns[name] = time.fromisoformat(columns[name])
    if "saved_texts" in columns:
        columns["saved_texts"] = [{"title": one.title, "body": one.body} for one in columns["saved_texts"]]
    return columns


def _shown(call: Call[Any], settings: Settings) -> Answer:
    texts = [SavedText(**one) for one in settings.saved_texts]
    return Answer(AlertSettings.of(settings, call.zone, saved_texts=texts), version=settings.version)
