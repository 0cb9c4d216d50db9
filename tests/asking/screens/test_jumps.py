"""Jumps in the editor: sentences with whole texts, rows or JSON, wrong ones saved, removals that say where."""

import re

from tests.asking.screens.test_builder import added, draft_of, saved, text_of
from tests.tenants.logins.conftest import Browser, Office


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
    made = await browser.post(f"{score}/jump/new", data={**form, "value-0": "high"})
    assert 303 == made.status_code
    wrong = text_of(await browser.get(f"{score}/jump/0"))
    assert 'href="#value-0"' in wrong
    assert f'href="{score}/jump/0"' in text_of(await browser.get(f"{path}/edit"))
    seen = re.search(r'name="seen" value="([^"]*)"', wrong)
    assert seen is not None
    form = {**form, "value-0": "9", "seen": seen[1]}
    assert 303 == (await browser.post(f"{score}/jump/0", data=form)).status_code
    page = text_of(await browser.get(score))
    assert "If the answer is at least 9, go to “Thanks”." in page
    assert "Otherwise the next question." in page
    stored = (await draft_of(office, path))["groups"][0]["questions"][0]["jumps"]
    leaf = {"subject": f"question:{score_id}", "operator": "greater_equal", "value": 9}
    assert [{"target_question_id": thanks_id, "conditions": {"all": [leaf]}}] == stored
    late = await browser.post(f"{score}/jump/0", data={**form, "value-0": "10"})
    assert (412, True) == (late.status_code, 'value="10"' in late.text)
    assert "If the answer is at least 9" in text_of(late)
    assert "The jump of “Score?” leads to it." in text_of(await browser.get(f"{thanks}/removal"))
    seen = re.search(r'name="seen" value="([^"]*)"', late.text)
    assert seen is not None
    gone = await browser.post(f"{score}/jump/0", data={**form, "seen": seen[1], "then": "remove"})
    assert 303 == gone.status_code
    assert [] == (await draft_of(office, path))["groups"][0]["questions"][0]["jumps"]
