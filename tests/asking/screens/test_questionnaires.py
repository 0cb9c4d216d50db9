"""The list of questionnaires, the page of one, and problems of a draft as links to where each is put right."""

import re

from afterword.asking.screens import questionnaires
from afterword.core.questionnaires import definition
from afterword.core.reading.findings import Findings
from afterword.kit.texts import texts
from tests.asking.screens.conftest import begin
from tests.asking.screens.test_builder import LIST, added, saved, text_of
from tests.asking.screens.test_publication import publish
from tests.tenants.logins.conftest import Browser, Office


async def test_list(office: Office, browser: Browser) -> None:
    assert "No questionnaire yet." in (await browser.get(LIST)).text
    path = await begin(browser, office)
    listed = text_of(await browser.get(LIST))
    assert "After delivery" in listed
    assert "changed today" in listed
    assert "not yet" in listed
    question = await added(browser, path, "date")
    assert "1 problem to fix before you can publish" in text_of(await browser.get(path))
    await saved(browser, question, type="date", title="When was it?")
    assert "before you can publish" not in text_of(await browser.get(path))
    assert "Who gets it" not in text_of(await browser.get(path))
    await publish(browser, path)
    published = await browser.get(path)
    assert "No one yet." in text_of(published)
    new = re.findall(r'href="([^"]*pipelines/new[^"]*)"', text_of(published))[0]
    made = await browser.post(
        new.partition("?")[0],
        data={"questionnaire_id": path.rpartition("/")[2], "channel_id": "1", "title": "By mail",
              "message_subject": "How was it?", "message_body": "Well?"},
    )  # fmt: skip
    assert made.headers["location"].partition("?")[0] in text_of(await browser.get(path))
    assert 303 == (await browser.post(f"{path}/archive")).status_code
    assert "After delivery" not in (await browser.get(LIST)).text
    assert "After delivery" in (await browser.get(f"{LIST}?show=archived")).text
    assert "Archived: nothing can be sent" in (await browser.get(path)).text


WORDS = texts("console", "en")
QUESTION = {"question_id": "q" * 22, "type": "single_choice", "title": "Why?", "choices": [{"value": 1, "label": "A"}]}
JUMP = {"target_question_id": "x" * 22, "conditions": None}


def test_problems() -> None:
    document = {
        "default_locale": "en",
        "locales": ["en", "el"],
        "pages": {"en": {"welcome": "x" * 5_001}},
        "groups": [
            {"group_id": "g" * 22, "title": "First", "questions": [{**QUESTION, "jumps": [JUMP]}]},
            {"group_id": "h" * 22, "questions": []},
        ],
    }
    findings = Findings()
    definition.read(document, findings)
    found = questionnaires.problems_of(WORDS, document, findings.found, path="/a")
    edit, question = "/a/edit", f"/a/edit/{'q' * 22}"
    assert [
        (f"{question}?wrong=1#choices", "Why?", "At least two choices are needed.", "choices"),
        (f"{edit}/page/{'h' * 22}", "", "This page has no question.", ""),
        (f"{edit}/texts", "", "At most \u20685,000\u2069 characters are possible.", ""),
        (f"{question}/jump/0", "Why?", "A jump leads to a later question, or with null to the end.", "jumps"),
        ("/a/translations/el?show=missing", "", "3 texts are missing in Greek.", ""),
    ] == [(one.url, one.where, one.text, one.member) for one in found]
    assert [True] * 4 + [False] == [one.is_error for one in found]
    rows = questionnaires.rows_of(WORDS, document, path=edit, wrong=found)
    assert [[2], []] == [[one["wrong"] for one in row["questions"]] for row in rows]


def test_anything() -> None:
    findings = Findings()
    document = {"default_locale": 7, "groups": [7, {"questions": [None, {"type": []}]}]}
    definition.read(document, findings)
    assert all(one.text for one in questionnaires.problems_of(WORDS, document, findings.found, path="/a"))
    assert 1 == len(questionnaires.rows_of(WORDS, document, path="/a"))
