"""A manager's month end: a report is compared, pinned, shared and mailed, each with the API's figures."""

import re
from datetime import datetime, timedelta
from html import unescape

from tests.listening.reports.conftest import House
from tests.listening.screens.test_digest_mails import MAILS, due, save
from tests.listening.screens.test_reports import plain
from tests.tenants.logins.conftest import SITE, Browser, browser_of


async def test_month_end(shops: House, now: datetime, browser: Browser) -> None:
    """A saved report is chosen on the screen, mailed with the API's figures, and stopped by the link in the mail."""
    report_id = await save(shops)
    assert f"{MAILS}?report={report_id}" in (await browser.get(f"/console/reports/saved/{report_id}")).text
    saved = f"/console/reports/saved/{report_id}"
    assert "clear" in plain((await browser.get(f"{saved}?compare=rest")).text)
    assert 303 == (await browser.post(f"{saved}/pin", data={"pinned": "1"})).status_code
    assert "Shops" in (await browser.get("/console")).text
    link = re.search(r"/console/shared/\w+/[\w-]+", unescape((await browser.post(f"{saved}/share")).text))
    assert link is not None
    async with browser_of(shops.pool) as reader:
        assert "Shops" in (await reader.get(link[0])).text
    form = {"report_id": report_id, "when": "monthly 1", "hour": "7", "locale": "en"}
    assert f"{MAILS}?done=saved" == (await browser.post(MAILS, data=form)).headers["location"]
    wrong = await browser.post(MAILS, data={**form, "report_id": "z" * 22})
    assert (422, True) == (wrong.status_code, "There is no such custom report" in wrong.text)
    page = await browser.get(MAILS)
    assert "Shops Every month on day 1 at 7:00" in plain(page.text)
    send = re.search(r'action="([^"]+/send)"', unescape(page.text))
    assert send is not None
    assert [] == await due(shops, now)
    sent = await browser.post(send[1])
    assert 303 == sent.status_code, (send[1], plain(sent.text))
    [mail] = await due(shops, now + timedelta(minutes=1))
    assert [] == await due(shops, now + timedelta(minutes=2))
    assert 429 == (await browser.post(send[1])).status_code
    result = (await shops.send("GET", f"/report/custom/{report_id}/run")).json()
    for figure in [result["total"][0], *(row["figures"][0] for row in result["rows"])]:
        if not figure["suppressed"]:
            value, low, high = (
                f"{each:.1f}".replace("-", "\u2212")
                for each in (figure["value"], figure["interval"]["low"], figure["interval"]["high"])
            )
            text = re.sub("[\u2068\u2069]", "", mail.text)
            assert value in text
            assert f"{low} to {high}" in text
    assert "north: NPS 100.0, 95 % interval" in mail.text.replace("\u2068", "").replace("\u2069", "")
    assert f"{SITE.public_url}/console/reports/saved/{report_id}" in mail.text
    assert "<svg" not in (mail.html or "")
    stop = mail.headers["List-Unsubscribe"].strip("<>").removeprefix(SITE.public_url)
    async with browser_of(shops.pool) as guest:
        assert 404 == (await guest.get(f"{stop[:-3]}abc")).status_code
        assert "Stop this mail?" in (await guest.get(stop)).text
        assert "This mail is stopped" in (await guest.post(stop)).text
        assert "This mail is stopped" in (await guest.get(stop)).text
