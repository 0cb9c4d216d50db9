"""Items that take their worker with them, and channels that stand in its way: they hurt themselves alone."""

import pytest

from afterword import db
from afterword.queue import service as queue
from tests.worker.faults.rig import LEASE_SECONDS, SLOTS, Rig, size
from tests.worker.faults.runner import BLOCKS

pytestmark = pytest.mark.faults

ATTEMPTS_MAX = 3
IDLE_SECONDS = 1  # as the lease stands to it elsewhere: a transaction that is cut in two gives its rows back in time
APART_SECONDS = 2.0
PAUSE_SECONDS = 0.02  # of the mail server, so that no worker is done before the others have begun
POISONS = {"deadly": "ended with 137", "hungry": "MemoryError", "endless": f"more than {APART_SECONDS:g} seconds"}


async def test_poison(rig: Rig) -> None:
    """Each poison kills one worker at most; then it is rendered apart, and ends Failed with its cause."""
    others = size(60, 2_000)
    await rig.fill(organizations=2, lanes=1, items=0)
    await rig.connection.execute("update pipeline set max_retry_attempts = $1", ATTEMPTS_MAX - 1)
    lanes = await rig.lanes()
    poisons = {name: await _schedule(rig, lanes[0], f"{name}@example.com") for name in POISONS}
    await rig.schedule(others)
    async with (
        rig.sink(),
        rig.workers(2, has_poison=True, stuck_seconds=LEASE_SECONDS + 2, apart_seconds=APART_SECONDS) as workers,
    ):
        dead = 0

        async def is_done() -> bool:
            nonlocal dead
            died = [child for child in workers.children if not child.is_alive]
            for _ in range(len(died) - dead):
                workers.start_one()  # as whoever watches over processes does
            dead = len(died)
            return await rig.nothing_open()

        await rig.until(is_done, seconds=120, what="everything has ended")
        deaths = dead
        for child in (child for child in workers.children if child.is_alive):
            assert 0 == await child.stop(), child.tail()
        workers.children = []  # what they logged of the poison are errors indeed
    print(f"{deaths} workers died")  # noqa: T201
    rows = await rig.connection.fetch("select item_id, status, attempts, result from queue_item where status <> 4")
    found = {row["item_id"]: row for row in rows}
    assert set(poisons.values()) == found.keys(), "others were hurt"
    for name, item_id in poisons.items():
        row = found[item_id]
        assert (5, ATTEMPTS_MAX) == (row["status"], row["attempts"])
        assert POISONS[name] in row["result"]
    assert deaths <= len(POISONS), "an item killed more than one worker"
    events = "select count(*) from event where is_terminal and subject_id = any($1::text[])"
    assert len(POISONS) == await rig.connection.fetchval(events, list(poisons.values()))
    await rig.reconcile(unknown_max=deaths * SLOTS)


@pytest.mark.parametrize("hogs", [False, True], ids=["blocking call", "nobody gets the interpreter"])
async def test_blocked_loop(rig: Rig, *, hogs: bool) -> None:
    """A call that blocks the loop is not taken for death; a process in which nothing turns is fenced."""
    items, workers, blocks = size(100, 1_000), 2 if hogs else size(6, 4), size(1, 3)
    await rig.fill(organizations=2, lanes=1, items=items)
    seconds = LEASE_SECONDS + 2 if hogs else 4 * LEASE_SECONDS
    blocking = {"blocking": 0.1, "block_seconds": seconds, "blocks_max": 1 if hogs else blocks, "hogs": hogs}
    async with rig.sink(pause=PAUSE_SECONDS), rig.workers(workers, **blocking, idle_seconds=IDLE_SECONDS) as crew:
        await crew.ready()
        await rig.drained()
    blocked = sum(child.log.read_text().count(BLOCKS) for child in crew.children)
    figures = await rig.reconcile(unknown_max=workers * SLOTS if hogs else 0)
    what = "held every thread" if hogs else "blocked the loop"
    rig.tell(f"T04 {blocked} of {items} sends {what} for {seconds:g} s: {figures.unknown} items unknown")
    assert blocked >= workers // 2
    assert figures.unknown or not hogs, "nobody was taken for dead"
    assert items == figures.items


async def _schedule(rig: Rig, lane: tuple[object, str], address: str) -> str:
    house, pipeline_id = lane
    async with db.transaction(rig.pool) as database:
        [item] = await queue.schedule_all(
            database,
            wanted=[
                queue.NewItem(
                    caller=house.caller,  # pyright: ignore[reportAttributeAccessIssue]
                    questionnaire_id=house.questionnaire_id,  # pyright: ignore[reportAttributeAccessIssue]
                    pipeline_id=pipeline_id,
                    responder_channel_identifier=address,
                )
            ],
            secret=b"k" * 32,
        )
    assert isinstance(item, queue.QueueItem)
    rig.acknowledged.add(item.item_id)
    return item.item_id
