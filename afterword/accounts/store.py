"""SQL of organizations, applications, users and tokens, with their records."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterword import errors
from afterword.core.lists import Column, Listing, Page, Rows
from afterword.db import Database, Row

CUSTOM_APPLICATION_TYPE_ID = "0000000000000000custom"
APPLICATIONS = Listing(
    columns={
        "application_id": Column("application_id", "id"),
        "organization_id": Column("organization_id", "id"),
        "application_type_id": Column("application_type_id", "id"),
        "display_name": Column("display_name"),
        "description": Column("description", nullable=True),
        "time_zone": Column("time_zone", nullable=True),
        "default_locale": Column("default_locale", nullable=True),
        "active": Column("active", "boolean"),
        "created_time": Column("created_time", "time"),
        "updated_time": Column("updated_time", "time"),
        "created_by": Column("created_by", "id", nullable=True),
        "updated_by": Column("updated_by", "id", nullable=True),
    },
    order=(("created_time", "desc"),),
    id="application_id",
)


@dataclass(frozen=True, slots=True)
class Organization:
    """A customer of the installation: the tenant."""

    organization_id: str
    domain: str
    display_name: str
    legal_name: str | None
    postal_address: str | None
    default_locale: str
    time_zone: str
    minimum_base: int
    anonymize_after_days: int | None
    delete_after_days: int | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


@dataclass(frozen=True, slots=True)
class Application:
    """A shop, brand or product of an organization; it owns questionnaires."""

    organization_id: str
    application_id: str
    application_type_id: str
    display_name: str
    description: str | None
    time_zone: str | None
    default_locale: str | None
    website_urls: tuple[str, ...]
    active: bool
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


@dataclass(frozen=True, slots=True)
class User:
    """A person of the organization."""

    organization_id: str
    user_id: str
    email: str
    first_name: str | None
    middle_name: str | None
    last_name: str | None
    display_name: str | None
    locale: str | None
    time_zone: str | None
    role: str
    application_ids: tuple[str, ...]
    active: bool
    invited_time: datetime
    last_login_time: datetime | None
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret."""

    organization_id: str
    token_id: str
    user_id: str | None
    kind: str
    title: str
    scopes: tuple[str, ...]
    application_ids: tuple[str, ...]
    selector: str
    test: bool
    expires_time: datetime | None
    revoked_time: datetime | None
    last_used_time: datetime | None
    created_time: datetime
    created_by: str | None


@dataclass(frozen=True, slots=True)
class Credential:
    """All that decides about a request: the token, its organization and, for a user's token, the user."""

    organization_id: str
    token_id: str
    verifier_digest: bytes
    scopes: frozenset[str]
    application_ids: tuple[str, ...]
    test: bool
    expires_time: datetime | None
    revoked_time: datetime | None
    domain: str
    time_zone: str
    default_locale: str
    user_id: str | None
    user_role: str | None
    user_active: bool | None
    user_application_ids: tuple[str, ...]


# organizations ---------------------------------------------------------------------------------------------------
async def insert_organization(
    db: Database,
    *,
    organization_id: str,
    domain: str,
    display_name: str,
    legal_name: str | None,
    postal_address: str | None,
    default_locale: str,
    time_zone: str,
    now: datetime,
    created_by: str | None,
) -> Organization:
    """Raises Taken when the domain is another's."""
    row = await db.fetch_row(
        """insert into organization (organization_id, domain, display_name, legal_name, postal_address, default_locale,
                                     time_zone, created_time, updated_time, created_by, updated_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $9) returning *""",
        organization_id,
        domain,
        display_name,
        legal_name,
        postal_address,
        default_locale,
        time_zone,
        now,
        created_by,
    )
    return _organization(_there(row))


async def get_organization(db: Database, *, organization_id: str) -> Organization | None:
    """The organization, or None."""
    row = await db.fetch_row("select * from organization where organization_id = $1", organization_id)
    return _organization(row) if row else None


async def get_organization_by_domain(  # any tenant: operators name it
    db: Database, *, domain: str
) -> Organization | None:
    """The organization of a working domain, or None."""
    row = await db.fetch_row("select * from organization where domain = lower($1)", domain)
    return _organization(row) if row else None


async def list_organizations(db: Database, *, limit: int = 500) -> list[Organization]:  # any tenant: for operators
    """All organizations of the installation, oldest first."""
    rows = await db.fetch("select * from organization order by created_time, organization_id limit $1", limit)
    return [_organization(row) for row in rows]


# applications ----------------------------------------------------------------------------------------------------
async def insert_application(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    application_type_id: str,
    display_name: str,
    description: str | None,
    time_zone: str | None,
    default_locale: str | None,
    website_urls: Sequence[str],
    now: datetime,
    created_by: str | None,
) -> Application:
    """Raises Dangling when organization or type do not exist."""
    row = await db.fetch_row(
        """insert into application (organization_id, application_id, application_type_id, display_name, description,
                                    time_zone, default_locale, website_urls, created_time, updated_time, created_by,
                                    updated_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $10) returning *""",
        organization_id,
        application_id,
        application_type_id,
        display_name,
        description,
        time_zone,
        default_locale,
        list(website_urls),
        now,
        created_by,
    )
    return _application(_there(row))


async def get_application(
    db: Database, *, organization_id: str, application_id: str, among: Sequence[str] = ()
) -> Application | None:
    """The application, or None; also None when it is not `among` those that the caller may see (empty: all)."""
    row = await db.fetch_row(
        """select * from application
           where organization_id = $1 and application_id = $2 and ($3::text[] = '{}' or application_id = any($3))""",
        organization_id,
        application_id,
        list(among),
    )
    return _application(row) if row else None


async def list_applications(
    db: Database, *, organization_id: str, page: Page, among: Sequence[str] = ()
) -> Rows[Application]:
    """The wanted page of the applications, or of those `among` which the caller is confined."""
    rows = await db.fetch_list(
        """select * from application
           where organization_id = $1 and ($2::text[] = '{}' or application_id = any($2))""",
        organization_id,
        list(among),
        page=page,
    )
    return rows.map(_application)


async def get_first_application_id(db: Database, *, organization_id: str) -> str | None:
    """The oldest application of the organization."""
    return await db.fetch_value(
        """select application_id from application
           where organization_id = $1 order by created_time, application_id limit 1""",
        organization_id,
    )


async def list_application_ids(db: Database, *, organization_id: str, among: Sequence[str]) -> set[str]:
    """Those of `among` that are applications of this organization."""
    rows = await db.fetch(
        "select application_id from application where organization_id = $1 and application_id = any($2::text[])",
        organization_id,
        list(among),
    )
    return {row["application_id"] for row in rows}


# users -----------------------------------------------------------------------------------------------------------
async def insert_user(
    db: Database,
    *,
    organization_id: str,
    user_id: str,
    email: str,
    display_name: str | None,
    role: str,
    application_ids: Sequence[str],
    locale: str | None,
    time_zone: str | None,
    now: datetime,
    created_by: str | None,
) -> User:
    """Raises Taken when the organization has a user with this e-mail address."""
    row = await db.fetch_row(
        """insert into organization_user (organization_id, user_id, email, display_name, role, application_ids, locale,
                                          time_zone, invited_time, created_time, updated_time, created_by, updated_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $9, $10, $10) returning *""",
        organization_id,
        user_id,
        email,
        display_name,
        role,
        list(application_ids),
        locale,
        time_zone,
        now,
        created_by,
    )
    return _user(_there(row))


async def get_user(db: Database, *, organization_id: str, user_id: str) -> User | None:
    """The user, or None."""
    row = await db.fetch_row(
        "select * from organization_user where organization_id = $1 and user_id = $2", organization_id, user_id
    )
    return _user(row) if row else None


# tokens ----------------------------------------------------------------------------------------------------------
async def insert_token(
    db: Database,
    *,
    organization_id: str,
    token_id: str,
    user_id: str | None,
    kind: str,
    title: str,
    scopes: Sequence[str],
    application_ids: Sequence[str],
    selector: str,
    verifier_digest: bytes,
    test: bool,
    expires_time: datetime | None,
    now: datetime,
    created_by: str | None,
) -> Token:
    """Keep a token's digest; its text is not ours to keep."""
    row = await db.fetch_row(
        """insert into token (organization_id, token_id, user_id, kind, title, scopes, application_ids, selector,
                              verifier_digest, test, expires_time, created_time, created_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) returning *""",
        organization_id,
        token_id,
        user_id,
        kind,
        title,
        list(scopes),
        list(application_ids),
        selector,
        verifier_digest,
        test,
        expires_time,
        now,
        created_by,
    )
    return _token(_there(row))


async def list_tokens_like(db: Database, *, hint: str, limit: int) -> list[Token]:  # any tenant: for operators
    """The tokens whose selector begins with `hint`, letters and digits."""
    rows = await db.fetch(
        "select * from token where selector >= $1 and selector < $1 || '~' order by selector limit $2", hint, limit
    )
    return [_token(row) for row in rows]


async def update_token_to_revoked(db: Database, *, organization_id: str, token_id: str, now: datetime) -> Token | None:
    """Revoke it; the first time of revocation stays. None when there is no such token."""
    row = await db.fetch_row(
        """update token set revoked_time = coalesce(revoked_time, $3)
           where organization_id = $1 and token_id = $2 returning *""",
        organization_id,
        token_id,
        now,
    )
    return _token(row) if row else None


async def get_credential(db: Database, *, selector: str) -> Credential | None:  # any tenant: the token says which
    """The token with this selector, with what decides about its rights now."""
    row = await db.fetch_row(
        """select t.organization_id, t.token_id, t.verifier_digest, t.scopes, t.application_ids, t.test, t.expires_time,
                  t.revoked_time, o.domain, o.time_zone, o.default_locale, t.user_id, u.role as user_role,
                  u.active as user_active, coalesce(u.application_ids, '{}') as user_application_ids
           from token t
             join organization o on o.organization_id = t.organization_id
             left join organization_user u on u.organization_id = t.organization_id and u.user_id = t.user_id
           where t.selector = $1""",
        selector,
    )
    if row is None:
        return None
    values = _values(row, "application_ids", "user_application_ids")
    values["scopes"] = frozenset(values["scopes"])
    return Credential(**values)


def _organization(row: Row) -> Organization:
    return Organization(**dict(row))


def _application(row: Row) -> Application:
    return Application(**_values(row, "website_urls"))


def _user(row: Row) -> User:
    return User(**_values(row, "application_ids"))


def _token(row: Row) -> Token:
    values = _values(row, "scopes", "application_ids")
    del values["verifier_digest"]
    return Token(**values)


def _values(row: Row, *lists: str) -> dict[str, Any]:
    """The row's columns; the lists among them as tuples."""
    return {name: tuple(value) if name in lists else value for name, value in row.items()}


def _there(row: Row | None) -> Row:
    if row is None:
        raise errors.Unavailable("The database gave no row for an insert.")
    return row
