"""A database that dies in the middle of everything: what was acknowledged stays, what was not is there at most once."""

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tests import machine
from tests.run.worker.faults.rig import SLOTS, WORKERS, Rig, Web, size

pytestmark = pytest.mark.faults

POSTERS, POST_SECONDS = 4, 0.08  # 50 a second
EDITORS, PATCH_SECONDS = 2, 0.1  # 20 a second
EDITED = 10  # items of each editor
REQUEST_SECONDS_MAX = 10.0
OUTAGE_SECONDS = size(5, 30)
OUTAGE_REFUSALS = 5  # of each client, before the database comes back
POOL_SIZES = {"afterword web": 10, "afterword worker": 8 * WORKERS, "afterword heartbeat": WORKERS}


@dataclass
class Client:
    """Asks again and again, every so many seconds; what it is answered is an acceptance, or a 503 that says when."""

    rig: Rig
    web: Web
    name: str
    path: str
    token: str
    done: asyncio.Event
    period: float
    wrong: list[str] = field(default_factory=list[str])
    accepted: int = 0
    refusals: int = 0
    slowest: float = 0.0  # refusal
    succeeded_at: float = 0.0
    _began: float = 0.0

    async def run(self) -> None:
        async with httpx2.AsyncClient(base_url=self.web.url, timeout=REQUEST_SECONDS_MAX) as http:
            await self.work(http)

    async def work(self, http: httpx2.AsyncClient) -> None:
        """Until `done` is set."""
        raise NotImplementedError

    async def ask(
        self, http: httpx2.AsyncClient, method: str, path: str, document: object, more: Mapping[str, str] | None = None
    ) -> Any:
        """The answer to an accepted request; None for a refusal."""
        headers = {"Authorization": f"Bearer {self.token}", **(more or {})}
        self._began = time.monotonic()
        answer = await http.request(method, path, json=document, headers=headers)
        match answer.status_code:
            case 200 | 201:
                self.accepted += 1
                self.succeeded_at = time.monotonic()
                return answer.json()
            case 503 if "Retry-After" in answer.headers:
                self.refusals += 1
                self.slowest = max(self.slowest, time.monotonic() - self._began)
            case _:
                self.wrong.append(f"{method} {answer.status_code}: {answer.text}")
        return None

    async def breathe(self) -> None:
        """Until it is time for the next request."""
        try:
            await asyncio.wait_for(self.done.wait(), max(self._began + self.period - time.monotonic(), 0.001))
        except TimeoutError:
            return


@dataclass
class Poster(Client):
    """Schedules one item after the other; every other one with an Idempotency-Key, repeated until it is accepted."""

    item_of: dict[str, str] = field(default_factory=dict[str, str])  # by address, what was acknowledged
    tried: int = 0

    async def work(self, http: httpx2.AsyncClient) -> None:
        while not self.done.is_set():
            address = f"{self.name}{self.tried}@example.com"
            self.tried += 1
            has_key = self.tried % 2 == 0
            while not await self._post(http, address, has_key=has_key) and has_key:
                await self.breathe()
            await self.breathe()

    async def _post(self, http: httpx2.AsyncClient, address: str, *, has_key: bool) -> bool:
        key = {"Idempotency-Key": address} if has_key else {}
        item = await self.ask(http, "POST", self.path, {"responder_channel_identifier": address}, key)
        if item is None:
            return False
        if self.item_of.setdefault(address, item["item_id"]) != item["item_id"]:
            self.wrong.append(f"{address} has two items")
        self.rig.acknowledged.add(item["item_id"])
        return True


@dataclass
class Editor(Client):
    """Gives its items, which wait for tomorrow, one address after the other; at the end it lets them go."""

    tried: dict[str, int] = field(default_factory=dict[str, int])  # by item, the number of the last address
    kept: dict[str, int] = field(default_factory=dict[str, int])  # the number of the last that was acknowledged

    async def work(self, http: httpx2.AsyncClient) -> None:
        tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
        for number in range(EDITED):
            wanted = {"responder_channel_identifier": f"{self.name}{number}-0@example.com", "send_time": tomorrow}
            item = await self.ask(http, "POST", self.path, wanted)
            assert item is not None, "nothing is broken yet"
            self.rig.acknowledged.add(item["item_id"])
            self.tried[item["item_id"]] = self.kept[item["item_id"]] = 0
        while not self.done.is_set():
            for item_id in self.tried:
                await self._edit(http, item_id)
                await self.breathe()
        for item_id in self.tried:
            await self.ask(http, "PATCH", f"{self.path}/{item_id}", {"send_time": datetime.now(UTC).isoformat()})

    async def _edit(self, http: httpx2.AsyncClient, item_id: str) -> None:
        self.tried[item_id] += 1
        wanted = f"{self.name}{item_id}-{self.tried[item_id]}@example.com"
        item = await self.ask(http, "PATCH", f"{self.path}/{item_id}", {"responder_channel_identifier": wanted})
        if item is not None:
            self.kept[item_id] = self.tried[item_id]
            if item["responder_channel_identifier"] != wanted:
                self.wrong.append(f"{item_id} was to have {wanted}: {item}")

    async def lost(self) -> list[str]:
        """Items without the last address that was acknowledged, or one that it was to have thereafter."""
        rows = await self.rig.connection.fetch(
            "select item_id, responder_channel_identifier as address from queue_item where item_id = any ($1::text[])",
            list(self.tried),
        )
        numbers = {row["item_id"]: int(re.sub(r"^.*-|@.*$", "", row["address"])) for row in rows}
        return [
            f"{item_id}: {numbers.get(item_id)}, of {kept} to {self.tried[item_id]}"
            for item_id, kept in self.kept.items()
            if not kept <= numbers.get(item_id, -1) <= self.tried[item_id]
        ]


async def test_database_restarts(rig: Rig) -> None:
    """Restarts under sends, POSTs and PATCHes, then an outage; the processes come back by themselves."""
    restarts = size(1, 10)
    await rig.fill(organizations=2, lanes=2, items=size(400, 20_000))
    done = asyncio.Event()
    async with rig.sink(pause=0.01), rig.web() as [web], rig.workers() as workers:
        posters, editors = await _clients(rig, web, done)
        clients: list[Client] = [*posters, *editors]
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client.run())
            await rig.until(lambda: _begun(editors), seconds=60, what="the editors edit")
            for number in range(restarts + 1):
                await rig.gap(mails=size(20, 400))
                await rig.crash_database()
                if number == restarts:
                    await _away(rig, clients)
                await rig.revive_database()
                await _recovered(rig, clients, workers_alive=len(workers.working))
            done.set()
        await rig.drained()
        for name, count in POOL_SIZES.items():
            found = await rig.connection.fetchval(
                "select count(*) from pg_stat_activity where application_name = $1 and datname = current_database()",
                name,
            )
            assert found <= count, name
        assert [] == web.child.errors()
    await rig.reconcile(unknown_max=(restarts + 1) * WORKERS * SLOTS)
    await _judge(rig, posters, editors)


async def _clients(rig: Rig, web: Web, done: asyncio.Event) -> tuple[list[Poster], list[Editor]]:
    """They share the lanes."""
    given = [
        (f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{pipeline_id}/queue/item", house.token, done)
        for house, pipeline_id in await rig.lanes()
    ]
    return (
        [Poster(rig, web, f"client{n}-", *given[n % len(given)], POST_SECONDS) for n in range(POSTERS)],
        [Editor(rig, web, f"editor{n}-", *given[n % len(given)], PATCH_SECONDS) for n in range(EDITORS)],
    )


async def _begun(editors: list[Editor]) -> bool:
    return all(any(editor.kept.values()) for editor in editors)


async def _away(rig: Rig, clients: list[Client]) -> None:
    """The database is gone for so long, and each client has met that."""
    until = time.monotonic() + OUTAGE_SECONDS
    goals = {client.name: client.refusals + OUTAGE_REFUSALS for client in clients}
    await rig.until(
        lambda: time.monotonic() > until and all(client.refusals >= goals[client.name] for client in clients),
        seconds=OUTAGE_SECONDS + 60,
        what="all clients were refused",
    )


async def _judge(rig: Rig, posters: list[Poster], editors: list[Editor]) -> None:
    """Acknowledged items exist, others at most once; nobody waited long for a refusal."""
    clients: list[Client] = [*posters, *editors]
    assert [] == [wrong for client in clients for wrong in client.wrong]
    slowest = max(client.slowest for client in clients)
    rows = await rig.connection.fetch(
        """select responder_channel_identifier as address, count(*) as n, min(item_id) as item_id
           from queue_item where responder_channel_identifier like 'client%' group by 1"""
    )
    acknowledged = {address: item_id for poster in posters for address, item_id in poster.item_of.items()}
    assert {} == {row["address"]: row["n"] for row in rows if row["n"] > 1}
    assert acknowledged.items() <= {row["address"]: row["item_id"] for row in rows}.items()
    assert [] == [lost for editor in editors for lost in await editor.lost()]
    posts, patches = sum(each.accepted for each in posters), sum(each.accepted for each in editors)
    rig.tell(
        f"T07 {posts} POSTs and {patches} PATCHes acknowledged, lost 0;"
        f" {sum(client.refusals for client in clients)} refusals, the slowest after {slowest:.2f} s"
    )
    assert not machine.is_over(slowest, limit=1)


async def _recovered(rig: Rig, clients: list[Client], *, workers_alive: int) -> None:
    """The first success of a client within 2 s, every worker at work within 5 s."""
    began = time.monotonic()
    since = await rig.connection.fetchval("select now()")

    async def all_work() -> bool:
        busy = await rig.connection.fetchval("select count(distinct owner) from attempt where begin_time > $1", since)
        return busy == workers_alive

    await rig.until(
        lambda: any(client.succeeded_at > began for client in clients), seconds=30, what="a request is accepted"
    )
    first = time.monotonic() - began
    await rig.until(all_work, seconds=30, what="every worker works")
    last = time.monotonic() - began
    rig.tell(f"T07 accepted after {first:.2f} s, all at work after {last:.2f} s")
    assert not machine.is_over(first, limit=2)
    assert not machine.is_over(last, limit=5)
