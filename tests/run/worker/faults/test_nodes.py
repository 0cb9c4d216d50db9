"""Two worker nodes and two database nodes, each on a machine of its own, one of which loses its power."""

import contextlib
import random
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from afterword.kit import db
from afterword.run import migrations
from tests.journeys import processes
from tests.journeys.processes import Child
from tests.run.worker.faults import nodes
from tests.run.worker.faults.nodes import Machine, Network, Node
from tests.run.worker.faults.rig import SECRET, SLOTS, Lossy, Rig, lack, needs, size
from tests.run.worker.faults.runner import Orders

pytestmark = pytest.mark.faults
ITEMS = size(400, 20_000)
SINK_PORT = 2525
BACK_SECONDS_MAX = 60
SHARE_SECONDS_MAX = size(60, 600)  # until a share of the mails is out, by eight slots


class Outside(Lossy):
    """The sink of another machine: what it accepted stands in its file."""

    def read(self) -> int:
        """The number of mails that it has accepted."""
        assert self.file is not None
        self.count = self.file.read_bytes().count(b"\n") if self.file.exists() else 0
        return self.count


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that PostgreSQL's user can reach, on a machine that lets us make networks."""
    needs("ip")
    needs("setpriv")
    if not nodes.can_have_networks():
        lack("the right to make network namespaces: root")
    found = Path(tempfile.mkdtemp(prefix="afterword-nodes-"))
    found.chmod(0o711)
    yield found
    shutil.rmtree(found)


def start(machine: Machine, arguments: list[str], folder: Path) -> Child:
    return processes.start(
        arguments,
        env=processes.environment(),
        log=folder / f"{machine.name}.log",
        name=machine.name,
        before=machine.command(),
    )


@contextlib.asynccontextmanager
async def rig_on(
    primary: Node, folder: Path, record: Callable[[str, object], None], *, items: int = ITEMS
) -> AsyncGenerator[Rig]:
    """The rig, whose own connections go through the primary's socket."""
    await migrations.migrate(primary.url)
    async with await db.open_pool(primary.url, size_max=2) as pool:
        connection = await asyncpg.connect(primary.url)
        rig = Rig(primary.server, primary.url, pool, connection, folder, random.Random(1))  # noqa: S311
        rig.record = record
        await rig.fill(organizations=4, lanes=2, items=items)
        await rig.connection.execute("update pipeline set paused = true")
        yield rig
        rig.connection.terminate()


def orders_of(primary: Node, standby: Node, sink: Machine) -> Orders:
    login = urlsplit(primary.server.url).netloc.rpartition("@")[0]
    hosts = f"{primary.machine.address}:{nodes.PORT},{standby.machine.address}:{nodes.PORT}"
    return Orders(
        database_url=f"postgresql://{login}@{hosts}/afterword?target_session_attrs=read-write",
        smtp_url=f"smtp://{sink.address}:{SINK_PORT}",
        public_url="http://localhost:8080",
        secret=SECRET,
    )


async def test_failover(folder: Path, record_property: Callable[[str, object], None]) -> None:
    """A worker is cut off for longer than its lease, the primary loses its power, the standby takes over."""
    with nodes.network() as network:
        one, other, outside = network.add("db1"), network.add("db2"), network.add("sink")
        homes = [network.add("w1"), network.add("w2")]
        async with (
            nodes.pair(one, other, folder) as (primary, standby),
            rig_on(primary, folder, record_property) as rig,
        ):
            rig.target = Outside(file=folder / "accepted")
            children = [
                start(outside, ["-m", "tests.sending.channels.sink", "--host", outside.address,
                                "--port", str(SINK_PORT),
                                "--file", str(folder / "accepted"), "--pause", "0.02"], folder)
            ]  # fmt: skip
            try:
                orders = orders_of(primary, standby, outside)
                workers = [start(home, ["-m", "tests.run.worker.faults.runner", orders.text], folder) for home in homes]
                children += workers
                await _all_at_once(rig, workers)
                await _disturb(rig, network, children[1], homes[0], primary, standby)
                await rig.drained()
                rig.target.read()
                await rig.reconcile(unknown_max=3 * 2 * SLOTS)
                owners = await rig.connection.fetchval("select count(distinct owner) from attempt")
                assert 2 == owners
            except BaseException:
                print(*(f"\n{child.name}: {child.tail()}" for child in children))  # noqa: T201
                raise
            finally:
                for child in children:
                    processes.kill_tree(child)


async def _all_at_once(rig: Rig, workers: Sequence[Child]) -> None:
    """Nobody claims before all are there: else the first to be ready would do it all alone."""
    await rig.until(
        lambda: all(worker.told("run_id") for worker in workers), seconds=BACK_SECONDS_MAX, what="all workers are up"
    )
    await rig.connection.execute("update pipeline set paused = false")


async def _disturb(rig: Rig, network: Network, worker: Child, home: Machine, primary: Node, standby: Node) -> None:
    target = rig.target
    assert isinstance(target, Outside)

    read = target.read

    async def accepted(share: float) -> None:
        await rig.until(lambda: read() >= ITEMS * share, seconds=SHARE_SECONDS_MAX, what=f"{share:.0%} of the mails")

    async def bereft() -> bool:
        return not await rig.connection.fetchval(
            "select count(*) from queue_item where owner = $1::text::uuid", worker.told("run_id")
        )

    await accepted(0.1)
    network.cut(home)
    await rig.until(bereft, seconds=BACK_SECONDS_MAX, what="the reaper has taken what the lost node held")
    await accepted(0.3)
    network.mend(home)
    network.cut(primary.machine)
    primary.kill()
    await standby.promote()
    rig.connection.terminate()
    rig.connection = await asyncpg.connect(standby.url)
    await accepted(0.9)
