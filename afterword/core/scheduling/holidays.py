"""Days on which an organization sends nothing: a country's public holidays, and dates of its own."""

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

DATES_MAX: Final = 366
COUNTRY_CHARACTERS_MAX: Final = 12
COUNTRY_PATTERN: Final = r"^[A-Z]{2}(-[A-Za-z0-9]{1,9})?(?![\s\S])"
_COUNTRY: Final = re.compile(COUNTRY_PATTERN)


@dataclass(frozen=True, slots=True)
class DaysOff:
    """The days without sending; test with `in`. `country`: ISO 3166-1, perhaps with `-` and a subdivision."""

    country: str | None = None
    dates: frozenset[date] = frozenset()

    def __contains__(self, day: date) -> bool:
        return day in self.dates or (self.country is not None and day in _holidays_of(self.country, day.year))

    def __bool__(self) -> bool:
        return bool(self.country or self.dates)


NONE: Final = DaysOff()


@lru_cache(maxsize=256)
def is_known(country: str) -> bool:
    if _COUNTRY.search(country) is None:
        return False
    import holidays  # noqa: PLC0415  19 MB, for those who use it

    code, _, subdivision = country.partition("-")
    supported = holidays.list_supported_countries()
    return code in supported and (not subdivision or subdivision in supported[code])


@lru_cache(maxsize=1024)
def _holidays_of(country: str, year: int) -> frozenset[date]:
    """A country's holidays of a year, moved ones included; none if it is not known any more."""
    import holidays  # noqa: PLC0415

    code, _, subdivision = country.partition("-")
    try:
        found = holidays.country_holidays(code, subdiv=subdivision or None, years=year)
    except NotImplementedError:
        return frozenset()
    return frozenset(found)
