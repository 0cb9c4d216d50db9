"""docs/assistants.md: its table is made from the tools, and each of its commands is run.

`REWRITE_SNAPSHOTS=1 pytest tests/extras/assistants/test_docs.py` writes the table anew.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from afterword.extras.assistants.server import TOOLS
from afterword.kit import db
from tests.conftest import House
from tests.extras.assistants.conftest import SECONDS_MAX, Assisted, assisted_by, call, refusal
from tests.run.cli.shell import shell

PAGE = Path(__file__).parents[3] / "docs" / "assistants.md"
BEGIN, END = "<!-- tools: made from their declarations -->\n", "<!-- end of tools -->\n"


def table() -> str:
    rows = [
        f"| `{tool.name}` | {'with a dry run' if tool.writes else 'reads'} "
        f"| {tool.description.split('. ')[0].rstrip('.')} | {', '.join(f'`{scope}`' for scope in tool.scopes)} |"
        for tool in TOOLS.values()
    ]
    return "\n".join(["| Tool | Changes | Purpose | Scopes |", "|---|---|---|---|", *rows]) + "\n"


def test_the_table_is_made_from_the_tools() -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    shown, _, after = rest.partition(END)
    if os.environ.get("REWRITE_SNAPSHOTS"):
        PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}", encoding="utf-8")
        shown = table()
    assert table() == shown


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


async def test_its_commands(pool: db.Pool, house: House, database_url: str, tmp_path: Path) -> None:
    create, install, curl = blocks("sh")
    made = await asyncio.to_thread(shell, database_url, tmp_path, *shlex.split(create.replace("\\\n", ""))[1:])
    assert 0 == made.returncode, made
    token = made.stdout.strip()
    extra = shlex.split(install)[-1]
    project = tomllib.loads((PAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "mcp" in project["optional-dependencies"]
    assert extra.endswith(".whl)[mcp]")
    async with assisted_by(pool, house) as assisted:
        listed = await run(curl, URL=assisted.url, TOKEN=token)
        assert TOOLS.keys() == {tool["name"] for tool in listed["result"]["tools"]}
        await from_the_file(assisted, token)


async def run(command: str, **variables: str) -> dict[str, dict[str, list[dict[str, str]]]]:
    """Return the JSON that a command of the page prints, alone or in an event."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", command), env={**os.environ, **variables}, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(SECONDS_MAX):
        printed, _ = await process.communicate()
    assert 0 == process.returncode, printed
    [line] = [line.removeprefix("data: ") for line in printed.decode().splitlines() if '"jsonrpc"' in line]
    return json.loads(line)


async def from_the_file(assisted: Assisted, token: str) -> None:
    """A client that is set up as the page says: it reads with this token, and cannot write."""
    [file] = blocks("json")
    told = json.loads(file)["mcpServers"]["afterword"]
    assert {"AFTERWORD_URL", "AFTERWORD_TOKEN"} == told["env"].keys()
    command = Path(sys.executable).parent / told["command"]
    assert shutil.which(command)
    env = {"AFTERWORD_URL": assisted.url, "AFTERWORD_TOKEN": token}
    parameters = StdioServerParameters(command=str(command), args=told["args"], env=env)
    reading = [tool for tool in TOOLS.values() if not tool.writes]
    granted = {scope for tool in reading for scope in tool.scopes}
    async with Client(parameters, read_timeout_seconds=SECONDS_MAX) as client:
        assert list(TOOLS) == [tool.name for tool in (await client.list_tools()).tools]
        assert await assisted.ask("/q/pipeline?limit=20") == (await call(client, "list_pipelines"))["result"]
        assert "nobody scheduled" in str(await call(client, "explain_not_asked", order="1042"))
        schedule = {
            "questionnaire_id": assisted.house.questionnaire_id,
            "pipeline_id": assisted.house.pipeline_id,
            "responder_channel_identifier": "bob@example.com",
        }
        assert "Queue.Create" in await refusal(client, "schedule_item", **schedule)
    assert granted == set(re.findall(r'--scope "([^"]+)"', blocks("sh")[0]))


@pytest.mark.parametrize("words", ["300,000 bytes", "15 minutes", "50 entries"])
def test_limits_stand_in_the_page(words: str) -> None:
    assert words in PAGE.read_text(encoding="utf-8")
