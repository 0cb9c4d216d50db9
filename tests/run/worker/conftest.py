"""A worker that runs inside the test, at the pace of the rig, with a channel that does as it is told."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from afterword.kit import db
from afterword.kit.transport.base import EMAIL, Begin, Message, Outcome, Sent
from afterword.run import worker
from afterword.run.worker import Pace, channels, heartbeat, loop, rota, sender
from tests.conftest import House
from tests.sending.queue.conftest import Queue

RIG = Pace(
    slots=4,
    lease_seconds=60.0,  # longer than a machine under load stands still; who wants it to run out says so
    heartbeat_seconds=0.75,
    margin_seconds=0.25,
    poll_seconds=0.05,
    reap_seconds=0.25,
    send_seconds_max=60.0,
    grace_seconds=5.0,
    backoff_factor=0.0005,
)
DEADLINE_SECONDS = 60.0

Script = Callable[[Message, Begin], Awaitable[Outcome]]


@dataclass
class Logs:
    """The worker's log, for tests to wait for; nothing is printed, which costs more than all the rest."""

    events: list[str] = field(default_factory=list[str])
    causes: dict[str, object] = field(default_factory=dict[str, object])  # the last of each event

    def note(self, event: str, **values: object) -> None:
        self.events.append(event)
        self.causes[event] = values.get("cause")

    info = warning = error = exception = note


@pytest.fixture(autouse=True)
def logs(monkeypatch: pytest.MonkeyPatch) -> Logs:
    found = Logs()
    for module in (channels, heartbeat, loop, rota, sender):
        monkeypatch.setattr(module, "logger", found)
    return found


async def accept(message: Message, begin: Begin) -> Outcome:
    await begin()
    return Sent(message.item_id, 250, "ok")


def held(go: asyncio.Event, begun: asyncio.Event | None = None) -> Script:
    """Begins, and is answered with Sent once the event is set."""

    async def answer(message: Message, begin: Begin) -> Outcome:
        await begin()
        if begun is not None:
            begun.set()
        await go.wait()
        return Sent(message.item_id)

    return answer


@dataclass
class Scripted:
    """A channel whose answers are the test's; it counts what it accepted by item."""

    script: Script = accept
    channel_id: int = EMAIL
    resend_after_seconds: int | None = 600
    accepted: Counter[str] = field(default_factory=Counter[str])
    asked: Counter[str] = field(default_factory=Counter[str])
    messages: dict[str, Message] = field(default_factory=dict[str, Message])

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        self.asked[message.item_id] += 1
        self.messages[message.item_id] = message
        outcome = await self.script(message, begin)
        if isinstance(outcome, Sent):
            self.accepted[message.item_id] += 1
        return outcome

    async def close(self) -> None:
        pass


@dataclass
class Bench:
    """Data and actions of a worker test."""

    queue: Queue
    database_url: str
    channel: Scripted = field(default_factory=Scripted)

    @asynccontextmanager
    async def worker(self, pace: Pace = RIG, database_url: str | None = None) -> AsyncGenerator[asyncio.Event]:
        """A running worker; leaving stops it and waits for its end."""
        stop = asyncio.Event()
        running = asyncio.create_task(
            worker.run(
                database_url=database_url or self.database_url,
                site=self.queue.house.site,
                channels=self._channels,
                mail_from="survey@shop.example",
                stop=stop,
                pace=pace,
            )
        )
        try:
            yield stop
        finally:
            stop.set()
            await asyncio.wait_for(running, DEADLINE_SECONDS)

    async def reconnected(self) -> "Bench":
        """The same with a pool of its own, which the caller closes."""
        pool = await db.open_pool(self.database_url, size_max=2)
        return replace(self, queue=replace(self.queue, pool=pool))

    async def until(self, statement: str, *values: object) -> None:
        """Wait for a condition on the database, with a deadline."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not await self.queue.value(statement, *values):
                await asyncio.sleep(0.02)

    async def until_still(self, count: Callable[[], int], *, polls: int = 15) -> int:
        """Wait until a count stands still and every item waits: a claim under way may follow what closed its lane."""
        last, still = count(), 0
        while still < polls:
            await self.until("select not exists (select from queue_item where status <> 1)")
            await asyncio.sleep(RIG.poll_seconds)
            last, still = count(), still + 1 if count() == last else 0
        return last

    async def until_done(self) -> None:
        await self.until("select not exists (select from queue_item where status < 4)")

    def _channels(self, pool: db.Pool) -> dict[int, Scripted]:
        return {**worker.captured(pool), EMAIL: self.channel}  # pyrefly: ignore[bad-return]


@pytest.fixture
async def bench(pool: db.Pool, house: House, database_url: str) -> Bench:
    return Bench(Queue(pool, house, house.pipeline_id), database_url)
