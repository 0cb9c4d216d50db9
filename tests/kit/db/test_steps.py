"""Steps of long work: a failure is undone and waits, and a database that is away is everybody's."""

from collections import Counter

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.db.leases import StepResult, take


async def test_ok(pool: db.Pool) -> None:
    async def work() -> StepResult:
        return StepResult(counts=Counter(rows=2), mark="b")

    async with db.transaction(pool) as database:
        found = await take(database, work())
    assert (Counter(rows=2), "b", False) == (found.counts, found.mark, found.waits)


async def test_failure_is_undone(pool: db.Pool) -> None:
    async with db.transaction(pool) as database:
        await database.execute("create temporary table shelf (shelf_id int)")

        async def work() -> StepResult:
            await database.execute("insert into shelf values (1)")
            raise ValueError

        assert (await take(database, work(), organization_id="a")).waits
        assert 0 == await database.fetch_value("select count(*) from shelf")


async def test_database_away(pool: db.Pool) -> None:
    async def work() -> StepResult:
        raise errors.Unavailable("It is away.")

    async with db.transaction(pool) as database:
        with pytest.raises(errors.Unavailable):
            await take(database, work())
