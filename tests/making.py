"""Parts of an organization that many tests need: each by the service, in a transaction of its own."""

from collections.abc import Collection
from typing import Any

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.tenants.organizations import service


async def make_token(
    pool: db.Pool,
    organization_id: str,
    *,
    scopes: Collection[str] = SCOPES,
    user_id: str | None = None,
    **options: Any,
) -> str:
    """The text of a new token: a user's, or without one the organization's."""
    async with db.transaction(pool) as database:
        _, text = await service.create_token(
            database,
            organization_id=organization_id,
            title="Tests",
            scopes=scopes,
            kind="user" if user_id else "organization",
            user_id=user_id,
            now=database.clock.now(),
            **options,
        )
    return text


async def make_application(pool: db.Pool, organization_id: str, display_name: str = "Other") -> str:
    """The id of another application."""
    async with db.transaction(pool) as database:
        made = await service.create_application(
            database, organization_id=organization_id, display_name=display_name, now=database.clock.now()
        )
    return made.application_id


async def make_user(
    pool: db.Pool, organization_id: str, email: str, *, role: str = "agent", application_ids: Collection[str] = ()
) -> str:
    """The id of a new person."""
    async with db.transaction(pool) as database:
        made = await service.create_user(
            database,
            organization_id=organization_id,
            email=email,
            role=role,
            application_ids=list(application_ids),
            now=database.clock.now(),
        )
    return made.user_id
