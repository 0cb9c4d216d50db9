"""Detects a database that was put back to an earlier moment, and pauses all sending until a person confirms it.

In such a database items wait that were sent since. So workers remember the newest event that they saw committed. If the
log now ends before it, or if nothing is remembered and many items are late while no worker ran, sending is paused. The
pause is a row of the database, so it stops every machine.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from afterword.kit.db import IDLE_TRANSACTION_TIMEOUT_SECONDS, Database
from afterword.sending.queue.restores import store
from afterword.sending.queue.restores.store import LogPosition

LATE_MINUTES: Final = 15
LATE_ITEMS_MAX: Final = 100
WATCH_WRITTEN_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class SendingMark:
    """The newest event that a worker has seen, kept in memory and in a file."""

    installation_id: str
    confirmed_time: datetime
    seq: int


@dataclass(frozen=True, slots=True)
class View:
    """The result of a check: the mark to keep, the reason while sending is paused, and whether the pause is new."""

    mark: SendingMark | None
    reason: str | None
    is_new: bool = False


async def check_log(db: Database, *, mark: SendingMark | None, is_first: bool) -> View:
    """Pause sending if this database is older than the one of `mark`. `is_first`: without one, late items decide."""
    position = await store.get_log_position(db)
    if position.paused_time is not None:
        return View(mark, position.paused_reason)
    known = mark if mark is not None and mark.installation_id == position.installation_id else None
    reason = _went_back(position, known)
    if known is None and is_first and _is_unwatched(position):
        late = await store.count_late_items(db, minutes=LATE_MINUTES, limit=LATE_ITEMS_MAX + 1)
        if late > LATE_ITEMS_MAX:
            reason = (
                f"More than {LATE_ITEMS_MAX} items are more than {LATE_MINUTES} minutes late, no worker has worked "
                f"since {position.watched_time:%Y-%m-%d %H:%M} UTC, and this one remembers nothing: it may be a "
                "restored backup."
            )
    if reason is not None:
        return View(mark, reason, is_new=await store.update_to_paused(db, reason=reason))
    await store.update_watched(db, seconds=WATCH_WRITTEN_SECONDS)
    seq = position.newest_seq
    if known is not None and known.confirmed_time == position.confirmed_time:
        seq = max(seq, known.seq)
    return View(SendingMark(position.installation_id, position.confirmed_time, seq), None)


async def went_back(db: Database, *, mark: SendingMark | None) -> str | None:
    """The reason to think that this database is older than the one of `mark`, or of a pause; None: neither."""
    position = await store.get_log_position(db)
    if position.paused_time is not None:
        return f"All sending is paused since {position.paused_time:%Y-%m-%d %H:%M} UTC. {position.paused_reason}"
    return _went_back(position, mark)


async def confirm(db: Database) -> bool:
    """Send again after a person's check; True if it was paused. Items that are too late by now are skipped."""
    return await store.update_to_confirmed(db)


async def pause(db: Database, *, reason: str) -> None:
    """Send nothing until a person has looked; a pause that is there stays."""
    await store.update_to_paused(db, reason=reason)


async def end_stalled(db: Database) -> int:
    """End our sessions whose client stands still between two messages of a statement; their number."""
    return await store.prune_stalled_sessions(db, seconds=IDLE_TRANSACTION_TIMEOUT_SECONDS)


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


def _is_unwatched(position: LogPosition) -> bool:
    return position.database_now - position.watched_time > timedelta(minutes=LATE_MINUTES)
