"""Pages, texts around the questions, and questions of others in the editor."""

from tests.asking.screens.test_builder import LIST, added, draft_of, saved, seen_of, text_of
from tests.tenants.logins.conftest import Browser, Office


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
    asked = text_of(await browser.get(f"{page}/removal"))
    assert "Its 1 question goes with it." in asked
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
    other = made.headers["location"].split("?")[0]
    source, question_id = path.rsplit("/", 1)[1], question.rsplit("/", 1)[1]
    assert "How was it?" in (await browser.get(f"{other}/edit/others?from={source}")).text
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
