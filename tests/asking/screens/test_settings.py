"""New questionnaires, copies, settings and layouts: wrong ones are kept as typed, nobody overwrites another."""

import re

from afterword.asking.questionnaires import library, store, visuals
from afterword.asking.questionnaires.store import Questionnaire
from afterword.kit import db
from tests.asking.screens.test_builder import LIST, added, draft_of, saved, seen_of, text_of
from tests.browser.conftest import EVERY_TYPE
from tests.tenants.logins.conftest import Browser, Office, browser_of, found, log_in

FORM = {
    "display_name": "Delivery",
    "title": "Your delivery",
    "valid_days": "14",
    "responses_max": "",
    "non_collapsed_questions_count": "1",
    "active": "1",
    "credits_accountable": "1",
}


async def test_copy(office: Office, browser: Browser, path: str) -> None:
    await saved(browser, await added(browser, path, "text"), type="text", title="How was it?")
    questionnaire_id = path.rsplit("/", 1)[1]
    assert 'value="Copy of After delivery"' in text_of(await browser.get(f"{LIST}/new?copy={questionnaire_id}"))
    form = {"display_name": "", "application_id": office.application_id, "template": questionnaire_id}
    refused = await browser.post(f"{LIST}/new", data=form)
    assert (422, True) == (refused.status_code, "Give it a name." in refused.text)
    assert 422 == (await browser.post(f"{LIST}/new", data={**form, "display_name": "x" * 201})).status_code
    assert 422 == (await browser.post(f"{LIST}/new", data={**form, "display_name": "B", "template": "x"})).status_code
    made = await browser.post(f"{LIST}/new", data={**form, "display_name": "B"})
    copied = await draft_of(office, made.headers["location"].split("?")[0])
    assert "How was it?" == copied["groups"][0]["questions"][0]["title"]


async def test_each_of_the_gallery_is_told_from_the_others(browser: Browser) -> None:
    page = (await browser.get(f"{LIST}/new")).text
    told = re.findall(r'<span>([^<]+) <span class="help">([^<]+)</span></span>', page)
    assert len(told) == len({*told}) == len(library.NAMES)
    assert "about your visit to our restaurant." in page


async def test_file(office: Office, browser: Browser) -> None:
    """A downloaded questionnaire can be imported by another organization: all questions, texts, rules and languages."""
    theirs = await found(office.pool, domain="patras", email="pan@patras.example")
    form = {"display_name": "Everything", "application_id": office.application_id}
    async with browser_of(office.pool) as other:
        await log_in(other, email="pan@patras.example")
        for content, told in ((b"display_name: x\ngroups: 1", "line 2"), (b"\xff", "not a text in UTF-8")):
            refused = await browser.post(f"{LIST}/new", data=form, files={"file": ("a.yaml", content)})
            assert (422, True) == (refused.status_code, told in refused.text)
        both = await browser.post(
            f"{LIST}/new", data={**form, "library_name": "event"}, files={"file": ("a.yaml", EVERY_TYPE.encode())}
        )
        assert (422, True) == (both.status_code, "one of them" in both.text)
        made = await browser.post(f"{LIST}/new", data=form, files={"file": ("a.yaml", EVERY_TYPE.encode())})
        mine = made.headers["location"].split("?")[0]
        file = await browser.get(f"{mine}/file")
        assert "attachment" in file.headers["content-disposition"]
        form |= {"application_id": theirs.application_id}
        copied = await other.post(f"{LIST}/new", data=form, files={"file": ("a.yaml", file.content)})
        assert await draft_of(office, mine) == await draft_of(theirs, copied.headers["location"].split("?")[0])


async def test_files_for_others(office: Office, browser: Browser, path: str) -> None:
    """The page tells what the file of another system cannot hold."""
    await saved(browser, await added(browser, path, "csat"), type="csat", title="How was it?")
    page = text_of(await browser.get(f"{path}/files"))
    assert ("SurveyJS has no question of this kind" in page, "How was it?" in page) == (True, True)
    assert "LimeSurvey has no question of this kind" in page
    for name, ending in (("limesurvey", ".lss"), ("surveyjs", ".json"), ("another", ".yaml")):
        file = await browser.get(f"{path}/file?format={name}")
        assert (200, True) == (file.status_code, ending in file.headers["content-disposition"])
    async with browser_of(office.pool) as other:
        await found(office.pool, domain="volos", email="vas@volos.example")
        await log_in(other, email="vas@volos.example")
        assert [404, 404] == [
            (await other.get(f"{path}/{name}")).status_code for name in ("files", "file?format=surveyjs")
        ]


async def test_settings(browser: Browser, path: str) -> None:
    form = {**FORM, "version": version_of((await browser.get(f"{path}/settings")).text)}
    wrongs = [{"valid_days": "x"}, {"responses_max": "0"}, {"title": "x" * 501}, {"display_name": ""}]
    wrongs += [{"non_collapsed_questions_count": "201"}, {"key_question_id": "0" * 22}]
    for changes in wrongs:
        wrong = await browser.post(f"{path}/settings", data={**form, **changes})
        assert (422, True) == (wrong.status_code, "Delivery" in wrong.text or "display_name" in changes), changes
    assert 303 == (await browser.post(f"{path}/settings", data={**form, "public_link": "1"})).status_code
    page = text_of(await browser.get(path))
    assert f'/p/{path.rsplit("/", 1)[1]}"' in page
    late = await browser.post(f"{path}/settings", data={**form, "title": "Mine"})
    assert 412 == late.status_code
    assert "Your delivery" in late.text
    assert 'value="Mine"' in late.text


async def test_settings_of_the_box_and_the_team(office: Office, browser: Browser, path: str) -> None:
    question = await added(browser, path, "text")
    await saved(browser, question, type="text", title="How was it?")
    await added(browser, path, "statement")
    page = await browser.get(f"{path}/settings")
    assert ("How was it?" in page.text, "No text yet" in page.text) == (True, False)
    question_id, version = question.rsplit("/", 1)[1], version_of(page.text)
    changed = {
        **FORM,
        "version": version,
        "key_question_id": question_id,
        "desktop_collapsed": "1",
        "non_collapsed_questions_count": "",
        "credits_accountable": "",
    }
    assert 303 == (await browser.post(f"{path}/settings", data=changed)).status_code
    one = await questionnaire_of(office, path)
    assert (question_id, True, 0, False) == (
        one.key_question_id,
        one.desktop_collapsed,
        one.non_collapsed_questions_count,
        one.credits_accountable,
    )
    late = text_of(await browser.post(f"{path}/settings", data={**FORM, "version": version}))
    for label, theirs in (
        ("The question that lists of responses show", "How was it?"),
        ("Questions shown first in a box", "0"),
        ("Answers use credits of the plan", "no"),
    ):
        assert f"<dt>{label}</dt><dd>{theirs}</dd>" in late
    assert 303 == (await browser.post(f"{question}/removal")).status_code
    assert "a deleted question" in (await browser.get(f"{path}/settings")).text


async def test_first_language(office: Office, browser: Browser) -> None:
    form = {"display_name": "Greek", "application_id": office.application_id}
    wrong = await browser.post(f"{LIST}/new", data={**form, "default_locale": "xx"})
    assert (422, True) == (wrong.status_code, "There is no such language." in wrong.text)
    made = await browser.post(f"{LIST}/new", data={**form, "default_locale": "el"})
    path = made.headers["location"].removesuffix("/edit?done=made")
    assert "el" == (await draft_of(office, path))["default_locale"]
    assert "el" == (await questionnaire_of(office, path)).default_locale
    copy = {**form, "template": path.rsplit("/", 1)[1], "default_locale": "de"}
    made = await browser.post(f"{LIST}/new", data=copy)
    assert "el" == (await draft_of(office, made.headers["location"].split("?")[0]))["default_locale"]


def version_of(page: str) -> str:
    return seen_of(page, "version")


async def questionnaire_of(office: Office, path: str) -> Questionnaire:
    async with db.transaction(office.pool) as database:
        found = await store.get_questionnaire(
            database, organization_id=office.organization_id, questionnaire_id=path.rsplit("/", 1)[1]
        )
    assert found is not None
    return found


async def visual_of(office: Office, path: str) -> object:
    """The look of the questionnaire's own, if it has one."""
    async with db.transaction(office.pool) as database:
        layers = await visuals.get_layers(
            database, organization_id=office.organization_id, questionnaire_id=path.rsplit("/", 1)[1]
        )
    assert layers is not None
    return layers.visual


async def test_layout(office: Office, browser: Browser, path: str) -> None:
    key = {"organization_id": office.organization_id, "questionnaire_id": path.rsplit("/", 1)[1]}
    page = (await browser.get(f"{path}/settings")).text
    seen = seen_of(page)
    assert "over the API" not in page
    form = {**FORM, "layout": "by_group", "show_progress": "1", "seen": seen}
    assert 303 == (await browser.post(f"{path}/settings", data={**form, "version": version_of(page)})).status_code
    assert await visual_of(office, path) is None  # nothing differs
    async with db.transaction(office.pool) as database:
        theirs = visuals.VisualRecord.new(
            **key,
            title="Theirs",
            active=True,
            configuration={"widget": {"side": "left"}, "font": "mono"},
            now=database.clock.now(),
            by=None,
        )
        await visuals.insert_visual(database, visual=theirs)
    page = (await browser.get(f"{path}/settings")).text
    assert ("<code>widget</code>" in page, "<code>font</code>" in page) == (True, False)  # which no page reads
    form = {**FORM, "layout": "by_question", "seen": seen, "version": version_of(page)}
    assert 422 == (await browser.post(f"{path}/settings", data={**form, "layout": "sideways"})).status_code
    assert 303 == (await browser.post(f"{path}/settings", data=form)).status_code
    assert (await visual_of(office, path)) == {
        "widget": {"side": "left"},
        "font": "mono",
        "layout": "by_question",
        "show_progress": False,
    }
    page = (await browser.get(f"{path}/settings")).text
    late = await browser.post(
        f"{path}/settings", data={**form, "layout": "one_page", "title": "Mine", "version": version_of(page)}
    )
    assert 412 == late.status_code
    assert 'value="Mine"' in late.text
    assert "Your delivery" in text_of(await browser.get(f"{path}/settings"))  # nothing of it is saved


async def test_layout_of_a_new_look(office: Office, browser: Browser, path: str) -> None:
    page = (await browser.get(f"{path}/settings")).text
    form = {**FORM, "layout": "by_question", "show_progress": "1", "seen": seen_of(page)}
    assert 303 == (await browser.post(f"{path}/settings", data={**form, "version": version_of(page)})).status_code
    assert {"layout": "by_question"} == await visual_of(office, path)
