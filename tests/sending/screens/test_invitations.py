"""Links of figures: behind each number of the overview and of reports are exactly so many rows."""

import re
from datetime import timedelta
from html import unescape

import httpx2

from afterword.kit import db
from tests.listening.reports.conftest import (
    NPS,
    House,
    house as house,  # noqa: PLC0414  a fixture
)
from tests.listening.screens.conftest import owner as owner  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import browser_of, log_in

LINKED = re.compile(
    r'<td class="number ">\s*<a href="([^"]+)">(\d+)</a>|<a href="([^"]+)">[^<]+</a></th><td[^>]*>(\d+)<'
)


async def test_each_number(owner: House) -> None:
    async with db.connection(owner.pool) as database:
        now = database.clock.now()
    for number in range(9):
        answers = {NPS: 9 if number % 2 else 2} if number < 7 else {}
        await owner.respond(answers, now=now - timedelta(days=1, hours=number), complete=number < 6)
    await owner.follow()
    seen: dict[str, int] = {}
    async with browser_of(owner.pool) as client:
        await log_in(client)
        for path in (
            "/console",
            "/console/reports/ready/funnel",
            "/console/reports/ready/sending?bucket=month",
            "/console/reports/ready/sending?by=channel",
            "/console/reports/ready/trend?metric=response&bucket=month",
        ):
            page = (await client.get(path)).text
            for numbers in LINKED.findall(page):
                url, number = next(pair for pair in (numbers[:2], numbers[2:]) if pair[0])
                seen[unescape(url)] = int(number)
        assert {"stage"} <= {*httpx2.URL(next(iter(seen))).params}
        assert {9, 7, 6} <= {*seen.values()}
        for url, number in seen.items():
            response = await client.get(url)
            assert 200 == response.status_code, url
            assert number == response.text.count("data-row"), url
        for wrong in ("", "?questionnaires=" + "0" * 22, f"?questionnaires={owner.questionnaire_id}&condition=x"):
            assert (await client.get(f"/console/invitations{wrong}")).status_code in {404, 422}
        chosen = f"/console/invitations?questionnaires={owner.questionnaire_id}&stage=completed&channel=0&after=x"
        assert "6 of 6 shown" in re.sub(r"[\u2068\u2069]", "", (await client.get(chosen)).text)
