"""Shops and help desks in the console: connected, given rules that are tried first, and their events explained."""

import html
import json
import re

import httpx2

from tests.sending.queue.conftest import Client
from tests.sending.screens.conftest import plain
from tests.sending.screens.test_pipelines import version_of

SOURCES = "/console/settings/sources"
FORM = {"kind": "general", "title": "Shop in Kalamata", "active": "1", "secret": "between us alone",
        "settings-signature": "X-Api-Key", "settings-event": "event", "settings-subject": "order",
        "settings-email": "email", "settings-values": "total = total"}  # fmt: skip
WRONG = (("title", ""), ("settings-email", "["))
RULE = {"what": "order.delivered", "delay_days": "3", "delay_hours": "", "age_days_max": "14", "active": "1",
        "unless": ["order.refunded", "order.cancelled"], "group": "all", "subject-0": "questionnaire_metadata:total",
        "operator-0": "greater", "value-0": "20"}  # fmt: skip


async def connected(browser: httpx2.AsyncClient, **fields: str) -> str:
    """The address of the page of a new source."""
    made = await browser.post(f"{SOURCES}/new", data={**FORM, **fields})
    assert 303 == made.status_code, made.text
    return made.headers["location"].partition("?")[0]


async def tell(browser: httpx2.AsyncClient, path: str, **event: object) -> int:
    url = f"/in/{path.rpartition('/')[2]}"
    body = {"event": "order.delivered", "order": "1042", "email": "ann@example.com", "total": 30, **event}
    return (await browser.post(url, content=json.dumps(body), headers={"X-Api-Key": "between us alone"})).status_code


async def test_nothing_for_agents(agent: httpx2.AsyncClient) -> None:
    for path in (SOURCES, f"{SOURCES}/new", f"{SOURCES}/{'0' * 22}"):
        assert 403 == (await agent.get(path)).status_code


async def test_connect(client: Client, browser: httpx2.AsyncClient) -> None:
    gallery = (await browser.get(f"{SOURCES}/new")).text
    assert all(name in gallery for name in ("Shopify", "Zendesk", "Another system"))
    assert "Ein anderes System" in (await browser.get(f"{SOURCES}/new", headers={"Accept-Language": "de"})).text
    assert 404 == (await browser.get(f"{SOURCES}/new?kind=fax")).status_code
    assert "Signing secret" in (await browser.get(f"{SOURCES}/new?kind=shopify")).text
    for name, value in WRONG:
        refused = await browser.post(f"{SOURCES}/new", data={**FORM, name: value})
        assert 422 == refused.status_code
        assert f'href="#{name}"' in refused.text
    path = await connected(browser, secret="")
    page = plain((await browser.get(path)).text)
    assert "Waiting for the first call. The secret is missing" in page
    assert "No rule yet, so nobody is asked." in page
    assert f"/in/{path.rpartition('/')[2]}" in page
    assert 401 == await tell(browser, path)
    page = plain((await browser.get(path)).text)
    assert "1 call was refused." in page
    assert "The last call was refused: The secret of this source is not stored yet." in page
    assert "last call refused" in (await browser.get(SOURCES)).text
    edit = await browser.get(f"{path}/edit")
    assert "total = total" in edit.text
    saved = await browser.post(f"{path}/edit", data={**FORM, "title": "Patras", "version": version_of(edit)})
    assert 303 == saved.status_code
    assert 200 == await tell(browser, path)
    page = (await browser.get(path)).text
    assert "between us alone" not in page + (await browser.get(f"{path}/edit")).text
    assert "no rule for it" in page
    assert "An order is delivered" in page


async def test_rule(client: Client, browser: httpx2.AsyncClient) -> None:
    path = await connected(browser)
    for number, total in enumerate((5, 30)):
        assert 200 == await tell(browser, path, order=f"104{number}", total=total)
    new = f"{path}/rules/new"
    assert 'value="questionnaire_metadata:total"' in (await browser.get(new)).text
    rule = {**RULE, "pipeline_id": client.queue.pipeline_id}
    for changes, place in (
        ({"pipeline_id": "0" * 22}, "pipeline_id"),
        ({"unless": ["order.delivered"]}, "unless"),
        ({"delay_days": "400"}, "delay_days"),
        ({"value-0": "many"}, "value-0"),
        ({"document": "{"}, "document"),
    ):
        refused = await browser.post(new, data={**rule, **changes})
        assert 422 == refused.status_code, changes
        assert f'href="#{place}"' in refused.text, changes
    tried = plain((await browser.post(new, data={**rule, "then": "try"})).text)
    assert "1 of the last 2 events would ask." in tried
    assert "1040not asked: the conditions are not met" in tried.replace(" 1040 ", "1040")
    assert 0 == await client.queue.value("select count(*) from source_rule")
    nothing = await browser.post(new, data={**rule, "what": "order.paid", "then": "try"})
    assert "There is no such event yet to try it on." in nothing.text
    assert 303 == (await browser.post(new, data=rule)).status_code
    page = html.unescape((await browser.get(path)).text)
    sentence = (
        "When an order is delivered and “total” is more than 20, ask through “Mail”. The message leaves 3 days later. "
        "Nobody is asked if an order is cancelled or an order is refunded."
    )
    assert sentence.partition(", ask")[0] in plain(page)
    assert sentence.partition("”. ")[2] in plain(page)
    one = re.search(rf'href="({path}/rules/\w{{22}})"', page)
    assert one is not None
    stored = await browser.get(one[1])
    assert 'value="20"' in stored.text
    other = await connected(browser)
    assert 404 == (await browser.get(one[1].replace(path, other))).status_code
    changed = {**rule, "delay_days": "", "subject-0": "", "unless": [], "version": version_of(stored)}
    assert 303 == (await browser.post(one[1], data=changed)).status_code
    assert 412 == (await browser.post(one[1], data={**rule, "version": version_of(stored)})).status_code
    assert "Nobody is asked if" not in plain((await browser.get(path)).text)
    assert "Remove this rule?" in (await browser.get(f"{one[1]}/removal")).text
    assert 303 == (await browser.post(f"{one[1]}/removal")).status_code
    assert 404 == (await browser.get(one[1])).status_code


async def test_event_and_its_message(client: Client, browser: httpx2.AsyncClient) -> None:
    path = await connected(browser)
    rule = {**RULE, "pipeline_id": client.queue.pipeline_id}
    assert 303 == (await browser.post(f"{path}/rules/new", data=rule)).status_code
    assert 200 == await tell(browser, path)
    page = html.unescape((await browser.get(path)).text)
    event = re.search(rf'href="({path}/events/\w{{22}})"', page)
    assert event is not None
    assert "scheduled" in page
    shown = html.unescape((await browser.get(event[1])).text)
    assert "An order is delivered · 1042" in plain(shown)
    assert "<dt>total</dt><dd><bdi>30</bdi></dd>" in shown
    item = re.search(r'href="(/console/sending/\w{22})"', shown)
    assert item is not None
    assert event[1] in html.unescape((await browser.get(item[1])).text)
    assert 200 == await tell(browser, path, event="order.refunded")
    assert "cancelled" in plain((await browser.get(event[1])).text)
    assert 404 == (await browser.get(f"{path}/events/{'0' * 22}")).status_code
    assert 303 == (await browser.post(f"{path}/removal")).status_code
    assert 404 == (await browser.get(event[1])).status_code


async def test_notes(client: Client, browser: httpx2.AsyncClient) -> None:
    """The form of a system that takes notes has their token, which nobody sees again; its page says how it went."""
    general = await connected(browser)
    assert "This system takes no notes." in (await browser.get(general)).text
    assert "note_token" not in (await browser.get(f"{general}/edit")).text
    form = {"kind": "zendesk", "title": "Help desk", "active": "1"}
    made = await browser.post(f"{SOURCES}/new", data=form)
    path = made.headers["location"].partition("?")[0]
    assert "A response can become a note" in plain((await browser.get(path)).text)
    edit = await browser.get(f"{path}/edit")
    assert "OAuth clients" in edit.text
    form |= {"version": version_of(edit), "note_active": "1", "note_user": "ann@example.com"}
    refused = await browser.post(f"{path}/edit", data={**form, "note_address": "https://acme.example.com"})
    assert 422 == refused.status_code
    assert all(f'href="#{name}"' in refused.text for name in ("note_address", "note_token"))
    form |= {"note_address": "https://acme.zendesk.com/agent", "note_token": "between us alone"}
    assert 303 == (await browser.post(f"{path}/edit", data=form)).status_code
    edit, page = html.unescape((await browser.get(f"{path}/edit")).text), (await browser.get(path)).text
    assert 'value="https://acme.zendesk.com"' in edit
    assert "between us alone" not in edit + page
    assert "No note has been written yet." in page
    await client.queue.execute("update source set note_address = 'https://127.0.0.1' where kind = 'zendesk'")
    assert path == (await browser.post(f"{path}/notes/test")).headers["location"]
    assert "The last try failed:" in (await browser.get(path)).text
    assert "notes are not written" in (await browser.get(SOURCES)).text
    await client.queue.execute("update source set note_sent_time = now(), note_problem = null")
    assert "Last note:" in (await browser.get(path)).text
    assert 422 == (await browser.post(f"{general}/notes/test")).status_code


async def test_failed_notes(client: Client, browser: httpx2.AsyncClient) -> None:
    made = await browser.post(f"{SOURCES}/new", data={"kind": "zendesk", "title": "Help desk", "active": "1"})
    path, item = made.headers["location"].partition("?")[0], await client.sent()
    instance_id = (await client.ok("GET", f"/q/queue/item/{item['item_id']}"))["questionnaire_instance_id"]
    await client.queue.execute(
        """insert into notice_mail (organization_id, mail_id, source_id, purpose, state, due_time, finished_time, error)
           select organization_id, $1, $2, 'note', 'failed', now(), now(), 'The ticket or order does not exist there.'
           from source where source_id = $2""",
        *(instance_id, path.rpartition("/")[2]),
    )
    page = (await browser.get(path)).text
    assert f'href="/console/responses/{instance_id}"' in page
    assert "The ticket or order does not exist there." in page
