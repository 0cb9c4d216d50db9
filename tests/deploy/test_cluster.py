"""The cluster of deploy/ha under load: a switch-over, a node that loses its power, a standby that is behind.

docs/cluster.md has the figures, and the commands that tests/deploy/cluster.py carries out in its own way.
"""

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from afterword.kit import db
from afterword.kit.settings import Settings
from afterword.run import migrations
from afterword.run.worker import guard
from tests import programs
from tests.bar import Tell
from tests.conftest import House, build_house
from tests.deploy import cluster as clusters
from tests.deploy.cluster import APPS, DATABASES, Cluster
from tests.deploy.crowd import Orders
from tests.journeys import processes
from tests.journeys.processes import Child, until
from tests.run.worker.faults import nodes
from tests.run.worker.faults.reconciler import Figures, reconcile
from tests.run.worker.faults.rig import lack, needs, size
from tests.run.worker.faults.test_losses import LOSS

RATE: Final = size(20, 50)  # orders a second
BEFORE: Final = size(60, 500)  # acknowledged orders on each site before something happens
AFTER: Final = size(60, 500)  # and after it
SECONDS_MAX: Final = 180
LAG_SECONDS: Final = 12
LAG_BYTES_MAX: Final = 1_000_000_000


@pytest.fixture
def folder(scratch: Path) -> Iterator[Path]:
    """A folder that every user can reach, on a machine that lets us make networks and has Debian's programs."""
    for program in ("ip", "setpriv", "mount", "sh"):
        needs(program)
    if not nodes.can_have_networks():
        lack("the right to make network namespaces: root")
    if programs.has_apt():
        programs.install_packages(*programs.CLUSTER)
    for program in programs.CLUSTER:
        needs(program)
    found = Path(tempfile.mkdtemp(prefix="afterword-cluster-", dir=scratch))
    found.chmod(0o711)
    yield found
    shutil.rmtree(found)


@dataclass
class Answer:
    moment: float
    site: int
    status: int | str
    item_id: str | None


@dataclass
class Run:
    """The cluster with its load, and what the outside world saw of it."""

    cluster: Cluster
    house: House
    crowd: Child
    primary: str

    @property
    def standby(self) -> str:
        return next(name for name in DATABASES if name != self.primary)

    def answers(self) -> list[Answer]:
        return [Answer(*each) for each in self._lines("answers")]

    def acknowledged_items(self) -> list[str]:
        return [each.item_id for each in self.answers() if each.item_id is not None]

    def events(self) -> list[tuple[str, str]]:
        """Ids and types, as the reader saw them."""
        return [(event_id, kind) for event_id, kind in self._lines("events")]

    def mails(self) -> list[str]:
        """The item of each mail that the server took."""
        file = self._folder / "accepted"
        return file.read_text().split() if file.exists() else []

    @property
    def _folder(self) -> Path:
        return self.cluster.hosts["outside"].folder

    def _lines(self, name: str) -> list[Any]:
        file = self._folder / name
        text = file.read_text() if file.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    async def acknowledged(self, count: int, *, since: float, sites: Sequence[int] = (0, 1)) -> None:
        """Wait for so many acknowledged orders on each site."""

        def enough() -> bool:
            assert self.crowd.is_alive, self.crowd.tail()
            found = Counter(each.site for each in self.answers() if each.status == 201 and each.moment > since)
            return all(found[site] >= count for site in sites)

        await until(enough, seconds=SECONDS_MAX, what=f"{count} orders on each site")

    def silence(self, site: int, *, since: float) -> float:
        """The longest time without an acknowledged order from this moment on."""
        moments = [each.moment for each in self.answers() if each.site == site and each.status == 201]
        pairs = itertools.pairwise(moments)
        return max(later - earlier for earlier, later in pairs if later > since)

    async def finish(self) -> Figures:
        """No more orders; wait until all is sent and read; the reconciler's figures."""
        self.crowd.send(signal.SIGUSR1)
        connection: Any = await asyncpg.connect(self.cluster.url(self.primary))
        try:
            await until(lambda: self._is_drained(connection), seconds=SECONDS_MAX, what="nothing is open")
        finally:
            connection.terminate()
        self.crowd.send(signal.SIGTERM)
        assert 0 == await self.crowd.ended(seconds=SECONDS_MAX), self.crowd.tail()
        return await self.count()

    async def count(self) -> Figures:
        """The reconciler's figures, unjudged."""
        connection: Any = await asyncpg.connect(self.cluster.url(self.primary))
        try:
            return await reconcile(
                connection, accepted=self.mails(), acknowledged=self.acknowledged_items(), aborted=()
            )
        finally:
            connection.terminate()

    async def _is_drained(self, connection: Any) -> bool:
        open_count = await connection.fetchval("select count(*) from queue_item where status < 4")
        return open_count == 0 and not await self.missed(connection)

    async def missed(self, connection: Any) -> set[str]:
        """Events of the log that the reader has not seen."""
        seen = {event_id for event_id, _ in self.events()}
        rows = await connection.fetch(
            "select event_id from event where organization_id = $1", self.house.organization_id
        )
        return {row["event_id"] for row in rows} - seen

    async def mail_silence(self, *, since: float) -> float:
        """The longest time without a mail that left, from this moment on, by the attempts' own times."""
        connection: Any = await asyncpg.connect(self.cluster.url(self.primary))
        try:
            return await connection.fetchval(
                """select coalesce(extract(epoch from max(gap)), 0)::float8 from (
                     select finish_time, finish_time - lag(finish_time) over (order by finish_time) as gap
                     from attempt where outcome = 'accepted') as each
                   where finish_time > to_timestamp($1)""",
                since,
            )
        finally:
            connection.terminate()

    async def told(self) -> tuple[int, int]:
        """The events and the items of which workers told that they are gone."""
        connection: Any = await asyncpg.connect(self.cluster.url(self.primary))
        try:
            [numbers] = LOSS.findall(await connection.fetchval("select loss_text from sending_guard"))
        finally:
            connection.terminate()
        return int(numbers[0]), int(numbers[2])

    async def tell(self, tell: Tell, what: str, *, since: float) -> None:
        seconds = [self.silence(site, since=since) for site in (0, 1)]
        refused = Counter(each.status for each in self.answers() if each.status != 201)
        tell(
            f"{what}: no order acknowledged for {seconds[0]:.1f} s by an address of both servers, {seconds[1]:.1f} s "
            f"through PgBouncer and HAProxy, no mail for {await self.mail_silence(since=since):.1f} s; "
            f"other answers {dict(refused)}"
        )


@contextlib.asynccontextmanager
async def running(folder: Path) -> AsyncGenerator[Run]:
    """The whole installation under load, when both sites have acknowledged some orders."""
    async with clusters.cluster(folder) as cluster:
        primary = await cluster.start_databases()
        await migrations.migrate(cluster.url(primary))
        async with await db.open_pool(cluster.url(primary), size_max=2) as pool:
            house = await build_house(pool, domain="shop")
        sites = await cluster.start_apps()
        orders = Orders(
            sites=sites,
            items_path=f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{house.pipeline_id}/queue/item",
            headers=house.headers,
            folder=str(cluster.hosts["outside"].folder),
            rate=RATE,
        )
        crowd = cluster.hosts["outside"].python(
            "crowd", ["-m", "tests.deploy.crowd", orders.text], processes.environment()
        )
        run = Run(cluster, house, crowd, primary)
        await run.acknowledged(BEFORE, since=0)
        yield run
        await cluster.stop_apps()


def assert_only_refused(run: Run) -> None:
    """Clients saw 201 and 503 alone."""
    assert {201, 503} >= {each.status for each in run.answers()}, Counter(each.status for each in run.answers())


@pytest.mark.faults
async def test_switch_over(folder: Path, tell: Tell) -> None:
    async with running(folder) as run:
        began = time.time()
        other = run.standby
        words = ("switchover", "--leader", run.primary, "--candidate", other, "--force")
        await asyncio.to_thread(run.cluster.patronictl, *words, "afterword", on="db1")
        run.primary = await run.cluster.primary([other])
        await run.acknowledged(AFTER, since=time.time())
        figures = await run.finish()
        await run.tell(tell, "switch-over", since=began)
        assert {} == figures.wrong
        assert_only_refused(run)
        assert "cursor_expired" not in {kind for _, kind in run.events()}
        await run.cluster.streaming(run.standby, primary=run.primary, sync=True)  # the former primary follows


@pytest.mark.nightly
async def test_killed_primary(folder: Path, tell: Tell) -> None:
    """Its machine loses its power, with Patroni, PostgreSQL and etcd; it comes back and follows."""
    async with running(folder) as run:
        began = time.time()
        gone, other = run.primary, run.standby
        run.cluster.hosts[gone].kill()
        run.primary = await run.cluster.primary([other])
        await run.acknowledged(AFTER, since=time.time())
        run.cluster.start_etcd(gone, state="existing")
        run.cluster.start_patroni(gone)
        await run.cluster.streaming(gone, primary=other, sync=True)
        figures = await run.finish()
        await run.tell(tell, "node killed, synchronous", since=began)
        tell(f"node killed, synchronous: {figures.line}")
        assert {} == figures.wrong
        assert_only_refused(run)
        assert "cursor_expired" not in {kind for _, kind in run.events()}


@pytest.mark.nightly
async def test_lagging_standby(folder: Path, tell: Tell) -> None:
    """Asynchronous, and behind when the primary is lost: orders are gone, which all are told, and nobody sends."""
    async with running(folder) as run:
        cluster, gone, other = run.cluster, run.primary, run.standby
        settings = ("synchronous_mode=false", f"maximum_lag_on_failover={LAG_BYTES_MAX}")
        await asyncio.to_thread(
            cluster.patronictl, "edit-config", "--force", "--quiet",
            *(word for each in settings for word in ("--set", each)), "afterword", on=gone,
        )  # fmt: skip
        await cluster.streaming(other, primary=gone, sync=False)
        receiver = int(cluster.psql(other, "select pid from pg_stat_wal_receiver"))
        os.kill(receiver, signal.SIGSTOP)
        began = time.time()
        await until(lambda: time.time() > began + LAG_SECONDS, seconds=SECONDS_MAX, what="the standby is behind")
        cluster.hosts[gone].kill()
        os.kill(receiver, signal.SIGTERM)  # before it goes on: what its socket holds would not be lost
        os.kill(receiver, signal.SIGCONT)
        run.primary = await cluster.primary([other])
        workers = [cluster.hosts[name].children["worker"] for name in APPS]
        await until(
            lambda: all("sending is paused" in child.log.read_text() for child in workers),
            seconds=SECONDS_MAX,
            what="both workers have seen it",
        )
        await run.acknowledged(AFTER, since=time.time())
        run.crowd.send(signal.SIGUSR1)
        figures = await run.count()
        lost, orphans = (figures.wrong.get(name, 0) for name in ("acknowledged_missing", "sent_of_nobody"))
        twice = figures.wrong.get("duplicated_unexplained", 0)
        events, gone = await run.told()
        tell(
            f"node killed, asynchronous, {LAG_SECONDS} s behind: {lost} of {len(run.acknowledged_items())} "
            f"acknowledged orders gone, {orphans} mails of such orders, {twice} mailed twice without a note; "
            f"workers paused, and told of {events} events and {gone} items; the reader's cursor was refused"
        )
        assert lost > 0
        assert events >= lost - RATE * guard.CHECK_SECONDS, "workers have seen all but the last orders"
        under_way = len(APPS) * Settings().worker_slots
        assert orphans <= gone <= orphans + under_way, "what was being sent may have been refused"
        assert 0 == twice
        assert_only_refused(run)
        await until(
            lambda: "cursor_expired" in {kind for _, kind in run.events()}, seconds=SECONDS_MAX, what="a refused cursor"
        )
        run.crowd.send(signal.SIGTERM)
        assert 0 == await run.crowd.ended(seconds=SECONDS_MAX), run.crowd.tail()
