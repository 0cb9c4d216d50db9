"""Comments by word and by group: numbers lead to exactly their responses, also from the file."""

import csv
import io
import re
from html import unescape

from tests.console.test_overview import owner as owner  # noqa: PLC0414  a fixture
from tests.console.test_reports import plain
from tests.logins.conftest import browser_of, log_in
from tests.reports.conftest import House
from tests.reports.conftest import house as house  # noqa: PLC0414  a fixture
from tests.responses.comments.test_service import told as told  # noqa: PLC0414  a fixture

COMMENTS = "/console/reports/comments"


async def test_empty(owner: House) -> None:
    async with browser_of(owner.pool) as client:
        await log_in(client)
        page = await client.get(f"{COMMENTS}?days=x&band=y&group=z&questionnaire=q")
        assert "No word is used by enough people" in page.text
        assert 200 == (await client.get(f"{COMMENTS}/csv")).status_code


async def test_numbers_lead_to_their_responses(owner: House, told: House) -> None:
    async with browser_of(owner.pool) as client:
        await log_in(client)
        page = (await client.get(COMMENTS)).text
        text = plain(page)
        assert "36 comments." in text
        assert "Most often: delivery" in text
        assert "3 groups are hidden" in text
        for name, count in (("delivery", 14), ("παράδοση", 5), ("north", 11), ("late", 6)):
            link = unescape(re.findall(rf'href="([^"]+)"[^>]*>(?:<bdi>)?{name}<', page)[-1])
            responses = (await client.get(link)).text
            assert count == responses.count("data-row"), name
        assert "In the comment: late" in plain(responses)
        assert "<mark>late</mark>" in responses
        for group in ("band", "channel", "questionnaire"):
            assert 200 == (await client.get(f"{COMMENTS}?group={group}")).status_code
        file = (await client.get(f"{COMMENTS}/csv?days=30")).content.decode("utf-8-sig")
    lines = {(line["group"], line["word"]): line["comments"] for line in csv.DictReader(io.StringIO(file))}
    assert ("14", "6") == (lines["", "delivery"], lines["north", "late"])
