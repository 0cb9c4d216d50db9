"""The register of personal data: a page that is made from the declaration of columns, so it is never out of date."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.privacy.columns import FREE, HOLDS, PERIODS

PAGE: Final = Path(__file__).parents[2] / "docs" / "personal-data.md"
HEAD: Final = """# Register of personal data

For those who keep a record of processing, and for auditors. It names each column of the database that can hold
something of a person who is asked, and each other column of text. A test compares it with the database: a new column
fails the tests until it stands here.

[Erasing people](privacy.md) explains periods and erasures. Ids are left out: they say nothing without the rows that
they name.

## Columns that can hold personal data

| Table | Column | An erasure | It goes by age after |
|---|---|---|---|
"""
OTHERS: Final = """
## Other columns of text

| Table | Column | Why no person who is asked stands in it |
|---|---|---|
"""


def rows_of(tables: dict[str, dict[str, str]]) -> Iterator[tuple[str, str, str]]:
    for table, columns in sorted(tables.items()):
        for column, text in sorted(columns.items()):
            yield table, column, text.replace("|", "\\|")


def page() -> str:
    holds = {table: dict(columns) for table, columns in HOLDS.items()}
    free = {table: dict(columns) for table, columns in FREE.items()}
    lines = [f"| `{table}` | `{column}` | {text} | {PERIODS[table]} |\n" for table, column, text in rows_of(holds)]
    others = [f"| `{table}` | `{column}` | {text} |\n" for table, column, text in rows_of(free)]
    return HEAD + "".join(lines) + OTHERS + "".join(others)


def test_page() -> None:
    if os.environ.get("REWRITE_SNAPSHOTS"):
        PAGE.write_text(page(), encoding="utf-8")
    assert page() == PAGE.read_text(encoding="utf-8"), "REWRITE_SNAPSHOTS=1 writes docs/personal-data.md anew"


def test_periods_of_all_tables() -> None:
    assert set(HOLDS) == set(PERIODS)
