"""Retention on a real table: old rows leave it, the oldest first, and only so many at once."""

from datetime import UTC, datetime, timedelta

from afterword.kit import db
from afterword.kit.db.retention import Retention
from tests.pruning import prune_of as prune

NOW = datetime(2026, 11, 29, tzinfo=UTC)
SHELF = Retention(table="shelf", key="shelf_id", time="made_time", age=timedelta(days=7), also="o.note is not null")


async def test_prune(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await database.execute("create temporary table shelf (shelf_id int, made_time timestamptz, note text)")
        await database.execute(
            """insert into shelf select n, $1::timestamptz - n * interval '1 day', case when n <> 9 then 'x' end
               from generate_series(1, 12) n""",
            NOW,
        )
        assert 2 == await prune(database, SHELF, now=NOW, limit=2)
        left = [row["shelf_id"] for row in await database.fetch("select shelf_id from shelf order by 1")]
        assert [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] == left
        assert 3 == await prune(database, SHELF, now=NOW)
        left = [row["shelf_id"] for row in await database.fetch("select shelf_id from shelf order by 1")]
        assert [1, 2, 3, 4, 5, 6, 9] == left


async def test_change(pool: db.Pool) -> None:
    """A column may be changed where the row stays."""
    emptied = Retention(
        table="shelf", key="shelf_id", time="made_time", also="o.note is not null", change="note = null"
    )
    async with db.transaction(pool) as database:
        await database.execute("create temporary table shelf (shelf_id int, made_time timestamptz, note text)")
        await database.execute("insert into shelf values (1, $1, 'x'), (2, $2, 'y')", NOW, NOW + timedelta(days=1))
        assert 1 == await prune(database, emptied, now=NOW)
        assert [None, "y"] == [row["note"] for row in await database.fetch("select note from shelf order by shelf_id")]
