"""The heartbeat of a worker where connections are short."""

from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest

from afterword.kit.db.hosts import Hosts
from tests.journeys.processes import until
from tests.run.worker.conftest import Bench, Logs
from tests.run.worker.test_loop import SCHEDULED

TRIES = 4  # between the first and the last of which a worker claims, if it does
TOLD = "nothing is claimed: the heartbeat has no connection"


@dataclass
class Shortage:
    """While it lasts, the server has no connection left for heartbeats."""

    lasts: bool = True
    turned_away: int = 0


@pytest.fixture
def shortage(monkeypatch: pytest.MonkeyPatch) -> Shortage:
    found, connect = Shortage(), Hosts.connect

    async def turn_away(hosts: Hosts, url: str, **arguments: Any) -> Any:
        if found.lasts and arguments["server_settings"]["application_name"] == "afterword heartbeat":
            found.turned_away += 1
            raise asyncpg.TooManyConnectionsError("sorry, too many clients already")
        return await connect(hosts, url, **arguments)

    monkeypatch.setattr(Hosts, "connect", turn_away)
    return found


class TestConnecting:
    async def test_nothing_is_claimed_before(self, bench: Bench, logs: Logs, shortage: Shortage) -> None:
        """Nobody could renew it."""
        item = await bench.queue.schedule()
        async with bench.worker():
            await until(lambda: shortage.turned_away >= TRIES or bool(bench.channel.accepted))
            row = await bench.queue.row(item)
            assert (SCHEDULED, 0, 0) == (row["status"], row["attempts"], row["epoch"])
            assert 1 == logs.events.count(TOLD)

            shortage.lasts = False
            await bench.until_done()
        assert {item.item_id: 1} == bench.channel.accepted

    async def test_stopped_before(self, bench: Bench, shortage: Shortage) -> None:
        item = await bench.queue.schedule()
        async with bench.worker():
            await until(lambda: shortage.turned_away > 0 or bool(bench.channel.accepted))

        assert (SCHEDULED, 0) == (await bench.queue.status(item), bench.channel.accepted.total())

    async def test_a_connection_that_is_lost_later_stops_nothing(self, bench: Bench, shortage: Shortage) -> None:
        shortage.lasts = False
        await bench.queue.schedule("first@example.com")
        async with bench.worker():
            await bench.until_done()
            shortage.lasts = True
            ended = """select count(pg_terminate_backend(pid)) from pg_stat_activity
                       where application_name = 'afterword heartbeat' and datname = current_database()"""
            assert 1 == await bench.queue.value(ended)
            await bench.queue.schedule("second@example.com")
            await bench.until_done()

        assert 2 == bench.channel.accepted.total()
