"""The walk-through of the README, run word for word against a service that was just started."""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys import processes
from tests.journeys.processes import ROOT

WALK = re.compile(r"<!-- walk-through -->\n(.*?)<!-- /walk-through -->", re.DOTALL)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = ".venv/bin/afterword"
SECONDS_MAX = 60


def blocks() -> list[str]:
    """The shell blocks of the walk-through, in order."""
    found = WALK.search((ROOT / "README.md").read_text(encoding="utf-8"))
    return BLOCK.findall(found[1]) if found else []


def documents(output: str) -> Iterator[Any]:
    """The JSON documents that the requests printed, with or without line ends between them."""
    decoder, rest = json.JSONDecoder(), output.lstrip()
    while rest:
        document, end = decoder.raw_decode(rest)
        yield document
        rest = rest[end:].lstrip()


async def test_walk_through(home: Path, tmp_path: Path) -> None:
    script = "\n".join(["set -euo pipefail", *blocks()])
    assert COMMAND in script, "README.md has no walk-through that begins with a seed"
    if not (ROOT / COMMAND).exists():
        script = script.replace(COMMAND, f"'{sys.executable}' -m afterword")
    port = processes.free_port()
    settings = {"data_dir": home, "port": port}
    async with processes.command("serve", folder=tmp_path, **settings) as serve:
        await processes.ready(f"http://localhost:{port}", serve)
        bash = await asyncio.create_subprocess_exec(
            *("bash", "-c", script),
            cwd=ROOT,
            env=processes.environment(**settings),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            printed, said = await asyncio.wait_for(bash.communicate(), SECONDS_MAX)
        except TimeoutError:
            bash.kill()
            pytest.fail(f"the walk-through does not end\n{serve.tail()}")
        output = printed.decode()
        assert 0 == bash.returncode, f"{output}\n{said.decode()}"
        questionnaires, created, url, content, cancelled = list(documents(output))
        names = [one["display_name"] for one in questionnaires["results"]]
        assert {"After delivery", "Relationship", "Support case"} <= set(names)
        assert (1, "ann@example.com") == (created["status_id"], created["responder_channel_identifier"])
        assert url["collection_url"].startswith(f"http://localhost:{port}/a/")
        assert url["collection_url"].endswith(content["instance_id"])
        assert (False, []) == (content["finalized"], content["answers"])
        assert (5, "Order was canceled") == (cancelled["status_id"], cancelled["result"])
        assert 0 == await serve.stop(), serve.tail()
