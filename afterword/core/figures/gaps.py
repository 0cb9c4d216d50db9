"""The parts of the periods of a count that have no kept counts, and are read from the answers."""

from collections.abc import Sequence
from datetime import date, datetime

from afterword.core.figures import periods
from afterword.core.figures.periods import Days, Hour
from afterword.core.figures.queries import CountQuery, DailyCounts, Span
from afterword.core.wire import times


def whole_days(asked: CountQuery) -> list[Days]:
    """Of each period."""
    return [periods.whole_days(part.period, times.zone_of(asked.zone)) for part in asked.parts]


def hours(asked: CountQuery, whole: Sequence[Days]) -> list[Hour]:
    """The hours of the day in which the last period ends, up to there."""
    return periods.whole_hours(whole[-1].end, asked.period.to_time) if whole[-1].starts else []


def gaps_of(asked: CountQuery, kept: DailyCounts) -> list[Span]:
    """The parts of the periods without kept counts: the ends, stale days, and all after the first day not kept."""
    found: list[Span] = []
    whole = whole_days(asked)
    of_today = hours(asked, whole)
    for part, days in zip(asked.parts, whole, strict=True):
        period = part.period
        if not days.starts:
            found += [Span(each, period.from_time, period.to_time) for each in asked.questionnaire_ids]
            continue
        for questionnaire_id in asked.questionnaire_ids:
            until = min(max(kept.until.get(questionnaire_id, days.first), days.first), days.after)
            lacking = [(period.from_time, days.starts[0])]
            lacking += [
                (days.start(day), days.start(day + date.resolution))
                for day in sorted(kept.live.get(questionnaire_id, ()))
                if days.first <= day < until
            ]
            lacking.append((days.start(until), days.end))
            begin = days.end
            for hour in of_today if days is whole[-1] else ():
                if hour.name in kept.hours.get(questionnaire_id, ()):
                    lacking.append((begin, hour.start))
                    begin = hour.end
            lacking.append((begin, period.to_time))
            found += [Span(questionnaire_id, low, high) for low, high in _joined(lacking)]
    return found


def _joined(gaps: Sequence[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    """The gaps without the empty ones, adjacent ones joined."""
    found: list[tuple[datetime, datetime]] = []
    for low, high in gaps:
        if low >= high:
            continue
        if found and found[-1][1] == low:
            found[-1] = found[-1][0], high
        else:
            found.append((low, high))
    return found
