"""A kiosk in a browser: people one after the other, some of them without a connection, and the way out."""

import asyncio
import json

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page

from afterword import db
from afterword.core.organizations.access import installation
from afterword.links import service
from tests.browser.conftest import SECRET, Shop
from tests.browser.test_box import until
from tests.browser.test_pages import WCAG, NewPage
from tests.browser.test_pages import new_page as new_page  # noqa: PLC0414  a fixture

pytestmark = pytest.mark.asyncio(loop_scope="session")

IDLE, THANKS, WARNING, RETRY = 30_000, 5_000, 10_000, 15_000


async def kiosk_of(shop: Shop) -> str:
    """The path of the kiosk of a new link."""
    async with db.transaction(shop.pool) as database:
        link = await service.create(
            database,
            caller=installation(shop.organization_id),
            questionnaire_id=shop.questionnaire_id,
            columns={
                "title": "Counter", "metadata": {}, "parameters": [], "takes_reference": False, "active": True,
                "opens_time": None, "closes_time": None, "one_response_per": None, "locale": "en",
                "kiosk": {"idle_seconds": IDLE // 1_000, "thanks_seconds": THANKS // 1_000}, "kiosk_pin": "4711",
            },
            secret=SECRET,
            now=database.clock.now(),
        )  # fmt: skip
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


async def test_offline(shop: Shop, new_page: NewPage) -> None:
    path = await kiosk_of(shop)
    page = await new_page(width=800)
    await page.clock.install()
    await page.goto(f"{shop.url}{path}")
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
    await page.context.set_offline(True)
    for likely in (1, 2):
        await answer(page, likely)
        await page.clock.fast_forward(THANKS)
        await begins_again(page)
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
    assert 3 == len(json.loads(waiting))
    assert [(9, True)] == await given(shop)

    await page.context.set_offline(False)
    async with asyncio.timeout(20):
        while "[]" != await page.evaluate(f"localStorage['afterword:{path}']"):
            await page.clock.fast_forward(RETRY)
    assert [(1, True), (2, True), (3, False), (9, True)] == await given(shop)
    await page.evaluate(f"waiting => localStorage['afterword:{path}'] = waiting", waiting)
    await page.reload()  # as if no answer to those posts had come
    await until(page, f"localStorage['afterword:{path}'] === '[]'")
    assert [(1, True), (2, True), (3, False), (9, True)] == await given(shop)

    for pin, heading in (("1", "Leave kiosk mode"), ("4711", "Kiosk mode has ended")):
        if pin == "1":
            await page.locator("p.leave a").click()
        await page.locator("#pin").fill(pin)
        await page.keyboard.press("Enter")
        await page.locator(".error" if pin == "1" else f"h1:text-is('{heading}')").wait_for()
