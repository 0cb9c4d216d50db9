import uuid
from collections.abc import AsyncGenerator

import pytest

from tests.console.conftest import office as office  # noqa: PLC0414  a fixture
from tests.databases import address_of, administer
from tests.run.embedded.servers import execute

ASCII = "template template0 encoding 'SQL_ASCII' locale_provider libc lc_collate 'C' lc_ctype 'C'"


@pytest.fixture
async def ascii_database_url(server_url: str) -> AsyncGenerator[str]:
    """An empty database that takes bytes for letters."""
    name = f"test_{uuid.uuid4().hex}"
    await administer(server_url, f"create database {name} {ASCII}")
    yield address_of(server_url, name)
    await administer(server_url, f"drop database {name} with (force)")


@pytest.fixture
async def guest_database_url(empty_database_url: str) -> str:
    """An empty database, in which the role may make nothing."""
    await execute(empty_database_url, "revoke create on schema public from pg_database_owner")
    return empty_database_url
