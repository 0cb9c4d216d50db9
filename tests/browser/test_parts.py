"""Every part of the screens in every state: looked at in both colours, on a phone and on a screen."""

import re
import struct
from pathlib import Path
from typing import Final, Literal

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import House
from tests.browser.test_console import entered
from tests.browser.test_screens import faults_of

PATH = "/console/parts"
TEMPLATES: Final = Path("afterword/templates/console")
PARTS: Final = ("parts.html", "charts.html", "conditions.html", "builder_parts.html")
MACRO: Final = re.compile(r"\{% macro (\w+)\(.*?%\}(.*?)\{% endmacro %\}", re.DOTALL)
LINK_ALONE: Final = re.compile(
    r"<p(?: class=\"([^\"]*)\")?>\s*(?:\{%[^%]*%\})?\s*<a (?![^>]*class=\"button)"
    r"(?:[^>{]|\{\{.*?\}\}|\{%.*?%\})*>(?:(?!</a>).)*</a>\s*(?:\{%[^%]*%\})?</p>"
)
pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
async def test_picture(browser: Browser, house: House, width: int, scheme: Literal["light", "dark"]) -> None:
    """The whole page as a picture, which is as wide as the window."""
    async with entered(browser, house, width=width, color_scheme=scheme) as page:
        await page.goto(f"{house.url}{PATH}")
        picture = await page.screenshot(full_page=True)
        assert width == struct.unpack(">I", picture[16:20])[0]
        said = await page.locator("[aria-invalid]").evaluate_all("all => all.map(one => one.id)")
        assert ["value-0", "title", "alert"] == said
        assert 1 == await page.locator(".trend .ghost").count()
        failed = page.locator(".state.wrong").first
        assert "0px" == await failed.evaluate("one => getComputedStyle(one).borderInlineStartWidth")
        toast = page.locator(".toast")
        undo, close = [await toast.locator(one).bounding_box() for one in ("[name=undo]", "[data-close]")]
        assert undo is not None
        assert close is not None
        assert undo["y"] <= close["y"] <= undo["y"] + undo["height"]


@pytest.mark.parametrize("locale", ["en", "de", "el"])
async def test_a_long_state_covers_nothing(browser: Browser, house: House, locale: str) -> None:
    async with entered(browser, house, width=768, locale=locale) as page:
        await page.goto(f"{house.url}{PATH}")
        row = page.locator(".item:has(> span > .state)")
        chip, text = await row.locator(".state").bounding_box(), await row.locator(".whole").bounding_box()
        assert chip is not None
        assert text is not None
        assert chip["x"] + chip["width"] <= text["x"]


async def test_no_part_is_missing() -> None:
    """Each macro of the files of parts is on the page, by itself or in another part."""
    shown = (TEMPLATES / "parts_shown.html").read_text()
    for name in PARTS:
        bodies = dict(MACRO.findall((TEMPLATES / name).read_text()))
        found = {one for one in bodies if re.search(rf"\b{one}\(", shown)}
        for _ in bodies:
            found |= {one for one in bodies if any(re.search(rf"\b{one}\(", bodies[other]) for other in found)}
        assert set() == bodies.keys() - found, name


async def test_only_links_in_running_text_are_underlined(browser: Browser, house: House) -> None:
    """A link that stands alone is in a row, and rows, ways back and the rail draw no lines."""
    for path in TEMPLATES.glob("*.html"):
        for classes in LINK_ALONE.findall(path.read_text()):
            assert {"row", "back", "pager"} & set(classes.split()), path
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}{PATH}")
        for place in (".row > a:not(.button)", ".back a", ".self a", ".self .plain"):
            await expect(page.locator(place).first).to_have_css("text-decoration-line", "none")
        await expect(page.locator("p.made-up a").last).to_have_css("text-decoration-line", "underline")


async def test_looked_at(browser: Browser, house: House) -> None:
    async with entered(browser, house) as page:
        assert {} == await faults_of(page.context, f"{house.url}{PATH}", PATH)
