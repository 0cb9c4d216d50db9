"""The outbox: who gets in, what is shown, and that a mail in it can do nothing."""

from collections.abc import AsyncIterator
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any

import httpx2
import pytest
from playwright.async_api import Browser

from afterword import ids
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.web.loopback import url_with_key
from afterword.run.app import create_app
from afterword.sending.queue.outbox import PAGE_MESSAGES
from tests.browser import markup
from tests.browser.conftest import SECRET, Shop, on_the_loop

pytestmark = pytest.mark.asyncio(loop_scope="session")

HOSTILE = """<html><head><style>p {
  color: rgb(1, 2, 3)
}</style></head><body>
<p style="font-size: 20px">Hello</p><a href="https://example.com/">a link</a>
<script>parent.document.title = "owned"</script><img src="https://tracker.example/pixel" onerror="alert(1)">
</body></html>"""


@on_the_loop
async def client(shop: Shop) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=shop.url, headers={"Accept": "text/html"}) as client:
        yield client


def mail(subject: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "shop@example.com", "maria@example.com", subject
    message.set_content("Plain <words>")
    message.add_alternative(HOSTILE, subtype="html")
    return message.as_bytes(policy=SMTP)  # lines end in CR LF, which a browser reads as LF


async def keep(shop: Shop, *, subject: str = "One minute?", content: bytes | None = None) -> str:
    message_id = ids.secret()
    async with db.transaction(shop.pool) as database:
        await database.execute(
            """insert into outbox_message
                 (organization_id, message_id, item_id, channel_id, recipient, subject, content)
               values ($1, $2, $3, 1, 'maria@example.com', $4, $5)""",
            shop.organization_id,
            message_id,
            ids.secret(),
            subject,
            mail(subject) if content is None else content,
        )
    return message_id


class TestWhoGetsIn:
    @pytest.mark.parametrize(
        "headers", [{"X-Forwarded-For": "203.0.113.9"}, {"Forwarded": "for=203.0.113.9"}, {"Host": "shop.example"}]
    )
    async def test_through_a_proxy(self, client: httpx2.AsyncClient, headers: dict[str, str]) -> None:
        assert 404 == (await client.get("/outbox", headers=headers)).status_code

    async def test_wrong_key(self, client: httpx2.AsyncClient) -> None:
        answer = await client.get("/outbox?key=00", headers={"Host": "shop.example"})
        assert 404 == answer.status_code

    async def test_known_to_the_world(self, pool: db.Pool) -> None:
        site = Site("https://shop.example", SECRET)
        app: Any = create_app(pool=pool, site=site, show_outbox=True)
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client:
            assert 404 == (await client.get("/outbox")).status_code
            assert 200 == (await client.get(url_with_key(site, "outbox").removeprefix(site.public_url))).status_code

    async def test_not_mounted(self, pool: db.Pool) -> None:
        site = Site("http://localhost", SECRET)
        app: Any = create_app(pool=pool, site=site)
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client:
            assert 404 == (await client.get(url_with_key(site, "outbox").removeprefix(site.public_url))).status_code

    @pytest.mark.parametrize("message_id", ["0" * 22, "nothing", "%00", "%ED%A0%80"])
    async def test_unknown_message(self, client: httpx2.AsyncClient, message_id: str) -> None:
        assert 404 == (await client.get(f"/outbox/{message_id}")).status_code


class TestWhatIsShown:
    async def test_empty(self, client: httpx2.AsyncClient) -> None:
        assert "Nothing here yet." in (await client.get("/outbox")).text

    async def test_paged(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        for number in range(PAGE_MESSAGES + 1):
            await keep(shop, subject=f"Mail <{number:02}>")
        first = await client.get("/outbox")
        assert f"Mail &lt;{PAGE_MESSAGES}&gt;" in first.text
        assert "Mail &lt;00&gt;" not in first.text
        [older] = [link for link in markup.read(first.text).links if link.startswith("/outbox?")]
        assert "Mail &lt;00&gt;" in (await client.get(older)).text

    async def test_key_goes_along(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        await keep(shop)
        answer = await client.get(url_with_key(shop.site, "outbox"), headers={"Host": "shop.example"})
        [link] = [link for link in markup.read(answer.text).links if link.startswith("/outbox/")]
        message = await client.get(link, headers={"Host": "shop.example"})
        assert "Plain &lt;words&gt;" in message.text

    async def test_no_mail(self, client: httpx2.AsyncClient, shop: Shop) -> None:
        message_id = await keep(shop, content=b"https://example.com/s/abc <b>")
        assert "/s/abc <b>" in markup.read((await client.get(f"/outbox/{message_id}")).text).text

    async def test_mail_can_do_nothing(self, browser: Browser, shop: Shop) -> None:
        message_id = await keep(shop)
        page = await browser.new_page()
        came, refused = list[str](), list[tuple[str, str | None]]()
        page.on("requestfinished", lambda request: came.append(request.url))
        page.on("requestfailed", lambda request: refused.append((request.url, request.failure)))
        await page.goto(f"{shop.url}/outbox/{message_id}", wait_until="networkidle")
        frame = page.frame_locator("iframe")
        style = "one => [getComputedStyle(one).color, getComputedStyle(one).fontSize]"
        assert ["rgb(1, 2, 3)", "20px"] == await frame.locator("p").evaluate(style)
        assert "One minute?" == await page.title()
        assert [] == [url for url in came if not url.startswith(shop.url)]
        assert [("https://tracker.example/pixel", "csp")] == refused
