"""A questionnaire is built by keyboard, with scripts and without, published, and answered on a phone."""

import pytest
from playwright.async_api import Browser, Dialog, Locator, Page, expect

from tests.browser.conftest import House
from tests.browser.test_console import entered, opened

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def add(page: Page, kind: str, *, link: str = "+ Add a question") -> None:
    """Add a question of this type and wait for its form."""
    await page.locator("#outline").wait_for(state="attached")
    if not await page.locator(".types").is_visible():
        await page.get_by_role("link", name=link, exact=True).click()
    await page.locator(".types").get_by_role("button", name=kind).click()
    await page.wait_for_url("**#title")
    await page.locator("#title").wait_for()


async def test_a_chosen_template_is_shown(browser: Browser, house: House) -> None:
    """Beside the gallery stands the page that customers would see; an empty questionnaire has none.

    How to use a template is said of the chosen one alone: such texts of all were four screens of a phone.
    """
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/questionnaires/new")
        shown = page.frame_locator("#preview")
        await expect(page.locator("#preview")).to_be_hidden()
        await page.locator("label", has_text="Your delivery").click()
        await expect(shown.get_by_role("heading", name="Your delivery")).to_be_visible()
        await page.locator("label", has_text="Your request to our support team").click()
        await expect(shown.get_by_role("heading", name="Your request to our support team")).to_be_visible()
        await expect(page.get_by_text("Effort (CES) tells best")).to_be_visible()
        assert 1 == await page.locator(".gallery > label > .help:visible").count()
        await page.locator("label", has_text="An empty questionnaire").click()
        await expect(page.locator("#preview")).to_be_hidden()


async def test_build_publish_answer(browser: Browser, house: House) -> None:
    async with entered(browser, house) as page:
        address = await begin(page, house)
    async with entered(browser, house, java_script_enabled=False, width=360) as page:
        link = await finish(page, address)
    async with opened(browser, width=360) as page:
        await page.goto(link)
        await page.get_by_text("Service").click()
        await page.locator('input[type=radio][value="10"]').check()
        await page.locator("button[value=next]").click()
        await page.locator("button[value=send]").click()
        await page.get_by_role("heading", name="Thank you").wait_for()


async def test_left_while_typing(browser: Browser, house: House) -> None:
    """Each form of the editor keeps what was typed when it is left; a jump asks before."""
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/questionnaires/new")
        await page.get_by_label("Name").fill("Left")
        await page.keyboard.press("Enter")
        await add(page, "Recommendation, 0 to 10 (NPS)")
        address, question = page.url.partition("/edit/")[0], page.url.partition("#")[0]
        await page.goto(f"{address}/edit/texts")
        await left(page, page.get_by_label("Before the questions"), "Hello")
        await page.goto(f"{address}/edit")
        await page.locator("#order p[data-place] a:not(.plus)").click()
        await left(page, page.get_by_label("Title"), "First")
        await page.goto(f"{address}/edit/endings")
        await page.get_by_role("button", name="Add an ending").click()
        await expect(page.get_by_label("Title", exact=True)).to_be_focused()
        async with page.expect_response(lambda response: response.request.method == "POST"):
            await page.get_by_label("Title", exact=True).fill("Thank you so much")
        await page.goto(f"{address}/edit/endings")
        await page.get_by_role("link", name="Thank you so much").wait_for()
        await page.goto(f"{address}/translations")
        await page.get_by_label("Add a language").select_option("el")
        await page.get_by_role("button", name="Add", exact=True).click()
        await left(page, page.locator("textarea").first, "Πρώτη")
        await page.goto(f"{question}/jump/new")
        await page.get_by_label("Value 1").select_option("6")
        asked: list[str] = []

        async def stay(dialog: Dialog) -> None:
            asked.append(dialog.type)
            await dialog.accept()

        page.on("dialog", stay)
        await page.get_by_role("link", name="Back to the question").click()
        await page.wait_for_url(question)
        assert ["beforeunload"] == asked


async def test_calm_until_it_is_left(browser: Browser, house: House) -> None:
    """A new question shows no fault; one that is left wrong does, until it is mended, without a reload."""
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/questionnaires/new")
        await page.get_by_label("Name").fill("Calm")
        await page.keyboard.press("Enter")
        await add(page, "Number A figure")
        await page.evaluate("window.stays = true")
        fault, title = page.locator("#open .error"), page.get_by_label("Question", exact=True)
        await page.locator("#order").get_by_text("Not finished").wait_for()
        await expect(fault).to_have_count(0)
        await page.keyboard.press("Tab")
        await expect(fault).to_have_text("The text of the question is missing.")
        await expect(title).to_have_attribute("aria-invalid", "true")
        await title.fill("How many of you came?")
        await expect(fault).to_have_count(0)
        await expect(title).not_to_have_attribute("aria-invalid", "true")
        await expect(page.locator("#order").get_by_text("Not finished")).to_have_count(0)
        await expect(page.locator("#heading")).to_have_text("How many of you came?")
        assert "How many of you came?" in await page.title()
        await page.get_by_label("Minimum").fill("many")
        await page.get_by_label("Maximum").focus()
        await expect(fault).to_have_count(1)
        await page.get_by_label("Minimum").fill("1")
        await page.get_by_label("Maximum").focus()
        await expect(fault).to_have_count(0)
        assert await page.evaluate("window.stays")


async def left(page: Page, field: Locator, text: str) -> None:
    """Type, leave at once, and come back until it stands there."""
    await field.fill(text)
    here = page.url
    await page.locator("p.back a").click()
    await page.wait_for_url(lambda url: url != here)
    for _ in range(50):
        await page.goto(here)
        if text == await field.input_value():
            return
    raise AssertionError(text)


async def begin(page: Page, house: House) -> str:
    """Two questions, by keyboard and saved while typing; the second is dragged to the first place."""
    await page.goto(f"{house.url}/console/questionnaires/new")
    await page.get_by_label("Name").fill("Visits")
    await page.keyboard.press("Enter")
    await add(page, "Recommendation, 0 to 10 (NPS)")
    question = page.get_by_label("Question", exact=True)
    await expect(question).to_be_focused()
    await page.keyboard.type("Would you recommend us?")  # over the standard one, which is selected
    await page.get_by_role("heading", name="Would you recommend us?").wait_for()  # saved after a moment of quiet
    assert "Would you recommend us?" == await question.input_value()
    assert await page.locator("#order").get_by_text("Would you recommend us?").count()
    await add(page, "One choice")
    await question.fill("What was best?")
    await page.get_by_label("Choices").fill("Food\nService\nMusic")
    await page.keyboard.press("Tab")
    await page.get_by_role("button", name="Save", exact=True).press("Enter")
    await page.get_by_text("Saved.", exact=True).wait_for()
    grip, first = page.locator("li.current .grip"), page.locator("p[data-place]").first
    await grip.hover()
    await page.mouse.down()
    await first.hover()
    await page.mouse.up()
    await page.get_by_text("Moved.").wait_for()
    assert "What was best?" in await page.locator("#order ol li").first.inner_text()
    return page.url.partition("/edit/")[0]


async def finish(page: Page, address: str) -> str:
    """A question on a new page and a jump, by links and forms alone; then publish it, and return its public link."""
    await page.goto(f"{address}/edit")
    await page.get_by_role("link", name="Would you recommend us?").first.click()
    await page.get_by_role("link", name="Close").click()
    await add(page, "Words", link="+ Add a page")
    await page.get_by_label("Question", exact=True).fill("What went wrong?")
    await page.get_by_role("button", name="Save", exact=True).click()
    await page.get_by_role("link", name="Close").click()
    await page.get_by_role("link", name="Would you recommend us?").first.click()
    await page.get_by_role("link", name="Add a jump").click()
    await page.get_by_label("go to").select_option(label="the end")
    await page.get_by_label("Value 1").fill("9 to 10 (promoters)")
    await page.get_by_role("button", name="Save", exact=True).click()
    assert await page.get_by_text("the answer is 9 to 10 (promoters)").count()
    await page.goto(f"{address}/publish")
    await page.get_by_role("button", name="Publish").click()
    await page.get_by_text("Published.").wait_for()
    await page.get_by_role("link", name="Settings", exact=True).last.click()
    await page.get_by_label("Anyone with the public link can answer").check()
    await page.get_by_role("button", name="Save", exact=True).click()
    link = await page.locator("a[href*='/p/']").get_attribute("href")
    assert link is not None
    return link
