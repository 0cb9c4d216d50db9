"""Endings in the editor: their order with conditions in words, wrong ones saved, nobody overwrites another."""

import re

from tests.asking.screens.test_builder import added, draft_of, saved, seen_of, text_of
from tests.tenants.logins.conftest import Browser, Office


async def test_endings(office: Office, browser: Browser, path: str) -> None:
    score = await added(browser, path, "nps")
    await saved(browser, score, type="nps", title="Score?")
    score_id, here = score.rsplit("/", 1)[1], f"{path}/edit/endings"
    assert 404 == (await browser.get(f"{here}/{'0' * 22}")).status_code
    for title in ("Great", "Other"):
        made = await browser.post(here)
        ending = made.headers["location"]
        form = {"title": title, "group": "all", "seen": seen_of((await browser.get(ending)).text)}
        if title == "Other":
            form |= {"offers_call": "1", "call_back": "1"}
        if title == "Great":
            form |= {"subject-0": f"question:{score_id}", "operator-0": "greater_equal", "value-0": "9"}
            for document in ("{", "[" * 30 + "]" * 30):
                assert 422 == (await browser.post(ending, data={**form, "document": document})).status_code
            wrong = {**form, "button_url": "http://shop.example/", "button_label": "Shop"}
            assert 303 == (await browser.post(ending, data=wrong)).status_code
            shown = await browser.get(ending)
            assert 'href="#button_url"' in shown.text
            assert f'href="{ending}"' in text_of(await browser.get(f"{path}/edit"))
            form |= {"button_url": "https://shop.example/", "button_label": "Shop", "seen": seen_of(shown.text)}
        assert 303 == (await browser.post(ending, data=form)).status_code
    listed = text_of(await browser.get(here))
    assert "If “Score?” is 9 to 10 (promoters)" in listed
    assert 2 == len(re.findall("Otherwise", listed))
    assert [None, True] == [one.get("call_back") for one in (await draft_of(office, path))["endings"]]
    great, others = [one["ending_id"] for one in (await draft_of(office, path))["endings"]]
    assert f"ending={great}" in text_of(await browser.get(f"{here}/{great}"))
    quota = (await browser.post(here, data={"kind": "quota"})).headers["location"]
    form = {
        "title": "Full",
        "group": "all",
        "responses_max": "many",
        "seen": seen_of((await browser.get(quota)).text),
    }
    assert 303 == (await browser.post(quota, data=form)).status_code
    shown = await browser.get(quota)
    assert ('value="many"' in shown.text, 'href="#responses_max"' in shown.text) == (True, True)
    form |= {"responses_max": "20", "seen": seen_of(shown.text)}
    assert 303 == (await browser.post(quota, data=form)).status_code
    shown = await browser.get(quota)
    assert 'href="#conditions"' in shown.text
    form |= {
        "subject-0": f"question:{score_id}",
        "operator-0": "equal",
        "value-0": "9",
        "seen": seen_of(shown.text),
    }
    assert 303 == (await browser.post(quota, data=form)).status_code
    assert "0 of 20 responses" in text_of(await browser.get(here))
    assert 303 == (await browser.post(f"{quota}/removal")).status_code
    late = await browser.post(f"{here}/{great}", data={"title": "Mine", "group": "all", "seen": "old"})
    assert (412, True, True) == (late.status_code, 'value="Mine"' in late.text, "Great" in late.text)
    assert "The ending “Great” asks for its answer." in text_of(await browser.get(score))
    assert 303 == (await browser.post(f"{here}/{others}/move", data={"to": "up"})).status_code
    assert [others, great] == [one["ending_id"] for one in (await draft_of(office, path))["endings"]]
    assert "No one sees this ending" in text_of(await browser.get(here))
    assert [303, 303] == [(await browser.post(f"{here}/{others}/removal")).status_code for _ in range(2)]
    assert [great] == [one["ending_id"] for one in (await draft_of(office, path))["endings"]]
