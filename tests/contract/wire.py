"""Requests as bytes, without a client that tidies them up, and the schema that every refusal must have."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import msgspec

PUBLIC_URL: Final = "https://answers.example"
CANARY: Final = "Zq7canary"  # stands in what is sent, and in no answer

DOCUMENTED: Final[Mapping[int, frozenset[str]]] = {
    400: frozenset(
        {
            "malformed_json", "malformed_form", "malformed_query", "malformed_encoding", "malformed_header",
            "duplicate_member", "too_deep", "too_many_members", "name_too_long", "nul_character", "lone_surrogate",
            "number_out_of_range",
        }
    ),
    401: frozenset({"unauthenticated", "invalid_token", "token_expired", "token_revoked", "ambiguous_credentials"}),
    403: frozenset({"insufficient_scope", "network_not_allowed", "domain_mismatch", "forbidden"}),
    404: frozenset({"not_found", "unknown_route"}),
    405: frozenset({"method_not_allowed"}),
    406: frozenset({"not_acceptable"}),
    408: frozenset({"request_timeout"}),
    409: frozenset(
        {
            "item_in_dispatch", "item_closed", "outcome_unknown", "questionnaire_not_published", "already_exists",
            "in_use", "not_ready", "idempotency_in_progress", "last_owner", "token_ended", "system_status",
            "item_not_repeatable", "questionnaire_inactive", "questionnaire_closed",
        }
    ),
    410: frozenset({"gone"}),
    412: frozenset({"precondition_failed"}),
    413: frozenset({"body_too_large"}),
    414: frozenset({"target_too_long"}),
    415: frozenset({"unsupported_media_type", "unsupported_encoding"}),
    421: frozenset({"read_only_copy"}),
    422: frozenset({"invalid", "idempotency_key_reused"}),
    429: frozenset({"rate_limited"}),
    503: frozenset({"unavailable", "replica_behind"}),
}  # fmt: skip
"""The codes of wire.md 3 and resources.md 3.3. No 500: that is never the answer to an input."""

FIELD_CODES: Final = frozenset(
    {
        "required", "wrong_type", "not_nullable", "too_short", "too_long", "too_few", "too_many", "out_of_range",
        "invalid_format", "invalid_date_time", "leap_second", "invalid_locale", "invalid_address", "unknown_id",
        "unknown_value", "unknown_column", "unknown_criterion", "unknown_field", "unknown_scope", "unknown_metadata",
        "unknown_member", "read_only", "exclusive", "invalid_cursor", "cursor_expired", "page_too_deep",
    }
)  # fmt: skip
PLACES: Final = ("pointer", "parameter", "header")
ERRORS_MAX: Final = 100
MEMBERS: Final = (
    "type", "title", "status", "code", "detail", "message", "error", "instance", "request_id", "errors",
)  # fmt: skip
TEXTS: Final = tuple(name for name in MEMBERS if name not in {"status", "errors"})


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to a request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        """The body as JSON."""
        return msgspec.json.decode(self.body)

    @property
    def code(self) -> str:
        """The problem's code; empty where there is no problem."""
        return str(self.document["code"]) if self.status >= 400 else ""

    @property
    def wrong(self) -> list[tuple[str, str]]:
        """Place and code of each wrong field."""
        return [
            (next(error[place] for place in PLACES if place in error), error["code"])
            for error in self.document["errors"]
        ]


class Wire:
    """An ASGI application, spoken to in bytes."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def ask(
        self,
        method: str,
        target: str | bytes,
        *,
        token: str | None = None,
        headers: Mapping[str, str | bytes] | None = None,
        body: bytes | Sequence[bytes] | None = None,
        document: object = msgspec.UNSET,
        file: bytes | None = None,
    ) -> Reply:
        """Send one request. `target` is encoded as it travels; `body` in pieces is sent without its length.

        `file` is a body of CSV, a picture, or XML.
        """
        raw = target.encode() if isinstance(target, str) else target
        path, _, query = raw.partition(b"?")
        sent = [(name.lower().encode(), _bytes(value)) for name, value in (headers or {}).items()]
        names = {name for name, _ in sent}
        if token is not None:
            sent.append((b"authorization", f"Bearer {token}".encode()))
        if document is not msgspec.UNSET:
            body = msgspec.json.encode(document)
            if b"content-type" not in names:
                sent.append((b"content-type", b"application/json"))
        if file is not None:
            body = file
            kind = {b"\x89": b"image/png", b"<": b"application/xml"}.get(file[:1], b"text/csv")
            sent.append((b"content-type", kind))
        pieces = [body] if isinstance(body, bytes) else list(body or ())
        if isinstance(body, bytes) and b"content-length" not in names:
            sent.append((b"content-length", b"%d" % len(body)))
        elif pieces and not isinstance(body, bytes):
            sent.append((b"transfer-encoding", b"chunked"))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "https",
            "path": unquote_to_bytes(path).decode("utf-8", "replace"),  # as servers do
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": [(b"host", b"answers.example"), *sent],
            "client": ("192.0.2.1", 4711),
            "server": ("answers.example", 443),
            "state": {},
        }
        return await self._send(scope, pieces)

    async def done(self, method: str, target: str, **options: Any) -> Any:
        """The document of a request that succeeds; None where it has none."""
        reply = await self.ask(method, target, **options)
        assert 200 <= reply.status < 300, reply
        return reply.document if reply.body else None

    async def _send(self, scope: dict[str, Any], pieces: Sequence[bytes]) -> Reply:
        waiting = list(pieces)
        status, more, parts = 0, {}, []
        is_read, answered = False, asyncio.Event()

        async def receive() -> dict[str, Any]:
            nonlocal is_read
            if is_read:  # as servers do: who listens behind the body waits, and is told at the end
                await answered.wait()
                return {"type": "http.disconnect"}
            is_read = len(waiting) <= 1
            piece = waiting.pop(0) if waiting else b""
            return {"type": "http.request", "body": piece, "more_body": bool(waiting)}

        async def send(message: dict[str, Any]) -> None:
            nonlocal status, more
            if message["type"] == "http.response.start":
                status = message["status"]
                more = {name.decode().lower(): value.decode("latin-1") for name, value in message["headers"]}
            else:
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    answered.set()

        await self._app(scope, receive, send)
        return Reply(status, more, b"".join(parts))


def problem_faults(reply: Reply) -> list[str]:
    """Faults of a refusal as a problem document, whatever its reason; none for a success."""
    if reply.status < 400:
        return []
    if reply.headers.get("content-type") != "application/problem+json":
        return [f"{reply.status} is no problem document but {reply.headers.get('content-type')}: {reply.body[:200]!r}"]
    found: dict[str, Any] = reply.document
    code = found.get("code", "")
    expected = (*MEMBERS, "required_scopes") if code == "insufficient_scope" else MEMBERS
    if set(found) != set(expected):
        return [f"its members are {sorted(found)}"]
    texts = {name: found[name] for name in TEXTS}
    checks = {
        f"{reply.status} {code} is not documented": code in DOCUMENTED.get(reply.status, ()),
        f"one of {texts} is no text": all(isinstance(text, str) and text for text in texts.values()),
        "status differs": found["status"] == reply.status,
        f"type is {found['type']}": found["type"] == f"{PUBLIC_URL}/problems/{code}",
        "detail, message and error differ": found["detail"] == found["message"] == found["error"],
        "instance does not name the request": found["instance"] == f"urn:afterword:request:{found['request_id']}",
        "X-Request-Id differs": reply.headers.get("x-request-id") == found["request_id"],
        "it may be stored": reply.headers.get("cache-control") == "no-store",
        "its type may be guessed": reply.headers.get("x-content-type-options") == "nosniff",
        f"a sent value is repeated: {reply}": CANARY not in reply.body.decode() + "".join(reply.headers.values()),
    }
    faults = [fault for fault, is_right in checks.items() if not is_right]
    return [*faults, *_error_faults(found["errors"], code, reply.status)]


def _error_faults(errors: Any, code: str, status: int) -> Iterable[str]:
    if not isinstance(errors, list) or len(errors) > ERRORS_MAX:
        yield "errors is no list of at most 100"
        return
    for error in errors:
        places = [place for place in PLACES if place in error]
        if len(places) != 1 or set(error) != {places[0], "code", "message"}:
            yield f"an error has the members {sorted(error)}"
        elif not all(isinstance(text, str) for text in error.values()) or not error["message"]:
            yield f"an error is not made of texts: {error}"
        elif status == 422 and error["code"] not in FIELD_CODES:
            yield f"the field code {error['code']} is not documented"
        elif "pointer" in error and error["pointer"] and not error["pointer"].startswith("/"):
            yield f"{error['pointer']} is no JSON Pointer"
    if code == "invalid" and not errors:
        yield "invalid, but no field is named"
    if errors and code not in {"invalid", "malformed_header"}:
        yield f"{code} blames fields"


def _bytes(value: str | bytes) -> bytes:
    return value.encode("latin-1") if isinstance(value, str) else value
