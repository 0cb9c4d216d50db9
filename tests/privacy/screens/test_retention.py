"""Retention in the settings: periods with a preview before they remove anything, the ledger, and legal holds."""

from datetime import timedelta
from html import unescape

from afterword.kit import db
from afterword.privacy import retention
from tests.asking.screens.test_builder import text_of
from tests.tenants.logins.conftest import Browser, Office

PATH = "/console/settings/retention"
EMPTY = {"version": "1", "anonymize_after_days": "", "delete_after_days": ""}
FORM = {"reason": "Suit 4/26", "responder_id": ""}
WRONG = (("reason", ""), ("responder_id", "x"), ("responder_id", "0" * 22))


async def test_retention(office: Office, browser: Browser) -> None:
    page = text_of(await browser.get(PATH))
    assert "Anonymize people after (days)" in page
    for name in ("delete_after_days", "answers_days"):
        wrong = await browser.post(PATH, data={**EMPTY, name: "7"})
        assert (422, True) == (wrong.status_code, f'href="#{name}"' in wrong.text)
    form = {**EMPTY, "anonymize_after_days": "400", "answers_days": "500"}
    assert 303 == (await browser.post(PATH, data=form)).status_code
    assert 'value="500"' in (await browser.get(PATH)).text
    stale = await browser.post(PATH, data={**form, "texts_days": "30"})
    assert (412, True) == (stale.status_code, "Someone changed this" in stale.text)
    async with db.transaction(office.pool) as database:
        organization_id = await database.fetch_value("select organization_id from organization")
        await database.execute(
            """insert into responder (organization_id, responder_id, created_time)
               values ($1, $2, now() - interval '60 days')""",
            *(organization_id, "r" * 22),
        )
    asked = await browser.post(PATH, data={**form, "version": "2", "people_days": "30"})
    assert (200, True) == (asked.status_code, "People who are forgotten: 1" in text_of(asked))
    assert "400" in text_of(await browser.get(PATH))
    confirmed = {**form, "version": "2", "people_days": "30", "confirmed": "1"}
    assert 303 == (await browser.post(PATH, data=confirmed)).status_code
    assert "Nothing has been removed because of its age yet." in text_of(await browser.get(f"{PATH}/runs"))
    async with db.transaction(office.pool) as database:
        count, after, now = 1, retention.START, database.clock.now() + timedelta(seconds=1)
        while count:
            count, after = await retention.work_next(database, after=after, now=now)
    runs = text_of(await browser.get(f"{PATH}/runs"))
    assert ("1 row" in runs, "1 rows" in runs) == (True, False)


async def test_hold_of_a_person(office: Office, browser: Browser) -> None:
    """The list leads to the person, whose page of erasure has no button that would be refused."""
    person = "r" * 22
    async with db.transaction(office.pool) as database:
        await database.execute(
            "insert into responder (organization_id, responder_id, created_time) values ($1, $2, now())",
            *(office.organization_id, person),
        )
    erasure = f"/console/people/{person}/erasure"
    assert ">Erase this person</button>" in (await browser.get(erasure)).text
    assert 303 == (await browser.post(f"{PATH}/holds/new", data={**FORM, "responder_id": person})).status_code
    assert f'<a href="/console/people/{person}">one person</a>' in (await browser.get(f"{PATH}/holds")).text
    async with db.transaction(office.pool) as database:
        await database.execute("""update responder set metadata = '{"first_name": "Eva", "last_name": "<i>Li"}'""")
    assert f'<a href="/console/people/{person}">Eva &lt;i&gt;Li</a>' in (await browser.get(f"{PATH}/holds")).text
    page = (await browser.get(erasure)).text
    assert ("A legal hold keeps the data of this person." in page, ">Erase this person</button>" in page) == (
        True,
        False,
    )
    assert f'href="{PATH}/holds"' in unescape(page)
    assert 409 == (await browser.post(erasure, data={"mode": "erase"})).status_code
