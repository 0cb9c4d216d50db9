"""Every part of the screens in every state: looked at in both colours, on a phone and on a screen."""

import struct
from typing import Literal

import pytest
from playwright.async_api import Browser

from tests.browser.conftest import House
from tests.browser.test_console import entered
from tests.browser.test_screens import faults_of

PATH = "/console/parts"
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
        assert ["value-0", "title"] == said


async def test_looked_at(browser: Browser, house: House) -> None:
    async with entered(browser, house) as page:
        assert {} == await faults_of(page.context, f"{house.url}{PATH}", PATH)
