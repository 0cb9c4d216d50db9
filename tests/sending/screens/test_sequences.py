"""Sequences in the console: made from rows, tried before they are saved, and who got a message by them."""

import html
import re

import httpx2
import pytest

from afterword.core.answers.values import Given
from afterword.listening.responses import rows
from tests.conftest import settled
from tests.sending.intake.test_sequences import CSAT, Chain
from tests.sending.queue.conftest import SMS, Client
from tests.sending.screens.conftest import plain
from tests.tenants.logins.conftest import browser_of, found, log_in

PATH = "/console/sending/sequences"


@pytest.fixture
async def chain(client: Client) -> Chain:
    follow_up = await client.queue.pipeline(title="Follow-up", delay_cap_days=1)
    return Chain(client, client.queue, follow_up)


@pytest.fixture
async def form(chain: Chain) -> dict[str, str]:
    score_id = (await chain.questions())[CSAT]
    return {"from": chain.house.questionnaire_id, "title": "Why?", "kind": "recovery", "trigger": "completed",
            "active": "1", "pipeline_id": chain.follow_up.pipeline_id, "version": "", "group": "all",
            "subject-0": f"question:{score_id}", "operator-0": "less", "value-0": "3"}  # fmt: skip


async def test_refusals(chain: Chain, form: dict[str, str], browser: httpx2.AsyncClient) -> None:
    assert "After a response to" in (page := (await browser.get(f"{PATH}/new")).text)
    assert 'name="title"' not in page
    for name, value, place in [
        ("title", "", "title"), ("kind", "other", "kind"), ("trigger", "never", "trigger"),
        ("kind", "review", "value-0"), ("value-0", "low", "value-0"), ("pipeline_id", "", "pipeline_id"),
        ("pipeline_id", "0" * 22, "pipeline_id"),
    ]:  # fmt: skip
        refused = await browser.post(f"{PATH}/new", data={**form, name: value})
        assert 422 == refused.status_code, name
        assert f'href="#{place}"' in refused.text, name
        assert 'value="Why?"' in refused.text or name == "title"
    assert 422 == (await browser.post(f"{PATH}/new", data={**form, "from": "0" * 22})).status_code
    assert [] == await chain.client.ok("GET", "/q/sequence")


async def test_of_another_organization(chain: Chain, form: dict[str, str]) -> None:
    made = await chain.sequence()
    await found(chain.queue.pool, domain="patras", email="pan@patras.example")
    async with browser_of(chain.queue.pool) as stranger:
        await log_in(stranger, email="pan@patras.example")
        for path in ("", "/responses", "/removal"):
            assert 404 == (await stranger.get(f"{PATH}/{made['sequence_id']}{path}")).status_code
        assert 404 == (await stranger.post(f"{PATH}/{made['sequence_id']}", data=form)).status_code
        assert 422 == (await stranger.post(f"{PATH}/new", data=form)).status_code
        assert "No sequence yet." in (await stranger.get(PATH)).text


async def test_of_a_pipeline_behind_those_that_are_offered(
    chain: Chain, browser: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named, and chosen in the form, which would lead to the first one that is offered."""
    made = await chain.sequence()
    await chain.queue.pipeline(title="Newest")
    monkeypatch.setattr("afterword.kit.ui.lists.OFFERED_MAX", 1)
    assert "“Follow-up”." in plain((await browser.get(PATH)).text)
    page = (await browser.get(f"{PATH}/{made['sequence_id']}")).text
    assert re.search(rf'value="{chain.follow_up.pipeline_id}" selected>Follow-up', page)
    unknown = (await browser.get("/console/sending/lists/new", params={"pipeline": "x/y"})).text
    assert '<option value="x&#x2f;y" selected>1 that is not listed</option>' in unknown


async def test_is_tried_made_changed_and_removed(
    chain: Chain, form: dict[str, str], browser: httpx2.AsyncClient
) -> None:
    tried = {**form, "then": "preview"}
    assert "There is no response yet to try it on." in (await browser.post(f"{PATH}/new", data=tried)).text
    for score in (1, 2, 5):
        await chain.answer(await chain.ask(), {CSAT: Given(score)})
    await settled(chain.queue.pool)
    await chain.queue.run(rows.follow, now=await chain.queue.now())
    said = plain((await browser.post(f"{PATH}/new", data=tried)).text)
    assert "2 of the last 3 responses would have matched. Of the newest of them, 0 of 2 have no address" in said
    texting = await chain.queue.pipeline(channel_id=SMS, title="By SMS", message_subject=None)
    said = plain((await browser.post(f"{PATH}/new", data={**tried, "pipeline_id": texting.pipeline_id})).text)
    assert "Of the newest of them, 2 of 2 have no address on this channel." in said
    assert [] == await chain.client.ok("GET", "/q/sequence")

    made = await browser.post(f"{PATH}/new", data=form)
    assert 303 == made.status_code
    path = made.headers["location"].split("?")[0]
    page = (await browser.get(path)).text
    assert "due after 1 day" in plain(page)
    version = re.search(r'name="version" value="([^"]*)"', page)
    assert version is not None
    listed = plain((await browser.get(PATH)).text)
    assert "Why?" in listed
    assert "Win back an unhappy customer" in listed
    assert "“Follow-up”." in listed
    changed = {**form, "title": "Why not?", "active": "", "version": version[1]}
    assert 303 == (await browser.post(path, data=changed)).status_code
    stale = await browser.post(path, data={**changed, "title": "Late"})
    assert 412 == stale.status_code
    assert 'value="Late"' in stale.text
    [stored] = await chain.client.ok("GET", "/q/sequence")
    assert ("Why not?", False, "recovery") == (stored["title"], stored["active"], stored["kind"])
    assert "Remove the sequence “Why not?”?" in plain((await browser.get(f"{path}/removal")).text)
    assert 303 == (await browser.post(f"{path}/removal")).status_code
    assert 404 == (await browser.get(path)).status_code


async def test_who_got_a_message(chain: Chain, browser: httpx2.AsyncClient) -> None:
    here = f"{PATH}/{(await chain.sequence())['sequence_id']}/responses"
    assert "Nobody yet." in (await browser.get(here)).text
    await chain.answer(await chain.ask())
    await chain.follow()
    [item] = await chain.made()
    await chain.queue.execute("update pipeline set deleted_time = now(), slug = null where title = 'Follow-up'")
    instance_id = await chain.ask()
    await chain.answer(instance_id)
    await chain.follow()
    page = await browser.get(here)
    found_rows = re.findall(r'<li class="item" data-row>(.*?)</li>', page.text, re.DOTALL)
    assert 2 == len(found_rows)
    assert f"/console/responses/{instance_id}" in html.unescape(found_rows[0])
    assert "Not asked" in found_rows[0]
    assert f"/console/sending/{item['item_id']}" in html.unescape(found_rows[1])
    assert "ann@example.com" in plain(found_rows[1])
    assert "Waiting" in found_rows[1]
    for before in ("x", "-1", "9" * 30, ""):
        assert 200 == (await browser.get(here, params={"before": before})).status_code
    assert "Nobody yet." in (await browser.get(here, params={"before": "1"})).text
