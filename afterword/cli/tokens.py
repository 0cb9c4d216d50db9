"""`afterword token`: tokens from the shell, for the first one and for operators."""

import re
from collections.abc import Sequence
from datetime import timedelta

from afterword import db, errors
from afterword.core.organizations.access import SCOPES
from afterword.events.service import Actor
from afterword.organizations import service as accounts
from afterword.organizations import store as accounts_store
from afterword.organizations.people import store as people_store
from afterword.organizations.people.store import User
from afterword.organizations.store import Organization
from afterword.organizations.tokens import store as tokens_store
from afterword.organizations.tokens.store import Token

ALL_SCOPES = "all"
_BEGINNING = re.compile(r"(?:afw_)?([0-9A-Za-z]{8,16})\Z")


async def create(
    pool: db.Pool, *, scopes: Sequence[str], domain: str | None, title: str, days: int | None, email: str | None = None
) -> tuple[Token, str]:
    """Make a token of an organization; `all` among the scopes means every one. Its text is shown this once.

    With `email` it is a token of the user who has it: what their role does not open, the token does not open either.
    Raises Invalid for a scope that does not exist, NotFound for an unknown domain or user.
    """
    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization = await organization_of(database, domain)
        user = None if email is None else await _user_of(database, organization, email)
        return await accounts.create_token(
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
    """End the token that begins so: `afw_` and at least 8 characters, never the whole, which a shell would remember.

    Raises Invalid for another shape, NotFound unless exactly one token begins so.
    """
    matched = _BEGINNING.match(beginning)
    if matched is None:
        raise errors.Invalid("Give the beginning of the token: afw_ and the 8 to 16 characters that follow.")
    async with db.transaction(pool) as database:
        found = await tokens_store.list_tokens_like(database, hint=matched[1], limit=2)
        if len(found) != 1:
            raise errors.NotFound("No token begins so." if not found else "Several tokens begin so; give more of it.")
        return await accounts.revoke_token(
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
    """The organization of this domain, or the only one there is."""
    if domain is not None:
        found = await accounts_store.get_organization_by_domain(database, domain=domain)
        if found is None:
            raise errors.NotFound(f"There is no organization with the domain “{domain}”.")
        return found
    organizations = await accounts_store.list_organizations(database, limit=2)
    if len(organizations) == 1:
        return organizations[0]
    if not organizations:
        raise errors.NotFound(
            "There is no organization yet. “afterword organization create” founds one, “afterword seed” a demo."
        )
    raise errors.NotFound("There are several organizations. Name one with --organization DOMAIN.")
