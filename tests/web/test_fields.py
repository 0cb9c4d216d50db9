"""The members of a body: all that are wrong are told at once, before anything is stored."""

import httpx2
import pytest

from tests.web.client import count, create, fields_of, problem
from tests.web.conftest import House


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
