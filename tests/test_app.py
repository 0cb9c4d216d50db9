"""The whole application: its doors outside the API, and what it says while the database is away."""

import asyncio
import html
import time
from typing import Any

import asyncpg
import httpx2
import pytest
from structlog.testing import capture_logs

from afterword import app, db
from afterword.core.wire.site import Site
from afterword.web import static, vocabulary
from afterword.web.loopback import url_with_key
from afterword.web.metrics import Sample
from tests import machine
from tests.conftest import POOL_SIZE

SITE = Site("http://testserver", b"s" * 32)


def client_of(pool: db.Pool, *, source: str = "192.0.2.1", site: Site = SITE, **options: Any) -> httpx2.AsyncClient:
    asgi: Any = app.create_app(pool=pool, site=site, **options)
    transport = httpx2.ASGITransport(app=asgi, client=(source, 1), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://testserver")


@pytest.fixture
async def lost(pool: db.Pool, database_url: str) -> db.Pool:
    """A pool whose database was there, and takes nobody any more."""
    async with db.connection(pool) as database:
        name = await database.fetch_value("select current_database()")
    admin: Any = await asyncpg.connect(database_url.replace(f"/{name}?", "/postgres?"))
    try:
        await admin.execute(f'alter database "{name}" with allow_connections false')
        await admin.execute(
            """select pg_terminate_backend(pid) from pg_stat_activity
               where usename = current_user and datname = $1""",
            name,
        )
    finally:
        await admin.close()
    return pool


class TestDatabaseAway:
    async def test_api(self, lost: db.Pool) -> None:
        token = "afw_0000000000000000_00000000000000000000000000000000"
        async with client_of(lost) as client:
            start = time.monotonic()
            signed = token + app.access.checksum(token)
            found = await client.get("/v3.2/q/questionnaire", headers={"Authorization": f"Bearer {signed}"})
            assert not machine.is_over(time.monotonic() - start, limit=1)
            assert (503, "unavailable", "2") == (
                found.status_code,
                found.json()["code"],
                found.headers["retry-after"],
            )
            assert 401 == (await client.get("/v3.2/q/questionnaire")).status_code

    async def test_probes(self, lost: db.Pool) -> None:
        async with client_of(lost, metrics_access="all") as client:
            assert 200 == (await client.get("/healthz")).status_code
            found = await client.get("/readyz")
            assert (503, "The database cannot be reached.") == (found.status_code, found.json()["reason"])
            figures = await client.get("/metrics")
        assert 200 == figures.status_code
        assert "afterword_metrics_failures_total 1.0" in figures.text

    async def test_page(self, lost: db.Pool) -> None:
        async with client_of(lost) as client:
            found = await client.get(f"/a/{'z' * 22}", headers={"Accept": "text/html"})
        assert (503, "text/html; charset=utf-8") == (found.status_code, found.headers["content-type"])


class TestProbes:
    async def test_ready(self, pool: db.Pool) -> None:
        async with client_of(pool) as client:
            found = await client.get("/readyz")
        assert (200, {"status": "ready"}) == (found.status_code, found.json())

    async def test_not_migrated(self, empty_database_url: str) -> None:
        async with await db.open_pool(empty_database_url, size_max=1) as pool, client_of(pool) as client:
            found = await client.get("/readyz")
        assert 503 == found.status_code
        assert "migrate" in found.json()["reason"]

    @pytest.mark.parametrize(("access", "status"), [("loopback", 404), ("off", 404), ("all", 200)])
    async def test_metrics_access(self, pool: db.Pool, access: str, status: int) -> None:
        async with client_of(pool, metrics_access=access) as client:
            assert status == (await client.get("/metrics")).status_code

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({"Host": "localhost:8080", "X-Forwarded-For": "127.0.0.1"}, 404),
            ({"Host": "localhost:8080", "Forwarded": "for=203.0.113.9"}, 404),
            ({"Host": "survey.example.com"}, 404),
            ({"Host": "localhost:8080"}, 200),
            ({"Host": "[::1]:8080"}, 200),
            ({"Host": "localhost", "X-Forwarded-Proto": "https"}, 404),
            ({"Host": "localhost", "X-Client-IP": "203.0.113.9"}, 404),
            ({"Host": "localhost", "CF-Connecting-IP": "203.0.113.9"}, 404),
        ],
    )
    async def test_metrics_behind_a_proxy_here(self, pool: db.Pool, headers: dict[str, str], status: int) -> None:
        site = Site("http://localhost:8080", SITE.secret)
        async with client_of(pool, source="127.0.0.1", site=site) as client:
            assert status == (await client.get("/metrics", headers=headers)).status_code

    async def test_metrics_of_a_public_address(self, pool: db.Pool) -> None:
        """Behind a proxy on this machine a stranger chooses the Host, so only the key opens them."""
        site = Site("https://survey.example.com", SITE.secret)
        async with client_of(pool, source="127.0.0.1", site=site) as client:
            client.headers["Host"] = "localhost"
            keyed = url_with_key(site, "metrics").removeprefix(site.public_url)
            statuses = [(await client.get(path)).status_code for path in ("/metrics", "/metrics?key=00", keyed)]
        assert [404, 404, 200] == statuses

    async def test_metrics(self, pool: db.Pool) -> None:
        async def collect() -> list[Sample]:
            return [
                Sample("afterword_test", "A test.", 3, (("kind", "a"),)),
                Sample("afterword_test", "A test.", 4, (("kind", "b"),)),
                Sample("afterword_plain", "Another.", 1),
            ]

        async with client_of(pool, metrics_access="all", collectors=[collect]) as client:
            await client.get(f"/v3.2/q/queue/item/{'0' * 22}")
            await client.get("/nowhere/at/all")
            found = await client.get("/metrics")
        assert found.headers["content-type"].startswith("text/plain")
        series = 'method="GET",route="/v3.2/q/queue/item/{item_id}",status="401"'
        assert f"afterword_http_request_seconds_count{{{series}}} 1.0" in found.text
        assert 'route="unknown",status="404"' in found.text
        assert 'afterword_test{kind="b"} 4.0' in found.text
        assert "afterword_plain 1.0" in found.text
        assert "\nafterword_queue" in found.text


class TestFiles:
    async def test_style(self, pool: db.Pool) -> None:
        async with client_of(pool) as client:
            plain = await client.get("/static/public/afterword.css")
            marked = await client.get(static.url("public/afterword.css"))
            other = await client.get("/static/public/afterword.css?v=0123456789")  # of a release to come, or gone
            etag = {"If-None-Match": plain.headers["etag"]}
            again = await client.get("/static/public/afterword.css", headers=etag)
        assert "text/css; charset=utf-8" == plain.headers["content-type"]
        assert "nosniff" == plain.headers["x-content-type-options"]
        assert "immutable" in marked.headers["cache-control"]
        assert "public, max-age=300" == plain.headers["cache-control"] == other.headers["cache-control"]
        assert (304, b"") == (again.status_code, again.content)

    @pytest.mark.parametrize(
        "path", ["nope.css", "../app.py", "..%2Fapp.py", "%2e%2e/app.py", "", "public", "/etc/passwd"]
    )
    async def test_nothing_else(self, pool: db.Pool, path: str) -> None:
        async with client_of(pool) as client:
            assert 404 == (await client.get(f"/static/{path}")).status_code


class TestExplanations:
    @pytest.mark.parametrize("path", ["/", "/v3.2", "/v3.2/"])
    async def test_the_first_page_says_where_one_is(self, pool: db.Pool, path: str) -> None:
        for show_outbox in (False, True):
            async with client_of(pool, show_outbox=show_outbox) as client:
                found = await client.get(path)
            assert 200 == found.status_code
            assert "<h1>Afterword</h1>" in found.text
            assert 'href="/docs"' in found.text
            assert show_outbox == ('href="/outbox"' in found.text)

    async def test_document(self, pool: db.Pool) -> None:
        async with client_of(pool) as client:
            first = await client.get("/openapi.json")
            second = await client.get("/v3.2/openapi.json")
        assert first.json() == second.json()
        assert "http://testserver/v3.2" == first.json()["servers"][0]["url"]

    async def test_reference(self, pool: db.Pool) -> None:
        async with client_of(pool) as client:
            found = await client.get("/docs")
        assert 200 == found.status_code
        assert "default-src 'none'" in found.headers["content-security-policy"]
        text = html.unescape(found.text)
        for route in (route for group in app.api_routes() for route in group.all):
            assert f"<code>{route.path}</code>" in text
            assert f"<code>{route.scope}</code>" in text
        assert "<script" not in found.text
        assert "//cdn" not in found.text

    async def test_problems(self, pool: db.Pool) -> None:
        async with client_of(pool) as client:
            for code in vocabulary.EXPLANATIONS:
                found = await client.get(f"/problems/{code}")
                assert 200 == found.status_code
                assert code in found.text
            for code in {code for group in app.api_routes() for route in group.all for code in route.refusals}:
                assert 200 == (await client.get(f"/problems/{code}")).status_code, code
            assert 404 == (await client.get("/problems/nope")).status_code


class TestRefusalsOutside:
    async def test_page_or_problem(self, pool: db.Pool) -> None:
        async with client_of(pool) as client:
            page = await client.get("/nowhere", headers={"Accept": "text/html,*/*;q=0.1"})
            document = await client.get("/nowhere")
            inside = await client.get("/v3.2/nowhere", headers={"Accept": "text/html"})
        assert (404, "text/html; charset=utf-8") == (page.status_code, page.headers["content-type"])
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "application/problem+json" == document.headers["content-type"]
        assert "application/problem+json" == inside.headers["content-type"]


async def test_a_client_that_goes_away_is_no_fault_of_ours(pool: db.Pool) -> None:
    sent: list[Any] = []
    messages = iter([{"type": "http.request", "body": b"token=", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-length", b"100"), (b"content-type", b"application/x-www-form-urlencoded")]
    path = f"/u/{'0' * 22}"
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "headers": headers}
    asgi: Any = app.create_app(pool=pool, site=SITE)
    with capture_logs() as lines:
        await asgi({**scope, "query_string": b"", "client": None, "server": None, "scheme": "http"}, receive, send)
    assert 500 > sent[0]["status"]
    assert [] == lines


async def test_many_at_once_share_the_pool(pool: db.Pool) -> None:
    async with client_of(pool) as client:
        answers = await asyncio.gather(*(client.get("/readyz") for _ in range(4 * POOL_SIZE)))
    assert {200} == {answer.status_code for answer in answers}
