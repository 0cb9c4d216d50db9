"""One search over everything in the console."""

import html

from tests.people.screens.test_people import (
    browser,
    known as known,  # noqa: PLC0414  a fixture
)
from tests.privacy.conftest import (
    CANARY,
    Desk,
    Known,
    desk as desk,  # noqa: PLC0414  a fixture
)


async def test_find(desk: Desk, known: Known) -> None:
    async with browser(desk) as client, browser(desk, "pan@patras.example") as stranger:
        page = html.unescape((await client.get(f"/console/find?q=order-{CANARY}")).text)
        for link in (f"/console/people/{known.responder_id}", "/console/cases/"):
            assert link in page
        assert "order-" in page
        other = html.unescape((await stranger.get(f"/console/find?q=order-{CANARY}")).text)
        assert "Nothing found" in other
        assert known.responder_id not in other
        assert "<b>" not in (await client.get("/console/find?q=<b>bold</b>")).text
