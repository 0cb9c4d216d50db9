"""The type checker, as `make types` sets it up, refuses the mistakes that the project relies on it for."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MISTAKES = """
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, LiteralString, assert_never

import msgspec

from afterword.kit import db

COLUMN: Final[LiteralString] = "item_id"


@dataclass(frozen=True)
class Item:
    item_id: str
    sent: datetime | None = None
    state: Literal["due", "done"] = "due"


class Body(msgspec.Struct, frozen=True):
    number: int
    note: str | None = None


async def find(database: db.Database, *, item_id: str) -> Item | None:
    row = await database.fetch_row("select item_id from queue_item where item_id = $1", item_id)
    return None if row is None else Item(**row)


async def queries(database: db.Database, column: str, columns: list[str], item: Item, given: Any) -> None:
    await database.fetch(f"select {column} from queue_item")  # refused: bad-argument-type
    await database.fetch_row("select {} from queue_item".format(column))  # refused: bad-argument-type
    await database.fetch_one("select " + column)  # refused: bad-argument-type
    await database.fetch_value("select " + ", ".join(columns))  # refused: bad-argument-type
    await database.execute(item.item_id)  # refused: bad-argument-type
    query: str = given
    await database.execute(query)  # refused: bad-argument-type
    await database.fetch(f"select {COLUMN} from queue_item")


async def optional(database: db.Database, item: Item, body: Body, now: datetime) -> object:
    found = await find(database, item_id="1")
    if body.note + "x":  # refused: unsupported-operation
        return found.item_id  # refused: missing-attribute
    return item.sent < now  # refused: unsupported-operation


async def calls(database: db.Database, item: Item) -> None:
    find(database, item_id="1")  # refused: unused-coroutine
    await find(database)  # refused: missing-argument
    await find(database, item_id=1)  # refused: bad-argument-type
    replace(item, stat="due")  # refused: unexpected-keyword
    Body(number="1")  # refused: bad-argument-type
    with db.transaction(database):  # refused: bad-argument-type, bad-context-manager, bad-context-manager
        pass


def values(item: Item, body: Body) -> str:
    item.state = "done"  # refused: read-only
    body.number = 1  # refused: read-only
    if item.itemid:  # refused: missing-attribute
        text = "x"
    match item.state:  # refused: non-exhaustive-match
        case "due":
            print()
    match item.state:
        case "due":
            return text  # refused: unbound-name
        case _:
            assert_never(item.state)  # refused: bad-argument-type
"""


def test_mistakes_are_refused(tmp_path: Path) -> None:
    """Queries that are no literals above all: no other program keeps texts of clients out of SQL."""
    path = tmp_path / "mistakes.py"
    path.write_text(MISTAKES)
    checker = [str(Path(sys.executable).with_name("pyrefly")), "check", "--config", str(ROOT / "pyproject.toml")]
    ran = subprocess.run([*checker, "--output-format", "json", str(path)], cwd=ROOT, capture_output=True, check=False)
    found: dict[int, list[str]] = {}
    for error in json.loads(ran.stdout)["errors"]:
        found.setdefault(error["line"], []).append(error["name"])
    refused = {
        number: marked[1].split(", ")
        for number, line in enumerate(MISTAKES.split("\n"), start=1)
        if (marked := re.search(r"# refused: (.+)", line))
    }
    assert refused == {number: sorted(names) for number, names in found.items()}
