"""SQL of organizations, their billing and their applications, with their records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString, final

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database
from afterword.db.columns import columns_of

CUSTOM_APPLICATION_TYPE_ID = "0000000000000000custom"


@final
@dataclass(frozen=True, slots=True)
class Organization:
    organization_id: str
    domain: str
    display_name: str
    legal_name: str | None
    postal_address: str | None
    default_locale: str
    locales: list[str]
    brand: dict[str, Any]
    time_zone: str
    minimum_base: int
    first_weekday: int
    anonymize_after_days: int | None
    delete_after_days: int | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


_ORGANIZATION_COLUMNS: Final = columns_of(Organization)


@dataclass(frozen=True, slots=True)
class Application:
    organization_id: str
    application_id: str
    application_type_id: str
    display_name: str
    description: str | None
    time_zone: str | None
    default_locale: str | None
    website_urls: list[str]
    brand: dict[str, Any]
    active: bool
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


_APPLICATION_COLUMNS: Final = columns_of(Application)


@dataclass(frozen=True, slots=True)
class ApplicationType:
    application_type_id: str
    name: str
    title: str
    description: str


_TYPE_COLUMNS: Final[LiteralString] = "application_type_id, name, title, description"


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


async def insert_organization(
    db: Database, *, organization_id: str, document: Mapping[str, object], now: datetime, created_by: str | None
) -> Organization:
    """Insert from a document whose keys are columns. Raises Taken when the domain is another's."""
    row = await db.fetch_one(
        f"""insert into organization (organization_id, domain, display_name, legal_name, postal_address, default_locale,
                                     time_zone, created_time, updated_time, created_by, updated_by)
           select $1, d.domain, d.display_name, d.legal_name, d.postal_address, d.default_locale, d.time_zone,
             $3, $3, $4, $4
           from jsonb_populate_record(null::organization, $2) d returning {_ORGANIZATION_COLUMNS}""",
        *(organization_id, document, now, created_by),
    )
    return Organization(**row)


async def get_organization(db: Database, *, organization_id: str, is_locked: bool = False) -> Organization | None:
    lock: LiteralString = "for no key update" if is_locked else ""
    row = await db.fetch_row(
        f"select {_ORGANIZATION_COLUMNS} from organization where organization_id = $1 {lock}", organization_id
    )
    return Organization(**row) if row else None


async def get_organization_by_domain(  # any tenant: operators name it
    db: Database, *, domain: str
) -> Organization | None:
    row = await db.fetch_row(f"select {_ORGANIZATION_COLUMNS} from organization where domain = lower($1)", domain)
    return Organization(**row) if row else None


async def list_organizations(db: Database, *, limit: int = 500) -> list[Organization]:  # any tenant: for operators
    rows = await db.fetch(
        f"select {_ORGANIZATION_COLUMNS} from organization order by created_time, organization_id limit $1", limit
    )
    return [Organization(**row) for row in rows]


async def list_organizations_reached(db: Database, *, organization_id: str, page: Page) -> Rows[Organization]:
    rows = await db.fetch_list(
        f"select {_ORGANIZATION_COLUMNS} from organization where organization_id = $1", organization_id, page=page
    )
    return rows.map(lambda row: Organization(**row))


async def update_organization(
    db: Database, *, organization_id: str, changes: Mapping[str, object], now: datetime, updated_by: str | None
) -> Organization:
    """Write these columns, and no others, of a locked row."""
    row = await db.fetch_one(
        f"""update organization o
           set (display_name, legal_name, postal_address, default_locale, locales, brand, time_zone, minimum_base,
                first_weekday, anonymize_after_days, delete_after_days)
               = (select s.display_name, s.legal_name, s.postal_address, s.default_locale, s.locales, s.brand,
                    s.time_zone, s.minimum_base, s.first_weekday, s.anonymize_after_days, s.delete_after_days
                  from jsonb_populate_record(o, $2) s),
             version = version + 1, updated_time = greatest($3, updated_time), updated_by = $4
           where organization_id = $1
           returning {_ORGANIZATION_COLUMNS}""",
        *(organization_id, changes, now, updated_by),
    )
    return Organization(**row)


async def get_billing(db: Database, *, organization_id: str) -> Billing | None:
    """The organization's billing, its own name and euros where none was set; None without the organization."""
    row = await db.fetch_row(
        """select o.organization_id, coalesce(b.name, o.legal_name, o.display_name) as name,
             coalesce(b.address_lines, '{}') as address_lines, b.city, b.postal_code, b.country, b.tax_number, b.email,
             b.purchase_reference, coalesce(b.currency, 'EUR') as currency, coalesce(b.version, 0) + 1 as version,
             coalesce(b.updated_time, o.created_time) as updated_time, b.updated_by
           from organization o left join organization_billing b on b.organization_id = o.organization_id
           where o.organization_id = $1""",
        organization_id,
    )
    return Billing(**row) if row else None


async def update_billing(
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


async def insert_application(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    document: Mapping[str, object],
    now: datetime,
    created_by: str | None,
) -> Application:
    """Insert from a document whose keys are columns. Raises Dangling when organization or type do not exist."""
    row = await db.fetch_one(
        f"""insert into application (organization_id, application_id, application_type_id, display_name, description,
                                    time_zone, default_locale, website_urls, brand, active, created_time,
                                    updated_time, created_by, updated_by)
           select $1, $2, d.application_type_id, d.display_name, d.description, d.time_zone, d.default_locale,
             d.website_urls, d.brand, d.active, $4, $4, $5, $5
           from jsonb_populate_record(null::application, $3) d returning {_APPLICATION_COLUMNS}""",
        *(organization_id, application_id, document, now, created_by),
    )
    return Application(**row)


async def get_application(
    db: Database, *, organization_id: str, application_id: str, among: Sequence[str] = (), is_locked: bool = False
) -> Application | None:
    lock: LiteralString = "for no key update" if is_locked else ""
    row = await db.fetch_row(
        f"""select {_APPLICATION_COLUMNS} from application
           where organization_id = $1 and application_id = $2 and ($3::text[] = '{{}}' or application_id = any($3))
           {lock}""",
        *(organization_id, application_id, list(among)),
    )
    return Application(**row) if row else None


async def list_applications(
    db: Database, *, organization_id: str, page: Page, among: Sequence[str] = ()
) -> Rows[Application]:
    rows = await db.fetch_list(
        f"""select {_APPLICATION_COLUMNS} from application
           where organization_id = $1 and ($2::text[] = '{{}}' or application_id = any($2))""",
        *(organization_id, list(among)),
        page=page,
    )
    return rows.map(lambda row: Application(**row))


async def update_application(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    changes: Mapping[str, object],
    now: datetime,
    updated_by: str | None,
) -> Application:
    """Write these columns, and no others, of a locked row."""
    row = await db.fetch_one(
        f"""update application a
           set (display_name, description, time_zone, default_locale, website_urls, brand, active)
               = (select s.display_name, s.description, s.time_zone, s.default_locale, s.website_urls, s.brand, s.active
                  from jsonb_populate_record(a, $3) s),
             version = version + 1, updated_time = greatest($4, updated_time), updated_by = $5
           where organization_id = $1 and application_id = $2
           returning {_APPLICATION_COLUMNS}""",
        *(organization_id, application_id, changes, now, updated_by),
    )
    return Application(**row)


async def delete_application(db: Database, *, organization_id: str, application_id: str) -> None:
    """Raises Dangling while anything is the application's."""
    await db.execute(
        "delete from application where organization_id = $1 and application_id = $2", organization_id, application_id
    )


async def list_application_types(db: Database, *, page: Page) -> Rows[ApplicationType]:  # any tenant: the product's own
    rows = await db.fetch_list(f"select {_TYPE_COLUMNS} from application_type", page=page)
    return rows.map(lambda row: ApplicationType(**row))


async def get_application_type(  # any tenant: the product's own
    db: Database, *, application_type_id: str
) -> ApplicationType | None:
    row = await db.fetch_row(
        f"select {_TYPE_COLUMNS} from application_type where application_type_id = $1", application_type_id
    )
    return ApplicationType(**row) if row else None


async def get_first_application_id(db: Database, *, organization_id: str) -> str | None:
    return await db.fetch_value(
        """select application_id from application
           where organization_id = $1 order by created_time, application_id limit 1""",
        organization_id,
    )


async def list_application_ids(db: Database, *, organization_id: str, among: Sequence[str]) -> set[str]:
    rows = await db.fetch(
        "select application_id from application where organization_id = $1 and application_id = any($2::text[])",
        *(organization_id, list(among)),
    )
    return {row["application_id"] for row in rows}
