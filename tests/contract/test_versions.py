"""The version that a client read fits until the next change, and is refused from then on."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import pytest

from afterword.kit.web.operations import Route
from tests.contract import probes
from tests.contract.test_examples import DOCUMENT
from tests.contract.world import ROUTES, World, routes_where

READ: Final = {route.path for route in ROUTES if route.method == "GET"}
TEXTS: Final = ("title", "display_name", "name", "first_name")
OTHERS: Final[Mapping[str, object]] = {
    "folder": "Cases", "valid_days": 9, "texts_days": 9, "severity": "low", "enabled": True, "closed_on_holidays": True,
    "age_days_max": 9, "host": "read.shop.example", "console_networks": ["0.0.0.0/0", "::/0"],
}  # fmt: skip
OF_A_DRAFT: Final = "/q/questionnaire/{questionnaire_id}/draft/translations"  # has the draft's version
pytestmark = pytest.mark.asyncio(loop_scope="session")


def change_of(world: World, route: Route) -> Mapping[str, Any]:
    """A body that changes something, whatever other tests have changed before."""
    assert route.body is not None
    own = {"locale": "fr" if "pipeline" in route.path else "de"}  # an item has two addresses
    wanted = {**dict.fromkeys(TEXTS, route.path[-20:]), **OTHERS, **own}
    members = probes.filled(route.body, world.ours)
    changes = [(name, value) for name, value in wanted.items() if name in members]
    return {**probes.valid(route.body, world.ours), **dict(changes[:1])}


@routes_where(lambda route: route.method in {"PATCH", "PUT", "DELETE"})
async def test_a_version_that_there_never_was(world: World, route: Route) -> None:
    """A route changes nothing for a client that holds another version, whether it documents If-Match or not."""
    await world.ready(route)
    document = msgspec.UNSET if route.body is None else change_of(world, route)
    reply = await world.ask(route.method, world.ours.path(route), headers={"If-Match": '"nonsense"'}, document=document)
    assert (412, "precondition_failed") == (reply.status, reply.code) or 404 == reply.status, reply
    parameters = DOCUMENT["paths"][route.path][route.method.lower()]["parameters"]
    assert route.has_version == ({"$ref": "#/components/parameters/IfMatch"} in parameters)


@routes_where(lambda route: route.method in {"PATCH", "PUT"} and route.path in READ - {OF_A_DRAFT})
async def test_old_version(world: World, route: Route) -> None:
    path = world.ours.path(route)
    await world.ready(route)
    before = await world.ask("GET", path)
    document = change_of(world, route)
    after = await world.ask(route.method, path, headers={"If-Match": before.headers["etag"]}, document=document)
    assert 200 == after.status, after
    assert after.headers["etag"] != before.headers["etag"], document
    again = await world.ask(route.method, path, headers={"If-Match": before.headers["etag"]}, document=document)
    assert (412, "precondition_failed") == (again.status, again.code)
