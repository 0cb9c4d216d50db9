"""Filters find the row that a list shows, by the shown value itself, for every list and column.

Of the criteria that find the value, and of those that leave it out, each column meets one, another for each commit.
"""

from datetime import datetime
from typing import Any
from urllib.parse import quote

import pytest

from afterword.core.wire.lists import Column
from afterword.kit.web.operations import Route
from afterword.kit.web.query import camel_case
from tests.conftest import settled
from tests.contract.findings import next_of, rows_of
from tests.contract.world import World, some_with_list
from tests.sizes import one_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIND = ("EQUAL", "IN", "NOT_NULL", "GREATER_EQUAL", "LESS_EQUAL")
EXCLUDE = ("NOT_EQUAL", "ALT_NOT_EQUAL", "NOT_IN", "NULL", "GREATER_THAN", "LESS_THAN")
ORDERED = ("GREATER", "LESS")


def columns_of(route: Route) -> dict[str, Column]:
    """The list's columns by the members that show them."""
    return dict(route.listing.columns) if route.listing else {}


async def matching(world: World, path: str, query: str = "") -> list[dict[str, Any]]:
    """The rows that a query leaves, from all pages."""
    rows: list[dict[str, Any]] = []
    target: str | None = f"{path}?limit=500&{query}"
    while target is not None:
        reply = await world.ask("GET", target)
        assert 200 == reply.status, (query, reply)
        rows += rows_of(reply)
        target = next_of(reply)
    return rows


@some_with_list
async def test_shown_values(world: World, route: Route) -> None:
    path = world.ours.path(route)
    await world.ready(route)
    row = (await matching(world, path))[0]
    for name, column in columns_of(route).items():
        value = row.get(name)
        text = quote(str(int(value) if isinstance(value, bool) else value), safe="")
        find, exclude = (("NULL",), ("NOT_NULL",)) if value is None else (FIND, EXCLUDE)
        for expected, criteria in ((True, find), (False, exclude)):
            cases = [(name, each) for each in criteria if column.kind != "boolean" or not each.startswith(ORDERED)]
            for _, criterion in one_of(cases):
                found = await matching(world, path, f"filter_by[{criterion}][{camel_case(name)}]={text}")
                assert (row in found) is expected, (criterion, name)


@some_with_list
async def test_order(world: World, route: Route) -> None:
    """Ascending is descending backwards, but for nulls, which are last in both."""
    path = world.ours.path(route)
    await settled(world.pool)  # the event log shows what can no longer be overtaken, which grows while others commit
    for name, column in columns_of(route).items():
        query = f"[]={camel_case(name)}"
        up = [shown(row, name, column) for row in await matching(world, path, f"order_by[ASC]{query}")]
        down = [shown(row, name, column) for row in await matching(world, path, f"order_by[DESC]{query}")]
        there = [value for value in up if value is not None]
        assert up == [*there, *[None] * (len(up) - len(there))], name
        assert down == [*reversed(there), *[None] * (len(up) - len(there))], name


def shown(row: dict[str, Any], name: str, column: Column) -> Any:
    """A value as it compares: equal times may be shown in two offsets."""
    value = row.get(name)
    return datetime.fromisoformat(value) if column.kind == "time" and value is not None else value
