"""This code on the schema of a newer release: every table has more columns, which came and went while it ran."""

from collections.abc import Sequence
from typing import Final

import pytest

from afterword.kit import db
from afterword.kit.web.operations import Route
from tests import newer
from tests.contract.findings import good_body
from tests.contract.world import ROUTES, World, name_of
from tests.sizes import share_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANSWERED_SHARE_MIN: Final = 0.8  # the others want what the probes do not make: a plain refusal is an answer too
DRAWN: Final = share_of([name_of(route) for route in ROUTES if route.method != "DELETE"], 0.2)
LASTING: Final = [route for route in ROUTES if name_of(route) in DRAWN]


async def ask_all(world: World, routes: Sequence[Route]) -> list[int]:
    """Their statuses: a good request to each, none of which is a bug."""
    found: list[int] = []
    wrong: list[str] = []
    for route in routes:
        await world.ready(route)
        reply = await world.ask(route.method, world.ours.path(route), **good_body(world, route))
        found.append(reply.status)
        if reply.status >= 500:
            wrong.append(f"{name_of(route)}: {reply.status} {reply.body[:200]!r}")
    assert [] == wrong
    return found


async def test_columns_come_and_go(own_world: World) -> None:
    """Prepared statements of before are good after; and nothing is handed to a record that it does not know."""
    before = await ask_all(own_world, LASTING)
    assert sum(status < 300 for status in before) >= ANSWERED_SHARE_MIN * len(before)
    for change in (newer.COLUMNS, newer.NO_COLUMNS, newer.COLUMNS):
        async with db.connection(own_world.pool) as database:
            await newer.alter_all(database, change)
        await ask_all(own_world, LASTING)
    await ask_all(own_world, [route for route in ROUTES if route.method == "DELETE"])
