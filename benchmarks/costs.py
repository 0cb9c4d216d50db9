"""Costs of a unit, on which `python -m benchmarks capacity` rests: processor time of each part, bytes, events.

`python -m benchmarks costs --record` measures all of them anew and writes costs.json. Processor time is the kernel's
count of a process and of PostgreSQL with all its servers, so a busy machine changes it little.
"""

import asyncio
import contextlib
import itertools
import json
import os
from dataclasses import asdict, dataclass, fields
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import httpx2

from afterword.cases import service as cases
from afterword.kit import db
from afterword.run.worker import jobs
from benchmarks import machine, queue
from benchmarks.engine import sent, settings
from benchmarks.requests import connects, headers_of, item_body, item_path
from benchmarks.stage import Stage, free_port, running, web

KEPT: Final = Path(__file__).with_name("costs.json")
ITEMS: Final = 3_000
WARM_ITEMS: Final = 400
CONNECTIONS: Final = 16
ANSWERING: Final = 8
PAGE: Final = 500
ANSWERED_SECONDS: Final = 10.0
ANSWERED_MAX: Final = 2_000  # in that time
IDLE_SECONDS: Final = 20.0
POLL_SECONDS: Final = 0.1
SECONDS_MAX: Final = 600.0
PROCESSES: Final = Path("/proc")
TICK_MS: Final = 1000 / os.sysconf("SC_CLK_TCK")
_SIZES: Final = """
select sum(pg_total_relation_size(oid)) filter (where relname = 'event') as events,
  sum(pg_total_relation_size(oid)) filter (where relname <> 'event') as others
from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
"""
_UNREAD: Final = """
select exists (select from event_cursor c where exists (
  select from event e where (e.xid, e.seq) > (c.xid, c.seq)))
"""


@dataclass(frozen=True, slots=True)
class Costs:
    """Milliseconds of processor time and bytes, each for one unit."""

    web_post_ms: float  # an item by a request of its own, in the web process
    database_post_ms: float
    worker_mail_ms: float  # a mail to a new person, with all that follows its events
    database_mail_ms: float
    web_event_ms: float  # an event that an outside reader takes from the log
    database_event_ms: float
    reader_event_ms: float  # an event that one of the workers' readers passes, of its process and PostgreSQL together
    web_answer_ms: float  # a questionnaire of two pages that a person opens and answers to its end
    database_answer_ms: float
    worker_idle_ms: float  # a second of one worker with nothing due
    database_idle_ms: float
    item_bytes: float  # on the disk, of a sent item and its person, without events
    event_bytes: float
    wal_bytes: float  # of the write-ahead log, of an item from its POST to its end
    events: float  # of an item that is sent and not answered


def read() -> Costs:
    """As they were measured last."""
    return Costs(**json.loads(KEPT.read_text(encoding="utf-8")))


def write(costs: Costs) -> None:
    document = {name: round(float(value), 3) for name, value in asdict(costs).items()}
    KEPT.write_text(f"{json.dumps(document, indent=1)}\n", encoding="utf-8")


def table(costs: Costs) -> str:
    """One a line."""
    return "\n".join(f"{each.name:20} {getattr(costs, each.name):12,.3f}" for each in fields(costs))


async def measure(stage: Stage) -> Costs:
    """All of them, with one process of each kind."""
    await queue.empty(stage)
    mail_port = free_port()
    async with (
        running("benchmarks.sink", str(mail_port), settings={}),  # first: others may be given its port as theirs
        web(stage, link_starts_per_minute="0", link_burst_per_minute="0") as (server, port),
    ):
        await connects(mail_port)
        meter = _Meter(stage, await _postmaster(stage), server.pid)
        url = f"http://127.0.0.1:{port}"
        smtp = settings(stage, smtp_url=f"smtp://127.0.0.1:{mail_port}?starttls=never")
        async with running("afterword", "worker", settings=smtp) as worker:
            await _posted(stage, url, WARM_ITEMS, first=0)
            await _worked_off(stage)
            idle = await meter.of(asyncio.sleep(IDLE_SECONDS), worker.pid)
            await queue.settle(stage)
            before = await _sizes(stage)
            await _pause(stage, is_paused=True)
            posted = await meter.of(_posted(stage, url, ITEMS, first=WARM_ITEMS))
            await _pause(stage, is_paused=False)
            mailed = await meter.of(_worked_off(stage), worker.pid)
            after = await _sizes(stage)
        passed = await meter.of(_passed(stage), os.getpid())
        read = await meter.of(_read(stage, url))
        crowd = await machine.crowd_of(stage, url, instances=ANSWERED_MAX, with_users=False)

        async def person(client: httpx2.AsyncClient) -> None:
            with contextlib.suppress(RuntimeError):  # refused by a busy machine, and not counted
                await crowd.person(client)

        turns = [person] * ANSWERING
        answered = await meter.of(crowd.at_work(*turns, seconds=ANSWERED_SECONDS))
    events = after["count"] - before["count"]
    answers, seen = crowd.done["answers"], read.result
    return Costs(
        web_post_ms=posted.process / ITEMS,
        database_post_ms=posted.database / ITEMS,
        worker_mail_ms=mailed.process / ITEMS,
        database_mail_ms=mailed.database / ITEMS,
        web_event_ms=read.process / seen,
        database_event_ms=read.database / seen,
        reader_event_ms=(passed.process + passed.database) / passed.result,
        web_answer_ms=answered.process / answers,
        database_answer_ms=answered.database / answers,
        worker_idle_ms=idle.process / IDLE_SECONDS,
        database_idle_ms=idle.database / IDLE_SECONDS,
        item_bytes=(after["others"] - before["others"]) / ITEMS,
        event_bytes=(after["events"] - before["events"]) / events,
        wal_bytes=(after["wal"] - before["wal"]) / ITEMS,
        events=events / ITEMS,
    )


@dataclass(frozen=True, slots=True)
class _Used:
    """Milliseconds of a process and of PostgreSQL, and what the work gave back."""

    process: float
    database: float
    result: Any


@dataclass(frozen=True, slots=True)
class _Meter:
    stage: Stage
    postmaster: int
    web: int

    async def of(self, work: Any, pid: int | None = None) -> _Used:
        """Costs of this work in the process, the web one where none is named, and in PostgreSQL."""
        pid = self.web if pid is None else pid
        process, database = _of_tree(pid), _of_tree(self.postmaster)
        result = await work
        return _Used(_of_tree(pid) - process, _of_tree(self.postmaster) - database, result)


def _of_tree(pid: int) -> float:
    """Milliseconds of a process, of what it has waited for, and of those below it."""
    words = (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()
    own = sum(map(int, words[11:15])) * TICK_MS  # user and system, its own and of children that have ended
    below = (PROCESSES / str(pid) / "task" / str(pid) / "children").read_text().split()
    return own + sum(_of_tree(int(each)) for each in below if (PROCESSES / each).exists())


async def _postmaster(stage: Stage) -> int:
    async with stage.pool.raw.acquire() as raw:
        server = await raw.fetchval("select pg_backend_pid()")
    return int((PROCESSES / str(server) / "stat").read_text().rpartition(")")[2].split()[1])


async def _sizes(stage: Stage) -> dict[str, int]:
    async with stage.pool.raw.acquire() as raw:
        sizes = dict(await raw.fetchrow(_SIZES))
        sizes["wal"] = int(await raw.fetchval("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"))
        sizes["count"] = await raw.fetchval("select count(*) from event")
    return sizes


async def _pause(stage: Stage, *, is_paused: bool) -> None:
    """All pipelines, so that no mail leaves while items are made."""
    async with stage.pool.raw.acquire() as raw:
        await raw.execute("update pipeline set paused = $1", is_paused)


async def _posted(stage: Stage, url: str, count: int, *, first: int) -> None:
    """So many items for new people, one a request."""
    numbers = itertools.count(first)

    async def client() -> None:
        async with httpx2.AsyncClient(base_url=url, headers=headers_of(stage), timeout=60) as http:
            while (number := next(numbers)) < first + count:
                body = item_body(number)
                while (await http.post(item_path(stage), json=body)).status_code != HTTPStatus.CREATED:  # noqa: ASYNC110
                    await asyncio.sleep(POLL_SECONDS)  # a busy machine refuses some

    await asyncio.gather(*(client() for _ in range(CONNECTIONS)))


async def _worked_off(stage: Stage) -> None:
    """Wait until all is sent and all readers of the log have seen it."""
    async with asyncio.timeout(SECONDS_MAX), stage.pool.raw.acquire() as raw:
        while await raw.fetchval("select exists (select from queue_item where status < 4)"):  # noqa: ASYNC110  another process does it
            await asyncio.sleep(POLL_SECONDS)
        assert await sent(stage)
        while await raw.fetchval(_UNREAD):  # noqa: ASYNC110  likewise
            await asyncio.sleep(POLL_SECONDS)


async def _passed(stage: Stage) -> int:
    """The whole log once more, by the reader that raises alerts, one turn after the other; the number of events."""
    async with stage.pool.raw.acquire() as raw:
        await raw.execute("update event_cursor set xid = '0', seq = 0 where reader = 'alerts'")
    seen = 0
    while True:
        async with db.transaction(stage.pool) as database:
            count = await cases.raise_next(database, now=database.clock.now(), limit=jobs.READ_EVENTS_MAX)
        if not count:
            return seen
        seen += count


async def _read(stage: Stage, url: str) -> int:
    """The whole log of the organization, from outside; the number of events."""
    seen, after = 0, ""
    async with httpx2.AsyncClient(base_url=url, headers=headers_of(stage), timeout=60) as http:
        while True:
            answer = await http.get("/v3.2/event", params={"limit": PAGE} | ({"after": after} if after else {}))
            page = answer.raise_for_status().json()
            seen += len(page["results"])
            if not page["next_cursor"]:
                return seen
            after = page["next_cursor"]
