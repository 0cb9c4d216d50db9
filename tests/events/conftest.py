"""An application whose calls may go to loopback, deliverers, and hands for webhooks."""

import asyncio
import ipaddress
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx2
import pytest

from afterword import ids
from afterword.events import service
from afterword.events.service import NewEvent
from afterword.kit import db
from afterword.kit.transport.http import Caller
from afterword.run import renderings
from afterword.run.worker.deliverer import Deliverer
from tests.conftest import SITE, House, settled
from tests.sending.channels.receiver import Receiver

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
OPEN_SITE = replace(SITE, networks=LOOPBACK)
DEADLINE_SECONDS = 60.0
P = ParamSpec("P")
Found = TypeVar("Found")
MANY: dict[str, Any] = {"event_types": ["*"]}


@pytest.fixture
async def client(pool: db.Pool) -> AsyncGenerator[httpx2.AsyncClient, None]:
    """As everywhere, but webhooks may be on loopback."""
    from afterword.run.app import create_app  # noqa: PLC0415

    transport = httpx2.ASGITransport(create_app(pool=pool, site=OPEN_SITE))
    async with httpx2.AsyncClient(transport=transport, base_url=f"{SITE.public_url}/v3.2") as client:
        yield client


@dataclass
class Desk:
    """Actions of the tests of webhooks."""

    pool: db.Pool
    house: House
    client: httpx2.AsyncClient

    async def ask(self, method: str, path: str, *, status: int = 200, **options: Any) -> Any:
        """The document of an answer that has this status."""
        answer = await self.client.request(method, path, headers=self.house.headers, **options)
        assert status == answer.status_code, answer.text
        return answer.json() if answer.content else None

    async def hook(self, url: str, **members: Any) -> dict[str, Any]:
        """A new webhook."""
        document = {"title": "Shop", "target_url": url, **MANY, **members}
        return await self.ask("POST", "/webhook", status=201, json=document)

    async def tell(self, *types: str, subject_id: str | None = None, **more: Any) -> list[str]:
        """Record events of a subject, as a tag's; their ids."""
        async with db.transaction(self.pool) as database:
            now = database.clock.now()
            told = [
                new_event(self.house, one, subject_id=subject_id, event_id=ids.ordered(now), **more) for one in types
            ]
            await service.record(database, events=told)
        await settled(self.pool)
        return [one.event_id for one in told]

    async def deliver(self, deliverer: Deliverer) -> None:
        """Fan out all committed events, and send what is due, until nothing is."""
        await settled(self.pool)
        while await deliverer.fan_out():
            pass
        while await deliverer.turn():
            await deliverer.land()

    async def send(self, deliverer: Deliverer, *types: str, **more: Any) -> list[str]:
        """Record events, and deliver all that is due; their ids."""
        told = await self.tell(*types, **more)
        await self.deliver(deliverer)
        return told

    async def run(
        self, work: Callable[Concatenate[db.Database, P], Awaitable[Found]], *values: P.args, **named: P.kwargs
    ) -> Found:
        """Call a service in a transaction of its own."""
        async with db.transaction(self.pool) as database:
            return await work(database, *values, **named)

    async def now(self) -> datetime:
        return await self.value("select now()")

    async def value(self, statement: Any, *values: object) -> Any:
        async with db.connection(self.pool) as database:
            return await database.fetch_value(statement, *values)

    async def hasten(self) -> None:
        """Make all that waits for its next attempt due now."""
        async with db.connection(self.pool) as database:
            await database.execute("update delivery set due_time = now() - interval '1s' where due_time is not null")
            await database.execute("update webhook set resume_time = null")

    async def deliveries(self, webhook_id: str) -> list[dict[str, Any]]:
        """The log of a webhook, oldest first."""
        path = f"/webhook/{webhook_id}/delivery?pagination[max_per_page]=500"
        found = await self.ask("GET", path)
        return found["results"][::-1]


def new_event(house: House, type_name: str, *, event_id: str, subject_id: str | None = None, **more: Any) -> NewEvent:
    members: dict[str, Any] = {"questionnaire_id": house.questionnaire_id, "data": {"what": type_name}, **more}
    return NewEvent(
        organization_id=house.organization_id, event_id=event_id, type=type_name, subject_id=subject_id, **members
    )


@pytest.fixture
def desk(pool: db.Pool, house: House, client: httpx2.AsyncClient) -> Desk:
    return Desk(pool, house, client)


@pytest.fixture
async def make_deliverer(pool: db.Pool) -> AsyncGenerator[Callable[..., Deliverer]]:
    """Deliverers whose calls may go to loopback; closed at the end."""
    callers: list[Caller] = []

    def make(**options: Any) -> Deliverer:
        callers.append(Caller(allowed=LOOPBACK))
        return Deliverer(pool=pool, site=OPEN_SITE, caller=callers[-1], render=renderings.render, **options)

    yield make
    for caller in callers:
        await caller.close()


@pytest.fixture
def deliverer(make_deliverer: Callable[..., Deliverer]) -> Deliverer:
    return make_deliverer()


async def until(condition: Callable[[], bool], *, seconds: float = DEADLINE_SECONDS) -> None:
    """Wait for it, with a deadline."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


SUBJECT = "s" * 22


def ids_of(receiver: Receiver) -> list[str]:
    return [given.headers["webhook-id"] for given in receiver.given]


def types_of(receiver: Receiver) -> list[str]:
    return [json.loads(given.body)["event"]["type"] for given in receiver.given]
