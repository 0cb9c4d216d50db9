"""Clients that change their mind in the very moment of dispatch: what they were told is what happened."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest

from afterword.kit import db
from afterword.sending.queue.service import COPY_NOTE
from tests.conftest import House
from tests.journeys.processes import until
from tests.run.worker.faults.rig import Rig, size

pytestmark = pytest.mark.faults

CLIENTS = 16
PAUSE_SECONDS = 0.04  # of the mail server, before the item begins and once more behind the dot
STAGES = (1, 2, 3, 4)  # a change comes at once, or as soon as the item is seen claimed, begun, or sent
REFUSALS = {"item_in_dispatch", "item_closed"}


@dataclass
class Racer:
    """Schedules items for now, and changes its mind about each a moment later."""

    rig: Rig
    http: httpx2.AsyncClient
    house: House
    pipeline_id: str
    stages: dict[str, int]  # how far each item was seen
    told: Counter[str] = field(default_factory=Counter[str])
    moved: dict[str, datetime] = field(default_factory=dict[str, datetime])
    wrong: list[str] = field(default_factory=list[str])

    async def run(self, count: int) -> None:
        for number in range(count):
            item = await self._schedule(number)
            wanted = self.rig.draw.choice(STAGES)
            await until(
                lambda item_id=item["item_id"], wanted=wanted: self.stages.get(item_id, 1) >= wanted,
                seconds=60,
                what=f"stage {wanted}",
            )
            await (self._abort, self._delete, self._move, self._send_back)[number % 4](item)

    async def _schedule(self, number: int) -> dict[str, Any]:
        path = f"/q/questionnaire/{self.house.questionnaire_id}/pipeline/{self.pipeline_id}/queue/item"
        answer = await self._request("POST", path, {"responder_channel_identifier": f"racer{number}@example.com"})
        assert 201 == answer.status_code, answer.text
        item = answer.json()
        self.rig.acknowledged.add(item["item_id"])
        return item

    async def _abort(self, item: dict[str, Any]) -> None:
        answer = await self._change(item, {"status_id": 5})
        if answer is None:
            return
        if COPY_NOTE not in answer["result"]:
            self.rig.aborted.add(item["item_id"])
        again = await self._change(item, {**item, "status_id": 1})
        if again is not None and again["status_id"] != 5:
            self.wrong.append(f"{item['item_id']} was revived")

    async def _delete(self, item: dict[str, Any]) -> None:
        answer = await self._request("DELETE", f"/q/queue/item/{item['item_id']}")
        if answer.status_code == 204:
            self.rig.aborted.add(item["item_id"])
            self.told["deleted"] += 1
        else:
            self._refused("delete", answer)

    async def _move(self, item: dict[str, Any]) -> None:
        later = datetime.fromisoformat(item["send_time"]) + timedelta(seconds=2)
        if await self._change(item, {"send_time": later.isoformat()}) is not None:
            self.moved[item["item_id"]] = later

    async def _send_back(self, item: dict[str, Any]) -> None:
        """The whole model, as clients do: it changes nothing, so nothing is refused."""
        if await self._change(item, item) is None:
            self.wrong.append(f"{item['item_id']} was refused though nothing changed")

    async def _change(self, item: dict[str, Any], body: dict[str, Any]) -> dict[str, Any] | None:
        answer = await self._request("PATCH", f"/q/queue/item/{item['item_id']}", body)
        if answer.status_code == 200:
            self.told["changed"] += 1
            return answer.json()
        self._refused("patch", answer)
        return None

    def _refused(self, what: str, answer: httpx2.Response) -> None:
        self.told[f"{what} refused"] += 1
        if answer.status_code != 409 or answer.json()["code"] not in REFUSALS:
            self.wrong.append(f"{what}: {answer.status_code} {answer.text}")

    async def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.house.token}"}
        return await self.http.request(method, f"/v3.2{path}", json=body, headers=headers)


async def test_second_thoughts(rig: Rig) -> None:
    """Cancelled or deleted means not sent; else the client is told that it was too late; nothing is revived."""
    items = size(200, 2_000)
    await rig.fill(organizations=2, lanes=2, items=0)
    lanes = await rig.lanes()
    async with rig.sink(pause=PAUSE_SECONDS), rig.web() as [web], rig.workers() as workers:
        await workers.ready()
        stages: dict[str, int] = {}
        watching = asyncio.create_task(_watch(rig, stages))
        async with httpx2.AsyncClient(base_url=web.url, timeout=60) as http, asyncio.TaskGroup() as group:
            racers = [Racer(rig, http, *lanes[number % len(lanes)], stages) for number in range(CLIENTS)]
            for racer in racers:
                group.create_task(racer.run(items // CLIENTS))
        watching.cancel()
        await rig.drained()
        assert [] == web.child.errors()
    await rig.reconcile(unknown_max=0)
    told = sum((racer.told for racer in racers), Counter[str]())
    rig.tell(f"T12 {dict(told)}")
    assert [] == [wrong for racer in racers for wrong in racer.wrong]
    for outcome in ("changed", "deleted", "patch refused", "delete refused"):
        assert told[outcome], f"no race: nobody was told “{outcome}”"
    for item_id, moment in ((item_id, moment) for racer in racers for item_id, moment in racer.moved.items()):
        dispatched = await rig.connection.fetchval("select dispatched_time from queue_item where item_id = $1", item_id)
        assert moment <= dispatched


async def _watch(rig: Rig, stages: dict[str, int]) -> None:
    """Note how far each item is, until the end of the race."""
    async with db.connection(rig.pool) as database:

        async def never() -> bool:
            rows = await database.fetch("select item_id, status from queue_item where status > 1")
            stages.update((row["item_id"], row["status"]) for row in rows)
            return False

        await until(never, seconds=600, what="the end of the race")
