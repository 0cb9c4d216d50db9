"""The checks before a route, in the order in which they refuse."""

import httpx2
import pytest

from afterword.kit import db
from afterword.kit.web.limits import Limits
from tests.kit.web.client import UNKNOWN, create, problem
from tests.kit.web.conftest import House

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
