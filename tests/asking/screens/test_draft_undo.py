"""Each change of a draft is taken back from the page that says it was made, until the draft is changed again."""

from typing import Any

import httpx2
import pytest

from afterword.kit import db
from tests.asking.screens.test_builder import added, draft_of, saved, seen_of, text_of
from tests.asking.screens.test_publication import publish
from tests.console.test_undo import undo_of
from tests.tenants.logins.conftest import Browser, Office


@pytest.fixture
async def score(browser: Browser, path: str) -> str:
    """The address of the first of two questions, which leads to the second one under a condition."""
    score = await added(browser, path, "nps")
    await saved(browser, score, type="nps", title="Score?")
    why = await added(browser, path, "text", what="page")
    await saved(browser, why, type="text", title="Why {{ Score? }}?")
    return score


async def page_after(browser: Browser, action: str, **form: str) -> httpx2.Response:
    done = await browser.post(action, data=form)
    assert 303 == done.status_code, done.text
    return await browser.get(done.headers["location"])


async def test_changed_since(office: Office, browser: Browser, path: str, score: str) -> None:
    undo = undo_of((await page_after(browser, f"{score}/removal")).text)
    await added(browser, path, "date")
    later = await draft_of(office, path)
    refused = await browser.post(undo.action, data=undo.fields)
    assert 409 == refused.status_code
    assert "The draft has been changed since, so this can no longer be undone." in text_of(refused)
    assert later == await draft_of(office, path)


async def test_question(office: Office, browser: Browser, path: str, score: str) -> None:
    for revision in ("", "-1", "0", "x", "9" * 40):
        form = {"revision": revision, "undo": "1"}
        assert 409 == (await browser.post(f"{path}/edit/undo", data=form)).status_code, revision
    before = await draft_of(office, path)
    leaf = '{"all": [{"subject": "metadata:questionnaire:store", "operator": "is_empty"}]}'
    changes: dict[str, dict[str, str]] = {
        "/removal": {}, "/move": {"to": "down"}, "/copy": {},
        "/condition": {"group": "all", "document": leaf, "seen": ""},
    }  # fmt: skip
    for below, form in changes.items():
        undo = undo_of((await page_after(browser, f"{score}{below}", **form)).text)
        assert before != await draft_of(office, path)
        back = await page_after(browser, undo.action, **undo.fields)
        assert (before, score) == (await draft_of(office, path), back.url.path)
        assert "It is as it was before." in back.text
        assert 'name="undo"' not in back.text


async def test_page(office: Office, browser: Browser, path: str, score: str) -> None:
    before = await draft_of(office, path)
    page = f"{path}/edit/page/{before['groups'][0]['group_id']}"
    for action, form in ((f"{page}/removal", {}), (f"{page}/move", {"to": "down"}), (page, {"title": "x"})):
        undo = undo_of((await page_after(browser, action, **form)).text)
        assert page == (await page_after(browser, undo.action, **undo.fields)).url.path
        assert before == await draft_of(office, path)


async def test_ending(office: Office, browser: Browser, path: str, score: str) -> None:
    ending = (await browser.post(f"{path}/edit/endings")).headers["location"]
    before = await draft_of(office, path)
    undo = undo_of((await page_after(browser, f"{ending}/removal")).text)
    back = await page_after(browser, undo.action, **undo.fields)
    assert (before, ending) == (await draft_of(office, path), back.url.path)


async def test_saved_by_the_script(browser: Browser, score: str) -> None:
    """A save by the script offers no undo, nor does one that changed nothing."""
    for form in ({"title": "Score now?", "autosave": "1"}, {"title": "Score now?"}):
        values: dict[str, Any] = {"type": "nps", "enabled": "1", "display_probability": "100", "required": "1", **form}
        seen = seen_of((await browser.get(score)).text)
        page = await page_after(browser, score, seen=seen, **values)
        assert ("Saved." in page.text, 'name="undo"' in page.text) == (True, False)


async def test_first_change_of_a_published_one(office: Office, browser: Browser, path: str, score: str) -> None:
    """The draft that it began is gone."""
    await publish(browser, path)
    async with db.transaction(office.pool) as database:
        await database.execute("delete from questionnaire_draft")
    undo = undo_of((await page_after(browser, f"{score}/move", to="down")).text)
    await page_after(browser, undo.action, **undo.fields)
    async with db.transaction(office.pool) as database:
        assert 0 == await database.fetch_value("select count(*) from questionnaire_draft")
    assert text_of(await browser.get(f"{path}/edit")).count("Score?") > 0
