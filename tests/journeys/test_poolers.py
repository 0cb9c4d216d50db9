"""Two web processes and a worker behind PgBouncer, with its defaults and ours.

In transaction mode it answered with other statements' rows while a connection kept prepared statements.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.journeys import processes
from tests.journeys.client import Client, seed
from tests.journeys.inbox import Inbox
from tests.journeys.processes import Child, until
from tests.poolers import pgbouncer
from tests.run.cli.shell import Operator, program
from tests.sizes import one_of, size

POSTS = size(100, 300)
AT_ONCE = 16
SECRET = "s" * 32
PROOF_SECONDS_MAX = 300.0
PATIENCE_SECONDS = 60.0
PREPARED_ELSEWHERE = "no statements are prepared"


@dataclass(frozen=True)
class Behind:
    url: str
    webs: list[str]
    client: Client
    children: list[Child]


@pytest.fixture(params=one_of(["transaction", "session"]))
def pooled(request: pytest.FixtureRequest, empty_database_url: str) -> Iterator[str]:
    """The defaults of PgBouncer, whose 20 connections two webs and a worker may use up by the session."""
    more = {"default_pool_size": 60} if request.param == "session" else {}
    with pgbouncer(empty_database_url, pool_mode=request.param, **more) as url:
        yield url


@pytest.fixture
async def behind(pooled: str, tmp_path: Path, inbox: Inbox) -> AsyncGenerator[Behind]:
    settings: dict[str, Any] = {"database_url": pooled, "data_dir": tmp_path / "data", "secret": SECRET}
    settings |= {"smtp_url": inbox.url, "mail_from": "survey@demo.example"}
    client = await seed(**settings)  # makes the schema too
    async with AsyncExitStack() as stack:
        webs, children = list[str](), list[Child]()
        for number, port in enumerate((processes.free_port(), processes.free_port())):
            folder = tmp_path / f"web{number}"
            folder.mkdir()
            web = await stack.enter_async_context(processes.command("web", folder=folder, **{**settings, "port": port}))
            await processes.ready(f"http://localhost:{port}", web)
            webs.append(f"http://localhost:{port}")
            children.append(web)
        children.append(await stack.enter_async_context(processes.command("worker", folder=tmp_path, **settings)))
        yield Behind(pooled, webs, client, children)
        for child in children:
            assert 0 == await child.stop()
            assert [] == child.errors()


async def _answer(client: Client, method: str, path: str, status: int, body: Any = None) -> dict[str, Any]:
    """The answer, once there is one; a web process without a connection yet says 503 within a second."""

    async def ask() -> dict[str, Any] | None:
        found = await client.request(method, path, body)
        assert found.status_code in {status, 503}, found.text
        return found.json() if found.status_code == status else None

    answer = await until(ask, seconds=PATIENCE_SECONDS, what=path)
    assert answer is not None
    return answer


async def test_many_at_once(behind: Behind, inbox: Inbox) -> None:
    """Each POST is answered with its own item, which the other web process shows, and each item is mailed once."""
    turn = asyncio.Semaphore(AT_ONCE)
    clients = [replace(behind.client, base_url=f"{url}/v3.2") for url in behind.webs]

    async def schedule(number: int) -> None:
        async with turn:
            address, here, there = f"ann{number}@example.com", clients[number % 2], clients[(number + 1) % 2]
            item = await _answer(here, "POST", here.items_path, 201, {"responder_channel_identifier": address})
            shown = await _answer(there, "GET", f"/q/queue/item/{item['item_id']}", 200)
            assert (item["item_id"], address) == (shown["item_id"], shown["responder_channel_identifier"])

    await asyncio.gather(*map(schedule, range(POSTS)))
    await until(lambda: len(inbox.mails) >= POSTS, seconds=120, what="all are mailed")
    assert {f"ann{number}@example.com" for number in range(POSTS)} == {mail.recipients[0] for mail in inbox.mails}
    assert len(inbox.mails) == POSTS
    async with httpx2.AsyncClient(timeout=20) as http:
        for url in behind.webs:
            found = await http.get(f"{url}/readyz")
            assert 200 == found.status_code
            assert PREPARED_ELSEWHERE in found.json()["pooler"].lower()


def test_commands(pooled: str, tmp_path: Path) -> None:
    """The proof of an unused database, and none once somebody uses it."""
    operator = Operator(pooled, tmp_path)
    proof = program(pooled, tmp_path, "demo", "--once", "--on-database", seconds=PROOF_SECONDS_MAX)
    assert "questionnaire_instance.completed" in proof.stdout, proof
    assert "keeps the organization demo-once" in proof.stdout
    assert "The schema is at" in operator.done("migrate")
    assert "TOKEN=" in operator.done("seed")
    assert "/console/setup/" in operator.done("setup", "--organization", "demo")
    assert PREPARED_ELSEWHERE in operator.run("doctor").stdout.lower()
    assert "is in use" in operator.refused("demo", "--once", "--on-database")
