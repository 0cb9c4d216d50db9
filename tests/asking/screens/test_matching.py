"""The numbers of responses that would take a jump or see a question of the draft, without a click."""

import re

import httpx2
import pytest

from afterword.asking.screens import question_form
from afterword.core.answers.values import field_name
from afterword.kit import db
from afterword.listening.responses import rows
from tests.asking.instances.test_pages import send
from tests.asking.screens.test_builder import added, saved, text_of
from tests.asking.screens.test_publication import revision_of
from tests.cases.previews.test_service import follow
from tests.contract.alerting import read_all
from tests.tenants.logins.conftest import Browser, Office, browser_of, log_in

ISOLATES = dict.fromkeys((0x2068, 0x2069))
UNPUBLISHED = "It asks for what is not published yet, so it cannot be counted."


async def test_matching(office: Office, browser: Browser, path: str) -> None:
    """Of two jumps that hold the first is taken, and what they lead past is not asked."""
    branch = await added(browser, path, "single_choice")
    await saved(browser, branch, type="single_choice", title="Where?", choices="Athens\nElsewhere")
    why = await added(browser, path, "text", what="page")
    await saved(browser, why, type="text", title="Why?")
    branch_id = branch.rsplit("/", 1)[1]
    await answer(office, browser, path, branch_id, "1222")
    elsewhere = {"group": "all", "subject-0": f"question:{branch_id}", "operator-0": "equal"}
    elsewhere |= {"value-0": "Elsewhere"}
    assert 303 == (await browser.post(f"{branch}/jump/new", data={"target": "", **elsewhere})).status_code
    assert 303 == (await browser.post(f"{branch}/jump/new", data={"target": "", "group": "all"})).status_code
    shown = said(await browser.get(branch))
    assert "Of the last 4 answers, 3 would go there." in shown
    assert "Of the last 4 answers, 1 would go there." in shown  # of all that this condition matches
    assert "Of the last 4 answers, 3 would go there." in said(await browser.get(f"{branch}/jump/0"))
    assert 303 == (await browser.post(f"{why}/condition", data=elsewhere)).status_code
    assert "Of the last 4 responses, 0 would be asked." in said(await browser.get(why))
    for number in "10":
        seen = re.search(r'name="seen" value="([^"]*)"', (await browser.get(f"{branch}/jump/{number}")).text)
        assert seen is not None
        form = {"seen": seen[1], "then": "remove"}
        assert 303 == (await browser.post(f"{branch}/jump/{number}", data=form)).status_code
    assert "Of the last 4 responses, 3 would be asked." in said(await browser.get(f"{why}/condition"))
    assert "Of the last 4 responses, 3 would be asked." in said(await browser.get(f"{path}/flow"))
    new = await added(browser, path, "yes_no")
    await saved(browser, new, type="yes_no", title="Really?")
    asking = {"target": "", "group": "all", "subject-0": f"question:{new.rsplit('/', 1)[1]}"}
    asking |= {"operator-0": "is_not_empty"}
    assert 303 == (await browser.post(f"{new}/jump/new", data=asking)).status_code
    assert UNPUBLISHED in said(await browser.get(new))


async def test_the_scope_that_reads_responses_is_enough(
    office: Office, monkeypatch: pytest.MonkeyPatch, browser: Browser, path: str
) -> None:
    async with browser_of(office.pool) as other:
        branch = await added(browser, path, "single_choice")
        await saved(browser, branch, type="single_choice", title="Where?", choices="Athens\nElsewhere")
        await answer(office, browser, path, branch.rsplit("/", 1)[1], "1")
        assert 303 == (await browser.post(f"{branch}/jump/new", data={"target": "", "group": "all"})).status_code
        await office.add_user("nik@kalamata.example")
        await log_in(other, email="nik@kalamata.example")
        assert "Of the last 1 answers, 1 would go there." in said(await other.get(f"{path}/flow"))
        monkeypatch.setattr(question_form, "SCOPE", "Alert.Create")  # which agents do not have
        assert "would go there" not in said(await other.get(f"{path}/flow"))


async def answer(office: Office, client: httpx2.AsyncClient, path: str, question_id: str, values: str) -> None:
    """Publish the draft, and answer its question once with each of these values."""
    revision = revision_of((await client.get(f"{path}/publish")).text)
    assert 303 == (await client.post(f"{path}/publish", data={"revision": revision})).status_code
    questionnaire_id = path.rsplit("/", 1)[1]
    async with db.transaction(office.pool) as database:
        await database.execute(
            "update questionnaire set public_link = true where questionnaire_id = $1", questionnaire_id
        )
    for value in values:
        page = await client.get(f"/p/{questionnaire_id}")
        assert 303 == (await send(client, page, go="send", **{field_name(question_id): value}))[0]
    await read_all(office.pool, rows.READER, follow)


def said(page: httpx2.Response) -> str:
    assert 200 == page.status_code
    return text_of(page).translate(ISOLATES)
