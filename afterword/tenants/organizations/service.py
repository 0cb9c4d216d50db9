"""Organizations and their billing. An organization and its first application come into being here.

Users, tokens and plans have services of their own; making a user or a token is found here too.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from msgspec import Meta, field
from msgspec.structs import replace

from afterword import errors, ids
from afterword.core.organizations.access import installation
from afterword.core.reading import structs as reading
from afterword.core.reading.structs import Context
from afterword.core.text import locales, registers
from afterword.core.wire.times import zone_of
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import NO_SITE, Change, Editable, Noun, Record, SettingsRecord
from afterword.kit.ui.text import WEEKDAY_OPTIONS, ZONE_OPTIONS
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Route, Routes
from afterword.tenants.organizations import checks
from afterword.tenants.organizations.applications import APPLICATION, Application, Brand, checked_brand
from afterword.tenants.organizations.tokens.service import create_token, revoke_token
from afterword.tenants.organizations.users import create_user

__all__ = ["create_token", "create_user", "revoke_token"]

NAME_CHARACTERS_MAX: Final = 200
POSTAL_ADDRESS_CHARACTERS_MAX: Final = 500
LOCALES_MAX: Final = 50

Days = Annotated[int, Meta(ge=1, le=3650)]
DaysKept = Annotated[int, Meta(ge=30, le=3650)]
Base = Annotated[int, Meta(ge=1, le=1000)]
Weekday = Annotated[int, Meta(ge=1, le=7)]
AddressLines = Annotated[list[fields.Text200], Meta(max_length=4)]
Locales = Annotated[list[fields.LocaleNormal], Meta(max_length=LOCALES_MAX)]
PostalAddress = Annotated[str, Meta(min_length=1, max_length=POSTAL_ADDRESS_CHARACTERS_MAX)]
Country = Annotated[str, Meta(min_length=2, max_length=2, examples=["GR"])]
Currency = Annotated[str, Meta(min_length=3, max_length=3, examples=["EUR"])]

_DOMAIN: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")


class Organization(Record, kw_only=True):
    """A customer of the installation: the tenant."""

    domain: str
    display_name: Annotated[fields.Text200, Editable("Name", "Customers see it.")]
    legal_name: Annotated[fields.Text200 | None, Editable("Legal name")]
    postal_address: Annotated[
        PostalAddress | None, Editable("Postal address", "It appears at the bottom of each e-mail.", "area")
    ]
    default_locale: Annotated[
        fields.LocaleNormal, Editable("Language", "For people whose language is not known.", "choice")
    ]
    locales: Annotated[Locales, Editable("Languages of your customers", "", "checks")]
    brand: Annotated[Brand, Editable(shown=fields.Computed[Brand])]
    time_zone: Annotated[fields.Zone, Editable("Time zone", "", "choice", ZONE_OPTIONS)]
    minimum_base: Annotated[
        Base,
        Editable("Minimum number of people in a figure", "Groups of fewer are hidden in shared reports.", "number"),
    ]
    first_weekday: Annotated[Weekday, Editable("Weeks start on", "", "choice", WEEKDAY_OPTIONS)]
    click_answers: Annotated[
        bool,
        Editable(
            "A click on a score in a mail is an answer",
            "The page records it when the person moves, touches, scrolls or types. Otherwise a button confirms it.",
            "switch",
        ),
    ]
    accepts_provisional: Annotated[
        bool,
        Editable(
            "Accept provisional answers",
            "A page that stays open on the screen for 5 seconds gives one. It counts after 10 minutes, unless other "
            "scores of the mail were opened too, mails of other people were opened from the same network within 30 "
            "seconds, or a program opened the page.",
            "switch",
        ),
    ]
    anonymize_after_days: Annotated[Days | None, Editable()]
    delete_after_days: Annotated[DaysKept | None, Editable()]


_COLUMNS: Final = columns_of(Organization)


class OrganizationBilling(SettingsRecord, kw_only=True):
    """The recipient of an organization's bills."""

    name: Annotated[fields.Text200, Editable(holds="account", unset="coalesce(o.legal_name, o.display_name)")] = ""
    address_lines: Annotated[AddressLines, Editable(holds="account")] = field(default_factory=list[str])
    city: Annotated[fields.Text100 | None, Editable(holds="account")] = None
    postal_code: Annotated[fields.Text100 | None, Editable(holds="account")] = None
    country: Annotated[Country | None, Editable(holds="account")] = None
    tax_number: Annotated[fields.Text50 | None, Editable(holds="account")] = None
    email: Annotated[fields.Text320 | None, Editable(holds="account")] = None
    purchase_reference: Annotated[fields.Text100 | None, Editable(holds="account")] = None
    currency: Annotated[Currency, Editable(holds="account")] = "EUR"
    version: int = 1
    updated_time: datetime


async def _check(change: Change[Organization]) -> None:
    """Raise Invalid, and Forbidden for a caller of some applications who would change something."""
    columns = change.columns
    wrong = checks.zone_errors(columns.get("time_zone"))
    wrong += checks.locale_errors("default_locale", columns.get("default_locale"))
    wrong += checks.length_errors("postal_address", columns.get("postal_address"), POSTAL_ADDRESS_CHARACTERS_MAX)
    for locale in columns.get("locales", ()):
        wrong += checks.locale_errors("locales", locale)
    spoken = change.after("locales")
    if spoken and change.after("default_locale") not in spoken and not wrong:
        message = "The language of those whose language is not known is one of their languages."
        wrong.append(FieldError("unknown_value", message, pointer="/default_locale"))
    errors.check(wrong)
    if "brand" in columns:
        columns["brand"] = await checked_brand(change.db, organization_id=change.key, brand=columns["brand"])
    if any(value != getattr(change.row, name) for name, value in columns.items()):
        change.caller.require_whole()


ORGANIZATION = Noun(
    record=Organization,
    table="organization",
    one="organization",
    many="organizations",
    tag="Organizations",
    path="/organization/{organization_id}",
    scope="Organization",
    about_update="Changes of an organization.",
    operations=("get", "update"),
    is_single=True,
    check=_check,
)
routes = Routes(tag="Organizations")


@routes.list(
    "/organization",
    name="list_organizations",
    scope="Organization.Read",
    answer=structs.resource_of(ORGANIZATION),
    summary="Get all organizations",
    description="Those that the token reaches: its own.",
)
async def list_organizations_reached(call: Call[None], db: Database) -> Answer:
    rows = await nouns.rows(ORGANIZATION, db, organization_id=call.caller.organization_id, page=call.page)
    return Answer(rows.map(lambda one: structs.resource_of(ORGANIZATION).of(one, zone_of(one.time_zone))))


def _in_its_zone(route: Route) -> Route:
    """Show the times of the answer in the zone that the organization has now."""

    async def handler(call: Call[Any], db: Database) -> Answer:
        await route.handler(call, db)
        one = await nouns.get(ORGANIZATION, db, caller=call.caller, key=call.ids["organization_id"])
        return Answer(structs.resource_of(ORGANIZATION).of(one, zone_of(one.time_zone)), version=one.version)

    return replace(route, handler=handler)


routes.all += map(_in_its_zone, routes_of(ORGANIZATION).all)


async def _check_billing(change: Change[OrganizationBilling]) -> None:
    columns = change.columns
    wrong = checks.email_errors(columns.get("email"))
    for name, known in (("country", registers.countries()), ("currency", registers.currencies())):
        if columns.get(name) is None:
            continue
        columns[name] = columns[name].upper()
        if columns[name] not in known:
            wrong.append(FieldError("unknown_value", f"There is no such {name}.", pointer=f"/{name}"))
    errors.check(wrong)


BILLING = Noun(
    record=OrganizationBilling,
    table="organization_billing",
    one="organization billing",
    many="billings",
    tag="Organizations",
    path="/organization/{organization_id}/billing",
    scope="Organization Billing",
    about_update="Changes of the billing: countries by ISO 3166-1, currencies by ISO 4217.",
    request="Billing",
    names={"get": "get_billing", "update": "update_billing"},
    refusals={"update": ("invalid_address",)},
    operations=("get", "update"),
    is_single=True,
    check=_check_billing,
    allow=lambda caller, _operation: caller.require_whole(),
)
routes.all += routes_of(BILLING).all


async def create_organization(
    db: Database,
    *,
    domain: str,
    display_name: str,
    now: datetime,
    time_zone: str = "UTC",
    default_locale: str = "en",
    postal_address: str | None = None,
) -> Organization:
    """Found a tenant. Raises Invalid, and Taken when another has the domain."""
    wrong: list[FieldError] = []
    if not _DOMAIN.match(domain):
        message = "1 to 63 lower-case letters, digits and hyphens, neither first nor last a hyphen."
        wrong.append(FieldError("invalid_format", message, pointer="/domain"))
    wrong += checks.zone_errors(time_zone) + checks.locale_errors("default_locale", default_locale)
    wrong += checks.length_errors("display_name", display_name, NAME_CHARACTERS_MAX)
    wrong += checks.length_errors("postal_address", postal_address, POSTAL_ADDRESS_CHARACTERS_MAX)
    errors.check(wrong)
    organization_id = ids.ordered(now)
    columns = {
        "domain": domain,
        "display_name": display_name,
        "postal_address": postal_address,
        "default_locale": locales.normalise(default_locale),
        "time_zone": time_zone,
    }
    await _insert_organization(db, organization_id=organization_id, columns=columns, now=now)
    return await nouns.get(ORGANIZATION, db, caller=installation(organization_id), key=organization_id)


async def create_application(db: Database, *, organization_id: str, now: datetime, **columns: Any) -> Application:
    """The installation adds an application. Raises Invalid."""
    context = Context(now=now, zone=UTC)
    request = reading.collect(structs.creation_of(APPLICATION), columns, context)
    context.check()
    assert request is not None, "without errors it is read"  # noqa: S101
    caller = installation(organization_id)
    made = await nouns.create(APPLICATION, db, caller=caller, columns=request.named(), site=NO_SITE, now=now)
    return made.record


async def get_organization(db: Database, *, organization_id: str) -> Organization | None:
    return await nouns.find(ORGANIZATION, db, organization_id=organization_id, key=organization_id)


async def get_organization_by_domain(  # any tenant: operators name it
    db: Database, *, domain: str
) -> Organization | None:
    return await db.records(Organization).fetch_row(
        f"select {_COLUMNS} from organization where domain = lower($1)", domain
    )


async def list_organizations(db: Database, *, limit: int = 500) -> list[Organization]:  # any tenant: for operators
    return await db.records(Organization).fetch(
        f"""select {_COLUMNS} from organization
            where not exists (select from demonstration d where d.organization_id = organization.organization_id)
            order by created_time, organization_id limit $1""",
        limit,
    )


async def _insert_organization(
    db: Database, *, organization_id: str, columns: Mapping[str, object], now: datetime
) -> None:
    """Raises Taken when the domain is another's."""
    await db.execute(
        """insert into organization (organization_id, domain, display_name, postal_address, default_locale, time_zone,
             created_time, updated_time)
           select $1, d.domain, d.display_name, d.postal_address, d.default_locale, d.time_zone, $3, $3
           from jsonb_populate_record(null::organization, $2) d""",
        *(organization_id, columns, now),
    )
