"""`afterword serve` as a whole: how it starts, idles, stops under load, and survives the loss of its parent."""

import asyncio
import os
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest

from afterword.run import embedded
from afterword.run.embedded import working_in
from afterword.run.worker.flights import GRACE_SECONDS
from tests import machine
from tests.journeys import processes
from tests.journeys.client import Client, seed
from tests.journeys.processes import Child, until
from tests.run.worker.faults.reconciler import reconcile
from tests.sending.channels.sink import Fault, Sink

pytestmark = pytest.mark.faults

READY_SECONDS_MAX = 3.0
IDLE_SECONDS = 3.0
IDLE_SHARE_MAX = 0.04  # of a core; the goal is half of it
WEB_RSS_BYTES_MAX = 180_000_000
STOP_SECONDS_MAX = 40.0
CLIENTS = 4


@pytest.fixture(scope="module")
def home(scratch: Path) -> Iterator[Path]:
    """One data folder for the module, so that all but the first start are warm."""
    folder = Path(tempfile.mkdtemp(prefix="afterword-serve-", dir=scratch))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@dataclass(frozen=True)
class Service:
    child: Child
    settings: dict[str, Any]
    seconds: float  # until it was ready

    def part(self, name: str) -> int:
        """The process of a part: "web" or "worker"."""
        [pid] = [pid for pid in processes.descendants(self.child.pid) if processes.command_of(pid)[-1:] == [name]]
        return pid


@asynccontextmanager
async def serving(home: Path, folder: Path, sink: Sink) -> AsyncGenerator[Service]:
    """`afterword serve` on this data folder, ready."""
    port = processes.free_port()
    settings = {"data_dir": home, "port": port, "smtp_url": sink.url, "worker_slots": 10}
    async with processes.command("serve", folder=folder, **settings) as child:
        seconds = await processes.ready(f"http://localhost:{port}", child)
        yield Service(child, settings, seconds)


def cluster_of(home: Path) -> Path:
    return home / "postgresql" / "cluster"


async def gone(pids: list[int], home: Path) -> None:
    """Wait until none of these processes is left, nor any of PostgreSQL."""
    await until(
        lambda: not working_in(cluster_of(home)) and not any(processes.command_of(pid) for pid in pids),
        seconds=STOP_SECONDS_MAX,
        what="children and PostgreSQL are gone",
    )


@dataclass
class Poster:
    """Schedules items as fast as it may, each on a connection of its own, until there is nobody to connect to."""

    client: Client
    name: str
    accepted: list[str] = field(default_factory=list[str])
    failed: list[str] = field(default_factory=list[str])

    async def run(self) -> None:
        while True:
            address = f"{self.name}{len(self.accepted)}@example.com"
            try:
                answer = await self.client.request(
                    "POST", self.client.items_path, {"responder_channel_identifier": address}
                )
            except httpx2.ConnectError:
                return
            except httpx2.TransportError as error:
                self.failed.append(repr(error))
                return
            if answer.status_code != 201:
                self.failed.append(f"{answer.status_code}: {answer.text}")
                return
            self.accepted.append(answer.json()["item_id"])


async def test_starts_quickly_and_idles(home: Path, tmp_path: Path) -> None:
    """Cold and warm start, the memory of the web process, what an idle service costs."""
    async with Sink() as sink:
        async with serving(home, tmp_path, sink) as service:
            cold = service.seconds
            assert 0 == await service.child.stop(seconds=STOP_SECONDS_MAX), service.child.tail()
        async with serving(home, tmp_path, sink) as service:
            warm, worker, web = service.seconds, service.part("worker"), service.part("web")
            client = await seed(**service.settings)
            item = await client.schedule("ann@example.com")
            await client.sent(item["item_id"])
            worker_share, web_share = await idle_shares(worker, web)
            memory = {name: processes.rss_bytes(pid) for name, pid in (("web", web), ("worker", worker))}
            print(  # noqa: T201
                f"ready after {cold:.2f} s cold, {warm:.2f} s warm; "
                f"idle: worker {worker_share:.2%}, web {web_share:.2%}; "
                + ", ".join(f"{name} {size / 1e6:.0f} MB" for name, size in memory.items())
            )
            assert 0 == await service.child.stop(seconds=STOP_SECONDS_MAX), service.child.tail()
    assert WEB_RSS_BYTES_MAX > memory["web"]
    assert not machine.is_over(worker_share, limit=IDLE_SHARE_MAX)


async def idle_shares(*pids: int) -> list[float]:
    """The share of a core that each process takes while nothing happens."""
    began, before = time.monotonic(), [processes.cpu_seconds(pid) for pid in pids]
    await until(lambda: time.monotonic() - began >= IDLE_SECONDS, seconds=IDLE_SECONDS * 10, what="a quiet moment")
    seconds = time.monotonic() - began
    return [(processes.cpu_seconds(pid) - used) / seconds for pid, used in zip(pids, before, strict=True)]


async def test_clean_stop_under_load(home: Path, tmp_path: Path) -> None:
    """SIGTERM while items come and go: nobody is cut off in the middle, nothing is half sent, nothing stays behind."""
    accepted_file = tmp_path / "accepted"
    async with Sink(file=accepted_file, keep=False, pause=0.02) as sink, serving(home, tmp_path, sink) as service:
        client = await seed(**service.settings)
        posters = [Poster(client, f"client{number}-") for number in range(CLIENTS)]
        pids = processes.descendants(service.child.pid)
        async with asyncio.TaskGroup() as group:
            for poster in posters:
                group.create_task(poster.run())
            await until(
                lambda: sink.count >= 20 and sum(len(poster.accepted) for poster in posters) >= 100,
                seconds=30,
                what="mails go out while requests come in",
            )
            began = time.monotonic()
            assert 0 == await service.child.stop(seconds=STOP_SECONDS_MAX), service.child.tail()
        print(f"stopped in {time.monotonic() - began:.2f} s")  # noqa: T201
        await gone(pids, home)
        assert [] == service.child.errors()
    assert [] == [failure for poster in posters for failure in poster.failed]
    acknowledged = {item_id for poster in posters for item_id in poster.accepted}
    async with await embedded.start(home) as server:
        await check(server.url, accepted=accepted_file.read_text().split(), acknowledged=acknowledged)


async def check(url: str, *, accepted: list[str], acknowledged: set[str]) -> None:
    """The database agrees with the answers to clients, and with the mail server."""
    connection: Any = await asyncpg.connect(url)
    try:
        rows = await connection.fetch(
            "select item_id, status from queue_item where responder_channel_identifier like 'client%'"
        )
        status = {row["item_id"]: row["status"] for row in rows}
        assert acknowledged == status.keys()
        assert {1, 4} >= set(status.values())
        assert set(accepted) == {item_id for item_id in status if status[item_id] == 4}
        figures = await reconcile(connection, accepted=accepted, acknowledged=acknowledged, aborted=())
        assert (0, 0) == (figures.duplicated, figures.unknown)
        await connection.execute("delete from queue_item where status = 1")  # or the next test would send them
    finally:
        await connection.close()


async def test_second_signal(home: Path, tmp_path: Path) -> None:
    """The first signal lets a send finish that hangs after the dot; the second does not wait for it."""
    async with (
        Sink(faults={"dot": Fault("hang")}) as sink,
        serving(home, tmp_path, sink) as service,
    ):
        client = await seed(**service.settings)
        item = await client.schedule("bob@example.com")
        await until(
            lambda: any(mail.item_id == item["item_id"] for mail in sink.mails),
            seconds=60,
            what="the mail server has the mail and says nothing",
        )
        web, pids = service.part("web"), processes.descendants(service.child.pid)
        service.child.send(signal.SIGTERM)
        await until(lambda: not processes.command_of(web), seconds=30, what="the web process has stopped")
        assert service.child.is_alive
        began = time.monotonic()
        assert 0 == await service.child.stop(seconds=STOP_SECONDS_MAX), service.child.tail()
        assert time.monotonic() - began < GRACE_SECONDS / 2
        await gone(pids, home)
    async with await embedded.start(home) as server:
        connection: Any = await asyncpg.connect(server.url)
        assert 3 == await connection.fetchval("select status from queue_item where item_id = $1", item["item_id"])
        await connection.execute("delete from queue_item where item_id = $1", item["item_id"])
        await connection.close()


async def test_killed_parent(home: Path, tmp_path: Path) -> None:
    """`kill -9` of the parent: its children follow, and the next start finds everything."""
    async with Sink() as sink:
        async with serving(home, tmp_path, sink) as service:
            client = await seed(**service.settings)
            item = await client.schedule("bob@example.com")
            sent = await client.sent(item["item_id"])
            parts = [service.part("web"), service.part("worker")]
            service.child.send(signal.SIGKILL)
            await until(
                lambda: not any(processes.command_of(pid) for pid in parts),
                seconds=STOP_SECONDS_MAX,
                what="the children have followed",
            )
        async with serving(home, tmp_path, sink) as service:
            assert not machine.is_over(service.seconds, limit=READY_SECONDS_MAX * 3)
            again = await seed(**service.settings)
            assert client.organization_id == again.organization_id
            assert sent == await again.get(f"/q/queue/item/{item['item_id']}")
            pids = processes.descendants(service.child.pid)
            assert 0 == await service.child.stop(seconds=STOP_SECONDS_MAX), service.child.tail()
        await gone(pids, home)


async def test_killed_parts_come_back(home: Path, tmp_path: Path) -> None:
    """A part that dies, or PostgreSQL, is started again; nobody has to look."""
    async with Sink() as sink, serving(home, tmp_path, sink) as service:
        client = await seed(**service.settings)
        for name in ("web", "worker", "postgres"):
            pid = working_in(cluster_of(home))[0] if name == "postgres" else service.part(name)
            os.kill(pid, signal.SIGKILL)

            async def is_back() -> bool:
                try:
                    answer = await client.request(
                        "POST", client.items_path, {"responder_channel_identifier": "eve@example.com"}
                    )
                except httpx2.TransportError:
                    return False
                return answer.status_code == 201

            await until(is_back, seconds=60, what=f"the service is back after {name} died")
        item = await client.schedule("zoe@example.com")
        await client.sent(item["item_id"])
        assert 0 == await service.child.stop(seconds=STOP_SECONDS_MAX), service.child.tail()
