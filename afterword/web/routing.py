"""One router, starlette's, for the API and the pages: one entry for each address, whatever its methods.

Pages are the addresses outside the API, handled with starlette's requests and responses. `app.py` mounts each package's
`routes` and gives requests their `state`: pool, site, limiter.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from afterword import errors
from afterword.core.wire.site import API_PREFIX

Handler = Callable[[Request], Awaitable[Response]]
FOR_PEOPLE = "afterword.for_people"
HANDLER: Final = "afterword.handler"
COMPRESSED_BYTES_MIN: Final = 1_000
COMPRESSION: Final = 4  # of 9: a page of 26 kB takes 0.1 ms
_FAMILY: Final = re.compile(rf"{re.escape(API_PREFIX)}/(?:q/)?[a-z]+(?=/|\Z)")
_PARAMETER: Final = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Page:
    """One method of one address. `for_people`: a refusal is a page too, whatever `Accept` has."""

    method: str
    path: str
    handler: Handler
    for_people: bool

    def app(self, state: Mapping[str, Any]) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            scope["state"] = state
            scope[FOR_PEOPLE] = self.for_people
            scope[HANDLER] = self.handler
            await _compressed(scope, receive, send)

        return answer


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    response = await scope[HANDLER](Request(scope, receive))
    await response(scope, receive, send)


_compressed: Final = GZipMiddleware(_answer, minimum_size=COMPRESSED_BYTES_MIN, compresslevel=COMPRESSION)


class Pages:
    def __init__(self) -> None:
        self.all: list[Page] = []

    def get(self, *paths: str, for_people: bool = False) -> Callable[[Handler], Handler]:
        return self._add("GET", paths, for_people=for_people)

    def post(self, *paths: str, for_people: bool = False) -> Callable[[Handler], Handler]:
        return self._add("POST", paths, for_people=for_people)

    def _add(self, method: str, paths: tuple[str, ...], *, for_people: bool) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            self.all.extend(Page(method, path, handler, for_people) for path in paths)
            return handler

        return declare


class Resource:
    """One address with an application for each method. The outermost middleware adds HEAD and OPTIONS."""

    def __init__(self, template: str, by_method: Mapping[str, ASGIApp]) -> None:
        self._template = template
        self._by_method = by_method

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["path_template"] = self._template
        app = self._by_method.get(scope["method"])
        if app is not None:
            await app(scope, receive, send)
            return
        allow = ", ".join(sorted(self._by_method))
        if scope["method"] != "OPTIONS":
            raise errors.MethodNotAllowed(f"This address takes {allow}.", headers={"Allow": allow})
        await send({"type": "http.response.start", "status": 204, "headers": [(b"allow", allow.encode())]})
        await send({"type": "http.response.body", "body": b""})


class Families:
    """The routers of each family of the API (`/v3.2/q/instance`) and of all other addresses, as one application.

    A router tries its routes in turn: all in one list cost a tenth of a read. Each is made for its first request.
    """

    def __init__(self, apps: Iterable[tuple[str, str, Callable[[], ASGIApp]]]) -> None:
        """Takes methods, path templates and makers of their applications; a fixed segment wins over a parameter."""
        self._made: dict[str, Router] = {}
        self._declared: dict[str, dict[str, dict[str, Callable[[], ASGIApp]]]] = {"": {}}
        for method, path, make in apps:
            makers = self._declared.setdefault(_family_of(path), {}).setdefault(path, {})
            assert method not in makers, f"{method} {path} is declared twice"  # noqa: S101
            makers[method] = make
        paths = [path for family in self._declared.values() for path in family]
        shapes = {_PARAMETER.sub("{}", path) for path in paths}
        assert len(shapes) == len(paths), "one address has one spelling of its parameters"  # noqa: S101

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises NotFound, MethodNotAllowed."""
        family = _family_of(scope["path"])
        router = self._made.get(family) or self._make(family if family in self._declared else "")
        await router(scope, receive, send)

    def _make(self, family: str) -> Router:
        if family not in self._made:
            declared = self._declared[family]
            routes = [
                Route(path, Resource(path, {method: make() for method, make in declared[path].items()}))
                for path in sorted(declared, key=_fixed_first)
            ]
            self._made[family] = Router(routes, redirect_slashes=False, default=_nowhere)
        return self._made[family]


def _family_of(path: str) -> str:
    match = _FAMILY.match(path)
    return match[0] if match else ""


async def _nowhere(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise errors.NotFound(
        "There is no operation at this address. The API is below /v3.2; the reference at /docs lists all.",
        "unknown_route",
    )


def _fixed_first(path: str) -> list[tuple[bool, str]]:
    return [(segment.startswith("{"), segment) for segment in path.split("/")]
