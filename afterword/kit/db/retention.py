"""Retention: rows that ended, or became too old, leave their table some at a time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString

from afterword.kit.db import Database
from afterword.kit.db.columns import qualified


@dataclass(frozen=True, slots=True)
class Retention:
    """The rows `o` of a table whose `time` lies `age` or longer ago, at most `batch` at once, the oldest first.

    `also`: a condition that they meet too; `source`: what they are selected from in any order, if it is more than the
    table; `clear`: the column that is emptied, where the row stays.
    """

    table: LiteralString
    key: LiteralString
    time: LiteralString
    age: timedelta = timedelta()
    also: LiteralString = "true"
    source: LiteralString = ""
    batch: int = 1_000
    clear: LiteralString = ""

    @property
    def statement(self) -> LiteralString:
        """`$1`: the moment before which rows are too old, `$2`: how many go at most."""
        act: LiteralString = (
            f"update {self.table} t set {self.clear} = null from" if self.clear else f"delete from {self.table} t using"
        )
        ordered: LiteralString = "" if self.source else f" order by {self.time}"
        locked: LiteralString = "" if self.source else " for update skip locked"
        source: LiteralString = self.source or f"{self.table} o"
        return f"""with old as materialized (
             select {qualified(self.key, "o")} from {source}
             where {self.time} <= $1 and {self.also}{ordered} limit $2{locked})
           {act} old where ({qualified(self.key, "t")}) = ({qualified(self.key, "old")})"""


async def prune(db: Database, old: Retention, *, now: datetime, limit: int | None = None) -> int:
    # any tenant: retention is the installation's
    return await db.execute(old.statement, now - old.age, old.batch if limit is None else limit)
