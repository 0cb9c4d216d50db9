"""Any two versions are compared in words, and a version with the draft."""

import re

from tests.asking.screens.test_builder import added, saved, seen_of, text_of
from tests.asking.screens.test_publication import revision_of
from tests.tenants.logins.conftest import Browser


async def test_comparison(browser: Browser, path: str) -> None:
    page = f"{path}/versions/comparison"
    question = await added(browser, path, "nps")
    for title in ("First?", "Second?", "Third?"):
        seen = seen_of((await browser.get(question)).text)
        form = {"type": "nps", "title": title, "enabled": "1", "seen": seen}
        assert 303 == (await browser.post(question, data=form)).status_code
        revision = revision_of((await browser.get(f"{path}/publish")).text)
        assert 303 == (await browser.post(f"{path}/publish", data={"revision": revision})).status_code
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
    assert "Both say the same." in (await browser.get(page, params={"from": "draft", "to": "draft"})).text
    assert 404 == (await browser.get(page, params={"from": "0" * 22})).status_code
