"""An organization, and a connection to look at it."""

from collections.abc import AsyncIterator

import pytest

from afterword import db
from afterword.accounts import service


@pytest.fixture
async def database(pool: db.Pool) -> AsyncIterator[db.Database]:
    async with db.connection(pool) as database:
        yield database


@pytest.fixture
async def organization_id(database: db.Database) -> str:
    organization = await service.create_organization(
        database, domain="demo", display_name="Demo", now=database.clock.now()
    )
    return organization.organization_id
