"""Compares kept counts with the answers that they were counted from: the last days of some questionnaires."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final

import msgspec

from afterword import errors
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.core.figures import periods, reports as core_reports
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import CountQuery
from afterword.core.figures.reports import COUNTED
from afterword.core.wire import times
from afterword.kit.db import Database, savepoint
from afterword.listening.reports import counts
from afterword.listening.reports.daily_counts import store
from afterword.listening.reports.daily_counts.store import Span

DAYS: Final = 31  # before today
QUESTIONNAIRES_MAX: Final = 50
SECONDS_MAX: Final = 10.0


class Comparison(msgspec.Struct, frozen=True):
    """`wrong`: days whose kept counts differ; `skipped`: how many spans were too large, or found no time left."""

    spans: int
    skipped: int
    wrong: Sequence[tuple[Span, date]]


async def compare(db: Database, *, now: datetime) -> Comparison:  # any tenant: the counts of a whole installation
    """Count the last days twice, as reports do and from the answers alone. Nothing is written."""
    until = time.monotonic() + SECONDS_MAX
    listed = await store.list_questionnaires(db, after="", limit=QUESTIONNAIRES_MAX)
    questionnaires = [one for one in listed if one.is_published]
    pairs = [(each.organization_id, each.questionnaire_id) for each in questionnaires]
    spans = await store.list_spans(db, questionnaires=pairs)
    wrong: list[tuple[Span, date]] = []
    skipped = 0
    for span in spans:
        if time.monotonic() > until:
            skipped += 1
            continue
        try:
            async with savepoint(db):
                days = await _differing_days(db, span=span, now=now)
                # An answer that came between the two counts makes a difference once, and none the second time.
                days = days and days & await _differing_days(db, span=span, now=now)
        except (errors.Invalid, errors.Unavailable):  # more than a report may read, or the statement took too long
            skipped += 1
            continue
        wrong += [(span, day) for day in sorted(days) if span.frozen_until is None or day >= span.frozen_until]
    return Comparison(len(spans), skipped, wrong)


async def _differing_days(db: Database, *, span: Span, now: datetime) -> set[date]:
    zone = times.zone_of(span.time_zone)
    today = periods.day_of(now, zone)
    begin = periods.day_start(today - timedelta(days=DAYS), zone)
    period = Period(begin, periods.day_start(today, zone), span.time_zone)
    is_of_hours = span.dimension == store.HOUR
    if is_of_hours:  # today with the day before: without a whole day all is live
        period = Period(periods.day_start(today - timedelta(days=1), zone), now, span.time_zone)
    types = await questionnaires_store.list_question_types(
        db, organization_id=span.organization_id, questionnaire_ids=[span.questionnaire_id]
    )
    kind, _, name = span.dimension.partition(":")
    asked = CountQuery(
        organization_id=span.organization_id,
        questionnaire_ids=(span.questionnaire_id,),
        period=period,
        buckets=periods.buckets(period, "day"),
        basis="submitted",
        zone=span.time_zone,
        questions={question_id: question_id for question_id, type_name, *_ in types if type_name in COUNTED},
        types=COUNTED,
        dimensions=((kind, name),) if kind and not is_of_hours else (),
    )
    found: Counter[tuple[object, ...]] = Counter()
    if span.dimension == store.CASES:
        of_cases = replace(asked, basis="sent", questions={}, types=frozenset(), dimensions=())
        [(kept, _)] = await counts.cases_of_parts(db, asked=of_cases, has_repeats=False)
        live, _ = await counts.cases(db, asked=of_cases)
        live = [cell for cell in live if cell.value in core_reports.STAGES]
    else:
        kept, _ = await counts.answers(db, asked=asked)
        live, _ = await counts.answers(db, asked=asked, is_live=True)
    for sign, cells in ((1, kept), (-1, live)):
        for cell in cells:
            found[cell.bucket, cell.dimensions, cell.question_id, cell.value] += sign * cell.count
    days = {asked.buckets[int(str(bucket))] for (bucket, *_), count in found.items() if count}
    return days & {today} if is_of_hours else days
