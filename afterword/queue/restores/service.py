"""Looks whether this is the database that a worker knew, and pauses all sending when it is an older one.

A database that was put back to an earlier moment has items waiting which went out since. So workers remember the newest
event that they saw committed; where the log now ends before it, or where nothing is remembered and much is late though
nobody worked, a person must say that sending may go on. The pause is a row of the database: it stops every machine.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from afterword.db import IDLE_TRANSACTION_TIMEOUT_SECONDS, Database
from afterword.queue.restores import store
from afterword.queue.restores.store import LogPosition

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
    """The result of a check. `mark` is kept; `reason` is set while sending is paused; `is_new`: just paused."""

    mark: SendingMark | None
    reason: str | None
    is_new: bool = False


async def check_log(db: Database, *, mark: SendingMark | None, is_first: bool) -> View:
    """Look once, and pause sending where this is an older database than the one of `mark`.

    `is_first`: this process has not looked before, so without a mark it must judge by what is late.
    """
    standing = await store.get_log_position(db)
    if standing.paused_time is not None:
        return View(mark, standing.paused_reason)
    known = mark if mark is not None and mark.installation_id == standing.installation_id else None
    reason = _went_back(standing, known) if known is not None else None
    if known is None and is_first and _is_unwatched(standing):
        late = await store.count_late_items(db, minutes=LATE_MINUTES, limit=LATE_ITEMS_MAX + 1)
        if late > LATE_ITEMS_MAX:
            reason = (
                f"More than {LATE_ITEMS_MAX} items are more than {LATE_MINUTES} minutes late, no worker has worked "
                f"since {standing.watched_time:%Y-%m-%d %H:%M} UTC, and this one remembers nothing: it may be a "
                "restored backup."
            )
    if reason is not None:
        return View(mark, reason, is_new=await store.update_to_paused(db, reason=reason))
    await store.update_watched(db, seconds=WATCH_WRITTEN_SECONDS)
    seq = standing.newest_seq
    if known is not None and known.confirmed_time == standing.confirmed_time:
        seq = max(seq, known.seq)
    return View(SendingMark(standing.installation_id, standing.confirmed_time, seq), None)


async def went_back(db: Database, *, mark: SendingMark | None) -> str | None:
    """Why this is an older database than the one of `mark`, or why sending is paused already; None: neither."""
    standing = await store.get_log_position(db)
    if standing.paused_time is not None:
        return f"All sending is paused since {standing.paused_time:%Y-%m-%d %H:%M} UTC. {standing.paused_reason}"
    known = mark if mark is not None and mark.installation_id == standing.installation_id else None
    return _went_back(standing, known) if known is not None else None


async def confirm(db: Database) -> bool:
    """A person has looked: send again; whether it was paused. What is too late by now is skipped, the rest goes."""
    return await store.update_to_confirmed(db)


async def end_stalled(db: Database) -> int:
    """End our sessions whose client stands still between two messages of a statement; how many."""
    return await store.prune_stalled_sessions(db, seconds=IDLE_TRANSACTION_TIMEOUT_SECONDS)


def _went_back(standing: LogPosition, known: SendingMark) -> str | None:
    if standing.confirmed_time < known.confirmed_time:
        return (
            f"The database is older than {known.confirmed_time:%Y-%m-%d %H:%M} UTC, when sending was last confirmed: "
            "it was put back to an earlier moment."
        )
    if standing.confirmed_time == known.confirmed_time and standing.last_seq < known.seq:
        return (
            f"The event log ends at {standing.last_seq}, and a worker has seen {known.seq}: "
            "the database was put back to an earlier moment."
        )
    return None


def _is_unwatched(standing: LogPosition) -> bool:
    return standing.database_now - standing.watched_time > timedelta(minutes=LATE_MINUTES)
