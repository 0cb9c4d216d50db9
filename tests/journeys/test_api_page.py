"""The examples of docs/api.md about the queue, run word for word against a service that was just started."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from tests.journeys import processes
from tests.journeys.processes import ROOT
from tests.journeys.test_readme import BLOCK, documents

WALK = re.compile(r"<!-- queue walk-through -->\n(.*?)<!-- /queue walk-through -->", re.DOTALL)
SECONDS_MAX = 60


def script() -> str:
    """A seed, and then the shell blocks in their order."""
    found = WALK.search((ROOT / "docs/api.md").read_text(encoding="utf-8"))
    assert found, "docs/api.md has no examples of the queue"
    return "\n".join(
        ["set -euo pipefail", f"eval \"$('{sys.executable}' -m afterword seed)\"", *BLOCK.findall(found[1])]
    )


@pytest.mark.costly
async def test_queue(home: Path, tmp_path: Path) -> None:
    port = processes.free_port()
    settings = {"data_dir": home, "port": port}
    async with processes.command("serve", folder=tmp_path, **settings) as serve:
        await processes.ready(f"http://localhost:{port}", serve)
        bash = await asyncio.create_subprocess_exec(
            *("bash", "-c", script()),
            cwd=ROOT,
            env=processes.environment(**settings),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            printed, said = await asyncio.wait_for(bash.communicate(), SECONDS_MAX)
        except TimeoutError:
            bash.kill()
            pytest.fail(f"the examples do not end\n{serve.tail()}")
        assert 0 == bash.returncode, f"{printed.decode()}\n{said.decode()}"
        batch, simulation, made, changed, read = list(documents(printed.decode()))
        assert [201, 422, 409] == [row["status"] for row in batch["results"]]
        assert [(True, "go"), (False, None)] == [(row["valid"], row["verdict"]) for row in simulation["results"]]
        assert made["item_id"] == changed["item_id"]
        assert ("order 1044", "el", made["send_time"]) == tuple(
            changed[name] for name in ("external_reference", "locale", "send_time")
        )
        assert changed == read
        assert 0 == await serve.stop(), serve.tail()
