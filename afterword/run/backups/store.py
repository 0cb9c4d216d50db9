"""The SQL of copies: the tables as the catalogue knows them, COPY in both directions, and the list of backups."""

from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from afterword.kit.db import Database

LOCK_KEY: Final = 4_612_305_177_262  # of the advisory lock of a backup; the migrations have the one before
REVISION_TABLE: Final = "alembic_version"
LOGINS: Final = "login_id in (select login_id from organization_user where organization_id = $1)"
LISTED_DAYS: Final = 400
OF_INSTALLATION: Final = frozenset(
    {
        "event_cluster",
        "event_cursor",
        "expiry_cursor",
        "job_timeout",
        "response_fill",
        "sending_guard",
        "sending_worker",
    }  # none has rows of an organization
)


class Table(msgspec.Struct, frozen=True):
    name: str
    columns: list[str]


async def list_tables(connection: Any) -> list[Table]:  # any tenant: the tables of the installation
    """All tables with the columns that are not generated; the revision of the schema is kept apart."""
    rows = await connection.fetch(
        """select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns
           from pg_class c join pg_attribute a on a.attrelid = c.oid
           where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname <> $1
             and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
           group by c.relname order by c.relname""",
        REVISION_TABLE,
    )
    return [Table(*row) for row in rows]


async def list_sequences(connection: Any) -> dict[str, int]:  # any tenant: the sequences of the installation
    """The last number of each sequence that has given one."""
    return dict(
        await connection.fetch(
            """select sequencename::text as name, last_value from pg_sequences
               where schemaname = current_schema() and last_value is not null order by 1"""
        )
    )


async def get_has_table(connection: Any, *, name: str) -> bool:  # any tenant: tables of the installation
    return await connection.fetchval("select to_regclass($1) is not null", name)


async def get_is_empty(connection: Any) -> bool:  # any tenant: a copy may only be written where nothing is
    """True for a database without tables, or with those of all or some migrations and no organization or login."""
    tables = {table.name for table in await list_tables(connection)}
    if not await get_has_table(connection, name=REVISION_TABLE):
        return not tables
    has_rows = [
        await connection.fetchval(f"select exists (select from {name})")
        for name in ("organization", "login")
        if name in tables
    ]
    return not any(has_rows)


async def get_paused_reason(connection: Any) -> str | None:  # any tenant: the pause is the installation's
    """Why all sending is paused, None where it is not, or where the database is none of ours."""
    if not await get_has_table(connection, name="sending_guard"):
        return None
    return await connection.fetchval("select paused_reason from sending_guard")


async def list_other_sessions(connection: Any) -> list[str]:  # any tenant: sessions of the server
    """The names of programs of ours that use the database beside this connection."""
    rows = await connection.fetch(
        """select distinct application_name from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
             and application_name like '%afterword%' order by 1"""
    )
    return [row["application_name"] for row in rows]


async def get_share(connection: Any, *, tables: Sequence[Table], is_exclusive: bool = False) -> None:  # any tenant: all
    """Let nobody change the tables' columns until the transaction ends, nor their rows if it is exclusive."""
    mode = "share" if is_exclusive else "access share"
    await connection.execute(f"lock table {', '.join(_quoted(table.name) for table in tables)} in {mode} mode")


async def list_rows(  # any tenant: a copy of all, or of the organization `only`
    connection: Any, *, table: Table, only: str | None, output: Callable[[bytes], Awaitable[None]]
) -> None:
    """Give the rows of a table as COPY text, each ending with the only newline in it."""
    query = f"select {', '.join(map(_quoted, table.columns))} from {_quoted(table.name)}"
    if only is None or table.name in OF_INSTALLATION:
        await connection.copy_from_query(query, output=output)
    else:
        condition = "organization_id = $1" if "organization_id" in table.columns else LOGINS
        await connection.copy_from_query(f"{query} where {condition}", only, output=output)


async def list_constraints(connection: Any) -> list[tuple[str, str]]:  # any tenant: the schema
    """Statements that drop foreign keys and plain indexes, each with the one that makes it again."""
    indexes = await connection.fetch(
        """select format('drop index %s', i.indexrelid::regclass) as away, pg_get_indexdef(i.indexrelid) as again
           from pg_index i join pg_class c on c.oid = i.indexrelid
           where c.relnamespace = current_schema()::regnamespace
             and not exists (select from pg_constraint where conindid = i.indexrelid)
           order by c.relname"""
    )
    keys = await connection.fetch(
        """select format('alter table %s drop constraint %I', conrelid::regclass, conname) as away,
             format('alter table %s add constraint %I %s', conrelid::regclass, conname,
               pg_get_constraintdef(oid)) as again
           from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace
           order by conrelid, conname"""
    )
    return [(row["away"], row["again"]) for row in (*indexes, *keys)]


async def update_memory(connection: Any, *, memory: str) -> None:  # any tenant: of this transaction
    await connection.fetchval("select set_config('maintenance_work_mem', $1, true)", memory)


async def delete_rows(connection: Any, *, tables: Sequence[Table]) -> None:  # any tenant: a database without any
    """Empty the tables; their triggers stay off until `update_triggers`."""
    for table in tables:
        await connection.execute(f"alter table {_quoted(table.name)} disable trigger user")
    await connection.execute(f"truncate {', '.join(_quoted(table.name) for table in tables)}")


async def update_triggers(connection: Any, *, tables: Sequence[Table]) -> None:  # any tenant: the schema
    for table in tables:
        await connection.execute(f"alter table {_quoted(table.name)} enable trigger user")


async def insert_rows(connection: Any, *, table: Table, source: AsyncIterable[bytes]) -> int:  # any tenant: a copy
    """Take COPY text; return the number of rows."""
    tag: str = await connection.copy_to_table(table.name, columns=table.columns, source=source)
    return int(tag.rpartition(" ")[2])


async def update_sequences(connection: Any, *, sequences: Mapping[str, int]) -> None:  # any tenant: a copy
    for name, value in sequences.items():
        await connection.fetchval("select setval($1::text::regclass, $2)", name, value)


async def update_statistics(connection: Any) -> None:  # any tenant: the planner knows nothing of a copy
    await connection.execute("analyze")


async def insert_backup(connection: Any, *, backup_id: str, kind: str) -> None:  # any tenant: of the installation
    await connection.execute("insert into backup (backup_id, kind) values ($1, $2)", backup_id, kind)


async def settle_backup(connection: Any, *, backup_id: str, size: int) -> None:
    """It is finished; those of more than a year ago are forgotten."""
    await connection.execute(
        "update backup set finished_time = now(), bytes = $2 where backup_id = $1", backup_id, size
    )
    await connection.execute("delete from backup where started_time < now() - make_interval(days => $1)", LISTED_DAYS)


async def get_last_time(db: Database) -> datetime | None:  # any tenant: of the installation
    return await db.fetch_value(
        "select max(started_time) from backup where finished_time is not null and kind <> 'organization'"
    )


async def get_age_seconds(db: Database) -> float | None:  # any tenant: of the installation
    """The age of the last finished backup of all, else of the first organization; None: there is neither."""
    return await db.fetch_value(
        """select extract(epoch from now() - coalesce(
             (select max(started_time) from backup where finished_time is not null and kind <> 'organization'),
             (select min(created_time) from organization)))::float8"""
    )


async def get_erased_time(db: Database) -> datetime | None:  # any tenant: the ledger is the installation's
    """The last change of the ledger of erasures; None: nobody was ever erased."""
    return await db.fetch_value("select max(greatest(requested_time, finished_time)) from erasure")


async def get_forgotten_time(db: Database) -> datetime | None:  # any tenant: the ledger is the installation's
    """The start of the last retention run, looked up by the index of each organization; None: there was none."""
    return await db.fetch_value(
        """select max(r.started_time) from organization o cross join lateral (
             select started_time from retention_run
             where organization_id = o.organization_id order by started_time desc limit 1) r"""
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
