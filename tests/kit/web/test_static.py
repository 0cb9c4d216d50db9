"""Files below /static, and the stylesheet of a brand at its own address: nothing else is there."""

import gzip

import httpx2
import pytest

from afterword.core.questionnaires.visuals import Brand
from afterword.kit import db
from afterword.kit.web import static
from tests.run.test_app import client_of


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

    async def test_compressed(self, pool: db.Pool) -> None:
        """By gzip at its smallest for who takes it, where that is smaller."""
        address = "/static/public/afterword.css"
        async with client_of(pool) as client:
            packed = await client.get(address)
            plain = await client.get(address, headers={"Accept-Encoding": "identity"})
        assert ("gzip", None) == tuple(one.headers.get("content-encoding") for one in (packed, plain))
        assert "Accept-Encoding" == packed.headers["vary"]
        assert packed.content == plain.content == static.read_files()["public/afterword.css"]
        assert len(gzip.compress(plain.content, 9)) == packed.num_bytes_downloaded < plain.num_bytes_downloaded
        assert packed.headers["etag"] != plain.headers["etag"]

    @pytest.mark.parametrize(
        "path", ["nope.css", "../app.py", "..%2Fapp.py", "%2e%2e/app.py", "", "public", "/etc/passwd"]
    )
    async def test_nothing_else(self, pool: db.Pool, path: str) -> None:
        async with client_of(pool) as client:
            assert 404 == (await client.get(f"/static/{path}")).status_code


async def ask(pool: db.Pool, path: str) -> httpx2.Response:
    async with client_of(pool) as client:
        return await client.get(path)


@pytest.mark.parametrize("name", ["", "p123456", "x.css", "p12345.css", "p123456.css.css", "..%2Fp123456.css"])
async def test_nothing_else(pool: db.Pool, name: str) -> None:
    assert 404 == (await ask(pool, f"/theme/{name}")).status_code


async def test_a_brand(pool: db.Pool) -> None:
    found = await ask(pool, static.theme_url(Brand(primary="#123456")))
    assert (200, "text/css; charset=utf-8") == (found.status_code, found.headers["content-type"])
    assert "immutable" in found.headers["cache-control"]
    assert ":root" in found.text


def test_a_brand_that_changes_nothing_has_no_address() -> None:
    assert "" == static.theme_url(Brand())
