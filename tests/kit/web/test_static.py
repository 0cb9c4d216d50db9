"""Files below /static, and the stylesheet of a brand at its own address: nothing else is there."""

import httpx2
import pytest

from afterword.core.questionnaires.visuals import DEFAULT, Theme
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

    @pytest.mark.parametrize(
        ("accepted", "encoding"),
        [("gzip", "gzip"), ("gzip, deflate, br, zstd", "br"), ("br;q=0, gzip", "gzip"), ("gzip;q=0.5", "gzip")],
    )
    async def test_compressed(self, pool: db.Pool, accepted: str, encoding: str) -> None:
        """Each encoding has a tag of its own; what a browser decodes is the file."""
        address = static.url("console/console.css")
        async with client_of(pool) as client:
            plain = await client.get(address, headers={"Accept-Encoding": "identity"})
            packed = await client.get(address, headers={"Accept-Encoding": accepted})
            again = await client.get(
                address, headers={"Accept-Encoding": accepted, "If-None-Match": packed.headers["etag"]}
            )
        assert "content-encoding" not in plain.headers
        assert encoding == packed.headers["content-encoding"]
        assert "Accept-Encoding" == plain.headers["vary"] == packed.headers["vary"]
        assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 3
        assert plain.content == packed.content
        assert plain.headers["etag"] != packed.headers["etag"]
        assert (304, b"") == (again.status_code, again.content)

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
    found = await ask(pool, static.theme_url(Theme(color_primary="#123456")))
    assert (200, "text/css; charset=utf-8") == (found.status_code, found.headers["content-type"])
    assert "immutable" in found.headers["cache-control"]
    assert ":root" in found.text


def test_a_brand_that_changes_nothing_has_no_address() -> None:
    assert "" == static.theme_url(DEFAULT)
