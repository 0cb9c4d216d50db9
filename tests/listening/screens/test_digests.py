"""A manager's month end: a report is compared, pinned, shared and mailed, each with the API's figures."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from afterword import errors
from afterword.core.questionnaires.visuals import inherited
from afterword.kit import db
from afterword.kit.transport.base import Message
from afterword.listening.screens import digests
from afterword.tenants import mails
from afterword.tenants.mails import compose
from tests.listening.reports.conftest import NPS, TEXT, House
from tests.listening.reports.test_alerts import alert, below, cases, evaluate
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
    stop = stop_of(mail)
    async with browser_of(shops.pool) as guest:
        assert 404 == (await guest.get(f"{stop[:-3]}abc")).status_code
        assert "Stop these e-mails?" in (await guest.get(stop)).text
        assert "These e-mails are stopped" in (await guest.post(stop)).text
        assert "These e-mails are stopped" in (await guest.get(stop)).text


MAILS = "/console/reports/mails"
STORE = "questionnaire_metadata:store_id"


async def save(house: House) -> str:
    grouped = {"metrics": [{"metric": "nps"}], "group_by": [STORE], "compare": "rest"}
    spec = {"questionnaire_ids": [house.questionnaire_id], **grouped}
    response = await house.send("POST", "/report/custom", {"title": "Shops", "spec": spec})
    assert 201 == response.status_code, response.text
    return response.json()["report_id"]


def stop_of(mail: Message) -> str:
    return mail.headers["List-Unsubscribe"].strip("<>").removeprefix(SITE.public_url)


async def due(house: House, now: datetime) -> list[Message]:
    """The mails that the jobs of a worker make by now."""
    async with db.transaction(house.pool) as database:
        await digests.mail_due(database, secret=SITE.secret, now=now, limit=9)
    async with db.transaction(house.pool) as database:
        found = await mails.claim_mails(database, now=now + timedelta(seconds=1), limit=9)
        for one in found:
            await mails.settle_mail(database, mail=one, outcome="sent", reason="", now=now, jitter=0)
    return [
        compose(one, recipient=one.email, sender="reports@example.com", site=SITE, now=now)
        for one in found
        if one.email is not None
    ]


async def test_rights_of_that_time(shops: House, now: datetime) -> None:
    """A reader of figures alone gets whole months. A user who left gets nothing."""
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


async def test_of_one_branch(shops: House, now: datetime) -> None:
    """A user who sees one branch gets its figures alone, of a saved report as of the overview."""
    report_id, admin = await save(shops), await caller_of(shops, "admin")
    for chosen in ({"report_id": report_id}, {}):
        await create(shops, admin, now, day=(now + timedelta(days=1)).isoweekday(), **chosen)
    async with db.transaction(shops.pool) as database:
        await database._connection.execute(
            "update organization_user set only_where = 'store_id', only_values = '{north}' where user_id = $1",
            admin.user_id,
        )
    report, overview = sorted((mail.text for mail in await due(shops, now + timedelta(days=2))), key=len)
    assert "north: NPS 100.0" in report
    assert "south" not in report
    assert "100.0 (" in overview


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
    assert "Words of comments are not sent by e-mail." in mail.text


class TestOtherAddress:
    """Nobody is mailed figures who has not agreed."""

    async def test_agreed(self, shops: House, now: datetime, browser: Browser) -> None:
        await add(browser, recipient="ann@elsewhere.example", when=tomorrow(now))
        assert "Waits for consent" in (await browser.get(MAILS)).text
        [question] = await due(shops, now + timedelta(seconds=1))
        assert "ann@elsewhere.example" == question.recipient
        assert "NPS" not in question.text
        assert [] == await due(shops, now + timedelta(days=6))
        [link] = {*re.findall(r"/console/digest-consent/[\w/-]+", question.text)}
        async with browser_of(shops.pool) as guest:
            assert 404 == (await guest.get(f"{link[:-3]}abc")).status_code
            asked = (await guest.get(link)).text
            assert "Get these figures by mail?" in asked
            assert "would like to mail you “Overview” every week." in plain(question.text)
            assert "would like to mail you “Overview” every week." in plain(asked)
            assert [] == await due(shops, now + timedelta(days=6))
            assert "Thank you" in (await guest.post(link)).text
            assert "Thank you" in (await guest.get(link)).text
            [mail] = await due(shops, now + timedelta(days=2))
            assert ("ann@elsewhere.example", True) == (mail.recipient, "NPS" in mail.text)
            assert "Open it in the console" not in mail.text
            assert "mails you “Overview” every week." in plain((await guest.get(stop_of(mail))).text)
            assert "These e-mails are stopped" in (await guest.post(stop_of(mail))).text
            assert "This link has expired" in (await guest.get(link)).text
        assert [] == await due(shops, now + timedelta(days=20))

    async def test_refused_by_the_first_mail(self, shops: House, now: datetime, browser: Browser) -> None:
        await add(browser, recipient="ann@elsewhere.example")
        [question] = await due(shops, now + timedelta(seconds=1))
        async with browser_of(shops.pool) as guest:
            assert "would like to mail you “Overview” every week." in plain((await guest.get(stop_of(question))).text)
            assert "These e-mails are stopped" in (await guest.post(stop_of(question))).text
        assert "No report is mailed yet." in (await browser.get(MAILS)).text

    async def test_forgotten_after_a_week(self, shops: House, now: datetime, browser: Browser) -> None:
        await add(browser, recipient="ann@elsewhere.example")
        [question] = await due(shops, now + timedelta(seconds=1))
        async with db.connection(shops.pool) as database:
            kept = await database.fetch_value("select count(*) from notice_mail where recipient like 'ann@%'")
        assert 0 == kept, "the address leaves with its mail"
        assert [] == await due(shops, now + timedelta(days=8))
        [link] = {*re.findall(r"/console/digest-consent/[\w/-]+", question.text)}
        async with browser_of(shops.pool) as guest:
            late = (await guest.get(link)).text
        assert ("This link has expired" in late, "no longer sent" in late) == (True, False)
        assert "No report is mailed yet." in (await browser.get(MAILS)).text

    async def test_a_user_gets_links(self, shops: House, now: datetime, browser: Browser) -> None:
        await caller_of(shops, "admin")
        await add(browser, recipient="admin@example.com")
        [question] = await due(shops, now + timedelta(seconds=1))
        [link] = {*re.findall(r"/console/digest-consent/[\w/-]+", question.text)}
        async with browser_of(shops.pool) as guest:
            await guest.post(link)
        [mail] = await due(shops, now + timedelta(days=8))
        assert "Open it in the console" in mail.text

    async def test_no_address(self, browser: Browser) -> None:
        wrong = await browser.post(MAILS, data={**FORM, "recipient": "ann"})
        assert (422, True) == (wrong.status_code, "This is not an e-mail address." in wrong.text)


class TestContent:
    async def test_comments_and_bars(self, shop: House, now: datetime, browser: Browser) -> None:
        """The best and the worst comment with its score, without addresses; the trend as bars."""
        given = {NPS: 0, TEXT: "Call me: 6912345678 or ann@example.com, I am very cross."}
        await shop.respond(given, now=now - timedelta(hours=4))
        await shop.follow()
        await add(browser, comments="1", when=tomorrow(now))
        [mail] = await due(shop, now + timedelta(days=2))
        text = re.sub("[\u2068\u2069]", "", mail.text)
        assert "Best comment\n“Fine.” (10 of 10)" in text
        assert "Worst comment\n“Call me: [address] or [address], I am very cross.” (0 of 10)" in text
        assert 'bgcolor="#' in (mail.html or "")
        assert "<script" not in (mail.html or "")

    async def test_no_comments_unless_chosen(self, shop: House, now: datetime, browser: Browser) -> None:
        await add(browser, when=tomorrow(now))
        [mail] = await due(shop, now + timedelta(days=2))
        assert "comment" not in mail.text

    async def test_open_cases(self, shop: House, now: datetime, browser: Browser) -> None:
        await shop.respond({NPS: 0}, now=now - timedelta(hours=5), count=5)
        alert_id = await alert(shop, below(50))
        await evaluate(shop, now + timedelta(hours=1))
        [case] = await cases(shop, alert_id)
        await add(browser, when=tomorrow(now))
        [mail] = await due(shop, now + timedelta(days=2))
        assert "Open cases" in mail.text
        assert f"{SITE.public_url}/console/cases/{case['alert_instance_id']}" in mail.text

    async def test_brand(self, shop: House, now: datetime, browser: Browser) -> None:
        """The colour the organization, and its name where it has no logo; a logo has the size of mails."""
        async with db.transaction(shop.pool) as database:
            name = await database.fetch_value("""update organization set brand = '{"color_primary": "#aa0055"}'
                                                 returning display_name""")
        await add(browser, when=tomorrow(now))
        [mail] = await due(shop, now + timedelta(days=2))
        assert (True, True) == (f'<p class="brand">{name}</p>' in (mail.html or ""), "#aa0055" in (mail.html or ""))
        logo = f"/asset/{'A' * 22}/{'b' * 10}-480x56.png"
        found = digests._brand("Shop", inherited({"logo": logo}))
        assert [logo, 240, 28] == found["logo"]

    async def test_of_an_older_release(self, shop: House) -> None:
        """A mail that waited while the release changed."""
        content = {
            "language": "en", "direction": "ltr", "subject": "A", "title": "A", "period": "", "url": "/console",
            "sections": [{"title": "NPS", "sentences": ["9"], "head": ["From", "NPS"], "rows": [["Monday", "9"]]}],
            "open": "Open", "stop_url": "/stop", "stop": "Stop", "why": "Why.",
        }  # fmt: skip
        mail = mails.Mail(
            organization_id="o", mail_id="m", epoch=1, attempts=1, email="a@example.com", locale="en",
            organization_name="Shop", notices=(), notices_count=0, purpose="digest", content=content,
        )  # fmt: skip
        made = compose(mail, recipient="a@example.com", sender="b@example.com", site=SITE, now=datetime.now(UTC))
        assert "Monday" in (made.html or "")


def tomorrow(now: datetime) -> str:
    return f"weekly {(now + timedelta(days=1)).isoweekday()}"


FORM = {"report_id": "overview", "when": "weekly 1", "hour": "7", "locale": "en"}


async def add(browser: Browser, **given: str) -> None:
    response = await browser.post(MAILS, data={**FORM, **given})
    assert 303 == response.status_code, plain(response.text)
