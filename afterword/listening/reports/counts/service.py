"""Counts of reports: kept counts where there are some, else the answers themselves, with the same result.

A count that would read more than the limits below is refused, with advice on making it smaller.

Readers who may not read single answers see the groups that `core/figures/disclosure.py` lets them see. For them months
are counted apart and hidden answers are in no sum, so that the same group is hidden however it is asked for. A filter
selects among the groups that are shown.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, TypeVar

import msgspec

from afterword import errors
from afterword.cases.outcomes import service as outcomes
from afterword.core.figures import cells as core_cells
from afterword.core.figures import disclosure, gaps, periods
from afterword.core.figures import reports as core_reports
from afterword.core.figures.cells import COUNTED, Cell, People, Repeat
from afterword.core.figures.disclosure import Key
from afterword.core.figures.queries import CountQuery, DailyCounts, Scope, Span, subjects_of
from afterword.core.figures.reports import BOUNCED, Counted, RequestedMetric
from afterword.core.questionnaires import conditions, metadata
from afterword.core.questionnaires.conditions import Facts
from afterword.kit.db import Database
from afterword.listening.reports.counts import store
from afterword.listening.reports.counts.store import Live
from afterword.listening.reports.daily_counts.lookups import store as lookups_store

Found = TypeVar("Found")

RESPONSES_MAX: Final = 500_000  # with their answers, in one count
CASES_MAX: Final = 2_000_000  # without their answers
FILTERED_MAX: Final = 20_000  # responses that a condition is evaluated for
FILTERED_BATCH: Final = 1_000
CELLS_MAX: Final = 100_000
UNREAD_MAX: Final = 20_000  # events; where the reader of the log is further behind, everything is counted live
FIRST_OF_SPAN: Final = 1_000  # responses, among whose people it is looked whether they are enough for an alert
SAMPLED_MAX: Final = 1_000  # responses; above it the answers per person are estimated from a sample
SAMPLED_SPANS: Final = 50  # equal parts of the period, each with its part of the sample
SAMPLED_OF_SPAN: Final = 5
PERSON_MAX: Final = 500  # responses of one person
KEPT_DIMENSIONS: Final = frozenset({"version", "channel", "locale", "questionnaire_metadata"})
RANKED_BY: Final = "submitted"  # cases are hidden in the order of their answers, as the answers are
_Table = tuple[int, str, str, str]  # month, questionnaire, question and part of it


async def answers(
    db: Database, *, asked: CountQuery, once: bool = False, is_live: bool = False, has_repeats: bool = True
) -> tuple[list[Cell], People]:
    """Count each value; `once`: people by part of a question; `is_live`: without kept counts. Raises Invalid."""
    return (await answers_of_parts(db, asked=asked, once=once, is_live=is_live, has_repeats=has_repeats))[-1]


async def cases(
    db: Database, *, asked: CountQuery, once: bool = False, has_repeats: bool = True
) -> tuple[list[Cell], People]:
    """Count instances by stage and pair of stages; `once`: one of each person. Raises Invalid for too much."""
    asked = replace(asked, questions={})
    return (await _count(db, asked, None, once=once, has_repeats=has_repeats and not once))[-1]


async def answers_of_parts(
    db: Database, *, asked: CountQuery, once: bool = False, is_live: bool = False, has_repeats: bool = True
) -> list[tuple[list[Cell], People]]:
    """Count each value in each period of the query, the earlier one first. Raises Invalid for too much.

    `has_repeats`: with the answers of each person.
    """
    if asked.is_of_cases:
        return [([], People()) for _ in asked.parts]
    kept = None if once or is_live else await _kept(db, asked)
    return await _count(db, asked, kept, once=once, has_repeats=has_repeats and not once)


async def cases_of_parts(db: Database, *, asked: CountQuery, has_repeats: bool) -> list[tuple[list[Cell], People]]:
    """Count instances by stage in each period of the query, the earlier one first.

    `has_repeats`: with the cases of each person, and the pairs of stages, which rates need. Raises Invalid for too
    much.
    """
    asked = replace(asked, questions={})
    if not has_repeats and _are_stages_kept(asked):
        return await _stages(db, asked)
    return await _count(db, asked, None, once=False, has_repeats=has_repeats)


async def has_people(db: Database, *, asked: CountQuery, minimum: int) -> bool:
    """Whether as many people as `minimum` are among those who gave the first answers of each questionnaire."""
    found = await store.list_people(
        db,
        organization_id=asked.organization_id,
        asked=asked,
        scope=Scope(asked.spans),
        span_max=FIRST_OF_SPAN,
        limit=minimum,
    )
    return len(found) >= minimum


async def pairs(
    db: Database, *, asked: CountQuery, outcome_question_id: str
) -> tuple[dict[str, dict[tuple[str, str], int]], Mapping[str, int]]:
    """Count pairs of an outcome and each value of each question, and their people.

    Raises Invalid where that would read too much.
    """
    rows = await store.list_pairs(
        db,
        organization_id=asked.organization_id,
        asked=asked,
        scope=await _checked(db, asked, await scope_of(db, asked, asked.spans)),
        outcome_question_id=outcome_question_id,
        limit=CELLS_MAX,
    )
    found: dict[str, dict[tuple[str, str], int]] = {each: {} for each in asked.questions}
    people: dict[str, int] = {}
    for question_id, outcome, value, count in _bounded(rows):
        if outcome is None or value is None:
            people[question_id] = count
        else:
            found[question_id][outcome, value] = count
    return found, people


async def scope_of(db: Database, asked: CountQuery, spans: Sequence[Span]) -> Scope:
    """The responses in these spans; with a condition, those that meet it. Raises Invalid where it looks at too many."""
    scope = Scope(spans)
    if asked.condition is None or not spans:
        return scope
    found = await store.list_instance_ids(
        db, organization_id=asked.organization_id, asked=asked, scope=scope, limit=FILTERED_MAX + 1
    )
    if len(found) > FILTERED_MAX:
        raise _too_much(f"A filter looks at {FILTERED_MAX:,} responses at most: choose a shorter time or no filter.")
    matching: list[str] = []
    for begin in range(0, len(found), FILTERED_BATCH):
        batch = found[begin : begin + FILTERED_BATCH]
        known = await outcomes.list_facts(
            db, organization_id=asked.organization_id, instance_ids=batch, condition=asked.condition
        )
        matching += [each for each, facts_of in known.items() if conditions.matches(asked.condition, facts_of)]
    return Scope(spans, matching)


async def _count(
    db: Database, asked: CountQuery, kept: DailyCounts | None, *, once: bool, has_repeats: bool
) -> list[tuple[list[Cell], People]]:
    scope = await scope_of(db, asked, asked.spans if kept is None else gaps.gaps_of(asked, kept))
    found = kept or DailyCounts()
    has_sizes = has_repeats and found.responses_min(asked) <= SAMPLED_MAX
    live = await _live(db, asked, scope, once=once, is_rest=kept is not None, has_sizes=has_sizes)
    repeats: Sequence[Repeat] = ()
    sampled = [False] * len(asked.parts)
    if has_repeats and scope.instance_ids != []:
        sampled = _sampled(asked, scope, live.sizes)
        repeats = await _repeats(db, asked, scope, sampled)
    return _by_part(asked, [*_bounded(found.cells), *live.cells], repeats, sampled)


def _by_part(
    asked: CountQuery, cells: Sequence[Cell], repeats: Sequence[Repeat], sampled: list[bool]
) -> list[tuple[list[Cell], People]]:
    if len(asked.parts) == 1:
        return [(list(cells), People(repeats, is_sample=sampled[0]))]
    found: list[tuple[list[Cell], People]] = []
    first = 0
    for part, is_sample in zip(asked.parts, sampled, strict=True):
        own = {first + index: index for index in range(len(part.buckets))}
        found.append(core_cells.moved(cells, People(repeats, is_sample=is_sample), own))
        first += len(part.buckets)
    return found


# Daily counts ---------------------------------------------------------------------------------------------------------


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


async def _kept(db: Database, asked: CountQuery) -> DailyCounts | None:
    whole = gaps.whole_days(asked)
    if not _is_kept(asked) or not any(days.starts for days in whole):
        return None
    return await lookups_store.get_kept(
        db,
        organization_id=asked.organization_id,
        asked=asked,
        whole=whole,
        hours=[] if asked.dimensions else gaps.hours(asked, whole),
        events_max=UNREAD_MAX,
        cells_max=CELLS_MAX,
    )


def _are_stages_kept(asked: CountQuery) -> bool:
    chosen = asked.condition is not None or asked.channel_id is not None or asked.pipeline_id is not None
    is_of_days = len(asked.buckets) == 1 or asked.zone == asked.period.time_zone
    return asked.basis == "sent" and not (asked.test or asked.dimensions or chosen) and is_of_days


async def _stages(db: Database, asked: CountQuery) -> list[tuple[list[Cell], People]]:
    most = CASES_MAX * len(asked.parts)
    cells, number = await lookups_store.list_stages(
        db,
        organization_id=asked.organization_id,
        asked=asked,
        whole=gaps.whole_days(asked),
        events_max=UNREAD_MAX,
        number_max=most + 1,
    )
    if number > most:
        raise _too_many(most)
    return _by_part(asked, cells, (), [False] * len(asked.parts))


# Live counts ---------------------------------------------------------------------------------------------------------


async def _live(db: Database, asked: CountQuery, scope: Scope, *, once: bool, is_rest: bool, has_sizes: bool) -> Live:
    """The counts of these responses. Raises Invalid where they are too many."""
    if scope.instance_ids == []:
        return Live(0, [0] * len(asked.parts), [])
    most = (CASES_MAX if asked.is_of_cases else RESPONSES_MAX) * len(asked.parts)
    live = await store.list_live(
        db,
        organization_id=asked.organization_id,
        asked=asked,
        scope=scope,
        once=once,
        is_rest=is_rest,
        number_max=most + 1,
        size_max=SAMPLED_MAX + 1 if has_sizes and scope.instance_ids is None else None,
        limit=CELLS_MAX,
    )
    if live.number > most:
        raise _too_many(most)
    _bounded(live.cells)
    return live


def _sampled(asked: CountQuery, scope: Scope, sizes: Sequence[int]) -> list[bool]:
    """Whether the people of a period are more than are looked at one by one; they are where no size is told."""
    if scope.instance_ids is not None:
        return [len(scope.instance_ids) > SAMPLED_MAX] * len(asked.parts)
    return [size > SAMPLED_MAX for size in sizes] or [True] * len(asked.parts)


async def _repeats(db: Database, asked: CountQuery, scope: Scope, sampled: Sequence[bool]) -> list[Repeat]:
    """The answers of each person in the whole period; of a sample spread over it, always the same, where it is large.

    A filter leaves so few responses that all of them are read, or each so many-th of them.
    """
    spans: list[Span] = []
    spans_max: list[int | None] = []
    instance_ids = scope.instance_ids
    if instance_ids is not None and sampled[0]:
        instance_ids = sorted(instance_ids)[:: len(instance_ids) // SAMPLED_MAX + 1]
    parts = max(2, SAMPLED_SPANS // len(asked.questionnaire_ids))
    for span, is_sample in zip(asked.spans, [each for each in sampled for _ in asked.questionnaire_ids], strict=True):
        is_cut = is_sample and instance_ids is None
        length = (span.to_time - span.from_time) / (parts if is_cut else 1)
        inner = [span.from_time + part * length for part in range(parts)] if is_cut else [span.from_time]
        edges = [*inner, span.to_time]
        spans += [Span(span.questionnaire_id, low, high) for low, high in pairwise(edges)]
        spans_max += [SAMPLED_OF_SPAN if is_cut else None] * (len(edges) - 1)
    return await store.list_repeats(
        db,
        organization_id=asked.organization_id,
        asked=asked,
        scope=Scope(spans, instance_ids),
        instance_ids=scope.instance_ids,
        spans_max=spans_max,
        person_max=PERSON_MAX,
    )


async def _checked(db: Database, asked: CountQuery, scope: Scope) -> Scope:
    """The scope, if its responses are few enough. Raises Invalid."""
    given: dict[str, Any] = {"organization_id": asked.organization_id, "asked": asked, "scope": scope}
    if scope.instance_ids is None and await store.count_responses(db, **given, limit=RESPONSES_MAX + 1) > RESPONSES_MAX:
        raise _too_many(RESPONSES_MAX)
    return scope


def _bounded(found: Sequence[Found]) -> Sequence[Found]:
    if len(found) >= CELLS_MAX:
        raise _too_much(f"It has more than {CELLS_MAX:,} groups: group by less, or choose a shorter time.")
    return found


def _too_many(most: int) -> errors.Invalid:
    return _too_much(f"It would read more than {most:,} responses: choose a shorter time or fewer groups.")


def _too_much(message: str) -> errors.Invalid:
    return errors.Invalid.of(errors.FieldError("out_of_range", message, parameter="from_time"))


# Readers of figures alone --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Visible:
    """Cells of shown groups, those that make the total, and the hidden ones; `named`: hidden groups may be listed."""

    shown: list[Cell]
    total: list[Cell]
    hidden: list[Cell]
    named: bool

    def __add__(self, other: "Visible") -> "Visible":
        return Visible(
            self.shown + other.shown, self.total + other.total, self.hidden + other.hidden, self.named and other.named
        )


async def visible(
    db: Database, *, asked: CountQuery, is_of_cases: bool, types: Mapping[str, Any], minimum: int
) -> Visible:
    """The answers or cases that such a reader may see; `types`: of metadata by subject.

    Raises Invalid where that would read too much.
    """
    filtered = {group for each in subjects_of(asked.condition) if (group := core_cells.read_group(each))}
    attributes = sorted({*asked.dimensions, *filtered})
    months = periods.buckets(asked.period, "month")
    monthly = replace(asked, buckets=months, dimensions=tuple(attributes), condition=None)
    read = cases if is_of_cases else answers
    cells, people = [(await read(db, asked=monthly, once=once, has_repeats=False))[0] for once in (False, True)]
    cells = [cell for cell in cells if cell.value != BOUNCED]  # not offered to them: few of them would hide a month
    shown = _shown(cells, people, minimum=minimum)
    found = Visible([], [], [], named=len(attributes) < disclosure.ATTRIBUTES_MAX)
    for cell in cells:
        values = dict(zip(attributes, cell.dimensions, strict=True))
        if not conditions.matches(asked.condition, _facts(values, types)):
            continue
        bucket = periods.bucket_of(months[cell.bucket], asked.buckets)
        moved = msgspec.structs.replace(
            cell, bucket=bucket, dimensions=tuple(values[each] for each in asked.dimensions)
        )
        keys = shown[_table(cell, part_of(cell))]
        is_shown = keys is not None and cell.dimensions in keys
        (found.shown if is_shown else found.hidden).append(moved)
        if is_shown or (keys is not None and asked.condition is None):
            found.total.append(moved)
    return found


def counted(
    wanted: Sequence[RequestedMetric], cells: Visible, group_by: Sequence[str], standing: Collection[Key]
) -> Counted:
    """The rows and the total, and which of their figures are hidden: not those of which some months are shown."""
    secret = core_reports.gather(wanted, cells.hidden, group_by, ())
    listed = [*standing, *(key for key in secret.rows if cells.named and key not in standing)]
    rows = core_reports.gather(wanted, cells.shown, group_by, listed).rows
    total = core_reports.gather(wanted, cells.total, (), ()).total
    hidden: list[set[Key]] = []
    for index in range(len(wanted)):
        keys = {key for key in rows if not cells.named or (key in secret.rows and secret.rows[key][index])}
        hidden.append({key for key in keys if not rows[key][index]})
        if not total[index] and (secret.total[index] or not cells.named):
            hidden[-1].add(core_reports.TOTAL)
    return Counted(rows, total, hidden)


def part_of(cell: Cell) -> str:
    """The row of a matrix or the rank of a ranking that a cell of answers counts; else empty."""
    return cell.value.rpartition(":")[0]


def _table(cell: Cell, part: str) -> _Table:
    return cell.bucket, cell.questionnaire_id, cell.question_id, part


def _shown(cells: Sequence[Cell], people: Sequence[Cell], *, minimum: int) -> Mapping[_Table, set[Key] | None]:
    """The shown groups of each table; None where even the total is hidden."""
    tables: defaultdict[_Table, dict[Key, dict[str, int]]] = defaultdict(dict)
    for cell in cells:
        size = tables[_table(cell, part_of(cell))].setdefault(cell.dimensions, {})
        size["" if cell.question_id else cell.value] = 0
    for cell in people:
        part, name = (cell.value, "") if cell.question_id else ("", cell.value)
        size = tables[_table(cell, part)].get(cell.dimensions, {})
        if name in size:
            size[name] = cell.count
    return {
        name: disclosure.shown(table, minimum=minimum, by="" if name[2] else RANKED_BY)
        for name, table in tables.items()
        if table
    }


def _facts(values: Mapping[tuple[str, str], str | None], types: Mapping[str, Any]) -> Facts:
    found: dict[str, object] = {}
    for (kind, name), text in values.items():
        subject = f"{kind}:{name}"
        found[subject] = text
        if kind == "question" and text is not None:
            found[subject] = {"true": True, "false": False}.get(text) if text in {"true", "false"} else int(text)
        elif (type_ := types.get(subject, "any")) != "any":
            found[subject] = metadata.typed(type_, text)
    return found
