"""One route of each kind for what no route decides for itself: another one for each commit, all of them at night."""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence

import pytest

from afterword.kit.web.operations import DEPTH_MAX, Route
from tests.contract.world import ROUTES, name_of
from tests.sizes import FULL, draw_by


def kind_of(route: Route) -> tuple[object, ...]:
    """All that the shared part of the web application asks a route for."""
    return (
        route.method, route.body is not None, route.shape if route.listing is not None else None,
        route.rows_max is not None, bool(route.uploads), bool(route.media_types), bool(route.parameters),
        bool(route.texts), route.depth_max > DEPTH_MAX, route.acts,
    )  # fmt: skip


def drawn(routes: Sequence[Route], by: str) -> list[Route]:
    """One route of each kind among these, in the order of the table."""
    kinds: defaultdict[tuple[object, ...], list[Route]] = defaultdict(list)
    for route in routes:
        kinds[kind_of(route)].append(route)
    found = {name_of(random.Random(f"{by} {kind}").choice(each)) for kind, each in kinds.items()}  # noqa: S311
    return [route for route in routes if name_of(route) in found]


def each_kind_where(is_wanted: Callable[[Route], object]) -> pytest.MarkDecorator:
    """A case for one route of each kind like this; at full size for each route like this."""
    routes = [route for route in ROUTES if is_wanted(route)]
    return pytest.mark.parametrize("route", routes if FULL else drawn(routes, draw_by()), ids=name_of)


each_kind = each_kind_where(lambda _: True)
each_kind_with_ids = each_kind_where(lambda route: route.parameters)
