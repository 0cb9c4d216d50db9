"""Answers: their status, their headers, and the members that were asked for."""

import httpx2
import pytest

from afterword.core.wire.site import Site
from afterword.kit.web.limits import Limits
from tests.kit.web.client import UNKNOWN, count, create, fields_of, problem
from tests.kit.web.conftest import House


class TestAnswers:
    async def test_created(self, client: httpx2.AsyncClient) -> None:
        found = await client.post("/note", json={"title": "Ωmega", "send_time": "2027-01-15 10:30", "locale": None})
        note = found.json()
        assert 201 == found.status_code
        assert "application/json" == found.headers["content-type"]
        assert '"1"' == found.headers["etag"]
        assert f"http://testserver/v3.2/note/{note['note_id']}" == found.headers["location"]
        assert "private, no-cache" == found.headers["cache-control"]
        assert "Authorization, esat-auth, Origin" == found.headers["vary"]
        assert "nosniff" == found.headers["x-content-type-options"]
        assert "strict-transport-security" not in found.headers
        assert ["note_id", "title", "locale", "rank", "send_time", "created_time"] == list(note)
        assert "2027-01-15T10:30:00+02:00" == note["send_time"]
        assert note["created_time"].endswith("+02:00")

    async def test_get_and_not_modified(self, client: httpx2.AsyncClient) -> None:
        note = await create(client)
        found = await client.get(f"/note/{note['note_id']}")
        assert (200, note) == (found.status_code, found.json())
        etag = found.headers["etag"]
        for tags in (etag, f"W/{etag}", f'"9", {etag}', "*"):
            again = await client.get(f"/note/{note['note_id']}", headers={"If-None-Match": tags})
            assert (304, b"", etag) == (again.status_code, again.content, again.headers["etag"])
        changed = await client.get(f"/note/{note['note_id']}", headers={"If-None-Match": '"9"'})
        assert 200 == changed.status_code

    async def test_patch_and_if_match(self, client: httpx2.AsyncClient) -> None:
        note_id = (await create(client))["note_id"]
        for tags, expected in (('"1"', 200), ('"1"', 412), ('W/"2"', 200), ('"7", "3"', 200), ("*", 200)):
            found = await client.patch(f"/note/{note_id}", json={"title": "x"}, headers={"If-Match": tags})
            assert expected == found.status_code

    async def test_deleted(self, client: httpx2.AsyncClient) -> None:
        note_id = (await create(client))["note_id"]
        stale = await client.delete(f"/note/{note_id}", headers={"If-Match": '"2"'})
        problem(stale, 412, "precondition_failed")
        found = await client.delete(f"/note/{note_id}")
        assert (204, b"") == (found.status_code, found.content)
        assert "content-type" not in found.headers
        problem(await client.delete(f"/note/{note_id}"), 404, "not_found")

    async def test_delete_ignores_what_old_clients_send(self, client: httpx2.AsyncClient) -> None:
        for body, label in (
            (b"fields%5B0%5D=%2A", "application/x-www-form-urlencoded"),
            (b"[]", "application/json"),
            (b"[]", "application/x-www-form-urlencoded"),
            (b"", "application/json"),
        ):
            note_id = (await create(client))["note_id"]
            found = await client.request("DELETE", f"/note/{note_id}", content=body, headers={"Content-Type": label})
            assert 204 == found.status_code, found.text

    async def test_bug_is_a_500_that_tells_nothing(self, client: httpx2.AsyncClient) -> None:
        found = await client.get("/note/broken")
        problem(found, 500, "internal_error")
        assert "secret detail" not in found.text
        assert "Traceback" not in found.text

    async def test_response_fields(self, client: httpx2.AsyncClient) -> None:
        note_id = (await create(client))["note_id"]
        for query in (
            "response_fields[]=note_id&response_fields[]=title",
            "response_fields=note_id,title",
            "fields[0]=note_id&fields[1]=title",
        ):
            found = await client.get(f"/note/{note_id}?{query}")
            assert {"note_id", "title"} == set(found.json()), query
            results = (await client.get(f"/note?{query}")).json()["results"]
            assert [{"note_id": note_id, "title": "one"}] == results
        for query in ("fields[0]=*", "fields=**", "response_fields="):
            assert 6 == len((await client.get(f"/note/{note_id}?{query}")).json())
        found = problem(await client.get(f"/note/{note_id}?response_fields=nope"), 422, "invalid")
        assert [("response_fields", "unknown_field")] == fields_of(found)
        assert "note_id, " in found["errors"][0]["message"]

    async def test_response_fields_in_a_body(self, client: httpx2.AsyncClient) -> None:
        found = await client.post("/note", json={"title": "x", "response_fields": ["title"]})
        assert {"title": "x"} == found.json()
        assert 6 == len((await client.post("/note", json={"title": "x", "fields": "*"})).json())

    async def test_https_tells_browsers_to_stay(self, notes: House) -> None:
        async with notes.client(site=Site("https://survey.example.com", b"s" * 32)) as client:
            found = await client.get("/note")
        assert "max-age=31536000" == found.headers["strict-transport-security"]

    async def test_request_id(self, client: httpx2.AsyncClient) -> None:
        assert "a.B-1_x" == (await client.get("/note", headers={"X-Request-Id": "a.B-1_x"})).headers["x-request-id"]
        for bad in ("a b", "x" * 65, "é"):
            found = await client.get("/note", headers=[(b"X-Request-Id", bad.encode())])
            assert 22 == len(found.headers["x-request-id"])

    @pytest.mark.usefixtures("one_minute")
    async def test_rate_limit_headers(self, notes: House) -> None:
        async with notes.client(limits=Limits(10, 100, 0)) as client:
            left = [
                int((await client.get(path)).headers["ratelimit-remaining"])
                for path in ("/note", f"/note/{UNKNOWN}", "/note?limit=x")
            ]
            found = await client.get("/note")
        assert [9, 8, 7] == left
        assert "10" == found.headers["ratelimit-limit"]
        assert 1 <= int(found.headers["ratelimit-reset"]) <= 60

    @pytest.mark.usefixtures("one_minute")
    async def test_organization_limit_counts_all_tokens(self, notes: House) -> None:
        other = await notes.token_for("Tag.Read")
        async with notes.client(limits=Limits(10, 3, 0)) as client:
            for _ in range(3):
                assert 200 == (await client.get("/note")).status_code
            found = await client.get("/note", headers={"Authorization": f"Bearer {other}"})
        problem(found, 429, "rate_limited")

    async def test_shared_transaction(self, notes: House) -> None:
        async with notes.client() as client:
            assert 201 == (await client.post("/note/quick", json={"title": "x"})).status_code
            sent = {"Idempotency-Key": "k"}
            first = await client.post("/note/quick", json={"title": "x"}, headers=sent)
            again = await client.post("/note/quick", json={"title": "x"}, headers=sent)
        assert first.json() == again.json()
        assert 2 == await count(notes)
