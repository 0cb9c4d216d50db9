"""A tag for many responses in the console: these of the page, all that match, and undone."""

import html

from tests.console.test_overview import owner as owner  # noqa: PLC0414  a fixture
from tests.console.test_responses import links_of
from tests.console.test_responses import shop as shop  # noqa: PLC0414  a fixture
from tests.logins.conftest import browser_of, log_in
from tests.reports.conftest import House
from tests.reports.conftest import house as house  # noqa: PLC0414  a fixture


async def test_tag_and_undo(shop: House) -> None:
    async with browser_of(shop.pool) as client:
        await log_in(client)
        one = links_of(await client.get("/console/responses"))[0][19:41]
        for among, ids, number in (("page", [one], 1), ("all", [], 2)):
            form = {"tag": "Late", "action": "add", "among": among, "id": ids}
            done = await client.post("/console/responses/taggings?tab=comment", data=form)
            page = await client.get(done.headers["location"])
            assert "got the tag" in html.unescape(page.text)
            assert number == len(links_of(await client.get("/console/responses?tag=late")))
            path, _, query = done.headers["location"].partition("?")
            undone = await client.post(f"{path}/undo?{query}")
            assert "before" in (await client.get(undone.headers["location"])).text
            assert [] == links_of(await client.get("/console/responses?tag=late"))
        assert 422 == (await client.post("/console/responses/taggings", data={"tag": "", "among": "all"})).status_code
