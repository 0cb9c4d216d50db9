"""The world that all probes share: refusals leave it as it was."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from afterword.kit import db
from afterword.kit.db import leases
from afterword.kit.transport.base import EMAIL
from afterword.run import worker
from afterword.run.worker.channels import ChannelRegistry
from afterword.run.worker.messages import TestMessages
from afterword.sending.intake import test_messages
from tests.conftest import POOL_SIZE
from tests.contract import world as worlds
from tests.databases import fresh_database
from tests.kit.transport.name_server import name_server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def world(server_url: str) -> AsyncGenerator[worlds.World]:
    """Two organizations; needs `pytest.mark.asyncio(loop_scope="session")`."""
    async with _built(server_url) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="session")
async def own_world(server_url: str) -> AsyncGenerator[worlds.World]:
    """As `world`, for a test that changes what the others stand on."""
    async with _built(server_url) as found:
        yield found


@asynccontextmanager
async def _built(server_url: str) -> AsyncGenerator[worlds.World]:
    one_plan = {"plan_cache_mode": "force_generic_plan"}
    async with (
        fresh_database(server_url) as url,
        await db.open_pool(url, size_max=POOL_SIZE) as pool,
        await db.open_pool(url, size_max=1, server_settings=one_plan, statement_seconds_max=0) as reader,
        name_server({}) as names,
    ):
        found = await worlds.build(pool, reader=reader, name_servers=(("127.0.0.1", names.port),))
        async with _test_messages(found):
            yield found


@asynccontextmanager
async def _test_messages(world: worlds.World) -> AsyncGenerator[None]:
    """A worker that sends what is asked for as a test, as often as the probes ask."""
    stop = asyncio.Event()
    channels = worker.captured(world.pool, [EMAIL])
    registry = ChannelRegistry(pool=world.pool, site=world.site, defaults=channels, versions={})
    sender = TestMessages(pool=world.pool, site=world.site, channels=registry, mail_from="survey@shop.example")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_messages, "TEST_MESSAGES_MAX", 100_000)
        patch.setattr(test_messages, "OPEN_MAX", 100_000)
        patch.setattr(leases, "OPEN_MAX", 100_000)
        sending = asyncio.create_task(sender.run(stop))
        try:
            yield
        finally:
            stop.set()
            await sending
