"""Collects all findings of a test's probes, so that one run reports everything."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from afterword.core.wire.lists import Column
from afterword.kit.web.operations import Route
from tests.contract import probes
from tests.contract.wire import PUBLIC_URL, Reply, problem_faults
from tests.contract.world import PIXEL, World
from tests.core.foreign.samples import SAMPLES

UNAUTHENTICATED: Final = (401, "unauthenticated")
NOT_FOUND: Final = (404, "not_found")
UNKNOWN_ROUTE: Final = (404, "unknown_route")
documents: dict[str, Any] = {}


async def documented(world: World) -> Mapping[str, Any]:
    """The OpenAPI document's paths, as clients get them."""
    if not documents:
        reply = await world.ask("GET", "/openapi.json", token=None)
        documents.update(reply.document["paths"])
    return documents


class Findings:
    """All findings of a test, so that one run reports everything."""

    def __init__(self, world: World, route: Route | None = None) -> None:
        self.world, self.route = world, route
        self.found: list[str] = []
        self.count = 0

    async def expect(self, label: str, reply: Reply, *expected: tuple[int, str]) -> None:
        """The reply is one of the expected refusals, and a good one."""
        outcome = (reply.status, reply.code) if "json" in reply.headers.get("content-type", "") else (reply.status, "")
        if outcome not in expected:
            self.found.append(f"{label}: {outcome} and not {expected}: {reply.body[:300]!r}")
        await self.check(label, reply)

    async def expect_field(self, label: str, reply: Reply, place: str, codes: Iterable[str]) -> None:
        """The reply blames this one field for one of these reasons."""
        await self.expect(label, reply, (422, "invalid"))
        if reply.status == 422 and reply.wrong not in [[(place, code)] for code in codes]:
            self.found.append(f"{label}: {reply.wrong} and not {place} {codes}")

    def report(self) -> None:
        """Fail with everything that was found, or because nothing was asked: the route is none for this test."""
        assert self.count
        assert not self.found, "\n".join(self.found)

    async def check(self, label: str, reply: Reply) -> None:
        """The reply, whatever it is, is no bug, is well formed and is documented."""
        self.count += 1
        self.found += [f"{label}: {fault}" for fault in problem_faults(reply)]
        if self.route is not None and reply.code not in {"unknown_route", "method_not_allowed"}:
            paths = await documented(self.world)
            if str(reply.status) not in paths[self.route.path][self.route.method.lower()]["responses"]:
                self.found.append(f"{label}: the OpenAPI document does not have {reply.status}")


GOOD_FILE: Final = b"responder_channel_identifier,locale\nann@example.com,el\n"


def file_for(route: Route) -> bytes:
    if "application/xml" in route.uploads:
        return SAMPLES["limesurvey"]
    return GOOD_FILE if "text/csv" in route.uploads else PIXEL


def good_body(world: World, route: Route) -> dict[str, Any]:
    """Options of a request whose body is right."""
    if route.uploads:
        return {"file": file_for(route)}
    if route.body is None:
        needed = probes.valid(route.query, world.ours) if route.query is not None and route.method == "GET" else {}
        return {"document": needed} if needed else {}  # a body on GET holds parameters
    document = probes.valid(route.body, world.ours)
    return {"document": document if route.rows_max is None else [document]}


def columns_of(route: Route) -> dict[str, Column]:
    """The list's columns as clients write them."""
    assert route.listing is not None
    return {"".join(part.capitalize() for part in name.split("_")): c for name, c in route.listing.columns.items()}


def next_of(reply: Reply) -> str | None:
    """The address of the next page."""
    link = reply.headers.get("link")
    return None if link is None else link.partition(">")[0].removeprefix(f"<{PUBLIC_URL}")


def rows_of(reply: Reply) -> list[Any]:
    """The rows of a list, whatever its shape."""
    return reply.document if isinstance(reply.document, list) else reply.document["results"]
