"""The list of responses: pages by key, words that were searched for, conditions, unread ones and new ones."""

import html
import json
import re

import pytest

from afterword.console import response_list
from afterword.core.text import words
from afterword.kit import db
from tests.listening.reports.conftest import (
    NPS,
    House,
    house as house,  # noqa: PLC0414  a fixture
)
from tests.listening.screens.conftest import (
    owner as owner,  # noqa: PLC0414  a fixture
    shop as shop,  # noqa: PLC0414  a fixture
)
from tests.listening.screens.test_responses import links_of
from tests.tenants.logins.conftest import browser_of, log_in


async def test_next_page(shop: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_list, "ROWS", 2)
    async with browser_of(shop.pool) as client:
        await log_in(client)
        first = await client.get("/console/responses")
        following = re.search(r'rel="next" href="([^"]+)"', html.unescape(first.text))
        assert following is not None
        second = await client.get(following[1])
        ids = [link[19:41] for link in links_of(first) + links_of(second)]
        assert 3 == len(ids) == len(set(ids))
        assert 'rel="next"' not in second.text


async def test_words(shop: House) -> None:
    async with browser_of(shop.pool) as client:
        await log_in(client)
        page = await client.get("/console/responses?search=FINE")
        assert 1 == len(links_of(page))
        assert "<mark>Fine</mark>" in page.text
        assert "Words: " in page.text
        one = await client.get(links_of(page)[0])
        assert 2 == one.text.count("<mark>Fine</mark>")  # in the list and beside it
        assert 1 == len(links_of(await client.get("/console/responses?search=a-10")))
        nothing = await client.get("/console/responses?search=fine+%22bad+luck%22")
        assert "No response contains these words" in nothing.text


async def test_condition(shop: House) -> None:
    condition = {"any": [{"subject": f"question:{NPS}", "operator": "equal", "value": 9}]}
    async with browser_of(shop.pool) as client:
        await log_in(client)
        page = await client.get("/console/responses", params={"condition": json.dumps(condition)})
        assert 1 == len(links_of(page))
        assert "“How likely?” is 9 <" in html.unescape(page.text)
        store = {"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "Old Town"}
        page = await client.get("/console/responses", params={"condition": json.dumps(store)})
        assert "“Store” is Old Town <" in html.unescape(page.text)
        for wrong in ("{", "[]", '{"subject": "x", "operator": "y"}'):
            assert 422 == (await client.get("/console/responses", params={"condition": wrong})).status_code


async def test_unread(shop: House) -> None:
    async with browser_of(shop.pool) as client:
        await log_in(client)
        [first, *others] = links_of(await client.get("/console/responses?tab=unread"))
        opened = await client.get(first)
        assert 1 + len(others) == len(links_of(await client.get("/console/responses?tab=unread")))  # GET only reads
        act = re.search(r'action="([^"]+/read[^"]*)" data-read', html.unescape(opened.text))
        assert act is not None
        assert first.partition("&")[0].startswith((await client.post(act[1])).headers["location"])
        assert "data-read" not in (await client.get(first.replace("tab=unread", "tab=all"))).text
        assert [each[19:41] for each in others] == [
            each[19:41] for each in links_of(await client.get("/console/responses?tab=unread"))
        ]
        done = await client.post("/console/responses/read?tab=unread")
        assert "/console/responses?tab=unread&done=read" == done.headers["location"]
        assert "You have read all responses here" in (await client.get(done.headers["location"])).text


async def test_new_responses_are_a_link(shop: House) -> None:
    async with browser_of(shop.pool) as client:
        await log_in(client)
        link = links_of(await client.get("/console/responses"))[0]
        assert "new response" not in (await client.get(link)).text
        async with db.connection(shop.pool) as database:
            now = database.clock.now()
        await shop.respond({NPS: 8}, now=now)
        await shop.follow()
        page = await client.get(link)
        assert "1 new response" in html.unescape(page.text).replace("\u2068", "").replace("\u2069", "")
        assert 3 == len(links_of(page))
        assert 4 == len(links_of(await client.get("/console/responses")))


def test_excerpt_begins_before_what_was_searched_for() -> None:
    text = f"{'a ' * 200}late {'b ' * 200}"
    shown = response_list.excerpt(text, words.read_query("late"))
    assert ("late", True) == shown[1]
    assert shown[0][0].startswith("…")
    assert shown[2][0].endswith("…")
    assert [("Short", False)] == response_list.excerpt("Short", ())
    assert [] == response_list.excerpt("", ())


async def test_imported(shop: House) -> None:
    """The list leads to those that were given elsewhere, and a chip leads back; each says where it began."""
    row = {"external_id": "R-1", "completed_time": "2024-05-01T10:00:00Z", "answers": {NPS: 9}}
    made = await shop.send("POST", f"/q/questionnaire/{shop.questionnaire_id}/response", [row])
    instance_id = made.json()["results"][0]["instance_id"]
    async with browser_of(shop.pool) as client:
        await log_in(client)
        found = re.search(r'href="([^"]*imported=1[^"]*)"', (await client.get("/console/responses")).text)
        assert found is not None
        page = await client.get(html.unescape(found[1]))
        assert [f"/console/responses/{instance_id}"] == [link.partition("?")[0] for link in links_of(page)]
        one = await client.get(f"/console/responses/{instance_id}")
        assert "Started in another system" in one.text
