"""Counting for reports: kept counts where they serve, the answers themselves for the rest; both come to the same.

Bounded: a count that would read more than the limits below is refused with what would make it smaller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import pairwise
from typing import Any, Final, TypeVar

from afterword import errors
from afterword.core.figures import periods
from afterword.core.figures.periods import Days, Period
from afterword.core.figures.reports import COUNTED, Basis, Cell, People
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Node
from afterword.core.wire import times
from afterword.db import Database
from afterword.instances import facts
from afterword.reports.counts import store
from afterword.reports.counts.store import Scope, Span
from afterword.reports.rollups import service as rollups
from afterword.reports.rollups.store import Kept

Counted = TypeVar("Counted")

RESPONSES_MAX: Final = 500_000  # whose answers one count reads
CASES_MAX: Final = 2_000_000  # instances alone
FILTERED_MAX: Final = 20_000  # responses that a condition is evaluated for
FILTERED_BATCH: Final = 1_000
CELLS_MAX: Final = 100_000
SAMPLED_MAX: Final = 1_000  # responses; of more, how often people answer is estimated from some
SAMPLED_SPANS: Final = 50  # equal parts of the period, each giving some
SAMPLED_OF_SPAN: Final = 5
PERSON_MAX: Final = 500  # responses of one person
KEPT_DIMENSIONS: Final = frozenset({"version", "channel", "locale", "questionnaire_metadata"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CountQuery:
    """A count query; `zone`: the organization's time zone.

    `questions`: ids, each with the one under which it is counted where several count as one; `types`: of all of them.
    """

    organization_id: str
    questionnaire_ids: tuple[str, ...]
    period: Period
    buckets: tuple[date, ...]  # the first day of each
    basis: Basis
    zone: str
    questions: Mapping[str, str] = field(default_factory=dict[str, str])
    types: frozenset[str] = frozenset()
    dimensions: tuple[tuple[str, str], ...] = ()
    condition: Node | None = None
    test: bool = False
    channel_id: int | None = None
    pipeline_id: str | None = None

    @property
    def edges(self) -> tuple[datetime, ...]:
        """The start of each bucket."""
        return periods.edges(self.period, self.buckets)

    @property
    def spans(self) -> list[Span]:
        """The whole period, of each questionnaire."""
        period = self.period
        return [Span(each, period.from_time, period.to_time) for each in self.questionnaire_ids]


async def answers(db: Database, *, asked: CountQuery, people_max: int = 0) -> tuple[list[Cell], People]:
    """Count each value, with up to `people_max` people of each group; none for 0.

    Raises Invalid where that would read too much.
    """
    if not asked.questions:
        return [], People()
    kept = await _kept(db, asked, people_max)
    spans = asked.spans if kept is None else _gaps(asked, kept)
    cells, people = ([*_bounded(kept.cells)], People(_bounded(kept.groups))) if kept else ([], People())
    scope = Scope(spans=[], basis=asked.basis, test=asked.test)
    if spans:
        scope = await _scope(db, asked, spans, is_of_cases=False)
        cells += await _raw_answers(db, asked, scope)
    return cells, people + await _people(db, asked, scope, people_max) if people_max else people


async def raw_answers(db: Database, *, asked: CountQuery) -> Sequence[Cell]:
    """The values without kept counts."""
    if not asked.questions:
        return []
    return await _raw_answers(db, asked, await _scope(db, asked, asked.spans, is_of_cases=False))


async def people(db: Database, *, asked: CountQuery) -> Sequence[Cell]:
    """Count the people who answered, by part of a question. Raises Invalid where that would read too much."""
    if not asked.questions:
        return []
    return await _raw_answers(db, asked, await _scope(db, asked, asked.spans, is_of_cases=False), once=True)


async def cases(
    db: Database, *, asked: CountQuery, once: bool = False, people_max: int = 0
) -> tuple[Sequence[Cell], People]:
    """Count instances by stage, with their people; `once`: one of each person.

    Raises Invalid where that would read too much.
    """
    scope = await _scope(db, asked, asked.spans, is_of_cases=True)
    people = await _people(db, asked, scope, people_max) if people_max else People()
    found = await store.list_case_counts(
        db,
        organization_id=asked.organization_id,
        scope=scope,
        edges=asked.edges,
        dimensions=asked.dimensions,
        channel_id=asked.channel_id,
        pipeline_id=asked.pipeline_id,
        once=once,
        limit=CELLS_MAX,
    )
    return _bounded(found), people


async def pairs(
    db: Database, *, asked: CountQuery, outcome_question_id: str
) -> tuple[dict[str, dict[tuple[str, str], int]], Mapping[str, int]]:
    """Count pairs of an outcome and each value of each question, and their people.

    Raises Invalid where that would read too much.
    """
    scope = await _scope(db, asked, asked.spans, is_of_cases=False)
    rows = await store.list_pairs(
        db,
        organization_id=asked.organization_id,
        scope=scope,
        outcome_question_id=outcome_question_id,
        question_ids=list(asked.questions),
        limit=CELLS_MAX,
    )
    found: dict[str, dict[tuple[str, str], int]] = {each: {} for each in asked.questions}
    for question_id, outcome, value, count in _bounded(rows):
        found[question_id][outcome, value] = count
    people = await store.count_pair_people(
        db,
        organization_id=asked.organization_id,
        scope=scope,
        outcome_question_id=outcome_question_id,
        question_ids=list(asked.questions),
    )
    return found, people


# Kept counts ---------------------------------------------------------------------------------------------------------


def _is_kept(asked: CountQuery) -> bool:
    """Whether counts of this kind are kept at all: no filter, one dimension at most, buckets of the same days."""
    kinds = {kind for kind, _ in asked.dimensions}
    return (
        asked.basis == "submitted"
        and asked.condition is None
        and not asked.test
        and asked.types <= COUNTED
        and len(asked.dimensions) <= 1
        and kinds <= KEPT_DIMENSIONS
        and (len(asked.buckets) == 1 or asked.zone == asked.period.time_zone)
    )


async def _kept(db: Database, asked: CountQuery, people_max: int = 0) -> Kept | None:
    days = _whole_days(asked)
    if not _is_kept(asked) or not days.starts:
        return None
    return await rollups.read(
        db,
        organization_id=asked.organization_id,
        questionnaire_ids=asked.questionnaire_ids,
        questions=asked.questions,
        dimension=":".join(filter(None, asked.dimensions[0])) if asked.dimensions else "",
        days=days,
        buckets=asked.buckets if len(asked.buckets) > 1 else (days.first,),
        cells_max=CELLS_MAX,
        people_max=people_max,
    )


def _whole_days(asked: CountQuery) -> Days:
    return periods.whole_days(asked.period, times.zone_of(asked.zone))


def _gaps(asked: CountQuery, kept: Kept) -> list[Span]:
    """The parts of the period without kept counts: its ends, stale days, and all after the watermark."""
    days, period = _whole_days(asked), asked.period
    found: list[Span] = []
    for questionnaire_id in asked.questionnaire_ids:
        until = min(max(kept.until.get(questionnaire_id, days.first), days.first), days.after)
        gaps = [(period.from_time, days.starts[0])]
        gaps += [
            (days.start(day), days.start(day + date.resolution))
            for day in sorted(kept.live.get(questionnaire_id, ()))
            if days.first <= day < until
        ]
        gaps.append((days.start(until), period.to_time))
        found += [Span(questionnaire_id, low, high) for low, high in _joined(gaps)]
    return found


def _joined(gaps: Sequence[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    """Neighbours as one, empty ones left out."""
    found: list[tuple[datetime, datetime]] = []
    for low, high in gaps:
        if low >= high:
            continue
        if found and found[-1][1] == low:
            found[-1] = found[-1][0], high
        else:
            found.append((low, high))
    return found


# The answers themselves ----------------------------------------------------------------------------------------------


async def _raw_answers(db: Database, asked: CountQuery, scope: Scope, *, once: bool = False) -> Sequence[Cell]:
    if scope.instance_ids == []:
        return []
    found = await store.list_answer_counts(
        db,
        organization_id=asked.organization_id,
        scope=scope,
        questions=asked.questions,
        edges=asked.edges,
        dimensions=asked.dimensions,
        is_ranking="ranking" in asked.types,
        once=once,
        limit=CELLS_MAX,
    )
    return _bounded(found)


async def _people(db: Database, asked: CountQuery, scope: Scope, people_max: int) -> People:
    """The people behind these counts, and the repeats of people in the whole period."""
    given: dict[str, Any] = {
        "organization_id": asked.organization_id,
        "questions": asked.questions,
        "edges": asked.edges,
        "dimensions": asked.dimensions,
        "channel_id": asked.channel_id,
        "pipeline_id": asked.pipeline_id,
    }
    if scope.instance_ids == []:
        return People()
    groups = (
        await store.list_groups(db, **given, scope=scope, people_max=people_max, limit=CELLS_MAX) if scope.spans else []
    )
    whole = replace(scope, spans=asked.spans)
    sample = await _sample(db, asked, whole)
    repeats = await store.list_repeats(
        db,
        **given,
        scope=sample or whole,
        whole=whole,
        span_max=SAMPLED_OF_SPAN if sample and whole.instance_ids is None else None,
        person_max=PERSON_MAX,
    )
    return People(_bounded(groups), repeats, is_sample=sample is not None)


async def _sample(db: Database, asked: CountQuery, whole: Scope) -> Scope | None:
    """Some responses, spread over the period; None where all are few enough. Always the same, so that figures stay."""
    if whole.instance_ids is not None:
        step = len(whole.instance_ids) // SAMPLED_MAX + 1
        return replace(whole, instance_ids=sorted(whole.instance_ids)[::step]) if step > 1 else None
    number = await store.count_responses(
        db,
        organization_id=asked.organization_id,
        scope=whole,
        is_of_cases=not asked.questions,
        limit=SAMPLED_MAX + 1,
    )
    if number <= SAMPLED_MAX:
        return None
    parts = max(2, SAMPLED_SPANS // len(whole.spans))
    spans: list[Span] = []
    for span in whole.spans:
        length = (span.to_time - span.from_time) / parts
        edges = [*(span.from_time + part * length for part in range(parts)), span.to_time]
        spans += [Span(span.questionnaire_id, low, high) for low, high in pairwise(edges)]
    return replace(whole, spans=spans)


async def _scope(db: Database, asked: CountQuery, spans: Sequence[Span], *, is_of_cases: bool) -> Scope:
    """The responses in these spans, checked to be few enough; with a condition, those that meet it."""
    scope = Scope(spans=spans, basis=asked.basis, test=asked.test)
    if asked.condition is None:
        most = CASES_MAX if is_of_cases else RESPONSES_MAX
        count = await store.count_responses(
            db, organization_id=asked.organization_id, scope=scope, is_of_cases=is_of_cases, limit=most + 1
        )
        if count > most:
            raise too_much(f"It would read more than {most:,} responses: choose a shorter time or fewer groups.")
        return scope
    return replace(scope, instance_ids=await _matching(db, asked, scope, is_of_cases=is_of_cases))


async def _matching(db: Database, asked: CountQuery, scope: Scope, *, is_of_cases: bool) -> list[str]:
    found = await store.list_instance_ids(
        db, organization_id=asked.organization_id, scope=scope, is_of_cases=is_of_cases, limit=FILTERED_MAX + 1
    )
    if len(found) > FILTERED_MAX:
        raise too_much(f"A filter looks at {FILTERED_MAX:,} responses at most: choose a shorter time or no filter.")
    matching: list[str] = []
    for begin in range(0, len(found), FILTERED_BATCH):
        known = await facts.list_facts(
            db, organization_id=asked.organization_id, instance_ids=found[begin : begin + FILTERED_BATCH]
        )
        matching += [each for each, facts_of in known.items() if conditions.matches(asked.condition, facts_of)]
    return matching


def _bounded(cells: Sequence[Counted]) -> Sequence[Counted]:
    if len(cells) >= CELLS_MAX:
        raise too_much(f"It has more than {CELLS_MAX:,} groups: group by less, or choose a shorter time.")
    return cells


def too_much(message: str) -> errors.Invalid:
    """The refusal of a report that is too large; it says what would make it smaller."""
    return errors.Invalid.of(errors.FieldError("out_of_range", message, parameter="from_time"))
