"""Acts on many items as a worker has them: in turns of some steps, stopped and resumed between two."""

import pytest

from tests.dates import YEAR
from tests.sending.queue.conftest import (
    Client,
    client as client,  # noqa: PLC0414  a fixture
    http as http,  # noqa: PLC0414  a fixture
    queue as queue,  # noqa: PLC0414  a fixture
)
from tests.sending.queue.test_batches import BATCHES, ended, start, work


async def test_stop_and_go_on(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterword.sending.queue.batches.ITEMS_A_STEP", 1)
    monkeypatch.setattr("afterword.run.worker.long_work.STEPS_A_TURN", 2)
    for day in range(1, 5):
        await client.create(send_time=f"{YEAR}-05-0{day}T10:00:00+00:00")
    path = f"{BATCHES}/{(await start(client, action='cancel'))['batch_id']}"
    await work(client, turns=1)
    assert 204 == (await client.send("DELETE", path)).status_code
    await work(client)
    stopped = (await client.send("GET", path)).json()
    assert ("cancelled", 2) == (stopped["state"], stopped["items_changed"])
    assert 200 == (await client.send("POST", f"{path}/resumption")).status_code
    assert ("done", 4, 0, 0, 0) == await ended(client, stopped["batch_id"])
    assert 409 == (await client.send("POST", f"{path}/resumption")).status_code
