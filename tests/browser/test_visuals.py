"""A sender's own look: colours, font, corners, logo and layout on every page, and nothing that could be smuggled in."""

import base64
import json
import re
import struct
import zlib
from collections.abc import AsyncIterator
from itertools import product
from typing import Any, Literal

import httpx2
import pytest
from axe_playwright_python.async_playwright import Axe

from afterword.core.organizations.access import installation
from afterword.kit import db
from afterword.tenants.organizations import assets
from afterword.tenants.organizations.assets import Encoded
from tests.browser import markup
from tests.browser.conftest import BRAND, Shop, on_the_loop
from tests.browser.test_answering import form, set_active
from tests.browser.test_pages import WCAG, NewPage, follow, new_page, outline, press
from tests.journeys.processes import until
from tests.sizes import one_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

__all__ = ["new_page"]


def picture(width: int = 120, height: int = 40) -> bytes:
    """A plain PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\x1a\x6b\x72" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


LOGO = "data:image/png;base64," + base64.b64encode(picture()).decode()
THEMES: list[dict[str, Any]] = [
    {"color_primary": "#ffdd00"},
    {"color_primary": "#7a1fa2", "font": "serif", "corner_radius": 0},
    {"color_background": "#102030", "color_text": "#f0f0f0", "color_primary": "#ff6f61", "font": "mono"},
    {"color_background": "#fff4e6", "color_text": "#5a3a1a", "corner_radius": 24, "logo": LOGO},
    {"color_background": "#c62828", "color_text": "#ffffff", "color_primary": "#c62828"},
]


@on_the_loop
async def client(hotel: Shop) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=hotel.url, headers={"Accept": "text/html"}) as client:
        yield client


class TestRefused:
    async def test_no_theme(self, client: httpx2.AsyncClient) -> None:
        names = (
            "", ".css", "p12345.css", "pGGGGGG.css", "p123456", "p123456.css.css", "r25.css", "r04.css", "fsystem.css",
            "b123456.css", "p123456;}body{}.css", "p123456%7D.css", "url(x).css",
        )  # fmt: skip
        statuses = {name: (await client.get(f"/theme/{name}")).status_code for name in names}
        assert dict.fromkeys(names, 404) == statuses

    async def test_no_logo(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        for questionnaire_id in (hotel.questionnaire_id, "x" * 22, "no"):
            assert 404 == (await client.get(f"/p/{questionnaire_id}/logo")).status_code

    @pytest.mark.parametrize(
        "configuration",
        [
            {"color_primary": "red;}*{display:none}", "color_background": 7, "color_text": None, "font": "Comic Sans"},
            {
                "logo": "https://evil.example/logo.png",
                "corner_radius": 999,
                "layout": ["one_page"],
                "show_progress": "no",
            },
            {"logo": "data:image/svg+xml;base64," + base64.b64encode(b"<svg onload=alert(1)>").decode()},
            {"logo": "data:image/png;base64," + base64.b64encode(b"<script>alert(1)</script>").decode()},
            {"logo": 'data:image/png;base64,x" onerror="alert(1)'},
            {"color_primary": "#12345\u0660", "font": {"a": 1}, "<script>": "</style><script>alert(1)</script>"},
        ],
    )
    async def test_a_wrong_key_is_left_out(
        self, client: httpx2.AsyncClient, hotel: Shop, configuration: dict[str, Any]
    ) -> None:
        address = f"/a/{(await hotel.issue()).instance_id}"
        plain = markup.read((await client.get(address)).text)
        await hotel.dress(**configuration)
        dressed = await client.get(address)
        assert (200, plain.skeleton) == (dressed.status_code, markup.read(dressed.text).skeleton)

    async def test_too_little_contrast_is_mended(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        """Colors that were stored before the rule, or past it, are still shown in a readable way."""
        await hotel.dress(color_background="#ffffff", color_text="#ffff00")
        page = await client.get(f"/a/{(await hotel.issue()).instance_id}")
        sheet = await client.get(theme_of(page.text))
        assert "--ink: #ffff00" not in sheet.text


class TestServed:
    async def test_theme(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        await hotel.dress(color_primary="#FFDD00", font="serif", corner_radius=3)
        page = await client.get(f"/a/{(await hotel.issue()).instance_id}")
        address = theme_of(page.text)
        assert "/theme/pffdd00fserifr3.css" == address
        sheet = await client.get(address)
        assert "text/css" in sheet.headers["content-type"]
        assert "immutable" in sheet.headers["cache-control"]
        assert "nosniff" == sheet.headers["x-content-type-options"]
        assert "--fill: #ffdd00;" in sheet.text
        assert set() == set(re.findall(r"[a-z-]+(?=:)", sheet.text)) - PROPERTIES
        assert not re.search(r"url|@import|expression|<|\\", sheet.text)

    async def test_logo(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        await hotel.dress(logo=LOGO)
        page = await client.get(f"/a/{(await hotel.issue()).instance_id}")
        assert f'alt="{BRAND}"' in page.text
        [address] = [link for link in markup.read(page.text).links if "/logo" in link]
        logo = await client.get(address)
        assert ("image/png", picture()) == (logo.headers["content-type"], logo.content)
        assert "immutable" in logo.headers["cache-control"]
        assert "sandbox" in logo.headers["content-security-policy"]
        other = await client.get(address.partition("?")[0])
        assert "immutable" not in other.headers["cache-control"]

    async def test_every_page_is_dressed(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        await hotel.dress(color_primary="#123456")
        instance, expired = await hotel.issue(), await hotel.issue(valid_days=5)
        await hotel.shift(expired.instance_id, 6)
        for address in (f"/a/{instance.instance_id}", f"/a/{expired.instance_id}", f"/p/{hotel.questionnaire_id}"):
            assert "/theme/p123456.css" == theme_of((await client.get(address)).text)
        await set_active(hotel, active=False)
        closed = await client.get(f"/a/{instance.instance_id}")
        assert (410, "/theme/p123456.css") == (closed.status_code, theme_of(closed.text))

    async def test_nothing_without_a_visual(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        page = await client.get(f"/a/{(await hotel.issue()).instance_id}")
        assert [] == [link for link in markup.read(page.text).links if "theme" in link]
        assert f'<p class="brand">{BRAND}</p>' in page.text


PROPERTIES = {
    "--accent", "--accent-deep", "--accent-soft", "--on-accent", "--fill", "--fill-deep", "--on-fill", "--radius",
    "--sans", "--serif", "color",
}  # fmt: skip


class TestLayouts:
    async def test_by_question(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        await hotel.dress(layout="by_question")
        address = f"/a/{(await hotel.issue()).instance_id}"
        first = await client.get(address)
        assert "1 of 25" in first.text
        assert 1 == first.text.count('class="question')
        fields = markup.read(first.text).fields
        rows = {hotel.name("grid", row): "2" for row in ("clean", "quiet", "breakfast")}
        answer = await client.post(address, data={**fields, **rows, "go": "next"})
        assert f"{address}?page=2" == answer.headers["location"]

    async def test_one_page(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        await hotel.dress(layout="one_page")
        instance = await hotel.issue(editable=False)
        address = f"/a/{instance.instance_id}"
        page = (await client.get(address)).text
        assert "<progress" not in page
        assert 25 == page.count('class="question')
        assert ["Your room", "Your wishes", "May we call you?"] == re.findall(r'class="section"><h2>([^<]+)', page)
        fields = markup.read(page).fields
        wrong = await client.post(address, data={**fields, "go": "send"})
        assert (422, 5) == (wrong.status_code, wrong.text.count('<li><a href="#q-'))
        rows = {hotel.name("grid", row): "1" for row in ("clean", "quiet", "breakfast")}  # jumps to the consent
        done = await client.post(address, data={**fields, **rows, hotel.name("agree"): "1", "go": "send"})
        assert 303 == done.status_code
        assert (await hotel.instance(instance.instance_id))["finalized"]

    async def test_changed_under_way(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        """A form that was drawn in another layout is read as it was drawn, and goes on where answers are missing."""
        instance = await hotel.issue()
        address = f"/a/{instance.instance_id}"
        fields = await form(client, f"{address}?page=3")
        await hotel.dress(layout="by_question")
        contact = {hotel.name("reached", "name"): "Ann", hotel.name("agree"): "1"}
        answer = await client.post(address, data={**fields, **contact, "go": "next"})
        assert address == answer.headers["location"]
        assert {"reached": {"name": "Ann"}, "agree": True} == await hotel.answers(instance.instance_id)
        assert hotel.name("grid", "clean") in (await client.get(address)).text

    async def test_on_a_public_link(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        await hotel.dress(layout="by_question")
        address = f"/p/{hotel.questionnaire_id}"
        fields = await form(client, address)
        await hotel.dress(layout="one_page")
        rows = {hotel.name("grid", row): "2" for row in ("clean", "quiet", "breakfast")}
        answer = await client.post(address, data={**fields, **rows, "go": "next"})
        assert (303, 1) == (answer.status_code, len(await hotel.instances()))

    async def test_without_progress(self, client: httpx2.AsyncClient, hotel: Shop) -> None:
        await hotel.dress(show_progress=False)
        assert "<progress" not in (await client.get(f"/a/{(await hotel.issue()).instance_id}")).text


@pytest.mark.parametrize(("scheme", "configuration"), one_of(list(product(("light", "dark"), THEMES))))
async def test_accessible(
    hotel: Shop, new_page: NewPage, scheme: Literal["dark", "light"], configuration: dict[str, Any]
) -> None:
    """axe finds enough contrast in each theme, light and dark, with faults and after the end; no rule is broken."""
    await hotel.dress(**configuration)
    page, found, said = await new_page(scheme=scheme), dict[str, Any](), list[str]()
    page.on("console", lambda message: said.append(message.text))
    address = f"{hotel.url}/a/{(await hotel.issue(editable=False)).instance_id}"
    for number in (1, 2, 3, 4):
        await page.goto(f"{address}?page={number}")
        if number < 4:
            await follow(page, "button[value=next]")
        results = await Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}})
        found |= {f"{number} {one['id']}": one["nodes"][0] for one in results.response["violations"]}
    assert [] == [text for text in said if "422" not in text]  # no policy was broken
    assert {} == found


async def test_colours_are_applied(hotel: Shop, new_page: NewPage) -> None:
    await hotel.dress(color_primary="#ffdd00", corner_radius=2, font="mono")
    page = await new_page()
    await page.goto(f"{hotel.url}/a/{(await hotel.issue()).instance_id}")
    style = await page.eval_on_selector(
        ".button", "one => { const s = getComputedStyle(one); return [s.backgroundColor, s.color, s.borderRadius]; }"
    )
    assert ["rgb(255, 221, 0)", "rgb(0, 0, 0)", "2px"] == style
    assert "mono" in await page.eval_on_selector("h1", "one => getComputedStyle(one).fontFamily")


async def test_choices_with_pictures(hotel: Shop, new_page: NewPage) -> None:
    """On a phone two stand side by side; one is chosen by its picture, another by the arrows, and that one is kept."""
    async with db.transaction(hotel.pool) as database:
        caller, now = installation(hotel.organization_id), database.clock.now()
        kept = [
            await assets.keep(
                database, caller=caller, picture=Encoded(picture(120, height), "image/png", 120, height), title=None,
                now=now,
            )
            for height in (80, 100, 120)
        ]  # fmt: skip
    choices = [{"value": place, "label": f"Room {place}", "picture": one.path} for place, one in enumerate(kept, 1)]
    question = {"key": "one", "type": "single_choice", "title": "Which room did you have?", "choices": choices}
    head = {"display_name": "Rooms", "title": "Your room", "default_locale": "en", "public_link": True}
    await hotel.publish(json.dumps({**head, "groups": [{"key": "rooms", "questions": [question]}]}))
    instance, page = await hotel.issue(), await new_page(width=360)
    await page.goto(f"{hotel.url}/a/{instance.instance_id}")
    loaded = "[...document.images].every(one => one.naturalWidth === 120)"
    await until(lambda: page.evaluate(loaded), seconds=30, what="the pictures are there")
    tops = await page.eval_on_selector_all(".choice", "all => all.map(one => one.getBoundingClientRect().top)")
    assert [tops[0], tops[0]] == tops[:2] != tops[1:]
    await page.click("text=Room 2 >> xpath=./img")
    assert await page.get_by_label("Room 2").is_checked()
    await press(page, "ArrowDown")
    assert await page.get_by_label("Room 3").is_checked()
    assert 3 <= await outline(page)
    await follow(page, ".actions .button")
    async with db.connection(hotel.pool) as database:
        stored = await database.fetch_value("select value from answer where instance_id = $1", instance.instance_id)
    assert 3 == stored


def theme_of(document: str) -> str:
    [address] = [link for link in markup.read(document).links if link.startswith("/theme/")]
    return address
