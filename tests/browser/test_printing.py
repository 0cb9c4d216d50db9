"""Reports on paper: what the browser prints, or saves as PDF."""

import re
from dataclasses import dataclass

import pypdfium2
import pytest
from playwright.async_api import Browser, Page

from tests.browser.conftest import House
from tests.browser.test_console import entered, opened

pytestmark = pytest.mark.asyncio(loop_scope="session")

ISOLATES = re.compile("[\u2068\u2069]")
A4 = (595, 842)  # points


@dataclass
class Paper:
    text: str
    sizes: list[tuple[int, int]]


async def printed(page: Page) -> Paper:
    document = pypdfium2.PdfDocument(await page.pdf(prefer_css_page_size=True, print_background=False))
    sheets = list(document)
    text = ISOLATES.sub("", " ".join(" ".join(one.get_textpage().get_text_bounded() for one in sheets).split()))
    return Paper(text, [(round(one.get_width()), round(one.get_height())) for one in sheets])


async def saved(page: Page, house: House) -> str:
    """The address of the first saved report."""
    await page.goto(f"{house.url}/console/reports")
    return str(await page.locator('a[href*="/reports/saved/"]').first.get_attribute("href"))


async def test_overview(browser: Browser, house: House) -> None:
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console")
        paper = await printed(page)
    assert {A4} == set(paper.sizes)
    assert len(paper.sizes) <= 2
    assert "Overview" in paper.text
    assert " to " in paper.text
    for hidden in ("Log out", "Print or save", "Skip to", "made up", "Needs your attention"):
        assert hidden not in paper.text


async def test_results(browser: Browser, house: House) -> None:
    """Each question with its figure, and the dates that are compared."""
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console")
        await page.get_by_role("link", name="After delivery").first.click()
        assert "/results" in page.url
        titles = [
            " ".join(ISOLATES.sub("", title).split()) for title in await page.locator("main h2").all_inner_texts()
        ]
        paper = await printed(page)
    assert {A4} == set(paper.sizes)
    assert len(paper.sizes) <= 4
    assert len(titles) >= 4
    assert not [title for title in [*titles, "beside"] if title not in paper.text]


async def test_report_and_link(browser: Browser, house: House) -> None:
    """The page of a link, too, where nobody has logged in: its button opens the dialog of the browser."""
    async with entered(browser, house) as page:
        address = await saved(page, house)
        await page.goto(f"{house.url}{address}")
        title = await page.locator("h1").inner_text()
        paper = await printed(page)
        assert title in paper.text
        assert "Create a link" not in paper.text
        await page.get_by_role("button", name="Create a link").click()
        link = await page.locator("code").first.inner_text()
    async with opened(browser) as guest:
        await guest.goto(link)
        paper = await printed(guest)
        assert {A4} == set(paper.sizes)
        assert title in paper.text
        assert "Demo Shop" in paper.text
        await guest.evaluate("window.print = () => { window.hasPrinted = true; }")
        await guest.get_by_role("button", name="Print or save as PDF").click()
        assert await guest.evaluate("window.hasPrinted")


async def test_without_scripts_there_is_no_button(browser: Browser, house: House) -> None:
    async with entered(browser, house, java_script_enabled=False) as page:
        await page.goto(f"{house.url}/console")
        assert not await page.get_by_text("Print or save as PDF").is_visible()
