"""A whole worker against a real PostgreSQL, at the pace of the rig."""

import asyncio
import dataclasses
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest
from msgspec.structs import replace

from afterword.core.wire.site import Site
from afterword.kit.transport.base import Begin, Message, Outcome, Sent
from afterword.run.worker import Pace
from afterword.run.worker.jobs import DomainChecks
from tests import machine
from tests.conftest import SITE
from tests.journeys.processes import until
from tests.kit.transport.name_server import name_server
from tests.run.worker.conftest import RIG, Bench, Logs, accept, held
from tests.sending.queue.conftest import LINK, OUTBOX

SCHEDULED, CLAIMED, SENDING, SENT, FAILED, UNCERTAIN, ABORTED, IGNORED = range(1, 9)
DEAD_URL = "postgresql://nobody@127.0.0.1:9/nothing"


class TestRun:
    async def test_ok(self, bench: Bench) -> None:
        items = [await bench.queue.schedule(f"ann{n}@example.com") for n in range(20)]

        async with bench.worker():
            await bench.until_done()

        assert {item.item_id: 1 for item in items} == bench.channel.accepted
        assert 20 == await bench.queue.value("select count(*) from queue_item where status = 4")
        assert 20 == await bench.queue.value("select count(*) from event where type = 'queue_item.sent'")
        assert 0 == await bench.queue.value("select count(*) from queue_item where owner is not null")

    async def test_two_workers_share(self, bench: Bench) -> None:
        for number in range(60):
            await bench.queue.schedule(f"ann{number}@example.com")

        async with bench.worker(), bench.worker():
            await bench.until_done()

        assert {1} == set(bench.channel.accepted.values())
        assert 60 == bench.channel.accepted.total()
        assert 60 == await bench.queue.value("select count(*) from attempt where outcome = 'accepted'")

    async def test_links_and_the_outbox(self, bench: Bench) -> None:
        for channel_id in (LINK, OUTBOX):
            lane = await bench.queue.pipeline(
                questionnaire_id=bench.queue.house.questionnaire_id, channel_id=channel_id, title="Other"
            )
            await lane.schedule("customer 7")

        async with bench.worker():
            await bench.until_done()

        [kept] = await bench.queue.fetch("select * from outbox_message")
        assert ("customer 7", 5) == (kept["recipient"], kept["channel_id"])
        assert b"/a/" in kept["content"]
        sent = "select count(*) from questionnaire_instance where sent_time is not null"
        assert 1 == await bench.queue.value(sent)  # the link; what the outbox keeps was not sent

    async def test_a_channel_that_it_lacks_is_left_to_others(self, bench: Bench) -> None:
        sms = await bench.queue.pipeline(
            questionnaire_id=bench.queue.house.questionnaire_id, channel_id=2, title="SMS", message_body="Well?"
        )
        left = await sms.schedule("+306912345678")
        await bench.queue.schedule()

        async with bench.worker():
            await bench.until("select exists (select from queue_item where status = 4)")

        assert (SCHEDULED, 0) == ((await sms.row(left))["status"], (await sms.row(left))["attempts"])

    async def test_waits_for_a_database_that_is_away(self, bench: Bench) -> None:
        async with bench.worker(database_url=DEAD_URL):
            await asyncio.sleep(0)  # stopping ends the waiting

    async def test_idle(self, bench: Bench) -> None:
        """Less than 2 % of a core at the usual pace, beside what other tests left to this process."""
        others = await least_share(windows=3)
        async with bench.worker(Pace()):
            await bench.until("select count(*) > 0 from pg_stat_activity where application_name = 'afterword worker'")
            await bench.queue.schedule()
            await bench.until_done()
            share = await least_share(windows=8)

        assert not machine.is_over(share - others, limit=0.02)


async def least_share(*, windows: int) -> float:
    """The share of a core that this process takes at the quietest of these moments."""
    shares: list[float] = []
    for _ in range(windows):
        begun, spent = time.perf_counter(), time.process_time()
        await asyncio.sleep(0.5)
        shares.append((time.process_time() - spent) / (time.perf_counter() - begun))
    return min(shares)


class TestDatabaseAway:
    async def test_it_is_back_within_five_seconds(self, bench: Bench, logs: Logs, server_url: str) -> None:
        await bench.queue.schedule("first@example.com")
        async with bench.worker():
            await bench.until_done()
            await bench.queue.pool.close()
            async with outage(server_url, bench.database_url):
                await noticed(logs)
            bench = await bench.reconnected()
            begun = time.perf_counter()
            for number in range(5):
                await bench.queue.schedule(f"ann{number}@example.com")
            await bench.until_done()

            assert not machine.is_over(time.perf_counter() - begun, limit=5)
        await bench.queue.pool.close()
        assert 6 == bench.channel.accepted.total()

    async def test_an_outcome_is_not_lost(self, bench: Bench, logs: Logs, server_url: str) -> None:
        """Sent while the database is away: written down when it is back, and nothing is sent twice."""
        begun, back = asyncio.Event(), asyncio.Event()
        bench.channel.script = held(back, begun)
        item = await bench.queue.schedule()
        async with bench.worker(replace(RIG, heartbeat_seconds=5)):
            await begun.wait()
            await bench.queue.pool.close()
            async with outage(server_url, bench.database_url):
                back.set()
                await noticed(logs)
            bench = await bench.reconnected()
            await bench.until_done()

            assert SENT == await bench.queue.status(item)
            assert ["accepted"] == await bench.queue.attempts(item)
        await bench.queue.pool.close()
        assert 1 == bench.channel.accepted.total()


class TestStop:
    async def test_what_is_being_sent_is_finished_and_the_rest_handed_back(self, bench: Bench) -> None:
        sending, go = asyncio.Event(), asyncio.Event()

        async def slowly(message: Message, begin: Begin) -> Outcome:
            if message.recipient.startswith("sending"):
                await begin()
                sending.set()
            await go.wait()
            return await accept(message, begin) if not message.recipient.startswith("sending") else Sent()

        bench.channel.script = slowly
        begun = await bench.queue.schedule("sending@example.com")
        held = [await bench.queue.schedule(f"held{n}@example.com") for n in range(3)]
        async with bench.worker() as stop:
            await sending.wait()
            await bench.until("select count(*) = 3 from queue_item where status = 2")
            stop.set()
            await bench.until("select count(*) = 3 from queue_item where status = 1")
            go.set()

        assert SENT == await bench.queue.status(begun)
        for item in held:
            row = await bench.queue.row(item)
            assert (SCHEDULED, 0, None) == (row["status"], row["attempts"], row["reason"])
        assert 0 == await bench.queue.value("select count(*) from attempt where outcome = 'unknown'")

    async def test_after_the_grace_the_rest_is_left_to_the_reaper(self, bench: Bench) -> None:
        begun, never = asyncio.Event(), asyncio.Event()
        bench.channel.script = held(never, begun)
        item = await bench.queue.schedule()
        async with bench.worker(replace(RIG, grace_seconds=0.2)):
            await begun.wait()

        assert SENDING == await bench.queue.status(item)


async def noticed(logs: Logs) -> None:
    await until(lambda: "the database is away" in logs.events)
    assert logs.causes["the database is away"]  # a full disk, say


@asynccontextmanager
async def outage(server_url: str, database_url: str) -> AsyncGenerator[None]:
    """One database of the server takes no connections and loses those that it has."""
    name = urlsplit(database_url).path.strip("/")
    admin: Any = await asyncpg.connect(server_url)
    try:
        await admin.execute(f"alter database {name} allow_connections false")
        await admin.execute(
            """select pg_terminate_backend(pid) from pg_stat_activity
               where usename = current_user and datname = $1""",
            name,
        )
        yield
        await admin.execute(f"alter database {name} allow_connections true")
    finally:
        await admin.close()


HOST = "ask.shop.example"


async def test_mails_of_a_held_host(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until its record is gone."""
    monkeypatch.setattr(DomainChecks, "poll_seconds", 0.05)
    async with name_server({}) as server:
        site = Site(SITE.public_url, SITE.secret, name_servers=(("127.0.0.1", server.port),))
        bench = dataclasses.replace(
            bench, queue=dataclasses.replace(bench.queue, house=dataclasses.replace(bench.queue.house, site=site))
        )
        await bench.queue.execute(
            """insert into custom_domain (organization_id, host, proven_time, reached_time, checked_time, created_time,
                 updated_time) values ($1, $2, now(), now(), now(), now(), now())""",
            *(bench.queue.house.organization_id, HOST),
        )
        item = await bench.queue.schedule()
        async with bench.worker():
            await bench.until_done()
            await bench.queue.execute("update custom_domain set checked_time = now() - interval '7 hours'")
            await bench.until("select lost_time is not null and problem = 'record_missing' from custom_domain")
    message = bench.channel.messages[item.item_id]
    ours = f"http://{HOST}:8080"
    assert f"{ours}/a/" in message.text
    assert f"{ours}/a/" in message.html
    assert message.headers["List-Unsubscribe"].startswith(f"<{ours}/u/")
    assert SITE.public_url not in message.text + message.html
