"""Scanners of mails and previews of links: whatever they fetch or post blindly, no table tells of it."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any, Final, LiteralString, cast
from urllib.parse import urljoin, urlsplit

import httpx2
import msgspec
import pytest
from playwright.async_api import Browser

from afterword import ids
from afterword.asking.instances.store import Instance
from afterword.asking.links import public_links as links
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.asking.questionnaires.store import Version
from afterword.kit import db
from afterword.kit.nouns import service
from afterword.kit.transport.base import EMAIL
from afterword.run.app import create_app
from afterword.sending.messages import composing
from afterword.sending.messages.composing import MessageContext
from tests.bar import Tell
from tests.browser import markup
from tests.browser.conftest import Shop
from tests.browser.test_kiosk import kiosk_of
from tests.sending.messages.test_email import Pipeline
from tests.sizes import FULL, size

pytestmark = pytest.mark.asyncio(loop_scope="session")

INSTANCES: Final = size(30, 1_000)
DEEP_MAX: Final = 30  # instances whose pages are gone through; those of the others name the same files
READ: Final = ("GET",)
ALL: Final = ("HEAD", "GET", "OPTIONS")


@dataclass(frozen=True)
class Profile:
    """A scanner. `crawls`: it fetches all that a page names. `posts`: it sends each form, without hidden fields."""

    agent: str
    methods: tuple[str, ...] = READ
    headers: dict[str, str] = field(default_factory=dict[str, str])
    crawls: bool = False
    posts: bool = False


CHROME: Final = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36"
PROFILES: Final = (
    # Gateways that rewrite links and look at the click, or at once.
    Profile(CHROME, ALL, {"X-MS-SafeLinks": "1"}),
    Profile(CHROME, ("HEAD", "GET"), crawls=True),  # Proofpoint's and Mimecast's: an ordinary browser's name
    Profile("BarracudaCentral/1.0", ("HEAD", "GET"), {"From": "abuse@example.com"}),
    Profile("Mozilla/5.0 (compatible; Cisco-AMP; IronPort)", ALL),
    Profile("Mozilla/5.0 (compatible; FortiMail)", crawls=True),
    Profile("Mozilla/4.0 (compatible; MSIE 8.0; Trident/4.0)", ("HEAD", "GET"), crawls=True),  # Symantec's
    Profile("Sophos Email Appliance", ALL, {"Range": "bytes=0-4095"}),
    Profile("TrendMicro WTP", READ, {"Accept-Encoding": "identity"}),
    Profile(CHROME, READ, {"Referer": "https://urlscan.example/"}, crawls=True, posts=True),  # a sandbox
    Profile(CHROME, READ, posts=True),
    Profile("Python-urllib/3.12", posts=True, crawls=True),
    # Mailboxes that load a mail beforehand.
    Profile("Mozilla/5.0 (via ggpht.com GoogleImageProxy)"),
    Profile("YahooMailProxy; https://help.yahoo.com/"),
    Profile("Mozilla/5.0", READ, {"X-Forwarded-For": "17.58.0.1"}),  # Apple's privacy protection
    # Previews of links in chats and on pages.
    Profile("facebookexternalhit/1.1", READ, {"X-Purpose": "preview", "Range": "bytes=0-524287"}),
    Profile("Twitterbot/1.0", ("HEAD", "GET")),
    Profile("LinkedInBot/1.0", crawls=True),
    Profile("Slackbot-LinkExpanding 1.0", READ, {"Range": "bytes=0-32768"}),
    Profile("TelegramBot (like TwitterBot)"),
    Profile("WhatsApp/2.24", READ, {"Accept-Language": "el"}),
    Profile("SkypeUriPreview Preview/0.5", ("HEAD", "GET")),
    Profile("Mozilla/5.0 (compatible; Discordbot/2.0)"),
    Profile("Mozilla/5.0 (Macintosh) AppleWebKit/601 Safari/601 facebookexternalhit/1.1 Twitterbot/1.0"),  # iMessage
    # Search engines, and browsers that fetch before a click.
    Profile("Mozilla/5.0 (compatible; Googlebot/2.1)", crawls=True),
    Profile("Mozilla/5.0 (compatible; bingbot/2.0)", ("HEAD", "GET"), crawls=True),
    Profile(CHROME, READ, {"Purpose": "prefetch", "Sec-Purpose": "prefetch;prerender"}, crawls=True),
    Profile("Mozilla/5.0 Firefox/131.0", READ, {"X-Moz": "prefetch"}),
    Profile("Mozilla/5.0", READ, {"Cookie": "begun=1; answered=2", "If-None-Match": '"x"'}),
    Profile("curl/8.9.1", ("HEAD", "OPTIONS")),
)  # the thirtieth is a real browser


class Addresses(HTMLParser):
    """All that a page or mail names, and its forms with the fields that a blind sender fills in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.forms: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        self.found += [has[name] for name in ("href", "src", "data-view") if has.get(name)]
        if tag == "form":
            self.forms.append((has.get("action", ""), {}))
            self.forms += [(has["data-view"], {})] if "data-view" in has else []
        elif self.forms and has.get("name") and has.get("type") != "hidden":
            self.forms[-1][1][has["name"]] = has.get("value") or "x"


async def version_of(shop: Shop) -> Version:
    async with db.connection(shop.pool) as database:
        version_id = await database.fetch_value("select published_version_id from questionnaire")
        return await questionnaires_store.get_version(
            database, organization_id=shop.organization_id, version_id=version_id
        )


def mail_of(shop: Shop, version: Version, instance: Instance, unsubscribe_id: str) -> list[str]:
    """The addresses in a mail: of the page, of each answer, the end of mails, also that in its header."""
    message = composing.compose_mail(
        MessageContext(
            item_id="i" * 22,
            recipient="maria@example.com",
            pipeline=cast("Any", Pipeline(channel_id=EMAIL)),
            version=version,
            instance=instance,
            responder_metadata={},
            unsubscribe_id=unsubscribe_id,
            organization_name="Kalamata",
            postal_address=None,
            questionnaire_name="After delivery",
            sender="survey@example.com",
            site=shop.site,
            now=instance.created_time,
        )
    )
    named = {*Addresses(message.html or "").found, *re.findall(r"https?://[^\s<>]+", message.text)}
    ours = {one for one in named if one.startswith(shop.url)} | {f"{shop.url}/u/{unsubscribe_id}"}
    assert len(ours) > 11  # a key for each answer
    return sorted({*ours, shop.site.pages("").short_url(instance.short_code)})


async def public_link(shop: Shop) -> list[str]:
    """The page, box and kiosk of a public link, and the mailed address by which a visitor of it confirms another."""
    async with db.transaction(shop.pool) as database:
        now = database.clock.now()
        columns = {
            "title": "Poster", "metadata": {}, "parameters": [], "takes_reference": False,
            "one_response_per": "address", "opens_time": None, "closes_time": None, "responses_max": None,
            "locale": "en", "active": True, "box": msgspec.to_builtins(links.Box()),
            "questionnaire_id": shop.questionnaire_id, "key": ids.short_code(),
        }  # fmt: skip
        link = await service.insert(
            links.LINK,
            database,
            organization_id=shop.organization_id,
            key=ids.ordered(now),
            columns=columns,
            now=now,
            by=None,
        )
    proof = links._sealed(link, "maria@example.com", secret=shop.site.secret, until=now + timedelta(hours=24))
    url = shop.site.pages("").link_url(link.key)
    return [url, f"{url}/box", f"{url}?by={proof}", f"{shop.url}{await kiosk_of(shop)}"]


async def contents(shop: Shop) -> dict[str, str]:
    """A digest of each table of the database."""
    async with db.connection(shop.pool) as database:
        tables = await database.fetch("select tablename from pg_tables where schemaname = 'public'")
        return {
            row[0]: await database.fetch_value(
                cast(
                    "LiteralString", f"select md5(string_agg(t::text, ' ' order by t::text)) from {row['tablename']} t"
                )
            )
            for row in tables
        }


def some(addresses: list[str]) -> list[str]:
    """One link of each kind: those of scores differ in nothing but their number."""
    return [*{re.sub(r"v=\d+", "", one): one for one in addresses}.values()]


async def visit(client: httpx2.AsyncClient, profile: Profile, address: str, *, is_deep: bool = True) -> int:
    """All requests of a profile for one address; their number. `is_deep`: also for what the page names."""
    count, headers = 0, {"User-Agent": profile.agent, **profile.headers}
    for method in profile.methods:
        client.cookies.clear()
        answer = await client.request(method, address, headers=headers, follow_redirects=True)
        assert answer.status_code < 500, (profile, method, address)
        count += 1
        if not is_deep or method != "GET" or not answer.headers.get("content-type", "").startswith("text/html"):
            continue
        page = Addresses(answer.text)
        named = {urljoin(str(answer.url), one) for one in page.found} if profile.crawls else set[str]()
        for one in sorted(named):
            if urlsplit(one).netloc == urlsplit(address).netloc:
                await client.get(one, headers=headers, follow_redirects=True)
                count += 1
        for action, fields in page.forms if profile.posts else ():
            sent = await client.post(urljoin(str(answer.url), action), data=fields, headers=headers)
            assert sent.status_code in {400, 403, 409, 410, 422, 429}, (profile, action, sent.status_code)
            count += 1
    return count


async def look(browser: Browser, address: str) -> None:
    """A browser with scripts, as sandboxes use one: it waits, scrolls, and leaves."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    await page.goto(address)
    await page.evaluate("scrollTo(0, document.body.scrollHeight)")
    await page.evaluate("for (const each of document.forms) each.dispatchEvent(new PointerEvent('pointermove'))")
    await page.screenshot()
    await context.close()


async def test_nothing_is_set(shop: Shop, browser: Browser, tell: Tell) -> None:
    """Thirty profiles at the addresses of mails and of links; afterwards each link still works for the person."""
    version, unsubscribe_id = await version_of(shop), await shop.unsubscribe_id()
    there = [await shop.issue() for _ in range(INSTANCES)]
    extra = [f"{shop.url}/p/{shop.questionnaire_id}", *await public_link(shop)]
    before, count = await contents(shop), 0
    transport = httpx2.ASGITransport(app=cast("Any", create_app(pool=shop.pool, site=shop.site)))
    async with httpx2.AsyncClient(transport=transport, base_url=shop.url) as client:
        for number, instance in enumerate(there):
            addresses = some(mail_of(shop, version, instance, unsubscribe_id))
            for profile in PROFILES if FULL else [PROFILES[number % len(PROFILES)]]:
                for address in addresses:
                    count += await visit(client, profile, address, is_deep=number < DEEP_MAX)
        for number, profile in enumerate(PROFILES):
            for address in extra if FULL else [extra[number % len(extra)]]:
                count += await visit(client, profile, address)
        for address in [mail_of(shop, version, there[0], unsubscribe_id)[0], *extra, f"{shop.url}/u/{unsubscribe_id}"]:
            await look(browser, address)
        assert before == await contents(shop)

        page = f"/a/{there[0].instance_id}"
        fields = markup.read((await client.get(page)).text).fields
        answered = await client.post(page, data={**fields, shop.name("nps"): "9", "go": "next"})
        assert 303 == answered.status_code
        assert (await shop.instance(there[0].instance_id))["submitted_time"]
        for _ in range(2):
            left = await client.post(f"/u/{unsubscribe_id}", data={"List-Unsubscribe": "One-Click"})
            assert 200 == left.status_code
        assert 1 == await shop.count_suppressions()
    tell("{requests} requests set nothing", requests=count)
