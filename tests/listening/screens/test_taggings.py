"""Tags for many responses and tags of the organization: added, undone, counted, renamed, removed."""

import html
import json
import re
from urllib.parse import quote

from tests.listening.reports.conftest import NPS, House
from tests.listening.screens.test_responses import links_of
from tests.making import make_application
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


TAGS = "/console/responses/tags"


async def counts(shop: House, *, token: str | None = None) -> dict[str, int]:
    listed = await shop.get("/tag", token=token)
    assert 200 == listed.status_code, listed.text
    return {one["tag"]: one["count"] for one in listed.json()["results"]}


async def test_over_the_api(shop: House) -> None:
    other_id = await make_application(shop.pool, shop.caller.organization_id)
    confined = await shop.token_for(application_ids=[other_id])
    await shop.send("POST", "/q/response/tag", {"tag": "Late", "filter": {}})
    await shop.send("POST", "/q/response/tag", {"tag": "vip", "filter": {"only": "unhappy"}})
    assert ({"late": 3, "vip": 1}, {}) == (await counts(shop), await counts(shop, token=confined))
    assert (
        403 == (await shop.http.delete("/v3.2/tag/late", headers={"Authorization": f"Bearer {confined}"})).status_code
    )
    refused = await shop.send("PATCH", "/tag/late", {"tag": "VIP"})
    assert (409, "already_exists") == (refused.status_code, refused.json()["code"])
    assert 404 == (await shop.send("PATCH", "/tag/none", {"tag": "x"})).status_code
    assert 422 == (await shop.send("PATCH", "/tag/late", {"tag": "a/b"})).status_code
    renamed = await shop.send("PATCH", "/tag/late", {"tag": "Too late"})
    assert ("too late", 3) == (renamed.json()["tag"], renamed.json()["count"])
    assert 204 == (await shop.send("DELETE", "/tag/vip")).status_code
    assert 404 == (await shop.send("DELETE", "/tag/vip")).status_code
    assert {"too late": 3} == await counts(shop)


async def test_screens(shop: House, browser: Browser) -> None:
    assert "No response has a tag yet" in (await browser.get(TAGS)).text
    for tag, chosen in (("late", {}), ("vip", {"only": "unhappy"})):
        await shop.send("POST", "/q/response/tag", {"tag": tag, "filter": chosen})
    assert "late" in (await browser.get(TAGS)).text
    assert "late" not in (await browser.get(f"{TAGS}?after=late")).text
    taken = await browser.post(f"{TAGS}/name", data={"old": "late", "tag": "vip"})
    assert (409, True) == (taken.status_code, 'value="vip"' in taken.text)
    assert 'value="late"' in (await browser.get(f"{TAGS}/name?tag=late")).text
    done = await browser.post(f"{TAGS}/name", data={"old": "late", "tag": "slow"})
    assert "Tag renamed" in (await browser.get(done.headers["location"])).text
    assert 404 == (await browser.post(f"{TAGS}/removal", data={"tag": "late"})).status_code
    page = (await browser.post(f"{TAGS}/removal", data={"tag": "slow"})).headers["location"]
    assert [] == links_of(await browser.get("/console/responses?tag=slow"))
    assert "Undo for 3 responses" in (await browser.get(page)).text
    await browser.post(f"{page}/undo")
    assert 3 == len(links_of(await browser.get("/console/responses?tag=slow")))
