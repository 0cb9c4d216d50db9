"""SQL of identity providers, and of the logins that they vouch for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.core.organizations.identities import Role
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """`client_secret` is sealed; None: a public client. `authorization_url`: as the last good check found it."""

    organization_id: str
    issuer: str
    client_id: str
    client_secret: bytes | None = field(repr=False)
    authorization_url: str | None
    checked_time: datetime | None
    problem: str | None
    scopes: list[str]
    groups_claim: str
    group_roles: list[dict[str, str]]
    default_role: Role | None
    trusts_addresses: bool
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None

    @property
    def has_client_secret(self) -> bool:
        return self.client_secret is not None


@dataclass(frozen=True, slots=True)
class Member:
    """A user, and the login by which an identity provider lets the person act as it."""

    user_id: str
    role: str
    active: bool
    login_id: str | None
    issuer: str | None
    subject: str | None


_COLUMNS: Final = columns_of(IdentityProvider)
_MEMBER: Final[LiteralString] = """select u.user_id, u.role, u.active, i.login_id, i.issuer, i.subject
  from organization_user u
    left join login_identity i on i.organization_id = u.organization_id and i.user_id = u.user_id
  where u.organization_id = $1 and u.removed_time is null"""


async def get_provider(db: Database, *, organization_id: str, is_locked: bool = False) -> IdentityProvider | None:
    lock: LiteralString = "for no key update" if is_locked else ""
    query: LiteralString = f"select {_COLUMNS} from identity_provider where organization_id = $1 {lock}"
    row = await db.fetch_row(query, organization_id)
    return IdentityProvider(**row) if row else None


async def get_provider_by_domain(  # any tenant: a guest names it
    db: Database, *, domain: str
) -> IdentityProvider | None:
    row = await db.fetch_row(
        f"""select {_COLUMNS} from identity_provider where organization_id = (
             select o.organization_id from organization o where o.domain = lower($1))""",
        domain,
    )
    return IdentityProvider(**row) if row else None


async def update_provider(
    db: Database, *, organization_id: str, values: Mapping[str, Any], now: datetime, updated_by: str | None
) -> IdentityProvider:
    """Write the whole provider. `values` has its columns; another issuer must be asked for its addresses."""
    row = await db.fetch_one(
        f"""insert into identity_provider as p (organization_id, issuer, client_id, client_secret, scopes, groups_claim,
             group_roles, default_role, trusts_addresses, created_time, updated_time, created_by, updated_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $11)
           on conflict (organization_id) do update set (issuer, client_id, client_secret, scopes, groups_claim,
               group_roles, default_role, trusts_addresses, version, updated_time, updated_by)
             = (excluded.issuer, excluded.client_id, excluded.client_secret, excluded.scopes, excluded.groups_claim,
                excluded.group_roles, excluded.default_role, excluded.trusts_addresses, p.version + 1,
                excluded.updated_time, excluded.updated_by),
             authorization_url = case when p.issuer = excluded.issuer then p.authorization_url end, problem = null
           returning {_COLUMNS}""",
        *(organization_id, values["issuer"], values["client_id"], values["client_secret"], values["scopes"]),
        *(values["groups_claim"], values["group_roles"], values["default_role"], values["trusts_addresses"]),
        *(now, updated_by),
    )
    return IdentityProvider(**row)


async def update_checked(
    db: Database,
    *,
    organization_id: str,
    issuer: str,
    authorization_url: str | None,
    problem: str | None,
    now: datetime,
) -> None:
    """Note what this issuer answered; an address that was found before stays where none was found now."""
    await db.execute(
        """update identity_provider set authorization_url = coalesce($3, authorization_url), problem = $4,
             checked_time = $5
           where organization_id = $1 and issuer = $2""",
        *(organization_id, issuer, authorization_url, problem, now),
    )


async def update_problem(db: Database, *, organization_id: str, version: int, problem: str | None) -> None:
    """Note what came of a log-in by these settings."""
    await db.execute(
        "update identity_provider set problem = $3 where organization_id = $1 and version = $2",
        *(organization_id, version, problem),
    )


async def delete_provider(db: Database, *, organization_id: str) -> None:
    await db.execute("delete from identity_provider where organization_id = $1", organization_id)


async def delete_sessions_of_identities(db: Database, *, organization_id: str) -> int:
    """End the sessions of logins that a provider vouched for."""
    return await db.execute(
        """delete from login_session where organization_id = $1
             and login_id in (select i.login_id from login_identity i where i.organization_id = $1)""",
        organization_id,
    )


async def get_member_by_subject(db: Database, *, organization_id: str, issuer: str, subject: str) -> Member | None:
    row = await db.fetch_row(f"{_MEMBER} and i.issuer = $2 and i.subject = $3", organization_id, issuer, subject)
    return Member(**row) if row else None


async def get_member_by_email(db: Database, *, organization_id: str, email: str) -> Member | None:
    row = await db.fetch_row(f"{_MEMBER} and lower(u.email) = lower($2)", organization_id, email)
    return Member(**row) if row else None


async def get_identity_login(db: Database, *, organization_id: str, issuer: str, subject: str) -> str | None:
    return await db.fetch_value(
        "select login_id from login_identity where organization_id = $1 and issuer = $2 and subject = $3",
        *(organization_id, issuer, subject),
    )


async def get_id_token(db: Database, *, organization_id: str, session_id: str) -> bytes | None:
    """Sealed."""
    return await db.fetch_value(
        "select id_token from login_session where organization_id = $1 and session_id = $2", organization_id, session_id
    )


async def insert_identity_login(  # any tenant: the identity says which
    db: Database, *, login_id: str, email: str, now: datetime
) -> None:
    """A login that no password opens."""
    await db.execute(
        """insert into login (login_id, email, password_hash, is_of_provider, password_time, created_time, updated_time)
           values ($1, $2, '', true, $3, $3, $3)""",
        *(login_id, email, now),
    )


async def update_identity(
    db: Database, *, organization_id: str, user_id: str, login_id: str, issuer: str, subject: str, now: datetime
) -> None:
    await db.execute(
        """delete from login where is_of_provider and login_id in (
             select i.login_id from login_identity i
             where i.organization_id = $1 and i.user_id = $2 and (i.issuer, i.subject) <> ($3, $4))""",
        *(organization_id, user_id, issuer, subject),
    )
    await db.execute(
        """insert into login_identity (organization_id, issuer, subject, user_id, login_id, created_time)
           values ($1, $3, $4, $2, $5, $6)
           on conflict (organization_id, issuer, subject) do update set user_id = excluded.user_id""",
        *(organization_id, user_id, issuer, subject, login_id, now),
    )
