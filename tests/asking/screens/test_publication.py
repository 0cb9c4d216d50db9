"""Publishing with the difference in words; versions, compared with each other and taken back into the draft."""

import re

import httpx2

from afterword.kit import db
from tests.asking.screens.test_builder import added, saved, seen_of, text_of
from tests.tenants.logins.conftest import Browser, Office


def revision_of(page: str) -> str:
    return seen_of(page, "revision")


async def publish(browser: httpx2.AsyncClient, path: str) -> None:
    form = {"revision": revision_of((await browser.get(f"{path}/publish")).text)}
    assert 303 == (await browser.post(f"{path}/publish", data=form)).status_code


async def test_publish(office: Office, browser: Browser, path: str) -> None:
    await office.add_user("ben@kalamata.example", role="reporting")
    refused = await browser.post(f"{path}/publish", data={"revision": "1"})
    assert (422, True) == (refused.status_code, "There is no question yet." in refused.text)
    assert ">Publish</button>" not in (await browser.get(f"{path}/publish")).text
    question = await added(browser, path, "nps")
    await saved(browser, question, type="nps", title="Would you recommend us?")
    first = (await browser.get(f"{path}/publish")).text
    assert "for the first time" in first
    form = {"revision": revision_of(first), "note": "The first"}
    assert 422 == (await browser.post(f"{path}/publish", data={**form, "note": "x" * 1_001})).status_code
    assert 412 == (await browser.post(f"{path}/publish", data={**form, "revision": "0"})).status_code
    done = await browser.post(f"{path}/publish", data=form)
    assert "Published." in (await browser.get(done.headers["location"])).text
    assert "equals the published version" in (await browser.get(f"{path}/publish")).text
    page = (await browser.get(question)).text
    assert "The type has been published and cannot change" in page
    typed = {"type": "text", "title": "Do you like us?", "enabled": "1", "seen": seen_of(page)}
    assert 303 == (await browser.post(question, data=typed)).status_code  # of another type: kept as it was published
    page = text_of(await browser.get(f"{path}/publish"))
    assert "Of the question “Do you like us?”, the title changed (English)." in page
    assert "another type" not in page
    async with db.transaction(office.pool) as database:
        await database.execute(
            "insert into responder (organization_id, responder_id) values ($1, repeat('r', 22))",
            office.organization_id,
        )
        await database.execute(
            """insert into questionnaire_instance (organization_id, instance_id, questionnaire_id, version_id,
                 responder_id, short_code, locale, valid_days, editable, question_ids)
               select organization_id, repeat('i', 22), questionnaire_id, version_id, repeat('r', 22),
                 repeat('s', 12), 'en', 30, false, '{}' from questionnaire_version""",
        )
    assert 303 == (await browser.post(f"{path}/publish", data={"revision": revision_of(page)})).status_code
    listed = text_of(await browser.get(f"{path}/versions"))
    assert "1 change" in listed
    assert "1 open link uses it" in listed
    assert "The first" in listed
    back = re.search(rf'href="({path}/versions/\w+/draft)"', listed)
    assert back is not None
    asked = text_of(await browser.get(back[1]))
    assert "The draft is replaced by version 1." in asked
    assert 412 == (await browser.post(back[1], data={"revision": "0"})).status_code
    assert 303 == (await browser.post(back[1], data={"revision": revision_of(asked)})).status_code
    assert "Would you recommend us?" in (await browser.get(f"{path}/edit")).text
    assert "1 change that was not published is lost." in text_of(await browser.get(back[1]))


async def test_missing_translations(browser: Browser, path: str) -> None:
    """Publishing says which texts people of another language will see, and in which language."""
    await saved(browser, await added(browser, path, "text"), type="text", title="Why {{ organization }}?")
    assert "Not translated" not in (await browser.get(f"{path}/publish")).text
    assert 303 == (await browser.post(f"{path}/translations", data={"locale": "el"})).status_code
    page = text_of(await browser.get(f"{path}/publish"))
    assert "2 texts are missing in Greek. People see them in English:" in page
    assert '<li lang="en" dir="auto">After delivery</li>' in page  # the name, where there is no title
    assert '<li lang="en" dir="auto">Why …?</li>' in page
    assert f'href="{path}/translations/el?show=missing"' in page
    assert "2 texts are missing in Greek." in text_of(await browser.get(f"{path}/edit"))


async def test_comparison(browser: Browser, path: str) -> None:
    page = f"{path}/versions/comparison"
    question = await added(browser, path, "nps")
    for title in ("First?", "Second?", "Third?"):
        await saved(browser, question, type="nps", title=title)
        await publish(browser, path)
    await saved(browser, await added(browser, path, "text"), type="text", title="Why?")
    assert f'href="{page}"' in text_of(await browser.get(f"{path}/versions"))
    shown = text_of(await browser.get(page))
    assert "The question “Why?” is new." in shown
    assert "the title changed" not in shown
    versions = re.findall(r'<option value="(\w{22})"', shown)[:3]
    for pair in (versions[::2], versions[::-2]):
        shown = text_of(await browser.get(page, params={"from": pair[0], "to": pair[1]}))
        assert "Of the question “Third?”, the title changed (English)." in shown
        assert "Version 1" in shown.partition("<h2>")[2].partition(" to ")[0]
    shown = text_of(await browser.get(page, params={"from": versions[2], "to": "draft"}))
    assert "Of the question “Third?”, the title changed (English)." in shown
    assert "The question “Why?” is new." in shown
    assert "Both are the same." in (await browser.get(page, params={"from": "draft", "to": "draft"})).text
    assert 404 == (await browser.get(page, params={"from": "0" * 22})).status_code
