"""A database that dies in the middle of everything: what was acknowledged stays, what was not is there at most once."""

import asyncio
import time
from dataclasses import dataclass, field

import httpx2
import pytest

from tests import machine
from tests.worker.faults.rig import SLOTS, WORKERS, Rig, Web, size

pytestmark = pytest.mark.faults

CLIENTS = 4
REQUEST_SECONDS_MAX = 10.0
BREATH_SECONDS = 0.05  # between two requests of one client
OUTAGE_REFUSALS = size(20, 300)  # of each client, before the database comes back
POOL_SIZES = {"afterword web": 10, "afterword worker": 8 * WORKERS, "afterword heartbeat": WORKERS}


@dataclass
class Client:
    """Schedules one item after the other; every other one with an Idempotency-Key, repeated until it is accepted."""

    rig: Rig
    web: Web
    name: str
    path: str
    token: str
    done: asyncio.Event
    item_of: dict[str, str] = field(default_factory=dict[str, str])  # by address, what was acknowledged
    tried: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    refusals: int = 0
    slowest: float = 0.0  # refusal
    succeeded_at: float = 0.0

    async def run(self) -> None:
        async with httpx2.AsyncClient(base_url=self.web.url, timeout=REQUEST_SECONDS_MAX) as http:
            while not self.done.is_set():
                address = f"{self.name}{len(self.tried)}@example.com"
                self.tried.append(address)
                has_key = len(self.tried) % 2 == 0
                while not await self._post(http, address, has_key=has_key) and has_key:
                    await self._breathe()
                await self._breathe()

    async def _post(self, http: httpx2.AsyncClient, address: str, *, has_key: bool) -> bool:
        headers = {"Authorization": f"Bearer {self.token}"} | ({"Idempotency-Key": address} if has_key else {})
        began = time.monotonic()
        answer = await http.post(self.path, json={"responder_channel_identifier": address}, headers=headers)
        match answer.status_code:
            case 201:
                item_id = answer.json()["item_id"]
                if self.item_of.setdefault(address, item_id) != item_id:
                    self.wrong.append(f"{address} has two items")
                self.rig.acknowledged.add(item_id)
                self.succeeded_at = time.monotonic()
                return True
            case 503 if "Retry-After" in answer.headers:
                self.refusals += 1
                self.slowest = max(self.slowest, time.monotonic() - began)
            case _:
                self.wrong.append(f"{answer.status_code}: {answer.text}")
        return False

    async def _breathe(self) -> None:
        try:
            await asyncio.wait_for(self.done.wait(), BREATH_SECONDS)
        except TimeoutError:
            return


async def test_database_restarts(rig: Rig) -> None:
    """Restarts under sends and POSTs, then an outage; the processes come back by themselves."""
    restarts = size(2, 10)
    await rig.fill(organizations=2, lanes=2, items=size(400, 20_000))
    lanes, done = await rig.lanes(), asyncio.Event()
    async with rig.sink(pause=0.01), rig.web() as [web], rig.workers() as workers:
        clients = [
            Client(
                rig,
                web,
                f"client{number}-",
                f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{pipeline_id}/queue/item",
                house.token,
                done,
            )
            for number, (house, pipeline_id) in enumerate(lanes[:CLIENTS])
        ]
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client.run())
            for number in range(restarts + 1):
                await rig.gap(mails=20)
                await rig.crash_database()
                if number == restarts:
                    goals = {client.name: client.refusals + OUTAGE_REFUSALS for client in clients}

                    async def all_refused(goals: dict[str, int] = goals) -> bool:
                        return all(client.refusals >= goals[client.name] for client in clients)

                    await rig.until(all_refused, seconds=60)
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
    assert [] == [wrong for client in clients for wrong in client.wrong]
    slowest = max(client.slowest for client in clients)
    rig.tell(f"T07 {sum(client.refusals for client in clients)} refusals, the slowest after {slowest:.2f} s")
    assert not machine.is_over(slowest, limit=1)
    rows = await rig.connection.fetch(
        """select responder_channel_identifier as address, count(*) as n, min(item_id) as item_id
           from queue_item where responder_channel_identifier like 'client%' group by 1"""
    )
    acknowledged = {address: item_id for client in clients for address, item_id in client.item_of.items()}
    assert {} == {row["address"]: row["n"] for row in rows if row["n"] > 1}
    assert acknowledged.items() <= {row["address"]: row["item_id"] for row in rows}.items()


async def _recovered(rig: Rig, clients: list[Client], *, workers_alive: int) -> None:
    """The first success of a client within 2 s, every worker at work within 5 s."""
    began = time.monotonic()
    since = await rig.connection.fetchval("select now()")

    async def accepts() -> bool:
        return any(client.succeeded_at > began for client in clients)

    async def all_work() -> bool:
        busy = await rig.connection.fetchval("select count(distinct owner) from attempt where begin_time > $1", since)
        return busy == workers_alive

    await rig.until(accepts, seconds=30, what="a POST is accepted")
    first = time.monotonic() - began
    await rig.until(all_work, seconds=30, what="every worker works")
    last = time.monotonic() - began
    rig.tell(f"T07 accepted after {first:.2f} s, all at work after {last:.2f} s")
    assert not machine.is_over(first, limit=2)
    assert not machine.is_over(last, limit=5)
