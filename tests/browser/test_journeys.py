"""The clicks that a task costs in a browser: a choice in a list counts as two."""

import asyncio
import uuid
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser, Locator, Page, expect
from pyotp.totp import TOTP

from afterword.cases import messages
from afterword.kit import db
from afterword.run.worker.long_work import Importer
from afterword.sending.channels.bounces import Answer
from tests.browser.conftest import SECRET, House, type_login
from tests.browser.test_console import entered, opened
from tests.tenants.logins.conftest import Office

TRANSLATED = ""  # a standard text
LANGUAGES = {
    "el": (
        "Μετά την επίσκεψη",
        TRANSLATED,
        "Πού μας επισκεφθήκατε;",
        "Αθήνα",
        "Βερολίνο",
        TRANSLATED,
    ),
    "de": (
        "Nach dem Besuch",
        TRANSLATED,
        "Wo haben Sie uns besucht?",
        "Athen",
        "Berlin",
        TRANSLATED,
    ),
}
pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Hand:
    page: Page
    clicks: int = 0
    fields: int = 0

    async def click(self, target: Locator) -> None:
        await target.click()
        self.clicks += 1

    async def press(self, name: str) -> None:
        await self.click(self.page.get_by_role("button", name=name, exact=True))

    async def follow(self, name: str) -> None:
        await self.click(self.page.get_by_role("link", name=name).first)

    async def add(self, kind: str, *, after: str = "") -> None:
        """Add a question by the picture of its type; the gallery is open where nothing else is."""
        if after:
            await self.click(self.page.locator(f".plus[aria-label*='{after}']"))
        await self.click(self.page.locator(".types").get_by_role("button", name=kind))
        await self.page.wait_for_url("**#title")

    async def choose(self, label: str, value: str) -> None:
        await self.page.get_by_label(label).select_option(value)
        self.clicks += 2

    async def find(self, text: str) -> None:
        """Go to a page by the palette: keys alone."""
        await self.page.keyboard.press("Control+k")
        await self.page.locator("#palette-find").fill(text)
        self.fields += 1
        await self.page.locator("#palette li:visible a").first.wait_for()
        before = self.page.url
        await self.page.keyboard.press("Enter")
        await self.page.wait_for_url(lambda address: address != before)

    async def fill(self, target: Locator, text: str) -> None:
        await target.fill(text)
        self.fields += 1


CLICKS_MAX = 20


async def test_own_questionnaire_in_three_languages(browser: Browser, house: House) -> None:
    """Three questions in three languages, published; the editor saves by itself, and standard texts are translated."""
    async with entered(browser, house) as page:
        hand = Hand(page)
        await hand.follow("Questionnaires")
        await hand.follow("New questionnaire")
        await hand.fill(page.get_by_label("Name"), "After the visit")
        await hand.press("Create")
        await hand.add("Recommendation, 0 to 10 (NPS)")
        assert (
            "How likely are you to recommend us to a friend or colleague?" == await page.locator("#title").input_value()
        )
        await hand.add("One choice", after="How likely are you")
        await hand.fill(page.locator("#title"), "Where did you visit us?")
        await hand.fill(page.locator("#choices"), "Athens\nBerlin")
        await hand.add("Words", after="Where did you visit us?")
        await hand.follow("Translations")
        for language, texts in LANGUAGES.items():
            await hand.choose("Add a language", language)
            await hand.press("Add")
            areas = page.locator("textarea")
            await expect(areas).to_have_count(len(texts))
            for area, text in zip(await areas.all(), texts, strict=True):
                if text != TRANSLATED:
                    await hand.fill(area, text)
                assert await area.input_value()
            await hand.press("Save")
            await page.get_by_text("Saved.", exact=True).wait_for()
            await expect(page.locator("#shows")).to_contain_text("Missing 0")
            if language == "el":
                await hand.follow("Languages")
        await hand.follow("Publish")
        await expect(page.get_by_text("Not translated")).to_have_count(0)
        await hand.press("Publish")
        await page.get_by_text("Published.").wait_for()
        assert CLICKS_MAX >= hand.clicks


LIST_CLICKS_MAX = 12


async def test_list_with_dirty_rows(browser: Browser, house: House) -> None:
    """200 rows of which nine are wrong: corrected in their table, checked, scheduled; first names are taken in."""
    batch = uuid.uuid4().hex[:8]
    rows = [f"{batch}.{n}@example.com,Ann {n},Berg,{batch}-{n}" for n in range(200)]
    for n, wrong in enumerate(("nobody", "d@", "nobody", "d@", "nobody", "d@", "nobody", "d@", "nobody")):
        rows[20 * n] = f"{wrong},Ben,Berg,{batch}-{20 * n}"
    content = "\n".join(["E-mail,First name,Last name,Order", *rows]).encode()
    importer = Importer(house.pool, uuid.uuid4(), secret=SECRET)
    async with entered(browser, house) as page:
        hand = Hand(page)
        await hand.follow("Sending")
        await hand.follow("Send to a list")
        await page.get_by_label("A CSV file").set_input_files(
            {"name": "people.csv", "mimeType": "text/csv", "buffer": content}
        )
        hand.clicks += 2  # the button of the field, and the file
        await hand.press("Continue")
        await expect(page.get_by_label("First name")).to_have_value("metadata.responder.first_name")
        await hand.press("Check all rows")
        await worked(importer)
        await expect(page.locator("#faulty h2")).to_have_text("9 faulty rows")
        for place, cell in enumerate(await page.locator("input[name^='cell-']").all()):
            await hand.fill(cell, f"{batch}.b{place}@example.com")
        await hand.press("Save these rows and check again")
        await worked(importer)
        await expect(page.locator("#faulty")).to_have_count(0)
        await hand.follow("Continue")
        await hand.press("Schedule 200 messages")
        await worked(importer)
        await page.get_by_text("are scheduled").wait_for()
        assert (LIST_CLICKS_MAX, 9) >= (hand.clicks, hand.fields)


async def worked(importer: Importer) -> None:
    """All that waits is done, as a worker does meanwhile."""
    while await importer.work_next(asyncio.Event()):
        pass


ACCESS_CLICKS_MAX = 10


async def test_users_second_factor_and_provider(browser: Browser, house: House) -> None:
    """A colleague is invited, an app is the second factor, the organization's provider logs people in."""
    async with db.connection(house.pool) as database:
        key = await database.fetch_one("select organization_id, application_id from application limit 1")
    boss = f"boss.{uuid.uuid4().hex[:6]}@demo.example"
    await Office(house.pool, key["organization_id"], key["application_id"], "").add_user(boss, role="owner")
    async with opened(browser) as page:
        await type_login(page, house.url, email=boss)
        hand = Hand(page)
        await hand.find("roles")
        await hand.fill(page.get_by_label("E-mail address"), f"new.{boss}")
        await hand.click(page.get_by_label("Reporting"))
        await hand.press("Send the invitation")
        await page.get_by_text(f"new.{boss}").first.wait_for()
        await hand.find("second")
        await hand.press("Set up")
        secret = await page.locator("main code").inner_text()
        await hand.fill(page.get_by_label("Code"), TOTP(secret.replace(" ", "")).now())
        await hand.press("Turn it on")
        await page.get_by_text("Recovery codes").first.wait_for()
        await hand.find("sso")
        await hand.fill(page.get_by_label("Address of the provider"), "https://login.shop.invalid")
        await hand.fill(page.get_by_label("Client ID"), "afterword")
        await hand.press("Save")
        assert ACCESS_CLICKS_MAX >= hand.clicks


PIPELINE_CLICKS_MAX = 15


async def test_three_days_after_the_order(browser: Browser, house: House) -> None:
    """A new pipeline: due three days after a date of the order, once in 90 days for each address, switched on."""
    async with entered(browser, house) as page:
        hand = Hand(page)
        await hand.follow("Sending")
        await hand.follow("Pipelines")
        await hand.follow("New pipeline")
        await hand.fill(page.get_by_label("Title"), "After the order")
        await hand.press("Create pipeline")
        await hand.click(page.locator("a[href$='/delay']").first)
        await hand.fill(page.get_by_label("Days"), "3")
        await page.get_by_label("Counted from").select_option(label="Transaction date")
        hand.clicks += 2
        await hand.press("Save")
        await page.get_by_text("is due \u20683 days\u2069 after its “\u2068Transaction date\u2069”").wait_for()
        await hand.click(page.locator("a[href$='/frequency']").first)
        await hand.fill(page.get_by_label("Days"), "90")
        await hand.press("Save")
        await hand.follow("Switch on")
        await hand.press("Switch on")
        await page.get_by_text("On", exact=True).first.wait_for()
        assert PIPELINE_CLICKS_MAX >= hand.clicks


CASE_CLICKS_MAX = 9  # as before, when the answer of the customer had no way back


async def test_case_by_mail_both_ways(browser: Browser, house: House) -> None:
    """Taken over, answered, answered back by the customer, and closed with a cause."""
    async with entered(browser, house) as page:
        hand = Hand(page)
        await hand.follow("Cases")
        await hand.click(page.locator("a.whole").first)
        await hand.press("Assign to me")
        await hand.fill(page.get_by_label("Reply", exact=True), "A new lamp is on its way.")
        await hand.press("Send and wait")
        await page.get_by_text("A new lamp is on its way.").wait_for()
        async with db.transaction(house.pool) as database:
            sent = await database.fetch_one("select message_id, address from alert_message order by created_time desc")
            answer = Answer(sent["message_id"], "<1@example.com>", sent["address"], "Re: your order", "It has arrived!")
            assert await messages.receive(database, answer=answer, now=database.clock.now())
        await page.reload()
        await page.get_by_text("It has arrived!").wait_for()
        await page.get_by_label("Status").select_option(label="Closed")
        hand.clicks += 2
        await hand.fill(page.get_by_label("Cause"), "Broken on the way")
        await hand.press("Save")
        await page.get_by_text("The case is closed.").wait_for()
        assert CASE_CLICKS_MAX >= hand.clicks


SHARE_CLICKS_MAX = 9


async def test_share_with_the_boss(browser: Browser, house: House) -> None:
    """A saved report is looked at as its reader will, shared by a link that shows exactly that, copied, and mailed."""
    boss = f"boss.{uuid.uuid4().hex[:6]}@demo.example"
    async with entered(browser, house) as page, opened(browser) as reader:
        hand = Hand(page)
        await hand.follow("Reports")
        await hand.click(page.locator("main a[href^='/console/reports/ready/']").first)
        await hand.fill(page.get_by_label("Title"), "For the boss")
        await hand.press("Save")
        await expect(page.get_by_role("heading", name="For the boss")).to_be_visible()
        saved = page.url.partition("?")[0]
        await hand.follow("Preview as a reader")
        await page.get_by_text("This is what readers of the link see").wait_for()
        shown = await page.locator("main .wide").inner_text()
        await hand.follow("For the boss")
        await page.wait_for_url(f"{saved}*")
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await hand.press("Create a link")
        await page.get_by_text("It is shown only once.").wait_for()
        await hand.press("Copy")
        link = await page.evaluate("navigator.clipboard.readText()")
        await reader.goto(link)
        assert shown == await reader.locator("main .wide").inner_text()
        await expect(reader.get_by_role("button", name="Print or save as PDF")).to_be_visible()
        await hand.follow("Mail it to me regularly")
        await hand.fill(page.get_by_label("Recipient"), boss)
        await hand.press("Save")
        await expect(page.locator("main li").filter(has_text=boss)).to_contain_text("Waits for consent")
        assert SHARE_CLICKS_MAX >= hand.clicks, hand.clicks
