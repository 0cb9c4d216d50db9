"""Digests: the screen's figures in a mail, once a period, as the user may see them then, until a link stops it."""

from datetime import datetime, timedelta

import pytest

from afterword import errors
from afterword.kit import db
from afterword.kit.transport.base import Message
from afterword.listening.screens import digests
from afterword.tenants import mails
from afterword.tenants.mails import compose
from tests.listening.reports.conftest import NPS, House
from tests.listening.reports.test_digests import caller_of, create
from tests.tenants.logins.conftest import SITE

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
