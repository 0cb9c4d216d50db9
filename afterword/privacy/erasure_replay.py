"""Repeats, in a restored database that nobody uses yet, the retention runs that the backup does not know."""

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from afterword import errors
from afterword.kit import db
from afterword.kit.db import Database
from afterword.listening.reports.daily_counts import service as daily_counts
from afterword.privacy import retention


class KeptRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as a ledger keeps it: data of this kind from before `before_time` was removed."""

    organization_id: str
    run_id: str
    kind: str
    days: int
    before_time: datetime
    started_time: datetime


async def list_furthest_runs(db: Database) -> list[KeptRun]:  # any tenant: the ledger is the installation's
    return await db.records(KeptRun).fetch(
        """select distinct on (organization_id, kind) organization_id, run_id, kind, days, before_time, started_time
           from retention_run order by organization_id, kind, before_time desc"""
    )


async def _insert_run(db: Database, *, kept: KeptRun, now: datetime) -> bool:  # any tenant: that of the run
    """Begin a run anew, or let the one under way go as far; False where one has been, or no such organization is."""
    return await db.touches(
        """insert into retention_run as r (organization_id, run_id, kind, days, before_time, due_time, started_time)
           select $1, $2, $3, $4, $5, $7, $6
           where exists (select from organization where organization_id = $1)
             and not exists (select from retention_run
               where organization_id = $1 and kind = $3 and before_time >= $5)
           on conflict (organization_id, kind) where state = 'running' do update
             set days = excluded.days, before_time = excluded.before_time, mark = '', due_time = excluded.due_time""",
        *(kept.organization_id, kept.run_id, kept.kind, kept.days, kept.before_time, kept.started_time, now),
    )


async def _count_running(db: Database) -> int:  # any tenant: all runs of a restored database
    """The number of runs under way, without those that wait for the end of a legal hold."""
    return await db.fetch_value(
        """select count(*) from retention_run r where r.state = 'running'
             and not exists (select from legal_hold h
               where h.organization_id = r.organization_id and h.responder_id is null)"""
    )


WAIT_SECONDS: Final = 0.5
WORK_SECONDS_MAX: Final = 3_600.0


async def forget(pool: db.Pool, *, kept: Sequence[KeptRun]) -> int:
    """Remove again what these runs removed, and all that is due by the periods of now; return how many were repeated.

    Nothing is removed that a legal hold of the restored database keeps. Raises Unavailable after an hour of waiting.
    """
    begun = 0
    for run in kept:
        async with db.transaction(pool) as database:
            begun += await _insert_run(database, kept=run, now=database.clock.now())
    deadline, after = time.monotonic() + WORK_SECONDS_MAX, retention.START
    while True:
        async with db.transaction(pool) as database:
            count, after = await retention.work_next(database, after=after, now=database.clock.now())
            if count:
                continue
            if not await _count_running(database):
                return begun
        if time.monotonic() > deadline:
            raise errors.Unavailable("A retention run waits for something that does not come to its end.")
        # Responses go once the counts of their days are kept.
        await _keep_counts(pool)
        await asyncio.sleep(WAIT_SECONDS)


async def _keep_counts(pool: db.Pool) -> None:
    after = ""
    while True:
        async with db.transaction(pool) as database:
            found, after = await daily_counts.survey(database, after=after, now=database.clock.now())
        if found < daily_counts.SURVEY_MAX:
            break
    count, marks = 1, daily_counts.START
    while count:
        async with db.transaction(pool) as database:
            count = await daily_counts.follow(database, now=database.clock.now())
    count = 1
    while count:
        async with db.transaction(pool) as database:
            count, marks = await daily_counts.keep(database, after=marks, now=database.clock.now())
