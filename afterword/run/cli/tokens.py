"""`afterword token`: tokens from the shell, for the first one and for operators."""

import re
from datetime import timedelta
from typing import Annotated, Final

import cyclopts
from cyclopts import Parameter

from afterword import errors
from afterword.core.organizations.access import SCOPES
from afterword.events.service import Actor
from afterword.kit.db import Database
from afterword.run.cli.context import open_organization, open_transaction
from afterword.run.cli.organizations import OrganizationDomain
from afterword.tenants.organizations import users
from afterword.tenants.organizations.service import Organization
from afterword.tenants.organizations.tokens import service
from afterword.tenants.organizations.tokens import store as tokens

ALL_SCOPES: Final = "all"
_BEGINNING: Final = re.compile(r"(?:afw_)?([0-9A-Za-z]{8,16})\Z")

app = cyclopts.App(name="token")


@app.command(name="create")
async def create(
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
    async with open_organization(organization) as (_, database, owner):
        now = database.clock.now()
        _, text = await service.create_token(
            database,
            organization_id=owner.organization_id,
            title=title,
            scopes=SCOPES if ALL_SCOPES in scope else scope,
            kind="organization" if user is None else "user",
            user_id=None if user is None else await _user_id(database, owner, user),
            expires_time=None if days is None else now + timedelta(days=days),
            actor=Actor(),
            now=now,
        )
    print(text)


@app.command(name="revoke")
async def revoke(beginning: str, /) -> None:
    """End a token; processes that have seen it refuse it within a second.

    Args:
        beginning: The token's first characters: afw_ and at least 8 more. A shell would remember the whole.
    """
    matched = _BEGINNING.match(beginning)
    if matched is None:
        raise errors.Invalid("Give the beginning of the token: afw_ and the 8 to 16 characters that follow.")
    async with open_transaction() as (_, database):
        found = await tokens.list_tokens_like(database, hint=matched[1], limit=2)
        if len(found) != 1:
            raise errors.NotFound("No token begins so." if not found else "Several tokens begin so; give more of it.")
        token = await service.revoke_token(
            database, organization_id=found[0].organization_id, token_id=found[0].token_id, now=database.clock.now()
        )
    print(f"Revoked “{token.title}”.")


async def _user_id(database: Database, owner: Organization, email: str) -> str:
    user = await users.get_user_by_email(database, organization_id=owner.organization_id, email=email)
    if user is None:
        raise errors.NotFound(f"No user of “{owner.domain}” has this e-mail address.")
    return user.user_id
