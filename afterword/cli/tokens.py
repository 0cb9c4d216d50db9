"""`afterword token`: tokens from the shell, for the first one and for operators."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from afterword import db, errors
from afterword.cli.context import OrganizationDomain, open_pool
from afterword.core.organizations.access import SCOPES
from afterword.events.service import Actor
from afterword.organizations import service, store
from afterword.organizations.store import Organization
from afterword.organizations.tokens import store as tokens_store
from afterword.organizations.tokens.store import Token
from afterword.organizations.users import store as people_store
from afterword.organizations.users.store import User

ALL_SCOPES = "all"
_BEGINNING = re.compile(r"(?:afw_)?([0-9A-Za-z]{8,16})\Z")

app = cyclopts.App(name="token")


@app.command(name="create")
async def create_command(
    *,
    scope: Annotated[list[str], Parameter(negative="")],
    organization: OrganizationDomain = None,
    user: str | None = None,
    title: str = "Made on the command line",
    days: int | None = None,
) -> None:
    """Create a token of an organization, or of a user of it, and print it, this once.

    Args:
        scope: An exact scope, as in "Queue.Create"; repeatable; "all" for every one.
        user: The e-mail address of the user who gets the token; without, it is the organization's.
        title: Its purpose.
        days: Its lifetime; without, until it is revoked.
    """
    async with open_pool() as (_, pool):
        _, text = await create(pool, scopes=scope, domain=organization, title=title, days=days, email=user)
    print(text)


@app.command(name="revoke")
async def revoke_command(beginning: str, /) -> None:
    """End a token; processes that have seen it refuse it within a second.

    Args:
        beginning: The token's first characters: afw_ and at least 8 more.
    """
    async with open_pool() as (_, pool):
        token = await revoke(pool, beginning=beginning)
    print(f"Revoked “{token.title}”.")


async def create(
    pool: db.Pool, *, scopes: Sequence[str], domain: str | None, title: str, days: int | None, email: str | None = None
) -> tuple[Token, str]:
    """The token and its text, which cannot be read again; `all` among the scopes means every one.

    With `email` it is a token of that user: it opens nothing that their role does not open.
    Raises Invalid for a scope that does not exist, NotFound for an unknown domain or user.
    """
    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization = await organization_of(database, domain)
        user = None if email is None else await _user_of(database, organization, email)
        return await service.create_token(
            database,
            organization_id=organization.organization_id,
            title=title,
            scopes=SCOPES if ALL_SCOPES in scopes else list(scopes),
            kind="organization" if user is None else "user",
            user_id=None if user is None else user.user_id,
            expires_time=None if days is None else now + timedelta(days=days),
            actor=Actor(),
            now=now,
        )


async def revoke(pool: db.Pool, *, beginning: str) -> Token:
    """End the token with this beginning: `afw_` and at least 8 characters. A shell would remember the whole.

    Raises Invalid for another shape, NotFound unless exactly one token begins so.
    """
    matched = _BEGINNING.match(beginning)
    if matched is None:
        raise errors.Invalid("Give the beginning of the token: afw_ and the 8 to 16 characters that follow.")
    async with db.transaction(pool) as database:
        found = await tokens_store.list_tokens_like(database, hint=matched[1], limit=2)
        if len(found) != 1:
            raise errors.NotFound("No token begins so." if not found else "Several tokens begin so; give more of it.")
        return await service.revoke_token(
            database,
            organization_id=found[0].organization_id,
            token_id=found[0].token_id,
            now=database.clock.now(),
        )


async def _user_of(database: db.Database, organization: Organization, email: str) -> User:
    user = await people_store.get_user_by_email(database, organization_id=organization.organization_id, email=email)
    if user is None:
        raise errors.NotFound(f"No user of “{organization.domain}” has this e-mail address.")
    return user


async def organization_of(database: db.Database, domain: str | None) -> Organization:
    if domain is not None:
        found = await store.get_organization_by_domain(database, domain=domain)
        if found is None:
            raise errors.NotFound(f"There is no organization with the domain “{domain}”.")
        return found
    organizations = await store.list_organizations(database, limit=2)
    if len(organizations) == 1:
        return organizations[0]
    if not organizations:
        raise errors.NotFound(
            "There is no organization yet. “afterword organization create” makes one, “afterword seed” a demonstration."
        )
    raise errors.NotFound("There are several organizations. Name one with --organization DOMAIN.")
