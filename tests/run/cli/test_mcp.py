"""`afterword mcp`: refused without an address and a token; a client of the API that ends what is cancelled."""

import asyncio
import sys
from pathlib import Path
from unittest import mock

import pytest

from tests.extras.assistants.conftest import SECONDS_MAX, stdio
from tests.run.cli.shell import shell

URL, TOKEN = "http://127.0.0.1:9", "afw_0"


@pytest.mark.parametrize(
    ("url", "token", "named"),
    [
        ("", TOKEN, "AFTERWORD_URL"),
        ("survey.example.com", TOKEN, "AFTERWORD_URL"),
        ("ftp://survey.example.com", TOKEN, "AFTERWORD_URL"),
        ("https://survey.example.com/console", TOKEN, "AFTERWORD_URL"),
        ("https://user:hunter2@survey.example.com", TOKEN, "AFTERWORD_URL"),
        ("https://survey.example.com:port", TOKEN, "AFTERWORD_URL"),
        (URL, "", "AFTERWORD_TOKEN"),
        (URL, "afw_…", "AFTERWORD_TOKEN"),
        (URL, "afw_\n1", "AFTERWORD_TOKEN"),
    ],
)
def test_refused(tmp_path: Path, url: str, token: str, named: str) -> None:
    with mock.patch("tests.run.cli.shell.environment", return_value={"AFTERWORD_URL": url, "AFTERWORD_TOKEN": token}):
        ended = shell("", tmp_path, "mcp")
    assert (1, "") == (ended.returncode, ended.stdout)
    assert named in ended.stderr
    assert "hunter2" not in ended.stderr


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "afterword.extras.assistants.server", None)
    monkeypatch.delattr("afterword.extras.assistants.server", raising=False)
    with mock.patch("tests.run.cli.shell.environment", return_value={"AFTERWORD_URL": URL, "AFTERWORD_TOKEN": TOKEN}):
        ended = shell("", tmp_path, "mcp")
    assert (1, True) == (ended.returncode, "pip install 'afterword[mcp]'" in ended.stderr), ended


async def test_a_cancelled_call_ends_its_request() -> None:
    """The address takes the request and never answers; the client gives up, and the server serves on."""
    asked, left = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"GET /v3.2/q/pipeline?limit=20 ")
        asked.set()
        await reader.read()
        left.set()
        writer.close()

    listening = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with listening, stdio(f"http://127.0.0.1:{port}", TOKEN) as client, asyncio.timeout(SECONDS_MAX):
        calling = asyncio.create_task(client.call_tool("list_pipelines", {}))
        await asked.wait()
        calling.cancel()
        await left.wait()
        assert (await client.list_tools()).tools
