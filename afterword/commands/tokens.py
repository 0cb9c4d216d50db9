"""`afterword token create`: a token from the shell, for the first one and for operators."""

from collections.abc import Sequence
from datetime import timedelta

from afterword import db, errors
from afterword.accounts import service as accounts
from afterword.accounts import store as accounts_store
from afterword.accounts.store import Organization, Token
from afterword.core.access import SCOPES

ALL_SCOPES = "all"


async def create(
    pool: db.Pool, *, scopes: Sequence[str], domain: str | None, title: str, days: int | None
) -> tuple[Token, str]:
    """Make a token of an organization; `all` among the scopes means every one. Its text is shown this once.

    Raises Invalid for a scope that does not exist, NotFound for an unknown domain.
    """
    async with db.transaction(pool) as database:
        now = database.clock.now()
        organization = await organization_of(database, domain)
        return await accounts.create_token(
            database,
            organization_id=organization.organization_id,
            title=title,
            scopes=SCOPES if ALL_SCOPES in scopes else list(scopes),
            kind="organization",
            user_id=None,
            expires_time=None if days is None else now + timedelta(days=days),
            now=now,
        )


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
        raise errors.NotFound("There is no organization yet. “afterword seed” creates one.")
    raise errors.NotFound("There are several organizations. Name one with --organization DOMAIN.")
