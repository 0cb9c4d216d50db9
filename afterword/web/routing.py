"""Which operation answers at a path below the base address: a tree of segments, in which a fixed one wins over an id.

The framework's own routing costs a third of a read, and does for each request what can be done once.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from afterword import errors
from afterword.core.wire.site import API_PREFIX
from afterword.web.operations import Route

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_INSIDE: Final = f"{API_PREFIX}/"


@dataclass(slots=True)
class _Place:
    """A path with operations: its template, the names of its parameters in order, what answers each method."""

    template: str
    names: tuple[str, ...]
    by_method: dict[str, App] = field(default_factory=dict[str, App])

    @property
    def allow(self) -> str:
        """The methods, as the header `Allow` lists them; the front adds HEAD and OPTIONS."""
        return ", ".join(sorted(self.by_method))


@dataclass(slots=True)
class _Node:
    """A segment: what may follow it."""

    fixed: dict[str, "_Node"] = field(default_factory=dict[str, "_Node"])
    parameter: "_Node | None" = None
    place: _Place | None = None


class Operations:
    """The operations of the API by path and method, before an application that knows all other addresses."""

    def __init__(self, routes: Iterable[tuple[Route, App]], *, others: App) -> None:
        self._root = _Node()
        self._others = others
        for route, operation in routes:
            self._add(route, operation)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer a request (ASGI): what is returned is whose answer it is, to be awaited. Raises MethodNotAllowed."""
        values: list[str] = []
        place = None
        if scope["type"] == "http" and scope["path"].startswith(_INSIDE):
            place = _find(self._root, scope["path"][len(_INSIDE) :].split("/"), 0, values)
        if place is None:
            return self._others(scope, receive, send)
        scope["path_template"] = place.template
        operation = place.by_method.get(scope["method"])
        if operation is not None:
            scope["path_params"] = dict(zip(place.names, values, strict=True))
            return operation(scope, receive, send)
        if scope["method"] == "OPTIONS":
            return _send_options(place, send)
        raise errors.MethodNotAllowed("This address has other methods.", headers={"Allow": place.allow})

    def _add(self, route: Route, operation: App) -> None:
        node = self._root
        for segment in route.path.removeprefix("/").split("/"):
            if segment.startswith("{"):
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.fixed.setdefault(segment, _Node())
        template = f"{API_PREFIX}{route.path}"
        node.place = node.place or _Place(template, route.parameters)
        assert node.place.template == template, "one address has one spelling of its parameters"  # noqa: S101
        assert route.method not in node.place.by_method, f"{route.method} {route.path} is declared twice"  # noqa: S101
        node.place.by_method[route.method] = operation


async def _send_options(place: _Place, send: Send) -> None:
    allow = (b"allow", place.allow.encode())
    await send({"type": "http.response.start", "status": 204, "headers": [allow]})
    await send({"type": "http.response.body", "body": b""})


def _find(node: _Node, segments: Sequence[str], at: int, values: list[str]) -> _Place | None:
    if at == len(segments):
        return node.place
    fixed = node.fixed.get(segments[at])
    if fixed is not None and (found := _find(fixed, segments, at + 1, values)) is not None:
        return found
    if node.parameter is None:
        return None
    values.append(segments[at])
    found = _find(node.parameter, segments, at + 1, values)
    if found is None:
        values.pop()
    return found
