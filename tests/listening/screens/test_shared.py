"""A report by its link: opened without a login, made and ended on the report's page, and gone afterwards."""

import re
from datetime import datetime, timedelta

from tests.listening.reports.conftest import NPS, House
from tests.tenants.logins.conftest import Browser, browser_of


async def test_from_the_page_to_its_end(owner: House, now: datetime, browser: Browser) -> None:
    for _ in range(6):
        await owner.respond({NPS: 9}, now=now.replace(day=10) - timedelta(days=31))
    async with browser_of(owner.pool) as stranger:
        saved = await browser.post(
            "/console/reports/ready/trend", data={"given": "metric=nps", "title": "For the board"}
        )
        page = saved.headers["location"].partition("?")[0]
        made = (await browser.post(f"{page}/share", data={"share_days": "7"})).text
        [path] = re.findall(r"http:&#x2f;&#x2f;testserver(&#x2f;console&#x2f;shared[^<]+)", made)
        path = path.replace("&#x2f;", "/")
        shown = await stranger.get(path)
        assert 200 == shown.status_code
        assert "For the board" in shown.text
        assert "6 answers" in shown.text
        assert "/console/responses" not in shown.text
        assert path not in (await browser.get(page)).text
        [end] = re.findall(r'action="([^"]+share[^"]+end)"', (await browser.get(page)).text)
        assert 303 == (await browser.post(end.replace("&#x2f;", "/"))).status_code
        gone = await stranger.get(path)
        assert (404, True) == (gone.status_code, "There is no such report" in gone.text)


async def test_pinned_on_the_overview(browser: Browser) -> None:
    saved = await browser.post("/console/reports/ready/nps", data={"given": "", "title": "Our NPS"})
    page = saved.headers["location"].partition("?")[0]
    assert "Our NPS" not in (await browser.get("/console")).text
    await browser.post(f"{page}/pin", data={"pinned": "1"})
    assert "Our NPS" in (await browser.get("/console")).text
    await browser.post(f"{page}/pin")
    assert "Our NPS" not in (await browser.get("/console")).text
