"""The routes of the settings of cases."""

from datetime import time
from typing import Annotated, Any, Final

from msgspec import Meta

from afterword.cases.resources import Choice
from afterword.cases.settings import service, store
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Answer, Call, Routes

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
    return _shown(call, await store.get_settings(db, organization_id=call.caller.organization_id))


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
    settings = await service.update(
        db, caller=call.caller, changes=_columns(call.body), now=call.now, expect=call.expect
    )
    return _shown(call, settings)


def _columns(body: AlertSettingsUpdate) -> dict[str, Any]:
    columns = body.named()
    for name in ("start_time", "end_time"):
        if columns.get(name) is not None:
            columns[name] = time.fromisoformat(columns[name])
    if "saved_texts" in columns:
        columns["saved_texts"] = [{"title": one.title, "body": one.body} for one in columns["saved_texts"]]
    return columns


def _shown(call: Call[Any], settings: store.Settings) -> Answer:
    texts = [SavedText(**one) for one in settings.saved_texts]
    return Answer(AlertSettings.of(settings, call.zone, saved_texts=texts), version=settings.version)
