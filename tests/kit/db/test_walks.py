"""Walks: some rows behind a position, then the next ones, and nothing at the end."""

from afterword.kit import db
from afterword.kit.db.walks import behind, get_next


def test_behind() -> None:
    assert "(a) > ($1)" == behind("a", first=1)
    assert "(a, b) > ($4, $5)" == behind("a, b", first=4)


async def test_get_next(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await database.execute("create temporary table shelf (row int, place text, note text)")
        await database.execute("insert into shelf select n / 3, n::text from generate_series(1, 7) n")
        after, passed = (0, ""), []
        while (found := await get_next(database, "shelf", "row, place", after=after, limit=3)) is not None:
            passed.append(after := found)
    assert [(1, "3"), (2, "6")] == passed
