"""A repeated POST under one Idempotency-Key: the first answer again, and nothing is made twice."""

import asyncio

import httpx2
import pytest

from afterword.kit import db
from tests.kit.web.client import count, problem
from tests.kit.web.conftest import House


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
