"""Days of the people who use the console, in a browser: by keyboard alone, without scripts, on a phone."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Browser, Dialog, Locator, Page, expect

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.transport.base import EMAIL
from afterword.run import worker
from afterword.run.app import create_app
from afterword.run.cli.setup import setup_url
from tests.browser.conftest import House, email_of, listening, served, type_login
from tests.browser.test_screens import faults_of
from tests.run.worker.conftest import DEADLINE_SECONDS, RIG
from tests.sizes import one_of
from tests.tenants.logins.conftest import PASSWORD

pytestmark = pytest.mark.asyncio(loop_scope="session")

WAIT_MILLISECONDS_MAX = 15_000


@asynccontextmanager
async def entered(browser: Browser, house: House, *, role: str = "owner", **options: Any) -> AsyncGenerator[Page]:
    """A page of somebody who has logged in by typing."""
    async with opened(browser, **options) as page:
        await type_login(page, house.url, email=email_of(role))
        yield page


@asynccontextmanager
async def opened(browser: Browser, *, width: int = 1280, locale: str = "en", **options: Any) -> AsyncGenerator[Page]:
    context = await browser.new_context(
        viewport={"width": width, "height": 800}, reduced_motion="reduce", locale=locale, **options
    )
    context.set_default_timeout(WAIT_MILLISECONDS_MAX)
    yield await context.new_page()
    await context.close()


@asynccontextmanager
async def working(database_url: str, site: Site) -> AsyncGenerator[None]:
    """A worker whose mails are kept in the outbox."""
    stop = asyncio.Event()
    running = asyncio.create_task(
        worker.run(
            database_url=database_url,
            site=site,
            channels=lambda pool: worker.captured(pool, [EMAIL]),
            mail_from="survey@shop.example",
            stop=stop,
            pace=RIG,
        )
    )
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(running, DEADLINE_SECONDS)


async def test_first_run_to_the_first_answer(browser: Browser, pool_url: str, pool: db.Pool) -> None:
    """From the printed link to an answer of one's own on a phone, in `TAPS_MAX` taps.

    A worker keeps the message and brings the answer into the list; each page on the way can be read by everybody.
    """
    listener, site = listening(sends_mail=False)
    url = await setup_url(pool, site)
    assert url is not None
    phone: dict[str, Any] = {"width": 360, "is_mobile": True, "has_touch": True, "timezone_id": "Asia/Tokyo"}
    async with (
        served(create_app(pool=pool, site=site, show_outbox=True), listener),
        working(pool_url, site),
        opened(browser, **phone) as page,
    ):
        thumb = Thumb()
        addresses = await set_up(page, thumb, url)
        await thumb.tap(page.get_by_role("button", name="Send the test message"))
        await page.get_by_text("the message is in the outbox").wait_for()
        await page.get_by_text("No e-mail is sent yet: messages are kept").wait_for()
        message = await page.get_by_role("link", name="See the message").get_attribute("href")
        async with page.expect_popup() as opening:
            await thumb.tap(page.get_by_role("link", name="Answer it as a test"))
        answering = await opening.value
        assert "Test" == await answering.locator(".intro .note").first.inner_text()
        await thumb.tap(answering.locator("label.key", has=answering.locator('input[type=radio][value="3"]')))
        await thumb.tap(answering.locator("button[value=next]"))
        await answering.get_by_text("2 of 2").wait_for()
        await thumb.tap(answering.get_by_role("button", name="Send my answers"))
        await answering.get_by_role("heading", name="Thank you").wait_for()
        assert await answering.get_by_text("This was a test").count()
        assert TAPS_MAX == thumb.taps
        await page.get_by_role("link", name="To the overview").tap()
        await page.get_by_text("of 5 done").wait_for()
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not await page.locator(".is-done", has_text="Send yourself a test message").count():
                await page.reload()
        await expect(page.locator(".first-steps .button")).to_have_text("Connect your mail server")
        addresses.append(page.url)
        await page.goto(f"{site.public_url}/console/responses?test=1")
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not await page.locator(".item .score").count():
                await page.reload()
        assert (await page.locator(".item .score").inner_text()).startswith("3")
        await page.goto(f"{site.public_url}{message}")
        assert await page.locator(".copied code").inner_text() == answering.url.partition("?")[0]
        addresses.append(page.url)
        await page.goto(url)
        assert await page.get_by_text("link has expired").count()
        for address in one_of(addresses):
            assert {} == await faults_of(page.context, address, address)


async def set_up(page: Page, thumb: "Thumb", url: str) -> list[str]:
    """Go as far as the test message; the addresses on the way."""
    await page.goto(url)
    await page.get_by_label("Your name").fill("Olga Papadaki")
    await page.get_by_label("E-mail address").fill("olga@kalamata.example")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_label("Name of your organization").fill("Kalamata Books")
    await thumb.tap(page.get_by_role("button", name="Continue"))
    await page.get_by_text("Step 2 of 4").wait_for()
    await expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
    addresses = [page.url]
    await thumb.tap(page.get_by_role("button", name="Continue"))
    await page.get_by_text("Step 3 of 4").wait_for()
    addresses.append(page.url)
    await thumb.tap(page.get_by_label("Would you recommend us?"))
    await thumb.tap(page.get_by_role("button", name="Use this template"))
    await page.get_by_text("Step 4 of 4").wait_for()
    addresses.append(page.url)
    return addresses


TAPS_MAX = 9  # of the way from the set-up to one's own first answer


@dataclass
class Thumb:
    """Counts what it taps on."""

    taps: int = 0

    async def tap(self, target: Locator) -> None:
        self.taps += 1
        await target.tap()


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
        await page.locator("[data-open]:not(.unread)").wait_for()  # and the response is read
        assert "Response of" in await page.title()
        await page.go_back()
        await page.wait_for_url("**/console/responses")
        await page.locator("form.search").first.wait_for()
        await page.keyboard.press("Shift+?")
        await page.locator("dialog[open]").wait_for()
        await page.keyboard.press("Escape")
        await page.goto(f"{house.url}/console/settings/account")
        await page.get_by_role("button", name="Turn keyboard shortcuts off").click()
        await page.get_by_role("button", name="Turn keyboard shortcuts on").wait_for()
        await page.keyboard.press("g")
        await page.keyboard.press("r")
        assert not await page.locator("script[src*=keys]").count()
        assert "/settings/account" in page.url


async def test_a_reply_is_not_lost_by_another_form(browser: Browser, house: House) -> None:
    """The browser asks before words that were typed go; who stays still has them."""
    asked: list[str] = []

    async def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        await dialog.dismiss()

    async with entered(browser, house) as page:
        page.on("dialog", stay)
        await page.goto(f"{house.url}/console/cases")
        await page.locator("a.whole").first.click()
        await page.get_by_label("Reply").fill("We are sorry.")
        async with page.expect_event("dialog"):
            await page.get_by_role("button", name="Save", exact=True).click(no_wait_after=True)
        assert ["beforeunload"] == asked
        assert "We are sorry." == await page.get_by_label("Reply").input_value()


async def test_without_scripts(browser: Browser, house: House) -> None:
    """From the log-in over a case to a comment on it, by links and forms alone."""
    async with entered(browser, house, java_script_enabled=False, width=360) as page:
        await page.goto(f"{house.url}/console/cases")
        await page.locator("a.whole").first.click()
        await page.locator("textarea[name=body]").fill("I call on Monday.")
        await page.get_by_role("button", name="Internal note").click()
        assert await page.get_by_text("I call on Monday.").count()
        assert await page.get_by_text("Your comment has been added.").count()


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


async def test_from_an_unhappy_response_to_a_closed_case(browser: Browser, house: House) -> None:
    """Found among the unhappy, opened, taken over, closed with its cause: the list of cases has one less."""
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/cases")
        before = await page.locator("a.whole").count()
        await page.goto(f"{house.url}/console/responses?tab=unhappy")
        await page.locator(".item", has_text="open case").locator("a.whole").first.click()
        await page.get_by_role("link", name="Open case").click()
        owner = page.get_by_label("Case owner")  # each with the number of open cases
        await owner.select_option(await owner.locator("option", has_text=email_of("owner")).get_attribute("value"))
        await page.get_by_label("Status").select_option(label="Closed")
        await page.get_by_label("Comment").fill("She gets a new one.")
        await page.get_by_label("Cause").fill("Broken on the way")
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_text("The case is closed.").wait_for()
        assert await page.get_by_text("She gets a new one.").count()
        await page.goto(f"{house.url}/console/cases")
        assert before - 1 == await page.locator("a.whole").count()


@pytest.mark.parametrize(
    ("typed", "found"),
    one_of([("ΠΑΡΑΔΟΣΗ", "παράδοση"), ("verspatet", "verspätet"), ("توصيل", "توصيل")]),
)
async def test_search(browser: Browser, house: House, typed: str, found: str) -> None:
    """Without accents, in capitals, in each script: the words that were found are marked, and no other row is there."""
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/responses")
        await page.keyboard.press("/")
        await page.keyboard.type(typed)
        await page.keyboard.press("Enter")
        await page.wait_for_url("**search=**")
        rows, marks = page.locator(".item"), page.locator(".item .comment mark")
        assert 0 < await rows.count() == await page.locator(".item:has(.comment mark)").count()
        assert found in (await marks.first.inner_text()).lower()


async def test_end_of_a_month(browser: Browser, house: House) -> None:
    """Stores side by side, compared with the time before, kept under a title, taken along as a table.

    Then shown on the overview, given away by a link that reads no answer and ends, and mailed every month.
    """
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/reports")
        await page.get_by_role("link", name="Compare groups").click()
        await page.get_by_label("Period").select_option("30")
        await page.wait_for_url("**period=30**")
        await page.get_by_label("Compare with").select_option("previous_period")
        await page.wait_for_url("**compare=previous_period**")
        for store in ("Harbour Street", "Old Town", "Online"):
            assert await page.get_by_role("row", name=store).count(), store
        await page.get_by_label("Title").fill("Stores, month by month")
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_role("heading", name="Stores, month by month").wait_for()
        async with page.expect_download() as taken:
            await page.get_by_role("link", name="Table as CSV").click()
        assert (await taken.value).suggested_filename.endswith(".csv")
        report = page.url
        await page.get_by_role("button", name="Show on the overview").click()
        await page.get_by_role("button", name="Remove from the overview").wait_for()
        await page.get_by_label("Link without log-in, valid for").select_option(label="7 days")
        await page.get_by_role("button", name="Create a link").click()
        link = await page.locator("code.command").inner_text()
        async with opened(browser, width=360) as guest:
            await guest.goto(link)
            assert await guest.get_by_role("row", name="Harbour Street").count()
            assert not await guest.locator("a[href*=responses]").count()
            await page.goto(report)
            await page.get_by_role("button", name="Disable").click()
            await page.get_by_text("The link is disabled.").wait_for()
            await guest.reload()
            assert not await guest.get_by_role("row", name="Harbour Street").count()
        await page.get_by_role("link", name="Mail it to me regularly").click()
        await page.get_by_label("When").select_option(label="Every month on day 1")
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_role("button", name="Send one now").click()
        await page.get_by_text("The e-mail has been sent.").wait_for()
        await page.goto(f"{house.url}/console")
        assert await page.get_by_role("link", name="Stores, month by month").count()


async def test_passkey(browser: Browser, house: House) -> None:
    """Made after the password, shown with recovery codes; from then on it opens the console alone."""
    async with opened(browser, width=360) as page:
        devtools = await page.context.new_cdp_session(page)
        await devtools.send("WebAuthn.enable")
        options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
        options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
        await devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        await page.goto(f"{house.url}/console/login?next=/console/settings/account")
        await page.locator("#email").fill(email_of("admin"))
        await page.locator("#password").fill(PASSWORD)
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Add a passkey").click()
        await page.get_by_label("Name").fill("My phone")
        await page.get_by_role("button", name="Create passkey").click()
        await page.get_by_role("link", name="I have saved them").click()
        assert await page.get_by_role("row", name="My phone").count()
        for is_offered in (True, False):  # in the field of the address, where the browser can, and by the button
            if not is_offered:
                await page.add_init_script("delete PublicKeyCredential.isConditionalMediationAvailable")
            await page.get_by_role("button", name="More").click()
            await page.get_by_role("button", name="Log out").click()
            if not is_offered:
                await page.get_by_role("button", name="Log in with a passkey").click()
            await page.wait_for_url("**/console")
        await page.goto(f"{house.url}/console/settings/account")
        assert not await page.get_by_role("row", name="Never").count()
