"""SIGTERM to `afterword worker` itself while it sends: what is under way is finished, the rest is handed back."""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
import pytest

from tests.journeys import processes
from tests.journeys.processes import Child
from tests.run.worker.faults import mutants
from tests.run.worker.faults.rig import SECRET, Crew, Rig, Web, size
from tests.sending.channels.sink import Fault

pytestmark = pytest.mark.faults

STOP_SECONDS_MAX = 25.0
IN_FLIGHT = size(40, 200)
HELD = 10  # wait for the answer to DATA: claimed, and not begun


@asynccontextmanager
async def worker(rig: Rig, number: int) -> AsyncGenerator[Child]:
    """The command itself, with the pace that operators get."""
    assert rig.target is not None
    environment = processes.environment(
        database_url=rig.database_url,
        smtp_url=rig.target.url,
        secret=SECRET,
        worker_slots=IN_FLIGHT,
        data_dir=rig.folder / "data",  # what a worker remembers of its database stands there
    )
    log = rig.folder / f"worker-{number}.log"
    child = processes.start(
        mutants.arguments("worker"), env=environment | mutants.chosen(), log=log, name=f"worker {number}"
    )
    try:
        yield child
        assert [] == child.errors()
    finally:
        processes.kill_tree(child)


async def in_flight(rig: Rig) -> int:
    return await rig.connection.fetchval("select count(*) from queue_item where status in (2, 3)")


async def test_stop_while_sending(rig: Rig) -> None:
    """Lost 0, unknown 0, out in 25 s; what was only claimed has no attempt counted."""
    rounds = size(2, 20)
    await rig.fill(organizations=2, lanes=2, items=IN_FLIGHT * (rounds + 1))
    await rig.connection.execute("update channel_account set slots_max = 200")
    async with rig.sink(pause=0.5) as sink:
        for number in range(rounds):
            async with worker(rig, number) as child:
                sink.faults = {"data": Fault("silence", times=HELD)}
                goal = sink.count + IN_FLIGHT // 2

                async def is_busy(goal: int = goal) -> bool:
                    return sink.count >= goal and await in_flight(rig) >= IN_FLIGHT  # and those claimed ahead

                await rig.until(is_busy, seconds=90, what="all slots are in use")
                began = time.monotonic()
                assert 0 == await child.stop(seconds=STOP_SECONDS_MAX), child.tail()
                rig.tell(f"T44 stopped in {time.monotonic() - began:.2f} s")
            assert 0 == await in_flight(rig)
            waiting = await rig.connection.fetchval("select max(attempts) from queue_item where status = 1")
            assert 0 == waiting
        sink.pause, sink.faults = 0.0, {}
        async with worker(rig, rounds) as child:
            await rig.drained()
            assert 0 == await child.stop(), child.tail()
    figures = await rig.reconcile(unknown_max=0)
    assert figures.items == figures.mails


@dataclass
class Client:
    """Schedules one item after the other, now at one web process and now at the other."""

    rig: Rig
    sites: list[str]
    path: str
    token: str
    name: str
    done: asyncio.Event
    count: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list[str])

    async def run(self) -> None:
        turn = 0
        while not self.done.is_set():
            turn += 1
            await self._post(self.sites[turn % len(self.sites)], f"{self.name}{turn}@example.com")
            await asyncio.sleep(0.02)  # a client, not a flood

    async def _post(self, site: str, address: str) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            async with httpx2.AsyncClient(timeout=10.0) as http:  # a connection for each: that is what is refused
                answer = await http.post(
                    f"{site}{self.path}", json={"responder_channel_identifier": address}, headers=headers
                )
        except httpx2.ConnectError:
            self.refused += 1
        except httpx2.HTTPError as error:
            self.wrong.append(repr(error))
        else:
            if answer.status_code == 201:
                self.rig.acknowledged.add(answer.json()["item_id"])
                self.count += 1
            else:
                self.wrong.append(f"{answer.status_code}: {answer.text}")


async def test_rolling_restart(rig: Rig) -> None:
    """Every web process and every worker in turn, under load: no request fails that was let in, nothing is unknown."""
    rounds = size(2, 20)
    await rig.fill(organizations=2, lanes=1, items=size(100, 2_000))
    done = asyncio.Event()
    async with rig.sink(pause=0.01) as sink, rig.web(2) as sites, rig.workers(2) as workers:
        await workers.ready()  # one that is told to end while it starts just ends
        urls = [site.url for site in sites]
        clients = [
            Client(
                rig,
                urls,
                f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{pipeline_id}/queue/item",
                house.token,
                f"client{number}-",
                done,
            )
            for number, (house, pipeline_id) in enumerate(await rig.lanes())
        ]
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client.run())
            for _ in range(rounds):
                async with asyncio.TaskGroup() as both:
                    both.create_task(_one_web_after_the_other(sites))
                    both.create_task(_one_worker_after_the_other(workers))
                goal = sink.count + 10
                await rig.until(lambda goal=goal: sink.count >= goal, seconds=30, what="mails go on")
            done.set()
        await rig.drained()
    count, refused = sum(client.count for client in clients), sum(client.refused for client in clients)
    wrong = [wrong for client in clients for wrong in client.wrong]
    rig.tell(f"T44 {rounds} rolling restarts: {count} requests answered, {refused} refused, {len(wrong)} failed")
    assert [] == wrong
    assert count > 0
    figures = await rig.reconcile(unknown_max=0)
    assert figures.items == figures.mails


async def _one_web_after_the_other(sites: list[Web]) -> None:
    for number, site in enumerate(list(sites)):
        assert 0 == await site.child.stop(), site.child.tail()
        assert [] == site.child.errors()
        sites[number] = await site.again()


async def _one_worker_after_the_other(workers: Crew) -> None:
    for child in workers.working:
        await workers.owner_of(workers.start_one())
        assert 0 == await child.stop(seconds=STOP_SECONDS_MAX), child.tail()


async def test_second_signal_skips_the_wait(rig: Rig) -> None:
    """A mail server that accepts and says nothing holds nobody who is in a hurry."""
    await rig.fill(organizations=1, lanes=1, items=1)
    async with rig.sink(faults={"dot": Fault("late")}) as sink, worker(rig, 0) as child:
        await rig.until(lambda: sink.count == 1, seconds=30, what="the mail is out")
        child.send(signal.SIGTERM)
        await rig.until(lambda: "stopping" in child.tail(), seconds=30, what="it has heard the first signal")
        child.send(signal.SIGTERM)
        await child.ended(seconds=STOP_SECONDS_MAX / 2)
        assert 3 == await rig.connection.fetchval("select status from queue_item")
