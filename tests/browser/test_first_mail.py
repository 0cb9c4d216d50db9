"""From an empty organization to a real mail that is answered on a phone, by somebody who reads nothing but screens."""

import asyncio
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final

import pytest
from playwright.async_api import Browser, Page

from afterword.kit import db
from afterword.kit.texts import texts
from afterword.run.app import create_app
from afterword.run.cli.setup import setup_url
from tests.browser.conftest import listening, served
from tests.browser.test_console import opened, working
from tests.journeys.inbox import Inbox, open_inbox
from tests.run.worker.conftest import DEADLINE_SECONDS
from tests.sizes import one_of
from tests.tenants.logins.conftest import PASSWORD

pytestmark = pytest.mark.asyncio(loop_scope="session")

CUSTOMER: Final = "maria@customers.example"
NETWORKS: Final = (ip_network("127.0.0.0/8"), ip_network("::1/128"))  # of the mail server, which the operator allows


@dataclass(frozen=True)
class Shop:
    """Its console's language, that of its customers with its name in the set-up, and what the owner types."""

    console: str
    customers: str
    language: str
    recommend: str
    why: str
    subject: str
    body: str
    comment: str


SHOPS: Final = {
    "en": Shop("en", "en", "English", "Would you recommend us?", "Why?", "Your visit", "How was it?", "All was well."),
    "el": Shop("el", "el", "Ελληνικά", "Θα μας συστήνατε;", "Γιατί;", "Επίσκεψη", "Πώς πήγε;", "Όλα τέλεια."),
    "ar": Shop("en", "ar", "العربية", "هل توصي بنا؟", "لماذا؟", "زيارتك", "كيف كانت زيارتك؟", "كان رائعا."),
}


@pytest.mark.parametrize("language", one_of([*SHOPS]))
async def test_first_mail(browser: Browser, pool_url: str, pool: db.Pool, language: str) -> None:
    """Each step is found by the words of the page before it; the mail is a real one, and so is its answer."""
    shop = SHOPS[language]
    listener, site = listening(networks=NETWORKS, sends_mail=False)
    url = await setup_url(pool, site)
    assert url is not None
    async with (
        open_inbox() as inbox,
        served(create_app(pool=pool, site=site), listener),
        working(pool_url, site),
        opened(browser, locale=shop.console) as page,
    ):
        await page.goto(url)
        owner = Owner(page, shop)
        await owner.set_up()
        await owner.build()
        await owner.make_pipeline()
        await owner.connect(inbox)
        await owner.send()
        mail = await inbox.one_for(CUSTOMER)
        assert shop.subject == mail.message["Subject"]
        async with opened(browser, width=360, locale=shop.customers, is_mobile=True, has_touch=True) as phone:
            await phone.set_content(mail.text("html"))
            await _answer(phone, shop)
        await owner.read()


async def _answer(phone: Page, shop: Shop) -> None:
    words = texts("pages", shop.customers)
    await phone.get_by_role("link", name="9", exact=True).tap()
    await phone.get_by_role("radiogroup", name=shop.recommend).wait_for()
    document = phone.locator("html")
    assert shop.customers == await document.get_attribute("lang")
    assert words.direction == await document.get_attribute("dir")
    assert await phone.get_by_role("radio", name="9", exact=True).is_checked()
    assert 360 >= await phone.evaluate("document.documentElement.scrollWidth")
    await phone.get_by_label(shop.why).fill(shop.comment)
    await phone.get_by_role("button", name=words("Send my answers")).tap()
    await phone.get_by_role("heading", name=words("Thank you")).wait_for()


class Owner:
    """Knows the words of the console, and no address."""

    def __init__(self, page: Page, shop: Shop) -> None:
        self.page, self.shop, self.words = page, shop, texts("console", shop.console)

    async def set_up(self) -> None:
        await self.fill("Your name", "Olga Papadaki")
        await self.fill("E-mail address", "olga@kalamata.example")
        await self.fill("Password", PASSWORD)
        await self.fill("Name of your organization", "Kalamata Books")
        await self.press("Continue")
        await self.choose("Time zone", "Europe/Athens")
        await self.page.get_by_label(self.shop.language).check()
        await self.choose("Default language", self.shop.language)
        await self.press("Continue")
        await self.follow("Later")

    async def build(self) -> None:
        await self.follow("Questionnaires")
        await self.follow("New questionnaire")
        await self.fill("Name", "Visits")
        await self.press("Create")
        await self.add("Recommendation, 0 to 10 (NPS)", self.shop.recommend)
        await self.add("Words", self.shop.why)
        await self.follow("Publish")
        await self.press("Publish")
        await self.see("Published.")

    async def make_pipeline(self) -> None:
        await self.follow("New pipeline")
        await self.fill("Title", "After a visit")
        await self.fill("Subject", self.shop.subject)
        await self.fill("Text", self.shop.body)
        await self.press("Create pipeline")
        await self.follow("Messages")
        await self.press("Send the test message")
        await self.follow("Connect a mail server")

    async def connect(self, inbox: Inbox) -> None:
        await self.fill("Name", "Our mail server")
        await self.fill("Server", "localhost")
        await self.choose("Encryption", self.words("None, without a password (port 25)"))
        await self.fill("Port", str(inbox.port))
        await self.press("Add the account")
        await self.press("Send a test message")
        await self.see("The provider accepted it.")
        await self.follow("Send everything through it")
        await self.press("Send everything through it")

    async def send(self) -> None:
        await self.follow("Overview")
        await self.follow("The pipeline “{title}” is off.", title="After a visit")
        await self.follow("Switch on")
        await self.press("Switch on")
        await self.follow("Send to a list")
        await self.fill("Or paste rows", CUSTOMER)
        await self.press("Continue")
        await self.press("Check all rows")
        await self.follow("Continue")
        await self.press(self.words.plural("Schedule {n} message", "Schedule {n} messages", 1))
        await self.page.get_by_text(self.words.plural("is scheduled", "are scheduled", 1)).first.wait_for()

    async def read(self) -> None:
        await self.follow("Responses")
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not await self.page.get_by_text(self.shop.comment).count():
                await self.page.reload()
        assert await self.page.get_by_text(CUSTOMER).count()

    async def add(self, kind: str, title: str) -> None:
        await self.page.locator("#outline").wait_for(state="attached")
        if not await self.page.locator(".types").count():
            await self.page.get_by_role("link", name=self.words("Add a question")).last.click()
        await self.page.locator(".types").get_by_role("button", name=self.words(kind)).click()
        await self.page.wait_for_url("**#title")
        await self.fill("Question", title)
        await self.press("Save")
        await self.page.get_by_role("heading", name=title).wait_for()

    async def press(self, text: str) -> None:
        await self.page.get_by_role("button", name=self.words(text), exact=True).click()

    async def follow(self, text: str, **values: object) -> None:
        await self.page.get_by_role("link", name=self.words(text, **values), exact=True).first.click()

    async def fill(self, label: str, text: str) -> None:
        await self.page.get_by_label(self.words(label), exact=True).fill(text)

    async def choose(self, label: str, text: str) -> None:
        await self.page.get_by_label(self.words(label), exact=True).select_option(label=text)

    async def see(self, text: str) -> None:
        await self.page.get_by_text(self.words(text)).first.wait_for()
