"""The middleware before all routes: spellings of a path, HEAD, OPTIONS, origins of browsers."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import asyncpg
import httpx2
import pytest
from starlette.types import Message
from structlog.testing import capture_logs

from afterword import errors
from afterword.core.wire.site import Site
from afterword.kit.web import middleware as shedding
from afterword.kit.web.metrics import Metrics
from afterword.kit.web.middleware import NOWHERE, REQUESTS_MIN, LoadShedder, Middleware, PageGate, canonical_path
from tests.kit.web.client import create, problem
from tests.kit.web.conftest import House


class TestPaths:
    @pytest.mark.parametrize(
        ("path", "raw", "expected"),
        [
            ("/v3.2/q/x", b"/v3.2/q%2Fx", NOWHERE),
            ("/v3.2/q/x", b"/v3.2/q%2fx", NOWHERE),
            ("/v3.2//q///x", b"/v3.2//q///x", "/v3.2/q/x"),
            ("//v3.2/q/x/", None, "/v3.2/q/x"),
            ("/v3.0/q/x", None, "/v3.2/q/x"),
            ("/v3.1//q/x/", None, "/v3.2/q/x"),
            ("/v3.1", None, "/v3.2"),
            ("/v3.10/q", None, "/v3.10/q"),
            ("/V3.2/q", None, "/V3.2/q"),
            ("/", None, "/"),
            ("///", None, "/"),
            ("/a/b%", b"/a/b%25", "/a/b%"),
            ("/v3.2/q\n", b"/v3.2/q%0A", NOWHERE),
        ],
    )
    def test_one_spelling(self, path: str, raw: bytes | None, expected: str) -> None:
        assert expected == canonical_path(path, raw)

    async def test_answered_directly(self, client: httpx2.AsyncClient) -> None:
        for path in ("/v3.2//note", "/v3.0/note", "/v3.1//note//", "//v3.2/note/"):
            found = await client.post(f"http://testserver{path}", json={"title": "x"})
            assert 201 == found.status_code, path
            assert found.headers["location"].startswith("http://testserver/v3.2/note/")

    async def test_leads_nowhere(self, client: httpx2.AsyncClient) -> None:
        for path in (
            "/v3.2/Note", "/v3.2/note%2Fbare", "/v3.2/note;x=1", "/v3.3/note", "/v3.2/note/a/b", "/v3.2%2Fnote",
            "/v3.2/note%0A",
        ):  # fmt: skip
            problem(await client.get(f"http://testserver{path}"), 404, "unknown_route")

    async def test_no_id(self, client: httpx2.AsyncClient) -> None:
        for name in ("..%2e", "%00", "a;b", "%C3%A9" * 11, "x" * 22 + "x", "%FF" * 22):
            problem(await client.get(f"/note/{name}"), 404, "not_found")


async def test_why_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log tells of a full disk, once a minute however many ask."""

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        cause = asyncpg.DiskFullError("could not extend file: No space left on device\nHINT:  Check free disk space.")
        raise errors.Unavailable("Away.") from (cause if scope["path"] == "/full" else None)

    served = Middleware(app, site=Site("http://testserver", b""), metrics=Metrics(), gate=cast("Any", None))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(served), base_url="http://testserver") as client:
        with capture_logs() as logged:
            for path in ("/busy", "/full", "/full"):
                assert 503 == (await client.get(path)).status_code
            monkeypatch.setattr(served, "_quiet_until", 0.0)
            await client.get("/full")
    said = {"event": "a request is refused for now", "log_level": "warning"}
    assert [{**said, "cause": "could not extend file: No space left on device"}] * 2 == logged


class TestMethods:
    async def test_head(self, client: httpx2.AsyncClient) -> None:
        note_id = (await create(client))["note_id"]
        for path in (f"/note/{note_id}", "/note", "http://testserver/healthz", "http://testserver/docs"):
            get, head = await client.get(path), await client.head(path)
            assert (get.status_code, b"") == (head.status_code, head.content)
            for name in ("content-length", "content-type", "etag", "link"):
                assert get.headers.get(name) == head.headers.get(name)
        found = await client.head("/nowhere")
        assert (404, b"") == (found.status_code, found.content)

    async def test_options(self, client: httpx2.AsyncClient) -> None:
        found = await client.options("/note")
        assert (204, "GET, HEAD, OPTIONS, POST") == (found.status_code, found.headers["allow"])
        found = await client.options("/note/0")
        assert "DELETE, GET, HEAD, OPTIONS, PATCH" == found.headers["allow"]
        assert 404 == (await client.options("/nowhere")).status_code

    async def test_others(self, client: httpx2.AsyncClient) -> None:
        for method in ("PUT", "TRACE", "PROPFIND", "get", "BREW"):
            request = client.build_request("GET", "/note")
            request.method = method
            problem(await client.send(request), 405, "method_not_allowed")

    async def test_overrides_are_ignored(self, client: httpx2.AsyncClient) -> None:
        note_id = (await create(client))["note_id"]
        await client.get(f"/note/{note_id}?_method=DELETE", headers={"X-HTTP-Method-Override": "DELETE"})
        assert 200 == (await client.get(f"/note/{note_id}")).status_code

    async def test_forwarded_headers_are_ignored(self, client: httpx2.AsyncClient) -> None:
        sent = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
        found = await client.post("/note", json={"title": "x"}, headers=sent)
        assert found.headers["location"].startswith("http://testserver/")


class TestOrigins:
    async def test_off(self, client: httpx2.AsyncClient) -> None:
        sent = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
        for found in (await client.options("/note", headers=sent), await client.get("/note", headers=sent)):
            assert not [name for name in found.headers if name.startswith("access-control")]

    async def test_listed(self, notes: House) -> None:
        origin = "https://shop.example"
        async with notes.client(origins=[origin]) as client:
            sent = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            preflight = await client.options("/note", headers=sent)
            found = await client.get("/note", headers={"Origin": origin})
            other = await client.get("/note", headers={"Origin": "https://evil.example"})
            plain = await client.options("/note", headers={"Origin": origin})
        assert 204 == preflight.status_code
        assert origin == preflight.headers["access-control-allow-origin"]
        assert "Idempotency-Key" in preflight.headers["access-control-allow-headers"]
        assert "PATCH" in preflight.headers["access-control-allow-methods"]
        assert origin == found.headers["access-control-allow-origin"]
        assert "X-Request-Id" in found.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in found.headers
        assert "access-control-allow-origin" not in other.headers
        assert "GET, HEAD, OPTIONS, POST" == plain.headers["allow"]


SECONDS_MAX = 10


@pytest.fixture
def load_shedder(monkeypatch: pytest.MonkeyPatch) -> LoadShedder:
    monkeypatch.setattr(shedding, "INTERVAL_SECONDS", 0.002)
    return LoadShedder()


def enter(load_shedder: LoadShedder, count: int) -> None:
    for _ in range(count):
        load_shedder.enter()


def leave(load_shedder: LoadShedder, count: int) -> None:
    for _ in range(count):
        load_shedder.leave()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS_MAX):
        while not condition():
            await asyncio.sleep(0.001)


async def turns(count: int = 5) -> None:
    """Let some turns pass."""
    for _ in range(count):
        await asyncio.sleep(0.003)


class TestHigh:
    async def test_more_than_it_catches_up_with(self, load_shedder: LoadShedder) -> None:
        enter(load_shedder, REQUESTS_MIN)
        await until(lambda: load_shedder.is_high)

    async def test_lasts_while_others_ask(self, load_shedder: LoadShedder, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shedding, "CALM_SECONDS", 60.0)
        monkeypatch.setattr(shedding, "WAIT_SECONDS", 0.0)
        enter(load_shedder, REQUESTS_MIN)
        await until(lambda: load_shedder.is_high)
        leave(load_shedder, REQUESTS_MIN)  # all at once, as those who shared a transaction
        assert not load_shedder.is_high
        await turns()
        enter(load_shedder, REQUESTS_MIN)
        assert load_shedder.is_high


class TestNotHigh:
    async def test_few(self, load_shedder: LoadShedder) -> None:
        enter(load_shedder, REQUESTS_MIN - 1)
        await turns()
        assert not load_shedder.is_high

    async def test_a_burst(self, load_shedder: LoadShedder) -> None:
        for _ in range(5):
            enter(load_shedder, REQUESTS_MIN * 5)
            assert not load_shedder.is_high
            leave(load_shedder, REQUESTS_MIN * 5)
            await turns(1)
        assert not load_shedder.is_high

    async def test_as_many_as_are_answered_in_time(
        self, load_shedder: LoadShedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shedding, "WAIT_SECONDS", 60.0)
        enter(load_shedder, REQUESTS_MIN * 2)
        for _ in range(5):
            await turns(1)
            leave(load_shedder, 20)
            enter(load_shedder, 20)
        await turns(1)
        assert not load_shedder.is_high

    async def test_those_who_wait_for_their_clients(self, load_shedder: LoadShedder) -> None:
        sent = asyncio.Event()

        async def receive() -> Message:
            await sent.wait()
            return {}

        async def wait() -> None:
            await load_shedder.untimed(receive)()

        enter(load_shedder, REQUESTS_MIN - 1)
        async with asyncio.TaskGroup() as clients:
            for _ in range(REQUESTS_MIN):
                load_shedder.enter()
                clients.create_task(wait())
                await asyncio.sleep(0)
            await turns()
            assert not load_shedder.is_high
            sent.set()

    async def test_it_is_over(self, load_shedder: LoadShedder, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shedding, "CALM_SECONDS", 0.01)
        enter(load_shedder, REQUESTS_MIN)
        await until(lambda: load_shedder.is_high)
        leave(load_shedder, REQUESTS_MIN)

        def takes_a_burst() -> bool:
            enter(load_shedder, REQUESTS_MIN)
            is_high = load_shedder.is_high
            leave(load_shedder, REQUESTS_MIN)
            return not is_high

        await asyncio.sleep(0.05)  # in which nobody is refused
        await until(takes_a_burst)


OWNERS = {("a", "mine"): {"us"}, ("a", "theirs"): {"them"}, ("s", "both"): {"us", "them"}}


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/a/mine", "/a/mine"),
        ("/a/theirs", "/a/-"),
        ("/a/theirs/view", "/a/-/view"),
        ("/a/nobodys", "/a/nobodys"),
        ("/s/both", "/s/both"),
        ("/healthz", "/healthz"),
        ("/static/public/box.js", "/static/public/box.js"),
        ("/static/console/keys.js", NOWHERE),
        ("/", NOWHERE),
        ("/a", NOWHERE),
        ("/a/", NOWHERE),
        ("/console", NOWHERE),
        ("/v3.2/q/instance/mine", NOWHERE),
        ("/new/mine", NOWHERE),
    ],
)
async def test_served(path: str, served: str) -> None:
    async def owners_of(kind: str, key: str) -> set[str]:
        return OWNERS.get((kind, key), set())

    site = Site("https://answers.example", b"k")
    site.domains.replace([("us", "ask.shop.example", False)])
    gate = PageGate(site, owners_of)
    assert served == await gate.path({"path": path}, {"host": "Ask.shop.example:443"})
    for host in ("answers.example", "ask.shop.example.evil.example", "a.ask.shop.example"):
        assert path == await gate.path({"path": path}, {"host": host})
