"""A manager's month end: a report is compared, pinned, shared and mailed, each with the API's figures."""

import re
from datetime import datetime, timedelta
from html import unescape

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.transport.base import Message
from afterword.listening.screens import digests
from afterword.tenants import mails
from afterword.tenants.mails import compose
from tests.listening.reports.conftest import NPS, House
from tests.listening.reports.test_digests import caller_of, create
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


MAILS = "/console/reports/mails"
STORE = "questionnaire_metadata:store_id"


async def save(house: House) -> str:
    spec = {
        "questionnaire_ids": [house.questionnaire_id],
        "metrics": [{"metric": "nps"}],
        "group_by": [STORE],
        "compare": "rest",
    }
    response = await house.send("POST", "/report/custom", {"title": "Shops", "spec": spec})
    assert 201 == response.status_code, response.text
    return response.json()["report_id"]


async def due(house: House, now: datetime) -> list[Message]:
    """The mails that the jobs of a worker make by now."""
    async with db.transaction(house.pool) as database:
        await digests.mail_due(database, secret=SITE.secret, now=now, limit=9)
    async with db.transaction(house.pool) as database:
        found = await mails.claim(database, now=now + timedelta(seconds=1), limit=9)
        for one in found:
            await mails.settle(database, mail=one, outcome="sent", reason="", now=now, jitter=0)
    return [
        compose(one, recipient=one.email, sender="reports@example.com", site=SITE, now=now)
        for one in found
        if one.email is not None
    ]


async def test_rights_of_that_time(shops: House, now: datetime) -> None:
    """A reader of figures alone gets whole months. A user who left, or who sees one branch, gets nothing."""
    admin, analyst = [await caller_of(shops, role) for role in ("admin", "reporting")]
    for caller in (admin, analyst):
        await create(shops, caller, now, day=(now + timedelta(days=1)).isoweekday())
    later = now + timedelta(days=2)
    texts = {mail.recipient: mail.text.replace("\u2068", "").replace("\u2069", "") for mail in await due(shops, later)}
    assert {"admin@example.com", "reporting@example.com"} == set(texts)
    assert "NPS" in texts["admin@example.com"]
    assert [] == await due(shops, later)
    async with db.transaction(shops.pool) as database:
        await database._connection.execute(
            "update organization_user set active = false where user_id = $1", admin.user_id
        )
    assert ["reporting@example.com"] == [mail.recipient for mail in await due(shops, later + timedelta(days=7))]
    assert NPS not in texts["reporting@example.com"]
    async with db.transaction(shops.pool) as database:
        await database._connection.execute(
            "update organization_user set only_where = 'store_id', only_values = '{north}' where user_id = $1",
            analyst.user_id,
        )
    assert [] == await due(shops, later + timedelta(days=14))


async def test_no_words_of_comments(owner: House, now: datetime) -> None:
    """A report that became one of words is mailed without them; no new digest has one."""
    report_id, caller = await save(owner), await caller_of(owner, "admin")
    chosen = {"report_id": report_id, "day": (now + timedelta(days=1)).isoweekday()}
    await create(owner, caller, now, **chosen)
    spec = {"questionnaire_ids": [owner.questionnaire_id], "template_id": "comments"}
    assert 200 == (await owner.send("PATCH", f"/report/custom/{report_id}", {"spec": spec})).status_code
    with pytest.raises(errors.Invalid, match="report_id"):
        await create(owner, caller, now, **chosen)
    [mail] = await due(owner, now + timedelta(days=2))
    assert "Words of comments are not mailed." in mail.text
