"""Translations: a page for each language, what is missing or outdated, files, and nobody overwrites another."""

import html
import re
from typing import Any

from afterword.kit.texts import texts
from tests.asking.screens.test_builder import added, draft_of, saved, text_of
from tests.tenants.logins.conftest import Browser, Office

GREEK = texts("pages", "el")


async def test_translations(office: Office, browser: Browser, path: str) -> None:
    question = await added(browser, path, "single_choice")
    fields = {"type": "single_choice", "title": "What was best?"}
    await saved(browser, question, **fields, choices="Food\nStaff")
    assert "It has one language." in (await browser.get(f"{path}/translations")).text
    assert 422 == (await browser.post(f"{path}/translations", data={"locale": "xx-nowhere"})).status_code
    page = f"{path}/translations/el"
    assert 404 == (await browser.get(page)).status_code
    assert 303 == (await browser.post(f"{path}/translations", data={"locale": "el"})).status_code
    assert "0 of 4" in text_of(await browser.get(f"{path}/translations"))
    assert "<dd>English, Greek</dd>" in (await browser.get(path)).text
    assert f'href="{page}?show=missing"' in text_of(await browser.get(f"{path}/edit"))
    question_id = question.rsplit("/", 1)[1]
    title, food = f"{question_id}/title", f"{question_id}/choices/1"

    def form(page: str, **texts: str) -> dict[str, str]:
        """The fields of the page, with these translations."""
        seen = re.findall(r'name="seen:([^"]+)" value="([^"]+)"', page)
        found = {f"seen:{key}": mark for key, mark in seen}
        return {**found, **{f"text:{key}": text for key, text in texts.items()}}

    first = html.unescape((await browser.get(page)).text)
    assert 303 == (await browser.post(page, data=form(first, **{title: "Γιατί;", food: "Φαγητό"}))).status_code
    assert "2 of 4 translated" in text_of(await browser.get(page))
    assert "Staff" in (await browser.get(f"{page}?show=missing")).text
    assert "Food" not in (await browser.get(f"{page}?show=missing")).text
    late = await browser.post(page, data=form(first, **{title: "Άλλο"}))
    assert (412, True, True) == (late.status_code, "Άλλο" in late.text, "Γιατί;" in late.text)
    await saved(browser, question, **{**fields, "title": "What was the best?"}, choices="Food\nStaff")
    changed = text_of(await browser.get(f"{page}?show=changed"))
    assert "What was best?" in changed
    right = {**form(changed, **{title: "Γιατί;"}), f"right:{title}": "1"}
    assert 303 == (await browser.post(f"{page}?show=changed", data=right)).status_code
    assert "Everything is translated" in (await browser.get(f"{page}?show=changed")).text
    file = (await browser.get(f"{page}/file?format=xliff")).content
    assert b"needs-translation" in file
    filled = file.replace(b'state="needs-translation"></target>', 'state="x">Σέρβις</target>'.encode())
    sent = await browser.post(f"{page}/file", files={"file": ("a.xlf", filled, "application/xliff+xml")})
    assert 303 == sent.status_code
    assert "4 of 4 translated" in text_of(await browser.get(page))
    assert 422 == (await browser.post(f"{page}/file", files={"file": ("a.csv", b"x", "text/csv")})).status_code
    texts = (await draft_of(office, path))["groups"][0]["questions"][0]["translations"]["el"]
    assert {"title": "Γιατί;", "choices": {"1": "Φαγητό", "2": "Σέρβις"}} == texts


async def test_saved_while_typing(office: Office, browser: Browser, path: str) -> None:
    """The page of missing texts keeps those that were just translated, so that they can be changed again."""
    question = await added(browser, path, "text")
    await saved(browser, question, type="text", title="Why?")
    assert 303 == (await browser.post(f"{path}/translations", data={"locale": "el"})).status_code
    page = f"{path}/translations/el?show=missing"
    key, typed = f"{question.rsplit('/', 1)[1]}/title", "Γι"
    shown = await browser.get(page)
    for more in ("ατ", "ί;"):
        [mark] = re.findall(rf'name="seen:{key}" value="([^"]+)"', html.unescape(shown.text))
        typed += more
        form = {f"seen:{key}": mark, f"text:{key}": typed, "autosave": "1"}
        shown = await browser.post(page, data=form)
        assert (200, True) == (shown.status_code, typed in shown.text)
    texts = (await draft_of(office, path))["groups"][0]["questions"][0]["translations"]["el"]
    assert {"title": "Γιατί;"} == texts
    left = html.unescape((await browser.get(page)).text)
    assert (1, True) == (left.count("<textarea"), "Title above the questions" in left)


async def test_standard_texts(office: Office, browser: Browser, path: str) -> None:
    """They are translated where our catalogues have the language, and only as long as they are the standard ones."""
    score = await added(browser, path, "nps")
    for locale in ("ja", "el"):
        assert 303 == (await browser.post(f"{path}/translations", data={"locale": locale})).status_code
    await added(browser, path, "matrix")

    async def translated() -> list[dict[str, Any]]:
        return [one.get("translations", {}) for one in (await draft_of(office, path))["groups"][0]["questions"]]

    asked, matrix = await translated()
    assert {"el": {"title": GREEK("How likely are you to recommend us to a friend or colleague?")}} == asked
    assert {GREEK(one) for one in ("Quality", "Service", "Price")} == {*matrix["el"]["rows"].values()}
    assert GREEK("Very dissatisfied") == matrix["el"]["choices"]["1"]
    await saved(browser, score, type="nps", title="Would you tell your friends?")
    assert "title" not in (await translated())[0].get("el", {})
    page, key = f"{path}/translations/el", f"{score.rsplit('/', 1)[1]}/title"
    shown = html.unescape((await browser.get(page)).text)
    [mark] = re.findall(rf'name="seen:{key}" value="([^"]+)"', shown)
    assert 303 == (await browser.post(page, data={f"seen:{key}": mark, f"text:{key}": "Θα το λέγατε;"})).status_code
    await saved(browser, score, type="nps", title="Would you tell a friend?")
    assert "Θα το λέγατε;" == (await translated())[0]["el"]["title"]
