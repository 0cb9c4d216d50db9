"""The box on a website of another origin, in a browser whose rules for that page are strict."""

import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import FrameLocator, Page
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse
from starlette.routing import Route

from afterword import ids
from afterword.asking.links.public_links import LINK, Box
from afterword.core.organizations.access import installation
from afterword.kit import db
from afterword.kit.nouns import service
from afterword.kit.web import static
from tests.browser.conftest import Shop, on_the_loop, served
from tests.browser.test_pages import (
    WCAG,
    NewPage,
    new_page as new_page,  # noqa: PLC0414  a fixture
)
from tests.journeys import processes

pytestmark = pytest.mark.asyncio(loop_scope="session")

SCRIPT_BYTES_MAX = 6_000  # uncompressed, as it is served


@dataclass
class Website:
    """A page with the script, at `url`; `other_url` is the same page at an origin that may not show the box."""

    shop: Shop
    url: str
    other_url: str
    link_id: str = ""
    key: str = ""

    async def set(self, *, one_response_per: str | None = None, collapsed: bool = False, **box: Any) -> None:
        async with db.transaction(self.shop.pool) as database:
            await service.update(
                LINK,
                database,
                caller=installation(self.shop.organization_id),
                key=self.link_id,
                changes={"box": Box(**box), "one_response_per": one_response_per},
                site=self.shop.site,
                now=database.clock.now(),
            )
            await database.execute("update questionnaire set desktop_collapsed = $1", collapsed)


@on_the_loop
async def website(shop: Shop) -> AsyncIterator[Website]:
    """A foreign page of strict rules: styles of its own files alone, and of ours no more than the script needs."""

    async def page(request: HttpRequest) -> HTMLResponse:
        text = f"""<!doctype html><html lang="el"><title>Shop</title><style></style>
            <script async src="{shop.url}/static/public/box.js" data-link="{shop.url}/l/{found.key}"
              data-locale="el" data-metadata="transaction_id=7&till=4"></script>
            <main><h1>Shop</h1><button id="feedback">Feedback</button><p>{"<br>" * 200}</p></main>"""
        if request.url.path.endswith("plain"):
            return HTMLResponse("<!doctype html><title>Shop</title>")
        policy = "; ".join(f"{one} {shop.url}" for one in ("script-src", "frame-src", "connect-src"))
        return HTMLResponse(
            text, headers={"Content-Security-Policy": f"default-src 'none'; style-src 'self'; {policy}"}
        )

    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    found = Website(shop, f"http://localhost:{port}/checkout/thanks", f"http://127.0.0.1:{port}/checkout/thanks")
    async with db.transaction(shop.pool) as database:
        now = database.clock.now()
        await database.execute("update application set website_urls = $1", [f"http://localhost:{port}/"])
        link = await service.insert(
            LINK,
            database,
            organization_id=shop.organization_id,
            key=ids.ordered(now),
            columns={
                "questionnaire_id": shop.questionnaire_id,
                "key": ids.short_code(),
                "title": "Box",
                "metadata": {},
                "parameters": ["transaction_id"],
                "takes_reference": False,
                "active": True,
            },
            now=now,
            by=None,
        )
        found.link_id, found.key = link.link_id, link.key
    async with served(Starlette(routes=[Route("/{path:path}", page)]), listener):
        yield found


def inside(page: Page) -> FrameLocator:
    return page.frame_locator("dialog iframe")


async def shows(page: Page) -> None:
    await inside(page).locator(".key").first.wait_for()


async def never_shows(page: Page) -> None:
    """All that could open a box was done."""
    await page.evaluate("new Promise((done) => setTimeout(done))")
    assert 0 == await page.locator("dialog, .bar").count()


async def until(page: Page, condition: str) -> None:
    """As `wait_for_function`, which needs eval where it has to wait."""
    await page.evaluate(f"new Promise(done => (function look() {{ {condition} ? done() : setTimeout(look, 9) }})())")


async def opened(page: Page, url: str) -> None:
    """The page, once its script has its settings."""
    await page.goto(url)
    await until(page, "window.afterword?.open")


async def test_small() -> None:
    assert SCRIPT_BYTES_MAX >= len(static.read_files()["public/box.js"])


async def test_answered_in_the_box(website: Website, new_page: NewPage) -> None:
    """It opens by time, is answered without a cookie, closes by Escape, and stays away; nothing breaks a rule."""
    await website.set(delay_seconds=0, position="center")
    page = await new_page(width=1280)
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    await page.goto(website.url)
    await shows(page)
    frame = inside(page)

    async def fits() -> bool:
        height = await page.locator("iframe").evaluate("one => one.offsetHeight")
        return await frame.locator("body").evaluate("one => one.offsetHeight") in range(height - 1, height + 2)

    await processes.until(fits, seconds=15, what="the box is as high as its page")
    results = await Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}})
    assert [] == [one["id"] for one in results.response["violations"]]
    await frame.locator(".key").nth(9).click()
    await frame.locator("button[value=next]").click()
    await frame.locator(".smiley").nth(3).click()
    await frame.locator("button[value=next]").click()
    await frame.locator(".key").nth(5).click()
    await frame.locator("button[value=send]").click()
    await frame.locator("body[data-done]").wait_for()
    [instance] = await website.shop.instances()
    assert (website.link_id, True) == (instance["link_id"], instance["submitted_time"] is not None)
    assert ("el", {"transaction_id": "7"}) == (instance["locale"], instance["metadata"])  # only what the link takes
    await until(page, f"JSON.parse(localStorage['afterword:/l/{website.key}']).answered")
    await frame.locator("h1").press("Escape")
    await page.locator("dialog").wait_for(state="detached")
    assert [] == await page.context.cookies()
    await opened(page, website.url)
    await never_shows(page)
    assert [] == [one for one in faults if "style-src" not in one]  # the page's own empty style element


async def test_triggers(website: Website, new_page: NewPage) -> None:
    """Each opens it; a click gives it the focus, which returns; a share of none and other pages see nothing."""
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"scroll_percent": 50}, "scrollTo(0, 9999)"),
        ({"on_exit": True}, "document.body.dispatchEvent(new MouseEvent('mouseout', {clientY: -1, bubbles: true}))"),
        ({"delay_seconds": 0, "addresses": ["/cart", "/check*"]}, "0"),
    )
    for box, act in cases:
        await website.set(again_days=0, **box)
        page = await new_page(width=1280)
        await opened(page, website.url)
        await page.evaluate(act)
        await shows(page)
        assert await page.evaluate("document.activeElement === document.body")  # the reader goes on where they were
        await page.locator("dialog .close").click()
        await page.locator("dialog").wait_for(state="detached")
    await website.set(again_days=0, delay_seconds=0, addresses=["/cart*"], click_selector="#feedback")
    page = await new_page(width=1280)
    await opened(page, website.url)
    await never_shows(page)
    await page.locator("#feedback").press("Enter")
    await shows(page)
    assert "close" == await page.evaluate("document.activeElement.shadowRoot.activeElement.className")
    await page.keyboard.press("Escape")
    await page.locator("dialog").wait_for(state="detached")
    assert "feedback" == await page.evaluate("document.activeElement.id")


async def test_begins_as_a_button(website: Website, new_page: NewPage) -> None:
    """On wide screens alone. A browser outside the share sees none, and one that answered once neither."""
    await website.set(delay_seconds=0, again_days=0, collapsed=True)
    page = await new_page(width=1280)
    await page.goto(website.url)
    await page.locator(".bar").click()
    await shows(page)
    narrow = await new_page()
    await narrow.goto(website.url)
    await shows(narrow)
    await website.set(delay_seconds=0, again_days=0, one_response_per="browser", share_percent=50)
    memory = f"localStorage['afterword:/l/{website.key}']"
    page = await new_page(width=1280)
    await page.goto(website.url.replace("thanks", "plain"))  # else the script of that page may remember more
    for kept in ({"draw": 50}, {"draw": 1, "answered": 1}):
        await page.evaluate(f"kept => {memory} = JSON.stringify(kept)", kept)
        await opened(page, website.url)
        await never_shows(page)


@pytest.mark.parametrize("way", ["query", "more", "path", "global", "none"])
async def test_loaded_by_a_tag_manager(website: Website, new_page: NewPage, way: str) -> None:
    """It drops `data-` attributes; without a link the console of the browser says how to give one."""
    await website.set(delay_seconds=0)
    page = await new_page(width=1280)
    await page.goto(website.url.removesuffix("thanks") + "plain")
    script, link = f"{website.shop.url}/static/public/box.js", f"{website.shop.url}/l/{website.key}"
    source = {
        "query": f"{script}?link={website.key}",
        "more": f"{script}?gtm=1&link={quote(link, safe='')}&cb=2",  # tag managers add parameters, and encode values
        "path": f"{script}?link={link}",
    }.get(way, script)
    if way == "global":
        await page.evaluate("link => { window.afterword = { link } }", link)
    warnings: list[str] = []
    page.on("console", lambda message: warnings.append(message.text) if message.type == "warning" else None)
    await page.evaluate(
        """src => new Promise(onload => document.head.append(
             Object.assign(document.createElement("script"), { src, onload })))""",
        source,
    )
    if way == "none":
        await never_shows(page)
        assert ["Afterword needs box.js?link=KEY or data-link."] == warnings
    else:
        await shows(page)


async def test_another_website(website: Website, new_page: NewPage) -> None:
    """It gets no settings, and cannot frame the page itself."""
    await website.set(delay_seconds=0)
    page = await new_page()
    async with page.expect_event("requestfailed", lambda request: "/box/settings" in request.url):
        await page.goto(website.other_url)
    await never_shows(page)
    async with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        await page.evaluate(
            """url => document.body.append(Object.assign(document.createElement("iframe"), {src: url}))""",
            f"{website.shop.url}/l/{website.key}/box",
        )
