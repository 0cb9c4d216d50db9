"""Keeping counts: follow the log, count days that are over, and count changed days again.

Three jobs share the work, and each may run in any number of workers. `follow` marks the days that events change;
`keep` counts days, the marked ones again; `survey` gives each questionnaire and dimension its span. No job needs to be
on time: days that are not kept, or marked, or changed by unread events are counted live.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final

from afterword.asking.questionnaires import metadata
from afterword.core.figures import periods
from afterword.core.figures.periods import Days
from afterword.core.messaging import notices
from afterword.core.questionnaires.metadata import POINTERS, Declared
from afterword.core.wire import times
from afterword.events import service as events
from afterword.events.service import Event
from afterword.kit.db import Database, walks
from afterword.kit.db.walks import Position
from afterword.listening.reports.daily_counts import store
from afterword.listening.reports.daily_counts.store import Questionnaire, Span

READER: Final = "rollups"
START: Final = store.MARKS_START
EVENTS_MAX: Final = 1_000  # of the log, in one transaction
CHUNK_RESPONSES_MAX: Final = 20_000  # in one transaction, for each dimension
CHUNK_DAYS_MAX: Final = 366
DAY_RESPONSES_MAX: Final = 100_000  # more on one day are not kept: the statement would take too long
VALUES_MAX: Final = 100  # of a dimension, on one day
NAMES_MAX: Final = 20  # of metadata that are kept for a questionnaire
AGAIN_SECONDS: Final = 60  # a day that changes all the time is counted again this often at most
AGAIN_DAYS_MAX: Final = 10  # in one transaction
SURVEY_MAX: Final = 200  # questionnaires
RETIRED_HOURS: Final = 1  # in which a report may still read the counts of an old zone
PRUNED_MAX: Final = 5_000
FIXED: Final = ("", "version", "channel", "locale", store.CASES, store.HOUR)
CASES_DAYS: Final = 400  # before the first survey; older cases are counted live
TYPES: Final = (
    "questionnaire_instance.submitted", "questionnaire_instance.completed", "questionnaire_instance.updated",
    "questionnaire_instance.reopened", "questionnaire_instance.deleted", "questionnaire_instance.rejected",
    "answer.confirmed", "answer.changed",
)  # fmt: skip
# Each act that changes a stage of a case has an event of its item or its instance in the same transaction.
CASE_FAMILIES: Final = ("queue_item", "questionnaire_instance")
READ_TYPES: Final = frozenset(TYPES) | {each for each in notices.MASS_TYPES if each.partition(".")[0] in CASE_FAMILIES}


async def follow(db: Database, *, now: datetime) -> int:
    """Mark the days that the next events change; return the count of events read, `EVENTS_MAX` where more wait."""
    news, passed = await events.read_next(db, reader=READER, types=READ_TYPES, limit=EVENTS_MAX)
    touched = {
        (event.organization_id, event.questionnaire_id, datetime.fromisoformat(submitted))
        for event in news
        if event.type in TYPES
        and event.questionnaire_id is not None
        and not event.test
        and isinstance(submitted := event.data.get("submitted_time"), str)
    }
    cases = {(event.organization_id, each) for event in news if not event.test and (each := _case_of(event))}
    moved = await store.list_case_moments(db, cases=sorted(cases)) if cases else []
    await mark(db, touched=touched, moved=moved, now=now)
    return passed


async def mark(
    db: Database,
    *,
    touched: Collection[tuple[str, str, datetime]],
    moved: Collection[tuple[str, str, datetime]],
    now: datetime,
) -> None:
    """Mark days of responses that were `touched`, and days when cases went out that have `moved`.

    Each is an organization, a questionnaire and a moment.
    """
    known = sorted({(organization_id, questionnaire_id) for organization_id, questionnaire_id, _ in [*touched, *moved]})
    if known:
        marks = {
            (span, periods.day_of(moment, times.zone_of(span.time_zone)), periods.hour_name(moment))
            for span in await store.list_spans(db, questionnaires=known)
            for organization_id, questionnaire_id, moment in (moved if span.dimension == store.CASES else touched)
            if (organization_id, questionnaire_id) == (span.organization_id, span.questionnaire_id)
        }
        days = {(span, day) for span, day, _ in marks if span.dimension != store.HOUR}
        await store.insert_dirty_days(db, days=list(days), now=now)
        hours = [mark for mark in marks if mark[0].dimension == store.HOUR]
        await store.insert_dirty_hours(db, hours=hours, now=now)


async def keep(db: Database, *, after: Position, now: datetime) -> tuple[int, Position]:
    """Count the next days of one questionnaire, or some marked days again, or hours; return the count of these.

    It looks at some marks behind `after`, and returns where to go on; a count of 1 also where more may wait.
    """
    spans = await store.claim_due_spans(db, now=now)
    if spans:
        await _advance(db, spans=spans, now=now)
        return len(spans), after
    before = now - timedelta(seconds=AGAIN_SECONDS)
    marked = await store.claim_dirty_days(db, after=after, before=before, limit=AGAIN_DAYS_MAX)
    for span, day in marked:
        days = periods.days(day, day + timedelta(days=1), times.zone_of(span.time_zone))
        await store.delete_counts(db, span=span, days=days)
        await _insert(db, span=span, days=days)
    if marked:
        return len(marked), after
    end = await walks.get_next(db, "rollup_dirty", store.MARKS, after=after)
    if end is not None and end[0] <= before:
        return 1, end
    claimed = await store.claim_dirty_hours(db, before=before, hour=periods.hour_name(now), limit=AGAIN_DAYS_MAX)
    for span, day, names in claimed:
        await _count_hours(db, span=span, day=day, names=names, now=now)
    return len(claimed), START


async def recount(db: Database, *, days: Sequence[tuple[Span, date]], now: datetime) -> None:
    """Mark these days to be counted again; until then reports read their answers."""
    await store.insert_dirty_days(db, days=days, now=now)


async def freeze(db: Database, *, organization_id: str, before: datetime) -> bool:
    """Keep the counts of days before this moment, which begins a day, whatever becomes of their responses.

    False while some of these days are not counted yet.
    """
    zone = times.zone_of(await store.get_time_zone(db, organization_id=organization_id))
    return await store.update_to_frozen(db, organization_id=organization_id, day=periods.day_of(before, zone))


async def survey(db: Database, *, after: str, now: datetime) -> tuple[int, str]:
    """Give the next published questionnaires their spans; return the count of all passed and the last one's id."""
    questionnaires = await store.list_questionnaires(db, after=after, limit=SURVEY_MAX)
    pairs = [(each.organization_id, each.questionnaire_id) for each in questionnaires]
    found: dict[tuple[str, str], dict[str, Span]] = {}
    for span in await store.list_spans(db, questionnaires=pairs):
        found.setdefault((span.organization_id, span.questionnaire_id), {})[span.dimension] = span
    published = [each for each in questionnaires if each.is_published]
    applications = list(dict.fromkeys((each.organization_id, each.application_id) for each in published))
    declared = await metadata.list_declared(db, applications=applications)
    hours: list[tuple[Span, date]] = []
    for each in published:
        spans = found.get((each.organization_id, each.questionnaire_id), {})
        wanted = dimensions_of(declared[each.organization_id, each.application_id])
        hours += await _see_to(db, questionnaire=each, wanted=wanted, spans=spans, now=now)
    if hours:
        await store.insert_dirty_days(db, days=hours, now=now - timedelta(seconds=AGAIN_SECONDS))
    await store.prune_retired(db, before=now - timedelta(hours=RETIRED_HOURS), limit=PRUNED_MAX)
    return len(questionnaires), questionnaires[-1].questionnaire_id if questionnaires else ""


def impersonal(declared: Declared) -> list[str]:
    """The names whose values say nothing of a person: declared, not marked as personal, and no pointer to an order."""
    names = declared.questionnaire.items()
    return sorted(name for name, definition in names if not definition.anonymize and name not in POINTERS)


def dimensions_of(declared: Declared) -> list[str]:
    """The dimensions that are kept: no personal name and none that leads to a person; of very many, the first.

    Nothing of a person who is erased may stay in the counts.
    """
    return [*FIXED, *(f"questionnaire_metadata:{name}" for name in impersonal(declared)[:NAMES_MAX])]


async def _see_to(
    db: Database, *, questionnaire: Questionnaire, wanted: Sequence[str], spans: Mapping[str, Span], now: datetime
) -> list[tuple[Span, date]]:
    """Give it the spans that it lacks; its hours of today if they are to be counted from the first one on."""
    today = periods.day_of(now, times.zone_of(questionnaire.time_zone))
    made: list[Span] = []
    if missing := [each for each in wanted if each not in spans]:
        made = await store.insert_spans(
            db, questionnaire=questionnaire, dimensions=missing, cases_from=today - timedelta(days=CASES_DAYS)
        )
    is_begun_anew = False
    for dimension, span in spans.items():
        if dimension not in wanted:
            await store.delete_span(db, span=span, now=now)
        elif span.time_zone != questionnaire.time_zone:
            await store.update_span(db, span=span, time_zone=questionnaire.time_zone, now=now)
            is_begun_anew = is_begun_anew or dimension == store.HOUR
    hours = next((each for each in (*spans.values(), *made) if each.dimension == store.HOUR), None)
    return [(hours, today)] if hours and (is_begun_anew or hours.hours_generation != hours.generation) else []


async def _advance(db: Database, *, spans: Sequence[Span], now: datetime) -> None:
    """Count the next days of these spans, which are kept up to the same day."""
    first = spans[0]
    zone = times.zone_of(first.time_zone)
    today = periods.day_of(now, zone)
    days = await _next_days(db, span=first, today=today)
    until = today if days is None else days.after
    for span in spans:
        if days is not None:
            await store.delete_dirty_days(db, span=span, days=days)
            if len(days.starts) == 1 and await _is_too_full(db, span=span, days=days):
                await store.insert_wide_day(db, span=span, day=days.first)
            else:
                await _insert(db, span=span, days=days)
        due_time = periods.day_start(until + timedelta(days=1), zone)
        await store.settle_span(db, span=span, kept_until=until, due_time=due_time)


async def _count_hours(db: Database, *, span: Span, day: date, names: Sequence[str] | None, now: datetime) -> None:
    """Count the hours of today that are over and were not counted, and those of these names again; None: all."""
    zone = times.zone_of(span.time_zone)
    today = periods.day_of(now, zone)
    start = periods.day_start(today, zone)
    hours = periods.whole_hours(start, now)
    is_kept = span.hours_until is not None and span.hours_until > start and span.hours_generation == span.generation
    until = span.hours_until if is_kept else None
    if until is not None:
        again = set(names if names is not None else [hour.name for hour in hours]) if day == today else set[str]()
        hours = [hour for hour in hours if hour.end > until or hour.name in again]
    await store.delete_hours(db, span=span, hours=None if until is None else [hour.name for hour in hours])
    until = until or start
    for hour in hours:
        days = Days(today, (hour.start,), hour.end)
        if await _is_too_full(db, span=span, days=days):
            until = min(until, hour.start)
            break
        await _insert(db, span=span, days=days)
        until = max(until, hour.end)
    await store.settle_hours(db, span=span, hours_until=until)


async def _insert(db: Database, *, span: Span, days: Days) -> None:
    if span.dimension == store.CASES:
        await store.insert_cases(db, span=span, days=days)
    else:
        await store.insert_counts(db, span=span, days=days, values_max=VALUES_MAX)


async def _next_days(db: Database, *, span: Span, today: date) -> Days | None:
    """The next days with responses, as many as one transaction counts; None where there are none before today."""
    zone = times.zone_of(span.time_zone)
    scope = {"organization_id": span.organization_id, "questionnaire_id": span.questionnaire_id}
    begin = periods.day_start(span.kept_until, zone)
    if span.dimension == store.CASES:  # no day is left out: a case may have gone out before it was made
        full = await store.get_next_case_time(db, **scope, from_time=begin, offset=CHUNK_RESPONSES_MAX)
        last = today if full is None else max(periods.day_of(full, zone), span.kept_until + timedelta(days=1))
        after = min(last, today, span.kept_until + timedelta(days=CHUNK_DAYS_MAX))
        return periods.days(span.kept_until, after, zone) if span.kept_until < today else None
    moment = await store.get_next_response_time(db, **scope, from_time=begin, offset=0)
    first = today if moment is None else periods.day_of(moment, zone)
    if first >= today:
        return None
    begin = periods.day_start(first, zone)
    full = await store.get_next_response_time(db, **scope, from_time=begin, offset=CHUNK_RESPONSES_MAX)
    last = today if full is None else max(periods.day_of(full, zone), first + timedelta(days=1))
    return periods.days(first, min(last, today, first + timedelta(days=CHUNK_DAYS_MAX)), zone)


async def _is_too_full(db: Database, *, span: Span, days: Days) -> bool:
    scope = {"organization_id": span.organization_id, "questionnaire_id": span.questionnaire_id}
    read = store.get_next_case_time if span.dimension == store.CASES else store.get_next_response_time
    moment = await read(db, **scope, from_time=days.starts[0], offset=DAY_RESPONSES_MAX)
    return moment is not None and moment < days.end


def _case_of(event: Event) -> str | None:
    """The instance that an event is about, if it may change a stage of it."""
    match event.type.partition(".")[0]:
        case "queue_item":
            return event.data.get("questionnaire_instance_id")
        case "questionnaire_instance":
            return event.subject_id
        case _:
            return None
