"""The period that somebody chooses on a screen: the last days, a unit of the calendar, or dates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, ClassVar, Final, Self

import msgspec

from afterword.console.screens import Visit
from afterword.core.figures import periods
from afterword.core.figures.periods import CalendarPeriod, Period
from afterword.core.wire import times
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui import lists
from afterword.kit.ui.lists import parameter

DATES: Final = "dates"
NAME_CHARACTERS_MAX: Final = 20
DATE_CHARACTERS: Final = len("2026-11-29")
YEARS: Final = range(1971, 2200)
CALENDAR: Final[Mapping[CalendarPeriod, Marked]] = {
    "this_week": "This week", "last_week": "Last week", "this_month": "This month", "last_month": "Last month",
    "this_quarter": "This quarter", "last_quarter": "Last quarter", "this_year": "This year", "last_year": "Last year",
}  # fmt: skip


class PeriodChoice(msgspec.Struct, frozen=True):
    """`name`: a number of days, a calendar period or DATES; `first`, `last`: the dates, both included."""

    name: str
    first: str = ""
    last: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str], default: int | str, days: Sequence[int]) -> "PeriodChoice":
        """The choice of an address; the default where it names none. Addresses of older releases say `days`."""
        name = query.get("period", "") or query.get("days", "")
        dates = sorted(filter(None, (_date(query.get(each, "")) for each in ("first", "last"))))
        if name == DATES and dates:
            return cls(DATES, f"{dates[0]}", f"{dates[-1]}")
        return cls(name if name in CALENDAR or name in map(str, days) else str(default))

    @property
    def query(self) -> dict[str, str]:
        return {"period": self.name, "first": self.first, "last": self.last}

    @property
    def days(self) -> int | None:
        return int(self.name) if self.name.isdigit() else None

    @property
    def calendar(self) -> CalendarPeriod | None:
        return self.name if self.name in CALENDAR else None

    def period(self, visit: Visit) -> Period | None:
        """Its moments by the calendar of the reader; None for days until now."""
        if self.calendar:
            weekday = visit.session.first_weekday
            return periods.of_calendar(self.calendar, now=visit.now, time_zone=visit.zone, first_weekday=weekday)
        if self.name == DATES:
            zone = times.zone_of(visit.zone)
            first, last = (date.fromisoformat(each) for each in (self.first, self.last))
            after = last + timedelta(days=1)
            return Period(periods.day_start(first, zone), periods.day_start(after, zone), visit.zone)
        return None

    def spec(self, visit: Visit) -> dict[str, Any]:
        """The members of a report's spec that say its period, moments as texts."""
        dates = self.period(visit) if self.name == DATES else None
        return {
            "last_days": self.days,
            "calendar_period": self.calendar,
            "from_time": dates and dates.from_time.isoformat(),
            "to_time": dates and dates.to_time.isoformat(),
        }

    def text(self, words: Texts) -> str:
        if self.days:
            return words.plural("{n} day", "{n} days", self.days)
        if self.calendar:
            return words(CALENDAR[self.calendar])
        return words("{first} to {last}", first=words.day(self.first), last=words.day(self.last))

    def field(self, words: Texts, days: Sequence[int], more: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
        """The values of the macro `period`; `more`: further options, which stand last."""
        return {
            "options": [
                *((str(each), words.plural("{n} day", "{n} days", each)) for each in days),
                *((name, words(text)) for name, text in CALENDAR.items()),
                *more,
                (DATES, words("Dates")),
            ],
            "value": self.name,
            "first": self.first,
            "last": self.last,
        }


@dataclass(frozen=True)
class PeriodFilter(lists.Filter):
    """The filter of a list with a period; `period` empty: the days that the list shows at first."""

    lengths: ClassVar[Sequence[int]]  # in days, of which somebody chooses
    days_default: ClassVar[int]

    period: str = parameter(NAME_CHARACTERS_MAX)
    first: str = parameter(DATE_CHARACTERS)
    last: str = parameter(DATE_CHARACTERS)

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Self:
        chosen = PeriodChoice.read(query, "", cls.lengths).query
        return super().read(
            {**query, **chosen, "period": "" if chosen["period"] == str(cls.days_default) else chosen["period"]}
        )

    @property
    def chosen_period(self) -> PeriodChoice:
        return PeriodChoice(self.period or str(self.days_default), self.first, self.last)

    def span(self, visit: Visit) -> tuple[datetime, datetime | None]:
        """The moments of the period, the second one excluded; None for what has no end yet."""
        if period := self.chosen_period.period(visit):
            return period.from_time, period.to_time if period.to_time <= visit.now else None
        return visit.now - timedelta(days=self.chosen_period.days or self.days_default), None


def _date(text: str) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if found.year in YEARS else None
