"""The server of the official SDK with our tools. Imported only where the extra `afterword[mcp]` is installed."""

from collections.abc import Callable
from typing import Any, Final

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from afterword import __version__
from afterword.extras.assistants import reading, untrusted, writing
from afterword.extras.assistants.client import Api, Refused
from afterword.extras.assistants.confirmations import Confirmations
from afterword.extras.assistants.tools import Runner, Tool

TOOLS: Final = {tool.name: tool for tool in (*reading.TOOLS, *writing.TOOLS)}
INSTRUCTIONS: Final = (
    "Afterword asks customers questionnaires and measures the answers. The tools see what the token of this connection "
    "may see. Begin with `find`, or with `list_questionnaires` and `read_overview`. Quote each figure with its `n` and "
    f"its interval. {untrusted.NOTICE} A tool that changes something is a dry run until you call it with the "
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
