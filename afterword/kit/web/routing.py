"""One router for the API and the pages: one entry for each address, whatever its methods.

Pages are the addresses outside the API, handled with starlette's requests and responses. `app.py` mounts each package's
`routes` and gives requests their `state`: pool, site, limiter.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache, partial
from operator import itemgetter
from typing import Any, Final, TypeVar

import msgspec
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from afterword import errors

Handler = Callable[[Request], Awaitable[Response]]
Declared = TypeVar("Declared", bound=Handler)
FOR_PEOPLE = "afterword.for_people"
HANDLER: Final = "afterword.handler"
COMPRESSED_BYTES_MIN: Final = 1_000
COMPRESSION: Final = 4  # of 9: a page of 26 kB takes 0.1 ms
_ALL_THAT_FOLLOWS: Final = "{path:path}"
_PARAMETER: Final = re.compile(r"\{([a-z_]+)\}")
_NO_VALUES: Final[Mapping[str, str]] = {}
_Key = Callable[[list[str]], object]


class Page(msgspec.Struct, frozen=True):
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

    def get(self, *paths: str, for_people: bool = False) -> Callable[[Declared], Declared]:
        return self._add("GET", paths, for_people=for_people)

    def post(self, *paths: str, for_people: bool = False) -> Callable[[Declared], Declared]:
        return self._add("POST", paths, for_people=for_people)

    def _add(self, method: str, paths: tuple[str, ...], *, for_people: bool) -> Callable[[Declared], Declared]:
        def declare(handler: Declared) -> Declared:
            self.all.extend(Page(method, path, handler, for_people) for path in paths)
            return handler

        return declare


@cache  # tests make thousands of applications with the same addresses
def _parsed(template: str) -> tuple[list[str], tuple[str, ...], tuple[int, ...]]:
    segments = template.split("/")
    names = {place: match[1] for place, segment in enumerate(segments) if (match := _PARAMETER.fullmatch(segment))}
    return segments, tuple(names.values()), tuple(names)


class Address:
    """One path template with an application for each method, which is made for its first request."""

    def __init__(self, template: str) -> None:
        self.template = template
        self.segments, self.names, self.places = _parsed(template)
        self.makers: dict[str, Callable[[], ASGIApp]] = {}
        self.made: dict[str, ASGIApp] = {}

    def make(self, method: str) -> ASGIApp:
        """Raises MethodNotAllowed. The outermost middleware adds HEAD and OPTIONS."""
        if method in self.makers:
            app = self.made[method] = self.makers[method]()
            return app
        allow = ", ".join(sorted(self.makers))
        if method == "OPTIONS":
            return partial(_answer_options, allow.encode())
        raise errors.MethodNotAllowed(f"This address takes {allow}.", headers={"Allow": allow})


class Router:
    """The application of all addresses. Of a path with parameters it looks up the fixed segments."""

    def __init__(self, apps: Iterable[tuple[str, str, Callable[[], ASGIApp]]]) -> None:
        """Takes methods, path templates and makers of their applications; a fixed segment wins over a parameter.

        A last segment `{path:path}` takes all that follows.
        """
        found: dict[str, Address] = {}
        for method, path, make in apps:
            if path not in found:
                found[path] = Address(path)
            makers = found[path].makers
            assert method not in makers, f"{method} {path} is declared twice"  # noqa: S101
            makers[method] = make
        self._fixed: dict[str, Address] = {}
        self._open: list[tuple[str, Address]] = []  # by what stands before `{path:path}`
        by_shape: dict[tuple[int, ...], list[Address]] = {}  # which segments are parameters, and how many there are
        for path, address in found.items():
            if path.endswith(_ALL_THAT_FOLLOWS):
                self._open.append((path.removesuffix(_ALL_THAT_FOLLOWS), address))
            elif address.names:
                by_shape.setdefault((*address.places, len(address.segments)), []).append(address)
            else:
                self._fixed[path] = address
        self._shapes: dict[int, list[tuple[_Key, dict[object, Address]]]] = {}  # by the number of segments
        for (*places, size), addresses in sorted(by_shape.items(), reverse=True):  # parameters that stand later first
            key_of = itemgetter(*(place for place in range(size) if place not in places))
            of_shape = {key_of(address.segments): address for address in addresses}
            assert len(of_shape) == len(addresses), "one address has one spelling of its parameters"  # noqa: S101
            self._shapes.setdefault(size, []).append((key_of, of_shape))

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Raises NotFound, MethodNotAllowed."""
        path: str = scope["path"]
        address, values = self._fixed.get(path), _NO_VALUES
        if address is None:
            segments = path.split("/")
            for key_of, of_shape in self._shapes.get(len(segments), ()):
                if (address := of_shape.get(key_of(segments))) is not None:
                    values = dict(zip(address.names, map(segments.__getitem__, address.places), strict=True))
                    break
            if address is None or "" in values.values():
                address, values = self._opened(path)
        scope["path_template"], scope["path_params"] = address.template, values
        method: str = scope["method"]
        return (address.made.get(method) or address.make(method))(scope, receive, send)

    def _opened(self, path: str) -> tuple[Address, Mapping[str, str]]:
        for prefix, address in self._open:
            if path.startswith(prefix):
                return address, {"path": path.removeprefix(prefix)}
        raise errors.NotFound(
            "There is no operation at this address. The API is below /v3.2; the reference at /docs lists all.",
            "unknown_route",
        )


async def _answer_options(allow: bytes, _scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": [(b"allow", allow)]})
    await send({"type": "http.response.body", "body": b""})
