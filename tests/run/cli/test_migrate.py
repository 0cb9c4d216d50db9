"""`afterword migrate`: an empty database is brought to this release's schema, and again changes nothing."""

import asyncio
from pathlib import Path

from afterword.kit import db
from afterword.run import migrations
from tests.run.cli.shell import shell


async def test_ok(empty_database_url: str, tmp_path: Path) -> None:
    told = {(await asyncio.to_thread(shell, empty_database_url, tmp_path, "migrate")).stdout for _ in range(2)}
    async with await db.open_pool(empty_database_url, size_max=1) as pool, db.connection(pool) as database:
        assert {f"The schema is at {await migrations.current(database)}.\n"} == told
        assert await migrations.is_usable(database)
