"""Dates that are ahead whenever the tests run, for what is compared with the clock."""

from datetime import UTC, date, datetime, timedelta
from typing import Final

YEAR: Final = datetime.now(UTC).year + 1  # far enough ahead, and not too far to be accepted


def last_sunday(month: int) -> str:
    """The day in that year on which Europe changes its clocks: in March an hour is missing, in October one is twice."""
    last = date(YEAR, month, 31)
    return (last - timedelta(days=last.isoweekday() % 7)).isoformat()
