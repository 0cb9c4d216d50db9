"""A list of many people with bad rows: five steps in a browser, the bad ones corrected in the file that it gave."""

import asyncio
import re
import uuid
from typing import Final

import pytest
from playwright.async_api import Browser, Page

from afterword.kit import db
from afterword.run.worker.long_work import Importer
from tests.browser.conftest import SECRET, House
from tests.browser.test_console import entered
from tests.sizes import size

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROWS: Final = size(2_000, 100_000)
BAD: Final = 77


async def test_bad_rows_are_corrected_alone(browser: Browser, house: House) -> None:
    """All rows are there in the end, and none twice."""
    batch = uuid.uuid4().hex[:8]
    lines = [f"{'nobody' if n < BAD else f'{batch}.{n}@example.com'},{batch}-{n}" for n in range(ROWS)]
    content = "\n".join(["E-mail,Order", *lines, ""]).encode()
    importer = Importer(house.pool, uuid.uuid4(), secret=SECRET)
    async with entered(browser, house) as page:
        await page.get_by_role("link", name="Sending").click()
        await page.get_by_role("link", name="Send to a list").click()
        await page.get_by_label("A CSV file").set_input_files(
            {"name": "people.csv", "mimeType": "text/csv", "buffer": content}
        )
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_role("button", name="Check all rows").click()
        await page.get_by_text("The rows are being checked").wait_for()
        await _work(importer)
        await _see(page, f"{ROWS - BAD:,} will be asked {BAD} have a problem")
        assert 60_000 > len(await page.content())
        async with page.expect_download() as taken:
            await page.get_by_role("link", name="Download the faulty rows (CSV)").click()
        faulty = (await (await taken.value).path()).read_text(encoding="utf-8-sig")
        head, *rows = faulty.splitlines()
        assert ("E-mail,Order,problem", BAD) == (head, len(rows))
        corrected = re.sub(rf"nobody,{batch}-(\d+)", rf"{batch}.\1@example.com,{batch}-\1", faulty).encode()
        await page.get_by_label("The corrected rows").set_input_files(
            {"name": "a.csv", "mimeType": "text/csv", "buffer": corrected}
        )
        await page.get_by_role("button", name="Upload the corrected rows").click()
        await page.get_by_text("The rows are being checked").wait_for()
        await _work(importer)
        await _see(page, f"{ROWS:,} will be asked")
        await page.get_by_role("link", name="Continue").click()
        await page.get_by_role("button", name=f"Schedule {ROWS:,} messages").click()
        await page.get_by_text("The rows are being imported").wait_for()
        await _work(importer)
        await _see(page, f"{ROWS:,} are scheduled")
    async with db.connection(house.pool) as database:
        counts = await database.fetch_row(
            """select count(*) as items, count(distinct responder_channel_identifier) as people from queue_item
               where external_reference like $1 || '-%'""",
            batch,
        )
    assert {"items": ROWS, "people": ROWS} == dict(counts or {})


async def _work(importer: Importer) -> None:
    """Do all that waits, as a worker does meanwhile."""
    while await importer.work_next(asyncio.Event()):
        pass


async def _see(page: Page, text: str) -> None:
    """Wait until the sums say this: the page loads itself again by itself."""
    pattern = re.compile(r"\s*".join(re.escape(word) for word in text.split()))
    await page.get_by_role("region").or_(page.locator("section")).filter(has_text=pattern).first.wait_for()
