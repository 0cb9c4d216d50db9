"""The unsubscribe page: whoever only looks, or posts blindly, changes nothing; one click does it, and again."""

import html
import re
import time
from itertools import product
from typing import Any, Final

import httpx2
import pytest

from afterword.kit import db
from tests.conftest import House
from tests.event_log import list_events

ONE_CLICK: Final = {"List-Unsubscribe": "One-Click"}
SCANNERS: Final[dict[str, dict[str, str]]] = {
    "plain": {},
    "prefetch": {"Purpose": "prefetch", "Sec-Purpose": "prefetch;prerender", "X-Moz": "prefetch"},
    "gateway": {"User-Agent": "Mozilla/5.0 (Windows NT 6.1; Win64; x64) SafeLinks/1.0"},
    "preview": {"User-Agent": "facebookexternalhit/1.1", "X-Purpose": "preview"},
    "bot": {"User-Agent": "BarracudaCentral/1.0", "From": "abuse@example.com"},
    "cookies": {"Cookie": "session=1", "Referer": "https://mail.example.com/"},
}


@pytest.fixture
async def link(pool: db.Pool, house: House, client: httpx2.AsyncClient) -> str:
    """The unsubscribe address of a person who was asked."""
    path = f"/v3.2/q/questionnaire/{house.questionnaire_id}/instance"
    document = {"metadata": {"responder": {"email": "ann@example.com"}}}
    assert 201 == (await client.post(path, json=document, headers=house.headers)).status_code
    async with db.connection(pool) as database:
        return f"/u/{await database.fetch_value('select unsubscribe_id from responder_address')}"


async def suppressed(pool: db.Pool) -> list[str]:
    async with db.connection(pool) as database:
        return [row["reason"] for row in await database.fetch("select reason from suppression")]


class TestNothingHappens:
    async def test_when_a_scanner_looks(self, pool: db.Pool, client: httpx2.AsyncClient, link: str) -> None:
        for method, scanner in product(("GET", "HEAD", "OPTIONS"), SCANNERS):
            for _ in range(2):
                reply = await client.request(method, link, headers=SCANNERS[scanner])
                assert reply.status_code in {200, 204}
                assert "set-cookie" not in reply.headers
            assert [] == await suppressed(pool), (method, scanner)

    async def test_when_a_form_is_posted_blindly(self, pool: db.Pool, client: httpx2.AsyncClient, link: str) -> None:
        forms: tuple[dict[str, Any], ...] = (
            {},
            {"data": {"token": ""}},
            {"data": {"token": "0" * 32}},
            {"data": {"List-Unsubscribe": "1"}},
            {"data": {"One-Click": "List-Unsubscribe"}},
            {"json": ONE_CLICK},
            {"files": {"other": (None, "One-Click")}},
            {"content": b"\xff", "headers": {"content-type": "application/x-www-form-urlencoded"}},
            {"content": b"x", "headers": {"content-type": "multipart/form-data"}},
            {"content": b"--b\r\n\xff", "headers": {"content-type": "multipart/form-data; boundary=b"}},
            {"params": ONE_CLICK},
            {"content": b"--b--", "headers": {"content-type": 'multipart/form-data; boundary=b; a="' + ";" * 120_000}},
        )
        for options in forms:
            start = time.process_time()
            assert 422 == (await client.post(link, **options)).status_code, options
            assert time.process_time() - start < 1.0
            assert [] == await suppressed(pool), options

    @pytest.mark.usefixtures("link")
    async def test_when_nobody_has_that_link(self, pool: db.Pool, client: httpx2.AsyncClient) -> None:
        for path in ("/u/" + "9" * 22, "/u/x", "/u/%00", "/u/' or 1=1"):
            for reply in (await client.get(path), await client.post(path, data=ONE_CLICK)):
                assert 404 == reply.status_code, path
        assert [] == await suppressed(pool)


class TestUnsubscribing:
    @pytest.mark.parametrize("options", [{"data": ONE_CLICK}, {"files": {"List-Unsubscribe": (None, "One-Click")}}])
    async def test_with_one_click(
        self, pool: db.Pool, house: House, client: httpx2.AsyncClient, link: str, options: dict[str, Any]
    ) -> None:
        """Without cookie, token or login, in both forms of RFC 8058, and again."""
        for _ in range(3):
            assert 200 == (await client.post(link, **options)).status_code
            assert ["unsubscribed"] == await suppressed(pool)
        async with db.connection(pool) as database:
            rows = await list_events(database, organization_id=house.organization_id)
        assert 1 == [row.type for row in rows].count("responder.unsubscribed")

    async def test_with_the_button(self, pool: db.Pool, client: httpx2.AsyncClient, link: str) -> None:
        page = (await client.get(link)).text
        assert "ann@example.com" not in page  # who was handed the link learns no address
        token = re.search(r'name="token" value="([0-9a-f]{32})"', page)
        assert token is not None
        assert 200 == (await client.post(link, data={"token": token[1]})).status_code
        assert ["unsubscribed"] == await suppressed(pool)
        assert 200 == (await client.get(link)).status_code

    async def test_it_looks_like_the_sender(self, pool: db.Pool, client: httpx2.AsyncClient, link: str) -> None:
        assert "/theme/" not in (await client.get(link)).text
        logo = f"/asset/{'0' * 22}/{'a' * 10}-120x40.png"
        async with db.transaction(pool) as database:
            await database.execute("update organization set brand = $1", {"color_primary": "#005d69", "logo": logo})
        page = html.unescape((await client.get(link)).text)
        assert 'href="/theme/p005d69.css"' in page
        assert f'<img class="logo" src="{logo}"' in page

    async def test_it_holds_after_it_was_lifted_and_pressed_again(
        self, pool: db.Pool, house: House, client: httpx2.AsyncClient, link: str
    ) -> None:
        await client.post(link, data=ONE_CLICK)
        [found] = (await client.get("/v3.2/suppression", headers=house.headers)).json()["results"]
        reply = await client.delete(f"/v3.2/suppression/{found['suppression_id']}", headers=house.headers)
        assert 204 == reply.status_code
        assert [] == await suppressed(pool)
        await client.post(link, data=ONE_CLICK)
        assert ["unsubscribed"] == await suppressed(pool)
