"""T08: a worker that polls finds all that is due in time, also behind a pooler, and costs next to nothing when idle."""

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

from tests import machine
from tests.journeys import processes
from tests.journeys.processes import Child
from tests.run.worker.faults.rig import Rig, needs, size

pytestmark = [pytest.mark.nightly, pytest.mark.faults]

POLL_SECONDS = 0.25
LATE_SECONDS_MAX = POLL_SECONDS + 0.25  # p99 on a machine that does nothing else
SLACK = 4  # times that, on one that does
SECONDS = size(4, 60)
ITEMS_SECONDS = 0.1  # between two items
IDLE_SECONDS = size(4, 30)
IDLE_SHARE_MAX = 0.02
# Settings that a pooler cannot pass on, as it keeps no state of its clients; `alter role … set …` sets them.
IGNORED = (
    "statement_timeout,lock_timeout,idle_in_transaction_session_timeout,tcp_user_timeout,tcp_keepalives_idle,jit,"
    "random_page_cost,enable_seqscan,enable_hashjoin,enable_mergejoin,extra_float_digits"
)


def login_of(url: str) -> tuple[str, str, str, str]:
    """Socket folder, role, password and database of an address of the rig."""
    parts = urlsplit(url)
    assert parts.username is not None
    assert parts.password is not None
    return parse_qs(parts.query)["host"][0], parts.username, parts.password, parts.path.removeprefix("/")


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
async def polling(rig: Rig, **pace: Any) -> AsyncGenerator[Child]:
    """One worker that sends."""
    await rig.fill(organizations=2, lanes=2, items=0)
    async with (
        rig.sink(),
        rig.workers(1, is_apart=True, **{"poll_seconds": POLL_SECONDS, "slots": 20, **pace}) as workers,
    ):
        await workers.ready()
        yield workers.children[0]


async def test_poll(rig: Rig) -> None:
    """Items come one after the other."""
    async with polling(rig):
        await trickle(rig)
        await judge(rig, "by polling")


async def test_pooler(rig: Rig, pooler: str) -> None:
    """Each statement outside of a transaction may meet another server."""
    async with polling(rig, database_url=pooler, statement_cache_size=0):
        await trickle(rig)
        await judge(rig, "behind a transaction pooler")


async def test_idle(rig: Rig) -> None:
    """A worker that has nothing to do takes next to nothing, at the product's own pace."""
    pace = {"lease_seconds": 60.0, "heartbeat_seconds": 15.0, "margin_seconds": 5.0, "reap_seconds": 1.0}
    async with polling(rig, **pace) as worker:
        await asyncio.sleep(1)  # it has just started
        began, before = time.monotonic(), processes.cpu_seconds(worker.pid)
        await asyncio.sleep(IDLE_SECONDS)
        used, seconds = processes.cpu_seconds(worker.pid) - before, time.monotonic() - began
        rig.tell(f"T08 idle CPU {used / seconds:.1%}")
        assert not machine.is_over(used, limit=SLACK * IDLE_SHARE_MAX * seconds)
