"""The editor of a questionnaire: all is saved, problems are links, nobody overwrites another."""

import html
import re
from typing import Any

import httpx2

from afterword.asking.questionnaires import drafts
from afterword.asking.questionnaires import service as questionnaires
from afterword.kit import db
from tests.browser.conftest import EVERY_TYPE
from tests.contract.world import PIXEL
from tests.tenants.logins.conftest import Browser, Office

LIST = "/console/questionnaires"


async def test_every_type(office: Office, browser: Browser) -> None:
    """The screens of a questionnaire that asks everything: its page, the editor of each question, what they lead to."""
    async with db.transaction(office.pool) as database:
        imported = await questionnaires.import_file(
            database,
            organization_id=office.organization_id,
            application_id=office.application_id,
            text=EVERY_TYPE,
            slug="every",
            now=database.clock.now(),
        )
    path = f"{LIST}/{imported.questionnaire.questionnaire_id}"
    page = (await browser.get(f"{path}/edit")).text
    questions = set(re.findall(rf'href="({path}/edit/\w{{22}})', html.unescape(page)))
    assert 25 == len(questions)
    for address in (path, *sorted(questions)):
        shown = await browser.get(address)
        assert 200 == shown.status_code, address
        if address != path:
            assert 303 == (await browser.post(address, data={"seen": seen_of(shown.text)})).status_code
    for below in ("publish", "versions", "flow", "translations/ar"):
        assert 200 == (await browser.get(f"{path}/{below}")).status_code, below


async def added(client: httpx2.AsyncClient, path: str, kind: str, **form: str) -> str:
    """The address of a new question."""
    made = await client.post(f"{path}/edit/add", data={"type": kind, **form})
    assert 303 == made.status_code
    return made.headers["location"].split("#")[0]


async def saved(client: httpx2.AsyncClient, question: str, **form: Any) -> str:
    """The page after the question was saved with these fields."""
    seen = seen_of((await client.get(question)).text)
    answer = await client.post(question, data={"seen": seen, "enabled": "1", "display_probability": "100", **form})
    assert 303 == answer.status_code, answer.text
    return html.unescape((await client.get(answer.headers["location"])).text)


async def draft_of(office: Office, path: str) -> dict[str, Any]:
    async with db.connection(office.pool) as database:
        found = await drafts.get_draft_record(
            database, organization_id=office.organization_id, questionnaire_id=path.rsplit("/", 1)[1]
        )
    assert found is not None
    return found.definition


def seen_of(page: str) -> str:
    match = re.search(r'name="seen" id="seen" value="([^"]*)"', page)
    assert match is not None
    return match[1]


def text_of(page: httpx2.Response) -> str:
    """Without what keeps names of the other direction in their place."""
    return html.unescape(page.text).replace("\u2068", "").replace("\u2069", "")


async def test_questions(office: Office, browser: Browser, path: str) -> None:
    empty = (await browser.get(f"{path}/edit")).text
    assert "There is no question yet." in empty
    score = await added(browser, path, "nps")
    page = html.unescape((await browser.get(score)).text)
    assert "1 thing before you can publish" in page
    assert f'href="{score}#title"' in page
    assert 'aria-invalid="true"' in page
    page = await saved(browser, score, type="nps", title="Would you recommend us?", required="1")
    assert "before you can publish" not in page
    why = await added(browser, path, "multiple_choice", after=score.rsplit("/", 1)[1])
    page = await saved(browser, why, type="multiple_choice", title="What was good?", choices="Speed", choices_min="x")
    assert "2 things before you can publish" in page
    assert 'value="x"' in page
    lines = "Speed\nPrice\n\n Something else "
    page = await saved(browser, why, type="multiple_choice", title="What was good?", choices=lines, other="3")
    [group] = (await draft_of(office, path))["groups"]
    assert ["nps", "multiple_choice"] == [one["type"] for one in group["questions"]]
    assert [(1, "Speed"), (2, "Price"), (3, "Something else")] == [
        (one["value"], one["label"]) for one in group["questions"][1]["choices"]
    ]
    late = seen_of(page)
    page = await saved(browser, why, type="multiple_choice", title="What was good?", choices="Price\nPeople\nSpeed")
    choices = (await draft_of(office, path))["groups"][0]["questions"][1]["choices"]
    assert [2, 4, 1] == [one["value"] for one in choices]
    form = {"type": "multiple_choice", "title": "Mine", "choices": "Price\nSpeed", "seen": late}
    refused = await browser.post(why, data=form)
    assert 412 == refused.status_code
    assert "<dt>Question</dt><dd>What was good?</dd>" in refused.text
    assert "Mine" in refused.text
    assert 303 == (await browser.post(why, data={**form, "seen": seen_of(refused.text)})).status_code
    assert 303 == (await browser.post(f"{why}/removal")).status_code
    gone = await browser.post(why, data=form)
    assert 404 == (await browser.get(why)).status_code
    assert 412 == gone.status_code
    assert 303 == (await browser.post(why, data={**form, "seen": seen_of(gone.text)})).status_code
    assert "Mine" == (await draft_of(office, path))["groups"][0]["questions"][1]["title"]


async def test_places(office: Office, browser: Browser, path: str) -> None:
    first = await added(browser, path, "text")
    second = await added(browser, path, "consent", what="page")
    for one, title in ((first, "One"), (second, "Two")):
        await saved(browser, one, type="text" if one == first else "consent", title=title)
    assert "behind “One”" in text_of(await browser.get(second))

    async def titles() -> list[list[str]]:
        return [[one["title"] for one in group["questions"]] for group in (await draft_of(office, path))["groups"]]

    assert [["One"], ["Two"]] == await titles()
    assert (
        "Moved."
        in (await browser.get((await browser.post(f"{second}/move", data={"to": "up"})).headers["location"])).text
    )
    assert [["One", "Two"], []] == await titles()
    await browser.post(f"{second}/move", data={"to": "up"})
    await browser.post(f"{second}/move", data={"to": "up"})
    assert [["Two", "One"], []] == await titles()
    await browser.post(f"{second}/move", data={"to": first.rsplit("/", 1)[1]})
    await browser.post(f"{second}/copy")
    assert [["One", "Two", "Two"], []] == await titles()
    asked = text_of(await browser.get(f"{first}/removal"))
    assert "It is used in no jump, condition, text, alert, sequence or saved report." in asked


async def test_anything_that_the_api_stores(office: Office, browser: Browser, path: str) -> None:
    """A draft may be wrong in every way; each screen shows what it can."""
    identity = "q" * 22
    question = {"question_id": identity, "type": "matrix", "title": 7, "choices": [7, {"value": "x", "label": []}]}
    jumps = [{"target_question_id": 3, "conditions": {"all": 7}}, 7, {"conditions": {"subject": [], "operator": {}}}]
    more = {"rows": {}, "translations": {"el": 7, "de": {"choices": 3}}, "required": "yes", "jumps": jumps}
    wrong = [
        {**question, **more},
        {"question_id": "p" * 22, "type": "contact", "contact_fields": [1, None]},
        {"question_id": "r" * 22, "type": ["nps"], "translations": []},
        7,
    ]
    document = {
        "default_locale": "en",
        "locales": ["en", "el"],
        "pages": {"en": 7},
        "groups": [7, {"group_id": "g" * 22, "title": [], "questions": wrong}, {"questions": 7}],
    }
    async with db.transaction(office.pool) as database:
        await database.execute("update questionnaire_draft set definition = $1", document)
    pages = ["", "/edit", f"/edit/page/{'g' * 22}", "/edit/texts", "/publish", "/translations", "/translations/el"]
    pages += [f"/edit/{one * 22}{below}" for one in "qpr" for below in ("", "/removal", "/jump/new")]
    pages += [f"/edit/{identity}/jump/{number}" for number in (0, 1)]
    for page in pages:
        assert 200 == (await browser.get(path + page)).status_code, page
    form = {"type": "matrix", "title": "x", "rows": "A", "choices": "B\nC"}
    page = (await browser.get(f"{path}/edit/{identity}")).text
    assert 303 == (await browser.post(f"{path}/edit/{identity}", data={**form, "seen": seen_of(page)})).status_code
    for below in ("move", "copy"):
        assert 303 == (await browser.post(f"{path}/edit/{identity}/{below}", data={"to": "down"})).status_code


async def test_pictures(browser: Browser, path: str) -> None:
    """A choice is given a picture of the organization, which its page shows above the label."""
    done = await browser.post("/console/settings/pictures", data={"title": "A red one"}, files={"file": ("a", PIXEL)})
    assert 303 == done.status_code, done.text
    listed = text_of(await browser.get("/console/settings/pictures"))
    [src] = re.findall(r'<img src="(/asset/[^"]+)"', listed)
    [picture] = re.findall(r'href="(/console/settings/pictures/\w{22})"', listed)
    question = await added(browser, path, "single_choice")
    page = await saved(browser, question, type="single_choice", title="Which?", choices="Red\nBlue")
    assert "Picture of “Red”" in page.replace("\u2068", "").replace("\u2069", "")
    form = {"type": "single_choice", "title": "Which?", "choices": "Red\nBlue", "picture-1": src, "picture-2": ""}
    page = await saved(browser, question, **form)
    assert f'<option value="{src}" selected>A red one</option>' in page
    shown = re.search(r'src="([^"]*/preview/[^"]+)"', page)
    assert shown is not None
    seen = text_of(await browser.get(shown[1]))
    assert f'<span><img src="{src}" width="1" height="1" alt="" loading="lazy">Red</span>' in seen
    assert "pictures" in re.findall(r'<div class="choices([^"]*)"', seen)[0]
    assert "Remove the picture" not in text_of(await browser.get(picture))


async def test_texts_that_show_the_answer(office: Office, browser: Browser, path: str) -> None:
    branch = await added(browser, path, "text")
    await saved(browser, branch, type="text", title="Where?")
    why = await added(browser, path, "text", what="page")
    await saved(browser, why, type="text", title="Why {{ Where? }}?")
    group_id = (await draft_of(office, path))["groups"][1]["group_id"]
    page = {"title": "{{ Where? | Here }}", "description": "", "enabled": "1"}
    assert 303 == (await browser.post(f"{path}/edit/page/{group_id}", data=page)).status_code
    assert 303 == (await browser.post(f"{path}/edit/texts", data={"thank_you": "See you in {{ Where? }}"})).status_code
    ending = (await browser.post(f"{path}/edit/endings", data={})).headers["location"]
    form = {"seen": "", "group": "all", "title": "Bye", "button_label": "Go"}
    form |= {"button_url": "https://example.com/?branch={{ Where? }}"}
    seen = seen_of((await browser.get(ending)).text)
    assert 303 == (await browser.post(ending, data={**form, "seen": seen})).status_code
    asked = text_of(await browser.get(f"{branch}/removal"))
    for sentence in (
        "The text of “Why …?” shows its answer.",
        "The text of “Page 2” shows its answer.",
        "The ending “Bye” shows its answer.",
        "A text around the questions shows its answer.",
    ):
        assert sentence in asked
    both = text_of(await browser.get(f"{path}/edit/page/{group_id}/removal"))
    assert "shows its answer" not in both
    assert 303 == (await browser.post(f"{branch}/move", data={"to": group_id})).status_code
    later = text_of(await browser.get(f"{path}/edit"))
    assert ", which comes later." in later
    assert 303 == (await browser.post(f"{branch}/removal")).status_code
    shown = text_of(await browser.get(f"{path}/edit"))
    assert 4 == shown.count("It shows the answer of a question that is gone.")
    assert branch.rsplit("/", 1)[1] not in shown
