"""T13: the web process is killed between COMMIT and answer; whoever asks again under the same key has made one item."""

import asyncio

import httpx2
import pytest

from tests.journeys import processes
from tests.run.worker.faults.rig import SECRET, Rig, size

pytestmark = pytest.mark.faults

KEYS = size(2, 20)
AT_ONCE = 2


async def test_killed_before_it_answers(rig: Rig) -> None:
    await rig.fill(organizations=1, lanes=1, items=0)
    [(house, pipeline_id)] = await rig.lanes()
    path = f"/v3.2/q/questionnaire/{house.questionnaire_id}/pipeline/{pipeline_id}/queue/item"
    async with asyncio.TaskGroup() as group:
        at_once = asyncio.Semaphore(AT_ONCE)
        for number in range(KEYS):
            group.create_task(_killed(rig, path, house.token, number, at_once))
    assert KEYS == await _rows(rig), "it was killed before it had committed"
    replayed = 0
    async with rig.web() as [web], httpx2.AsyncClient(base_url=web.url, timeout=20) as http:
        for number in range(KEYS):
            for _ in range(2):
                answer = await _post(http, path, house.token, number)
                assert 201 == answer.status_code, answer.text
                replayed += answer.headers.get("idempotency-replayed") == "true"
    rig.tell(f"T13 killed {KEYS} times between commit and answer: {await _rows(rig)} rows, {replayed} replays")
    assert KEYS == await _rows(rig)
    assert 2 * KEYS == replayed


async def _killed(rig: Rig, path: str, token: str, number: int, at_once: asyncio.Semaphore) -> None:
    """One web process that is killed by its first item."""
    port = processes.free_port()
    async with at_once:
        child = processes.start(
            ["-m", "tests.run.worker.faults.dying"],
            env=processes.environment(database_url=rig.database_url, port=port, secret=SECRET),
            log=rig.folder / f"dying-{number}.log",
            name="web",
        )
        try:
            await processes.ready(f"http://localhost:{port}", child)
            async with httpx2.AsyncClient(base_url=f"http://localhost:{port}", timeout=20) as http:
                with pytest.raises(httpx2.TransportError):
                    await _post(http, path, token, number)
            assert -9 == await child.ended(seconds=20)
        finally:
            processes.kill_tree(child)


async def _post(http: httpx2.AsyncClient, path: str, token: str, number: int) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"key-{number}"}
    return await http.post(path, json={"responder_channel_identifier": f"p{number}@example.com"}, headers=headers)


async def _rows(rig: Rig) -> int:
    return await rig.connection.fetchval("select count(*) from queue_item")
