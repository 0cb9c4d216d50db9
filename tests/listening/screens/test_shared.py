"""A report by its link: opened without a login, made and ended on the report's page, and gone afterwards."""

import re
from datetime import timedelta

from afterword.kit import db
from tests.listening.reports.conftest import NPS, House
from tests.listening.reports.conftest import house as house  # noqa: PLC0414  a fixture
from tests.listening.screens.test_overview import owner as owner  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import browser_of, log_in


async def test_from_the_page_to_its_end(owner: House) -> None:
    async with db.connection(owner.pool) as database:
        now = database.clock.now()
    for _ in range(6):
        await owner.respond({NPS: 9}, now=now.replace(day=10) - timedelta(days=31))
    async with browser_of(owner.pool) as client, browser_of(owner.pool) as stranger:
        await log_in(client)
        saved = await client.post(
            "/console/reports/ready/trend", data={"given": "metric=nps", "title": "For the board"}
        )
        page = saved.headers["location"].partition("?")[0]
        made = (await client.post(f"{page}/share", data={"share_days": "7"})).text
        [path] = re.findall(r"http:&#x2f;&#x2f;testserver(&#x2f;console&#x2f;shared[^<]+)", made)
        path = path.replace("&#x2f;", "/")
        shown = await stranger.get(path)
        assert 200 == shown.status_code
        assert "For the board" in shown.text
        assert "6 answers" in shown.text
        assert "/console/responses" not in shown.text
        assert path not in (await client.get(page)).text
        [end] = re.findall(r'action="([^"]+share[^"]+end)"', (await client.get(page)).text)
        assert 303 == (await client.post(end.replace("&#x2f;", "/"))).status_code
        gone = await stranger.get(path)
        assert (404, True) == (gone.status_code, "There is no such report" in gone.text)


async def test_pinned_on_the_overview(owner: House) -> None:
    async with browser_of(owner.pool) as client:
        await log_in(client)
        saved = await client.post("/console/reports/ready/nps", data={"given": "", "title": "Our NPS"})
        page = saved.headers["location"].partition("?")[0]
        assert "Our NPS" not in (await client.get("/console")).text
        await client.post(f"{page}/pin", data={"pinned": "1"})
        assert "Our NPS" in (await client.get("/console")).text
        await client.post(f"{page}/pin")
        assert "Our NPS" not in (await client.get("/console")).text
