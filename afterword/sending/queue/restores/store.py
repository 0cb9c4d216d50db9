"""The SQL of the guard: one row, the event log's sequence, the number of late items."""

from dataclasses import dataclass
from datetime import datetime

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class LogPosition:
    """The end of the event log. `last_seq` may be ahead of committed events, `newest_seq` never is."""

    installation_id: str
    confirmed_time: datetime
    watched_time: datetime
    paused_time: datetime | None
    paused_reason: str | None
    last_seq: int
    newest_seq: int
    database_now: datetime


async def get_log_position(db: Database) -> LogPosition:  # any tenant: the guard of a whole installation
    row = await db.fetch_row(
        """select g.installation_id, g.confirmed_time, g.watched_time, g.paused_time, g.paused_reason,
             (select last_value from event_seq_seq) as last_seq,
             coalesce((select seq from event order by xid desc, seq desc limit 1), 0) as newest_seq,
             now() as database_now
           from sending_guard g"""
    )
    if row is None:
        raise AssertionError("the guard has one row")
    return LogPosition(**row)


async def get_oldest_transaction_seconds(db: Database) -> float:  # any tenant: the database of a whole installation
    """Age of the oldest transaction that keeps dead rows from being removed, in seconds; 0: none.

    Those of other roles are seen only by a role that may: `grant pg_read_all_stats`.
    """
    return await db.fetch_value(
        """select coalesce(extract(epoch from clock_timestamp() - min(xact_start)), 0)::float8 from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
             and (backend_xid is not null or backend_xmin is not null)"""
    )


async def prune_stalled_sessions(db: Database, *, seconds: float) -> int:  # any tenant: locks are the installation's
    """End our sessions whose client has stood still in a transaction for so long; their number.

    A client that is stopped between Flush and Bind is neither idle in its transaction nor in a statement. No timeout of
    PostgreSQL 15 and 16 ends it, and it keeps its locks.
    """
    return await db.fetch_value(
        """select count(*) filter (where pg_terminate_backend(pid)) from pg_stat_activity
           where datname = current_database() and usename = current_user and application_name like 'afterword%'
             and state = 'active' and wait_event = 'ClientRead' and pid <> pg_backend_pid()
             and state_change < clock_timestamp() - make_interval(secs => $1::float8)""",
        seconds,
    )


async def count_late_items(  # any tenant: the guard of a whole installation
    db: Database, *, minutes: int, limit: int
) -> int:
    return await db.fetch_value(
        """select count(*) from (
             select from pipeline p
             join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
             cross join lateral (
               select from queue_item
               where organization_id = p.organization_id and pipeline_id = p.pipeline_id and status = 1
                 and due_time < now() - make_interval(mins => $1)
               order by due_time, item_id limit $2) late
             where not p.paused and a.paused_time is null and (a.open_until is null or a.open_until <= now())
             limit $2) found""",
        *(minutes, limit),
    )


async def update_watched(db: Database, *, seconds: float) -> None:  # any tenant: the guard of a whole installation
    """Record that a worker found no fault, at most once in so many seconds over all workers."""
    await db.execute(
        """update sending_guard set watched_time = now()
           where watched_time < now() - make_interval(secs => $1::float8) and paused_time is null""",
        seconds,
    )


async def update_to_paused(db: Database, *, reason: str) -> bool:  # any tenant: the guard of a whole installation
    """Pause all sending until a person confirms it; True if it was not paused before."""
    count = await db.execute(
        "update sending_guard set paused_time = now(), paused_reason = $1 where paused_time is null", reason
    )
    return count == 1


async def update_to_confirmed(db: Database) -> bool:  # any tenant: the guard of a whole installation
    """End the pause; True if there was one. Marks from before count no more."""
    count = await db.execute(
        """update sending_guard
           set paused_time = null, paused_reason = null, watched_time = now(),
             confirmed_time = greatest(now(), confirmed_time + interval '1 microsecond')
           where paused_time is not null"""
    )
    return count == 1
