"""The query of a report, checked against its questionnaires, and the queries that count for it.

All errors are named at once. Their places are paths in a custom report's spec (`metrics/0/question_id`); a template's
parameters have other names.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any, Final, cast

import msgspec
from msgspec.structs import replace

from afterword.core.figures import cells as core_cells, disclosure, periods, reports as core_reports
from afterword.core.figures.cells import NUMERIC, Basis, Cell
from afterword.core.figures.metrics import LEVEL_DEFAULT
from afterword.core.figures.periods import Bucket, CalendarPeriod, Compare, Days, Hour, Period
from afterword.core.figures.reports import TYPE_OF, RequestedMetric
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Kind, Node, Scope as ConditionScope
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.question_types import Question
from afterword.core.reading.findings import Findings
from afterword.core.wire import times

PROTECTED: Final = (
    "Without the scope “Questionnaire Instance.Read”, and those of metadata and cases where it is by them, "
)
_GROUPS: Final = (
    "bucket, questionnaire, version, channel, pipeline, locale, question:{id}, questionnaire_metadata:{name}, "
    "responder_metadata:{name}, case:cause or case:remedy is expected."
)


class ReportQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query of a report. Without `date_basis`, answers count by submission and cases by dispatch."""

    questionnaire_ids: tuple[str, ...]
    metrics: tuple[tuple[str, str | None], ...] = ()
    group_by: tuple[str, ...] = ()
    bucket: Bucket | None = None
    filter: object = None
    from_time: datetime | None = None
    to_time: datetime | None = None
    last_days: int | None = None
    calendar_period: CalendarPeriod | None = None
    date_basis: Basis | None = None
    time_zone: str | None = None
    compare: Compare = "none"
    level: float = LEVEL_DEFAULT

    def basis(self, *, is_of_cases: bool) -> Basis:
        """The time by which a response, or a case, counts."""
        return self.date_basis or ("sent" if is_of_cases else "submitted")

    @property
    def basis_shown(self) -> Basis:
        """The basis of the whole report; where answers and cases stand side by side, that of the answers."""
        of_cases = [RequestedMetric(metric).is_of_cases for metric, _ in self.metrics]
        return self.basis(is_of_cases=bool(of_cases) and all(of_cases))


class ReportContext(msgspec.Struct, frozen=True, kw_only=True):
    """The questions of a report's questionnaires by id, the newest version first."""

    organization_id: str
    time_zone: str
    minimum_base: int
    first_weekday: int
    questions: Mapping[str, Question]
    declared: Sequence[Declared]
    together: Sequence[AbstractSet[str]] = ()  # the questions that a version asks, of each version
    test: bool = False
    protected: bool = False  # for a reader of figures alone
    unread: AbstractSet[str] = frozenset()  # the kinds of VALUE_SCOPES that the reader may not read one by one
    only: tuple[str, ...] | None = None  # the reader's limit: a name of questionnaire metadata, then its values

    @property
    def types(self) -> dict[str, Any]:
        """The declared types by subject; of applications that differ, any."""
        found: dict[str, Any] = {}
        for declared in self.declared:
            for subject, kind in declared.types.items():
                found[subject] = kind if found.get(subject, kind) == kind else "any"
        return found

    def of_types(self, *types: str) -> tuple[str, ...]:
        """The questions of these types, in order."""
        return tuple(each for each, question in self.questions.items() if question.type in types)


def guarded(context: ReportContext, query: ReportQuery, *groups: str | None) -> ReportContext:
    """The context of a reader of figures alone where a report is by values that its reader may not read."""
    subjects = [*query.group_by, *(each for each in groups if each), *_subjects_in(query.filter)]
    if context.unread.isdisjoint(each.partition(":")[0] for each in subjects):
        return context
    return replace(context, protected=True)


def _subjects_in(condition: object) -> Iterator[str]:
    """The subjects that a condition names, whatever else is wrong with it."""
    if isinstance(condition, Mapping):
        for name, member in cast("Mapping[str, object]", condition).items():
            if name == "subject" and isinstance(member, str):
                yield member
            yield from _subjects_in(member)
    elif isinstance(condition, list):
        for node in cast("list[object]", condition):
            yield from _subjects_in(node)


def query_of(spec: Mapping[str, Any]) -> ReportQuery:
    metrics = [(each["metric"], each.get("question_id")) for each in spec["metrics"]]
    return msgspec.convert({**spec, "metrics": metrics}, ReportQuery)


def requested_metrics(query: ReportQuery, context: ReportContext, findings: Findings) -> tuple[RequestedMetric, ...]:
    """The metrics, each with the questions that it is about: the one that is named, else all of its type."""
    return tuple(
        _requested_metric(metric, question_id, context, findings, path=f"metrics/{index}")
        for index, (metric, question_id) in enumerate(query.metrics)
    )


def check_groups(query: ReportQuery, context: ReportContext, findings: Findings) -> None:
    for index, text in enumerate(query.group_by):
        path, group = f"group_by/{index}", core_cells.read_group(text)
        if text == core_reports.EACH_QUESTION:
            continue
        if group is None:
            findings.error(path, "unknown_value", _GROUPS)
        elif text in query.group_by[:index]:
            findings.error(path, "exclusive", "It stands twice.")
        elif group[0] == "question" and group[1] not in context.questions:
            findings.error(path, "unknown_id", "None of these questionnaires asks such a question.")
        elif group[0] == "question" and context.questions[group[1]].type not in core_cells.GROUPING:
            findings.error(path, "unknown_value", "Only questions with one of a few values can be grouped by.")
    if query.compare == "rest" and (not query.group_by or {"bucket", core_reports.EACH_QUESTION} & {*query.group_by}):
        findings.error(
            "compare", "exclusive", "Groups of responses are compared with the rest: no buckets or questions."
        )
    if query.bucket is None and "bucket" in query.group_by:
        findings.error("bucket", "required", "Say by day, week, month or quarter.")


def require_question(
    question_id: str | None, context: ReportContext, findings: Findings, *, path: str, types: frozenset[str]
) -> None:
    if question_id is None:
        findings.error(path, "required", "A question is required.")
    elif question_id not in context.questions:
        findings.error(path, "unknown_id", "None of these questionnaires asks such a question.")
    elif context.questions[question_id].type not in types:
        findings.error(path, "unknown_value", f"A question of the type {', '.join(sorted(types))} is expected.")


def scope_of(
    query: ReportQuery, context: ReportContext, *, now: datetime, findings: Findings
) -> tuple[Period, Node | None]:
    """The period and the filter. Raises Invalid with everything that is wrong."""
    named = {"calendar_period": query.calendar_period, "last_days": query.last_days}
    ways = [name for name, value in {**named, "": query.from_time or query.to_time}.items() if value is not None]
    if len(ways) > 1:
        findings.error(ways[0], "exclusive", "Only one of calendar_period, last_days, or from_time with to_time.")
    to_time = query.to_time or periods.whole_second(now)
    time_zone = query.time_zone or context.time_zone
    zone = times.zone_of(time_zone)
    from_time = query.from_time or periods.days_before(to_time, query.last_days or periods.DAYS_DEFAULT, zone)
    if from_time >= to_time:
        findings.error("to_time", "out_of_range", "It must be after from_time.")
    elif to_time - from_time > timedelta(days=periods.DAYS_MAX + 1):
        findings.error("from_time", "out_of_range", f"A report covers {periods.DAYS_MAX:,} days at most.")
    kinds: dict[str, Kind] = {key: kind for each in context.questions.values() for key, kind in each.kinds.items()}
    scope = ConditionScope(questions=kinds, metadata=context.types, undeclared="text", tags=True, cases=True)
    condition = conditions.read(query.filter, "filter", findings, scope)
    if context.protected:
        _check_protected(query, context, condition, findings)
    findings.check()
    period = Period(from_time, to_time, time_zone, context.first_weekday)
    if query.calendar_period:
        period = periods.of_calendar(
            query.calendar_period, now=now, time_zone=time_zone, first_weekday=context.first_weekday
        )
    return (periods.whole_months(period, now=now) if context.protected else period), condition


def document_of(query: ReportQuery) -> dict[str, Any]:
    """The query as a result shows it; members without value are left out, times are the period's."""
    metrics = [
        {
            "metric": metric,
            "question_id": question_id,
            "date_basis": query.basis(is_of_cases=RequestedMetric(metric).is_of_cases),
        }
        for metric, question_id in query.metrics
    ]
    found: dict[str, Any] = {
        "questionnaire_ids": list(query.questionnaire_ids),
        "metrics": metrics,
        "group_by": list(query.group_by),
        "bucket": query.bucket if "bucket" in query.group_by else None,
        "date_basis": query.basis_shown,
        "filter": query.filter,
        "compare": query.compare,
        "level": query.level,
    }
    return {name: value for name, value in found.items() if value not in (None, [])}


def _check_protected(query: ReportQuery, context: ReportContext, condition: Node | None, findings: Findings) -> None:
    """Refuse a second way to ask the same: the difference of two ways is a small group."""
    defaults = {
        replace(query, date_basis=None).basis(is_of_cases=RequestedMetric(each).is_of_cases)
        for each, _ in query.metrics
    }
    if query.date_basis and (defaults or {"submitted"}) != {query.date_basis}:
        findings.error("date_basis", "unknown_value", f"{PROTECTED}scores count by submitted, invitations by sent.")
    if query.time_zone not in {None, context.time_zone}:
        findings.error("time_zone", "unknown_value", f"{PROTECTED}the organization's time zone is used.")
    if "bucket" in query.group_by and query.bucket in {"day", "week"}:
        findings.error("bucket", "unknown_value", f"{PROTECTED}month or quarter is expected.")
    if "pipeline" in query.group_by:
        findings.error("group_by", "unknown_value", f"{PROTECTED}there are no groups by pipeline.")
    subjects = subjects_of(condition)
    for subject in subjects:
        kind, _, name = subject.partition(":")
        question = context.questions.get(name)
        is_plain = kind.endswith("_metadata") or subject in core_cells.CASE_GROUPS
        if not is_plain and (question is None or question.type not in core_cells.GROUPING):
            message = f"{PROTECTED}a filter compares metadata, causes and remedies, and questions with few values."
            findings.error("filter", "unknown_value", message)
    attributes = {*core_cells.dimensions(query.group_by), *(core_cells.read_group(each) for each in subjects)}
    if context.only:
        attributes.add(of_limit(context.only))
    if len(attributes) > disclosure.ATTRIBUTES_MAX:
        message = f"{PROTECTED}groups and filter together have {disclosure.ATTRIBUTES_MAX} attributes at most."
        findings.error("filter" if subjects else "group_by", "too_many", message)


def _requested_metric(
    metric: str, question_id: str | None, context: ReportContext, findings: Findings, *, path: str
) -> RequestedMetric:
    want = RequestedMetric(metric)
    if want.is_of_cases:
        if question_id is not None:
            findings.error(f"{path}/question_id", "exclusive", "This metric is about invitations, not a question.")
        return want
    types = frozenset({TYPE_OF[metric]}) if metric in TYPE_OF else NUMERIC
    if question_id is None and metric in TYPE_OF:
        question_ids = context.of_types(TYPE_OF[metric])
    else:
        require_question(question_id, context, findings, path=f"{path}/question_id", types=types)
        question_ids = (question_id or "",)
    scales = {core_reports.scale_of(context.questions.get(each)) for each in question_ids}
    return RequestedMetric(metric, frozenset(question_ids), scales.pop() if len(scales) == 1 else None)


def of_limit(only: Sequence[str]) -> tuple[str, str]:
    """The dimension that a limit is of."""
    return "questionnaire_metadata", only[0]


def subjects_of(condition: Node | None) -> list[str]:
    """The subjects that a filter compares, each once."""
    return sorted({leaf.subject for leaf in conditions.leaves_of(condition)})


class Span(msgspec.Struct, frozen=True):
    """Responses of a questionnaire from one moment up to another."""

    questionnaire_id: str
    from_time: datetime
    to_time: datetime


class Scope(msgspec.Struct, frozen=True):
    """The responses that count: those in `spans`, which do not overlap; of these, where given, `instance_ids`."""

    spans: Sequence[Span]
    instance_ids: Sequence[str] | None = None


class Part(msgspec.Struct, frozen=True):
    """A period and the first day of each of its buckets."""

    period: Period
    buckets: tuple[date, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountQuery:
    """A count query; `zone`: the organization's time zone; `test`: test data alone, else none.

    `questions`: ids, each with the one under which it is counted where several count as one; `types`: of all of them.
    """

    organization_id: str
    questionnaire_ids: tuple[str, ...]
    period: Period
    buckets: tuple[date, ...]  # the first day of each
    basis: Basis
    zone: str
    questions: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    types: frozenset[str] = frozenset()
    dimensions: tuple[tuple[str, str], ...] = ()
    condition: Node | None = None
    test: bool = False
    only: tuple[str, ...] | None = None  # as of ReportContext
    channel_id: int | None = None
    pipeline_id: str | None = None
    earlier: Part | None = None  # a period that is over when `period` begins; its buckets come first

    @property
    def parts(self) -> list[Part]:
        """The periods, the earlier one first. Buckets are numbered through."""
        now = Part(self.period, self.buckets)
        return [now] if self.earlier is None else [self.earlier, now]

    @property
    def edges(self) -> tuple[datetime, ...]:
        """The moments where the buckets begin."""
        return tuple(edge for part in self.parts for edge in periods.edges(part.period, part.buckets))

    @property
    def is_of_cases(self) -> bool:
        """Whether it counts instances, also those without an answer."""
        return not self.questions

    @property
    def question_columns(self) -> tuple[list[str], list[str]]:
        return list(self.questions), list(self.questions.values())

    @property
    def spans(self) -> list[Span]:
        """The whole periods, of each questionnaire."""
        return [
            Span(each, part.period.from_time, part.period.to_time)
            for part in self.parts
            for each in self.questionnaire_ids
        ]


class DailyCounts(msgspec.Struct, frozen=True):
    """Daily counts by bucket; of each questionnaire the first day that is not kept, and the stale days.

    `hours`: the names of today's hours that are kept.
    """

    cells: list[Cell] = msgspec.field(default_factory=list[Cell])
    until: dict[str, date] = msgspec.field(default_factory=dict[str, date])
    live: dict[str, list[date]] = msgspec.field(default_factory=dict[str, list[date]])
    hours: dict[str, set[str]] = msgspec.field(default_factory=dict[str, set[str]])

    def responses_min(self, asked: CountQuery) -> int:
        """So many responses at least are behind the kept counts of each period; 0 where nothing is known."""
        if not asked.types <= NUMERIC:
            return 0
        ends = [*accumulate(len(part.buckets) for part in asked.parts)]
        answers = Counter[int]()
        for cell in self.cells:
            answers[bisect_right(ends, cell.bucket)] += cell.count
        # A response has one number for each question at most.
        return min(answers[part] for part in range(len(ends))) // max(1, len(asked.questions))


def whole_days(asked: CountQuery) -> list[Days]:
    """Of each period."""
    return [periods.whole_days(part.period, times.zone_of(asked.zone)) for part in asked.parts]


def hours_of(asked: CountQuery, whole: Sequence[Days]) -> list[Hour]:
    """The hours of the day in which the last period ends, up to there."""
    return periods.whole_hours(whole[-1].end, asked.period.to_time) if whole[-1].starts else []


def gaps_of(asked: CountQuery, kept: DailyCounts) -> list[Span]:
    """The parts of the periods without kept counts: the ends, stale days, and all after the first day not kept."""
    found: list[Span] = []
    whole = whole_days(asked)
    of_today = hours_of(asked, whole)
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
