"""Calls of the API for tools: over HTTP, or to the same routes within the web process."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx2
import msgspec
from starlette.types import ASGIApp

REQUEST_SECONDS_MAX: Final = 20.0
ANSWER_BYTES_MAX: Final = 2_000_000
ERRORS_SHOWN_MAX: Final = 20

Query = Mapping[str, str | int | float | bool | Sequence[str] | Sequence[int] | None]


class Refused(Exception):
    """A tool ends here; the sentence goes to the assistant."""


class Answer(msgspec.Struct, frozen=True):
    document: Any
    version: str = ""
    """The `ETag`, for a change that is to fail if another one comes between."""


class Api:
    """The API as one token sees it. The client has the base address."""

    def __init__(self, client: httpx2.AsyncClient, *, headers: Mapping[str, str]) -> None:
        self._client = client
        self._headers = headers

    async def get(self, path: str, query: Query | None = None) -> Answer:
        return await self._request("GET", path, query=query)

    async def send(
        self, method: str, path: str, body: object, *, key: str | None = None, version: str | None = None
    ) -> Answer:
        """`key` makes a repeated POST harmless; `version` is the ETag that a PATCH or PUT expects."""
        more = {"Idempotency-Key": key, "If-Match": version}
        return await self._request(method, path, body=body, more={name: text for name, text in more.items() if text})

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        more: Mapping[str, str] | None = None,
    ) -> Answer:
        headers = {**self._headers, **(more or {}), "Accept": "application/json"}
        content = None
        if method != "GET":
            headers["Content-Type"] = "application/json"
            content = msgspec.json.encode(body)
        given = {name: value for name, value in (query or {}).items() if value is not None}
        try:
            async with self._client.stream(method, path, params=given, headers=headers, content=content) as response:
                raw = await _read(response)
        except httpx2.TimeoutException:
            raise Refused(
                f"Afterword did not answer within {REQUEST_SECONDS_MAX:g} seconds. Try again later."
            ) from None
        except httpx2.TransportError:
            raise Refused("Afterword cannot be reached at the address that this server was given.") from None
        return Answer(_document(response, raw), response.headers.get("etag", ""))


class InProcess(httpx2.AsyncBaseTransport):
    """Requests to the application of this process.

    A request goes on to its end when its tool is cancelled, as one over HTTP does: half of a shared transaction cannot
    be taken back.
    """

    _under_way: Final = set[asyncio.Task[httpx2.Response]]()

    def __init__(self, app: ASGIApp, *, client: tuple[str, int]) -> None:
        self._inner = httpx2.ASGITransport(app=app, client=client)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        call = asyncio.create_task(self._inner.handle_async_request(request))
        self._under_way.add(call)
        call.add_done_callback(self._end)
        return await asyncio.shield(call)

    def _end(self, call: asyncio.Task[httpx2.Response]) -> None:
        self._under_way.discard(call)
        if not call.cancelled():
            call.exception()  # seen, or it would be told of as one that nobody awaited


async def _read(response: httpx2.Response) -> bytes:
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > ANSWER_BYTES_MAX:
            raise Refused("The answer is too large. Ask for a smaller part of it.")
    return bytes(content)


def wrong_members(problem: dict[str, Any]) -> list[str]:
    """A line for each error of a problem document, but for the one whose reason stands in the detail."""
    return [
        f"{wrong.get('pointer') or wrong.get('parameter') or wrong.get('header')}: {wrong['message']}"
        for wrong in problem["errors"][:ERRORS_SHOWN_MAX]
        if wrong["message"] not in problem["detail"]
    ]


def _document(response: httpx2.Response, raw: bytes) -> Any:
    try:
        document = msgspec.json.decode(raw) if raw else None
    except msgspec.DecodeError:
        raise Refused(f"The address answered {response.status_code} without JSON: it is not Afterword's.") from None
    if not response.is_success:
        raise Refused(_sentence(response, document))
    return document


def _sentence(response: httpx2.Response, document: Any) -> str:
    """The refusal in words. Afterword's problem documents quote nothing of a request."""
    if not isinstance(document, dict) or "code" not in document:
        return f"The address answered {response.status_code}: it is not Afterword's."
    parts = [f"{response.status_code} {document['code']}: {document['detail']}", *wrong_members(document)]
    if scopes := document.get("required_scopes"):
        parts.append(f"The token lacks one of these scopes: {', '.join(scopes)}.")
    again = f"Try again in {response.headers.get('retry-after')} seconds."
    if "retry-after" in response.headers and again not in document["detail"]:
        parts.append(again)
    return "\n".join(parts)
