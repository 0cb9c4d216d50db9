"""The editor of a questionnaire, its pages and texts: problems are links, nobody overwrites another."""

import html
import re
from typing import Any

import httpx2

from afterword.asking.questionnaires import drafts, service as questionnaires
from afterword.core.questionnaires.question_types import TYPES
from afterword.kit import db
from afterword.kit.texts import texts
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


def seen_of(page: str, name: str = "seen") -> str:
    """The value of a hidden field."""
    match = re.search(rf'name="{name}"(?: id="{name}")? value="([^"]*)"', page)
    assert match is not None
    return match[1]


def text_of(page: httpx2.Response) -> str:
    """Without what keeps names of the other direction in their place."""
    return html.unescape(page.text).replace("\u2068", "").replace("\u2069", "")


async def test_questions(office: Office, browser: Browser, path: str) -> None:
    empty = (await browser.get(f"{path}/edit")).text
    assert "There is no question yet." in empty
    score = await added(browser, path, "nps")
    page = await saved(browser, score, type="nps", title="Would you recommend us?", required="1")
    assert "before you can publish" not in page
    why = await added(browser, path, "multiple_choice", after=score.rsplit("/", 1)[1])
    page = await saved(browser, why, type="multiple_choice", title="What was good?", choices="Speed", choices_min="x")
    assert "1 problem to fix before you can publish" in page
    assert 2 == page.count('class="error"')  # one choice, and no number
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


async def test_gallery(browser: Browser, path: str) -> None:
    """Each type is one button, which adds it where the gallery was opened."""
    assert 422 == (await browser.post(f"{path}/edit/add", data={"type": "quokka"})).status_code
    assert 422 == (await browser.post(f"{path}/edit/add")).status_code
    first = text_of(await browser.get(f"{path}/edit"))
    assert [*TYPES] == re.findall(r'<button name="type" value="(\w+)"', first)
    score = await added(browser, path, "nps")
    after = f"{path}/edit/add?after={score.rsplit('/', 1)[1]}"
    assert f'href="{after}"' in text_of(await browser.get(score))
    page = text_of(await browser.get(after))
    assert "after “How likely are you to recommend us to a friend or colleague?”" in page
    assert f'name="after" value="{after.rpartition("=")[2]}"' in page
    assert 'name="what" value="page"' in (await browser.get(f"{path}/edit/add?what=page")).text
    gone = (await browser.get(f"{path}/edit/add?after={'0' * 22}")).text
    assert ("at the end" in gone, 'name="after"' in gone) == (True, False)


async def test_standard_question(office: Office, browser: Browser, path: str) -> None:
    """A new question has the usual words of its type in the language of the questionnaire, and can be published."""
    for kind in ("nps", "matrix"):
        await added(browser, path, kind)
    score, matrix = (await draft_of(office, path))["groups"][0]["questions"]
    assert "How likely are you to recommend us to a friend or colleague?" == score["title"]
    assert score["required"]
    assert ["Quality", "Service", "Price"] == [one["label"] for one in matrix["rows"]]
    assert 5 == len(matrix["choices"])
    assert "Publish" in (await browser.get(f"{path}/publish")).text
    page = text_of(await browser.get(f"{path}/edit/{score['question_id']}"))
    assert "Empty: “Not at all likely”." in page
    form = {"display_name": "Greek", "application_id": office.application_id, "default_locale": "el"}
    greek = (await browser.post(f"{LIST}/new", data=form)).headers["location"].removesuffix("/edit?done=made")
    page = text_of(await browser.get(await added(browser, greek, "nps")))
    assert texts("pages", "el")("How likely are you to recommend us to a friend or colleague?") in page
    assert "Empty: “Καθόλου πιθανό”." in page


async def test_unfinished_question(browser: Browser, path: str) -> None:
    """It is calm until somebody has left it; publishing leads to its fields."""
    question = await added(browser, path, "date")
    page = text_of(await browser.get(question))
    assert "Not finished" in page
    assert 'class="error"' not in page
    assert "before you can publish" not in page
    assert f'href="{question}?wrong=1#title"' in text_of(await browser.get(f"{path}/publish"))
    for judged in ("wrong=1", "uncounted=1", "done=saved"):
        page = text_of(await browser.get(f"{question}?{judged}"))
        assert ("The text of the question is missing." in page, 'aria-invalid="true"' in page) == (True, True)
    assert "The text of the question is missing." in await saved(browser, question, type="date", title="")
    page = await saved(browser, question, type="date", title="When was it?")
    assert ("Not finished" in page, 'class="error"' in page) == (False, False)
    assert "When was it?</h2>" in page


async def test_places(office: Office, browser: Browser, path: str) -> None:
    first = await added(browser, path, "text")
    second = await added(browser, path, "consent", what="page")
    for one, title in ((first, "One"), (second, "Two")):
        await saved(browser, one, type="text" if one == first else "consent", title=title)
    assert "after “One”" in text_of(await browser.get(second))

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
    pages += [f"/edit/{one * 22}{below}" for one in "qpr" for below in ("", "/jump/new")]
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
    asked = text_of(await browser.get(branch))
    for sentence in (
        "The text of “Why …?” shows its answer.",
        "The text of “Page 2” shows its answer.",
        "The ending “Bye” shows its answer.",
        "A text around the questions shows its answer.",
    ):
        assert sentence in asked
    assert "shows its answer" not in text_of(await browser.get(f"{branch}?uncounted=1"))
    both = text_of(await browser.get(f"{path}/edit/page/{group_id}"))
    assert "shows its answer" not in both
    assert 303 == (await browser.post(f"{branch}/move", data={"to": group_id})).status_code
    later = text_of(await browser.get(f"{path}/edit"))
    assert ", which comes later." in later
    assert 303 == (await browser.post(f"{branch}/removal")).status_code
    shown = text_of(await browser.get(f"{path}/edit"))
    assert 4 == shown.count("It shows the answer to a deleted question.")
    assert branch.rsplit("/", 1)[1] not in shown


async def test_pages(office: Office, browser: Browser, path: str) -> None:
    first = await added(browser, path, "text")
    await saved(browser, first, type="text", title="One")
    await added(browser, path, "statement", what="page")
    one, two = [group["group_id"] for group in (await draft_of(office, path))["groups"]]
    page = f"{path}/edit/page/{two}"
    assert 404 == (await browser.get(f"{path}/edit/page/{'0' * 22}")).status_code
    assert 303 == (await browser.post(page, data={"title": "The end", "description": ""})).status_code
    assert 303 == (await browser.post(f"{page}/move", data={"to": "up"})).status_code
    groups = (await draft_of(office, path))["groups"]
    assert [(two, "The end", False), (one, None, True)] == [
        (each["group_id"], each.get("title"), each.get("enabled", True)) for each in groups
    ]
    assert "Its 1 question is removed too." in text_of(await browser.get(page))
    assert 303 == (await browser.post(f"{page}/removal")).status_code
    assert [one] == [each["group_id"] for each in (await draft_of(office, path))["groups"]]


async def test_texts_and_others(office: Office, browser: Browser, path: str) -> None:
    question = await added(browser, path, "text")
    await saved(browser, question, type="text", title="How was it?")
    assert 303 == (await browser.post(f"{path}/edit/texts", data={"welcome": "Hello", "closed": ""})).status_code
    assert {"welcome": "Hello"} == (await draft_of(office, path))["pages"]["en"]
    assert "Hello" in (await browser.get(f"{path}/edit/texts")).text
    assert 303 == (await browser.post(f"{path}/edit/anonymity", data={"anonymous": "1"})).status_code
    assert (await draft_of(office, path))["anonymous"]
    assert "once 5 people have answered" in text_of(await browser.get(f"{path}/edit/anonymity"))
    made = await browser.post(f"{LIST}/new", data={"display_name": "B", "application_id": office.application_id})
    other = made.headers["location"].removesuffix("/edit?done=made")
    source, question_id = path.rsplit("/", 1)[1], question.rsplit("/", 1)[1]
    assert '<option value="">choose…</option>' in (await browser.get(f"{other}/edit/others")).text  # even the only one
    chosen = (await browser.get(f"{other}/edit/others?from={source}")).text
    assert "How was it?" in chosen
    assert "choose…" not in chosen
    assert 404 == (await browser.post(f"{other}/edit/others", data={"from": "0" * 22})).status_code
    form = {"from": source, "question": question_id}
    assert 303 == (await browser.post(f"{other}/edit/others", data=form)).status_code
    [group] = (await draft_of(office, other))["groups"]
    assert ["How was it?"] == [each["title"] for each in group["questions"]]
    assert question_id != group["questions"][0]["question_id"]


async def test_page_changed_meanwhile(office: Office, browser: Browser, path: str) -> None:
    await added(browser, path, "text")
    [group] = (await draft_of(office, path))["groups"]
    page = f"{path}/edit/page/{group['group_id']}"
    seen = seen_of((await browser.get(page)).text)
    form = {"title": "Theirs", "description": "", "enabled": "1"}
    assert 303 == (await browser.post(page, data={**form, "seen": seen})).status_code
    late = await browser.post(page, data={"title": "Mine", "seen": seen})
    assert 412 == late.status_code
    said = text_of(late)
    assert "<dt>Title</dt><dd>Theirs</dd>" in said
    assert "<dt>Shown to customers</dt><dd>yes</dd>" in said
    assert 'value="Mine"' in said
    assert "Theirs" == (await draft_of(office, path))["groups"][0]["title"]
    assert 303 == (await browser.post(page, data={"title": "Mine", "seen": seen_of(late.text)})).status_code
    assert "Mine" == (await draft_of(office, path))["groups"][0]["title"]


async def test_texts_changed_meanwhile(office: Office, browser: Browser, path: str) -> None:
    page = f"{path}/edit/texts"
    seen = seen_of((await browser.get(page)).text)
    assert 303 == (await browser.post(page, data={"welcome": "Theirs", "seen": seen})).status_code
    late = await browser.post(page, data={"welcome": "Mine", "thank_you": "Bye", "seen": seen})
    assert (412, True) == (late.status_code, "<dd>Theirs</dd>" in text_of(late))
    assert "\nMine</textarea>" in late.text
    assert {"welcome": "Theirs"} == (await draft_of(office, path))["pages"]["en"]
    assert 303 == (await browser.post(page, data={"welcome": "Mine", "seen": seen_of(late.text)})).status_code
    assert {"welcome": "Mine"} == (await draft_of(office, path))["pages"]["en"]


async def test_anonymity_changed_meanwhile(office: Office, browser: Browser, path: str) -> None:
    page = f"{path}/edit/anonymity"
    seen = seen_of((await browser.get(page)).text)
    assert 303 == (await browser.post(page, data={"anonymous": "1", "seen": seen})).status_code
    assert 412 == (await browser.post(page, data={"seen": seen})).status_code
    assert (await draft_of(office, path))["anonymous"]


async def test_inserts(office: Office, browser: Browser, path: str) -> None:
    branch = await added(browser, path, "text")
    why = await added(browser, path, "text", what="page")
    await saved(browser, branch, type="text", title="Which branch?")
    page = await saved(browser, why, type="text", title="Why {{ which branch? | there }}?")
    assert "Why {{ Which branch? | there }}?</textarea>" in page
    assert "<code>{{ Which branch? }}</code>" in page
    assert "<code>{{ questionnaire.store_id }}</code>" in page
    assert "<code>{{ Why" not in page
    branch_id, stored = branch.rsplit("/", 1)[1], await draft_of(office, path)
    assert f"Why {{{{ answer.{branch_id} | there }}}}?" == stored["groups"][1]["questions"][0]["title"]
    assert "Why there?" in page  # in the outline

    page = await saved(browser, why, type="text", title="Why {{ Which town? }} {{ responder.nick }}?")
    assert "There is no variable “\u2068Which town?\u2069”." in page
    assert f'href="{why}?wrong=1#title"' in page

    group_id = stored["groups"][1]["group_id"]
    texts = {"title": "In {{ Which branch? }}", "description": "", "enabled": "1"}
    assert 303 == (await browser.post(f"{path}/edit/page/{group_id}", data=texts)).status_code
    texts = {"thank_you": "Thanks from {{ Which branch? | us }}", "welcome": "To {{ questionnaire.store_id }}"}
    assert 303 == (await browser.post(f"{path}/edit/texts", data=texts)).status_code
    assert "In {{ Which branch? }}" in text_of(await browser.get(f"{path}/edit/page/{group_id}"))
    assert "Thanks from {{ Which branch? | us }}" in text_of(await browser.get(f"{path}/edit/texts"))
    stored = await draft_of(office, path)
    assert f"In {{{{ answer.{branch_id} }}}}" == stored["groups"][1]["title"]
    assert f"Thanks from {{{{ answer.{branch_id} | us }}}}" == stored["pages"]["en"]["thank_you"]

    condition = {"seen": "", "group": "all", "document":
                 '{"subject": "questionnaire_metadata:basket", "operator": "equal", "value": "full"}'}  # fmt: skip
    assert 303 == (await browser.post(f"{branch}/condition", data=condition)).status_code
    page = text_of(await browser.get(f"{path}/edit/values"))
    assert "Not declared: compared as text, and ignored by public links." in page
    assert "Texts around the questions</a>" in page
    assert f'<a href="{branch}">Which branch?</a>' in page


async def test_declared_ones(browser: Browser, path: str) -> None:
    page = text_of(await browser.get(f"{path}/edit/values"))
    assert page.count("Not used here") == page.count('<li class="item"')
    assert "<code>store_id</code>" in page
    assert "/console/settings/metadata/new" in page
