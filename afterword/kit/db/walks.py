"""Walks: jobs that look at some rows in a turn, in the order of an index, and go on behind them in the next.

What a job looks for may be rare, and no index may have it. A walk reads as many rows as it may pass, however many the
table has; the job keeps the position, and begins anew after the last row.
"""

from datetime import UTC, datetime
from typing import Any, Final, LiteralString

from afterword.kit.db import Database

LOOKED_MAX: Final = 1_000  # rows that one turn passes
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
Position = tuple[Any, ...]  # the values of the columns by which a walk goes
_PARAMETERS: Final[tuple[LiteralString, ...]] = ("$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9")


def behind(by: LiteralString, *, first: int) -> LiteralString:
    """The condition on rows behind a position, whose values are the parameters from this number on."""
    return f"({by}) > ({', '.join(_PARAMETERS[first - 1 : first + by.count(',')])})"


async def get_next(  # any tenant: walks serve all of them
    db: Database, table: LiteralString, by: LiteralString, *, after: Position, limit: int = LOOKED_MAX
) -> Position | None:
    """The position behind the next rows, as many as `limit`; None: fewer are left."""
    row = await db.fetch_row(
        f"""select {by} from {table} where {behind(by, first=2)} and {by.partition(",")[0]} is not null
            order by {by} offset $1 limit 1""",
        *(limit - 1, *after),
    )
    return None if row is None else tuple(row.values())
