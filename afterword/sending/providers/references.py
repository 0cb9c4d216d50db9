"""Remembers the provider's reference of each accepted message, so that a later receipt finds its item."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from afterword.kit.db import Database
from afterword.kit.db.columns import arrays
from afterword.kit.transport.reports import REFERENCE_CHARACTERS_MAX, folded


async def _insert_references(  # any tenant: a worker's batch serves many
    db: Database, *, references: Sequence[tuple[str, str, str, str]], now: datetime
) -> None:
    """Insert (organization, account, reference, item) of each message; a known reference stays."""
    await db.execute(
        """insert into provider_reference (organization_id, account_id, provider_reference, item_id, created_time)
           select organization_id, account_id, provider_reference, item_id, $5
           from unnest($1::text[], $2::text[], $3::text[], $4::text[])
             with ordinality as n (organization_id, account_id, provider_reference, item_id, position)
           order by position
           on conflict do nothing""",
        *arrays(sorted(references), 4),
        now,
    )


async def keep_references(db: Database, *, references: Iterable[tuple[str, str, str, str]], now: datetime) -> None:
    """Keep (organization, account, reference, item) of each accepted message; unprintable references are dropped."""
    known = [
        (organization_id, account_id, key, item_id)
        for organization_id, account_id, reference, item_id in references
        for key in (reference, *(keys_of(reference)[2:] if folded(reference) != reference else ()))
        if is_reference(key)
    ]
    if known:
        await _insert_references(db, references=known, now=now)


def keys_of(reference: str) -> tuple[str, str, str]:
    """The keys that a receipt's reference may be kept under; the first decides where ids differ in case alone."""
    spelling = folded(reference)
    return reference, spelling, f"~{spelling}"


def is_reference(text: str) -> bool:
    return 0 < len(text) <= REFERENCE_CHARACTERS_MAX and text.isprintable()
