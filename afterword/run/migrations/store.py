"""The revision of the schema, and the sessions that hold locks on it."""

from typing import Any


async def list_blockers(connection: Any, *, application_name: str) -> list[str]:  # any tenant: sessions of the server
    """Describe the sessions that block those of this name; without their statements, which may contain data."""
    rows = await connection.fetch(
        """select concat(
             'process ', a.pid, ' (', coalesce(nullif(a.application_name, ''), a.usename), ')', ', ' || a.state,
             ', in a transaction since ' || to_char(a.xact_start, 'HH24:MI:SS'))
           from pg_stat_activity a
           where a.pid in (select unnest(pg_blocking_pids(b.pid)) from pg_stat_activity b
             where b.datname = current_database() and b.application_name = $1 and b.wait_event_type = 'Lock')
           order by a.xact_start limit 5""",
        application_name,
    )
    return [row[0] for row in rows]


async def update_revision(connection: Any, *, revision: str) -> None:  # any tenant: the schema's own
    """Record the revision. The table has the name and shape that alembic gave it, for installations that it made."""
    await connection.execute(
        """create table if not exists alembic_version (
             version_num varchar(32) not null constraint alembic_version_pkc primary key)"""
    )
    await connection.execute(
        "with old as (delete from alembic_version) insert into alembic_version (version_num) values ($1)", revision
    )


async def list_comments(connection: Any, *, needs: str, reason: str) -> list[str]:  # any tenant: the schema
    """Statements that write the comment which older releases read too, and the reason beside it."""
    subjects = (("table alembic_version", needs), ("column alembic_version.version_num", reason))
    return [
        await connection.fetchval("select format('comment on ' || $1 || ' is %L', $2::text)", subject, text)
        for subject, text in subjects
    ]
