"""Remembers the provider's reference of each accepted message, so that a later receipt finds its item."""

from collections.abc import Iterable
from datetime import datetime

from afterword.channels.reports import REFERENCE_CHARACTERS_MAX
from afterword.db import Database
from afterword.providers.references import store


async def keep_references(db: Database, *, references: Iterable[tuple[str, str, str, str]], now: datetime) -> None:
    """Keep (organization, account, reference, item) of each accepted message; unprintable references are dropped."""
    known = [each for each in references if is_reference(each[2])]
    if known:
        await store.insert_references(db, references=known, now=now)


def is_reference(text: str) -> bool:
    """True for a text that can be stored as a provider's reference."""
    return 0 < len(text) <= REFERENCE_CHARACTERS_MAX and text.isprintable()
