"""The SQL of retention runs that are kept outside of the database, and begun anew in a restored one."""

from dataclasses import dataclass
from datetime import datetime

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """A run as a ledger keeps it: data of this kind from before `before_time` was removed."""

    organization_id: str
    run_id: str
    kind: str
    days: int
    before_time: datetime
    started_time: datetime


async def list_furthest_runs(db: Database) -> list[KeptRun]:  # any tenant: the ledger is the installation's
    rows = await db.fetch(
        """select distinct on (organization_id, kind) organization_id, run_id, kind, days, before_time, started_time
           from retention_run order by organization_id, kind, before_time desc"""
    )
    return [KeptRun(**row) for row in rows]


async def insert_run(db: Database, *, kept: KeptRun, now: datetime) -> bool:  # any tenant: that of the run
    """Begin a run anew, or let the one under way go as far; False where one has been, or no such organization is."""
    count = await db.execute(
        """insert into retention_run as r (organization_id, run_id, kind, days, before_time, due_time, started_time)
           select $1, $2, $3, $4, $5, $7, $6
           where exists (select from organization where organization_id = $1)
             and not exists (select from retention_run
               where organization_id = $1 and kind = $3 and before_time >= $5)
           on conflict (organization_id, kind) where state = 'running' do update
             set days = excluded.days, before_time = excluded.before_time, mark = '', due_time = excluded.due_time""",
        *(kept.organization_id, kept.run_id, kept.kind, kept.days, kept.before_time, kept.started_time, now),
    )
    return bool(count)


async def count_running(db: Database) -> int:  # any tenant: all runs of a restored database
    """The number of runs under way, without those that wait for the end of a legal hold."""
    return await db.fetch_value(
        """select count(*) from retention_run r where r.state = 'running'
             and not exists (select from legal_hold h
               where h.organization_id = r.organization_id and h.responder_id is null)"""
    )
