"""Public links on their screens: made, changed beside somebody else, switched off, and followed to their responses."""

import html
import re

from afterword.kit import db
from tests.asking.screens.test_builder import LIST, added, saved, text_of
from tests.asking.screens.test_publication import publish
from tests.console.test_undo import undo_of
from tests.tenants.logins.conftest import Browser, Office

FORM = {"title": "Poster in the window", "metadata": "store_id = 7\ntransaction_id=4", "active": "1"}


async def test_public_link(office: Office, browser: Browser, path: str) -> None:
    links = f"{path}/links"
    assert "No public link yet" in (await browser.get(links)).text
    for form, name in (
        ({**FORM, "title": ""}, "title"),
        ({**FORM, "metadata": "store_id"}, "metadata"),
        ({**FORM, "metadata": "store = ATH"}, "metadata"),
        ({**FORM, "closes_time": "2026-01-01T09:00", "opens_time": "2026-02-01T09:00"}, "closes_time"),
        ({**FORM, "responses_max": "none"}, "responses_max"),
        ({**FORM, "parameters": "order no"}, "parameters"),
    ):
        refused = await browser.post(f"{links}/new", data=form)
        assert (422, True) == (refused.status_code, f'href="#{name}"' in refused.text)
        assert form["metadata"] in html.unescape(refused.text)
    made = await browser.post(f"{links}/new", data=FORM)
    one = made.headers["location"].partition("?")[0]
    page = await browser.get(one)
    assert "store_id = 7\ntransaction_id = 4" in html.unescape(page.text)
    address = re.search(r"https?://[^/]+(/l/\w{12})", html.unescape(page.text))
    assert address is not None
    assert 404 == (await browser.get(f"{LIST}/{'0' * 22}/links/{one.rpartition('/')[2]}")).status_code

    for file_format in ("svg", "png"):
        file = await browser.get(f"{one}/qr?format={file_format}")
        assert f"image/{file_format}" in file.headers["content-type"]
        assert "attachment" in file.headers["content-disposition"]
    changed = {**FORM, "version": "1", "title": "Receipt", "opens_time": "2031-02-01T09:00"}
    assert 303 == (await browser.post(one, data=changed)).status_code
    stale = await browser.post(one, data={**FORM, "version": "1", "title": "Letter", "active": ""})
    assert (412, True, True) == (stale.status_code, "Letter" in stale.text, "<dd>yes</dd>" in stale.text)
    assert "Opens later" in (await browser.get(links)).text
    off = await browser.post(f"{one}/switch", data={"active": ""})
    assert "Switched off" in (await browser.get(links)).text
    undo = undo_of((await browser.get(off.headers["location"])).text)
    late = await browser.post(undo.action, data={**undo.fields, "version": "1"})
    assert (412, True) == (late.status_code, "Somebody changed this in the meantime" in late.text)
    assert f"{one}?done=undone" == (await browser.post(undo.action, data=undo.fields)).headers["location"]
    assert "Switched off" not in (await browser.get(links)).text
    await browser.post(f"{one}/switch", data={"active": ""})

    await saved(browser, await added(browser, path, "nps"), type="nps", title="Would you recommend us?")
    await publish(browser, path)
    async with db.transaction(office.pool) as database:
        await database.execute(
            "insert into responder (organization_id, responder_id) values ($1, repeat('r', 22))",
            office.organization_id,
        )
        await database.execute(
            """insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id,
                 responder_id, short_code, locale, valid_days, editable, question_ids, submitted_time, link_id)
               select organization_id, repeat(n, 22), questionnaire_id, version_id, repeat('r', 22), repeat(n, 12),
                 'en', 30, false, '{}', now(), case n when 'i' then link_id end
               from public_link join questionnaire_version using (organization_id, questionnaire_id),
                 unnest('{i,j}'::text[]) n"""
        )
        await database.execute(
            """insert into response (organization_id, instance_id, questionnaire_id, application_id, version_id,
                 responder_id, test, locale, submitted_time, words)
               select organization_id, instance_id, questionnaire_id, $1, version_id, responder_id, false, locale,
                 submitted_time, '' from questionnaire_instance""",
            office.application_id,
        )
    page_text = html.unescape((await browser.get(one)).text)
    responses = re.search(r'href="(/console/responses[^"]*)">1 response', page_text)
    assert responses is not None
    listed = text_of(await browser.get(responses[1]))
    assert "1 found; 1 shown" in listed
    assert "By one public link" in listed
    await browser.post(f"{one}/switch", data={"active": "1"})
    for most, said in ((2, "Open"), (1, "Maximum reached")):
        async with db.transaction(office.pool) as database:
            await database.execute("update public_link set responses_max = $1, opens_time = null", most)
        for page in (links, one):
            assert re.search(rf">{said}<", (await browser.get(page)).text), (most, page)
    assert "Switch off the link" in text_of(await browser.get(f"{one}/removal"))
    assert "Switch off the link" in text_of(await browser.post(f"{one}/removal"))
    async with db.transaction(office.pool) as database:
        await database.execute("update questionnaire_instance set link_id = null")
    assert 303 == (await browser.post(f"{one}/removal")).status_code
    assert 404 == (await browser.get(one)).status_code


async def test_sheets(office: Office, browser: Browser, path: str) -> None:
    one = (await browser.post(f"{path}/links/new", data=FORM)).headers["location"].partition("?")[0]
    sheet = html.unescape((await browser.get(f"{one}/print?each=24&text=How+was+it%3F")).text)
    shop = 'class="shop" dir="auto">Kalamata Books<'
    counts = [sheet.count(text) for text in ("<figcaption", "How was it?<", shop, '<img class="logo"')]
    assert [24, 24, 24, 0] == counts
    async with db.transaction(office.pool) as database:
        logo = f"/asset/{'A' * 22}/{'b' * 10}-480x56.png"
        await database.execute("update organization set brand = jsonb_build_object('logo', $1::text)", logo)
    sheet = html.unescape((await browser.get(f"{one}/print")).text)
    assert 8 == sheet.count(f'<img class="logo" src="{logo}"')
    assert 8 == len(re.findall(r'<p class="long" dir="ltr">[^/]+/l/\w{12}<', sheet))
