"""The hand-made part: one place that sends, repeats what is safe to repeat, reads refusals, and walks lists."""

import random
import re
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self, TypeVar
from urllib.parse import parse_qs, quote, urlsplit

import httpx2
import msgspec

from afterword_client.errors import AfterwordError, ApiError, Disconnected, NotFound, error_of
from afterword_client.operations import Operations

T = TypeVar("T")
Query = Mapping[str, Any]

TIMEOUT_SECONDS: Final = 30.0
RETRIES: Final = 3
BACKOFF_SECONDS: Final = 0.25
WAIT_SECONDS_MAX: Final = 60.0
EARLY_SECONDS: Final = 60.0  # a token is renewed so long before it ends
REPEATED: Final = frozenset({429, 502, 503, 504})
PAGE_ROWS: Final = 100
USER_AGENT: Final = "afterword-client"
_NEXT: Final = re.compile(r'<([^>]*)>;\s*rel="next"')


@dataclass(frozen=True, slots=True)
class Credentials:
    """Client credentials (OAuth 2): the id and the whole text of a token of kind `organization`."""

    client_id: str
    client_secret: str
    scope: str | None = None  # lower-case aliases, space-separated: `queue.create`; None: all of the token's


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came: for those who need its headers (`etag`, `ratelimit-remaining`, `x-request-id`)."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def read(self, kind: type[T]) -> T:
        """The body as this type."""
        return msgspec.json.decode(self.content, type=kind)


class Client(Operations):
    """The API of one installation. Safe to share between threads; close it, or use it in a `with` statement.

    Every call is safe to repeat: a POST carries an Idempotency-Key, made here unless it is given. So connections that
    break, 429, 502, 503 and 504 are tried again up to `retries` times, after the service's Retry-After or a growing,
    random pause. Raises ApiError for refusals, Disconnected when no answer came. A time without a zone is one of the
    organization's own zone.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        credentials: Credentials | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        retries: int = RETRIES,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        if (token is None) == (credentials is None) or token == "":
            raise ValueError("Give a token or credentials.")
        if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
            raise ValueError(f"An address such as https://survey.example.com is expected, not {url!r}.")
        self._url = url.rstrip("/").removesuffix("/v3.2")
        self._http = httpx2.Client(timeout=timeout_seconds, transport=transport, headers={"User-Agent": USER_AGENT})
        self._retries = retries
        self._credentials = credentials
        self._token = token or ""
        self._token_until = float("inf") if token else 0.0
        super().__init__(self)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # For the generated operations ------------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = msgspec.UNSET,
        file: bytes | None = None,
        media_type: str = "application/json",
        idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> Reply:
        """Send one request below `/v3.2`, `file` as it is, and give its answer. Raises ApiError, Disconnected."""
        headers: dict[str, str] = {}
        if method == "POST":
            headers["Idempotency-Key"] = idempotency_key or uuid.uuid4().hex
        if if_match is not None:
            headers["If-Match"] = if_match
        content = file
        if body is not msgspec.UNSET and body is not None:
            content = msgspec.json.encode(body)
        if content is not None:
            headers["Content-Type"] = media_type
        target = f"{self._url}/v3.2{path}{_query(query or {})}"
        return self._send(method, target, headers, content)

    def pages(self, path: str, kind: type[T], *, limit: int, query: Query | None = None) -> Iterator[T]:
        """Every entry of a list, page by page with cursors; an entry that stays is seen exactly once."""
        wanted: dict[str, Any] = {**(query or {}), "limit": limit}
        while True:
            reply = self.request("GET", path, query=wanted)
            document = msgspec.json.decode(reply.content)
            yield from msgspec.convert(document["results"] if isinstance(document, dict) else document, list[kind])
            cursor = _cursor(reply.headers.get("link", ""))
            if cursor is None:
                return
            wanted |= cursor

    def stream(self, path: str, *, query: Query | None = None) -> Iterator[bytes]:
        """The bytes of a file, as they come. Not repeated: begin again when it breaks."""
        target = f"{self._url}/v3.2{path}{_query(query or {})}"
        request = self._http.build_request("GET", target, headers=self._authorization())
        try:
            response = self._http.send(request, stream=True)
            try:
                if response.status_code >= 400:
                    raise error_of(response.status_code, response.read())
                yield from response.iter_bytes()
            finally:
                response.close()
        except httpx2.TransportError as error:
            raise Disconnected("The connection broke.") from error

    # Sending ---------------------------------------------------------------------------------------------------------

    def _send(self, method: str, target: str, headers: Mapping[str, str], content: bytes | None) -> Reply:
        tries = 0
        while True:
            pause = BACKOFF_SECONDS * 2**tries * random.uniform(0.5, 1.0)
            refusal: AfterwordError
            try:
                response = self._http.request(
                    method, target, headers={**headers, **self._authorization()}, content=content
                )
            except httpx2.TransportError as error:
                refusal = Disconnected(f"No answer came: {type(error).__name__}.")
                refusal.__cause__ = error
            else:
                if response.status_code < 400:
                    return Reply(response.status_code, response.headers, response.content)
                refusal = error_of(response.status_code, response.content)
                if tries and method == "DELETE" and isinstance(refusal, NotFound):
                    return Reply(204, response.headers, b"")  # an earlier try removed it, its answer was lost
                if not self._is_worth_another_try(refusal):
                    raise refusal
                pause = max(pause, _retry_after(response.headers))
            tries += 1
            if tries > self._retries or pause > WAIT_SECONDS_MAX:
                raise refusal
            time.sleep(pause)

    def _is_worth_another_try(self, refusal: ApiError) -> bool:
        if refusal.code == "token_expired" and self._credentials is not None:
            self._token_until = 0.0
            return True
        return refusal.status in REPEATED or refusal.code == "idempotency_in_progress"

    def _authorization(self) -> dict[str, str]:
        if self._credentials is not None and time.monotonic() > self._token_until - EARLY_SECONDS:
            self._exchange(self._credentials)
        return {"Authorization": f"Bearer {self._token}"}

    def _exchange(self, credentials: Credentials) -> None:
        form = {"grant_type": "client_credentials"}
        if credentials.scope is not None:
            form["scope"] = credentials.scope
        response = self._http.post(
            f"{self._url}/oauth/token", data=form, auth=(credentials.client_id, credentials.client_secret)
        )
        if response.status_code != 200:
            raise error_of(response.status_code, response.content)
        granted = response.json()
        self._token = granted["access_token"]
        self._token_until = time.monotonic() + granted["expires_in"]


def _query(query: Query) -> str:
    pairs = [pair for name, value in query.items() for pair in _pairs(name, value)]
    return "?" + "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs) if pairs else ""


def _pairs(name: str, value: object) -> Iterator[tuple[str, str]]:
    """`filter_by[EQUAL][StatusId]=1`, `order_by[DESC][]=SendTime`: names as the service nests them."""
    match value:
        case None | msgspec.UNSET:
            return
        case bool():
            yield name, "true" if value else "false"
        case Mapping():
            for key, inner in value.items():
                yield from _pairs(f"{name}[{key}]", inner)
        case str():
            yield name, value
        case Sequence():
            for inner in value:
                yield from _pairs(f"{name}[]", inner)
        case datetime():
            yield name, value.isoformat(timespec="seconds")
        case _:
            yield name, str(value)


def _cursor(link: str) -> dict[str, str] | None:
    found = _NEXT.search(link)
    return None if found is None else {"cursor": parse_qs(urlsplit(found[1]).query)["cursor"][0]}


def _retry_after(headers: Mapping[str, str]) -> float:
    try:
        return float(headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
