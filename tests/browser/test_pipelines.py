"""A rule is changed in the console while messages wait, and each of them follows or stays as the screen said."""

import asyncio
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from playwright.async_api import Browser

from afterword.kit import db
from afterword.run.app import create_app
from afterword.run.cli.demo import seed
from tests.browser.conftest import House, listening, served, type_login
from tests.browser.test_console import entered, opened, working
from tests.run.worker.conftest import DEADLINE_SECONDS
from tests.tenants.logins.conftest import EMAIL, Office

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_new_one_asks_for_what_its_channel_needs(browser: Browser, house: House) -> None:
    async with entered(browser, house) as page:
        await page.goto(f"{house.url}/console/sending/pipelines/new")
        for channel, needs in (
            ("E-mail", {"title", "message_subject", "message_body"}),
            ("SMS", {"title", "message_body"}),
            ("Webhook", {"title", "target_url"}),
        ):
            await page.get_by_label("Channel").select_option(label=channel)
            shown = page.locator("main :is(input, textarea).text:visible")
            assert needs == set(await shown.evaluate_all("all => all.map(one => one.name)"))


async def test_changed_while_messages_wait(browser: Browser, pool_url: str, pool: db.Pool) -> None:
    listener, site = listening()
    seeded = await seed(pool, site)
    await Office(pool, seeded.organization_id, seeded.application_id, "").add_user(EMAIL, role="owner")
    items = f"/v3.2/q/questionnaire/{seeded.questionnaire_id}/pipeline/{seeded.pipeline_id}/queue/item"
    later = (datetime.now(UTC) + timedelta(days=3)).isoformat(timespec="seconds")
    async with (
        served(create_app(pool=pool, site=site), listener),
        working(pool_url, site),
        opened(browser) as page,
        httpx2.AsyncClient(base_url=site.public_url, headers={"Authorization": f"Bearer {seeded.token}"}) as client,
    ):
        declared = {"name": "store", "title": "Store", "type": "text", "application_id": seeded.application_id}
        assert 201 == (await client.post("/v3.2/q/metadata/questionnaire", json=declared)).status_code
        waiting: dict[str, str] = {}
        for store in ("north", "south"):
            body = {
                "responder_channel_identifier": f"{store}@example.com",
                "send_time": later,
                "metadata": {"questionnaire": {"store": store}},
            }
            waiting[store] = (await client.post(items, json=body)).json()["item_id"]
        await type_login(page, site.public_url, email=EMAIL)
        pipeline = f"{site.public_url}/console/sending/pipelines/{seeded.questionnaire_id}/{seeded.pipeline_id}"
        await page.goto(pipeline)
        await page.locator("a[href$='/delay']").first.click()
        await page.get_by_text("2 messages wait and keep their time.").wait_for()
        await page.goto(pipeline)
        await page.locator("a[href$='/conditions']").first.click()
        await page.get_by_text("2 messages wait. They follow the change").wait_for()
        subject = page.locator("#subject-0")
        async with asyncio.timeout(DEADLINE_SECONDS):  # a process keeps the declared names for two seconds
            while not await subject.locator("option[value='questionnaire_metadata:store']").count():
                await page.reload()
        await subject.select_option("questionnaire_metadata:store")
        await page.locator("#value-0").fill("north")
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_text("“Store” is north").first.wait_for()
        await page.goto(f"{pipeline}/messages")
        await page.get_by_label("Text", exact=True).focus()
        await page.get_by_text("Placeholders").click()
        await page.get_by_role("button", name="{{ responder.first_name }}").click()
        assert "{{ responder.first_name }}" in await page.get_by_label("Text", exact=True).input_value()
        await page.goto(pipeline)
        await page.get_by_role("link", name="Versions").click()
        await page.get_by_text("“Store” is north").first.wait_for()
        for store, said in (("north", "Sent"), ("south", "Ignored")):
            await page.goto(f"{site.public_url}/console/sending/{waiting[store]}")
            await page.get_by_role("link", name="Send now").click()
            await page.get_by_role("button", name="Send now").click()
            await page.wait_for_url(f"**/{waiting[store]}*")
            async with asyncio.timeout(DEADLINE_SECONDS):
                while not await page.get_by_text(said).count():
                    await page.reload()
