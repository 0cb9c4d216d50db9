"""Every type of question on the page: refused, kept, shown again; by finger, keyboard and without scripts."""

import json
import math
import re
import unicodedata
from collections.abc import AsyncIterator
from typing import Any, Literal

import httpx2
import pytest
import yaml
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page

from afterword.asking.instances import views
from afterword.asking.questionnaires.files import InvalidFile
from tests.browser import markup
from tests.browser.conftest import EVERY_TYPE, Shop, on_the_loop
from tests.browser.test_answering import form
from tests.browser.test_pages import (
    FIRST_PAGE_BYTES_MAX,
    WCAG,
    NewPage,
    follow,
    meets_fingers,
    new_page,
    outline,
    press,
    weigh,
)
from tests.sizes import one_of, share_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

__all__ = ["new_page"]

PAGES = 4
SHARE = 0.06  # of the payloads that a run tries
# Ends of what a text may stand in, before each payload.
ENDS = ("", '">', "'>", "</title></textarea></select>", "--></script></style>")
# The payloads of the answer page: elements, attributes, handlers, addresses, templates, encodings, directions.
PAYLOADS = (
    "<script>alert(1)</script>", "<ScRiPt src=//evil.example/x.js></sCrIpT>", '"><img src=x onerror=alert(1)>',
    "'><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", '" onfocus="alert(1)" autofocus="',
    "` onclick=`alert(1)",
    "</textarea><svg onload=alert(1)>", "</select><script>alert(1)</script>", "</option><option selected value=9>",
    "</label></fieldset></form><form action=//evil.example>", '"><input name=token value=x>', "<svg/onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x>", "<math><mtext></p><style><img src onerror=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>", "<object data=data:text/html,x>", "<embed src=//evil.example>",
    "<link rel=stylesheet href=//evil.example>", "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<base href=//evil.example/>", "<style>*{display:none}</style>", "<a href=javascript:alert(1)>x</a>",
    "javascript:alert(1)", "data:text/html;base64,PHNjcmlwdD4=", "{{ 7 * 7 }}{% for x in y %}", "${7*7}#{7*7}<%= 7 %>",
    "&lt;b&gt;<b/>", "&#60;script&#62;", "&quot;&gt;<b>", "]]><a href=//evil.example>", "<!-- --!><b>",
    "<![CDATA[<b>]]>", "%3Cscript%3E", "\\u003cscript\\u003e",
    "\u202e<iframe>", "\ufeff<b>", "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e", "\x0b<b\x0c>",
    "a" * 200 + "<b>",
)  # fmt: skip
HOSTILE = tuple(end + payload for end in ENDS for payload in PAYLOADS)


@on_the_loop
async def client(hotel: Shop) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=hotel.url, headers={"Accept": "text/html"}) as client:
        yield client


def grid(hotel: Shop, *values: str, key: str = "grid") -> dict[str, str]:
    rows = {"grid": ("clean", "quiet", "breakfast"), "wide": ("again", "longer")}[key]
    return {hotel.name(key, row): value for row, value in zip(rows, values, strict=False)}


def ranks(hotel: Shop, *places: str) -> dict[str, str]:
    return {hotel.name("order", value): place for value, place in enumerate(places, 1)}


async def post(client: httpx2.AsyncClient, address: str, page: int, fields: dict[str, Any], go: str = "next") -> Any:
    return await client.post(address, data={**await form(client, f"{address}?page={page}"), **fields, "go": go})


async def answer_every(client: httpx2.AsyncClient, hotel: Shop, address: str) -> httpx2.Response:
    await post(client, address, 1, {**grid(hotel, "4", "3", "2"), **grid(hotel, "7", key="wide")})
    second = {**ranks(hotel, "2", "", "1"), hotel.name("nights"): "3", hotel.name("distance"): "12,5"}
    times = {hotel.name("breakfast_time"): "9.30", hotel.name("left"): "2026-05-03T11:00"}
    second |= {hotel.name("arrival"): "2026-05-01", hotel.name("quietness"): "70", **times}
    await post(client, address, 2, second)
    contact = {hotel.name("reached", "name"): " Ann ", hotel.name("reached", "phone"): "+30 210 1234567"}
    home = {hotel.name("home", "street"): "Aristomenous 1", hotel.name("home", "city"): "Kalamata"}
    await post(client, address, 3, {**contact, **home, hotel.name("agree"): "1"})
    last = {hotel.name("nps"): "9", hotel.name("words"): "Fine", hotel.name("solved"): "0", hotel.name("listed"): "2"}
    return await post(client, address, 4, last, "send")


REFUSED: tuple[tuple[int, str, dict[Any, str], str], ...] = (
    (1, "grid", {}, "Please answer every line."),
    (1, "grid", {"clean": "4", "quiet": "3"}, "Please answer every line."),
    (1, "grid", {"clean": "5", "quiet": "3", "breakfast": "1"}, "Please choose one of the answers shown."),
    (1, "grid", {"clean": "x", "quiet": "3", "breakfast": "1"}, "This answer does not fit the question."),
    (2, "order", {1: "1", 2: "1"}, "Please give each place only once."),
    (2, "order", {1: "4"}, "Please choose one of the places shown."),
    (2, "order", {}, "Please answer this question."),
    (2, "nights", {None: "0"}, "Please enter a number from 1 to 60."),
    (2, "nights", {None: "61"}, "Please enter a number from 1 to 60."),
    (2, "nights", {None: "2.5"}, "Please enter a whole number."),
    (2, "nights", {None: "1.000"}, "Please write thousands without a separator, such as 1000."),
    (2, "nights", {None: "1,000"}, "Please enter a number from 1 to 60."),
    (2, "nights", {None: "many"}, "Please enter a number in digits."),
    (2, "distance", {None: "1.25"}, "Please enter a number. Decimals allowed: 1."),
    (2, "distance", {None: "9" * 15 + ".9"}, "Please enter a number of at most 15 digits."),
    (2, "arrival", {None: "yesterday"}, "Please enter a date such as 2026-11-21."),
    (2, "arrival", {None: "2025-12-31"}, "Please enter a date from January 1, 2026 to December 31, 2026."),
    (2, "quietness", {None: "101"}, "Please enter a number from 0 to 100."),
    (2, "breakfast_time", {None: "noon"}, "Please enter a time such as 09:30."),
    (2, "left", {None: "2026-05-01"}, "Please enter a date and a time such as 2026-11-21 09:30."),
    (2, "left", {None: "2025-05-01T10:00"}, "Please enter January 1, 2026 or a later date."),
    (4, "solved", {None: "7"}, "This answer does not fit the question."),
    (4, "listed", {None: "9"}, "Please choose one of the answers shown."),
    (3, "agree", {}, "Please tick this box to go on."),
    (3, "agree", {None: "0"}, "Please tick this box to go on."),
    (3, "reached", {"email": "ann"}, "Please enter an e-mail address such as name@example.com."),
    (3, "reached", {"phone": "none"}, "Please enter a phone number such as +30 210 123 4567."),
    (3, "reached", {"name": "x" * 321}, "Please shorten this answer to 320 characters."),
)


class TestRefused:
    async def test_one(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        for page, key, fields, sentence in REFUSED:
            address = f"/a/{(await hotel.issue()).instance_id}"
            typed = {hotel.name(key, part): text for part, text in fields.items()}
            answer = await post(client, address, page, typed)
            assert 422 == answer.status_code, (key, fields)
            assert f'href="#q-{hotel.question_id(key)}"' in answer.text, (key, fields)
            text = markup.read(answer.text).text
            assert 2 <= text.count(sentence), (key, fields)  # in the summary and beside the question
            assert f'id="e-{hotel.question_id(key)}"' in answer.text, (key, fields)
            assert key not in await hotel.answers(address.removeprefix("/a/")), fields

    async def test_an_exclusive_choice_is_named(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        address = f"/a/{(await hotel.issue()).instance_id}"
        answer = await post(client, address, 4, {hotel.name("some"): ["1", "3"]}, "send")
        text = markup.read(answer.text).text
        assert "“Neither” excludes the other choices. Please choose either this one or others." in text

    async def test_only_what_is_wrong_is_blamed(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        address = f"/a/{(await hotel.issue()).instance_id}"
        answer = await post(client, address, 1, grid(hotel, "4", "", "2"))
        assert 1 == answer.text.count('class="line blamed"')
        answer = await post(client, address, 3, {hotel.name("reached", "email"): "ann", hotel.name("agree"): "1"})
        assert 1 == answer.text.count('class="field blamed"')
        assert 'value="ann"' in answer.text

    async def test_taken_back(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        address = f"/a/{(await hotel.issue()).instance_id}"
        agreed = {hotel.name("agree"): "1", hotel.name("newsletter"): "1"}
        await post(client, address, 3, {**agreed, hotel.name("reached", "name"): "Ann"})
        await post(client, address, 3, {hotel.name("agree"): "1", hotel.name("reached", "name"): " "})
        assert {"agree": True} == await hotel.answers(address.removeprefix("/a/"))


class TestKept:
    async def test_every_type(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        instance = await hotel.issue()
        address = f"/a/{instance.instance_id}"
        done = await answer_every(client, hotel, address)
        assert (303, address) == (done.status_code, done.headers["location"])
        rows = {row.key: row.row_id for one in hotel.definition.questions() for row in one.rows}
        assert {
            "grid": {rows["clean"]: 4, rows["quiet"]: 3, rows["breakfast"]: 2},
            "wide": {rows["again"]: 7},
            "order": [3, 1],
            "nights": 3,
            "distance": 12.5,
            "quietness": 70,
            "arrival": "2026-05-01",
            "breakfast_time": "09:30",
            "left": "2026-05-03T11:00",
            "home": {"street": "Aristomenous 1", "city": "Kalamata"},
            "solved": False,
            "listed": 2,
            "reached": {"name": "Ann", "phone": "+30 210 1234567"},
            "agree": True,
            "nps": 9,
            "words": "Fine",
        } == await hotel.answers(instance.instance_id)
        assert (await hotel.instance(instance.instance_id))["completed_time"]

    async def test_shown_again(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        address = f"/a/{(await hotel.issue()).instance_id}"
        await answer_every(client, hotel, address)
        first, second, third, fourth = [(await client.get(f"{address}?page={page}")).text for page in (1, 2, 3, 4)]
        assert 4 == first.count(" checked")
        assert 2 == second.count(" selected")
        assert 1 == fourth.count(" selected")
        assert f'name="{hotel.name("solved")}" value="0" checked' in fourth
        times = 'value="09:30"', 'value="2026-05-03T11:00"', 'value="70" inputmode'
        for text in ('value="3" inputmode', 'value="12.5" inputmode', 'value="2026-05-01"', *times):
            assert text in second
        assert 1 == third.count(" checked")
        assert 'value="+30 210 1234567"' in third

    async def test_numbers_of_another_language(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        address = f"/a/{(await hotel.issue(locale='ar')).instance_id}"
        fields = {**ranks(hotel, "1"), hotel.name("nights"): "١٢", hotel.name("distance"): "\u0663\u066b\u0665"}
        await post(client, address, 2, {**fields, hotel.name("arrival"): "2026-05-01"})
        stored = await hotel.answers(address.removeprefix("/a/"))
        assert (12, 3.5) == (stored["nights"], stored["distance"])

    async def test_a_row_leads_on(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        """A noisy night jumps over the wishes: right to the consent, which now begins its page."""
        address = f"/a/{(await hotel.issue()).instance_id}"
        answer = await post(client, address, 1, grid(hotel, "4", "1", "2"))
        assert f"{address}?page=3" == answer.headers["location"]
        page = (await client.get(answer.headers["location"])).text
        assert hotel.name("agree") in page
        assert hotel.name("reached", "name") not in page


class TestMarkup:
    @pytest.mark.parametrize("page", [1, 2, 3, 4])
    async def test_answers_add_nothing_to_the_page(self, client: httpx2.AsyncClient, hotel: Shop, page: int) -> None:
        """Whatever stands in whichever field, right or wrong, stored or not: the page has the same elements."""
        address = f"/a/{(await hotel.issue()).instance_id}"
        before = markup.read((await client.get(f"{address}?page={page}")).text)
        hidden = before.fields
        names = {*(await field_names(client, f"{address}?page={page}")), hotel.name("one", "other")} - hidden.keys()
        await post(client, address, 4, {hotel.name("words"): "Fine"})  # from now on it was viewed
        skeletons: dict[tuple[Any, ...], str] = {}
        for text in ("harmless", *share_of(HOSTILE, SHARE)):
            answer = await client.post(address, data={**hidden, **dict.fromkeys(names, text), "go": "next"})
            assert answer.status_code in {422, 303}
            shown = answer if answer.status_code == 422 else await client.get(f"{address}?page={page}")
            read = markup.read(shown.text)
            skeletons[tuple(read.skeleton)] = text
            assert [] == [link for link in read.links if not link.startswith(("/a/", "/static/", "#", "data:,"))]
            assert "default-src 'none'" in shown.headers["content-security-policy"]
            assert "unsafe-inline" not in shown.headers["content-security-policy"]
        assert 1 == len(skeletons), skeletons.values()

    async def test_authored_texts_add_nothing_to_the_page(
        self, client: httpx2.AsyncClient, hotel: Shop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Titles, descriptions, labels of choices and rows, in whichever language, are texts or refused."""
        monkeypatch.setattr(views, "GRID_CHARACTERS", math.inf)  # a matrix is laid out by the length of its words
        found: dict[int, set[tuple[Any, ...]]] = {}
        for text in ("harmless", *share_of(HOSTILE, SHARE)):
            printable = "".join(one for one in text if unicodedata.category(one) not in {"Cc", "Cs"})[:100]
            try:
                await hotel.publish(json.dumps(authored(yaml.safe_load(EVERY_TYPE), printable)))
            except InvalidFile:
                assert "{{" in printable  # a variable that nobody knows
                continue
            address = f"/a/{(await hotel.issue()).instance_id}"
            for page in range(1, PAGES + 1):
                document = await client.get(f"{address}?page={page}")
                assert 200 == document.status_code
                found.setdefault(page, set()).add(tuple(markup.read(document.text).skeleton))
        assert dict.fromkeys(found, 1) == {page: len(skeletons) for page, skeletons in found.items()}


AUTHORED = {"title", "description", "label", "low_label", "high_label", "welcome"}


def authored(value: Any, text: str, name: str = "") -> Any:
    """The same document with other texts."""
    if isinstance(value, dict):
        within = name in {"choices", "rows"}  # of a translation
        return {
            key: text if within and isinstance(one, str) else authored(one, text, key) for key, one in value.items()
        }
    if isinstance(value, list):
        return [authored(one, text) for one in value]
    return text if name in AUTHORED else value


async def field_names(client: httpx2.AsyncClient, address: str) -> set[str]:
    text = (await client.get(address)).text
    return {part.partition('"')[0] for part in text.split(' name="')[1:]} - {"go", "viewport", "color-scheme", "robots"}


@pytest.mark.parametrize(("scheme", "locale", "width"), one_of([("light", "en", 360), ("dark", "ar", 1280)]))
async def test_accessible(
    hotel: Shop, new_page: NewPage, scheme: Literal["dark", "light"], locale: str, width: int
) -> None:
    """axe finds nothing on any page, before and after everything was left out."""
    page = await new_page(scheme=scheme, locale=locale, width=width)
    found: dict[str, Any] = {}
    async for name in states(hotel, page, locale):
        results = await Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}})
        found |= {f"{name}: {one['id']}": one["nodes"][0]["html"] for one in results.response["violations"]}
    assert {} == found


async def test_long_words_fit(hotel: Shop, new_page: NewPage) -> None:
    """A word longer than a line is broken, wherever an author put it."""
    word = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung"
    text = re.sub(r"\b(title|label|description): (?![{\"])([^,}\n]+)", rf"\1: {word}", EVERY_TYPE)
    await hotel.publish(text)
    address = f"{hotel.url}/a/{(await hotel.issue()).instance_id}"
    page = await new_page()
    for number in range(1, PAGES + 1):
        await page.goto(f"{address}?page={number}")
        assert word in await page.content()
        for width in (360, 1280):
            await page.set_viewport_size({"width": width, "height": 760})
            assert width >= await page.evaluate("document.documentElement.scrollWidth"), (width, number)


@pytest.mark.parametrize("locale", one_of(["en", "ar"]))
async def test_fits_and_can_be_touched(hotel: Shop, new_page: NewPage, locale: str) -> None:
    """At 320 pixels nothing scrolls sideways; at 360 and 1280 every control is 44 pixels high and wide."""
    page = await new_page(locale=locale)
    controls = ".key, .star, .smiley, .choice, .cell, .move, .button, select, textarea, input.text"
    async for name in states(hotel, page, locale):
        for width in (320, 360, 1280):
            await page.set_viewport_size({"width": width, "height": 760})
            assert width >= await page.evaluate("document.documentElement.scrollWidth"), (name, width)
            if width > 320:
                await meets_fingers(page, controls, f"{name}, {width}")


@pytest.mark.parametrize(("number", "files"), one_of([(1, 4), (2, 6), (3, 4), (4, 3)]))
async def test_pages_are_light(hotel: Shop, new_page: NewPage, number: int, files: int) -> None:
    """The rarer types bring a stylesheet and a script only where they are; each page stays small."""
    instance = await hotel.issue()
    sizes = await weigh(await new_page(), f"{hotel.url}/a/{instance.instance_id}?page={number}")
    assert files == len(sizes), sizes
    assert sum(sizes.values()) <= 1.65 * FIRST_PAGE_BYTES_MAX, (
        sizes
    )  # a ranking and a matrix with each language's button


async def test_ranking_by_buttons(hotel: Shop, new_page: NewPage) -> None:
    """Up gives the next place or swaps, down swaps or takes it away; the focus stays, and a voice says where to."""
    instance = await hotel.issue()
    page = await new_page()
    await page.goto(f"{hotel.url}/a/{instance.instance_id}?page=2")
    for label in ("Breakfast", "Location", "Price"):
        await page.get_by_role("button", name=f"Move {label} up").click()
    assert ["Breakfast", "Location", "Price", "A bed that is long enough"] == await page.locator(
        ".rank label > span"
    ).all_inner_texts()
    await page.get_by_role("button", name="Move Price up").focus()
    await press(page, "Enter")
    assert "Price has place 2." == await page.inner_text(".ranking + [role=status]")
    assert "Move Price up" == await page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert 3 <= await outline(page)
    await page.get_by_role("button", name="Move A bed that is long enough up").click()  # pushes the last one out
    assert ["1", "2", "3", ""] == await page.eval_on_selector_all(".rank select", "all => all.map(one => one.value)")
    await page.get_by_role("combobox", name="Price").select_option("1")
    await page.get_by_role("button", name="Move Breakfast down").click()
    await page.fill(f"[name={hotel.name('nights')}]", "2")
    await page.fill(f"[name={hotel.name('arrival')}]", "2026-05-01")
    await page.get_by_role("slider", name="How quiet was it?").press("ArrowRight")
    assert "51" == await page.input_value(f"[name={hotel.name('quietness')}]")
    await follow(page, "button[value=next]")
    assert 51 == (await hotel.answers(instance.instance_id))["quietness"]
    assert [2, 4, 1] != (await hotel.answers(instance.instance_id))["order"]
    assert [2, 4, 3] == (await hotel.answers(instance.instance_id))["order"]


async def test_a_long_list_is_searched(new_page: NewPage) -> None:
    """Without case and accents; what was chosen stays, and Enter does not send the page."""
    page = await new_page()
    names = ["Ελλάδα", "España", "Côte d'Ivoire", *(f"Land {number}" for number in range(30))]
    options = "".join(f'<option value="{place}">{name}</option>' for place, name in enumerate(names, start=1))
    await page.set_content(
        f"""<form onsubmit="document.title = 1"><select id="f" data-search="Search in this list">
        <option value="">-</option>{options}</select></form>"""
    )
    await page.add_script_tag(path="afterword/static/public/dropdown.js")
    field = page.get_by_role("searchbox", name="Search in this list")
    shown = page.locator("#f option")
    for typed, expected in (("ελλα", ["-", "Ελλάδα"]), ("cote", ["-", "Côte d'Ivoire"]), ("none", ["-"])):
        await field.fill(typed)
        assert expected == await shown.all_inner_texts()
    await field.fill("espa")
    await page.locator("#f").select_option("2")
    await field.fill("ivoire")
    assert (["-", "España", "Côte d'Ivoire"], "2") == (await shown.all_inner_texts(), await page.input_value("#f"))
    await field.press("Enter")
    await field.fill("")
    assert (34, "") == (await shown.count(), await page.title())


async def test_without_script(hotel: Shop, new_page: NewPage) -> None:
    """The whole way with every type, without scripts: places by lists to choose from, nothing to be moved."""
    instance = await hotel.issue()
    page = await new_page(script=False)
    await page.goto(f"{hotel.url}/a/{instance.instance_id}")
    for line, cell in ((0, 3), (1, 2), (2, 1)):
        await page.locator(".line").nth(line).locator(".cell").nth(cell).click()
    await follow(page, "button[value=next]")
    assert 0 == await page.locator(".move").count()
    for label, place in (("Price", "1"), ("Location", "2")):
        await page.get_by_role("combobox", name=label).select_option(place)
    await page.fill(f"[name={hotel.name('nights')}]", "2")
    await page.fill(f"[name={hotel.name('arrival')}]", "2026-05-01")
    await follow(page, "button[value=next]")
    await page.get_by_label("E-mail address").fill("ann@example.com")
    await page.get_by_role("checkbox", name="I agree").check()
    await follow(page, "button[value=next]")
    await follow(page, "button[value=send]")
    assert "Thank you" == await page.inner_text("h1")
    stored = await hotel.answers(instance.instance_id)
    assert ([2, 1], {"email": "ann@example.com"}) == (stored["order"], stored["reached"])


async def test_keyboard_only(hotel: Shop, new_page: NewPage) -> None:
    """A line of the grid is one stop for Tab, arrows go along it, and the ring is always to be seen."""
    instance = await hotel.issue()
    page = await new_page(width=1280)
    await page.goto(f"{hotel.url}/a/{instance.instance_id}")
    for _ in range(3):
        await press(page, "Tab", "Space", "ArrowRight")
        assert 3 <= await outline(page)
    await press(page, "Tab", "Tab", "Tab", "Enter")
    await page.wait_for_url("**page=2")
    assert [2, 2, 2] == list((await hotel.answers(instance.instance_id))["grid"].values())  # pyrefly: ignore[missing-attribute]


async def test_names_and_keyboards(hotel: Shop, new_page: NewPage) -> None:
    """Names and types for assistive technology, phone keyboards and browsers that fill in forms."""
    instance = await hotel.issue()
    page = await new_page()
    await page.goto(f"{hotel.url}/a/{instance.instance_id}")
    group = page.get_by_role("group", name="How satisfied were you with these?")
    assert 3 == await group.get_by_role("radiogroup").count()
    assert 4 == await group.get_by_role("radiogroup", name="Quiet at night").get_by_role("radio").count()
    await page.goto(f"{hotel.url}/a/{instance.instance_id}?page=2")
    modes = [await page.get_attribute(f"[name={hotel.name(key)}]", "inputmode") for key in ("nights", "distance")]
    assert ["numeric", "decimal"] == modes
    assert "date" == await page.get_attribute(f"[name={hotel.name('arrival')}]", "type")
    await page.goto(f"{hotel.url}/a/{instance.instance_id}?page=3")
    inputs = await page.eval_on_selector_all(".field input", "all => all.map(one => [one.type, one.autocomplete])")
    home = [["text", name] for name in ("street-address", "postal-code", "address-level2", "country-name")]
    assert [["text", "name"], ["email", "email"], ["tel", "tel"], ["text", "off"], *home] == inputs


async def test_a_grid_only_where_there_is_room(hotel: Shop, new_page: NewPage) -> None:
    instance = await hotel.issue()
    page = await new_page()
    await page.goto(f"{hotel.url}/a/{instance.instance_id}")
    for width, in_one_row in ((360, False), (1280, True)):
        await page.set_viewport_size({"width": width, "height": 760})
        cells = page.locator(".line").first.locator(".cell")
        tops = await cells.evaluate_all("all => all.map(one => one.getBoundingClientRect().top)")
        assert in_one_row is (1 == len(set(tops)))
        assert in_one_row is await page.locator(".head").is_visible()


# Counts the words of labels that stand on two lines.
BROKEN_WORDS = """
labels => labels.flatMap(label => [...label.firstChild.data.matchAll(/\\S+/g)].filter(word => {
  const range = document.createRange();
  range.setStart(label.firstChild, word.index);
  range.setEnd(label.firstChild, word.index + word[0].length);
  return new Set([...range.getClientRects()].map(box => box.top)).size > 1;
})).length
"""


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
async def test_no_word_of_a_matrix_is_broken(hotel: Shop, new_page: NewPage, width: int) -> None:
    labels = ("Πολύ δυσαρεστημένοι", "Δυσαρεστημένοι", "Ούτε ευχαριστημένοι ούτε δυσαρεστημένοι", "Ευχαριστημένοι")
    document = yaml.safe_load(EVERY_TYPE)
    for choice, label in zip(document["groups"][0]["questions"][0]["choices"], labels, strict=True):
        choice["label"] = label
    await hotel.publish(json.dumps(document))
    page = await new_page(width=width)
    await page.goto(f"{hotel.url}/a/{(await hotel.issue()).instance_id}")
    shown = page.locator(".cell > span, .head:not(:has(> :not(span))) > span:not(:empty)").locator("visible=true")
    assert 8 < await shown.count()
    assert 0 == await shown.evaluate_all(BROKEN_WORDS)
    assert width >= await page.evaluate("document.documentElement.scrollWidth")


async def states(hotel: Shop, page: Page, locale: str) -> AsyncIterator[str]:
    """Brings the browser to every page of the questionnaire, as it comes and with its faults."""
    address = f"{hotel.url}/a/{(await hotel.issue(locale=locale)).instance_id}"
    for number in range(1, PAGES + 1):
        await page.goto(f"{address}?page={number}")
        yield f"page {number}"
        if number < PAGES:
            await follow(page, "button[value=next]")
            yield f"page {number} with faults"


async def test_a_long_word_wraps(hotel: Shop, new_page: NewPage) -> None:
    """A tracking link without a space, typed, stored and shown again, widens no page."""
    page = await new_page()
    address = f"{hotel.url}/a/{(await hotel.issue()).instance_id}"
    for number in (3, 4):
        await page.goto(f"{address}?page={number}")
        for field in await page.locator("textarea.text, input.text:visible:not([type=email], [type=file])").all():
            await field.fill("x" * 290)
        for width in (360, 1280):
            await page.set_viewport_size({"width": width, "height": 760})
            assert width >= await page.evaluate("document.documentElement.scrollWidth")
            rights = await page.eval_on_selector_all(
                "textarea", "all => all.map(one => one.getBoundingClientRect().right)"
            )
            assert width >= max(rights, default=0)


async def test_an_exclusive_choice_clears_the_others(hotel: Shop, new_page: NewPage) -> None:
    page = await new_page()
    await page.goto(f"{hotel.url}/a/{(await hotel.issue()).instance_id}?page=4")
    boxes = page.locator(f"[name='{hotel.name('some')}']")

    async def checked() -> list[int]:
        return [number for number in (1, 2, 3) if await boxes.nth(number - 1).is_checked()]

    await boxes.nth(0).check()
    await boxes.nth(1).check()
    assert [1, 2] == await checked()
    await boxes.nth(2).check()
    assert [3] == await checked()
    await boxes.nth(0).check()
    assert [1] == await checked()
