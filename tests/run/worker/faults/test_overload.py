"""T45: more than there is: requests, connections, disk. What is refused is refused at once, and nothing is lost."""

import asyncio
import contextlib
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from afterword.kit import db
from afterword.run import embedded, migrations
from tests import machine
from tests.journeys import processes
from tests.run.worker.faults.flood import Figures, flood
from tests.run.worker.faults.rig import SLOTS, Rig, Web, lack, needs, size
from tests.run.worker.faults.test_database import POST_SECONDS, Client, Poster

pytestmark = [pytest.mark.nightly, pytest.mark.faults]

LINES = 32
OBSERVED = 100  # requests a second of whoever only looks
TIMES = 4  # what can be borne
SECONDS = size(4, 60)
REFUSED_SECONDS_MAX = 0.1  # p99
ACCEPTED_TIMES_MAX = 2  # the p99 beside what it is without the rest
SLACK = 3  # times all that, on a machine that has other things to do and as few as two cores
MEMORY_TIMES_MAX = 1.3
BODY = '{"responder_channel_identifier": "flood@example.com"}'
DISK_MEGABYTES = 200


async def path_of(rig: Rig) -> tuple[str, str]:
    """Where an item is queued, and with which token."""
    [(house, pipeline_id), *_] = await rig.lanes()
    return f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{pipeline_id}/queue/item", house.token


async def test_more_requests_than_can_be_borne(rig: Rig) -> None:
    """Four times the rate of clients that wait for their answers; how long it takes, another process looks.

    The flood has its hands full: an answer lies in its sockets until it comes round to it. The observer sends little,
    so what it measures is the server.
    """
    await rig.fill(organizations=1, lanes=1, items=0)
    path, token = await path_of(rig)
    async with rig.web() as [web]:
        usual, normal = await _observed(web, path, token, lines=LINES, seconds=3.0)
        rate, memory = usual.count(201) / usual.lasted, processes.rss_bytes(web.child.pid)
        lines = max(LINES * 8, int(TIMES * rate * 1.5 * REFUSED_SECONDS_MAX))  # enough where answers are that quick
        flooded, much = await _observed(web, path, token, rate=TIMES * rate, lines=lines, seconds=SECONDS)
        grown = processes.rss_bytes(web.child.pid) / memory
        again = await flood(web.url, path=path, token=token, body=BODY, lines=LINES, seconds=1.0)
        assert [] == web.child.errors()
    rig.tell(
        f"T45 {rate:.0f} a second are borne, p99 {normal.p99(201) * 1000:.0f} ms; of {TIMES * rate:.0f} a second "
        f"{flooded.count(201) / SECONDS:.0f} accepted, {_spread(much, 201)}, "
        f"{flooded.count(429, 503) / SECONDS:.0f} refused, {_spread(much, 429, 503)}; "
        f"{flooded.unsent} had no line; memory {grown:.2f} times; slowness {machine.slowness():.1f}"
    )
    await _nothing_lost(rig, usual, normal, flooded, much, again)
    assert flooded.count(429, 503)
    assert much.count(201)
    assert again.count(201)
    assert grown <= MEMORY_TIMES_MAX
    assert not machine.is_over(much.p99(429, 503), limit=SLACK * REFUSED_SECONDS_MAX)
    assert not machine.is_over(much.p99(201), limit=SLACK * max(ACCEPTED_TIMES_MAX * normal.p99(201), 0.05))


async def _observed(web: Web, path: str, token: str, *, seconds: float, **how: Any) -> tuple[Figures, Figures]:
    """A flood, and what a client that asks little saw of it."""
    looking: dict[str, Any] = {"rate": float(OBSERVED), "lines": OBSERVED}
    flooded, seen = await asyncio.gather(
        *(flood(web.url, path=path, token=token, body=BODY, seconds=seconds, **each) for each in (how, looking))
    )
    return flooded, seen


def _spread(found: Figures, *statuses: int) -> str:
    p50, p99 = (1000 * found.percentile(share, *statuses) for share in (0.5, 0.99))
    return f"p50 {p50:.0f} and p99 {p99:.0f} ms"


async def test_one_connection(rig: Rig) -> None:
    """A pool that is always exhausted."""
    await rig.fill(organizations=1, lanes=1, items=0)
    path, token = await path_of(rig)
    async with rig.web(database_pool=1) as [web]:
        found = await flood(web.url, path=path, token=token, body=BODY, lines=LINES * 8, seconds=SECONDS)
        assert [] == web.child.errors()
    rig.tell(f"T45 pool of 1, {LINES * 8} clients: {found.count(201)} accepted, {found.count(429, 503)} refused")
    await _nothing_lost(rig, found)
    assert found.count(201)


async def _nothing_lost(rig: Rig, *floods: Figures) -> None:
    """Every answer was a good one, and what was accepted is there."""
    for each in floods:
        assert each.seconds.keys() <= {201, 429, 503}
        assert (0, 0) == (each.without_retry, each.unanswered)
    accepted = sum(each.count(201) for each in floods)
    assert accepted == await rig.connection.fetchval("select count(*) from queue_item")


async def test_others_have_all_connections(rig: Rig) -> None:
    """The server takes no more: requests are refused, workers wait, and both come back by themselves."""
    await rig.fill(organizations=2, lanes=2, items=size(200, 5_000))
    async with rig.sink(pause=0.01), rig.web() as [web], rig.workers(count=2) as workers:
        await rig.gap(mails=20)
        async with _client(rig, web) as client:
            holders = await _take_all(rig)
            refusals = client.refusals

            async def refused() -> bool:
                return client.refusals >= refusals + 20

            await rig.until(refused, seconds=60, what="20 requests are refused")
            for holder in holders:
                holder.terminate()
            began = time.monotonic()
            await rig.until(lambda: _accepts(client, began), seconds=30, what="a request is accepted")
            back = time.monotonic() - began
        await rig.drained()
        assert 2 == len(workers.working)
    rig.tell(f"T45 {len(holders)} connections of others: {client.refusals} refused, accepted again after {back:.1f} s")
    await rig.reconcile(unknown_max=2 * SLOTS)
    assert [] == client.wrong


async def _take_all(rig: Rig) -> list[Any]:
    """Take one connection after the other away from the product, until it has none and there is none."""
    holders: list[Any] = []
    async with asyncio.timeout(60):
        while True:
            try:
                holders.append(await asyncpg.connect(rig.database_url))
            except asyncpg.PostgresError:
                ended = await rig.connection.fetchval(
                    """select count(pg_terminate_backend(pid)) from pg_stat_activity
                       where application_name in ('afterword web', 'afterword worker', 'afterword heartbeat')
                         and datname = current_database()"""
                )
                if not ended:
                    return holders


async def _accepts(client: Client, since: float) -> bool:
    return client.succeeded_at > since


@contextlib.asynccontextmanager
async def _client(rig: Rig, web: Web) -> AsyncGenerator[Client]:
    path, token = await path_of(rig)
    client = Poster(rig, web, "client", path, token, asyncio.Event(), POST_SECONDS)
    running = asyncio.create_task(client.run())
    try:
        yield client
    finally:
        client.done.set()
        await asyncio.wait_for(running, 30)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of 200 MB."""
    mount = needs("mount")
    folder = Path(tempfile.mkdtemp(prefix="afterword-disk-"))
    command = [mount, "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m,mode=711", "tmpfs", os.fspath(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        folder.rmdir()
        lack("the right to mount a file system: root")
    yield folder
    subprocess.run([needs("umount"), os.fspath(folder)], check=True)
    folder.rmdir()


async def test_disk_full(small_disk: Path, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """Requests get 503 and workers wait, until there is room again; nobody has to do anything else."""
    settings = {"max_wal_size": "48MB", "min_wal_size": "32MB", "shared_buffers": "32MB"}
    server = await embedded.start(small_disk, settings=settings)
    ballast = small_disk / "ballast"
    try:
        await migrations.migrate(server.url)
        async with await db.open_pool(server.url, size_max=2) as pool:
            rig = Rig(server, server.url, pool, await asyncpg.connect(server.url), tmp_path, random.Random(1))  # noqa: S311
            rig.record = record_property
            await rig.fill(organizations=2, lanes=2, items=200)
            async with rig.sink(pause=0.02), rig.web() as [web], rig.workers(count=2) as workers:
                await rig.gap(mails=20)
                async with _client(rig, web) as client:
                    ended = await _fill_disk(rig, ballast, client)
                    ballast.unlink()
                    began = time.monotonic()
                    if not server.is_running():  # whoever runs PostgreSQL starts it again, as systemd does
                        await rig.revive_database()
                    await rig.until(lambda: _accepts(client, began), seconds=60, what="a request is accepted")
                    back = time.monotonic() - began
                if rig.connection.is_closed():
                    rig.connection = await asyncpg.connect(server.url)
                await rig.drained()
                assert 2 == len(workers.working)
            rig.tell(
                f"T45 disk full: {client.refusals} refused, PostgreSQL {'ended' if ended else 'stood'}; accepted again "
                f"{back:.1f} s after there was room"
            )
            await rig.reconcile(unknown_max=4 * SLOTS)
            assert [] == client.wrong
            rig.connection.terminate()
    finally:
        await server.stop()


async def _fill_disk(rig: Rig, ballast: Path, client: Client) -> bool:
    """Leave no room, and again whenever the server has made some, until enough was refused; whether it ended."""
    goal = client.refusals + 20
    with ballast.open("ab", buffering=0) as file:
        async with asyncio.timeout(120):
            while client.refusals < goal:
                with contextlib.suppress(OSError):
                    while shutil.disk_usage(ballast.parent).free:
                        file.write(b"\0" * min(1_000_000, shutil.disk_usage(ballast.parent).free))
                await asyncio.sleep(0.05)
    return not rig.server.is_running()
