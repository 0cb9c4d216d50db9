"""Databases with something in every kind of table, their comparison row by row, and commands on them."""

import asyncio
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from tests.conftest import House
from tests.privacy.conftest import CANARY, Known, desk_on, people
from tests.run.cli.shell import shell
from tests.sizes import lack

ROWS: Final = {"event": "(to_jsonb(t) - 'xid')"}
OF_A_RESTORE: Final = frozenset({"sending_guard", "backup"})  # its pause, and the row of the backup itself


def old_postgresql() -> Path:
    """The programs of an older PostgreSQL, from which databases are upgraded."""
    folder = Path("/usr/lib/postgresql/15/bin")
    return folder if folder.exists() else lack("Debian's postgresql-15")


@dataclass(frozen=True)
class Original:
    """A database to make copies of, in which a person is known."""

    url: str
    house: House
    known: Known


@pytest.fixture
async def original(database_url: str) -> Original:
    async with desk_on(database_url) as desk:
        known, _ = await people(desk, [CANARY, "zqhelen"])
        house = desk.house
    return Original(database_url, house, known)


async def run(url: str, tmp_path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return await asyncio.to_thread(shell, url, tmp_path, *words)


async def refused(url: str, tmp_path: Path, *words: str) -> str:
    """The sentence of a command that is refused."""
    ended = await run(url, tmp_path, *words)
    assert 0 != ended.returncode, ended
    return ended.stderr


async def done(url: str, tmp_path: Path, *words: str) -> str:
    """The output of a command that does its work."""
    ended = await run(url, tmp_path, *words)
    assert 0 == ended.returncode, ended
    return ended.stdout


async def contents(url: str) -> dict[str, Any]:
    """For each table the number of its rows and a sum over them, and the last number of each sequence.

    The transaction of an event is left out: another server numbers them anew.
    """
    connection: Any = await asyncpg.connect(url)
    try:
        tables = await connection.fetch(
            """select relname::text as name from pg_class
               where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1"""
        )
        found = {
            row["name"]: tuple(
                await connection.fetchrow(
                    f"select count(*), sum(hashtextextended({ROWS.get(row['name'], 't')}::text, 0)::numeric) "
                    f"from {row['name']} t"
                )
            )
            for row in tables
        }
        sequences = await connection.fetch("select sequencename::text as name, last_value from pg_sequences")
        return found | {row["name"]: row["last_value"] for row in sequences}
    finally:
        await connection.close()


async def shape(url: str) -> list[str]:
    """Constraints, indexes and triggers, as the catalogue writes them."""
    connection: Any = await asyncpg.connect(url)
    try:
        rows = await connection.fetch(
            """select conrelid::regclass || ' ' || conname || ' ' || convalidated || pg_get_constraintdef(oid) as text
               from pg_constraint where connamespace = 'public'::regnamespace
               union all select indexdef from pg_indexes where schemaname = 'public'
               union all select tgenabled::text || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
               order by 1"""
        )
        return [row["text"] for row in rows]
    finally:
        await connection.close()


def differing(before: dict[str, Any], after: dict[str, Any], but: Collection[str] = ()) -> dict[str, Any]:
    """The tables and sequences that are not as they were."""
    names = (before.keys() | after.keys()) - OF_A_RESTORE - set(but)
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}
