"""`POST /mcp`: the tools over streamable HTTP, for the token of each request.

Each message stands alone: no session is kept, so any web process answers. The calls of a tool go through the whole
application again, with the caller's own token: admission, scopes, rate limits and the audit log are those of the API.
"""

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

import httpx2
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterword import errors
from afterword.extras.assistants import server
from afterword.extras.assistants.client import Api, InProcess
from afterword.extras.assistants.confirmations import Confirmations
from afterword.kit import db
from afterword.kit.web import limits, parsing
from afterword.kit.web.runner import OperationContext, identify

PATH: Final = "/mcp"
MESSAGE_BYTES_MAX: Final = 300_000  # a definition of a questionnaire is the largest
MESSAGE_DEPTH_MAX: Final = 32
CREDENTIALS: Final = ("authorization", "esat-auth", "esat-domain")
CALLER: Final = "afterword.assistants.caller"


class Endpoint:
    """`app` answers the calls of tools; it is set once the application is whole."""

    app: ASGIApp

    def __init__(self, context: OperationContext, *, origins: Collection[str] = ()) -> None:
        self._context = context
        self._database = db.on_demand(context.pool)
        self._origins = {*origins, context.site.public_url}
        confirmations = Confirmations(context.site.secret, clock=lambda: context.pool.clock.now().timestamp())
        self._server: Server[object] = server.make(self._api_of, confirmations)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = scope["afterword.headers"]
        if sent.get("origin", context_origin := self._context.site.public_url) not in self._origins:
            raise errors.Forbidden(f"Pages of this origin may not call {context_origin}{PATH}.", "foreign_origin")
        caller = await identify(self._context, self._database, scope)
        limits.check(
            self._context.limiter.count_request(token_id=caller.token_id, organization_id=caller.organization_id)
        )
        scope[CALLER] = caller.token_id
        try:
            raw = await parsing.read_body(receive, sent, bytes_max=MESSAGE_BYTES_MAX)
        except ClientDisconnect:
            return
        if not isinstance(parsing.read_json(raw, depth_max=MESSAGE_DEPTH_MAX), dict):
            raise errors.Malformed("One message is expected, as a JSON object.")
        manager = StreamableHTTPSessionManager(self._server, stateless=True, max_request_body_size=MESSAGE_BYTES_MAX)
        async with manager.run():  # of this request: it ends what the request began
            await manager.handle_request(scope, _replay(raw, receive), send)

    def _api_of(self, context: server.Context) -> tuple[Api, str]:
        request = context.request
        assert isinstance(request, Request)  # noqa: S101
        sent = request.scope["afterword.headers"]
        headers = {name: sent[name] for name in CREDENTIALS if name in sent}
        headers |= {"host": urlsplit(self._context.site.public_url).netloc, "x-request-id": _request_id(request)}
        transport = InProcess(self.app, client=request.scope.get("client") or ("", 0))
        client = httpx2.AsyncClient(transport=transport, base_url=self._context.site.base_url, trust_env=False)
        return Api(client, headers=headers), request.scope[CALLER]


def _request_id(request: Request) -> str:
    return request.scope["afterword.request_id"]


def _replay(raw: bytes, receive: Receive) -> Receive:
    """The body once more, then what the server says itself."""
    messages: list[Message] = [{"type": "http.request", "body": raw, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
