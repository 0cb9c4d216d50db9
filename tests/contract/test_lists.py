"""What a list shows, its filters find: for every list, row and column, by the shown value itself."""

from typing import Any
from urllib.parse import quote

import pytest

from afterword.web.operations import Route
from tests.contract.findings import columns_of, rows_of
from tests.contract.world import World, with_list

pytestmark = pytest.mark.asyncio(loop_scope="session")

FIND = ("EQUAL", "GREATER_EQUAL", "LESS_EQUAL", "IN")
EXCLUDE = ("NOT_EQUAL", "ALT_NOT_EQUAL", "GREATER_THAN", "LESS_THAN", "NOT_IN")


async def matching(world: World, path: str, query: str) -> list[dict[str, Any]]:
    reply = await world.ask("GET", f"{path}?limit=500&{query}")
    assert 200 == reply.status, (query, reply)
    return rows_of(reply)


@with_list
async def test_shown_values(world: World, route: Route) -> None:
    path = world.ours.path(route)
    rows = (await matching(world, path, ""))[:2]
    assert rows
    for row in rows:
        for name, column in columns_of(route).items():
            wire_name = next(
                key for key, each in (route.listing.columns if route.listing else {}).items() if each is column
            )
            value = row.get(wire_name)
            if value is None:
                assert row in await matching(world, path, f"filter_by[NULL][{name}]=null"), name
                assert row not in await matching(world, path, f"filter_by[NOT_NULL][{name}]=null"), name
                continue
            text = quote(str(int(value) if isinstance(value, bool) else value), safe="")
            ordered = column.kind != "boolean"
            for criterion in FIND:
                if ordered or criterion in {"EQUAL", "IN"}:
                    assert row in await matching(world, path, f"filter_by[{criterion}][{name}]={text}"), (
                        criterion,
                        name,
                    )
            for criterion in EXCLUDE:
                if ordered or "NOT" in criterion:
                    found = await matching(world, path, f"filter_by[{criterion}][{name}]={text}")
                    assert row not in found, (criterion, name)
            assert row in await matching(world, path, f"filter_by[NOT_NULL][{name}]=null"), name


@with_list
async def test_order(world: World, route: Route) -> None:
    """Ascending is descending backwards, but for nulls, which are last in both."""
    path = world.ours.path(route)
    for name, column in columns_of(route).items():
        wire_name = next(
            key for key, each in (route.listing.columns if route.listing else {}).items() if each is column
        )
        up = [row.get(wire_name) for row in await matching(world, path, f"order_by[ASC][]={name}")]
        down = [row.get(wire_name) for row in await matching(world, path, f"order_by[DESC][]={name}")]
        there = [value for value in up if value is not None]
        assert up == [*there, *[None] * (len(up) - len(there))], name
        assert down == [*reversed(there), *[None] * (len(up) - len(there))], name
