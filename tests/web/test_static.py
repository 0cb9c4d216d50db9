"""Files below /static: those that there are, and nothing else of the disk."""

import pytest

from afterword import db
from afterword.web import static
from tests.test_app import client_of


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
