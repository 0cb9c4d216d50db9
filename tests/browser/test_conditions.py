"""Conditions as sentences in a browser: a jump, an alert and a pipeline, with the clicks that each costs."""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.conftest import House
from tests.browser.test_console import entered
from tests.browser.test_journeys import Hand
from tests.browser.test_screens import faults_of

CLICKS_MAX = 8  # from the page of what has the condition
SCORE = "How likely are you to recommend us to a friend or colleague?"
DETRACTORS = "0 to 6 (detractors)"
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def nps_editor(page: Page, house: House) -> str:
    """The address of the question whose answers are from 0 to 10, in the editor."""
    await page.goto(f"{house.url}/console/questionnaires")
    await page.get_by_role("link", name="Relationship").first.click()
    await page.goto(f"{page.url.partition('?')[0]}/edit")
    await page.get_by_role("link", name=SCORE).first.click()
    await page.locator("#title").wait_for()
    return page.url.partition("?")[0]


async def test_a_jump(browser: Browser, house: House) -> None:
    async with entered(browser, house) as page:
        await nps_editor(page, house)
        hand = Hand(page)
        await hand.follow("Add a jump")
        value = page.get_by_label("Value 1")
        await hand.press("Save")  # the browser asks for the value
        assert await value.evaluate("(field) => field.validity.valueMissing")
        await hand.choose("Value 1", DETRACTORS)
        await hand.choose("go to", "")
        await hand.press("Save")
        await page.get_by_text(f"the answer is {DETRACTORS}").wait_for()
        assert CLICKS_MAX >= hand.clicks
        assert 7 == hand.clicks


async def test_an_alert(browser: Browser, house: House) -> None:
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/settings/alerts")
        hand = Hand(page)
        await hand.follow("New alert")
        await hand.fill(page.get_by_label("Title"), "A detractor")
        await page.locator("select.subject").select_option(label=SCORE)
        hand.clicks += 2
        await page.locator("#value-0").select_option(DETRACTORS)
        hand.clicks += 2
        await hand.press("Save")
        await page.get_by_text("Saved.", exact=True).wait_for()
        await expect(page.locator("#value-0")).to_have_value(DETRACTORS)
        assert CLICKS_MAX >= hand.clicks
        assert 6 == hand.clicks


async def test_a_pipeline(browser: Browser, house: House) -> None:
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/sending/pipelines")
        await page.locator("a[href*='/pipelines/']:not([href$='/new'])").first.click()
        hand = Hand(page)
        await hand.click(page.locator("a[href$='/conditions']").first)
        await page.locator("select.subject").select_option(label="Store")
        hand.clicks += 2
        await hand.fill(page.get_by_label("Value 1"), "Athens")
        await hand.press("Save")
        await page.get_by_text("“Store” is Athens").first.wait_for()
        assert CLICKS_MAX >= hand.clicks
        assert 4 == hand.clicks


async def test_lists_follow_the_field(browser: Browser, house: House) -> None:
    """Comparisons by the type of the field; a number with the limits of the question; a date as such."""
    async with entered(browser, house) as page:
        await page.goto(f"{await nps_editor(page, house)}/jump/new")
        operator, value = page.get_by_label("Comparison 1"), page.get_by_label("Value 1")
        await expect(operator.locator("option[value=contains]")).to_be_disabled()
        await operator.select_option("less_equal")
        assert ("number", "0", "10") == tuple([await value.get_attribute(name) for name in ("type", "min", "max")])
        await value.press_sequentially("abc")
        await page.get_by_role("button", name="Save", exact=True).click()
        assert "value-0" == await page.evaluate("document.activeElement.id")  # the browser says what is wrong
        await value.fill("11")
        assert await value.evaluate("(field) => field.validity.rangeOverflow")
        await operator.select_option("is_not_empty")
        await expect(value).to_be_hidden()
        subject = page.locator("select.subject")
        await subject.select_option(label="Transaction date")
        assert ("equal", "date") == (await operator.input_value(), await value.get_attribute("type"))
        await subject.select_option(label="Picked up in store")
        assert ["…", "yes", "no"] == await value.locator("option").all_inner_texts()
        await subject.select_option(label="Store")
        await expect(operator.locator("option[value=contains]")).to_be_enabled()
        assert "text" == await value.get_attribute("type")


async def test_and_then_or(browser: Browser, house: House) -> None:
    """“A and B, or C” by buttons alone, as it reads after saving; a row is taken out again."""
    async with entered(browser, house) as page:
        editor = await nps_editor(page, house)
        await page.goto(f"{editor}/jump/new")
        await page.get_by_label("Value 1").select_option(DETRACTORS)
        for number, button in ((2, "+ and"), (3, "+ or")):
            await page.get_by_role("button", name=button).last.click()
            row = page.locator(".condition").nth(number - 1)
            assert await row.locator(".subject").evaluate("(field) => field === document.activeElement")
            await row.locator(".subject").select_option(label="Store")
            await row.locator(".value").fill(f"Shop {number}")
        assert ["If", "and", "or"] == await page.locator(".condition .joint").all_inner_texts()
        await page.get_by_role("button", name="Save", exact=True).click()
        said = f"(the answer is {DETRACTORS} and “Store” is Shop 2) or “Store” is Shop 3"
        await page.get_by_text(said).wait_for()
        await page.locator(".jumps li", has_text=said).get_by_role("link").first.click()
        await expect(page.locator(".condition .joint")).to_have_text(["If", "and", "or"])
        await page.get_by_label("Remove the row").nth(1).click()
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_text(f"the answer is {DETRACTORS} or “Store” is Shop 3").wait_for()


async def test_looked_at(browser: Browser, house: House) -> None:
    """An alert with three rows, and a jump."""
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/settings/alerts")
        await page.locator("main a.whole").first.click()
        await page.locator("select.subject").first.wait_for()
        assert {} == await faults_of(page.context, page.url, "alert")
        jump = f"{await nps_editor(page, house)}/jump/new"
        assert {} == await faults_of(page.context, jump, "jump")


async def test_without_scripts(browser: Browser, house: House) -> None:
    """Each saving brings one more row, and the joint is a list."""
    async with entered(browser, house, java_script_enabled=False) as page:
        await page.goto(f"{await nps_editor(page, house)}/jump/new")
        await page.get_by_label("Value 1").fill("7 to 8 (passives)")
        await page.get_by_label("Field 2").select_option(label="Store")
        await page.get_by_label("Value 2").fill("Athens")
        await page.get_by_label("Rows are joined by").select_option("or")
        await page.get_by_role("button", name="Save", exact=True).click()
        said = "the answer is 7 to 8 (passives) or “Store” is Athens"
        await page.locator(".jumps li", has_text=said).get_by_role("link").first.click()
        await expect(page.get_by_label("Field 3")).to_be_visible()
