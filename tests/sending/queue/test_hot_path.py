"""Statements of sending: a lane without cap, policy and reminders pays for none of them."""

from afterword.kit.transport.base import Sent
from tests.sending.queue.conftest import Queue

OK = Sent("reference", 250, "ok")
BATCH = 20


async def batch(queue: Queue, statements: list[str], prefix: str) -> tuple[list[str], list[str], list[str]]:
    """The statements of claiming, beginning and settling a batch to known people; settings are cached."""
    worker = queue.worker()
    for _ in range(2):
        for number in range(BATCH):
            await queue.schedule(f"{prefix}{number}@example.com")
    assert BATCH == len(await worker.send(OK, BATCH))
    statements.clear()
    dispatches = await worker.claim(BATCH)
    claimed = statements.copy()
    statements.clear()
    assert BATCH == len(await worker.begin(*dispatches))
    begun = statements.copy()
    statements.clear()
    await worker.settle(OK, *dispatches)
    return claimed, begun, statements.copy()


def counts(found: tuple[list[str], list[str], list[str]]) -> tuple[int, ...]:
    return tuple(len(one) for one in found)


async def test_statements_of_a_batch(queue: Queue, statements: list[str]) -> None:
    """Its items, stamps, people with suppressions, questionnaire, instances; its intent; its outcomes."""
    assert (5, 1, 2) == counts(await batch(queue, statements, "a"))

    await queue.change_pipeline(
        """reminders = '[{"delay_days": 3, "delay_hours": 0, "delay_minutes": 0, "messages": {}}]'"""
    )
    assert (5, 1, 2 + 3) == counts(await batch(queue, statements, "b"))

    # Others that wait; people asked lately, locked; the places that are taken.
    await queue.execute(
        """insert into contact_policy (organization_id, enabled, enabled_time, invitations_max)
           values ($1, true, '2020-01-01', 100)""",
        queue.house.organization_id,
    )
    assert (5 + 3, 1, 2 + 3) == counts(await batch(queue, statements, "c"))
