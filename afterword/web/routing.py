"""One router, starlette's, for the API and the pages: one entry for each address, whatever its methods."""

import re
from collections.abc import Iterable
from typing import Final

from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from afterword import errors
from afterword.core.wire.site import API_PREFIX

_FAMILY: Final = re.compile(rf"{re.escape(API_PREFIX)}/(?:q/)?[a-z]+(?=/|\Z)")
_PARAMETER: Final = re.compile(r"\{[^}]*\}")


class Resource:
    """An address: what answers each of its methods. The front adds HEAD, and OPTIONS to `Allow`."""

    def __init__(self, template: str) -> None:
        self._template = template
        self._by_method: dict[str, ASGIApp] = {}

    def add(self, method: str, app: ASGIApp) -> None:
        """Let `app` answer the method."""
        assert method not in self._by_method, f"{method} {self._template} is declared twice"  # noqa: S101
        self._by_method[method] = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request (ASGI). Raises MethodNotAllowed."""
        scope["path_template"] = self._template
        app = self._by_method.get(scope["method"])
        if app is not None:
            await app(scope, receive, send)
            return
        allow = ", ".join(sorted(self._by_method))
        if scope["method"] != "OPTIONS":
            raise errors.MethodNotAllowed("This address has other methods.", headers={"Allow": allow})
        await send({"type": "http.response.start", "status": 204, "headers": [(b"allow", allow.encode())]})
        await send({"type": "http.response.body", "body": b""})


def router_of(apps: Iterable[tuple[str, str, ASGIApp]]) -> Router:
    """The router over methods, path templates and their applications; a fixed segment wins over a parameter.

    The router tries one entry after the other, so each family of the API is an entry of its own, with few below it.
    """
    resources: dict[str, Resource] = {}
    for method, path, app in apps:
        resources.setdefault(path, Resource(path)).add(method, app)
    shapes = {_PARAMETER.sub("{}", path) for path in resources}
    assert len(shapes) == len(resources), "one address has one spelling of its parameters"  # noqa: S101
    entries: list[BaseRoute] = []
    families: dict[str, Router] = {}
    for path in sorted(resources, key=_fixed_first):
        family = _FAMILY.match(path)
        if family is None or family[0] == path:
            entries.append(Route(path, resources[path]))
            continue
        prefix = family[0]
        if prefix not in families:
            families[prefix] = _router([])
            entries.append(Mount(prefix, app=families[prefix]))
        families[prefix].routes.append(Route(path.removeprefix(prefix), resources[path]))
    return _router(entries)


def _router(routes: list[BaseRoute]) -> Router:
    return Router(routes, redirect_slashes=False, default=_nowhere)


async def _nowhere(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise errors.NotFound("There is no operation at this address.", "unknown_route")


def _fixed_first(path: str) -> tuple[bool, list[tuple[bool, str]]]:
    """The API first, which is asked for most."""
    segments = [(segment.startswith("{"), segment) for segment in path.split("/")]
    return not path.startswith(API_PREFIX), segments
