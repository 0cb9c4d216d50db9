"""Digests: the screen's figures in a mail, once a period, as the user may see them then, until a link stops it."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest

from afterword import db, errors
from afterword.alerts.mails import service as mails
from afterword.alerts.mails.compose import compose
from afterword.channels.base import Message
from afterword.console import digest_mails
from afterword.organizations import service as organizations
from afterword.reports.digests import service
from tests.console.test_overview import owner as owner  # noqa: PLC0414  a fixture
from tests.console.test_reports import plain
from tests.console.test_reports import shops as shops  # noqa: PLC0414  a fixture
from tests.logins.conftest import SITE, browser_of, log_in
from tests.reports.conftest import NPS, House
from tests.reports.conftest import house as house  # noqa: PLC0414  a fixture

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
        await digest_mails.mail_due(database, secret=SITE.secret, now=now, limit=9)
    async with db.transaction(house.pool) as database:
        found = await mails.claim(database, now=now + timedelta(seconds=1), limit=9)
        for one in found:
            await mails.settle(database, mail=one, outcome="sent", reason="", now=now, jitter=0)
    return [
        compose(one, recipient=one.email, sender="reports@example.com", site=SITE, now=now)
        for one in found
        if one.email is not None
    ]


async def caller_of(house: House, role: str) -> Any:
    async with db.transaction(house.pool) as database:
        user = await organizations.create_user(
            database,
            organization_id=house.caller.organization_id,
            email=f"{role}@example.com",
            role=role,
            now=database.clock.now(),
        )
    return replace(house.caller, user_id=user.user_id, role=role, token_id="")


async def create(house: House, caller: Any, now: datetime, **columns: Any) -> str:
    async with db.transaction(house.pool) as database:
        given = {"report_id": None, "frequency": "weekly", "day": 1, "hour": 8, "locale": "en", **columns}
        return (await service.create(database, caller=caller, columns=given, now=now)).digest_id


@pytest.fixture
async def now(house: House) -> datetime:
    async with db.connection(house.pool) as database:
        return database.clock.now()


async def test_refusals(owner: House, now: datetime) -> None:
    """A token without a user, another user, a day that no week has, one report twice."""
    token = await owner.token_for(scopes={"Report.Read"})
    headers = {"Authorization": f"Bearer {token}"}
    body = {"frequency": "weekly", "day": 1}
    assert 403 == (await owner.send("POST", "/report/digest", body, **headers)).status_code
    assert [] == (await owner.send("GET", "/report/digest", **headers)).json()
    assert 404 == (await owner.send("DELETE", f"/report/digest/{'z' * 22}", **headers)).status_code
    caller, other = [await caller_of(owner, role) for role in ("admin", "reporting")]
    digest_id = await create(owner, caller, now)
    for kind, columns in ((errors.Invalid, {}), (errors.Invalid, {"day": 8}), (errors.NotFound, {"report_id": "z"})):
        with pytest.raises(kind):
            await create(owner, caller, now, **columns)
    async with db.transaction(owner.pool) as database:
        with pytest.raises(errors.NotFound):
            await service.stop(database, caller=other, digest_id=digest_id)


async def test_month_end(shops: House, now: datetime) -> None:
    """A saved report is chosen on the screen, mailed with the API's figures, and stopped by the link in the mail."""
    report_id = await save(shops)
    async with browser_of(shops.pool) as client:
        await log_in(client)
        assert f"{MAILS}?report={report_id}" in (await client.get(f"/console/reports/saved/{report_id}")).text
        form = {"report_id": report_id, "when": "monthly 1", "hour": "7", "locale": "en"}
        assert f"{MAILS}?done=saved" == (await client.post(MAILS, data=form)).headers["location"]
        again = await client.post(MAILS, data=form)
        assert (422, True) == (again.status_code, "You have a digest of it already" in again.text)
        page = await client.get(MAILS)
        assert "Shops Every month on day 1 at 7:00" in plain(page.text)
        send = re.search(r'action="([^"]+/send)"', unescape(page.text))
        assert send is not None
        assert [] == await due(shops, now)
        sent = await client.post(send[1])
        assert 303 == sent.status_code, (send[1], plain(sent.text))
        [mail] = await due(shops, now + timedelta(minutes=1))
        assert [] == await due(shops, now + timedelta(minutes=2))
        assert 429 == (await client.post(send[1])).status_code
        result = (await shops.send("GET", f"/report/custom/{report_id}/run")).json()
        for figure in [result["total"][0], *(row["figures"][0] for row in result["rows"])]:
            if not figure["suppressed"]:
                value, low, high = (
                    f"{round(each, 1):g}".replace("-", "\u2212")
                    for each in (figure["value"], figure["interval"]["low"], figure["interval"]["high"])
                )
                text = re.sub("[\u2068\u2069]", "", mail.text).replace("-", "\u2212")
                assert value in text
                assert f"{low} to {high}" in text
        assert "north: NPS 100, 95 % interval" in mail.text.replace("\u2068", "").replace("\u2069", "")
        assert "west" not in mail.text or "Hidden" in mail.text
        assert f"{SITE.public_url}/console/reports/saved/{report_id}" in mail.text
        assert "<svg" not in (mail.html or "")
        stop = mail.headers["List-Unsubscribe"].strip("<>").removeprefix(SITE.public_url)
    async with browser_of(shops.pool) as guest:
        assert 404 == (await guest.get(f"{stop[:-3]}abc")).status_code
        assert "Stop this mail?" in (await guest.get(stop)).text
        assert "This mail is stopped" in (await guest.post(stop)).text
        assert "This mail is stopped" in (await guest.get(stop)).text


async def test_rights_of_that_time(shops: House, now: datetime) -> None:
    """A reader of figures alone gets whole months, a user who left gets nothing, and each gets one mail a period."""
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
