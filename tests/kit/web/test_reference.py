"""The pages that explain the API."""

import html

import pytest

from afterword.kit import db
from afterword.kit.web import vocabulary
from afterword.run import app
from tests.run.test_app import client_of


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
