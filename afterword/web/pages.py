"""Declares pages: the addresses outside the API, handled with starlette's requests and responses.

`app.py` mounts each package's `routes` and gives requests their `state`: pool, site, limiter.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

Handler = Callable[[Request], Awaitable[Response]]
FOR_PEOPLE = "afterword.for_people"


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
            response = await self.handler(Request(scope, receive))
            await response(scope, receive, send)

        return answer


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
