"""A tag for many responses in the console: these of the page, all that match, and undone."""

import html
import json
import re
from urllib.parse import quote

from tests.listening.reports.conftest import NPS, House
from tests.listening.screens.test_responses import links_of
from tests.tenants.logins.conftest import Browser


async def test_all_that_meet_a_condition(shop: House, browser: Browser) -> None:
    """They are counted first; the same ones get the tag. Over the API too."""
    condition = {"not": {"subject": f"question:{NPS}", "operator": "equal", "value": 10}}
    query = f"condition={quote(json.dumps(condition))}"
    assert "Count all that match" in (await browser.get(f"/console/responses?{query}")).text
    counted = html.unescape((await browser.get(f"/console/responses/taggings?{query}")).text)
    assert "Tag 2 responses" in counted
    action = re.search(r'action="(/console/responses/taggings[^"]+)"', counted)
    assert action is not None
    await browser.post(action[1], data={"tag": "seen", "action": "add", "among": "all"})
    assert 2 == len(links_of(await browser.get("/console/responses?tag=seen")))
    body = {"tag": "seen", "action": "remove", "filter": {"condition": condition}}
    assert 2 == (await shop.send("POST", "/q/response/tag", body)).json()["changed"]


async def test_tag_and_undo(shop: House, browser: Browser) -> None:
    one = links_of(await browser.get("/console/responses"))[0][19:41]
    for among, ids, number in (("page", [one], 1), ("all", [], 2)):
        form = {"tag": "Late", "action": "add", "among": among, "id": ids}
        done = await browser.post("/console/responses/taggings?tab=comment", data=form)
        page = await browser.get(done.headers["location"])
        assert "got the tag" in html.unescape(page.text)
        assert number == len(links_of(await browser.get("/console/responses?tag=late")))
        path, _, query = done.headers["location"].partition("?")
        undone = await browser.post(f"{path}/undo?{query}")
        assert "before" in (await browser.get(undone.headers["location"])).text
        assert [] == links_of(await browser.get("/console/responses?tag=late"))
    assert 422 == (await browser.post("/console/responses/taggings", data={"tag": "", "among": "all"})).status_code
