"""An account whose slots are all in use: the next item goes when one is free, and waits for no poll."""

from dataclasses import replace

from tests.run.worker.conftest import RIG, Bench

SELDOM = replace(RIG, slots=20, poll_seconds=600.0)  # whoever waited for the next look would miss every deadline


async def test_a_free_slot_is_used_at_once(bench: Bench) -> None:
    await bench.queue.value("update channel_account set slots_max = 2 returning 1")
    for _ in range(12):
        await bench.queue.schedule()

    async with bench.worker(SELDOM):
        await bench.until_done()

    assert 12 == sum(bench.channel.accepted.values())
