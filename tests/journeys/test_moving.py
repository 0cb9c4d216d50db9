"""docs/moving.md, run word for word: from an account that speaks v3.2 to an organization that was just made."""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.dates import YEAR
from tests.journeys import processes
from tests.journeys.processes import ROOT
from tests.journeys.test_readme import documents

BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SECONDS_MAX = 120
FUNCTION = 'afterword() { "$PYTHON" -m afterword "$@"; }\n'
WAITING = ("cleo@example.com", "dora@example.com", "never@example.com")


def script() -> str:
    """The shell blocks of the page in their order; its program is written to the file that it names."""
    text = (ROOT / "docs/moving.md").read_text(encoding="utf-8")
    parts = [f"cat > carry_over.py <<'PROGRAM'\n{block}PROGRAM\n" if language == "python" else block
             for language, block in BLOCK.findall(text)]  # fmt: skip
    return "\n".join(parts)


async def test_moving(home: Path, tmp_path: Path) -> None:
    port = processes.free_port()
    url = f"http://localhost:{port}"
    settings = {"data_dir": home, "port": port}
    async with processes.command("serve", folder=tmp_path, **settings) as serve:
        await processes.ready(url, serve)
        seeded = await run(f"{FUNCTION}afterword seed --json", tmp_path, settings)
        [old] = documents(seeded)
        headers = {"esat-domain": old["organization_domain"], "esat-auth": old["token"]}
        async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=SECONDS_MAX) as there:
            items = f"/v3.2/q/questionnaire/{old['questionnaire_id']}/pipeline/{old['pipeline_id']}/queue/item"
            for address in WAITING:
                body = {"responder_channel_identifier": address, "send_time": f"{YEAR}-02-01T09:00:00+02:00"}
                assert 201 == (await there.post(items, json=body)).status_code
            account = {name.upper(): old[name] for name in ("token", "questionnaire_id", "pipeline_id")}
            variables = {f"OLD_{name}": text for name, text in account.items()}
            variables |= {"OLD_URL": url, "OLD_DOMAIN": headers["esat-domain"], "NEW_URL": url}
            printed = await run(f"{FUNCTION}{script()}\npython3 carry_over.py\n", tmp_path, settings, **variables)
            left = (await there.get(items)).json()
        assert {(address, 5, "Moved") for address in WAITING} == {
            (item["responder_channel_identifier"], item["status_id"], item["result"]) for item in left
        }
        look_at(printed)
        assert 0 == await serve.stop(), serve.tail()


def look_at(printed: str) -> None:
    """The page's promises about its requests hold."""
    assert "Nothing is wrong; it would be version 1." in printed
    assert "1 rows: 1 addresses newly suppressed, 0 rows wrong." in printed
    assert "3 items were carried over." in printed
    assert printed.endswith("0 items were carried over.\n")  # once more
    questionnaires, made, changed, cancelled, counts, resumed = answers(printed)
    assert ["Order"] == [one["display_name"] for one in questionnaires["results"]]
    assert (f"{YEAR}-01-15T10:30:00+02:00", "bob@example.com") == (
        made["send_time"],
        made["responder_channel_identifier"],
    )
    assert (made["item_id"], "el", 1) == tuple(changed[name] for name in ("item_id", "locale", "status_id"))
    assert (5, "Order was canceled") == (cancelled["status_id"], cancelled["result"])
    assert {1: 3, 5: 1} == {row["status_id"]: row["count"] for row in counts}
    assert not resumed["paused"]


def answers(printed: str) -> Iterator[Any]:
    """The JSON among what was printed."""
    decoder, index = json.JSONDecoder(), 0
    while found := re.compile(r"[{\[]").search(printed, index):
        document, index = decoder.raw_decode(printed, found.start())
        yield document


async def run(text: str, folder: Path, settings: dict[str, Any], **variables: str) -> str:
    environment = {**processes.environment(**settings), **variables, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    bash = await asyncio.create_subprocess_exec(
        *("bash", "-c", f"set -euo pipefail\n{text}"),
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        printed, _ = await asyncio.wait_for(bash.communicate(), SECONDS_MAX)
    except TimeoutError:
        bash.kill()
        pytest.fail("the page does not end")
    assert 0 == bash.returncode, printed.decode()
    return printed.decode()
