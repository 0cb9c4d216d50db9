"""A move between two databases: refused while one is used, the same rows afterwards, never two that may be used."""

import asyncio

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.db.hosts import open_session
from afterword.run import migrations
from afterword.run.backups import moving, service
from afterword.run.backups.service import NotEmpty
from tests.conftest import House
from tests.run.backups.conftest import Original, contents, differing, shape

NAME = "the database b at db.example"


async def move(source: str, target: str) -> None:
    await moving.move(source, target, target_name=NAME, report=lambda _: None)


async def reason_closed(url: str) -> str | None:
    async with open_session(url) as session:
        return await migrations.reason_closed(session.fetchval)


class TestRefusals:
    async def test_in_use(self, house: House, database_url: str, empty_database_url: str) -> None:
        async with await db.open_pool(database_url, size_max=1) as pool, db.connection(pool):
            with pytest.raises(moving.InUse, match="Stop Afterword first: the database is used by afterword"):
                await move(database_url, empty_database_url)
        assert await reason_closed(database_url) is None

    async def test_nothing_to_move(self, database_url: str, empty_database_url: str) -> None:
        with pytest.raises(errors.NotFound, match="nothing to move"):
            await move(empty_database_url, database_url)

    async def test_target_in_use(self, original: Original) -> None:
        with pytest.raises(NotEmpty, match="has data"):
            await move(original.url, original.url)


async def test_every_table(original: Original, empty_database_url: str) -> None:
    before = await contents(original.url)
    await move(original.url, empty_database_url)
    assert {} == differing(before, await contents(empty_database_url))
    assert await shape(original.url) == await shape(empty_database_url)
    assert (moving.MOVED.format(NAME), None) == (
        await reason_closed(original.url),
        await reason_closed(empty_database_url),
    )
    with pytest.raises(errors.Conflict, match="has the data now"):
        await moving.move(original.url, empty_database_url, target_name="another", report=lambda _: None)
    await move(original.url, empty_database_url)
    assert await reason_closed(empty_database_url) is None


@pytest.mark.parametrize("step", ["close", "reopen"])
async def test_killed(original: Original, empty_database_url: str, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Before the source is closed it may be used and changed; the repeated move takes what changed."""
    with monkeypatch.context() as patch:

        async def kill(*arguments: object, **more: object) -> None:
            if more.get("reason") != moving.MOVING:
                raise KeyboardInterrupt
            await closing(*arguments, **more)  # pyrefly: ignore[bad-argument-type]

        closing = migrations.close
        patch.setattr(service if step == "reopen" else migrations, step, kill)
        with pytest.raises(KeyboardInterrupt):
            await move(original.url, empty_database_url)
    assert moving.MOVING == await reason_closed(empty_database_url)
    assert (step == "close") is (await reason_closed(original.url) is None)
    if step == "close":
        async with open_session(original.url) as session:
            await session.execute("update organization set display_name = 'Later'")
    before = await contents(original.url)
    await move(original.url, empty_database_url)
    assert {} == differing(before, await contents(empty_database_url))
    assert await reason_closed(empty_database_url) is None


async def test_writers_wait(original: Original, empty_database_url: str) -> None:
    """A session that is none of ours reads all the time, and writes to nothing."""
    held = asyncio.Event()
    reading = service.store.list_rows

    async def slowly(*arguments: object, **more: object) -> None:
        if not held.is_set():
            held.set()
            async with open_session(original.url) as other:
                assert 1 == await other.fetchval("select count(*) from organization")
                await other.execute("set lock_timeout = '50ms'")
                with pytest.raises(Exception, match="lock timeout"):
                    await other.execute("update organization set display_name = 'Lost'")
        await reading(*arguments, **more)  # pyrefly: ignore[bad-argument-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service.store, "list_rows", slowly)
        await move(original.url, empty_database_url)
    assert held.is_set()
