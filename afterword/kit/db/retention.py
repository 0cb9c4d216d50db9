"""Retention: rows that ended, or became too old, leave their table some at a time."""

from datetime import datetime, timedelta
from typing import LiteralString

import msgspec

from afterword.kit.db import Database
from afterword.kit.db.columns import qualified
from afterword.kit.db.walks import EPOCH, LOOKED_MAX, Position, behind, get_next


class Retention(msgspec.Struct, frozen=True):
    """The rows `o` of a table whose `time` lies `age` or longer ago, at most `batch` at once, the oldest first.

    `also`: a condition that they meet too; `change`: what is set where the row stays. Where old rows may
    stay, a walk passes the table `walk` in the order of `by`, with which an index begins; `source` selects from its
    rows `x`.
    """

    table: LiteralString
    key: LiteralString
    time: LiteralString
    age: timedelta = timedelta()
    also: LiteralString = "true"
    source: LiteralString = ""
    batch: int = 1_000
    change: LiteralString = ""
    walk: LiteralString = ""
    by: LiteralString = ""

    @property
    def is_timed(self) -> bool:
        """Whether the walk goes by the time, and ends where rows are too young."""
        return self.by.split(", ")[0] == self.time.rpartition(".")[2]

    @property
    def start(self) -> Position:
        return tuple(EPOCH if name.endswith("_time") else "" for name in self.by.split(", ")) if self.walk else ()

    @property
    def statement(self) -> LiteralString:
        """`$1`: the moment before which rows are too old, `$2`: how many go at most, `$3`, …: of a walk."""
        act: LiteralString = (
            f"update {self.table} t set {self.change} from" if self.change else f"delete from {self.table} t using"
        )
        chosen: LiteralString
        if self.walk:
            ends: LiteralString = f" and {self.by.split(', ')[0]} <= $1" if self.is_timed else ""
            chosen = f"""with x as materialized (
             select {self.by} from {self.walk} where {behind(self.by, first=4)}{ends} order by {self.by} limit $3),
           old as materialized (
             select {qualified(self.key, "o")} from {self.source} where {self.time} <= $1 and {self.also} limit $2)"""
        else:
            chosen = f"""with old as materialized (
             select {qualified(self.key, "o")} from {self.table} o
             where {self.time} <= $1 and {self.also} order by {self.time} limit $2 for update skip locked)"""
        return f"""{chosen}
           {act} old where ({qualified(self.key, "t")}) = ({qualified(self.key, "old")})"""


async def prune_next(  # any tenant: retention is the installation's
    db: Database, *, old: Retention, after: Position, now: datetime, limit: int | None = None
) -> tuple[int, Position]:
    """Remove the next rows; how many, or the limit where there may be more, and the position to go on from."""
    limit = old.batch if limit is None else limit
    if not old.walk:
        return await db.execute(old.statement, now - old.age, limit), after
    count = await db.execute(old.statement, now - old.age, limit, LOOKED_MAX, *after)
    if count == limit:
        return count, after
    end = await get_next(db, old.walk, old.by, after=after)
    return (count, after) if end is None or (old.is_timed and end[0] > now - old.age) else (limit, end)
