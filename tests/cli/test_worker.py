"""`afterword worker`: the schema that it asks for, and its ways out where an organization has no account."""

import pytest

from afterword import db
from afterword.channels.base import EMAIL, SMS, WEBHOOK
from afterword.channels.email import EmailChannel
from afterword.channels.outbox import OutboxChannel
from afterword.cli import CommandError, worker
from afterword.settings import Settings
from tests.conftest import SITE


async def test_an_empty_database(empty_database_url: str) -> None:
    with pytest.raises(CommandError, match="afterword migrate"):
        await worker._require_schema(empty_database_url, 0)


async def test_a_database_that_is_away_is_waited_for() -> None:
    assert None is await worker._require_schema("postgresql://127.0.0.1:1/nowhere", 0)


@pytest.mark.parametrize(("smtp_url", "kind"), [(None, OutboxChannel), ("smtp://127.0.0.1:1", EmailChannel)])
async def test_ways_out(pool: db.Pool, smtp_url: str | None, kind: type) -> None:
    found = worker.installation_channels(Settings(smtp_url=smtp_url), SITE, pool)
    assert isinstance(found[EMAIL], kind)
    assert WEBHOOK in found
    assert SMS not in found
    for channel in found.values():
        await channel.close()
