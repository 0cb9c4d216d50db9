"""The HTTP routes of organizations, their billing, application types and applications."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from afterword.core.wire.lists import Rows
from afterword.core.wire.times import zone_of
from afterword.db import Database
from afterword.organizations import service, store
from afterword.organizations.plans import api as plans
from afterword.organizations.tokens import api as tokens
from afterword.organizations.users import api as users
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType
from afterword.web.operations import Answer, Call, Routes

Days = Annotated[int, Meta(ge=1, le=3650)]
DaysKept = Annotated[int, Meta(ge=30, le=3650)]
Base = Annotated[int, Meta(ge=1, le=1000)]
Urls = Annotated[list[fields.Url], Meta(max_length=service.WEBSITE_URLS_MAX)]
TypeId = Annotated[str, Meta(min_length=22, max_length=22, examples=[store.CUSTOM_APPLICATION_TYPE_ID])]
AddressLines = Annotated[list[fields.Text200], Meta(max_length=4)]
Locales = Annotated[list[fields.LocaleNormal], Meta(max_length=service.LOCALES_MAX)]
Brand = Annotated[dict[str, Any], Meta(examples=[{"color_primary": "#0b6e4f", "font": "serif", "corner_radius": 4}])]
PostalAddress = Annotated[str, Meta(min_length=1, max_length=service.POSTAL_ADDRESS_CHARACTERS_MAX)]
Country = Annotated[str, Meta(min_length=2, max_length=2, examples=["GR"])]
Currency = Annotated[str, Meta(min_length=3, max_length=3, examples=["EUR"])]

routes = Routes(tag="Applications")
organization_routes = Routes(tag="Organizations")


class OrganizationUpdate(fields.Request):
    """Changes of an organization."""

    display_name: fields.Text200 | UnsetType = UNSET
    legal_name: fields.Text200 | UnsetType | None = UNSET
    postal_address: PostalAddress | UnsetType | None = UNSET
    default_locale: fields.LocaleNormal | UnsetType = UNSET
    locales: Locales | UnsetType = UNSET
    brand: Brand | UnsetType = UNSET
    time_zone: fields.Zone | UnsetType = UNSET
    minimum_base: Base | UnsetType = UNSET
    first_weekday: Annotated[int, Meta(ge=1, le=7)] | UnsetType = UNSET
    anonymize_after_days: Days | UnsetType | None = UNSET
    delete_after_days: DaysKept | UnsetType | None = UNSET


class Organization(fields.Resource):
    """A customer of the installation: the tenant."""

    organization_id: fields.Id
    domain: str
    display_name: str
    legal_name: str | None
    postal_address: str | None
    default_locale: str
    locales: list[str]
    brand: fields.Computed[Brand]
    time_zone: str
    minimum_base: int
    first_weekday: int
    anonymize_after_days: int | None
    delete_after_days: int | None
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


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


class ApplicationType(fields.Resource):
    """A kind of business; all but `custom` bring metadata definitions of their own."""

    application_type_id: fields.Id
    name: str
    title: str
    description: str


class ApplicationRequest(fields.Request):
    """A new application. Without a type it is `custom`."""

    display_name: fields.Text200
    application_type_id: TypeId = store.CUSTOM_APPLICATION_TYPE_ID
    description: fields.Text2000 | None = None
    time_zone: fields.Zone | None = None
    default_locale: fields.LocaleNormal | None = None
    website_urls: Urls = msgspec.field(default_factory=list[str])
    brand: Brand = msgspec.field(default_factory=dict[str, Any])
    active: bool = True


class ApplicationUpdate(fields.Request):
    """Changes of an application."""

    display_name: fields.Text200 | UnsetType = UNSET
    description: fields.Text2000 | UnsetType | None = UNSET
    time_zone: fields.Zone | UnsetType | None = UNSET
    default_locale: fields.LocaleNormal | UnsetType | None = UNSET
    website_urls: Urls | UnsetType = UNSET
    brand: Brand | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class Application(fields.Resource):
    """A shop, brand or product of the organization; it owns questionnaires."""

    application_id: fields.Id
    organization_id: fields.Id
    application_type_id: fields.Id
    display_name: str
    description: str | None
    time_zone: str | None
    default_locale: str | None
    website_urls: list[str]
    brand: fields.Computed[Brand]
    active: bool
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


@organization_routes.list(
    "/organization",
    scope="Organization.Read",
    answer=Organization,
    summary="Get all organizations",
    description="Those that the token reaches: its own.",
)
async def list_organizations(call: Call[None], db: Database) -> Answer:
    rows = await store.list_organizations_reached(db, organization_id=call.caller.organization_id, page=call.page)
    return Answer(rows.map(lambda one: Organization.of(one, zone_of(one.time_zone))))


@organization_routes.get(
    "/organization/{organization_id}", scope="Organization.Read", answer=Organization, summary="Get Organization"
)
async def get_organization(call: Call[None], db: Database) -> Answer:
    found = await store.get_organization(db, organization_id=call.caller.organization_id)
    organization = found or service.refuse_unknown()
    return Answer(Organization.of(organization, zone_of(organization.time_zone)), version=organization.version)


@organization_routes.patch(
    "/organization/{organization_id}",
    scope="Organization.Update",
    body=OrganizationUpdate,
    answer=Organization,
    summary="Update Organization",
)
async def update_organization(call: Call[OrganizationUpdate], db: Database) -> Answer:
    organization = await service.update_organization(
        db, caller=call.caller, changes=call.body.named(), expect=call.expect, now=call.now
    )
    return Answer(Organization.of(organization, zone_of(organization.time_zone)), version=organization.version)


@organization_routes.get(
    "/organization/{organization_id}/billing",
    scope="Organization Billing.Read",
    answer=OrganizationBilling,
    summary="Get Organization Billing",
)
async def get_billing(call: Call[None], db: Database) -> service.Billing:
    call.caller.require_whole()
    return await store.get_billing(db, organization_id=call.caller.organization_id) or service.refuse_unknown()


@organization_routes.patch(
    "/organization/{organization_id}/billing",
    scope="Organization Billing.Update",
    body=BillingUpdate,
    answer=OrganizationBilling,
    summary="Update Organization Billing",
    refusals=("invalid_address",),
)
async def update_billing(call: Call[BillingUpdate], db: Database) -> service.Billing:
    return await service.update_billing(
        db, caller=call.caller, changes=call.body.named(), expect=call.expect, now=call.now
    )


@routes.list(
    "/application/type",
    scope="Application.Read",
    answer=ApplicationType,
    shape="array",
    listing=fields.listing_of(ApplicationType, order=(("name", "asc"),)),
    summary="Get all application types",
)
async def list_application_types(call: Call[None], db: Database) -> Rows[store.ApplicationType]:
    return await store.list_application_types(db, page=call.page)


@routes.post(
    "/application",
    scope="Application.Create",
    body=ApplicationRequest,
    answer=Application,
    summary="Create Application",
    description="An application of a type other than `custom` has that type's metadata definitions.",
)
async def create_application(call: Call[ApplicationRequest], db: Database) -> Answer:
    call.caller.require_whole()
    application = await service.create_application(
        db,
        organization_id=call.caller.organization_id,
        created_by=call.caller.actor_id,
        now=call.now,
        **msgspec.structs.asdict(call.body),
    )
    return Answer(record=application, location=f"/application/{application.application_id}")


@routes.list("/application", scope="Application.Read", answer=Application, summary="Get all applications")
async def list_applications(call: Call[None], db: Database) -> Rows[service.Application]:
    return await store.list_applications(
        db, organization_id=call.caller.organization_id, among=call.caller.application_ids, page=call.page
    )


@routes.get("/application/{application_id}", scope="Application.Read", answer=Application, summary="Get Application")
async def get_application(call: Call[None], db: Database) -> service.Application:
    return await service.get_application(db, caller=call.caller, **call.ids)


@routes.patch(
    "/application/{application_id}",
    scope="Application.Update",
    body=ApplicationUpdate,
    answer=Application,
    summary="Update Application",
)
async def update_application(call: Call[ApplicationUpdate], db: Database) -> service.Application:
    return await service.update_application(
        db, caller=call.caller, **call.ids, changes=call.body.named(), expect=call.expect, now=call.now
    )


@routes.delete(
    "/application/{application_id}",
    scope="Application.Delete",
    summary="Delete Application",
    description="Refused while it owns questionnaires, archived ones too.",
    refusals=("in_use",),
)
async def delete_application(call: Call[None], db: Database) -> None:
    await service.delete_application(db, caller=call.caller, **call.ids, expect=call.expect)


# The package has one table of routes; the reference shows its families apart.
routes.all += [*organization_routes.all, *users.routes.all, *tokens.routes.all, *plans.routes.all]
