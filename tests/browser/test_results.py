"""Last month, which branch, which aspect, what they say: clicks are counted, a choice in a list as two."""

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import House
from tests.browser.test_console import entered

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLICKS_MAX = 10
BRANCHES = ("Harbour Street", "Old Town", "Online")


async def test_from_the_overview_to_what_they_say(browser: Browser, house: House) -> None:
    clicks = 0
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console")
        await page.get_by_label("Period").select_option("last_month")
        clicks += 2
        await page.wait_for_url("**/console?period=last_month")
        await page.get_by_role("link", name="After delivery", exact=True).first.click()
        clicks += 1
        await page.wait_for_url("**/results?period=last_month")
        await expect(page.get_by_label("Period")).to_have_value("last_month")
        branches = page.locator("section", has_text="by group")
        for name in BRANCHES:
            await expect(branches.locator(".chart-rows").get_by_text(name)).to_be_visible()
        await branches.locator(".chart-rows a", has_text="Old Town").click()
        clicks += 1
        await page.wait_for_url("**/results?period=last_month&by=store_id&value=Old+Town")
        await expect(page.get_by_label("Store")).to_have_value("Old Town")
        aspects = page.locator("section", has=page.get_by_role("heading", name="What influenced your answer most?"))
        await expect(aspects.locator(".chart-row").first).to_be_visible()
        said = page.locator("section", has=page.get_by_role("heading", name="Is there anything else"))
        await expect(said.locator(".comment").first).to_be_visible()
        await said.get_by_role("link", name="All its answers").click()
        clicks += 1
        await page.wait_for_url("**/console/responses?**")
        await expect(page.locator("[data-row]").first).to_be_visible()
    assert CLICKS_MAX >= clicks
    assert 5 == clicks


async def test_a_branch_acts_when_it_is_chosen(browser: Browser, house: House) -> None:
    """Also without scripts, by the button."""
    for has_scripts in (True, False):
        async with entered(browser, house, java_script_enabled=has_scripts) as page:
            await page.goto(f"{house.url}/console")
            await page.get_by_role("link", name="Relationship", exact=True).first.click()
            await page.wait_for_url("**/results?**")
            await page.get_by_label("Store").select_option("Online")
            if not has_scripts:
                await page.get_by_role("button", name="Show").click()
            await page.wait_for_url("**value=Online**")
            await expect(page.get_by_text("Store: Online")).to_be_visible()


async def test_no_line_is_half_empty(browser: Browser, house: House) -> None:
    """Each line of questions ends where the page ends, also before a wide one and at the end."""
    async with entered(browser, house) as page:
        for name in ("After delivery", "Store visit", "Support case", "Relationship"):
            await page.goto(f"{house.url}/console")
            await page.get_by_role("link", name=name, exact=True).first.click()
            await page.wait_for_url("**/results?**")
            ends = await page.eval_on_selector_all(
                ".halves > section",
                "all => all.map(one => [one.getBoundingClientRect().top, one.getBoundingClientRect().right])",
            )
            assert 1 == len(set(dict(ends).values())), name


async def test_no_table_is_wider_than_its_half(browser: Browser, house: House) -> None:
    async with entered(browser, house, locale="el") as page:
        for name in ("After delivery", "Store visit", "Support case", "Relationship"):
            await page.goto(f"{house.url}/console")
            await page.get_by_role("link", name=name, exact=True).first.click()
            await page.wait_for_url("**/results?**")
            for figures in await page.locator("details:has(.scroll)").all():
                await figures.evaluate("one => one.open = true")
                table = figures.locator(".scroll")
                assert 0 == await table.evaluate("one => one.scrollWidth - one.clientWidth"), name
                await figures.evaluate("one => one.open = false")


async def test_an_axis_on_a_phone_is_one_line(browser: Browser, house: House) -> None:
    async with entered(browser, house, width=360, locale="el") as page:
        await page.goto(f"{house.url}/console")
        await page.get_by_role("link", name="Store visit", exact=True).first.click()
        await page.wait_for_url("**/results?**")
        for axis in await page.locator(".ends .row").all():
            assert 1 == len({(await end.bounding_box() or {})["y"] for end in await axis.locator("span").all()})
        assert 360 == await page.evaluate("document.documentElement.scrollWidth")


async def test_a_question_leads_to_its_form(browser: Browser, house: House) -> None:
    """The whole row of the page of a questionnaire; who may not change it reads the same without a link."""
    for role, leads in (("owner", True), ("reporting", False)):
        async with entered(browser, house, role=role) as page:
            await page.goto(f"{house.url}/console/questionnaires")
            await page.get_by_role("link", name="Relationship").first.click()
            row = page.locator(".outline [data-row]").first
            await expect(row).to_contain_text("How likely are you to recommend us")
            assert leads == bool(await row.locator("a").count())
            if leads:
                await row.click(position={"x": 200, "y": 36})  # beside the words
                await page.locator("#title").wait_for()
