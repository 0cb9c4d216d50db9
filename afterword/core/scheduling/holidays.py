"""Days on which an organization sends nothing: a country's public holidays, and dates of its own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

DATES_MAX: Final = 366
COUNTRY_CHARACTERS_MAX: Final = 12
COUNTRY_PATTERN: Final = r"^[A-Z]{2}(-[A-Za-z0-9]{1,9})?(?![\s\S])"
_COUNTRY: Final = re.compile(COUNTRY_PATTERN)
_BESIDE_SUNDAY: Final = (  # weekday, words of its name, days to the Sunday
    (4, re.compile(r"(Good|Great|Holy) Friday"), 2),
    (0, re.compile(r"Easter|Whit|Pentecost|Holy Spirit"), -1),
)


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


@lru_cache(maxsize=256)
def regions_of(country: str, year: int) -> Sequence[str]:
    """The regions to choose from, such as `DE-BY`, where none has the country's own holidays alone; else none."""
    import holidays  # noqa: PLC0415

    regions = [f"{country}-{each}" for each in holidays.list_supported_countries().get(country, ())]
    own = _holidays_of(country, year)
    return regions if all(_holidays_of(each, year) - own for each in regions) else ()


@lru_cache(maxsize=1024)
def _holidays_of(country: str, year: int) -> frozenset[date]:
    """A country's holidays of a year, moved ones included; none if it is not known any more.

    Laws name a feast on a Sunday in some countries alone. It is added where the Monday or the Friday beside it is one.
    """
    import holidays  # noqa: PLC0415

    code, _, subdivision = country.partition("-")
    try:
        found = holidays.country_holidays(code, subdiv=subdivision or None, years=year, language="en_US")
    except NotImplementedError:
        return frozenset()
    sundays = {
        day + timedelta(days=to_sunday)
        for day, name in found.items()
        for weekday, names, to_sunday in _BESIDE_SUNDAY
        if day.weekday() == weekday and names.search(name)
    }
    return frozenset(found) | sundays
