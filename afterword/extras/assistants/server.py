"""The server of the official SDK with our tools. Imported only where the extra `afterword[mcp]` is installed."""

from collections.abc import Callable, Collection
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterword import __version__, errors
from afterword.extras.assistants import reading, tools, writing
from afterword.extras.assistants.client import Api, InProcess, Refused
from afterword.extras.assistants.tools import Confirmations, Runner, Tool
from afterword.kit import db
from afterword.kit.web import limits, parsing
from afterword.kit.web.runner import OperationContext, identify

TOOLS: Final = {tool.name: tool for tool in (*reading.TOOLS, *writing.TOOLS)}
INSTRUCTIONS: Final = (
    "Afterword asks customers questionnaires and measures the answers. The tools see what the token of this connection "
    "may see. Begin with `find`, or with `list_questionnaires` and `read_overview`. Quote each figure with its `n` and "
    f"its interval. {tools.NOTICE} A tool that changes something is a dry run until you call it with the "
    "`confirmation` of that dry run: show the person what it would do, and wait for their consent."
)
Context = ServerRequestContext[Any, Any]
ApiOf = Callable[[Context], tuple[Api, str]]
"""The API for one request, and a text that tells its caller from others."""


def make(api_of: ApiOf, confirmations: Confirmations) -> Server[Any]:
    runner = Runner(TOOLS, confirmations)
    listed = types.ListToolsResult(tools=[_declared(tool) for tool in TOOLS.values()])
    schemas = {tool.name: tool.input_schema for tool in listed.tools}

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return listed

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        api, caller = api_of(context)
        try:
            result = await runner.run(params.name, params.arguments or {}, api=api, caller=caller)
        except Refused as refused:
            return types.CallToolResult(content=[types.TextContent(text=str(refused))], is_error=True)
        text = msgspec.json.encode(result).decode()
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=result)

    return Server(
        "afterword",
        title="Afterword",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=schemas.get,
    )


async def serve_stdio(api: Api, confirmations: Confirmations) -> None:
    """Serve one assistant until it closes our standard input."""
    server = make(lambda _context: (api, ""), confirmations)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


def _declared(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.full_description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.writes,
            idempotent_hint=not tool.writes,
            open_world_hint=False,
        ),
    )


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
        self._server: Server[object] = make(self._api_of, confirmations)

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

    def _api_of(self, context: Context) -> tuple[Api, str]:
        request = context.request
        assert isinstance(request, Request)  # noqa: S101
        sent, request_id = request.scope["afterword.headers"], request.scope["afterword.request_id"]
        headers = {name: sent[name] for name in CREDENTIALS if name in sent}
        headers |= {"host": urlsplit(self._context.site.public_url).netloc, "x-request-id": request_id}
        transport = InProcess(self.app, client=request.scope.get("client") or ("", 0))
        client = httpx2.AsyncClient(transport=transport, base_url=self._context.site.base_url, trust_env=False)
        return Api(client, headers=headers), request.scope[CALLER]


def _replay(raw: bytes, receive: Receive) -> Receive:
    """The body once more, then what the server says itself."""
    messages: list[Message] = [{"type": "http.request", "body": raw, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
