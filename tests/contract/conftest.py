"""The world that all probes share: refusals leave it as it was."""

from collections.abc import AsyncGenerator

import pytest_asyncio

from afterword import db
from tests.conftest import POOL_SIZE, fresh_database
from tests.contract import world as worlds


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def world(server_url: str) -> AsyncGenerator[worlds.World]:
    """Two organizations; needs `pytest.mark.asyncio(loop_scope="session")`."""
    async with fresh_database(server_url) as url, await db.open_pool(url, size_max=POOL_SIZE) as pool:
        yield await worlds.build(pool)
