"""T46: two releases on one schema. A newer one migrates, and goes back, while this one answers and sends."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest

from afterword.kit import db
from afterword.run import migrations
from tests import machine, newer
from tests.conftest import House
from tests.run.worker.faults.rig import Rig, Web, size

pytestmark = pytest.mark.faults

REQUEST_SECONDS_MAX = 30.0
ROUND_SECONDS_MAX = 120.0
TRIES = size(2, 10)  # of a migration that meets a lock
LOOK_SECONDS = 0.02
SLACK = 3  # times a second, on a machine that has other things to do


@dataclass
class Client:
    """Goes through the same requests again and again: what is asked of a queue every second."""

    rig: Rig
    web: Web
    house: House
    pipeline_id: str
    name: str
    done: asyncio.Event
    rounds: int = 0
    answers: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    slowest: float = 0.0

    async def run(self) -> None:
        base = f"/v3.2/q/questionnaire/{self.house.questionnaire_id}"
        lane = f"{base}/pipeline/{self.pipeline_id}"
        async with httpx2.AsyncClient(
            base_url=self.web.url, headers=self.house.headers, timeout=REQUEST_SECONDS_MAX
        ) as http:
            while not self.done.is_set():
                body = {"responder_channel_identifier": f"{self.name}{self.rounds}@example.com"}
                made = await self._ask(http, "POST", f"{lane}/queue/item", 201, json=body)
                if made is not None:
                    self.rig.acknowledged.add(made["item_id"])
                    item = f"/v3.2/q/queue/item/{made['item_id']}"
                    await self._ask(http, "GET", item, 200)
                    await self._ask(http, "PATCH", item, 200, 409, json={"locale": "el"})  # it may be out by now
                await self._ask(http, "GET", f"{lane}/queue/item", 200)
                await self._ask(http, "GET", lane, 200)
                await self._ask(http, "PATCH", lane, 200, json={"description": f"Round {self.rounds}"})
                issued = await self._ask(http, "POST", f"{base}/instance", 201, json={})
                if issued is not None:
                    await self._ask(http, "GET", f"/v3.2/q/instance/{issued['instance_id']}", 200)
                await self._ask(http, "GET", "/v3.2/event?limit=5", 200)
                await self._ask(http, "GET", "/readyz", 200)
                self.rounds += 1

    async def _ask(self, http: Any, method: str, path: str, *good: int, json: object = None) -> Any:
        began = time.monotonic()
        answer = await http.request(method, path, json=json)
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.answers[f"{method} {answer.status_code}"] += 1
        if answer.status_code in good:
            return answer.json()
        self.wrong.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return None


@dataclass
class Waits:
    """The longest waits for locks that somebody looking every 20 ms has seen, in seconds."""

    of_ours: float = 0.0
    of_migrations: float = 0.0


@contextlib.asynccontextmanager
async def load(rig: Rig, sites: Sequence[Web]) -> AsyncGenerator[list[Client]]:
    """A client on each lane, until the end of the block."""
    done = asyncio.Event()
    clients = [
        Client(rig, sites[number % len(sites)], house, pipeline_id, f"client{number}-", done)
        for number, (house, pipeline_id) in enumerate(await rig.lanes())
    ]
    async with asyncio.TaskGroup() as group:
        for client in clients:
            group.create_task(client.run())
        try:
            yield clients
        finally:
            done.set()


@contextlib.asynccontextmanager
async def watched(rig: Rig) -> AsyncGenerator[Waits]:
    """Looks who waits for a lock, and for how long."""
    waits, connection = Waits(), await asyncpg.connect(rig.database_url)

    async def look() -> None:
        while True:
            rows = await connection.fetch(
                """select a.application_name = 'afterword migrate' as is_migration,
                     max(extract(epoch from clock_timestamp() - l.waitstart))::float8 as seconds
                   from pg_locks l join pg_stat_activity a using (pid) where not l.granted and l.waitstart is not null
                   group by 1"""
            )
            for row in rows:
                name = "of_migrations" if row["is_migration"] else "of_ours"
                setattr(waits, name, max(getattr(waits, name), row["seconds"]))
            await asyncio.sleep(LOOK_SECONDS)

    looking = asyncio.create_task(look())
    try:
        yield waits
    finally:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking
        await connection.close()


async def go_on(rig: Rig, clients: Sequence[Client]) -> None:
    """Wait until every client has gone through all its requests at least once more, from the first to the last."""
    goals = {client.name: client.rounds + 2 for client in clients}
    await rig.until(
        lambda: all(client.rounds >= goals[client.name] for client in clients),
        seconds=ROUND_SECONDS_MAX,
        what="all clients went round",
    )


async def judge(rig: Rig, clients: Sequence[Client], waits: Waits, what: str) -> None:
    """No request failed, nothing was lost, nobody waited long."""
    answers = sum(sum(client.answers.values()) for client in clients)
    wrong = [wrong for client in clients for wrong in client.wrong]
    slowest = max(client.slowest for client in clients)
    rig.tell(
        f"T46 {what}: {answers} requests answered, {len(wrong)} failed, the slowest took {slowest:.2f} s; the longest "
        f"wait for a lock {waits.of_ours:.2f} s, of a migration {waits.of_migrations:.2f} s"
    )
    assert [] == wrong[:5]
    assert not machine.is_over(slowest, limit=SLACK * db.LOCK_TIMEOUT_SECONDS)
    figures = await rig.reconcile(unknown_max=0)
    assert figures.items == figures.mails


async def test_newer_release_comes_and_goes(rig: Rig, tmp_path: Path) -> None:
    """More columns in every table, a table and an index more, then all of it gone again; new processes start on it."""
    await rig.fill(organizations=2, lanes=2, items=size(200, 5_000))
    tables = await newer.tables_of(rig.connection)
    async with rig.sink(pause=0.01), rig.web(2) as sites, rig.workers(2) as workers, watched(rig) as waits:
        async with load(rig, sites) as clients:
            await go_on(rig, clients)  # every statement is prepared
            with newer.release(tmp_path) as release:
                for table in tables:
                    release.add(f"wider_{table}", f"alter table {table} {newer.COLUMNS};")
                release.add("table", "create table zz_table (zz_id text primary key);")
                index = "create index concurrently zz_index on queue_item (organization_id, zz_newer)"
                reached = release.add("index", f"-- no transaction\n{index}")
                assert reached == await migrations.migrate(rig.database_url)
                await go_on(rig, clients)
                await workers.owner_of(workers.start_one())
                async with rig.web() as [late], load(rig, [late]) as others:
                    await go_on(rig, [*clients, *others])
                for table in tables:
                    release.add(f"narrower_{table}", f"alter table {table} {newer.NO_COLUMNS};")
                reached = release.add("no_table", "drop table zz_table;")
                assert reached == await migrations.migrate(rig.database_url)
                await go_on(rig, clients)
        await rig.drained()
        assert [] == [error for site in sites for error in site.child.errors()]
    await judge(rig, [*clients, *others], waits, f"{len(tables)} tables got two columns and lost them")


async def test_migration_meets_a_lock(rig: Rig, tmp_path: Path) -> None:
    """Somebody reads the queue and does not end: the migration gives way, again and again; nobody waits behind it."""
    await rig.fill(organizations=2, lanes=2, items=size(200, 5_000))
    told: list[str] = []
    holder: Any = await asyncpg.connect(rig.database_url, server_settings={"application_name": "report"})
    try:
        async with rig.sink(pause=0.01), rig.web(2) as sites, rig.workers(2), watched(rig) as waits:
            async with load(rig, sites) as clients:
                await go_on(rig, clients)
                await holder.execute("begin; select count(*) from queue_item")
                with newer.release(tmp_path) as release:
                    reached = release.add("wider", f"alter table queue_item {newer.COLUMNS};")
                    migrating = asyncio.create_task(migrations.migrate(rig.database_url, report=told.append))
                    await rig.until(lambda: len(told) >= TRIES, seconds=60, what="the migration gave way")
                    await go_on(rig, clients)
                    assert not migrating.done()
                    await holder.execute("rollback")
                    assert reached == await asyncio.wait_for(migrating, 60)
                await go_on(rig, clients)
            await rig.drained()
            assert [] == [error for site in sites for error in site.child.errors()]
    finally:
        await holder.close()
    assert all("(report), idle in transaction" in one for one in told)
    await judge(rig, clients, waits, f"a migration gave way {len(told)} times to a report")
