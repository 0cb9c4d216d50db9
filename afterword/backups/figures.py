"""The age of the last backup, for /metrics."""

from typing import Final

from afterword.backups import store
from afterword.db import Database
from afterword.web.metrics import Sample

AGE: Final = (
    "afterword_backup_age_seconds",
    "Age of the last backup, of the installation where there is none; alert at 26 hours.",
)


async def samples(db: Database) -> list[Sample]:
    age = await store.get_age_seconds(db)
    return [] if age is None else [Sample(*AGE, age)]
