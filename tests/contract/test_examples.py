"""Every example of the OpenAPI document is a request that works."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from afterword.core.wire.site import Site
from afterword.kit.web import openapi
from afterword.kit.web.operations import Route
from tests.contract.findings import file_for
from tests.contract.world import ROUTES, World, name_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

DOCUMENT: Final[dict[str, Any]] = openapi.document_of(ROUTES, site=Site("https://survey.example.com", b""))
SAMPLE_ID: Final = "0QmCkLh2XnT7vRz9YbWd4e"
ORDER: Final = ("GET", "PUT", "POST", "PATCH", "DELETE")
WAIT: Final[Mapping[str, str]] = {
    "GET /q/export/{export_id}/file": "409 until a worker has made the file",
    "POST /q/import/{import_id}/resumption": "409 unless it failed",
    "POST /q/queue/item/{item_id}/repetition": "409 until the item has failed",
    "DELETE /organization/{organization_id}/retention/hold/{hold_id}": "404: the example of an erasure needs it gone",
}


async def test_each(own_world: World) -> None:
    """With ids of things that are there in place of the sample's. Deletions come last and take what examples made."""
    ours, made, refused = own_world.ours, dict[str, str](), dict[str, object]()
    for route in sorted(ROUTES, key=lambda route: (ORDER.index(route.method), -route.path.count("/"))):
        operation = DOCUMENT["paths"][route.path][route.method.lower()]
        content = operation.get("requestBody", {}).get("content", {})
        more: dict[str, Any] = {}
        if route.body is not None and "application/json" in content:
            more["document"] = with_ids(content["application/json"]["example"], own_world, route)
        elif content:
            more["file"] = content["text/csv"]["example"].encode() if "text/csv" in content else file_for(route)
        last = route.parameters[-1] if route.parameters else ""
        path = ours.path(route, **({last: made[route.path]} if route.method == "DELETE" and route.path in made else {}))
        asked = [each["name"] for each in operation["parameters"] if each.get("in") == "query" and each.get("required")]
        await own_world.ready(route)
        query = "&".join(f"{name}={ours.ids[name]}" for name in asked)
        reply = await own_world.ask(route.method, f"{path}?{query}", **more)
        if not 200 <= reply.status < 300:
            refused[name_of(route)] = (reply.status, reply.body, more)
        elif reply.status == 201:
            name = next(iter(reply.document))
            made[f"{route.path}/{{{name}}}"] = str(reply.document[name])
    assert {} == {name: why for name, why in refused.items() if name not in WAIT}
    assert set(WAIT) == set(refused)


def with_ids(example: Any, world: World, route: Route, name: str = "") -> Any:
    """The example with our ids in place of the sample's, by the names of members."""
    if isinstance(example, dict):
        members: dict[str, Any] = example
        return {name: with_ids(each, world, route, name) for name, each in members.items()}
    if isinstance(example, list):
        entries: list[Any] = example
        return [with_ids(each, world, route, name.removesuffix("s")) for each in entries]
    return world.ours.id_of(route, name) if example == SAMPLE_ID else example
