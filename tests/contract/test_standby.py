"""A web process on a standby beside one on its primary: the same answers, no writes, and cursors that lose nothing."""

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx2
import pytest
import pytest_asyncio

from afterword import ids
from afterword.events import log
from afterword.kit import db
from afterword.kit.db.replicas import Replica
from afterword.kit.web.limits import Limits
from afterword.run import app, console
from tests.bar import Tell
from tests.contract import world as worlds
from tests.contract.test_screens import NAMES, ids_of
from tests.contract.wire import PUBLIC_URL, Wire, problem_faults
from tests.contract.world import ROUTES, World
from tests.standbys import Pair, pair
from tests.tenants.logins.conftest import OWN, SITE, Office, browser_of, log_in

LAG: Final = "afterword-replica-lag"
OWNER: Final = "own@demo.example"
# Each look at these is an entry of the audit log, which a copy cannot write.
NOTED: Final = frozenset(
    {
        "/audit/file",
        "/q/instance/{instance_id}/file/{file_id}",
        "/q/responder/{responder_id}/subject",
        "/q/responder/{responder_id}/timeline",
    }
)
NOTED_SCREENS: Final = frozenset(
    {
        "/console/people/{responder_id}",
        "/console/people/{responder_id}/subject",
        "/console/reports/comments/csv",
        "/console/reports/ready/{template_id}/csv",
        "/console/reports/saved/{report_id}/csv",
        "/console/responses/{instance_id}/file/{file_id}",
        "/console/sending/lists/{list_id}/faulty",
        "/console/settings/audit/file",
    }
)
WRITERS, WRITTEN = 4, 50
SECONDS_MAX: Final = 120.0
EVENTS: Final = "/v3.2/event?limit=3"
pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Both:
    """The world of the probes on a primary, and a standby of it with a web process of its own."""

    world: World
    pair: Pair
    reading: db.Pool
    copy: Wire

    async def write(self, count: int) -> None:
        """More items of our organization, each with its events."""
        path = "/v3.2/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item"
        target, token = path.format_map(self.world.ours.ids), self.world.ours.token
        for _ in range(count):
            document = {"responder_channel_identifier": f"{uuid.uuid4().hex}@example.com"}
            await self.world.wire.done("POST", target, token=token, document=document)

    async def all_events(self) -> list[str]:
        """The ids of the whole log, as the primary has them in order."""
        found: list[str] = []
        after = ""
        while True:
            page = await self.world.wire.done("GET", f"/v3.2/event?limit=500{after}", token=self.world.ours.token)
            found += [one["event_id"] for one in page["results"]]
            if not page["results"]:
                return found
            after = f"&after={page['results'][-1]['cursor']}"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def both() -> AsyncGenerator[Both]:
    async with _both(delay="0") as found:
        yield found


@asynccontextmanager
async def _both(*, delay: str) -> AsyncGenerator[Both]:
    only_reads = {"default_transaction_read_only": "on"}
    async with (
        pair(delay=delay) as servers,
        await db.open_pool(servers.url, size_max=4) as pool,
        await db.open_pool(servers.read_url, size_max=4, server_settings=only_reads) as reading,
    ):
        world = await worlds.build(pool)
        await servers.caught_up()
        asgi = app.create_app(
            pool=reading, site=world.site, limits=Limits(0, 0, 0, 0, 0), copy=Replica(reading, lag_seconds_max=3600)
        )
        yield Both(world, servers, reading, Wire(asgi))


class TestReadOnly:
    async def test_nothing_is_changed(self, both: Both) -> None:
        """Each operation that writes is refused with the primary's address, whatever is sent."""
        world = both.world
        for route in ROUTES:
            if route.method != "GET":
                path = world.ours.path(route)
                reply = await both.copy.ask(route.method, path, token=world.ours.token, document={})
                assert (421, f"{PUBLIC_URL}{path}") == (reply.status, reply.headers["location"]), path
                assert [] == problem_faults(reply)

    async def test_everything_is_read(self, both: Both) -> None:
        """Each GET has the primary's status, but for those that are noted."""
        world, other = both.world, set[str]()
        for route in ROUTES:
            if route.method == "GET":
                path = world.ours.path(route)
                reply = await both.copy.ask("GET", path, token=world.ours.token)
                assert reply.status < 500, path
                assert reply.headers[LAG].isdigit(), path
                if reply.status == 421:
                    other.add(route.path)
                    continue
                there = await world.ask("GET", path)
                assert there.status == reply.status, path
                assert LAG not in there.headers
        assert NOTED == other

    async def test_every_screen(self, both: Both) -> None:
        """With the cookie that the primary gave."""
        world, other = both.world, set[str]()
        house = world.ours.house
        await Office(world.pool, house.organization_id, house.application_id, "").add_user(OWNER, role="owner")
        ours = await ids_of(world)
        asgi: Any = app.create_app(pool=both.reading, site=SITE, limits=Limits(0, 0, 0), copy=Replica(both.reading))
        async with browser_of(world.pool) as browser:
            await log_in(browser, email=OWNER)
            await both.pair.caught_up()
            async with httpx2.AsyncClient(
                transport=httpx2.ASGITransport(asgi), base_url="http://testserver", headers=OWN, cookies=browser.cookies
            ) as copy:
                for screen in console.screens():
                    if screen.method == "GET" and set(NAMES.findall(screen.path)) <= set(ours):
                        path = screen.path.format_map(ours)
                        reply = await copy.get(path)
                        assert reply.status_code < 500, path
                        if reply.status_code == 421:
                            other.add(screen.path)
                            continue
                        there = await browser.get(path)
                        assert there.status_code == reply.status_code, path
                        is_screen = '<body class="console' in reply.text
                        assert not is_screen or "You are reading a copy" in reply.text, path
        assert NOTED_SCREENS == other

    async def test_public_pages(self, both: Both) -> None:
        """Those of links that exist, and those of none."""
        ours, seen = {**both.world.ours.ids, "key": "none", "code": "none", "path": "none"}, Counter[int]()
        for group in app.page_groups():
            for page in group.all:
                if page.method == "GET" and set(NAMES.findall(page.path)) <= set(ours):
                    reply = await both.copy.ask("GET", page.path.replace(":path", "").format_map(ours))
                    assert reply.status < 500, page.path
                    seen[reply.status] += 1
        assert seen[200], seen

    async def test_readiness(self, both: Both) -> None:
        reply = await both.copy.ask("GET", "/readyz")
        assert (200, "copy", int) == (reply.status, reply.document["server"], type(reply.document["lag_seconds"]))
        wrong: Any = app.create_app(pool=both.reading, site=both.world.site)
        reply = await Wire(wrong).ask("GET", "/readyz")
        assert (503, "primary") == (reply.status, reply.document["server"])


class TestEvents:
    async def test_a_cursor_that_is_not_there_yet(self, both: Both) -> None:
        """The standby says to come back, and not that the cursor has expired."""
        token, secret = both.world.ours.token, both.world.site.secret
        await both.pair.caught_up()
        await both.pair.pause()
        try:
            await both.write(1)
            target = f"{EVENTS}&after={log.cursor_of((await both.all_events())[-1], secret=secret)}"
            reply = await both.copy.ask("GET", target, token=token)
            assert (503, "replica_behind", "2") == (reply.status, reply.document["code"], reply.headers["retry-after"])
            assert [] == problem_faults(reply)
            assert 200 == (await both.world.ask("GET", target)).status
        finally:
            await both.pair.resume()
        await both.pair.caught_up()
        assert 200 == (await both.copy.ask("GET", target, token=token)).status

    async def test_a_cursor_that_is_gone(self, both: Both) -> None:
        """An event that is older than what the standby has would be there."""
        async with db.connection(both.world.pool) as database:
            long_ago = ids.ordered(database.clock.now().replace(year=2020))
        cursor = log.cursor_of(long_ago, secret=both.world.site.secret)
        await both.write(1)
        await both.pair.caught_up()
        reply = await both.copy.ask("GET", f"{EVENTS}&after={cursor}", token=both.world.ours.token)
        assert (422, "cursor_expired") == (reply.status, reply.document["errors"][0]["code"])


async def test_a_client_that_goes_from_server_to_server(tell: Tell) -> None:
    """Three seconds of delay, and several who write: no event is missed, none comes twice, no cursor is refused."""
    async with _both(delay="3s") as both:
        token, seen, statuses = both.world.ours.token, list[str](), Counter[int]()
        after, last = "", ""
        async with asyncio.timeout(SECONDS_MAX), asyncio.TaskGroup() as group:
            writing = [group.create_task(both.write(WRITTEN)) for _ in range(WRITERS)]
            servers = [both.world.wire, both.copy]
            while not last or seen[-1] != last:
                servers.reverse()
                reply = await servers[0].ask("GET", f"{EVENTS}{after}", token=token)
                statuses[reply.status] += 1
                if reply.status == 200 and reply.document["results"]:
                    seen += [one["event_id"] for one in reply.document["results"]]
                    after = f"&after={reply.document['results'][-1]['cursor']}"
                if not last and all(task.done() for task in writing):
                    last = (await both.all_events())[-1]
        expected = await both.all_events()
    assert expected == seen
    assert {200, 503} == set(statuses)
    tell("events from two servers in turn", read=len(seen), refused_422=statuses[422], not_there_yet=statuses[503])
