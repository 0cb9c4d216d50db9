"""Every screen with the data of the demonstration: found by its links, held to its budgets, looked at in a browser.

The list is the table of screens. A new screen is covered once a link leads to it.
"""

import asyncio
import gzip
import html
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Final
from urllib.parse import urljoin, urlsplit
from uuid import uuid4

import httpx2
import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from msgspec.structs import replace
from playwright.async_api import Browser, BrowserContext, Locator, Page as BrowserPage, Request

from afterword.asking.questionnaires import metadata
from afterword.console.screens import LANGUAGES, Screen
from afterword.core.organizations.access import ROLE_SCOPES
from afterword.kit import db
from afterword.run import console
from afterword.run.worker.long_work import Importer
from afterword.sending.queue import outbox
from afterword.sending.screens import bulk_actions
from tests.asking.screens import test_coupons, test_domain, test_links
from tests.browser import belongings
from tests.browser.conftest import SECRET, House, email_of
from tests.browser.test_pages import WCAG
from tests.cases.screens import test_chats, test_statuses as test_case_statuses
from tests.conftest import note_statements
from tests.events.screens import test_webhooks
from tests.listening.screens import test_questionnaire_results
from tests.sending.channels.conftest import MESSAGE
from tests.sending.screens import test_address_lists, test_contact_policy, test_outbox
from tests.sending.screens.test_pipelines import version_of
from tests.sizes import one_of, share_of
from tests.tenants.logins.conftest import OWN, PASSWORD, log_in
from tests.tenants.screens import test_identity

pytestmark = pytest.mark.asyncio(loop_scope="session")

GETS: Final = [screen for screen in console.screens() if screen.method == "GET"]
SCREENS: Final = [screen for screen in GETS if not screen.is_open]
OPEN: Final = [screen.path for screen in GETS if screen.is_open and "{" not in screen.path]
SHARE: Final = 0.05  # of the screens that a run looks at in a browser
LOOKED_AT: Final = share_of([*OPEN, *(screen.path for screen in SCREENS)], SHARE)
SECONDS_MAX: Final = 60
TOUR_SECONDS_MAX: Final = 3_600
STATEMENTS_MAX: Final = 8 + 1  # of the page, and that of its session
MORE_STATEMENTS: Final[Mapping[str, int]] = {
    # No page: a file with all that is held, one or two statements for each table and for each hundred rows, so that the
    # copy of a person with many responses needs no more memory than that of others.
    "/console/people/{responder_id}/subject": 20,
    # And the titles of metadata, which each process keeps for a moment.
    "/console/cases/{alert_instance_id}": STATEMENTS_MAX + 1,
    "/console/responses/{instance_id}": STATEMENTS_MAX + 1,
    # And its session's: with a matrix, comments, drivers, and the clicks on its review links.
    "/console/questionnaires/{questionnaire_id}/results": test_questionnaire_results.STATEMENTS_MAX + 1,
    # And those of the address that leads on to it.
    "/console/responses/imports/{response_import_id}/check": STATEMENTS_MAX + 1,
    # And the titles of chats.
    "/console/settings/alerts/new": STATEMENTS_MAX + 1,
    "/console/settings/alerts/{alert_id}": STATEMENTS_MAX + 1,
    # The report with the names of its questionnaires, and the logo.
    "/console/reports/saved/{report_id}/preview": STATEMENTS_MAX + 1,
}
HTML_BYTES_MAX: Final = 20_000  # compressed
OVERVIEW_BYTES_MAX: Final = 30_000
FORM_BYTES_MAX: Final = 12_000
STYLE_BYTES_MAX: Final = 16_700
SCRIPT_BYTES_MAX: Final = 14_500
ALL_BYTES_MAX: Final = 60_000
REQUESTS_MAX: Final = 6
NODES_MAX: Final = 1_500
WIDTHS: Final = (360, 320)  # 1280 pixels at 400 % are 320
NUMBER_PIXELS_MAX: Final = 128
CUT_BEFORE: Final = [
    ("/console/people", 768, "de"),
    ("/console/people", 768, "el"),
    ("/console/invitations", 768, "en"),
    ("/console/questionnaires", 768, "en"),
    ("/console/questionnaires/{questionnaire_id}", 360, "el"),
    ("/console/responses/export", 360, "de"),
    ("/console/settings/sources/{source_id}/events/{source_event_id}", 1280, "el"),
]
LEFT_WITHOUT_LINK: Final = frozenset(
    {
        "/console/sending/pipelines/{questionnaire_id}/{pipeline_id}/mail",  # in the frame of its page, without scripts
        "/console/sending/outbox/{message_id}/mail",
        "/console/sending/{item_id}/message/mail",
        "/console/welcome/preview",
        "/console/cases/{alert_instance_id}/mail/{message_id}",  # no case of the tour has a mail; test_replies has one
        "/console/welcome",  # the shop is set up; test_console looks at the steps
        "/console/welcome/organization",
        "/console/welcome/{questionnaire_id}/message",
        "/console/questionnaires/{questionnaire_id}/import",  # none of the tour came so; test_imports looks at one
        "/console/demonstration",  # the tour's service offers none; test_demonstrations looks at it
    }
)


class Page(HTMLParser):
    """The links of a page, the files that it loads, its elements, and whether it has a list."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.files: list[str] = []
        self.nodes = 0
        self.has_rows = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        self.nodes += 1
        self.has_rows = self.has_rows or "data-row" in has
        if tag == "a" and has.get("href", "").startswith("/console"):
            self.links.append(has["href"])
        elif tag == "script" or has.get("rel") == "stylesheet":
            self.files.append(has.get("src") or has["href"])


@dataclass
class Seen:
    """A screen as it came: its address, and the page unless it is a file to download."""

    screen: Screen
    address: str
    size: int
    statements: list[str]
    page: Page | None


@dataclass
class Tour:
    """The screens that links lead to, by their path in the table."""

    seen: dict[str, Seen] = field(default_factory=dict[str, Seen])
    reached: set[str] = field(default_factory=set[str])  # and those that lead on to another one
    refused: list[str] = field(default_factory=list[str])
    lost: list[str] = field(default_factory=list[str])  # links that lead nowhere


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def owner(house: House) -> AsyncGenerator[httpx2.AsyncClient, None]:
    async with logged_in(house) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def tour(owner: httpx2.AsyncClient, house: House) -> Tour:
    """The owner's, who has made one of each thing that the demonstration lacks.

    Rules count people's channels together, and a message waits: the most that a page asks the database about an item.
    The customer of the last case was asked again and has answered: the case, which may be the only one, can ask again.
    """
    await owner.post("/console/proof", data={"password": PASSWORD, "next": "/console"})
    more = await belongings.add_to_people(owner)  # before the hold, which nobody is erased under
    for address, form in (
        ("statuses/new", test_case_statuses.FORM),
        ("suppressions", test_contact_policy.SUPPRESSION),
        ("webhooks/new", test_webhooks.FORM),
        ("chats/new", test_chats.FORM),
        ("coupons/new", test_coupons.FORM),
        ("organization/domain", test_domain.FORM),
        ("retention/holds/new", {"reason": "Suit 4/26"}),
        ("organization/identity", test_identity.FORM),
        ("metadata/new", {"kind": "questionnaire", "name": "gift", "type": "boolean", "level": "organization",
                          "title": "A gift"}),
    ):  # fmt: skip
        assert (await owner.post(f"/console/settings/{address}", data=form)).status_code in {200, 303}
    policy = await owner.get(test_contact_policy.POLICY)
    form = {**test_contact_policy.FORM, "version": version_of(policy), "per_channel": "", "if_exceeded": "wait",
            "response_window_days": "1", "window_days": "1"}  # fmt: skip
    assert 303 == (await owner.post(test_contact_policy.POLICY, data=form)).status_code
    found = await owner.get("/console/cases?tab=all")
    *_, case = re.findall(r'href="(/console/cases/[\w-]{22})"', html.unescape(found.text))
    assert 303 == (await owner.post(f"{case}/recovery")).status_code
    async with db.connection(house.pool) as database:
        await database.execute("update alert_instance set recovery_time = now() where recovery_item_id is not null")
        for row in await database.fetch("select questionnaire_id from questionnaire"):
            made = await owner.post(f"{test_links.LIST}/{row['questionnaire_id']}/links/new", data=test_links.FORM)
            assert 303 == made.status_code
    await belongings.add_versions(owner, house)
    await belongings.add_connections(owner)
    assert 303 == (await owner.post(bulk_actions.NEW, data={"action": "cancel"})).status_code
    template = await send_lists(owner, house)
    item_id = await keep_message(owner, house)
    more += [
        template,
        "/console/find?q=Ann",
        "/console/parts",  # for developers, without a link
        await switch_off(owner),
        *(f"/console/sending/{item_id}/{act}" for act in ("now", "again", "message")),
        *await belongings.add_to_settings(owner, house),
        *await belongings.add_to_responses(owner, house),
    ]
    return await tour_of(owner, house.pool, *more)


async def send_lists(owner: httpx2.AsyncClient, house: House) -> str:
    """A list that was imported, and one with a faulty row that was checked; the address of their template."""
    page = html.unescape((await owner.get("/console/sending/lists/new")).text)
    first = re.search(r'<option value="(\w+/\w+)"', page)
    assert first is not None
    importer = Importer(house.pool, uuid4(), secret=SECRET)
    for rows in ("E-mail\tName\nann@example.com\tAnn", "E-mail\tName\nann@example.com\tAnn\nnobody\tBen"):
        sent = await owner.post("/console/sending/lists/new", data={"pipeline": first[1], "rows": rows})
        here = sent.headers["location"]
        await owner.post(here, data=test_address_lists.choices((await owner.get(here)).text))
        while await importer.work_next(asyncio.Event()):
            pass
        if "nobody" not in rows:
            await owner.post(here.replace("/columns", "/confirm"))
    return f"/console/sending/lists/template?pipeline={first[1]}"


async def switch_off(owner: httpx2.AsyncClient) -> str:
    """The page that asks before this pipeline is switched on again."""
    page = html.unescape((await owner.get("/console/sending/pipelines")).text)
    found = re.search(r'href="(/console/sending/pipelines/\w+/\w+)"', page)
    assert found is not None
    assert 303 == (await owner.post(f"{found[1]}/switch", data={"paused": "1"})).status_code
    return f"{found[1]}/switch"


async def keep_message(owner: httpx2.AsyncClient, house: House) -> str:
    """A mail in the outbox, of a test item that waits: its id."""
    page = html.unescape((await owner.get(test_outbox.OUTBOX)).text)
    first = re.search(r'<option value="(\w+/\w+)"', page)
    assert first is not None
    made = await owner.post(test_outbox.OUTBOX, data={"pipeline": first[1], "recipient": "ann@example.com"})
    item_id = made.headers["location"].partition("?")[0].rpartition("/")[2]
    async with db.transaction(house.pool) as database:
        organization_id = await database.fetch_value(
            "select organization_id from queue_item where item_id = $1", item_id
        )
        message = replace(MESSAGE, organization_id=organization_id, item_id=item_id)
        await outbox.insert_message(database, message=message)
    return item_id


@asynccontextmanager
async def logged_in(house: House, *, role: str = "owner") -> AsyncGenerator[httpx2.AsyncClient, None]:
    async with httpx2.AsyncClient(base_url=house.url, headers=OWN, timeout=SECONDS_MAX) as client:
        await log_in(client, email=email_of(role))
        yield client


async def tour_of(client: httpx2.AsyncClient, pool: db.Pool, *more: str) -> Tour:
    """Follow the links from the first page and from `more` on, to one page of each screen.

    What a process keeps for a minute is kept for the whole tour, however slow the machine is.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metadata, "KEPT_SECONDS", TOUR_SECONDS_MAX)
        await client.get("/console")
        return await _follow(client, note_statements(patch, pool), more)


async def _follow(client: httpx2.AsyncClient, statements: list[str], more: Sequence[str]) -> Tour:
    """The links first, so that `more` is opened where no link leads."""
    tour = Tour()
    for first in ("/console", *more):
        await _follow_from(first, tour, client, statements)
    return tour


async def _follow_from(first: str, tour: Tour, client: httpx2.AsyncClient, statements: list[str]) -> None:
    waiting = [first]
    for address in waiting:
        screen = screen_of(address)
        if screen is None:
            tour.lost.append(address)
        if screen is None or screen.path in tour.seen:
            continue
        tour.reached.add(screen.path)
        statements.clear()
        response = await client.get(address, follow_redirects=True)
        address = str(response.url).removeprefix(str(client.base_url).rstrip("/"))  # noqa: PLW2901
        screen = screen_of(address) or screen
        if response.status_code != 200:
            tour.refused.append(f"{address}: {response.status_code}")
            continue
        is_page = response.headers["content-type"].startswith("text/html")
        page = Page(response.text) if is_page else None
        size = len(gzip.compress(response.content, 4))
        before = [one for one in statements if "insert into audit_entry" not in one]  # the page had left when it ran
        tour.seen[screen.path] = Seen(screen, address, size, before, page)
        known = {path_of(one) for one in waiting}
        for link in page.links if page else ():
            if path_of(link) not in known:
                waiting.append(urljoin(address, link))
                known.add(path_of(link))


def path_of(address: str) -> str:
    """The path in the table of screens; that of the address where there is none."""
    screen = screen_of(address)
    return screen.path if screen else urlsplit(address).path


def screen_of(address: str) -> Screen | None:
    path = urlsplit(address).path
    return next((one for pattern, one in PATTERNS if pattern.fullmatch(path)), None)


PATTERNS: Final = [
    (re.compile(re.sub(r"\\\{.*?\\\}", r"[^/]+", re.escape(screen.path))), screen)
    for screen in sorted(SCREENS, key=lambda one: one.path.count("{"))
]


async def test_budgets(owner: httpx2.AsyncClient, tour: Tour) -> None:
    """Links lead to every screen; each page is small, asks the database a few times, and loads files of ours alone."""
    addresses = {address for seen in tour.seen.values() for address in files_of(seen)}
    sizes = {address: (await owner.get(address)).num_bytes_downloaded for address in addresses}
    assert ([], []) == (tour.lost, tour.refused)
    assert LEFT_WITHOUT_LINK == {screen.path for screen in SCREENS} - tour.reached - set(tour.seen)
    of_kind = {kind: sum(size for name, size in sizes.items() if kind in name) for kind in (".css", ".js")}
    assert of_kind[".css"] <= STYLE_BYTES_MAX
    assert of_kind[".js"] <= SCRIPT_BYTES_MAX
    too_much: dict[str, Any] = {}
    for path, seen in tour.seen.items():
        if len(seen.statements) > MORE_STATEMENTS.get(path, STATEMENTS_MAX):
            too_much[f"{path}: {len(seen.statements)} statements"] = [one[:60] for one in seen.statements]
        if seen.page is None:
            continue
        most = OVERVIEW_BYTES_MAX if path == "/console" else HTML_BYTES_MAX if seen.page.has_rows else FORM_BYTES_MAX
        all_bytes = seen.size + sum(sizes[name] for name in seen.page.files)
        found = (seen.size, all_bytes, 1 + len(seen.page.files), seen.page.nodes)
        if any(one > limit for one, limit in zip(found, (most, ALL_BYTES_MAX, REQUESTS_MAX, NODES_MAX), strict=True)):
            too_much[f"{path}: bytes, all bytes, requests, elements"] = found
    assert {} == too_much


def files_of(seen: Seen) -> list[str]:
    return seen.page.files if seen.page else []


@pytest.mark.parametrize("role", one_of([role for role in ROLE_SCOPES if role != "owner"]))
async def test_no_link_leads_to_a_refusal(house: House, role: str) -> None:
    """A role sees links to screens that its scopes open, and to no other."""
    async with logged_in(house, role=role) as client:
        tour = await tour_of(client, house.pool)
    assert ([], []) == (tour.lost, tour.refused)


@pytest.mark.parametrize("locale", one_of(LANGUAGES))
async def test_looked_at(browser: Browser, house: House, owner: httpx2.AsyncClient, tour: Tour, locale: str) -> None:
    """axe finds nothing in light and dark; nothing scrolls sideways, in neither direction; the browser says nothing."""
    shown = {path: seen.address for path, seen in tour.seen.items() if seen.page is not None}
    visitor, guest = [
        await browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce", locale=locale)
        for _ in range(2)
    ]
    await visitor.add_cookies(
        [{"name": one.name, "value": one.value or "", "url": house.url} for one in owner.cookies.jar]
    )
    faults: dict[str, Any] = {}
    for path in LOOKED_AT:
        if path in OPEN:
            faults |= await faults_of(guest, f"{house.url}{path}", path)
        elif path in shown:
            faults |= await faults_of(visitor, f"{house.url}{shown[path]}", path)
    for context in (visitor, guest):
        await context.close()
    assert {} == faults


async def test_printed(browser: Browser, house: House, owner: httpx2.AsyncClient) -> None:
    """A sheet of A4 has the name of the organization and every column, and nothing to press."""
    context = await browser.new_context(viewport={"width": 718, "height": 1_000})
    await context.add_cookies(
        [{"name": one.name, "value": one.value or "", "url": house.url} for one in owner.cookies.jar]
    )
    page = await context.new_page()
    await page.emulate_media(media="print")
    await page.goto(f"{house.url}/console/reports/ready/nps")
    assert await page.locator(".house").is_visible()
    assert 0 == await page.locator("button:visible, form:visible:not(.search), nav a:visible").count()
    assert await page.locator("thead").first.is_visible()
    tables = await page.eval_on_selector_all(".scroll", "all => all.map(one => one.scrollWidth - one.clientWidth)")
    assert {0} == set(tables)
    await context.close()


@pytest.mark.parametrize("locale", ["de", "el"])
async def test_labels_on_a_narrow_page(browser: Browser, house: House, owner: httpx2.AsyncClient, locale: str) -> None:
    """No word of a label is cut in two at 320 pixels, such as “Zurückgewonnen”."""
    context = await browser.new_context(viewport={"width": 320, "height": 800}, locale=locale)
    await context.add_cookies(
        [{"name": one.name, "value": one.value or "", "url": house.url} for one in owner.cookies.jar]
    )
    page = await context.new_page()
    for path in ("/console/cases/figures", "/console/reports/ready/funnel"):
        await page.goto(f"{house.url}{path}")
        widths = await page.evaluate(_WORDS)
        assert widths, path
        assert [] == [one for one in widths if one["word"] > one["label"]], path
    await context.close()


@pytest.mark.parametrize("path", ["/console/cases/figures", "/console/reports/comments"])
async def test_wide_tables_on_a_tablet(browser: Browser, house: House, owner: httpx2.AsyncClient, path: str) -> None:
    """No column is cut off where the rail leaves little room, with long German words."""
    context = await browser.new_context(viewport={"width": 768, "height": 900}, locale="de")
    await context.add_cookies(
        [{"name": one.name, "value": one.value or "", "url": house.url} for one in owner.cookies.jar]
    )
    page = await context.new_page()
    await page.goto(f"{house.url}{path}")
    assert 0 == max(
        await page.eval_on_selector_all(".scroll", "all => all.map(one => one.scrollWidth - one.clientWidth)")
    )
    await context.close()


@pytest.mark.parametrize(("path", "width", "locale"), CUT_BEFORE)
async def test_words_and_dates_stay_whole(
    browser: Browser, house: House, owner: httpx2.AsyncClient, tour: Tour, path: str, width: int, locale: str
) -> None:
    """No word is cut in two, no date of a list takes three lines, and no table is wider than its place."""
    async with _looking(browser, house, owner, width=width, locale=locale) as page:
        await page.goto(f"{house.url}{tour.seen[path].address}")
        assert [] == await page.evaluate(_CUT)
        assert 0 == max(
            [0, *await page.eval_on_selector_all(".scroll", "all => all.map(one => one.scrollWidth - one.clientWidth)")]
        )


async def test_a_mail_is_as_wide_as_a_phone(
    browser: Browser, house: House, owner: httpx2.AsyncClient, tour: Tour
) -> None:
    """Its keys stand in as many lines as on the phone of a customer."""
    address = f"{house.url}{tour.seen['/console/sending/{item_id}/message'].address}"
    async with _looking(browser, house, owner, width=360, locale="en") as page:
        await page.goto(address)
        framed = page.frame_locator(".framed iframe").locator(".key")
        await framed.first.scroll_into_view_if_needed()
        shown = await _lines(framed)
        await page.goto(urljoin(address, await page.locator(".framed iframe").get_attribute("src") or ""))
        assert shown == await _lines(page.locator(".key"))


async def _lines(keys: Locator) -> list[int]:
    """The number of keys in each line."""
    tops = [(await one.bounding_box() or {})["y"] for one in await keys.all()]
    return [tops.count(top) for top in dict.fromkeys(tops)]


async def test_facts_stand_beside_their_names(
    browser: Browser, house: House, owner: httpx2.AsyncClient, tour: Tour
) -> None:
    async with _looking(browser, house, owner, width=1280, locale="en") as page:
        await page.goto(f"{house.url}{tour.seen['/console/settings/exports/{schedule_id}'].address}")
        tops = await page.eval_on_selector_all(
            ".facts dt",
            """all => all.map(one => one.getBoundingClientRect().top
                                    - one.nextElementSibling.getBoundingClientRect().top)""",
        )
        assert {0} == set(tops)


async def test_number_stands_beside_its_name(browser: Browser, house: House, owner: httpx2.AsyncClient) -> None:
    """A form of ten numbers is a list of ten lines, and none of its inputs is wider than a number needs."""
    for width in (1280, 360):
        async with _looking(browser, house, owner, width=width, locale="de") as page:
            await page.goto(f"{house.url}/console/settings/retention")
            numbers = page.locator("main form input[type=number]")
            assert 10 == await numbers.count()
            for one in await numbers.all():
                box, label = await one.bounding_box(), await one.locator("xpath=../label").bounding_box()
                assert box is not None
                assert label is not None
                assert label["x"] + label["width"] <= box["x"]
                assert box["width"] <= NUMBER_PIXELS_MAX


@asynccontextmanager
async def _looking(
    browser: Browser, house: House, owner: httpx2.AsyncClient, *, width: int, locale: str
) -> AsyncGenerator[BrowserPage]:
    context = await browser.new_context(viewport={"width": width, "height": 800}, locale=locale)
    await context.add_cookies(
        [{"name": one.name, "value": one.value or "", "url": house.url} for one in owner.cookies.jar]
    )
    yield await context.new_page()
    await context.close()


async def faults_of(context: BrowserContext, address: str, path: str) -> Mapping[str, Any]:
    """All that is wrong with the page at one address, loaded once."""
    page, found = await context.new_page(), dict[str, Any]()
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))  # noqa: PLW0108  playwright marks a function
    page.on("console", lambda message: found.setdefault(f"{path}: console", message.text))
    page.on("pageerror", lambda error: found.setdefault(f"{path}: error", str(error)))
    await page.goto(address)
    for scheme, rules in (
        ("light", {"type": "tag", "values": WCAG}),
        ("dark", {"type": "rule", "values": ["color-contrast"]}),
    ):
        await page.emulate_media(color_scheme=scheme)
        results = await Axe().run(page, options={"runOnly": rules, "resultTypes": ["violations"], "iframes": False})
        for one in results.response["violations"]:
            found[f"{path}: {scheme}: {one['id']}"] = one["nodes"][0]["html"]
    for direction in ("ltr", "rtl"):
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 800})
            wide = await page.evaluate(_WIDTH, direction)
            if wide > width:
                found[f"{path}: {width} pixels, {direction}"] = wide
    others = {one.url for one in asked if not one.url.startswith((f"{address.partition('/console')[0]}/", "data:"))}
    if others:
        found[f"{path}: third party"] = others
    await page.close()
    return found


# The widths of the words of labels, and of their labels, in pixels.
_WORDS: Final = """() => {
  const pen = document.createElement("canvas").getContext("2d");
  return [...document.querySelectorAll("td[data-label]:not(.first)")].flatMap((cell) => {
    const label = getComputedStyle(cell, "::before");
    pen.font = `${label.fontWeight} ${label.fontSize} ${label.fontFamily}`;
    return cell.dataset.label.split(/\\s+/).map((word) => ({
      text: word, word: Math.floor(pen.measureText(word).width), label: parseFloat(label.width)
    }));
  });
}"""
# The words on two lines, but for addresses and what hyphens join; and the cells of a date that are three lines high.
_CUT: Final = """() => {
  const found = [], range = document.createRange(), lines = () =>
    new Set([...range.getClientRects()].filter(one => one.width > 1).map(one => Math.round(one.top))).size;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.checkVisibility() || node.parentElement.closest("code, .unseen")) continue;
    for (const word of node.data.matchAll(/[^\\s@.\\/·-]{2,}/g)) {
      range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
      const around = node.data.slice(range.startOffset - 1, range.endOffset + 1);
      if (lines() > 1 && !/[@.\\/]/.test(around)) found.push(word[0]);
    }
    range.selectNodeContents(node);
    const isDate = node.parentElement.closest("td") && /\\d{4}/.test(node.data) && node.data.length < 34;
    if (isDate && lines() > 2) found.push(node.data);
  }
  return found;
}"""
_WIDTH: Final = """direction => {
  document.documentElement.dir = direction;
  const root = document.documentElement;
  root.scrollLeft = direction === "rtl" ? -9999 : 9999;
  return Math.max(root.scrollWidth, root.clientWidth + Math.abs(root.scrollLeft));
}"""
