"""Seals again, with the secret in use, what was sealed with one of before: in batches that commit one by one.

Each batch asks for what is left, so it may be stopped at any moment and begun again.
"""

from collections.abc import Callable
from typing import Final

from afterword.kit import db as databases
from afterword.kit import sealing
from afterword.kit.db import Pool
from afterword.privacy.resealing import store

BATCH_VALUES: Final = 100


async def reseal(
    pool: Pool, *, secret: bytes, report: Callable[[str, int, int], None], batch: int = BATCH_VALUES
) -> int:
    """Seal everything again; returns how many values nothing opens. `report`: column, sealed anew, unreadable."""
    return sum([await _reseal(pool, column, secret=secret, report=report, batch=batch) for column in store.CONTEXTS])


async def _reseal(
    pool: Pool, column: str, *, secret: bytes, report: Callable[[str, int, int], None], batch: int
) -> int:
    after, done, lost = ("", ""), 0, 0
    while True:
        async with databases.transaction(pool) as db:
            found = await store.list_sealed(db, column=column, head=sealing.head_of(secret), after=after, limit=batch)
            for one in found:
                context = store.CONTEXTS[column](one.organization_id, one.id)
                try:
                    text = sealing.unseal(one.value, secret=secret, context=context)
                except sealing.Unreadable:
                    lost += 1
                    continue
                value = sealing.seal(text, secret=secret, context=context)
                done += await store.update_sealed(db, column=column, before=one, value=value)
        report(column, done, lost)
        if len(found) < batch:
            return lost
        after = (found[-1].organization_id, found[-1].id)
