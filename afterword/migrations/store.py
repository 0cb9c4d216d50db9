"""The SQL of a migration's surroundings: who holds what it waits for."""

from typing import Any


async def list_blockers(connection: Any, *, pid: int) -> list[str]:  # any tenant: sessions of the server
    """Who stands in the way of the session `pid`, for people to read; without the statement, which may hold data."""
    rows = await connection.fetch(
        """select concat(
             'process ', a.pid, ' (', coalesce(nullif(a.application_name, ''), a.usename), ')', ', ' || a.state,
             ', in a transaction since ' || to_char(a.xact_start, 'HH24:MI:SS'))
           from pg_stat_activity a where a.pid = any(pg_blocking_pids($1)) order by a.xact_start limit 5""",
        pid,
    )
    return [row[0] for row in rows]
