"""T08: wake-ups are lost in every way there is; the poll finds everything all the same, and no idle worker turns."""

import asyncio
import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from afterword import db, wakeups
from tests import machine
from tests.journeys import processes
from tests.journeys.processes import Child, until
from tests.worker.faults.rig import Crew, Rig, needs, size

pytestmark = [pytest.mark.nightly, pytest.mark.faults]

POLL_SECONDS = 0.25
LATE_SECONDS_MAX = POLL_SECONDS + 0.25  # p99 on a machine that does nothing else
SLACK = 4  # times that, on one that does
TERMINATIONS = 20
SECONDS = size(4, 60)
ITEMS_SECONDS = 0.1  # between two items
IDLE_SECONDS = size(4, 30)
IDLE_SHARE_MAX = 0.02
DEAF = "wake-ups are not heard"
EAR = b"afterword ear"
# What a pooler cannot pass on, as it keeps no state of its clients; `alter role … set …` does it instead.
IGNORED = (
    "statement_timeout,lock_timeout,idle_in_transaction_session_timeout,tcp_user_timeout,tcp_keepalives_idle,jit,"
    "random_page_cost,enable_seqscan,enable_hashjoin,enable_mergejoin,extra_float_digits"
)


class HalfOpen:
    """Stands before the server; once deaf, it swallows whatever listeners say and hear, and tells nobody."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self.is_deaf = False
        self.swallowed = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        there, back = await asyncio.open_unix_connection(self._socket)
        first = await reader.read(65_536)
        back.write(first)
        is_ear = EAR in first
        passing = [
            asyncio.create_task(self._pass(source, target, is_ear=is_ear))
            for source, target in ((reader, back), (there, writer))
        ]
        await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        for task in passing:
            task.cancel()
        back.close()
        writer.close()

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, is_ear: bool) -> None:
        while content := await source.read(65_536):
            if self.is_deaf and is_ear:
                self.swallowed += 1
                continue
            target.write(content)
            await target.drain()


def login_of(url: str) -> tuple[str, str, str, str]:
    """Socket folder, role, password and database of an address of the rig."""
    parts = urlsplit(url)
    assert parts.username is not None
    assert parts.password is not None
    return parse_qs(parts.query)["host"][0], parts.username, parts.password, parts.path.removeprefix("/")


@contextlib.asynccontextmanager
async def half_open(rig: Rig) -> AsyncGenerator[tuple[HalfOpen, str]]:
    folder, user, password, database = login_of(rig.database_url)
    between = HalfOpen(f"{folder}/.s.PGSQL.5432")
    async with await asyncio.start_server(between.serve, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        yield between, f"postgresql://{user}:{password}@127.0.0.1:{port}/{database}?sslmode=disable"


@pytest.fixture
def pooler(rig: Rig) -> Iterator[str]:
    """The address of the test's database behind pgbouncer, which gives out servers by the transaction."""
    program = needs("pgbouncer")
    folder, user, password, database = login_of(rig.database_url)
    home = Path(tempfile.mkdtemp(prefix="afterword-pooler-"))
    port, owner = processes.free_port(), rig.server.user
    settings = home / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n{database} = host={folder} user={user} password={password}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"pool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 200\n"
        f"ignore_startup_parameters = {IGNORED}\nlogfile = {home}/log\n"
    )
    for path in (home, settings):
        owner.own(path)
    away = ["setpriv", f"--reuid={owner.uid}", f"--regid={owner.gid}", "--clear-groups"] if owner.changes else []
    process = subprocess.Popen([*away, program, "-q", str(settings)], cwd="/")
    try:
        yield f"postgresql://{user}:{password}@127.0.0.1:{port}/{database}?sslmode=disable"
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(home)


@contextlib.asynccontextmanager
async def speaking(rig: Rig) -> AsyncGenerator[None]:
    """The rig's own writes are told, as those of web processes are."""
    speaker = wakeups.speak(rig.pool, url=rig.database_url, horizon_seconds=POLL_SECONDS)
    try:
        yield
    finally:
        rig.pool.told.clear()
        await speaker.close()


async def trickle(rig: Rig) -> None:
    """One item after the other, each due at once."""
    lanes, began = await rig.lanes(), time.monotonic()
    while time.monotonic() - began < SECONDS:
        await rig.schedule(1, lanes=lanes)
        await asyncio.sleep(ITEMS_SECONDS)


async def judge(rig: Rig, name: str) -> None:
    """Nothing was missed, and nothing was late."""
    await rig.until(rig.nothing_open, seconds=30, what=f"nothing is missed: {name}")
    rows = await rig.connection.fetch(
        """select extract(epoch from min(a.begin_time) - i.due_time)::float8 as seconds
           from queue_item i join attempt a using (organization_id, item_id) group by organization_id, item_id,
             i.due_time"""
    )
    late = sorted(row["seconds"] for row in rows)
    p50, p99 = late[len(late) // 2], late[int(len(late) * 0.99)]
    assert len(late) == len(rig.acknowledged)
    rig.tell(f"T08 {name}: missed 0 of {len(late)}, late p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms")
    assert not machine.is_over(p99, limit=SLACK * LATE_SECONDS_MAX)


@contextlib.asynccontextmanager
async def listening(rig: Rig, **pace: Any) -> AsyncGenerator[tuple[Crew, Child]]:
    """One worker that sends and, unless told otherwise, listens."""
    await rig.fill(organizations=2, lanes=2, items=0)
    given = {"notify": True, "poll_seconds": POLL_SECONDS, "slots": 20, **pace}
    async with rig.sink(), speaking(rig), rig.workers(1, **given) as workers:
        await workers.ready()
        yield workers, workers.children[0]


async def test_terminated(rig: Rig) -> None:
    """The listener's backend is ended again and again."""
    async with listening(rig) as (_, worker):
        ended = 0
        async with asyncio.timeout(60 + SECONDS), asyncio.TaskGroup() as group:
            trickling = group.create_task(trickle(rig))
            while ended < TERMINATIONS or not trickling.done():
                ended += await _terminate(rig)
                await asyncio.sleep(0.05)
        await judge(rig, f"listener terminated {ended} times")
        assert DEAF not in worker.log.read_text(), "it was ended, not deaf"


async def test_half_open(rig: Rig) -> None:
    """The listener's connection stands, and nothing passes through it."""
    async with half_open(rig) as (between, url), listening(rig, database_url=url) as (_, worker):
        await rig.until(lambda: _connected(rig), seconds=20, what="it listens")
        between.is_deaf = True
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            group.create_task(trickle(rig))
            await until(lambda: _warned(worker), seconds=60, what="it says that it is deaf")
            warned = time.monotonic() - began
        await judge(rig, f"half-open, told after {warned:.1f} s")
        assert between.swallowed
        assert 1 == worker.log.read_text().count(DEAF)


async def test_pooler(rig: Rig, pooler: str) -> None:
    """LISTEN stays behind on a connection that others get: it is said once, and the poll does the work."""
    async with listening(rig, database_url=pooler, statement_cache_size=0) as (_, worker):
        await trickle(rig)
        await until(lambda: _warned(worker), seconds=60, what="it says that it is deaf")
        await judge(rig, "behind a transaction pooler")
        assert 1 == worker.log.read_text().count(DEAF)


async def test_off(rig: Rig) -> None:
    """Nobody listens; and what a worker costs that has nothing to do, with and without."""
    async with listening(rig, notify=False):
        await trickle(rig)
        await judge(rig, "NOTIFY off")


@pytest.mark.parametrize("notify", [False, True])
async def test_idle(rig: Rig, *, notify: bool) -> None:
    """A worker that has nothing to do takes next to nothing, at the product's own pace."""
    pace = {"lease_seconds": 60.0, "heartbeat_seconds": 15.0, "margin_seconds": 5.0, "reap_seconds": 1.0}
    async with listening(rig, notify=notify, probe_seconds=30.0, **pace) as (_, worker):
        await asyncio.sleep(1)  # it has just started
        began, before = time.monotonic(), processes.cpu_seconds(worker.pid)
        await asyncio.sleep(IDLE_SECONDS)
        used, seconds = processes.cpu_seconds(worker.pid) - before, time.monotonic() - began
        rig.tell(f"T08 idle CPU {used / seconds:.1%}{' with NOTIFY' if notify else ''}")
        assert not machine.is_over(used, limit=SLACK * IDLE_SHARE_MAX * seconds)


async def _terminate(rig: Rig) -> int:
    """End what listens; how many that were."""
    async with db.connection(rig.pool) as database:
        return await database.fetch_value(
            """select count(pg_terminate_backend(pid)) from pg_stat_activity
               where application_name = $1 and datname = current_database()""",
            EAR.decode(),
        )


async def _connected(rig: Rig) -> bool:
    """Whether the listener has committed that it listens."""
    return await rig.connection.fetchval(
        """select exists(select from pg_stat_activity
           where application_name = $1 and state = 'idle' and query ilike 'commit%')""",
        EAR.decode(),
    )


async def _warned(worker: Child) -> bool:
    return DEAF in worker.log.read_text()
