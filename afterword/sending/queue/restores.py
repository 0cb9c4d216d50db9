"""Detects a database that was put back to an earlier moment, and pauses all sending until a person confirms it.

In such a database items wait that were sent since. So workers remember the newest event that they saw committed. If the
log now ends before it, or if nothing is remembered and many items are late while no worker ran, sending is paused. The
pause is a row of the database, so it stops every machine.

A standby that was promoted may lack the last moments. It is known by its timeline, on which every worker compares what
it did before anybody claims; see `sending.losses`.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from afterword.kit.db import IDLE_TRANSACTION_TIMEOUT_SECONDS, Database
from afterword.sending.queue.records import TIMELINE

SEEN_SECONDS: Final = 30.0
UNSEEN_SECONDS: Final = 120.0


class LogPosition(msgspec.Struct, frozen=True):
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
    return await db.records(LogPosition).fetch_one(
        """select g.installation_id, g.confirmed_time, g.watched_time, g.paused_time, g.paused_reason,
             (select last_value from event_seq_seq) as last_seq,
             coalesce((select seq from event order by xid desc, seq desc limit 1), 0) as newest_seq,
             now() as database_now
           from sending_guard g"""
    )


async def get_oldest_transaction(db: Database) -> tuple[float, str]:  # any tenant: the database of an installation
    """Age in seconds of the oldest transaction that keeps dead rows or readers of the log waiting, and whose it is.

    Of this database, or of another one if it holds no lock there that shows where it writes. (0, ""): none. The times
    of other roles are seen only by a role that may: `grant pg_read_all_stats`.
    """
    row = await db.fetch_row(
        """with open as (
             select pid, datname as database, usename as role, xact_start as since from pg_stat_activity
             where pid <> pg_backend_pid() and backend_type = 'client backend' and (
               (datname = current_database() and (backend_xid is not null or backend_xmin is not null))
               or (exists (select from event where xid >= readable_before(pg_current_snapshot())) and pid in (
                 select l.pid from pg_locks l where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock'
                   and l.transactionid = readable_before(pg_current_snapshot())::xid)))
             union all
             select null, database, owner, prepared from pg_prepared_xacts where database = current_database())
           select coalesce(extract(epoch from clock_timestamp() - since), 0)::float8 as seconds,
             coalesce('process ' || pid, 'a prepared transaction') || ' of “' || role || '” in the database “'
               || database || '”' as whose
           from open order by since limit 1"""
    )
    return (row["seconds"], row["whose"]) if row else (0.0, "")


async def prune_stalled_sessions(  # any tenant: locks are the installation's
    db: Database, *, seconds: float = IDLE_TRANSACTION_TIMEOUT_SECONDS
) -> int:
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


async def _update_watched(db: Database, *, seconds: float) -> bool:  # any tenant: the guard of a whole installation
    """Record that a worker found no fault, at most once in so many seconds over all workers.

    True where none has for `JUMP`: the clock may have jumped. A clock that goes back ends that.
    """
    return await db.fetch_value(
        """update sending_guard g set watched_time = now(), jumped_time = case
             when watched_time < now() - $2::interval then now() when jumped_time <= now() then jumped_time end
           where abs(extract(epoch from now() - watched_time)) > $1::float8 and paused_time is null
           returning coalesce(jumped_time = now(), false)""",
        *(seconds, JUMP),
    )


async def get_removals_time(db: Database) -> datetime | None:  # any tenant: the clock of a whole installation
    """When what is too old is removed again, after the clock may have jumped; None: now."""
    return await db.fetch_value(
        """select greatest(jumped_time, case when watched_time < now() - $1::interval then now() end) + $2::interval
           from sending_guard where paused_time is null and (
             jumped_time > now() - $2::interval or watched_time < now() - $1::interval)""",
        *(JUMP, JUMP_WAIT),
    )


async def update_to_paused(db: Database, *, reason: str) -> None:  # any tenant: the guard of a whole installation
    """Pause all sending until a person has looked; a pause that is there stays."""
    await db.execute(
        "update sending_guard set paused_time = now(), paused_reason = $1 where paused_time is null", reason
    )


async def update_to_confirmed(db: Database) -> bool:  # any tenant: the guard of a whole installation
    """Send again after a person's check; True if it was paused. Marks from before count no more.

    Items that are too late by now are skipped.
    """
    return await db.touches(
        """update sending_guard
           set paused_time = null, paused_reason = null, watched_time = now(),
             confirmed_time = greatest(now(), confirmed_time + interval '1 microsecond')
           where paused_time is not null"""
    )


async def get_timeline(db: Database) -> int:  # any tenant: the server
    return await db.fetch_value(f"select {TIMELINE}")


class LogEnd(msgspec.Struct, frozen=True):
    """The end of what a promoted server received: its newest event, and the time of its last commit, or near it."""

    installation_id: str
    confirmed_time: datetime
    seq: int
    time: datetime


async def get_log_end(db: Database) -> LogEnd:  # any tenant: the server
    return await db.records(LogEnd).fetch_one(
        """select g.installation_id, g.confirmed_time, coalesce(replayed, g.watched_time) as time,
             coalesce((select seq from event where created_time <= coalesce(replayed, 'infinity')
                       order by xid desc, seq desc limit 1), 0) as seq
           from sending_guard g, pg_last_xact_replay_timestamp() replayed"""
    )


async def update_worker(  # any tenant: workers serve all
    db: Database, *, run_id: UUID, timeline: int, is_settled: bool
) -> int:
    """Note that this worker has compared on this timeline; the number of those that have not.

    Those that were not seen for `UNSEEN_SECONDS` are forgotten once this is settled.
    """
    return await db.fetch_value(
        """with met as (
             insert into sending_worker as w (run_id, timeline) values ($1, $2)
             on conflict (run_id) do update set timeline = $2, seen_time = now()
               where w.timeline <> $2 or w.seen_time < now() - make_interval(secs => $3::float8)),
           unseen as (
             delete from sending_worker
             where $5 and run_id <> $1 and seen_time < now() - make_interval(secs => $4::float8))
           select count(*) from sending_worker where timeline <> $2 and run_id <> $1""",
        *(run_id, timeline, SEEN_SECONDS, UNSEEN_SECONDS, is_settled),
    )


async def delete_worker(db: Database, *, run_id: UUID) -> None:  # any tenant: as above
    await db.execute("delete from sending_worker where run_id = $1", run_id)


async def update_loss(  # any tenant: the guard of a whole installation
    db: Database, *, text: str, counts: Sequence[int]
) -> None:
    await db.execute("update sending_guard set loss_time = now(), loss_text = $1, loss_counts = $2", text, counts)


async def get_locked_loss(db: Database) -> Sequence[int]:  # any tenant: as above
    """Events, attempts, items of other workers on the same change of servers, locked."""
    await db.execute("select from sending_guard for update")
    return await db.fetch_value(
        """select coalesce((select loss_counts from sending_guard
             where loss_time > now() - make_interval(secs => $1::float8)), '{0, 0, 0}')""",
        UNSEEN_SECONDS,
    )


async def get_loss(db: Database, *, seconds: float = UNSEEN_SECONDS) -> str | None:  # any tenant: as above
    """The text that workers wrote in the last seconds of a change of servers."""
    return await db.fetch_value(
        "select loss_text from sending_guard where loss_time > now() - make_interval(secs => $1::float8)", seconds
    )


JUMP: Final = timedelta(days=7)  # without any worker, as the database's clock has it
JUMP_WAIT: Final = timedelta(
    days=1
)  # in which somebody sets a wrong clock right, before anything is removed by its age
LATE_MINUTES: Final = 15
LATE_ITEMS_MAX: Final = 100
WATCH_WRITTEN_SECONDS: Final = 10.0


class SendingMark(msgspec.Struct, frozen=True):
    """The newest event that a worker has seen, kept in memory and in a file."""

    installation_id: str
    confirmed_time: datetime
    seq: int
    timeline: int = 0  # 0: not known


class View(msgspec.Struct, frozen=True):
    """The result of a check: the mark to keep, and the reason while sending is paused."""

    mark: SendingMark | None
    reason: str | None
    has_jumped: bool = False  # the clock, since the last look of any worker


async def check_log(db: Database, *, mark: SendingMark | None, is_first: bool, timeline: int = 0) -> View:
    """Pause sending if this database is older than the one of `mark`. `is_first`: without one, late items decide."""
    position = await get_log_position(db)
    if position.paused_time is not None:
        return View(mark, position.paused_reason)
    known = mark if mark is not None and mark.installation_id == position.installation_id else None
    reason = _went_back(position, known)
    is_unwatched = position.database_now - position.watched_time > timedelta(minutes=LATE_MINUTES)
    if known is None and is_first and is_unwatched:
        late = await count_late_items(db, minutes=LATE_MINUTES, limit=LATE_ITEMS_MAX + 1)
        if late > LATE_ITEMS_MAX:
            reason = (
                f"More than {LATE_ITEMS_MAX} items are more than {LATE_MINUTES} minutes late, no worker has worked "
                f"since {position.watched_time:%Y-%m-%d %H:%M} UTC, and this one remembers nothing: it may be a "
                "restored backup."
            )
    if reason is not None:
        await update_to_paused(db, reason=reason)
        return View(mark, reason)
    has_jumped = await _update_watched(db, seconds=WATCH_WRITTEN_SECONDS) or False
    seq = position.newest_seq
    if known is not None and known.confirmed_time == position.confirmed_time:
        seq = max(seq, known.seq)
    return View(SendingMark(position.installation_id, position.confirmed_time, seq, timeline), None, has_jumped)


async def went_back(db: Database, *, mark: SendingMark | None) -> str | None:
    """The reason to think that this database is older than the one of `mark`, or of a pause; None: neither."""
    position = await get_log_position(db)
    if position.paused_time is not None:
        return f"All sending is paused since {position.paused_time:%Y-%m-%d %H:%M} UTC. {position.paused_reason}"
    return _went_back(position, mark)


def _went_back(position: LogPosition, known: SendingMark | None) -> str | None:
    if known is None or known.installation_id != position.installation_id:
        return None
    if position.confirmed_time < known.confirmed_time:
        return (
            f"The database is older than {known.confirmed_time:%Y-%m-%d %H:%M} UTC, when sending was last confirmed: "
            "it was put back to an earlier moment."
        )
    if position.confirmed_time == known.confirmed_time and position.last_seq < known.seq:
        return (
            f"The event log ends at {position.last_seq}, and a worker has seen {known.seq}: "
            "the database was put back to an earlier moment."
        )
    return None
