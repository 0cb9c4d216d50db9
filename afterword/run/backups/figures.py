"""The age of the last backup and how late it is, for /metrics and the doctor."""

from datetime import timedelta
from typing import Final

from afterword.kit.db import Database
from afterword.kit.web.metrics import Sample
from afterword.run.backups import store

AGE: Final = ("afterword_backup_age_seconds", "Age of the last backup, of the installation where there is none.")
LATE: Final = (
    "afterword_backup_late_seconds",
    "How late the next backup is; absent where AFTERWORD_BACKUP_TO is unset. Alert above 0.",
)
GRACE: Final = timedelta(hours=2)  # that a backup of much data may take


def seconds_late(age_seconds: float, *, every: timedelta) -> float:
    return max(0.0, age_seconds - (every + GRACE).total_seconds())


async def samples(db: Database, *, every: timedelta | None) -> list[Sample]:
    """`every`: workers make backups this often; None: somebody else does, or nobody."""
    age = await store.get_age_seconds(db)
    if age is None:
        return []
    late = [] if every is None else [Sample(*LATE, seconds_late(age, every=every))]
    return [Sample(*AGE, age), *late]
