"""Days of the people who use the console, in a browser: by keyboard alone, without scripts, on a phone."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from afterword import db
from afterword.cli.setup import setup_url
from afterword.responses.rows import service as rows
from tests.browser.conftest import House, Shop, email_of
from tests.logins.conftest import PASSWORD

pytestmark = pytest.mark.asyncio(loop_scope="session")

WAIT_MILLISECONDS_MAX = 30_000


@asynccontextmanager
async def entered(browser: Browser, house: House, *, role: str = "owner", **options: Any) -> AsyncGenerator[Page]:
    """A page of somebody who has logged in by typing."""
    async with opened(browser, **options) as page:
        await page.goto(f"{house.url}/console/login")
        await page.locator("#email").fill(email_of(role))
        await page.locator("#password").fill(PASSWORD)
        await page.keyboard.press("Enter")
        await page.wait_for_url(lambda url: not url.endswith("/login"))
        yield page


@asynccontextmanager
async def opened(browser: Browser, *, width: int = 1280, **options: Any) -> AsyncGenerator[Page]:
    context = await browser.new_context(
        viewport={"width": width, "height": 800}, reduced_motion="reduce", locale="en", **options
    )
    context.set_default_timeout(WAIT_MILLISECONDS_MAX)
    yield await context.new_page()
    await context.close()


async def test_first_run_to_the_first_answer(browser: Browser, shop: Shop) -> None:
    """The link of the set-up makes an owner; the answer of a customer is there at once."""
    url = await setup_url(shop.pool, shop.site)
    assert url is not None
    async with opened(browser) as page:
        await page.goto(url)
        await page.get_by_label("Your name").fill("Olga Papadaki")
        await page.get_by_label("E-mail address").fill("olga@kalamata.example")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button").click()
        await page.wait_for_url("**/console")
        instance = await shop.issue()
        await page.goto(f"{shop.url}/a/{instance.instance_id}?q={shop.question_id('nps')}&v=3")
        await page.locator("button[value=next]").click()
        async with db.transaction(shop.pool) as database:  # as a worker does within a second
            assert await rows.rewrite(
                database, organization_id=shop.organization_id, instance_ids=[instance.instance_id]
            )
        await page.goto(f"{shop.url}/console/responses")
        assert ["3"] == await page.locator(".score").evaluate_all("all => all.map(one => one.firstChild.data.trim())")
        await page.goto(f"{url}")
        assert await page.get_by_text("link has ended").count()


async def test_keyboard(browser: Browser, house: House) -> None:
    """Letters go to a section, `j` and Enter open a row without a whole new page, Back leads back; all can be off."""
    async with entered(browser, house) as page:
        await page.keyboard.press("g")
        await page.keyboard.press("r")
        await page.wait_for_url("**/console/responses")
        await page.evaluate("window.stays = true")
        await page.keyboard.press("j")
        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await page.locator("#open-title").wait_for()
        assert "/console/responses/" in page.url
        assert await page.evaluate("window.stays")  # a region was swapped
        assert "Response of" in await page.title()
        await page.go_back()
        await page.wait_for_url("**/console/responses")
        await page.locator("form.search").first.wait_for()
        await page.keyboard.press("Shift+?")
        await page.locator("dialog[open]").wait_for()
        await page.keyboard.press("Escape")
        await page.goto(f"{house.url}/console/settings/account")
        await page.get_by_role("button", name="Switch single keys off").click()
        await page.get_by_role("button", name="Switch single keys on").wait_for()
        await page.keyboard.press("g")
        await page.keyboard.press("r")
        assert not await page.locator("script[src*=keys]").count()
        assert "/settings/account" in page.url


async def test_without_scripts(browser: Browser, house: House) -> None:
    """From the log-in over a case to a comment on it, by links and forms alone."""
    async with entered(browser, house, java_script_enabled=False, width=360) as page:
        await page.goto(f"{house.url}/console/cases")
        await page.locator("a.whole").first.click()
        await page.locator("textarea[name=body]").fill("I call on Monday.")
        await page.get_by_role("button", name="Comment alone").click()
        assert await page.get_by_text("I call on Monday.").count()
        assert await page.get_by_text("Your comment was added.").count()


async def test_phone(browser: Browser, house: House) -> None:
    """Five places in a bar; the others, the account and log-out under More; the open response alone."""
    async with entered(browser, house, width=360, has_touch=True, is_mobile=True) as page:
        places = page.locator(".rail > ul .to, .rail > button")
        assert await places.count() <= 5
        await page.locator(".rail > ul").get_by_text("Responses").tap()
        await page.wait_for_url("**/console/responses")
        await page.locator("a.whole").first.tap()
        await page.locator("#open-title").wait_for()
        assert not await page.locator("a.whole").first.is_visible()
        log_out = page.get_by_role("button", name="Log out")
        assert not await log_out.is_visible()
        await page.get_by_role("button", name="More").tap()
        await log_out.tap()
        await page.wait_for_url("**/console/login*")


async def test_a_case_to_its_end(browser: Browser, house: House) -> None:
    """Taken over, commented, closed: the list has one less."""
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/cases")
        before = await page.locator("a.whole").count()
        await page.locator("a.whole").first.click()
        await page.get_by_label("Owner").select_option(label=email_of("owner"))
        await page.get_by_label("Status").select_option(label="Closed")
        await page.get_by_label("Comment").fill("She gets a new one.")
        await page.get_by_role("button", name="Save").click()
        await page.get_by_text("The case is closed.").wait_for()
        await page.goto(f"{house.url}/console/cases")
        assert before - 1 == await page.locator("a.whole").count()
