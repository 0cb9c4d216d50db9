"""The server of the SDK: the tools and their hints, an unknown tool, and the end of its client."""

import asyncio
import json
import sys

import pytest

from afterword.extras.assistants.server import INSTRUCTIONS, TOOLS
from tests.extras.assistants.conftest import Assisted, text_of


async def test_tools_are_declared_with_hints_and_instructions(assisted: Assisted) -> None:
    async with assisted.client() as client:
        listed = (await client.list_tools()).tools
        assert INSTRUCTIONS == client.instructions
        unknown = await client.call_tool("erase_everybody", {})
    assert list(TOOLS) == [tool.name for tool in listed]
    hints = {
        tool.name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        for tool in listed
        if tool.annotations
    }
    assert {name: (not tool.writes, tool.writes) for name, tool in TOOLS.items()} == hints
    assert (True, "There is no tool of this name.") == (unknown.is_error, text_of(unknown))
    assert 20 <= len(listed) <= 25


async def test_text_and_structure_say_the_same(assisted: Assisted) -> None:
    async with assisted.client() as client:
        found = await client.call_tool("read_overview", {})
    assert json.loads(text_of(found)) == found.structured_content


@pytest.mark.costly
async def test_it_ends_with_its_client(assisted: Assisted) -> None:
    environment = {"AFTERWORD_URL": assisted.url, "AFTERWORD_TOKEN": assisted.house.token}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "afterword", "mcp"),
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        printed, _ = await process.communicate(b"no message\n")
    assert 0 == process.returncode
    assert all("jsonrpc" in json.loads(line) for line in printed.splitlines())
