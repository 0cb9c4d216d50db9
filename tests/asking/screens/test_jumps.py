"""Jumps and conditions in the editor: sentences, rows or JSON, problems as links, and how many responses match."""

import json

import httpx2
import pytest

from afterword.asking.screens import question_form
from afterword.core.answers.values import field_name
from afterword.kit import db
from afterword.listening.responses import rows
from tests.asking.instances.test_pages import send
from tests.asking.screens.test_builder import added, draft_of, saved, seen_of, text_of
from tests.asking.screens.test_publication import publish
from tests.cases.previews.test_service import follow
from tests.contract.alerting import read_all
from tests.tenants.logins.conftest import Browser, Office, browser_of, log_in


async def test_jumps(office: Office, browser: Browser, path: str) -> None:
    score = await added(browser, path, "nps")
    why = await added(browser, path, "text", what="page")
    thanks = await added(browser, path, "statement", what="page")
    for question, kind, title in ((score, "nps", "Score?"), (why, "text", "Why?"), (thanks, "statement", "Thanks")):
        await saved(browser, question, type=kind, title=title)
    score_id, why_id, thanks_id = (one.rsplit("/", 1)[1] for one in (score, why, thanks))
    page = (await browser.get(f"{score}/jump/new")).text
    assert f'<option value="{thanks_id}"' in page
    assert f'value="question:{why_id}"' not in page
    assert 404 == (await browser.get(f"{score}/jump/0")).status_code
    form = {"target": thanks_id, "group": "all", "subject-0": f"question:{score_id}", "operator-0": "greater_equal"}
    for document in ("{", "[" * 30 + "]" * 30):
        assert 422 == (await browser.post(f"{score}/jump/new", data={**form, "document": document})).status_code
    for value, said in (
        ("high", "A number from 0 to 10 is expected."),
        ("11", "A number from 0 to 10 is expected."),
        ("", "A value to compare with"),
    ):
        refused = await browser.post(f"{score}/jump/new", data={**form, "value-0": value})
        assert (422, True) == (refused.status_code, said in text_of(refused)), value
    assert 'href="#value-0"' in refused.text
    leaf = {"subject": f"question:{score_id}", "operator": "greater_equal", "value": "high"}
    document = json.dumps({"all": [leaf]})  # of a file, or by the API: a draft may be wrong
    made = await browser.post(f"{score}/jump/new", data={**form, "document": document})
    assert 303 == made.status_code
    wrong = text_of(await browser.get(f"{score}/jump/0"))
    assert 'href="#value-0"' in wrong
    assert f'href="{score}/jump/0"' in text_of(await browser.get(f"{path}/edit"))
    form = {**form, "value-0": "9", "seen": seen_of(wrong)}
    assert 303 == (await browser.post(f"{score}/jump/0", data=form)).status_code
    page = text_of(await browser.get(score))
    assert "If the answer is 9 to 10 (promoters), go to “Thanks”." in page
    assert "Otherwise go to the next question." in page
    stored = (await draft_of(office, path))["groups"][0]["questions"][0]["jumps"]
    leaf = {"subject": f"question:{score_id}", "operator": "greater_equal", "value": 9}
    assert [{"target_question_id": thanks_id, "conditions": {"all": [leaf]}}] == stored
    late = await browser.post(f"{score}/jump/0", data={**form, "value-0": "10"})
    assert (412, True) == (late.status_code, 'name="value-0" value="10"' in late.text)
    assert "If the answer is 9 to 10 (promoters)" in text_of(late)
    assert "The jump of “Score?” leads to it." in text_of(await browser.get(thanks))
    gone = await browser.post(f"{score}/jump/0", data={**form, "seen": seen_of(late.text), "then": "remove"})
    assert 303 == gone.status_code
    assert [] == (await draft_of(office, path))["groups"][0]["questions"][0]["jumps"]


async def test_condition(office: Office, browser: Browser, path: str) -> None:
    branch = await added(browser, path, "single_choice")
    town = await added(browser, path, "text")
    await saved(browser, branch, type="single_choice", title="Where?", choices="Athens\nElsewhere")
    await saved(browser, town, type="text", title="Which town?")
    branch_id, town_id = (one.rsplit("/", 1)[1] for one in (branch, town))
    assert "Everyone is asked." in text_of(await browser.get(town))
    page = (await browser.get(f"{town}/condition")).text
    assert f'value="question:{branch_id}"' in page
    assert f'value="question:{town_id}"' not in page
    form = {"seen": "", "group": "all", "subject-0": f"question:{branch_id}", "operator-0": "equal"}
    assert 422 == (await browser.post(f"{town}/condition", data={**form, "document": "{"})).status_code
    made = await browser.post(f"{town}/condition", data={**form, "value-0": "Elsewhere"})
    assert (303, True) == (made.status_code, made.headers["location"].endswith("?done=saved#show_if"))
    assert "Asked if “Where?” is Elsewhere." in text_of(await browser.get(town))
    assert "„Where?“ ist Elsewhere" in text_of(await browser.get(town, headers={"Accept-Language": "de"}))
    assert "Asked if “Where?” is Elsewhere." in text_of(await browser.get(f"{path}/flow"))
    leaf = {"subject": f"question:{branch_id}", "operator": "equal", "value": 2}
    asked = (await draft_of(office, path))["groups"][0]["questions"]
    assert [None, {"all": [leaf]}] == [one.get("show_if") for one in asked]
    assert "A condition of “Which town?” asks for its answer." in text_of(await browser.get(branch))
    await saved(browser, branch, type="single_choice", title="Where?", choices="Athens\nElsewhere", points="10, x")
    assert f'href="{branch}?wrong=1#choices"' in text_of(await browser.get(f"{path}/edit"))
    await saved(browser, branch, type="single_choice", title="Where?", choices="Athens\nElsewhere", points="10,")
    stored = (await draft_of(office, path))["groups"][0]["questions"][0]["choices"]
    assert [10, None] == [one.get("points") for one in stored]
    late = await browser.post(f"{town}/condition", data={**form, "value-0": "Athens"})
    assert (412, True) == (late.status_code, "Asked if “Where?” is Elsewhere." in text_of(late))

    await saved(browser, branch, type="single_choice", title="Where?", choices="Athens\nVolos")
    page = text_of(await browser.get(f"{path}/edit"))
    assert f'href="{town}/condition"' in page
    page = text_of(await browser.get(f"{town}/condition"))
    assert 'href="#value-0"' in page
    gone = await browser.post(f"{town}/condition", data={**form, "seen": seen_of(page), "then": "remove"})
    assert 303 == gone.status_code
    assert "Everyone is asked." in text_of(await browser.get(town))


async def test_flow(browser: Browser, path: str) -> None:
    assert "There is no question yet." in (await browser.get(f"{path}/flow")).text
    titles = {"First": "consent", "Second": "text", "Third": "text"}
    pages = {title: await added(browser, path, kind, what="page") for title, kind in titles.items()}
    for title, page in pages.items():
        await saved(browser, page, type=titles[title], title=title)
    form = {"target": pages["Third"].rsplit("/", 1)[1], "group": "all"}
    assert 303 == (await browser.post(f"{pages['First']}/jump/new", data=form)).status_code
    shown = text_of(await browser.get(f"{path}/flow"))
    assert "Always go to “Third”." in shown
    assert 1 == shown.count("No path leads here.")
    assert 1 == shown.count("<circle")
    assert "No answers lead to this question" in text_of(await browser.get(pages["Second"]))


ISOLATES = dict.fromkeys((0x2068, 0x2069))
UNPUBLISHED = "It refers to something that is not published yet, so it cannot be counted."


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
        form = {"seen": seen_of((await browser.get(f"{branch}/jump/{number}")).text), "then": "remove"}
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
    await publish(client, path)
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
