"""The form of a condition, of a pipeline: nested groups stay what they are, seen values and names are offered."""

import html
import re

import httpx2

from afterword.kit.transport.base import Sent
from tests.sending.queue.conftest import (
    Client,
    http as http,  # noqa: PLC0414  a fixture
    queue as queue,  # noqa: PLC0414  a fixture
)
from tests.sending.screens.conftest import client as client  # noqa: PLC0414  a fixture
from tests.sending.screens.test_pipelines import path_of
from tests.tenants.logins.conftest import browser_of, log_in

FIELD = re.compile(r'<input[^>]* name="([^"]*)" value="([^"]*)"|<textarea[^>]* name="([^"]*)"[^>]*>\n(.*?)</textarea>'
                   r'|<select[^>]* name="([^"]*)"[^>]*>(.*?)</select>', re.DOTALL)  # fmt: skip


def fields_of(page: httpx2.Response) -> dict[str, str]:
    """The fields of the page's form, as a browser sends them."""
    found: dict[str, str] = {}
    for name, value, area, text, select, options in FIELD.findall(page.text):
        chosen = re.findall(r'<option value="([^"]*)"( selected)?', options)
        found[name or area or select] = html.unescape(
            value or text or next((key for key, is_chosen in chosen if is_chosen), chosen[0][0] if chosen else "")
        )
    return found


async def test_nested_conditions_are_kept(client: Client) -> None:
    """Two levels are fieldsets of rows; what is deeper stays as JSON; opening and saving changes neither."""
    path, store = f"{path_of(client)}/conditions", "questionnaire_metadata:store"
    leaves = [{"subject": store, "operator": "equal", "value": each} for each in ("Athens", "Patras")]
    two = {"all": [{"subject": "responder_metadata:tier", "operator": "is_not_empty"}, {"any": leaves}]}
    deep = {"not": {"all": [leaves[0], {"not": leaves[1]}]}}
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        for condition in (two, deep):
            changed = await client.send("PATCH", client.pipeline, {"conditions": condition})
            assert 200 == changed.status_code, changed.text
            page = await browser.get(path)
            assert (condition is two) == ('name="place-1" value="1"' in page.text)
            saved = await browser.post(path, data=fields_of(page))
            assert 303 == saved.status_code, saved.text
            assert condition == (await client.send("GET", client.pipeline)).json()["conditions"]
        wrong = await browser.post(path, data={**fields_of(await browser.get(path)), "document": "{"})
        assert (422, True) == (wrong.status_code, 'href="#document"' in wrong.text)
        rows = {"subject-0": store, "operator-0": "equal", "value-0": "Volos", "document": ""}
        for index, value in enumerate(("Chania", ""), 4):
            rows |= {f"subject-{index}": store, f"operator-{index}": "equal", f"value-{index}": value}
            rows |= {f"place-{index}": "2"}
        refused = await browser.post(path, data={**fields_of(await browser.get(path)), **rows})
        assert (422, True) == (refused.status_code, 'href="#value-2"' in refused.text)


async def test_seen_values_and_names_are_offered(client: Client) -> None:
    metadata = {"questionnaire": {"store": "Athens"}, "responder": {"tier": "gold"}}
    await client.create(metadata=metadata)
    await client.queue.worker().send(Sent("reference", 250, "ok"))
    async with browser_of(client.queue.pool) as browser:
        await log_in(browser)
        page = (await browser.get(f"{path_of(client)}/conditions")).text
    assert '<option value="questionnaire_metadata:store">store</option>' in page
    assert '<option value="Athens" label="Athens · store · seen 1 time">' in page
    assert "Seen, not declared" in page
