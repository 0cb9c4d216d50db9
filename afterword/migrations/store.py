"""The SQL of a migration's surroundings: who holds what it waits for."""

from typing import Any


async def list_blockers(connection: Any, *, pid: int) -> list[str]:  # any tenant: sessions of the server
    """Describe the sessions that block session `pid`; without their statements, which may contain data."""
    rows = await connection.fetch(
        """select concat(
             'process ', a.pid, ' (', coalesce(nullif(a.application_name, ''), a.usename), ')', ', ' || a.state,
             ', in a transaction since ' || to_char(a.xact_start, 'HH24:MI:SS'))
           from pg_stat_activity a where a.pid = any(pg_blocking_pids($1)) order by a.xact_start limit 5""",
        pid,
    )
    return [row[0] for row in rows]
