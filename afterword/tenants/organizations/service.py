"""Organizations and their billing. An organization and its first application come into being here.

Users, tokens and plans have services of their own; making a user or a token is found here too.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from msgspec import Meta

from afterword import errors, ids
from afterword.core.organizations.access import Caller, installation
from afterword.core.reading import structs as reading
from afterword.core.reading.structs import Context
from afterword.core.text import locales, registers
from afterword.core.wire.times import zone_of
from afterword.errors import FieldError
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns import service, structs
from afterword.kit.nouns.api import routes_of
from afterword.kit.nouns.declaration import NO_SITE, Change, Editable, Noun, Record
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
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
    postal_address: Annotated[PostalAddress | None, Editable("Postal address", "It stands below each mail.", "area")]
    default_locale: Annotated[
        fields.LocaleNormal, Editable("Language", "Of people whose language is not known.", "choice")
    ]
    locales: Annotated[Locales, Editable("Languages of your customers", "", "checks")]
    brand: Annotated[Brand, Editable(shown=fields.Computed[Brand])]
    time_zone: Annotated[fields.Zone, Editable("Time zone", "", "choice")]
    minimum_base: Annotated[
        Base,
        Editable("Least number of people in a figure", "Groups of fewer are hidden in shared reports.", "number"),
    ]
    first_weekday: Annotated[Weekday, Editable("Weeks begin on", "", "choice")]
    anonymize_after_days: Annotated[Days | None, Editable()]
    delete_after_days: Annotated[DaysKept | None, Editable()]


_COLUMNS: Final = columns_of(Organization)


class BillingUpdate(fields.Request):
    """Changes of the billing: countries by ISO 3166-1, currencies by ISO 4217."""

    name: fields.Text200 | UnsetType = UNSET
    address_lines: AddressLines | UnsetType = UNSET
    city: fields.Text100 | UnsetType | None = UNSET
    postal_code: fields.Text100 | UnsetType | None = UNSET
    country: Country | UnsetType | None = UNSET
    tax_number: fields.Text50 | UnsetType | None = UNSET
    email: fields.Text320 | UnsetType | None = UNSET
    purchase_reference: fields.Text100 | UnsetType | None = UNSET
    currency: Currency | UnsetType = UNSET


class OrganizationBilling(fields.Resource):
    """The recipient of an organization's bills."""

    organization_id: fields.Id
    name: str
    address_lines: list[str]
    city: str | None
    postal_code: str | None
    country: str | None
    tax_number: str | None
    email: str | None
    purchase_reference: str | None
    currency: str
    updated_time: fields.DateTime
    updated_by: fields.Id | None


@dataclass(frozen=True, slots=True)
class Billing:
    """To whom an organization's bills go. Before it said so: to itself, in euros."""

    organization_id: str
    name: str
    address_lines: list[str]
    city: str | None
    postal_code: str | None
    country: str | None
    tax_number: str | None
    email: str | None
    purchase_reference: str | None
    currency: str
    version: int
    updated_time: datetime
    updated_by: str | None


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
    rows = await service.rows(ORGANIZATION, db, organization_id=call.caller.organization_id, page=call.page)
    return Answer(rows.map(lambda one: structs.resource_of(ORGANIZATION).of(one, zone_of(one.time_zone))))


def _in_its_zone(route: Route) -> Route:
    """Show the times of the answer in the zone that the organization has now."""

    async def handler(call: Call[Any], db: Database) -> Answer:
        await route.handler(call, db)
        one = await service.get(ORGANIZATION, db, caller=call.caller, key=call.ids["organization_id"])
        return Answer(structs.resource_of(ORGANIZATION).of(one, zone_of(one.time_zone)), version=one.version)

    return replace(route, handler=handler)


routes.all += map(_in_its_zone, routes_of(ORGANIZATION).all)


@routes.get(
    "/organization/{organization_id}/billing",
    scope="Organization Billing.Read",
    answer=OrganizationBilling,
    summary="Get Organization Billing",
)
async def get_billing(call: Call[None], db: Database) -> Billing:
    call.caller.require_whole()
    return await _get_billing(db, organization_id=call.caller.organization_id)


@routes.patch(
    "/organization/{organization_id}/billing",
    scope="Organization Billing.Update",
    body=BillingUpdate,
    answer=OrganizationBilling,
    summary="Update Organization Billing",
    refusals=("invalid_address",),
)
async def update_billing(call: Call[BillingUpdate], db: Database) -> Billing:
    return await change_billing(db, caller=call.caller, changes=call.body.named(), expect=call.expect, now=call.now)


async def create_organization(
    db: Database,
    *,
    domain: str,
    display_name: str,
    now: datetime,
    time_zone: str = "UTC",
    default_locale: str = "en",
    legal_name: str | None = None,
    postal_address: str | None = None,
    created_by: str | None = None,
) -> Organization:
    """Found a tenant. Raises Invalid, and Taken when another has the domain."""
    wrong: list[FieldError] = []
    if not _DOMAIN.match(domain):
        message = "1 to 63 lower-case letters, digits and hyphens, neither first nor last a hyphen."
        wrong.append(FieldError("invalid_format", message, pointer="/domain"))
    wrong += checks.zone_errors(time_zone) + checks.locale_errors("default_locale", default_locale)
    wrong += checks.length_errors("display_name", display_name, NAME_CHARACTERS_MAX)
    wrong += checks.length_errors("legal_name", legal_name, NAME_CHARACTERS_MAX)
    wrong += checks.length_errors("postal_address", postal_address, POSTAL_ADDRESS_CHARACTERS_MAX)
    errors.check(wrong)
    organization_id = ids.ordered(now)
    columns = {
        "domain": domain,
        "display_name": display_name,
        "legal_name": legal_name,
        "postal_address": postal_address,
        "default_locale": locales.normalise(default_locale),
        "time_zone": time_zone,
    }
    await _insert_organization(db, organization_id=organization_id, columns=columns, now=now, by=created_by)
    return await service.get(ORGANIZATION, db, caller=installation(organization_id), key=organization_id)


async def create_application(db: Database, *, organization_id: str, now: datetime, **columns: Any) -> Application:
    """The installation adds an application. Raises Invalid."""
    context = Context(now=now, zone=UTC)
    request = reading.collect(structs.creation_of(APPLICATION), columns, context)
    context.check()
    assert request is not None, "without errors it is read"  # noqa: S101
    caller = installation(organization_id)
    made = await service.create(APPLICATION, db, caller=caller, columns=request.named(), site=NO_SITE, now=now)
    return made.record


async def change_billing(
    db: Database, *, caller: Caller, changes: Mapping[str, Any], now: datetime, expect: errors.Expect = errors.ANY
) -> Billing:
    await get_organization(db, organization_id=caller.organization_id, is_locked=True)
    before = await _get_billing(db, organization_id=caller.organization_id)
    expect(before.version)
    wanted = {
        name: value.upper() if name in {"country", "currency"} and value else value for name, value in changes.items()
    }
    wrong = checks.email_errors(wanted.get("email"))
    for name, known in (("country", registers.countries()), ("currency", registers.currencies())):
        if wanted.get(name) is not None and wanted[name] not in known:
            wrong.append(FieldError("unknown_value", f"There is no such {name}.", pointer=f"/{name}"))
    errors.check(wrong)
    billing = {**asdict(before), **wanted}
    if billing == asdict(before):
        return before
    caller.require_whole()
    await _update_billing(
        db, organization_id=caller.organization_id, billing=billing, now=now, updated_by=caller.actor_id
    )
    return await _get_billing(db, organization_id=caller.organization_id)


async def get_organization(db: Database, *, organization_id: str, is_locked: bool = False) -> Organization | None:
    return await service.find(
        ORGANIZATION, db, organization_id=organization_id, key=organization_id, is_locked=is_locked
    )


async def get_organization_by_domain(  # any tenant: operators name it
    db: Database, *, domain: str
) -> Organization | None:
    row = await db.fetch_row(f"select {_COLUMNS} from organization where domain = lower($1)", domain)
    return Organization(**row) if row else None


async def list_organizations(db: Database, *, limit: int = 500) -> list[Organization]:  # any tenant: for operators
    rows = await db.fetch(f"select {_COLUMNS} from organization order by created_time, organization_id limit $1", limit)
    return [Organization(**row) for row in rows]


async def _insert_organization(
    db: Database, *, organization_id: str, columns: Mapping[str, object], now: datetime, by: str | None
) -> None:
    """Raises Taken when the domain is another's."""
    await db.execute(
        """insert into organization (organization_id, domain, display_name, legal_name, postal_address, default_locale,
             time_zone, created_time, updated_time, created_by, updated_by)
           select $1, d.domain, d.display_name, d.legal_name, d.postal_address, d.default_locale, d.time_zone,
             $3, $3, $4, $4
           from jsonb_populate_record(null::organization, $2) d""",
        *(organization_id, columns, now, by),
    )


async def _get_billing(db: Database, *, organization_id: str) -> Billing:
    """The organization's billing, its own name and euros where none was set."""
    row = await db.fetch_one(
        """select o.organization_id, coalesce(b.name, o.legal_name, o.display_name) as name,
             coalesce(b.address_lines, '{}') as address_lines, b.city, b.postal_code, b.country, b.tax_number, b.email,
             b.purchase_reference, coalesce(b.currency, 'EUR') as currency, coalesce(b.version, 0) + 1 as version,
             coalesce(b.updated_time, o.created_time) as updated_time, b.updated_by
           from organization o left join organization_billing b on b.organization_id = o.organization_id
           where o.organization_id = $1""",
        organization_id,
    )
    return Billing(**row)


async def _update_billing(
    db: Database, *, organization_id: str, billing: Mapping[str, object], now: datetime, updated_by: str | None
) -> None:
    """Write the whole billing of an organization that is locked."""
    await db.execute(
        """insert into organization_billing as b (organization_id, name, address_lines, city, postal_code, country,
             tax_number, email, purchase_reference, currency, updated_time, updated_by)
           select $1, s.name, s.address_lines, s.city, s.postal_code, s.country, s.tax_number, s.email,
             s.purchase_reference, s.currency, $3, $4
           from jsonb_populate_record(null::organization_billing, $2) s
             join organization o on o.organization_id = $1
           on conflict (organization_id) do update set (name, address_lines, city, postal_code, country, tax_number,
               email, purchase_reference, currency, version, updated_time, updated_by)
             = (excluded.name, excluded.address_lines, excluded.city, excluded.postal_code, excluded.country,
                excluded.tax_number, excluded.email, excluded.purchase_reference, excluded.currency, b.version + 1,
                excluded.updated_time, excluded.updated_by)""",
        *(organization_id, billing, now, updated_by),
    )
