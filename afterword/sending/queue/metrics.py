"""The queue's samples for /metrics."""

from typing import Final

from afterword.core.scheduling.statuses import Item
from afterword.kit.db import Database
from afterword.kit.web.metrics import Sample
from afterword.sending.queue import lanes, restores, retention, store

LANE_ITEMS_MAX: Final = 1_000
PAUSED: Final = ("afterword_sending_paused", "1 while all sending waits for `afterword doctor --confirm-sending`.")
OLDEST: Final = ("afterword_database_oldest_transaction_seconds", "Age of the oldest open transaction; alert at 60.")
ATTEMPTS: Final = ("afterword_attempts", "Attempts to send, by what became of them; unknown: it may have arrived.")
PRUNED: Final = ("afterword_queue_removed_items", "Ended items that retention has removed, by how they had ended.")
OUTCOMES: Final = ("accepted", "accepted_late", "retry", "throttled", "refused", "unknown")


async def samples(db: Database) -> list[Sample]:
    depth = await lanes.count_items(db, limit=LANE_ITEMS_MAX)
    totals = await store.count_attempts(db)
    pruned = (await retention.count_pruned(db)).items()
    name, text = "afterword_queue_items", f"Queue items by state; due ones are counted up to {LANE_ITEMS_MAX} a lane."
    return [
        Sample(name, text, depth.due, (("state", "due"),)),
        Sample(name, text, depth.claimed, (("state", "claimed"),)),
        Sample(name, text, depth.sending, (("state", "sending"),)),
        Sample("afterword_queue_oldest_due_seconds", "Age of the longest due item.", depth.oldest_due_seconds),
        Sample("afterword_queue_paused_accounts", "Accounts that wait for a person.", depth.accounts_paused),
        Sample(*PAUSED, float((await restores.get_log_position(db)).paused_time is not None)),
        Sample(*OLDEST, (await restores.get_oldest_transaction(db))[0]),
        Sample("afterword_queue_open_breakers", "Accounts that rest after failures.", depth.breakers_open),
        *[
            Sample(*PRUNED, total, (("status", Item(status).name.lower()),), only_grows=True)
            for status, total in pruned
        ],
        *[Sample(*ATTEMPTS, totals.get(outcome, 0), (("outcome", outcome),), only_grows=True) for outcome in OUTCOMES],
    ]
