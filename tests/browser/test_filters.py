"""Filters that act when something is chosen, and the palette, in a browser."""

import re

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import House
from tests.browser.test_console import entered

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_period_acts_when_it_is_chosen(browser: Browser, house: House) -> None:
    """The page stays, the choice keeps the focus, and dates wait until both are there."""
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console")
        await page.evaluate("window.stays = true")
        await page.get_by_label("Period").focus()
        await page.get_by_label("Period").select_option("last_month")
        await page.wait_for_url("**/console?period=last_month")
        await expect(page.get_by_label("Period")).to_have_value("last_month")
        await expect(page.get_by_label("Period")).to_be_focused()
        width = "(button) => button.getBoundingClientRect().width"
        assert 1 == await page.get_by_role("button", name="Show").evaluate(width)
        await page.get_by_label("Period").select_option("dates")
        await expect(page.get_by_label("From", exact=True)).to_be_focused()
        assert page.url.endswith("period=last_month")
        await page.get_by_label("From", exact=True).fill("2026-01-01")
        await page.get_by_label("To", exact=True).fill("2026-01-31")
        await page.get_by_label("To", exact=True).blur()
        await page.wait_for_url("**/console?period=dates&first=2026-01-01&last=2026-01-31")
        assert await page.evaluate("window.stays")
        await page.go_back()
        await page.wait_for_url("**/console?period=last_month")


async def test_without_scripts_a_filter_has_its_button(browser: Browser, house: House) -> None:
    async with entered(browser, house, java_script_enabled=False) as page:
        await page.goto(f"{house.url}/console")
        await page.get_by_label("Period").select_option("this_year")
        await page.get_by_role("button", name="Show").click()
        assert "period=this_year" in page.url


async def test_palette(browser: Browser, house: House) -> None:
    """Pages by the beginnings of words, by keyboard alone; then what a search finds; everything else by its button."""
    async with entered(browser, house) as page:
        await page.keyboard.press("Control+k")
        field = page.get_by_placeholder("Pages, people, orders")
        await expect(field).to_be_focused()
        await field.fill("single s")
        await expect(page.locator("#palette li:visible")).to_have_text(["Log in by provider OpenID Connect"])
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/console/settings/organization/identity")
        await page.locator("#find").click()
        await field.fill("audit")
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/console/settings/audit")
        await page.keyboard.press("Control+k")
        await field.fill("support case")
        hit = page.locator("#palette [data-hit]", has_text="Questionnaires").first
        await hit.get_by_role("link").click()
        await page.wait_for_url(re.compile(r"/console/questionnaires/\w{22}$"))
        await page.keyboard.press("Control+k")
        await field.fill("anna")
        await page.get_by_role("button", name="Search everything").click()
        await page.wait_for_url("**/console/find?q=anna**")
