"""One route from the first check to the last header; refusals first, in the order in which they are found."""

import asyncio
from typing import Any

import httpx2
import pytest

from afterword import db
from afterword.core.wire.site import Site
from afterword.web.limits import Limits
from tests.web.conftest import House

UNKNOWN = "0" * 22
BAD_TOKEN = "afw_0000000000000000_00000000000000000000000000000000000000"


def problem(response: httpx2.Response, status: int, code: str) -> dict[str, Any]:
    found: dict[str, Any] = response.json()
    assert (status, code) == (response.status_code, found["code"]), response.text
    assert "application/problem+json" == response.headers["content-type"]
    assert "no-store" == response.headers["cache-control"]
    assert status == found["status"]
    assert found["detail"] == found["message"] == found["error"]
    assert found["detail"]
    assert found["type"].endswith(f"/problems/{code}")
    assert response.headers["x-request-id"] == found["request_id"]
    assert f"urn:afterword:request:{found['request_id']}" == found["instance"]
    return found


def fields_of(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(error.get("pointer", error.get("parameter")), error["code"]) for error in found["errors"]]


async def create(client: httpx2.AsyncClient, title: str = "one", **more: Any) -> dict[str, Any]:
    response = await client.post("/note", json={"title": title, **more})
    assert 201 == response.status_code, response.text
    found: dict[str, Any] = response.json()
    return found


async def count(house: House) -> int:
    async with db.connection(house.pool) as database:
        return await database.fetch_value("select count(*) from note")


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


class TestFields:
    async def test_all_wrong_fields_at_once(self, client: httpx2.AsyncClient) -> None:
        found = await client.post(
            "/note",
            json={
                "locale": "not a locale", "rank": 101, "weight": "1", "done": 1, "send_time": 5, "kind": "odd",
                "owner_id": "x", "metadata": {"questionnaire": {"a": [], "b/c": {}}, "responder": "x"},
                "tags": ["ok", "far too long a tag"], "unknown": 1,
            },
        )  # fmt: skip
        assert [
            ("/title", "required"),
            ("/locale", "invalid_locale"),
            ("/rank", "out_of_range"),
            ("/weight", "wrong_type"),
            ("/done", "wrong_type"),
            ("/send_time", "invalid_date_time"),
            ("/kind", "unknown_value"),
            ("/owner_id", "unknown_id"),
            ("/metadata/questionnaire/a", "wrong_type"),
            ("/metadata/questionnaire/b~1c", "wrong_type"),
            ("/metadata/responder", "wrong_type"),
            ("/tags/1", "too_long"),
        ] == fields_of(problem(found, 422, "invalid"))

    async def test_nothing_of_it_is_stored(self, notes: House) -> None:
        async with notes.client() as client:
            await client.post("/note", json={"title": ""})
        assert 0 == await count(notes)

    @pytest.mark.parametrize("document", ['"text"', "null", "[1]", "7", "true"])
    async def test_not_an_object(self, client: httpx2.AsyncClient, document: str) -> None:
        found = await client.post("/note", content=document, headers={"Content-Type": "application/json"})
        assert [("", "wrong_type")] == fields_of(problem(found, 422, "invalid"))

    @pytest.mark.parametrize("body", [b"", b"[]", b"{}"])
    async def test_nothing_sent(self, client: httpx2.AsyncClient, body: bytes) -> None:
        found = await client.post("/note", content=body, headers={"Content-Type": "application/json"})
        assert [("/title", "required")] == fields_of(problem(found, 422, "invalid"))

    async def test_null_creates_the_default_and_patch_refuses_it(self, client: httpx2.AsyncClient) -> None:
        note = await create(client, kind=None, done=None, tags=None, rank=None)
        found = await client.patch(f"/note/{note['note_id']}", json={"title": None, "rank": None})
        assert [("/title", "not_nullable")] == fields_of(problem(found, 422, "invalid"))

    async def test_strict(self, client: httpx2.AsyncClient) -> None:
        sent = {"Prefer": "respond-async, handling=strict"}
        document = {"title": "x", "nope": 1, "note_id": "x", "metadata": {"questionnaire": {}, "other": {}}}
        found = await client.post("/note?odd=1", json=document, headers=sent)
        assert [
            ("odd", "unknown_member"),
            ("/metadata/other", "unknown_member"),
            ("/nope", "unknown_member"),
            ("/note_id", "read_only"),
        ] == fields_of(problem(found, 422, "invalid"))
        assert 201 == (await client.post("/note?odd=1", json=document)).status_code
        found = await client.post("/note", json={"title": "x"}, headers=sent)
        assert "handling=strict" == found.headers["preference-applied"]

    async def test_query_of_its_own(self, client: httpx2.AsyncClient) -> None:
        found = await client.get("/note/echo?word=a,b&count=2")
        assert {"words": ["a", "b", "a", "b"]} == found.json()
        assert {"words": ["a", "b"]} == (await client.get("/note/echo?word[]=a&word[]=b")).json()
        assert {"words": ["a", "b"]} == (await client.get("/note/echo?word[0]=a&word[1]=b")).json()
        found = await client.get("/note/echo?count=9&word[x]=1")
        assert [("word", "wrong_type"), ("count", "out_of_range")] == fields_of(problem(found, 422, "invalid"))


class TestIdempotency:
    async def test_the_first_answer_again(self, notes: House) -> None:
        async with notes.client() as client:
            sent = {"Idempotency-Key": '"key-1"'}
            first = await client.post("/note", json={"title": "x", "rank": 1}, headers=sent)
            spelt_otherwise = b'{"rank":1, "title":"x"}'
            sent_again = {"Idempotency-Key": "key-1", "Content-Type": "application/json"}
            again = await client.post("/note", content=spelt_otherwise, headers=sent_again)
        assert (201, 201) == (first.status_code, again.status_code)
        assert first.content == again.content
        assert "true" == again.headers["idempotency-replayed"]
        for name in ("location", "etag", "content-type", "cache-control"):
            assert first.headers[name] == again.headers[name]
        assert "idempotency-replayed" not in first.headers
        assert 1 == await count(notes)

    async def test_another_request(self, client: httpx2.AsyncClient) -> None:
        sent = {"Idempotency-Key": "k"}
        await client.post("/note", json={"title": "x"}, headers=sent)
        problem(await client.post("/note", json={"title": "y"}, headers=sent), 422, "idempotency_key_reused")
        problem(await client.post("/note/quick", json={"title": "x"}, headers=sent), 422, "idempotency_key_reused")

    async def test_a_refusal_is_not_kept(self, notes: House) -> None:
        async with notes.client() as client:
            sent = {"Idempotency-Key": "k"}
            problem(await client.post("/note", json={}, headers=sent), 422, "invalid")
            assert 201 == (await client.post("/note", json={"title": "x"}, headers=sent)).status_code
        assert 1 == await count(notes)

    @pytest.mark.parametrize("key", ["", '""', "a b", "x" * 256, "é"])
    async def test_malformed(self, client: httpx2.AsyncClient, key: str) -> None:
        found = await client.post("/note", json={"title": "x"}, headers=[(b"Idempotency-Key", key.encode())])
        assert "Idempotency-Key" == problem(found, 400, "malformed_header")["errors"][0]["header"]

    async def test_ten_at_once_make_one(self, notes: House) -> None:
        async with notes.client() as client:
            sent = {"Idempotency-Key": "k"}
            answers = await asyncio.gather(
                *(client.post("/note", json={"title": "x"}, headers=sent) for _ in range(10))
            )
        assert {201} == {answer.status_code for answer in answers}
        assert 1 == len({answer.content for answer in answers})
        assert 1 == await count(notes)

    async def test_running_for_long(self, notes: House) -> None:
        async with notes.client() as client, db.transaction(notes.pool) as database:
            await database.execute(
                "insert into idempotency_key (organization_id, key, request_digest) values ($1, 'k', '')",
                notes.organization_id,
            )
            found = await client.post("/note", json={"title": "x"}, headers={"Idempotency-Key": "k"})
        problem(found, 409, "idempotency_in_progress")
        assert "1" == found.headers["retry-after"]

    async def test_only_on_post(self, client: httpx2.AsyncClient) -> None:
        assert 200 == (await client.get("/note", headers={"Idempotency-Key": "a b"})).status_code
