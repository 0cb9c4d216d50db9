"""Retention: rows that ended, or became too old, leave their table some at a time."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, LiteralString

from afterword.kit.db import Database
from afterword.kit.db.columns import qualified

LOOKED_MAX: Final = 1_000  # rows of a walk that one statement passes
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
Position = tuple[Any, ...]  # the values of the columns of a walk


@dataclass(frozen=True, slots=True)
class Retention:
    """The rows `o` of a table whose `time` lies `age` or longer ago, at most `batch` at once, the oldest first.

    `also`: a condition that they meet too; `clear`: the column that is emptied, where the row stays. Where rows that are
    old may stay, no index has them in the order in which they go: `walk` is the table that is passed through instead,
    LOOKED_MAX rows `x` at once, in the order of `by`, columns that an index begins with; `source` selects from `x`.
    """

    table: LiteralString
    key: LiteralString
    time: LiteralString
    age: timedelta = timedelta()
    also: LiteralString = "true"
    source: LiteralString = ""
    batch: int = 1_000
    clear: LiteralString = ""
    walk: LiteralString = ""
    by: LiteralString = ""

    @property
    def start(self) -> Position:
        return tuple(EPOCH if name.endswith("_time") else "" for name in self.by.split(", ")) if self.walk else ()

    @property
    def statement(self) -> LiteralString:
        """`$1`: the moment before which rows are too old, `$2`: how many go at most, then the position of a walk."""
        act: LiteralString = (
            f"update {self.table} t set {self.clear} = null from" if self.clear else f"delete from {self.table} t using"
        )
        gone: LiteralString = f"{act} old where ({qualified(self.key, 't')}) = ({qualified(self.key, 'old')})"
        if not self.walk:
            return f"""with old as materialized (
             select {qualified(self.key, "o")} from {self.table} o
             where {self.time} <= $1 and {self.also} order by {self.time} limit $2 for update skip locked)
           {gone}"""
        behind: LiteralString = ", ".join(f"${number}" for number in range(3, 4 + self.by.count(", ")))
        time = self.time.rpartition(".")[2]
        ends: LiteralString = f" and {time} <= $1" if self.by.startswith(time) else ""
        return f"""with x as materialized (
             select {self.by} from {self.walk} x where ({self.by}) > ({behind}){ends} order by {self.by} limit {LOOKED_MAX}),
           old as materialized (
             select {qualified(self.key, "o")} from {self.source} where {self.time} <= $1 and {self.also} limit $2),
           gone as ({gone} returning 1)
           select (select count(*) from gone) as gone, count(*) over () as looked, {self.by} from x
           order by {", ".join(f"{name} desc" for name in self.by.split(", "))} limit 1"""


async def prune_next(  # any tenant: retention is the installation's
    db: Database, *, old: Retention, after: Position, now: datetime, limit: int | None = None
) -> tuple[int, Position]:
    """Remove the next rows; how many, or the limit where there may be more, and the position to go on from."""
    limit = old.batch if limit is None else limit
    if not old.walk:
        return await db.execute(old.statement, now - old.age, limit), after
    row = await db.fetch_row(old.statement, now - old.age, limit, *after)
    if row is None or row["gone"] == limit:  # there may be more of the same rows
        return (0 if row is None else limit), after
    if row["looked"] < LOOKED_MAX:
        return row["gone"], after
    return limit, tuple(row[name] for name in old.by.split(", "))


async def prune(db: Database, old: Retention, *, now: datetime, limit: int | None = None) -> int:
    # any tenant: retention is the installation's
    return (await prune_next(db, old=old, after=old.start, now=now, limit=limit))[0]
