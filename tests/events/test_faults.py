"""Readers and senders that die, transactions that commit out of order, targets that hang.

Small in every run; AFTERWORD_TEST_FAULTS=full gives the volumes of a nightly one. Each prints its figure.
"""

import asyncio
import contextlib
import json
import random
import signal
import sys
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import pytest

from afterword import errors, ids
from afterword.core.messaging.webhooks import RETRY_SECONDS
from afterword.core.scheduling.retries import JITTER_MAX
from afterword.events import sending, service
from afterword.kit import db
from afterword.kit.transport.http import Answer, Caller, NoAnswer
from afterword.run import renderings
from afterword.run.worker import deliverer as deliverers
from afterword.run.worker.deliverer import Deliverer
from tests import machine
from tests.bar import Tell
from tests.conftest import House, settled
from tests.events.conftest import OPEN_SITE, Desk, new_event, until
from tests.sending.channels.receiver import Given, Receiver, Reply
from tests.sizes import FULL

WRITERS: Final = 8
EVENTS: Final = 25_000 if FULL else 300  # of one writer
KILLS: Final = 20
SUBJECTS: Final = 12
HANGING: Final = 100_000 if FULL else 5_000
WAIT_SECONDS_MAX: Final = 2.0
SECONDS_MAX: Final = 3_600.0 if FULL else 240.0


class Taker:
    """In place of the caller: keeps what it is sent, and now and then loses its own answer."""

    def __init__(self, chance: random.Random) -> None:
        self.taken: list[tuple[str, dict[str, Any]]] = []
        self._chance = chance

    async def request(self, *_: str, headers: Mapping[str, str], content: bytes, seconds: float) -> Answer:
        self.taken.append((headers["webhook-id"], json.loads(content)))
        if self._chance.random() < 0.05:
            raise NoAnswer("The connection broke before the answer was complete.")
        return Answer(200, {}, b"")

    async def __aenter__(self) -> None:
        """It is taken as it is."""

    async def __aexit__(self, *_: object) -> None:
        """There is nothing to close."""


async def test_nothing_is_missed_and_order_holds(desk: Desk, database_url: str, tell: Tell) -> None:
    """Eight writers commit in any order, one transaction is long, the reader's connection is killed again and again."""
    seed = random.SystemRandom().getrandbits(32)
    print(f"seed {seed}")  # noqa: T201
    chance = random.Random(seed)  # noqa: S311
    hook = await desk.hook("http://127.0.0.1:9/", event_types=["tag.added"])
    taker = Taker(chance)
    done = asyncio.Event()
    async with asyncio.timeout(SECONDS_MAX), await db.open_pool(database_url, size_max=WRITERS + 4) as pool:
        deliverer = Deliverer(
            pool=pool, site=OPEN_SITE, caller=cast("Caller", taker), render=renderings.render, slots=8
        )
        reading = asyncio.create_task(_read_and_die(database_url, done, chance))
        sending_on = asyncio.create_task(_send_on(desk, deliverer, done))
        await asyncio.gather(
            *(_write(pool, desk.house, random.Random(chance.random())) for _ in range(WRITERS)),  # noqa: S311
            _write_long(pool, desk.house),
        )
        await settled(pool)
        done.set()
        kills = await reading
        await sending_on
        while await _open_ones(pool):
            await desk.deliver(deliverer)
            await desk.hasten()
        wanted = await _wanted(pool, desk.house)
    assert kills >= KILLS
    first = list({event_id: None for event_id, _ in taker.taken})
    assert set(wanted) == set(first), f"missed {len(set(wanted) - set(first))}"
    order: defaultdict[str, list[int]] = defaultdict(list)
    for event_id in first:
        subject_id, seq = wanted[event_id]
        order[subject_id].append(seq)
    assert all(seqs == sorted(seqs) for seqs in order.values())
    repeats = len(taker.taken) - len(first)
    assert len(wanted) == len(await _delivered(desk, hook["webhook_id"]))
    tell(f"missed 0 of {len(wanted)}; {repeats} repeats, all with their id; reader killed {kills} times")


async def _write(pool: db.Pool, house: House, chance: random.Random) -> None:
    for number in range(EVENTS):
        subject_id = f"{chance.randrange(SUBJECTS):022}"
        type_name = "tag.added" if chance.random() < 0.3 else "tag.removed"
        async with db.transaction(pool) as database:
            await database.fetch_value("select pg_current_xact_id()")  # numbered before it waits
            await asyncio.sleep(chance.random() * 0.002 if number % 3 else 0)
            with contextlib.suppress(db.LockTimeout):
                await _record(database, house, type_name, subject_id)
                await asyncio.sleep(chance.random() * 0.002 if number % 5 == 0 else 0)


async def _write_long(pool: db.Pool, house: House) -> None:
    async with db.transaction(pool) as database:
        one = new_event(house, "tag.added", event_id=ids.ordered(database.clock.now()), subject_id="l" * 22)
        await service.record(database, events=[one])
        await asyncio.sleep(2.0)


async def _record(database: db.Database, house: House, type_name: str, subject_id: str) -> None:
    """As services do: under the lock of the subject."""
    await database.fetch_value("select pg_advisory_xact_lock(hashtext($1))", subject_id)
    one = new_event(house, type_name, event_id=ids.ordered(database.clock.now()), subject_id=subject_id)
    await service.record(database, events=[one])


async def _read_and_die(database_url: str, done: asyncio.Event, chance: random.Random) -> int:
    """Fan out on one connection after the other, each killed in the middle of a transaction."""
    kills = 0
    while not done.is_set() or kills < KILLS:
        async with await db.open_pool(database_url, size_max=1, application_name="reader") as pool:
            with contextlib.suppress(errors.Unavailable):
                for _ in range(chance.randrange(1, 4)):
                    async with db.transaction(pool) as database:
                        await sending.fan_out(database, limit=97)
                async with db.transaction(pool) as database:
                    await sending.fan_out(database, limit=97)
                    await database.execute("select pg_terminate_backend(pg_backend_pid())")
                raise AssertionError("it was killed")
        kills += 1
    return kills


async def _send_on(desk: Desk, deliverer: Deliverer, done: asyncio.Event) -> None:
    while not done.is_set():
        await deliverer.turn()
        await asyncio.sleep(0.01)
    await deliverer.land()


async def _open_ones(pool: db.Pool) -> bool:
    async with db.connection(pool) as database:
        is_open = await database.fetch_value(
            "select exists (select from delivery where state in ('scheduled', 'claimed'))"
        )
    return is_open or await _undealt(pool)


async def _undealt(pool: db.Pool) -> bool:
    """Whether there are events that the reader has not passed."""
    async with db.connection(pool) as database:
        return await database.fetch_value(
            """select exists (select from event e where not exists (select from event_cursor c
                 where c.reader = 'webhooks' and (c.xid, c.seq) >= (e.xid, e.seq)))"""
        )


async def _wanted(pool: db.Pool, house: House) -> dict[str, tuple[str, int]]:
    async with db.connection(pool) as database:
        rows = await database.fetch(
            "select event_id, subject_id, seq from event where organization_id = $1 and type = 'tag.added'",
            house.organization_id,
        )
    return {row["event_id"]: (row["subject_id"], row["seq"]) for row in rows}


async def _delivered(desk: Desk, webhook_id: str) -> list[str]:
    async with db.connection(desk.pool) as database:
        rows = await database.fetch(
            "select event_id from delivery where webhook_id = $1 and state = 'delivered'", webhook_id
        )
    return [row["event_id"] for row in rows]


async def test_a_target_that_hangs_harms_nobody(
    pool: db.Pool, desk: Desk, neighbour: House, make_deliverer: Callable[..., Deliverer], tell: Tell
) -> None:
    """It holds two slots, however much waits for it; the neighbour's deliveries arrive as if it were not there."""
    arrived: dict[str, float] = {}

    def note(given: Given) -> Reply:
        arrived.setdefault(given.headers["webhook-id"], time.monotonic())
        return Reply()

    async with Receiver(reply=Reply(way="silence")) as hanging, Receiver(reply=note) as healthy:
        hook = await desk.hook(hanging.url)
        await Desk(pool, neighbour, desk.client).hook(healthy.url)
        await _pile_up(pool, desk.house, hook["webhook_id"], HANGING)
        async with _running(make_deliverer(call_seconds=40.0)) as deliverer:
            async with asyncio.timeout(SECONDS_MAX):
                while await _undealt(pool):
                    await asyncio.sleep(0.01)
            told: dict[str, float] = {}
            in_flight: list[int] = []
            for _ in range(30 if FULL else 10):
                async with db.transaction(pool) as database:
                    event_id = ids.ordered(database.clock.now())
                    await service.record(database, events=[new_event(neighbour, "tag.added", event_id=event_id)])
                told[event_id] = time.monotonic()
                await until(lambda: told.keys() <= arrived.keys())
                in_flight.append(len(deliverer._flights))
            await until(lambda: len(hanging.given) >= 2)
        waits = sorted(arrived[event_id] - moment for event_id, moment in told.items())
        assert len(told) == len(healthy.given)
        assert 2 == len(hanging.given)
        assert max(in_flight) <= 3
        assert not machine.is_over(waits[-1], limit=WAIT_SECONDS_MAX)
    tell(f"webhooks of the other after {waits[-1]:.2f} s at most beside {HANGING} that wait for a target that hangs")


@asynccontextmanager
async def _running(deliverer: Deliverer) -> AsyncGenerator[Deliverer]:
    stop = asyncio.Event()
    running = asyncio.create_task(deliverer.run(stop))
    try:
        yield deliverer
    finally:
        stop.set()
        for flight in list(deliverer._flights):
            flight.cancel()
        await running


async def _pile_up(pool: db.Pool, house: House, webhook_id: str, count: int) -> None:
    """So many deliveries that are due now, each of a subject of its own."""
    async with db.connection(pool) as database:
        await database.execute(
            """insert into event (organization_id, event_id, type, subject_id, actor_kind, data)
               select $1, lpad(n::text, 22, '0'), 'tag.added', lpad(n::text, 22, 's'), 'worker', '{}'
               from generate_series(1, $2::int) n""",
            house.organization_id,
            count,
        )
        await database.execute(
            """insert into delivery (organization_id, delivery_id, webhook_id, event_id, event_type, subject_id, seq,
                 due_time)
               select organization_id, event_id, $2, event_id, type, subject_id, seq, now() from event
               where organization_id = $1 and subject_id like 's%'""",
            house.organization_id,
            webhook_id,
        )


@pytest.mark.faults
async def test_killed_between_sending_and_settling(
    desk: Desk, database_url: str, make_deliverer: Callable[..., Deliverer]
) -> None:
    """The target has it, nobody knows: it is sent again, with the same id, and once only."""
    processes: list[asyncio.subprocess.Process] = []

    def kill(_: Given) -> Reply:
        if processes and processes[0].returncode is None:
            processes[0].send_signal(signal.SIGKILL)
            return Reply(way="silence")
        return Reply()

    async with Receiver(reply=kill) as receiver:
        hook = await desk.hook(receiver.url)
        await desk.tell("tag.added")
        processes.append(
            await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.events.runner", database_url, "1.0")
        )
        try:
            await until(lambda: bool(receiver.given))
            await processes[0].wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                processes[0].kill()
        other = make_deliverer()
        async with asyncio.timeout(30):
            while not [one for one in await desk.deliveries(hook["webhook_id"]) if one["state"] == "delivered"]:
                await other._reap()
                await desk.hasten()
                await desk.deliver(other)
                await asyncio.sleep(0.1)
        assert 2 == len(receiver.given)
        assert 1 == len({given.headers["webhook-id"] for given in receiver.given})
        assert receiver.given[0].body == receiver.given[1].body


def test_numbers() -> None:
    """Calls that a killed worker had in hand are made by another one within half a minute."""
    waits = sending.LEASE_SECONDS, deliverers.REAP_SECONDS * JITTER_MAX, RETRY_SECONDS[0] * JITTER_MAX
    assert sum(waits) + deliverers.POLL_SECONDS * JITTER_MAX < 30
