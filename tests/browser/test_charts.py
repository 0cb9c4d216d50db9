"""The points of a chart, read by pointer, by touch and by keyboard, and the period before beside them."""

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import House
from tests.browser.test_console import entered

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_keyboard(browser: Browser, house: House) -> None:
    """Arrow keys move along the points, and a line that screen readers hear has the figures of each."""
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console")
        chart = page.locator(".reads").first
        said = chart.locator(".read-out")
        await chart.focus()
        await page.keyboard.press("ArrowRight")
        first = await said.inner_text()
        await page.keyboard.press("ArrowRight")
        second = await said.inner_text()
        await page.keyboard.press("ArrowLeft")
        assert first == await said.inner_text()
        assert first != second
        assert " answer" in first
        await page.keyboard.press("End")
        last = await said.inner_text()
        await page.keyboard.press("ArrowRight")
        assert last == await said.inner_text()
        assert 1 == await chart.locator(".is-read").count()
        await page.keyboard.press("Escape")
        await expect(said).to_be_empty()
        await page.keyboard.press("Home")
        assert first == await said.inner_text()
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/console/responses?*between=*")


async def test_a_chart_that_was_swapped_in(browser: Browser, house: House) -> None:
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console")
        await page.get_by_label("Period").select_option("90")
        await page.wait_for_url("**/console?period=90")
        chart = page.locator(".reads").first
        await chart.focus()
        await page.keyboard.press("ArrowRight")
        await expect(chart.locator(".read-out")).not_to_be_empty()


async def test_pointer_hides_nothing(browser: Browser, house: House) -> None:
    """The line stands below the chart, in the place of its legend, and the picture neither moves nor is covered."""
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console")
        chart = page.locator(".reads").first
        picture = chart.locator("svg.chart")
        before = await picture.bounding_box()
        await chart.locator(".hit").nth(2).hover()
        said = chart.locator(".read-out")
        await expect(said).not_to_be_empty()
        line = await said.bounding_box()
        assert before == await picture.bounding_box()
        assert before is not None
        assert line is not None
        assert before["y"] + before["height"] <= line["y"]
        fill = "(one) => getComputedStyle(one).fillOpacity + getComputedStyle(one).fill"
        assert "rgba(0, 0, 0, 0)" in await chart.locator(".hit").nth(2).evaluate(fill)
        await page.mouse.move(5, 5)
        await expect(said).to_be_empty()


async def test_touch(browser: Browser, house: House) -> None:
    """The first touch reads a point, the second follows its link."""
    async with entered(browser, house, width=360, has_touch=True, is_mobile=True) as page:
        await page.goto(f"{house.url}/console")
        chart = page.locator(".reads").first
        await chart.locator(".hit").nth(1).tap()
        await expect(chart.locator(".read-out")).not_to_be_empty()
        assert page.url.endswith("/console")
        await chart.locator(".hit").nth(2).tap()
        assert page.url.endswith("/console")
        await chart.locator(".hit").nth(2).tap()
        await page.wait_for_url("**/console/responses?*between=*")


async def test_the_period_before(browser: Browser, house: House) -> None:
    """A dashed line with a word, without scripts, too; there a point shows its figures inside the chart."""
    async with entered(browser, house, java_script_enabled=False) as page:
        await page.goto(f"{house.url}/console")
        await expect(page.get_by_text("The period before, dashed").first).to_be_visible()
        assert await page.locator(".trend .ghost").first.get_attribute("d")
        assert await page.locator(".reads").first.get_attribute("tabindex") is None
        assert not await page.locator(".read-out").first.is_visible()
