"""The checks before a route, in the order in which they refuse."""

from collections.abc import AsyncGenerator

import httpx2
import pytest

from afterword.kit import db
from afterword.kit.db.replicas import Replica
from afterword.kit.web.limits import Limits
from tests.kit.web.client import UNKNOWN, create, problem
from tests.kit.web.conftest import READER, House
from tests.standbys import Told

BAD_TOKEN = "afw_0000000000000000_00000000000000000000000000000000000000"


class TestOrderOfChecks:
    """Each request breaks several rules; the answer names the one that is checked first."""

    async def test_route_before_everything(self, notes: House) -> None:
        async with notes.client(token=None) as client:
            problem(await client.post("/nowhere", content=b"{"), 404, "unknown_route")
            found = await client.put("/note", content=b"{")
        problem(found, 405, "method_not_allowed")
        assert "GET, HEAD, OPTIONS, POST" == found.headers["allow"]
        assert "This address takes GET, POST." == found.json()["detail"]

    @pytest.mark.usefixtures("one_minute")
    async def test_source_limit_after_token(self, notes: House) -> None:
        """Bad tokens are refused in the end; a good one behind the same address never is."""
        async with notes.client(token=BAD_TOKEN, limits=Limits(0, 0, 2)) as client:
            for _ in range(2):
                problem(await client.get("/note"), 401, "invalid_token")
            found = await client.get("/note")
            good = await client.get("/note", headers={"Authorization": f"Bearer {notes.token}"})
        problem(found, 429, "rate_limited")
        assert 1 <= int(found.headers["retry-after"]) <= 60
        assert 200 == good.status_code

    async def test_token_before_scope_and_body(self, notes: House) -> None:
        async with notes.client(token=None) as client:
            found = await client.post("/note?x[", content=b"{", headers={"Content-Encoding": "gzip"})
        problem(found, 401, "unauthenticated")
        assert 'Bearer realm="afterword"' == found.headers["www-authenticate"]

    async def test_domain_before_scope(self, notes: House) -> None:
        async with notes.client(token=await notes.token_for("Tag.Read")) as client:
            found = await client.post("/note", content=b"{", headers={"esat-domain": "other"})
        problem(found, 403, "domain_mismatch")

    @pytest.mark.usefixtures("one_minute")
    async def test_scope_before_limit_and_edge(self, notes: House) -> None:
        token = await notes.token_for("Tag.Read")
        async with notes.client(token=token, limits=Limits(1, 0, 0)) as client:
            await client.get("/note")
            found = await client.post("/note", content=b"{")
        assert ["Tag.Create"] == problem(found, 403, "insufficient_scope")["required_scopes"]
        assert 'Bearer error="insufficient_scope", scope="tag.create"' == found.headers["www-authenticate"]
        assert ("1", "0") == (found.headers["ratelimit-limit"], found.headers["ratelimit-remaining"])

    @pytest.mark.usefixtures("one_minute")
    async def test_token_limit_before_edge(self, notes: House) -> None:
        async with notes.client(limits=Limits(1, 0, 0)) as client:
            assert 200 == (await client.get("/note")).status_code
            found = await client.post("/note", content=b"{")
        problem(found, 429, "rate_limited")
        assert "0" == found.headers["ratelimit-remaining"]

    async def test_edge_before_fields(self, client: httpx2.AsyncClient) -> None:
        found = await client.post(
            "/note?limit=x", content=b"{", headers={"Content-Type": "application/json", "Idempotency-Key": "a"}
        )
        problem(found, 400, "malformed_json")

    async def test_fields_before_idempotency_key(self, client: httpx2.AsyncClient) -> None:
        sent = {"Idempotency-Key": "k1"}
        assert 201 == (await client.post("/note", json={"title": "one"}, headers=sent)).status_code
        problem(await client.post("/note", json={}, headers=sent), 422, "invalid")

    async def test_fields_before_ids_of_the_path(self, client: httpx2.AsyncClient) -> None:
        problem(await client.patch("/note/x", json={"title": None}), 422, "invalid")
        problem(await client.patch("/note/x", json={}), 404, "not_found")
        problem(await client.patch(f"/note/{UNKNOWN}", json={}), 404, "not_found")

    async def test_path_before_if_match(self, client: httpx2.AsyncClient) -> None:
        found = await client.patch(f"/note/{UNKNOWN}", json={}, headers={"If-Match": '"7"'})
        problem(found, 404, "not_found")

    async def test_if_match_before_state(self, client: httpx2.AsyncClient) -> None:
        note_id = (await create(client))["note_id"]
        change = {"title": "taken"}
        stale = await client.patch(f"/note/{note_id}", json=change, headers={"If-Match": '"7"'})
        problem(stale, 412, "precondition_failed")
        problem(await client.patch(f"/note/{note_id}", json=change), 409, "already_exists")

    async def test_foreign_and_absent_differ_in_the_request_id_alone(self, notes: House) -> None:
        async with notes.client() as client:
            foreign = (await create(client))["note_id"]
            async with db.transaction(notes.pool) as database:
                await database.execute("update note set organization_id = 'other'")
            answers = [
                await client.get(f"/note/{name}", headers={"X-Request-Id": "r"}) for name in (foreign, UNKNOWN, "x")
            ]
        problem(answers[0], 404, "not_found")
        assert answers[0].headers == answers[1].headers
        assert answers[0].json() | {"detail": ""} == answers[1].json() | {"detail": ""}


LAG = "afterword-replica-lag"


@pytest.fixture
async def reader(pool_url: str) -> AsyncGenerator[db.Pool]:
    async with await db.open_pool(pool_url, size_max=1, application_name=READER) as pool:
        yield pool


async def served_by(client: httpx2.AsyncClient, *lacking: str) -> tuple[str, str | None]:
    """The server that answers a long read, and the lag that it tells."""
    found = await client.get("/note/server", params={"word": list(lacking)})
    assert 200 == found.status_code, found.text
    return "reader" if found.json()["words"] == [READER] else "primary", found.headers.get(LAG)


class TestLongReads:
    @pytest.mark.parametrize("age", [None, 31])
    async def test_a_standby_that_is_too_far_behind(self, notes: House, reader: db.Pool, age: int | None) -> None:
        async with notes.client(reader=Told(reader, age)) as client:
            assert ("primary", None) == await served_by(client)

    async def test_a_standby_that_is_away(self, notes: House, pool_url: str) -> None:
        nowhere = pool_url.replace("?host=", "?host=/nowhere")
        async with await db.open_pool(nowhere, size_max=1) as pool, notes.client(reader=Replica(pool)) as client:
            assert ("primary", None) == await served_by(client)

    @pytest.mark.parametrize("lacking", ["row", "schema"])
    async def test_what_is_not_there_yet(self, notes: House, reader: db.Pool, lacking: str) -> None:
        async with notes.client(reader=Told(reader, 4)) as client:
            assert ("primary", None) == await served_by(client, lacking)

    async def test_what_takes_too_long_is_not_read_again(self, notes: House, reader: db.Pool) -> None:
        async with notes.client(reader=Told(reader, 4)) as client:
            problem(await client.get("/note/server?word[]=time"), 503, "unavailable")

    async def test_whoever_may_not_read(self, notes: House, reader: db.Pool) -> None:
        async with notes.client(token=await notes.token_for("Tag.Create"), reader=Told(reader, 4)) as client:
            problem(await client.get("/note/server"), 403, "insufficient_scope")

    async def test_the_standby_answers_with_its_lag(self, notes: House, reader: db.Pool) -> None:
        async with notes.client(reader=Told(reader, 4)) as client:
            assert ("reader", "4") == await served_by(client)
            assert LAG not in (await client.get("/note")).headers


class TestCursorsOfCopies:
    """A list is never read on by a server that has less than the one that began it."""

    async def test_on_a_copy_that_is_behind(self, notes: House) -> None:
        async with notes.client() as client:
            for title in ("one", "two"):
                await create(client, title)
            cursor = (await client.get("/note?limit=1")).json()["next_cursor"]
        async with notes.client(copy=Told(notes.pool, 9)) as client:
            found = await client.get("/note", params={"limit": 1, "cursor": cursor})
            problem(found, 503, "replica_behind")
            assert "2" == found.headers["retry-after"]
        async with notes.client(copy=Told(notes.pool, None)) as client:
            problem(await client.get("/note", params={"limit": 1, "cursor": cursor}), 503, "replica_behind")

    async def test_the_copy_reads_on_itself(self, notes: House) -> None:
        """And the primary reads on what any copy began."""
        async with notes.client() as client:
            for title in ("one", "two", "three"):
                await create(client, title)
        async with notes.client(copy=Told(notes.pool, 9)) as copy, notes.client() as client:
            found = (await copy.get("/note?limit=1")).json()
            titles = [found["results"][0]["title"]]
            for each in (copy, client):
                found = (await each.get("/note", params={"limit": 1, "cursor": found["next_cursor"]})).json()
                titles.append(found["results"][0]["title"])
        assert ["three", "two", "one"] == titles

    async def test_the_primary_goes_on_where_the_standby_would_lack_rows(self, notes: House, reader: db.Pool) -> None:
        standby = Told(reader, 4)
        async with notes.client(reader=standby) as client:
            for title in ("one", "two", "three"):
                await create(client, title)
            first = await client.get("/note/far?limit=1")
            second = await client.get("/note/far", params={"limit": 1, "cursor": first.json()["next_cursor"]})
            assert ["4", "4"] == [first.headers[LAG], second.headers[LAG]]
            standby.age = None
            begun = (await client.get("/note/far?limit=1")).json()["next_cursor"]
            standby.age = 4
            found = await client.get("/note/far", params={"limit": 1, "cursor": begun})
        assert (200, "two", False) == (found.status_code, found.json()["results"][0]["title"], LAG in found.headers)
