"""The side panel of the editor: opened, saved and closed without leaving the page, while typing waits for no answer."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, Request, Route, expect

from tests.browser.conftest import House
from tests.browser.test_builder import add
from tests.browser.test_console import entered
from tests.browser.test_screens import faults_of

pytestmark = pytest.mark.asyncio(loop_scope="session")
WIDE, NARROW = 1280, 360


@asynccontextmanager
async def editing(browser: Browser, house: House, *, width: int = WIDE) -> AsyncGenerator[Page]:
    """The editor of two questions, the second of which is open in the panel; `window.stays` is gone after a reload."""
    async with entered(browser, house, width=width) as page:
        await page.goto(f"{house.url}/console/questionnaires/new")
        await page.get_by_label("Name").fill("Panel")
        await page.keyboard.press("Enter")
        await add(page, "Recommendation, 0 to 10 (NPS)")
        if width == NARROW:
            await page.get_by_role("link", name="Close").click()
            await expect(page.locator("#open")).to_be_hidden()
        await page.evaluate("window.stays = true")
        await add(page, "Number A figure")
        await expect(page.locator("#title")).to_be_focused()
        yield page


class Held:
    """Holds back the answers to what is posted, as a slow server does, until `release`."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0
        self.arrived = asyncio.Event()
        self.released = asyncio.Event()

    async def begin(self) -> None:
        await self.page.route("**/edit/**", self._answer)

    async def release(self) -> None:
        """Returns once the script has read the answer."""
        async with self.page.expect_event("requestfinished", _is_page):
            self.released.set()

    async def _answer(self, route: Route) -> None:
        if route.request.method != "POST":
            await route.continue_()
            return
        self.count += 1
        self.arrived.set()
        await self.released.wait()
        await route.continue_()


def _is_page(request: Request) -> bool:
    return request.method == "GET" and request.resource_type == "xhr"


def question(page: Page, text: str) -> str:
    return f"#order li[data-place]:has-text('{text}') > a:not(.plus)"


async def test_opened_and_closed(browser: Browser, house: House) -> None:
    """The focus goes into the panel, and back to the question; the page stays where it was."""
    async with editing(browser, house) as page:
        panel, first = page.locator("#open"), page.locator(question(page, "How likely"))
        await first.click()
        await expect(panel).to_be_focused()
        await expect(panel).to_have_attribute("aria-labelledby", "heading")
        await expect(page.locator("#heading")).to_contain_text("How likely")
        await page.wait_for_url(lambda url: not url.endswith("#title"))
        await expect(first).to_have_attribute("aria-current", "page")
        await page.keyboard.press("Tab")
        await expect(page.locator("#shut")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(panel).to_be_hidden()
        await expect(first).to_be_focused()
        await page.wait_for_url("**/edit")
        assert await page.evaluate("window.stays")
        await page.reload()
        await expect(panel).to_be_hidden()


async def test_place_of_scrolling(browser: Browser, house: House) -> None:
    """On a phone the panel covers the page, which stands afterwards where it stood."""
    async with editing(browser, house, width=NARROW) as page:
        await page.get_by_role("link", name="Close").click()
        await expect(page.locator("#open")).to_be_hidden()
        first = page.locator(question(page, "How likely"))
        await first.scroll_into_view_if_needed()
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        before = await page.evaluate("scrollY")
        assert before > 0
        await first.evaluate("(link) => link.click()")
        await expect(page.locator("#open")).to_be_focused()
        await expect(page.locator("#outline")).to_be_hidden()
        await expect(page.locator(".rail")).to_be_hidden()
        assert 0 == await page.evaluate("scrollY")
        await page.get_by_role("link", name="Close").click()
        await expect(first).to_be_focused()
        assert before == await page.evaluate("scrollY")


async def test_typing_waits_for_no_answer(browser: Browser, house: House) -> None:
    """Words typed while a save is on its way stay, with the caret, and are saved after it."""
    async with editing(browser, house) as page:
        title, held = page.locator("#title"), Held(page)
        await held.begin()
        await page.keyboard.type("How many")
        await held.arrived.wait()  # after a moment of quiet
        await page.keyboard.type(" of you came?")
        await expect(title).to_have_value("How many of you came?")
        await expect(page.locator("#saved")).to_have_text("Saving…")
        await expect(page.locator("#open .error")).to_have_count(0)
        await held.release()
        await expect(title).to_have_value("How many of you came?")
        await expect(title).to_be_focused()
        await page.keyboard.type("!")
        await page.locator("#order").get_by_text("How many of you came?!").wait_for()
        assert held.count > 1
        await page.reload()
        await expect(title).to_have_value("How many of you came?!")


async def test_link_after_save(browser: Browser, house: House) -> None:
    """A link that somebody follows before Save was answered opens, however late its own answer is."""
    async with editing(browser, house) as page:
        followed, saved = asyncio.Event(), page.get_by_text("Saved.", exact=True)

        async def answer(route: Route) -> None:
            await (followed.wait() if route.request.method == "POST" else saved.wait_for())
            await route.continue_()

        await page.keyboard.type("Saved first")
        await page.route("**/edit/**", answer)
        async with page.expect_request(lambda request: request.method == "POST"):
            await page.locator("#open form[data-save] .button", has_text="Save").click()
        await page.get_by_role("link", name="Add a question").last.click()
        followed.set()
        await page.locator(".types").wait_for()
        await page.locator("#order").get_by_text("Saved first").wait_for()
        assert await page.evaluate("window.stays")


async def test_typing_after_save(browser: Browser, house: House) -> None:
    """The form is drawn anew by the answer to Save, and keeps the words that were typed since, and the caret."""
    async with editing(browser, house) as page:
        title, held = page.locator("#title"), Held(page)
        await held.begin()
        await page.keyboard.type("Before")
        await page.locator("#open form[data-save] .button", has_text="Save").click()
        await held.arrived.wait()
        await title.focus()
        await page.keyboard.press("End")
        await page.keyboard.type(" and after")
        await held.release()
        await page.get_by_text("Saved.", exact=True).wait_for()
        await expect(title).to_be_focused()
        await page.keyboard.type("wards")
        await expect(title).to_have_value("Before and afterwards")
        await page.locator("#order").get_by_text("Before and afterwards").wait_for()
        assert await page.evaluate("window.stays")


async def test_saved_before_another_opens(browser: Browser, house: House) -> None:
    async with editing(browser, house) as page:
        await page.keyboard.type("Left at once")
        await page.locator(question(page, "How likely")).click()
        await expect(page.locator("#heading")).to_contain_text("How likely")
        await page.locator("#order").get_by_text("Left at once").wait_for()
        assert await page.evaluate("window.stays")


async def test_faults_in_the_panel(browser: Browser, house: House) -> None:
    """A refused form stays in the panel, with what is wrong at its field."""
    async with editing(browser, house) as page:
        await page.locator(question(page, "How likely")).click()
        await expect(page.locator("#heading")).to_contain_text("How likely")
        await page.get_by_role("link", name="Add a jump").click()
        await page.locator("#value-0").select_option("6")
        await page.locator("details", has_text="As JSON").locator("summary").click()
        await page.locator("#document").fill("{")
        await page.locator("#open").get_by_role("button", name="Save").click()
        await expect(page.locator("#open [role=alert]")).to_be_focused()
        await expect(page.locator("#document")).to_have_attribute("aria-invalid", "true")
        await page.locator("#document").fill("")
        await page.locator("#open").get_by_role("button", name="Save").click()
        await page.locator("#jumps").get_by_text("the answer is 6").wait_for()
        assert await page.evaluate("window.stays")


async def test_removed_and_back(browser: Browser, house: House) -> None:
    """One click, and one to take it back."""
    async with editing(browser, house) as page:
        await page.keyboard.type("How many?")
        await page.get_by_role("button", name="Remove the question").click()
        await page.locator(".toast").get_by_text("Removed.").wait_for()
        await expect(page.locator("#open")).to_be_hidden()
        await expect(page.locator(question(page, "How many"))).to_have_count(0)
        await page.locator(".toast").get_by_role("button", name="Undo").click()
        await page.get_by_text("It is as it was before.").wait_for()
        await expect(page.locator("#title")).to_have_value("How many?")
        await expect(page.locator(question(page, "How many"))).to_have_count(1)
        assert await page.evaluate("window.stays")


async def test_moved_by_keys(browser: Browser, house: House) -> None:
    """Alt and an arrow move the question that has the focus, which keeps it."""
    async with editing(browser, house) as page:
        await page.keyboard.type("How many?")
        second = page.locator(question(page, "How many"))
        await second.wait_for()
        await second.focus()
        await page.keyboard.press("Alt+ArrowUp")
        await page.get_by_text("Moved.").wait_for()
        assert "How many?" in await page.locator("#order ol li").first.inner_text()
        await expect(second).to_be_focused()
        await page.locator(".toast").get_by_role("button", name="Undo").click()
        await page.get_by_text("It is as it was before.").wait_for()
        assert "How likely" in await page.locator("#order ol li").first.inner_text()
        assert await page.evaluate("window.stays")


async def test_preview_beside_the_words(browser: Browser, house: House) -> None:
    """Another look of the preview takes nothing from what is typed."""
    async with editing(browser, house) as page:
        await page.keyboard.type("Typed")
        await page.locator("#shade").select_option("dark")
        await page.locator("#preview .dark").wait_for()
        await expect(page.locator("#title")).to_have_value("Typed")
        await page.locator("#order").get_by_text("Typed").wait_for()
        await expect(page.locator("#preview .dark")).to_have_count(1)
        assert await page.evaluate("window.stays")


async def test_words_in_the_preview(browser: Browser, house: House) -> None:
    """A click on the words of a question opens its panel and changes them there; variables show as they are written."""
    async with editing(browser, house) as page:
        await page.locator("#order ol a", has_text="How likely").click()
        await expect(page.locator("#title")).to_have_value(re.compile("How likely"))
        await page.locator("#order ol a:not(.plus)").last.click()
        await expect(page.locator("#title")).not_to_have_value(re.compile("How likely"))
        preview = page.frame_locator("#preview iframe")
        await preview.get_by_text("How likely").click()
        await expect(page.locator("#title")).to_have_value(re.compile("How likely"))
        await expect(preview.locator("[contenteditable=plaintext-only]")).to_be_focused()
        await page.keyboard.press("Control+a")
        await page.keyboard.type("Would you, {{ responder.first_name | dear customer }}, recommend us?")
        await expect(page.locator("#title")).to_have_value(re.compile("^Would you, {{"))
        await page.locator("#order").get_by_text("Would you,").wait_for()
        await expect(preview.locator("[contenteditable=plaintext-only]")).to_be_focused()
        await page.keyboard.press("Enter")
        await page.locator("#description").focus()
        await page.keyboard.type("x")
        await expect(preview.get_by_text("Would you, dear customer, recommend us?")).to_be_visible()
        await preview.get_by_text("Would you, dear customer").click()
        await expect(preview.get_by_text("Would you, {{ responder")).to_be_focused()
        assert await page.evaluate("window.stays")


async def test_looked_at(browser: Browser, house: House) -> None:
    """The panel with a question, with the types of questions, with endings, and closed."""
    async with editing(browser, house) as page:
        address, _, identity = page.url.partition("#")[0].rpartition("/")
        for below in ("", f"/{identity}", "/add", "/endings"):
            assert {} == await faults_of(page.context, f"{address}{below}", below)


async def test_without_scripts(browser: Browser, house: House) -> None:
    """Each link leads to a page, and a removal is taken back by the button above it."""
    async with editing(browser, house) as page:
        address = page.url.partition("#")[0]
    async with entered(browser, house, java_script_enabled=False, width=NARROW) as page:
        await page.goto(address)
        await page.locator("#title").fill("By hand")
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_text("Saved.", exact=True).wait_for()
        await page.get_by_role("button", name="Remove the question").click()
        await page.wait_for_url("**/edit?done=removed")
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator("#title")).to_have_value("By hand")
