"""Cost of idle parts, seconds until they are ready, and memory of the web process."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg

from afterword.asking.questionnaires import metadata
from afterword.kit import db
from afterword.listening.reports.daily_counts import service as daily_counts, store as counts
from benchmarks import queue, requests
from benchmarks.findings import Figure
from benchmarks.stage import CHECKOUT, SECRET, Stage, answers, free_port, running, temporary_folder

IDLE_PERCENT_MAX: Final = 2.0
WORKERS: Final = 4
OF_ONE_MAX: Final = 1.2
ORGANIZATIONS: Final = 10_000
LANES: Final = 3  # of each
WIDE_SETTLING_SECONDS: Final = 25.0  # notes of lanes are tidied, and what is due at once is done
WIDE_SECONDS: Final = 30.0
WIDENING_SECONDS_MAX: Final = 900.0
STARTED: Final = "select count(*) from pg_stat_activity where application_name = 'afterword heartbeat'"
PUBLISHED: Final = """
update questionnaire q set published_version_id = v.version_id from questionnaire_version v
where v.organization_id = q.organization_id and v.questionnaire_id = q.questionnaire_id
  and q.published_version_id is null"""
SCHEDULED: Final = """
insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id, responder_channel_identifier,
  address_key, send_time, send_offset_minutes, due_time, not_after, attempts_max)
select organization_id, pipeline_id, questionnaire_id, pipeline_id, 'ann@example.com', '\\x00', d, 0, d,
  d + interval '3 days', 9
from pipeline, (select now() + interval '1 day' as d) d"""
# Counts are kept a day at a time: those of all but one organization are as after a day's work, and due tomorrow.
COUNTED: Final = """
insert into rollup_span (organization_id, questionnaire_id, dimension, time_zone, kept_from, kept_until, due_time,
  generation, hours_until, hours_generation)
select organization_id, questionnaire_id, d, o.time_zone, case when d = $2 then current_date end, current_date,
  case when d = $3 then '9999-12-31' else now() + interval '1 day' end, 1, case when d = $3 then now() end,
  case when d = $3 then 1 end
from questionnaire q join organization o using (organization_id), unnest($1::text[]) d
on conflict do nothing"""
READY_SECONDS_MAX: Final = 2.0
MEMORY_MB_MAX: Final = 110.0
SETTLING_SECONDS: Final = 2.0
IDLE_SECONDS: Final = 10.0
STARTS: Final = 3
_PROCESSES: Final = Path("/proc")
TICKS_PER_SECOND: Final = 100  # USER_HZ, a constant of Linux


async def idle_worker(stage: Stage) -> list[Figure]:
    """The share of a core that a worker takes with nothing due."""
    await queue.empty(stage)
    settings = {"database_url": stage.url, "data_dir": str(stage.folder / "worker"), "secret": SECRET}
    async with running("afterword", "worker", settings={**settings, "log_level": "warning"}) as process:
        await asyncio.sleep(SETTLING_SECONDS)
        before = _cpu_seconds(process.pid)
        await asyncio.sleep(IDLE_SECONDS)
        if process.returncode is not None or before is None:
            return []
        used = (_cpu_seconds(process.pid) or 0.0) - before
    return [Figure("Idle worker, share of a core", 100 * used / IDLE_SECONDS, IDLE_PERCENT_MAX, "%")]


@dataclass(frozen=True, slots=True)
class Idle:
    """The cost of idle workers for the database: percent of a core, and transactions a second."""

    percent: float
    transactions: float


async def widen(stage: Stage) -> None:
    """Add organizations with pipelines, each with an item of tomorrow: copies of the one that there is."""
    copied = """insert into {table} select r.* from {table} t, generate_series(1, $2) n {rows}, lateral
      jsonb_populate_record(null::{table}, to_jsonb(t) || jsonb_build_object(
        'organization_id', lpad(n::text, 22, '0') {more})) r
      where t.organization_id = $1"""
    organization_id = stage.seeded.organization_id
    connection: Any = await asyncpg.connect(stage.url)
    try:
        await connection.execute("set enable_seqscan = off")  # plans of foreign keys, made while tables were small
        for table, more, rows in (
            ("organization", ", 'domain', 'shop-' || n", ""),
            ("application", "", ""),
            ("channel_account", "", ""),
            ("questionnaire", ", 'published_version_id', null", ""),
            ("questionnaire_version", "", ""),
            (
                "pipeline",
                ", 'pipeline_id', left(t.pipeline_id, 20) || k, 'slug', null",
                f", generate_series(1, {LANES}) k",
            ),
        ):
            one = f"(select min(pipeline_id) from pipeline where organization_id = '{organization_id}')"
            chosen = f" and t.pipeline_id = {one}" if rows else ""
            copying = copied.format(table=table, more=more, rows=rows) + chosen
            await connection.execute(f"alter table {table} disable trigger user")  # the audit log needs none of them
            await connection.execute(copying, organization_id, ORGANIZATIONS, timeout=WIDENING_SECONDS_MAX)
            await connection.execute(f"alter table {table} enable trigger user")
        await connection.execute(PUBLISHED, timeout=WIDENING_SECONDS_MAX)
        await connection.execute(SCHEDULED, timeout=WIDENING_SECONDS_MAX)
        key = {"organization_id": "1".rjust(22, "0"), "questionnaire_id": stage.seeded.questionnaire_id}
        async with db.connection(stage.pool) as database:
            kept = daily_counts.dimensions_of(await metadata.declared_of(database, **key))
        await connection.execute(COUNTED, kept, counts.CASES, counts.HOUR, timeout=WIDENING_SECONDS_MAX)
    finally:
        await connection.close()
    await queue.settle(stage)


async def idle_workers(stage: Stage, count: int, *, checkout: Path = CHECKOUT) -> Idle:
    async with AsyncExitStack() as workers:
        for number in range(count):
            settings = {"database_url": stage.url, "data_dir": str(stage.folder / f"worker-{number}"), "secret": SECRET}
            work = running("afterword", "worker", settings={**settings, "log_level": "warning"}, checkout=checkout)
            await workers.enter_async_context(work)
        async with db.connection(stage.pool) as database, asyncio.timeout(WIDENING_SECONDS_MAX):
            while count > await database.fetch_value(STARTED):  # noqa: ASYNC110
                await asyncio.sleep(SETTLING_SECONDS)
        await asyncio.sleep(WIDE_SETTLING_SECONDS)
        (cpu, transactions), seconds = await _spent(stage), asyncio.get_running_loop().time()
        await asyncio.sleep(WIDE_SECONDS)
        (cpu_after, after), until = await _spent(stage), asyncio.get_running_loop().time()
        seconds = until - seconds
    return Idle(100 * (cpu_after - cpu) / seconds, (after - transactions) / seconds)


async def idle_installation(stage: Stage) -> list[Figure]:
    """The share of a core that the database takes for one idle worker and for four, with many lanes."""
    await queue.empty(stage)
    await widen(stage)
    one, four = await idle_workers(stage, 1), await idle_workers(stage, WORKERS)
    print(f"  {one.transactions:.1f} and {four.transactions:.1f} transactions a second", flush=True)
    lanes = f"{ORGANIZATIONS * LANES:,} pipelines"
    return [
        Figure(f"PostgreSQL for one idle worker, {lanes}, share of a core", one.percent, IDLE_PERCENT_MAX, "%"),
        Figure(f"PostgreSQL for {WORKERS} idle workers of that of one", four.percent / one.percent, OF_ONE_MAX, "x"),
    ]


async def _spent(stage: Stage) -> tuple[float, int]:
    """Processor seconds of all processes of the server, ended ones too, and its transactions in this database."""
    async with db.connection(stage.pool) as database:
        row = await database.fetch_one(
            """select pg_backend_pid() as pid, xact_commit + xact_rollback as transactions
               from pg_stat_database where datname = current_database()"""
        )
    server = int(_stat(row["pid"])[1])
    pids = [int(folder.name) for folder in _PROCESSES.iterdir() if folder.name.isdigit()]
    stats = [_stat(pid) for pid in pids if pid != server]
    ticks = sum(map(int, _stat(server)[11:15]))
    ticks += sum(int(stat[11]) + int(stat[12]) for stat in stats if stat and int(stat[1]) == server)
    return ticks / TICKS_PER_SECOND, row["transactions"]


def _stat(pid: int) -> Sequence[str]:
    """The fields of a process behind its name; empty once it has ended."""
    try:
        return (_PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ()


async def warm_start() -> list[Figure]:
    """From the start of `afterword serve` to the first ready answer, on a folder that has been served before."""
    took: list[float] = []
    with temporary_folder() as folder:
        for _ in range(1 + STARTS):
            port = free_port()
            settings = {"data_dir": str(folder), "port": str(port), "log_level": "warning"}
            async with running("afterword", "serve", settings=settings) as process:
                took.append(await answers(f"http://127.0.0.1:{port}/readyz", process))
    warm = sorted(took[1:])
    return [Figure("`afterword serve` ready, warm data folder", warm[len(warm) // 2], READY_SECONDS_MAX, "s")]


async def memory_after_load(stage: Stage, pid: int, port: int, *, seconds: float) -> list[Figure]:
    """Memory of the web process after both loads."""
    await requests.load_both(stage, port, seconds=seconds)
    used = memory_mb(pid)
    return [] if used is None else [Figure("Web process after the load", used, MEMORY_MB_MAX, "MB")]


def _cpu_seconds(pid: int) -> float | None:
    """User and system time of a process; None where there is no /proc."""
    file = _PROCESSES / str(pid) / "stat"
    if not file.exists():
        return None
    fields = file.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def memory_mb(pid: int) -> float | None:
    """Memory of a process; None where there is no /proc."""
    file = _PROCESSES / str(pid) / "status"
    if not file.exists():
        return None
    line = next(line for line in file.read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1000
