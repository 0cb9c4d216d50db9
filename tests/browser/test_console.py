"""Days of the people who use the console, in a browser: by keyboard alone, without scripts, on a phone."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Final, Literal

import msgspec
import pytest
from playwright.async_api import Browser, BrowserContext, Page

from afterword import db
from afterword.alerts import service as alerts
from afterword.alerts.resources import AlertRequest
from afterword.alerts.rules import service as rules
from afterword.core.answers.values import Given
from afterword.core.organizations.access import installation
from afterword.instances.answers.service import lock_context, save_answers
from afterword.logins import hashing
from afterword.logins import service as logins
from afterword.organizations import service as organizations
from tests.browser.conftest import Shop, on_the_loop

pytestmark = pytest.mark.asyncio(loop_scope="session")

EMAIL, PASSWORD = "olga@kalamata.example", "four words make a password"
RESPONSES: Final = 60


@on_the_loop
async def office(shop: Shop) -> Shop:
    """The shop with an owner who can log in, responses of two months, and cases of the unhappy ones."""
    async with db.transaction(shop.pool) as database:
        now = database.clock.now()
        user = await organizations.create_user(
            database, organization_id=shop.organization_id, email=EMAIL, role="owner", now=now
        )
        login = await logins.add_login(database, email=EMAIL, password_hash=await hashing.hash_of(PASSWORD), now=now)
        await logins.join(database, organization_id=shop.organization_id, user_id=user.user_id, login=login)
        application_id = await database.fetch_value(
            "select owner_application_id from questionnaire where questionnaire_id = $1", shop.questionnaire_id
        )
        nps = shop.question_id("nps")
        unhappy = {"subject": f"question:{nps}", "operator": "less_equal", "value": 2}
        request = AlertRequest(
            application_id=application_id, title="Unhappy customer", trigger="submitted", conditions=unhappy
        )
        await rules.create(
            database, caller=installation(shop.organization_id), columns=msgspec.structs.asdict(request), now=now
        )
    for number in range(RESPONSES):
        instance = await shop.issue()
        async with db.transaction(shop.pool) as database:
            await save_answers(
                database,
                context=await lock_context(database, instance_id=instance.instance_id),
                answers={nps: Given(number % 11)},
                complete=False,
                now=database.clock.now(),
            )
            await database.execute(
                """update questionnaire_instance set created_time = created_time - $2::interval,
                     updated_time = updated_time - $2, sent_time = sent_time - $2, viewed_time = viewed_time - $2,
                     submitted_time = submitted_time - $2
                   where instance_id = $1""",
                *(instance.instance_id, timedelta(days=number)),
            )
    for _ in range(RESPONSES):
        async with db.transaction(shop.pool) as database:
            await alerts.raise_next(database, now=database.clock.now(), limit=200)
    return shop


async def entered(
    browser: Browser,
    shop: Shop,
    *,
    width: int = 1280,
    scheme: Literal["light", "dark"] = "light",
    scripts: bool = True,
    locale: str = "en",
) -> tuple[BrowserContext, Page]:
    """A page of somebody who has logged in by typing."""
    context = await browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=scripts, locale=locale
    )
    page = await context.new_page()
    page.set_default_timeout(15_000)
    await page.goto(f"{shop.url}/console")
    await page.locator("#email").fill(EMAIL)
    await page.locator("#password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{shop.url}/console")
    return context, page


@on_the_loop
async def page(browser: Browser, office: Shop) -> AsyncIterator[Page]:
    context, page = await entered(browser, office)
    yield page
    await context.close()


async def test_without_scripts(browser: Browser, office: Shop) -> None:
    """From the log-in over a response to a comment on its case, by links and forms alone."""
    context, page = await entered(browser, office, scripts=False, width=360)
    await page.goto(f"{office.url}/console/cases")
    await page.locator("a.whole").first.click()
    await page.locator("textarea[name=body]").fill("I call on Monday.")
    await page.get_by_role("button", name="Comment alone").click()
    assert await page.get_by_text("I call on Monday.").count()
    assert await page.get_by_text("Your comment was added.").count()
    await context.close()


async def test_keyboard(page: Page, office: Shop) -> None:
    """Letters go to a section, `j` and Enter open a row without a whole new page, Back leads back."""
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await page.wait_for_url("**/console/responses")
    await page.evaluate("window.stays = true")
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.locator("#open-title").wait_for()
    assert "/console/responses/" in page.url
    assert await page.evaluate("window.stays")  # a region was swapped
    assert "Response of" in await page.title()
    await page.go_back()
    await page.wait_for_url("**/console/responses")
    await page.locator("form.search").wait_for()
    await page.keyboard.press("Shift+?")
    await page.locator("dialog[open]").wait_for()


async def test_a_case_to_its_end(page: Page, office: Shop) -> None:
    """Taken over, commented, closed: the list has one less."""
    await page.goto(f"{office.url}/console/cases")
    before = await page.locator("a.whole").count()
    await page.locator("a.whole").first.click()
    await page.get_by_label("Owner").select_option(label=EMAIL)
    await page.get_by_label("Status").select_option(label="Closed")
    await page.get_by_label("Comment").fill("She gets a new one.")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("The case is closed.").wait_for()
    await page.goto(f"{office.url}/console/cases")
    assert before - 1 == await page.locator("a.whole").count()
