"""A newer release's changes of the schema while this one runs: more columns in every table, and a way back."""

import contextlib
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from afterword.run import migrations

COLUMNS: Final = "add column zz_newer text, add column zz_constant integer not null default 7"
NO_COLUMNS: Final = "drop column zz_newer, drop column zz_constant"


async def tables_of(connection: Any) -> Sequence[str]:
    """Every table of the product."""
    rows = await connection.fetch(
        """select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
             and relname <> 'alembic_version' order by relname"""
    )
    return [row["relname"] for row in rows]


async def alter_all(connection: Any, change: str) -> None:
    """Change every table: `COLUMNS` or `NO_COLUMNS`."""
    for table in await tables_of(connection):
        await connection.execute(f"alter table {table} {change}")


class Release:
    """A newer release's migrations: a copy of ours, to which a test adds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, sql: str) -> str:
        """One more; its number."""
        number = f"{int(migrations.head()) + 1:04}"
        (self.folder / f"{number}_{name}.sql").write_text(sql)
        return number


@contextlib.contextmanager
def release(folder: Path) -> Generator[Release]:
    """This process migrates as the newer release as long as it lasts; the others stay as old as they are."""
    for path in migrations.FOLDER.glob("[0-9]*.sql"):
        (folder / path.name).write_text(path.read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "FOLDER", folder)
        yield Release(folder)
