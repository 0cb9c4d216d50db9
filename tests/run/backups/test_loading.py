"""Rows put into a database, all of them or none."""

from collections.abc import AsyncGenerator

import pytest

from afterword.kit import db
from afterword.run import migrations
from afterword.run.backups import service
from afterword.run.backups.service import Incomplete
from afterword.run.backups.store import Table
from tests.run.backups.conftest import contents, shape

EMPTY = Table("pruned_total", ["status", "total"])


async def load(url: str, *, table: Table = EMPTY, count: int = 2) -> None:
    async def rows(_: Table) -> AsyncGenerator[bytes]:
        yield b"4\t1\n"
        yield b"5\t2\n"

    await service.load(
        url,
        revision=migrations.head(),
        tables=[table],
        rows_of=rows,
        counts=lambda: {table.name: count},
        sequences=lambda: {"rollup_generation": 77},
        reason="A test is unfinished.",
        report=lambda _: None,
    )


class TestRefusals:
    async def test_rows_are_missing(self, database_url: str) -> None:
        before, standing = await contents(database_url), await shape(database_url)
        with pytest.raises(Incomplete, match="Of 3 rows of pruned_total 2 came in"):
            await load(database_url, count=3)
        assert (before, standing) == (await contents(database_url), await shape(database_url))

    async def test_unknown_column(self, database_url: str) -> None:
        with pytest.raises(Incomplete, match="no later in pruned_total"):
            await load(database_url, table=Table("pruned_total", ["status", "later"]))


async def test_closed_until_it_is_opened(database_url: str) -> None:
    """No release may use it meanwhile, not even one that knows nothing of this."""
    standing = await shape(database_url)
    await load(database_url)
    assert standing == await shape(database_url)
    with pytest.raises(migrations.DatabaseIsClosed, match="A test is unfinished"):
        await migrations.migrate(database_url)
    async with await db.open_pool(database_url, size_max=1) as pool, db.connection(pool) as database:
        assert not await migrations.is_usable(database)
        assert "needs 9999" == await database.fetch_value("select obj_description('alembic_version'::regclass)")
        await service.reopen(database_url)
        assert await migrations.is_usable(database)
        assert 78 == await database.fetch_value("select nextval('rollup_generation')")
        assert [(4, 1), (5, 2)] == [
            tuple(row.values()) for row in await database.fetch("select status, total from pruned_total order by 1")
        ]
