"""Applications of an organization, the types that they have, and brands."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires import visuals
from afterword.core.reading.findings import escape
from afterword.core.wire.lists import Page, Rows
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import Change, Editable, Noun, Operation, Record, Screens
from afterword.kit.texts import Texts
from afterword.kit.ui.text import NOTHING, ZONE_OPTIONS
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.organizations import assets

CUSTOM_APPLICATION_TYPE_ID: Final = "0000000000000000custom"
QUESTIONNAIRES: Final = "/console/questionnaires"

Brand = Annotated[dict[str, Any], Meta(examples=[{"color_primary": "#0b6e4f", "font": "serif", "corner_radius": 4}])]
Urls = Annotated[list[fields.Url], Meta(max_length=50)]
TypeId = Annotated[str, Meta(min_length=22, max_length=22, examples=[CUSTOM_APPLICATION_TYPE_ID])]


class ApplicationType(fields.Resource):
    """A kind of business; all but `custom` bring metadata definitions of their own."""

    application_type_id: fields.Id
    name: str
    title: str
    description: str


class Application(Record, kw_only=True):
    """A shop, brand or product of the organization; it owns questionnaires."""

    application_id: fields.Id
    application_type_id: Annotated[TypeId, Editable(once=True, shown=fields.Id)] = CUSTOM_APPLICATION_TYPE_ID
    display_name: Annotated[fields.Text200, Editable("Name")]
    description: Annotated[fields.Text2000 | None, Editable("Description", "For your colleagues.", "area")] = None
    time_zone: Annotated[
        fields.Zone | None,
        Editable("Time zone", "Empty: as the organization.", "choice", (("", NOTHING), *ZONE_OPTIONS), holds="fixed"),
    ] = None
    default_locale: Annotated[
        fields.LocaleNormal | None, Editable("Language", "Empty: as the organization.", "choice")
    ] = None
    website_urls: Annotated[Urls, Editable("Website addresses", "One per line.", "lines")] = msgspec.field(
        default_factory=list[str]
    )
    brand: Annotated[Brand, Editable(shown=fields.Computed[Brand])] = msgspec.field(default_factory=dict[str, Any])
    active: Annotated[bool, Editable("Active: sends and accepts answers", "", "switch")] = True


def _allow(caller: Caller, operation: Operation) -> None:
    if operation == "create":
        caller.require_whole()


async def _check(change: Change[Application]) -> None:
    type_id = change.columns.get("application_type_id")
    if type_id is not None and not await get_has_type(change.db, application_type_id=type_id):
        wrong = FieldError("unknown_id", "There is no such type.", pointer="/application_type_id")
        raise errors.Invalid.of(wrong)
    if "brand" in change.columns:
        change.columns["brand"] = await checked_brand(
            change.db, organization_id=change.caller.organization_id, brand=change.columns["brand"]
        )


async def _delete_removed(db: Database, *, organization_id: str, application_id: str) -> None:
    """Delete removed alerts without cases, and leave removed webhooks to the organization: nobody sees either."""
    await db.execute(
        """with gone as (
             delete from alert a
             where a.organization_id = $1 and a.application_id = $2 and a.deleted_time is not null and not exists (
               select from alert_instance i where i.organization_id = $1 and i.alert_id = a.alert_id))
           update webhook set application_id = null
           where organization_id = $1 and application_id = $2 and deleted_time is not null""",
        *(organization_id, application_id),
    )


async def _delete(change: Change[Application], _options: Mapping[str, Any]) -> None:
    await _delete_removed(change.db, organization_id=change.caller.organization_id, application_id=change.key)
    await nouns.delete_row(APPLICATION, change)


def _row(words: Texts, one: Application) -> dict[str, str]:
    return {
        "state": "" if one.active else words("off"),
        "when": one.time_zone or "",
        "more": " · ".join(filter(None, (one.description, *one.website_urls))),
    }


APPLICATION = Noun(
    record=Application,
    table="application",
    one="application",
    many="applications",
    tag="Applications",
    path="/application",
    scope="Application",
    about_create="A new application. Without a type it is `custom`.",
    about_update="Changes of an application.",
    about={
        "create": "An application of a type other than `custom` has that type's metadata definitions.",
        "delete": "Refused while it owns questionnaires, archived ones too.",
    },
    summaries={"create": "Create Application"},
    refusals={"delete": ("in_use",)},
    operations=("create", "list", "get", "update", "delete"),
    shape="envelope",
    shows_organization=True,
    visible="(cardinality($2::text[]) = 0 or t.application_id = any($2))",
    allow=_allow,
    check=_check,
    delete=_delete,
    conflict=lambda _error: errors.Conflict("Something still belongs to the application.", "in_use"),
    screens=Screens(
        path="/console/settings/applications",
        title="Applications",
        lead="An application is a shop, a brand or a product. It owns questionnaires.",
        new="New application",
        empty="No application yet.",
        row=_row,
        titled="display_name",
        reads="Update",
        removal="Remove the application “{title}”?",
        removal_sentence="This cannot be undone.",
        removal_button="Remove the application",
        in_use="It cannot be removed while anything belongs to it.",
        uses=(
            ("Questionnaires", "questionnaire where archived_time is null and owner_application_id", QUESTIONNAIRES),
            (
                "Archived questionnaires",
                "questionnaire where archived_time is not null and owner_application_id",
                f"{QUESTIONNAIRES}?show=archived",
            ),
            ("Alerts", "alert where deleted_time is null and application_id", "/console/settings/alerts"),
            ("Statuses of cases", "alert_status where application_id", "/console/settings/statuses"),
            ("Saved reports", "custom_report where application_id", "/console/reports"),
            ("Metadata", "metadata_definition where application_id", "/console/settings/metadata"),
            ("Shops and help desks", "source where application_id", "/console/settings/sources"),
            ("Webhooks", "webhook where deleted_time is null and application_id", "/console/settings/webhooks"),
        ),
    ),
)
routes = Routes(tag="Applications")


@routes.list(
    "/application/type",
    scope="Application.Read",
    answer=ApplicationType,
    shape="array",
    listing=fields.listing_of(ApplicationType, order=(("name", "asc"),)),
    summary="Get all application types",
)
async def list_application_types(call: Call[None], db: Database) -> Answer:
    return Answer(await _list_types(db, page=call.page))


routes.all += routes_of(APPLICATION).all


async def checked_brand(db: Database, *, organization_id: str, brand: Mapping[str, Any]) -> dict[str, Any]:
    """The brand without nulls. Raises Invalid for another key, a wrong value, or a picture that is not there."""
    brand = {name: value for name, value in brand.items() if value is not None}
    theme, wrong = visuals.read(brand, path="/brand")
    names = ", ".join(visuals.BRAND_KEYS)
    wrong += [
        FieldError("unknown_member", f"A brand has {names}.", pointer=f"/brand/{escape(name)}")
        for name in brand
        if name not in visuals.BRAND_KEYS
    ]
    errors.check(wrong)
    await assets.require(db, organization_id=organization_id, address=theme.logo, pointer="/brand/logo")
    return brand


async def _list_types(db: Database, *, page: Page) -> Rows[ApplicationType]:  # any tenant: the product's own
    return await db.records(ApplicationType).fetch_list(
        "select application_type_id, name, title, description from application_type", page=page
    )


async def get_has_type(db: Database, *, application_type_id: str) -> bool:  # any tenant: the product's own
    return await db.fetch_value(
        "select exists (select from application_type where application_type_id = $1)", application_type_id
    )


async def get_application(
    db: Database, *, organization_id: str, application_id: str, among: Sequence[str] = ()
) -> Application | None:
    return await nouns.find(APPLICATION, db, organization_id=organization_id, application_ids=among, key=application_id)


async def get_first_application_id(db: Database, *, organization_id: str) -> str | None:
    return await db.fetch_value(
        """select application_id from application
           where organization_id = $1 order by created_time, application_id limit 1""",
        organization_id,
    )


async def list_application_ids(db: Database, *, organization_id: str, among: Sequence[str]) -> set[str]:
    found = await db.fetch_column(
        "select application_id from application where organization_id = $1 and application_id = any($2::text[])",
        *(organization_id, list(among)),
    )
    return set(found)
