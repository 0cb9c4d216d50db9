"""The gateway's lists: what filters by time mean, and that indexes can serve them."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from afterword.core.wire.lists import Column, Criterion, Listing, Page
from afterword.kit import db
from afterword.kit.db import list_queries

SECOND = datetime(2026, 11, 21, 16, 23, 45, tzinfo=UTC)
LATE = SECOND + timedelta(hours=1)
SHOWN = Column("shown_time", "time", nullable=True)
LISTING = Listing(columns={"shown_time": SHOWN, "row_id": Column("row_id", "id")}, order=(), id="row_id")
THIS = {"exact", "within", "last"}
ROWS = {
    "before": SECOND - timedelta(microseconds=1),
    "exact": SECOND,
    "within": SECOND + timedelta(milliseconds=500),
    "last": SECOND + timedelta(microseconds=999_999),
    "after": SECOND + timedelta(seconds=1),
    "late": LATE + timedelta(microseconds=7),
    "null": None,
}
TIMES = set(ROWS) - {"null"}


@pytest.fixture
async def database(pool: db.Pool) -> AsyncIterator[db.Database]:
    async with db.transaction(pool) as database:
        await database.execute(
            """create temporary table probe (row_id text collate "C" primary key, shown_time timestamptz)
               on commit drop"""
        )
        await database.execute(
            "insert into probe select * from unnest($1::text[], $2::timestamptz[])", list(ROWS), list(ROWS.values())
        )
        yield database


class Counting:
    """A connection that counts its statements."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self.statements = 0

    def __getattr__(self, name: str) -> Any:
        self.statements += 1
        return getattr(self._raw, name)


async def found(database: db.Database, *criteria: tuple[str, object]) -> set[str]:
    page = Page(LISTING, (), tuple(Criterion(operator, SHOWN, value) for operator, value in criteria), limit=100)
    rows = await database.fetch_list("select row_id, shown_time from probe", page=page)
    assert len(rows.items) == rows.total
    return {row["row_id"] for row in rows.items}


class TestTotal:
    @pytest.mark.parametrize(
        ("limit", "offset", "statements", "shown"),
        [(7, 0, 1, 7), (8, 0, 1, 7), (6, 0, 2, 6), (5, 5, 2, 2), (5, 7, 1, 0), (5, 9, 1, 0)],
    )
    async def test_one_statement_where_all_fit(
        self, database: db.Database, limit: int, offset: int, statements: int, shown: int
    ) -> None:
        raw = Counting(database._connection)
        page = Page(LISTING, (), limit=limit, offset=offset)

        rows = await db.Database(raw, database.clock).fetch_list("select row_id, shown_time from probe", page=page)

        assert (statements, shown, len(ROWS)) == (raw.statements, len(rows.items), rows.total)
        assert rows.has_more == (offset + limit < len(ROWS))


class TestTimes:
    """A time is shown in whole seconds, so a filter by the shown value means the whole second."""

    @pytest.mark.parametrize(
        ("operator", "value", "expected"),
        [
            ("EQUAL", SECOND, THIS),
            ("NOT_EQUAL", SECOND, {"before", "after", "late"}),
            ("ALT_NOT_EQUAL", SECOND, {"before", "after", "late"}),
            ("GREATER_THAN", SECOND, {"after", "late"}),
            ("GREATER_EQUAL", SECOND, {*THIS, "after", "late"}),
            ("LESS_THAN", SECOND, {"before"}),
            ("LESS_EQUAL", SECOND, {*THIS, "before"}),
            ("IN", [SECOND], THIS),
            ("IN", [SECOND, LATE], {*THIS, "late"}),
            ("IN", [], set[str]()),
            ("NOT_IN", [SECOND, LATE], {"before", "after"}),
            ("NOT_IN", [], TIMES),
            ("NULL", None, {"null"}),
            ("NOT_NULL", None, TIMES),
        ],
    )
    async def test_comparison(self, database: db.Database, operator: str, value: object, expected: set[str]) -> None:
        assert expected == await found(database, (operator, value))

    async def test_a_comparison_and_its_negation_are_everything(self, database: db.Database) -> None:
        """Nothing is lost between two filters that exclude each other; a null cell matches neither."""
        for one, other in (("EQUAL", "NOT_EQUAL"), ("LESS_THAN", "GREATER_EQUAL"), ("GREATER_THAN", "LESS_EQUAL")):
            first, second = await found(database, (one, SECOND)), await found(database, (other, SECOND))
            assert TIMES == first | second
            assert not first & second

    async def test_together(self, database: db.Database) -> None:
        assert {"late"} == await found(database, ("GREATER_THAN", SECOND), ("NOT_EQUAL", SECOND + timedelta(seconds=1)))
        assert THIS == await found(database, ("GREATER_EQUAL", SECOND), ("LESS_EQUAL", SECOND), ("IN", [SECOND, LATE]))

    async def test_an_empty_list_excludes_no_more_than_null(self, database: db.Database) -> None:
        """Of other kinds too: a null cell matches NULL and no other criterion."""
        column = Column("shown_time", "text", nullable=True)
        page = Page(LISTING, (), (Criterion("NOT_IN", column, []),), limit=100)
        rows = await database.fetch_list("select row_id, shown_time::text from probe", page=page)
        assert TIMES == {row["row_id"] for row in rows.items}


class TestPlans:
    @pytest.mark.parametrize(
        ("operator", "value"),
        [
            ("EQUAL", SECOND),
            ("GREATER_THAN", SECOND),
            ("GREATER_EQUAL", SECOND),
            ("LESS_THAN", SECOND),
            ("LESS_EQUAL", SECOND),
            ("IN", [SECOND, LATE]),
        ],
    )
    async def test_an_index_serves_times(self, pool: db.Pool, operator: str, value: object) -> None:
        """The bounds stand in the conditions of the index, not in a filter behind it."""
        parameters: list[object] = []
        where = list_queries.where([Criterion(operator, SHOWN, value)], parameters)
        query: Any = f"explain select * from (select row_id, shown_time from probe) listed{where}"
        async with db.transaction(pool) as database:
            await database.execute(
                """create temporary table probe on commit drop as
                   select n::text as row_id, $1::timestamptz + n * interval '1 minute' as shown_time
                   from generate_series(-1000, 1000) n""",
                SECOND,
            )
            await database.execute("create index probe_shown_time on probe (shown_time)")
            await database.execute("analyze probe")
            await database.execute("set local enable_seqscan = off")
            plan = [str(row[0]).strip() for row in await database.fetch(query, *parameters)]
        assert [line for line in plan if line.startswith("Index Cond: ") and "shown_time" in line], plan
        assert not [line for line in plan if line.startswith("Filter")], plan
