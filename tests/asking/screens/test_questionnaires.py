"""The list of questionnaires and the page of one."""

import re

from tests.asking.screens.conftest import begin
from tests.asking.screens.test_builder import LIST, added, saved, text_of
from tests.asking.screens.test_publication import revision_of
from tests.tenants.logins.conftest import Browser, Office


async def test_list(office: Office, browser: Browser) -> None:
    assert "No questionnaire yet." in (await browser.get(LIST)).text
    path = await begin(browser, office)
    listed = text_of(await browser.get(LIST))
    assert "After delivery" in listed
    assert "changed today" in listed
    assert "not yet" in listed
    question = await added(browser, path, "text")
    assert "1 thing before you can publish" in text_of(await browser.get(path))
    await saved(browser, question, type="text", title="How was it?")
    assert "before you can publish" not in text_of(await browser.get(path))
    assert "Who gets it" not in text_of(await browser.get(path))
    await browser.post(f"{path}/publish", data={"revision": revision_of((await browser.get(f"{path}/publish")).text)})
    published = await browser.get(path)
    assert "Nobody yet." in text_of(published)
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
    assert "Archived: nothing is sent" in (await browser.get(path)).text
