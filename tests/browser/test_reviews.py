"""The review link of an ending: a person who opens it is counted, by a click of the main or the middle button."""

import pytest
from playwright.async_api import Browser

from afterword.kit import db
from tests.browser import ends
from tests.browser.conftest import Shop
from tests.journeys import processes

pytestmark = pytest.mark.asyncio(loop_scope="session")
REVIEWS = "https://reviews.example/**"


@pytest.mark.parametrize("button", ["left", "middle"])
async def test_a_person_opens_it(shop: Shop, browser: Browser, button: str) -> None:
    questionnaire = await ends.questionnaire_of(shop, "ends", ends.ENDS)
    address = await ends.ended(questionnaire, ends.SCORES["button and review"], "en")
    context = await browser.new_context()
    await context.route(REVIEWS, lambda route: route.fulfill(body="The shop's page"))
    page = await context.new_page()
    await page.goto(address)
    link = page.get_by_role("link", name="Write a review")

    await link.click(button="left" if button == "left" else "middle")

    async def count() -> int:
        async with db.connection(shop.pool) as database:
            return await database.fetch_value(
                "select count(*) from review_click where instance_id = $1", address.rpartition("/")[2]
            )

    assert 1 == await processes.until(count, what="the click is counted")
    await context.close()
