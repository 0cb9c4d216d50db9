"""The figures of the work on cases: each number leads to exactly its cases."""

import html
import re

from tests.cases.conftest import Desk
from tests.cases.screens.test_cases import desk as desk  # noqa: PLC0414  a fixture
from tests.cases.screens.test_cases import links_of
from tests.cases.screens.test_cases import office as office  # noqa: PLC0414  a fixture
from tests.tenants.logins.conftest import browser_of, log_in

FIGURE = re.compile(r'<a href="(/console/cases/figures/cases[^"]*)">([\d%\u202f\xa0 ]+)</a>')


async def test_each_figure_leads_to_its_cases(office: Desk) -> None:
    first, second = [case["alert_instance_id"] for case in await office.cases()]
    await office.execute(
        """update alert_instance set created_time = now() - interval '40 days', due_time = now() - interval '1 hour'
           where alert_instance_id = $1""",
        first,
    )
    for case_id in (first, second):
        await office.api.ok("PATCH", f"/alert/instance/{case_id}", {"status_id": 3, "cause": "Late"})
    await office.execute("update alert_instance set recovered = true, recovery_time = resolved_time")
    async with browser_of(office.pool) as client:
        await log_in(client)
        short = FIGURE.findall(html.unescape((await client.get("/console/cases")).text))
        assert ["1", "2", "50\u00a0%", "100\u00a0%"] == [text for _, text in short]
        for by in ("month", "week", "day", "owner", "cause", "status", "alert", "severity"):
            page = html.unescape((await client.get(f"/console/cases/figures?days=90&by={by}")).text)
            found = FIGURE.findall(page)
            assert found
            for url, text in found:
                listed = links_of(await client.get(url))
                assert listed
                assert text.endswith("%") or int(text) == len(listed), (by, url)
        assert 200 == (await client.get("/console/cases/figures/cases?figure=x&from=y&by=z&after=q")).status_code
        unknown = await client.get("/console/cases/figures/cases?by=owner&key=nobody")
        assert "No cases." in unknown.text
