"""Claims of a worker: fair among lanes."""

from dataclasses import replace
from typing import Any

import pytest

from afterword.kit.transport.base import Begin, Message, Outcome
from tests.run.worker.conftest import RIG, Bench, accept
from tests.run.worker.test_sender import SENT, lose_once


class TestFairness:
    async def test_a_single_item_does_not_wait_behind_a_backlog(self, bench: Bench, neighbour: Any) -> None:
        """While one organization has far more than there are slots, another's item is next."""
        started: list[str] = []

        async def answer(message: Message, begin: Begin) -> Outcome:
            started.append(message.organization_id)
            return await accept(message, begin)

        bench.channel.script = answer
        for number in range(60):
            await bench.queue.schedule(f"a{number}@example.com")
        theirs = replace(bench.queue, house=neighbour, pipeline_id=neighbour.pipeline_id)
        await theirs.schedule()
        async with bench.worker(replace(RIG, slots=4)):
            await bench.until_done()

        assert started.index(neighbour.organization_id) < 12


async def test_an_answer_to_a_claim_that_is_lost(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows of the claim: the lease runs out, and the item goes again."""
    item = await bench.queue.schedule()
    lose_once(monkeypatch, "claim_items")

    async with bench.worker():
        await bench.until("select exists (select from queue_item where status = 2)")
        await bench.queue.execute("update queue_item set lease_until = now() - interval '1 second'")
        await bench.until_done()

    assert (SENT, 2) == ((await bench.queue.row(item))["status"], (await bench.queue.row(item))["attempts"])
    assert 1 == bench.channel.asked[item.item_id]
