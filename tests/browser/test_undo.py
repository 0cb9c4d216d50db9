"""Acts that are done at once, and the toast that takes them back."""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.conftest import House
from tests.browser.test_console import entered

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def to_pipeline(page: Page, house: House) -> None:
    await page.goto(f"{house.url}/console/sending/pipelines")
    await page.locator("a[href*='/pipelines/']:not([href$='/new'])").first.click()


@pytest.mark.parametrize("has_scripts", [True, False])
async def test_off_and_back(browser: Browser, house: House, *, has_scripts: bool) -> None:
    """One click each; without scripts the toast is a line above the page."""
    async with entered(browser, house, java_script_enabled=has_scripts) as page:
        await to_pipeline(page, house)
        await page.get_by_role("button", name="Switch off").click()
        toast = page.locator(".toast")
        await expect(toast.locator("[role=status]")).to_have_text("Switched off.")
        position = await toast.evaluate("(one) => getComputedStyle(one).position") if has_scripts else "static"
        assert ("fixed" if has_scripts else "static") == position
        await toast.get_by_role("button", name="Undo").click()
        await expect(page.get_by_role("status").first).to_have_text("It is as it was before.")
        await expect(page.get_by_role("button", name="Switch off")).to_be_visible()
        await expect(page.locator(".toast")).to_have_count(0)


async def test_closed(browser: Browser, house: House) -> None:
    """The cross takes the toast away, and the act stays done."""
    async with entered(browser, house) as page:
        await to_pipeline(page, house)
        await page.get_by_role("button", name="Switch off").click()
        await page.locator(".toast [data-close]").click()
        await expect(page.locator(".toast")).to_have_count(0)
        await expect(page.get_by_role("link", name="Switch on")).to_be_visible()
        await page.get_by_role("link", name="Switch on").click()
        await page.get_by_role("button", name="Switch on").click()
        await page.locator(".toast").get_by_text("Switched on.").wait_for()
