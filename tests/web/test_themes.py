"""The stylesheet of a brand at its own address: cached for good, and nothing else is there."""

import httpx2
import pytest

from afterword import db
from afterword.core.questionnaires.palettes import Brand
from afterword.web import themes
from tests.test_app import client_of


async def ask(pool: db.Pool, path: str) -> httpx2.Response:
    async with client_of(pool) as client:
        return await client.get(path)


@pytest.mark.parametrize("name", ["", "p123456", "x.css", "p12345.css", "p123456.css.css", "..%2Fp123456.css"])
async def test_nothing_else(pool: db.Pool, name: str) -> None:
    assert 404 == (await ask(pool, f"/theme/{name}")).status_code


async def test_a_brand(pool: db.Pool) -> None:
    found = await ask(pool, themes.url(Brand(primary="#123456")))
    assert (200, "text/css; charset=utf-8") == (found.status_code, found.headers["content-type"])
    assert "immutable" in found.headers["cache-control"]
    assert ":root" in found.text


def test_a_brand_that_changes_nothing_has_no_address() -> None:
    assert "" == themes.url(Brand())
