"""A web process on a standby: it answers what reads, says how old that may be, and names the primary for the rest."""

from typing import Final
from urllib.parse import quote

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterword import errors
from afterword.core.wire.site import Site
from afterword.kit.db import TakesNoWrites
from afterword.kit.db.replicas import Replica
from afterword.kit.web.headers import Header, header

COPY: Final = "afterword.copy"  # in the scope of a request that a copy answers
LAG: Final = "Afterword-Replica-Lag"
READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
BEHIND_SECONDS: Final = 2
PATH_CHARACTERS_MAX: Final = 1_000
OPERATORS: Final = frozenset({"/healthz", "/metrics"})


class Copy(msgspec.Struct, frozen=True):
    """The server of a page that a copy shows; `lag` in seconds, None where nobody knows."""

    lag: int | None
    url: str  # of the primary
    here: str  # the same page there


def lag_header(lag: int) -> Header:
    return header(LAG, str(lag))


def behind() -> errors.Unavailable:
    """The refusal of what a standby cannot answer before it has replayed more."""
    return errors.Unavailable(
        "This copy of the data is not yet as new as what you read last. Ask again, or ask the primary.",
        "replica_behind",
        headers={"Retry-After": str(BEHIND_SECONDS)},
    )


class ReadOnly:
    """Refuses what writes before anything else looks at it, with the primary's address, which is the public one."""

    def __init__(self, app: ASGIApp, replica: Replica, site: Site) -> None:
        self._app = app
        self._replica = replica
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in OPERATORS:
            await self._app(scope, receive, send)
            return
        if scope["method"] not in READING:
            raise self._misdirected(scope)
        lag = await self._replica.lag()
        scope[COPY] = Copy(lag, self._site.public_url, self._address_of(scope))
        more = [] if lag is None else [lag_header(lag)]

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        try:
            await self._app(scope, receive, told)
        except errors.Refusal as refusal:
            shown = self._misdirected(scope) if isinstance(refusal, TakesNoWrites) else refusal
            if lag is not None:
                shown.headers = {**shown.headers, LAG: str(lag)}
            raise shown from refusal.__cause__

    def _address_of(self, scope: Scope) -> str:
        return f"{self._site.public_url}{quote(scope['path'][:PATH_CHARACTERS_MAX])}"

    def _misdirected(self, scope: Scope) -> errors.Misdirected:
        url = self._site.public_url
        refusal = errors.Misdirected(
            f"This server has a copy of the data, and only reads. Send this request to {url}.",
            headers={"Location": self._address_of(scope)},
        )
        refusal.url = url
        return refusal
