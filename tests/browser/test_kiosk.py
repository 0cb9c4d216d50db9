"""A kiosk in a browser: people one after the other, some of them without a connection, and the way out."""

import asyncio
import json
from contextlib import suppress
from typing import Final, Self
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page

from tests.browser.conftest import Shop
from tests.browser.ends import KIOSK, PIN, link_of
from tests.browser.test_box import until
from tests.browser.test_pages import (
    WCAG,
    NewPage,
    new_page as new_page,  # noqa: PLC0414  a fixture
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEPT = """caches.open(`kiosk:${location.pathname}`).then(one => one.keys())
  .then(keys => keys.map(({ url }) => new URL(url).pathname))"""
IDLE, THANKS = KIOSK["kiosk"]["idle_seconds"] * 1_000, KIOSK["kiosk"]["thanks_seconds"] * 1_000
WARNING, RETRY = 10_000, 15_000


async def kiosk_of(shop: Shop, **members: str) -> str:
    """The path of the kiosk of a new link."""
    link = await link_of(shop, locale="en", **KIOSK | {"kiosk": KIOSK["kiosk"] | members})
    return f"/l/{link.key}/kiosk"


async def answer(page: Page, likely: int) -> None:
    await page.locator(".key").nth(likely).click()
    await page.locator(".smiley").nth(3).click()
    await page.locator(".key").nth(11 + 4).click()
    await page.locator("button[value=send]").click()
    await page.locator("h1:text-is('Thank you')").wait_for()


async def begins_again(page: Page) -> None:
    await page.locator("button[value=send]").wait_for()
    assert 0 == await page.locator("input:checked").count()


async def given(shop: Shop) -> list[tuple[int, bool]]:
    """The answer of each response to the first question, and whether it is complete."""
    found = [
        (int(str((await shop.answers(str(one["instance_id"])))["nps"])), one["completed_time"] is not None)
        for one in await shop.instances()
    ]
    return sorted(found)


class Cable:
    """A way to the server that can be pulled out. The browser's own offline mode forgets its service workers."""

    def __init__(self, url: str) -> None:
        self._port, self._is_in, self._ends = urlsplit(url).port, True, list[asyncio.StreamWriter]()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.pull()
        self._server.close()

    def pull(self) -> None:
        self._is_in = False
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()

    def plug(self) -> None:
        self._is_in = True

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._ends.append(writer)
        if not self._is_in:
            writer.transport.abort()
            return
        answers, requests = await asyncio.open_connection("127.0.0.1", self._port)
        self._ends.append(requests)
        await asyncio.gather(_copy(reader, requests), _copy(answers, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while part := await reader.read(65_536):
            writer.write(part)
            await writer.drain()
    writer.close()


async def three_answer(page: Page, path: str) -> None:
    """Three people after each other without a connection; the device begins anew between the first two."""
    for likely in (1, 2, 4):
        await page.locator("button[value=send]").click()
        await until(page, "document.querySelector('input:invalid') !== null")  # offline the browser asks for answers
        await answer(page, likely)
        await page.clock.fast_forward(THANKS)
        await begins_again(page)
        if likely == 1:
            await page.reload()
            await begins_again(page)
    kept = await page.evaluate(KEPT)
    assert {path} == {one for one in kept if not one.startswith(("/static/public/", "/theme/"))}


async def leave(page: Page) -> None:
    """A wrong PIN, then the right one; the service worker and the page that it kept go."""
    for pin, heading in (("1", "Leave kiosk mode"), (PIN, "Kiosk mode has ended")):
        if pin == "1":
            await page.locator("p.leave a").click()
        await page.locator("#pin").fill(pin)
        await page.keyboard.press("Enter")
        await page.locator(".error" if pin == "1" else f"h1:text-is('{heading}')").wait_for()
    await until(page, "navigator.serviceWorker.getRegistrations().then(found => !found.length)")
    assert [] == await page.evaluate("caches.keys()")


async def journey(shop: Shop, page: Page, path: str, cable: Cable) -> None:
    await page.clock.install()
    await page.goto(f"{cable.url}{path}")
    await page.locator("button[value=send]").click()  # nothing was answered
    await page.locator("#summary").wait_for()
    await page.clock.fast_forward(IDLE)
    await page.locator("#idle[open]").wait_for()
    results = await Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}})
    assert [] == [one["id"] for one in results.response["violations"]]
    await page.clock.run_for(WARNING + 1_000)
    await begins_again(page)
    assert [] == await shop.instances()

    await answer(page, 9)
    await page.clock.fast_forward(THANKS)
    await begins_again(page)
    await until(page, "navigator.serviceWorker.controller !== null")
    cable.pull()
    await three_answer(page, path)
    await page.locator(".key").nth(3).click()
    await page.clock.fast_forward(IDLE)
    await page.locator("#idle[open]").wait_for()
    assert "10 seconds" in await page.locator("#idle p").inner_text()
    await page.mouse.click(5, 5)
    await page.locator("#idle:not([open])").wait_for(state="attached")
    assert 1 == await page.locator("input:checked").count()  # somebody was there
    await page.clock.fast_forward(IDLE)
    await page.clock.run_for(WARNING + 1_000)
    await begins_again(page)
    await page.locator("p.leave a").click()  # the PIN cannot be checked now
    waiting = await page.evaluate(f"localStorage['afterword:{path}']")
    assert 4 == len(json.loads(waiting))
    assert [(9, True)] == await given(shop)

    cable.plug()
    await page.clock.fast_forward(RETRY)
    await until(page, f"localStorage['afterword:{path}'] === '[]'")
    assert [(1, True), (2, True), (3, False), (4, True), (9, True)] == await given(shop)
    await page.evaluate(f"waiting => localStorage['afterword:{path}'] = waiting", waiting)
    await page.reload()  # as if no answer to those posts had come
    await until(page, f"localStorage['afterword:{path}'] === '[]'")
    assert [(1, True), (2, True), (3, False), (4, True), (9, True)] == await given(shop)

    await leave(page)


async def test_offline(shop: Shop, new_page: NewPage) -> None:
    path = await kiosk_of(shop)
    async with Cable(shop.url) as cable:
        await journey(shop, await new_page(width=800), path, cable)


STEPS: Final = "[...document.querySelectorAll('.question')].filter(one => one.checkVisibility()).map(one => one.id)"
BUTTON: Final = ".actions .button:not(.quiet)"


async def is_at(page: Page, step: int, button: str) -> None:
    """0: the start screen, which shows no question; else this question alone."""
    await page.locator(f"{BUTTON}:text-is('{button}')").wait_for()
    ids = await page.eval_on_selector_all(".question", "all => all.map(one => one.id)")
    assert (step > 0) * ids[step - 1 : step] == await page.evaluate(STEPS)
    assert (step == 0) == await page.locator("h1").is_visible()


async def answers_in_steps(page: Page, likely: int) -> None:
    """Those that are required; the button leads from the start screen over each question to the thanks."""
    controls = [page.locator(".key").nth(likely), page.locator(".smiley").nth(3), page.locator(".key").nth(11 + 4)]
    label = ""
    while not label.startswith("Send"):
        await page.locator(BUTTON).click()
        for control in controls:
            if await control.is_visible():
                await control.click()
        label = await page.locator(BUTTON).inner_text()
    await page.locator(BUTTON).click()
    await page.locator("h1:text-is('Thank you')").wait_for()


async def test_one_question_at_a_time(shop: Shop, new_page: NewPage) -> None:
    path, before = await kiosk_of(shop, layout="by_question"), await given(shop)
    async with Cable(shop.url) as cable:
        page = await new_page(width=800)
        await page.clock.install()
        await page.goto(f"{cable.url}{path}")
        await is_at(page, 0, "Start")
        leave_link = page.get_by_role("link", name="Leave kiosk mode")
        assert ("", True) == (await leave_link.inner_text(), await leave_link.is_visible())
        await page.locator(BUTTON).click()
        await is_at(page, 1, "Next")
        results = await Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}})
        assert [] == [one["id"] for one in results.response["violations"]]
        await page.locator(BUTTON).click()
        await until(page, "document.querySelector('input:invalid') !== null")  # it is required
        await is_at(page, 1, "Next")
        await page.clock.fast_forward(IDLE)
        await page.locator("#idle[open]").wait_for()
        await page.clock.run_for(WARNING + 1_000)
        await is_at(page, 0, "Start")  # nobody was there, and nothing was kept
        assert before == await given(shop)

        await page.locator(BUTTON).click()
        await page.locator(".key").nth(9).click()
        await page.keyboard.press("Enter")
        await is_at(page, 2, "Next")
        await page.locator(".actions button:text-is('Back')").click()
        await is_at(page, 1, "Next")
        assert await page.locator(".key input").nth(9).is_checked()
        await page.locator(".actions button:text-is('Back')").click()
        await answers_in_steps(page, 9)
        await page.clock.fast_forward(THANKS)
        await is_at(page, 0, "Start")
        assert 0 == await page.locator("input:checked").count()
        cable.pull()
        await answers_in_steps(page, 2)
        await page.clock.fast_forward(THANKS)
        await is_at(page, 0, "Start")
        cable.plug()
        await page.clock.fast_forward(RETRY)
        await until(page, f"localStorage['afterword:{path}'] === '[]'")
        assert sorted([*before, (2, True), (9, True)]) == await given(shop)
        await leave(page)
