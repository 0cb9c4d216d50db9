"""The query of a report, checked against its questionnaires, what it counts, and its plan. Nothing is counted here.

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

from afterword.core.figures import disclosure, periods, reports as core_reports, templates
from afterword.core.figures.disclosure import Key
from afterword.core.figures.metrics import LEVEL_DEFAULT
from afterword.core.figures.periods import Bucket, CalendarPeriod, Compare, Days, Hour, Period
from afterword.core.figures.reports import NUMERIC, TYPE_OF, Basis, Cell, RequestedMetric
from afterword.core.figures.templates import TEMPLATES, Template
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Kind, Node, Scope as ConditionScope
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.question_types import Question
from afterword.core.reading.findings import Findings
from afterword.core.wire import times
from afterword.errors import FieldError

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
        path, group = f"group_by/{index}", core_reports.read_group(text)
        if text == core_reports.EACH_QUESTION:
            continue
        if group is None:
            findings.error(path, "unknown_value", _GROUPS)
        elif text in query.group_by[:index]:
            findings.error(path, "exclusive", "It stands twice.")
        elif group[0] == "question" and group[1] not in context.questions:
            findings.error(path, "unknown_id", "None of these questionnaires asks such a question.")
        elif group[0] == "question" and context.questions[group[1]].type not in core_reports.GROUPING:
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
        is_plain = kind.endswith("_metadata") or subject in core_reports.CASE_GROUPS
        if not is_plain and (question is None or question.type not in core_reports.GROUPING):
            message = f"{PROTECTED}a filter compares metadata, causes and remedies, and questions with few values."
            findings.error("filter", "unknown_value", message)
    attributes = {*core_reports.dimensions(query.group_by), *(core_reports.read_group(each) for each in subjects)}
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


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    question_id: str | None = None
    metric: str | None = None
    metadata: str | None = None
    channel_id: int | None = None
    pipeline_id: str | None = None
    outcome_question_id: str | None = None
    question_ids: Sequence[str] = ()
    by: str = "bucket"
    band: str | None = None


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A checked report; `template_id` where one of the templates counts it that have no metrics of their own.

    `steps`: kinds of buckets; counts are of parts that make up each of them, and of the whole earlier period.
    """

    query: ReportQuery
    context: ReportContext
    wanted: Sequence[RequestedMetric]
    period: Period
    condition: Node | None = None
    parameters: Parameters = Parameters()
    template_id: str | None = None
    steps: Sequence[Bucket] = ()

    def buckets(self, period: Period) -> tuple[date, ...]:
        """The first days of what is counted apart."""
        if self.steps:
            return periods.borders(period, self.steps)
        return periods.buckets(period, self.query.bucket if "bucket" in self.query.group_by else None)

    @property
    def minimum(self) -> int:
        return self.context.minimum_base

    @property
    def earlier(self) -> Period | None:
        if self.context.protected and self.query.compare == "previous_period":
            return periods.months_before(self.period)
        return periods.previous(self.period, self.query.compare)

    def standing_rows(self, period: Period) -> list[Key]:
        """Rows that stand even where nothing was counted: each bucket, each question, each questionnaire alone."""
        match self.query.group_by:
            case ("bucket",):
                return [(index,) for index in range(len(periods.buckets(period, self.query.bucket)))]
            case ("questionnaire",):
                return [(each,) for each in self.query.questionnaire_ids]
            case (core_reports.EACH_QUESTION,):
                return [(each,) for each in self.context.questions if each in self.wanted[0].question_ids]
            case _:
                return []

    def asked(self, period: Period, **more: Any) -> CountQuery:
        given: dict[str, Any] = {
            "organization_id": self.context.organization_id,
            "questionnaire_ids": self.query.questionnaire_ids,
            "period": period,
            "buckets": self.buckets(period),
            "basis": self.query.basis(is_of_cases=False),
            "zone": self.context.time_zone,
            "dimensions": core_reports.dimensions(self.query.group_by),
            "condition": self.condition,
            "test": self.context.test,
            "only": self.context.only,
        }
        return CountQuery(**{**given, **more})

    def of_cases(self, period: Period, earlier: Period | None = None) -> CountQuery:
        return self.asked(
            period,
            earlier=self._part(earlier),
            basis=self.query.basis(is_of_cases=True),
            channel_id=self.parameters.channel_id,
            pipeline_id=self.parameters.pipeline_id,
        )

    def of_answers(self, period: Period, questions: Mapping[str, str], earlier: Period | None = None) -> CountQuery:
        """The answers to these questions in a period, and in one before it, each counted under the name of one."""
        types = frozenset(self.context.questions[each].type for each in questions)
        return self.asked(period, earlier=self._part(earlier), questions=questions, types=types)

    def _part(self, period: Period | None) -> Part | None:
        if period is None:
            return None
        return Part(period, self.buckets(period))


def plan(
    query: ReportQuery,
    context: ReportContext,
    parameters: Parameters = Parameters(),  # noqa: B008  frozen
    *,
    template_id: str | None = None,
    now: datetime,
    findings: Findings,
) -> Plan:
    """A report that can be run. Raises Invalid with everything that is wrong."""
    context = guarded(context, query)
    wanted = requested_metrics(query, context, findings)
    check_groups(query, context, findings)
    period, condition = scope_of(query, context, now=now, findings=findings)
    return Plan(
        query=query,
        context=context,
        wanted=wanted,
        period=period,
        condition=condition,
        parameters=parameters,
        template_id=template_id,
    )


def plan_spec(spec: Mapping[str, Any], context: ReportContext, *, now: datetime) -> Plan:
    """The plan of a spec, which names metrics or a template. Raises Invalid with places in it."""
    query, template = query_of(spec), TEMPLATES.get(spec.get("template_id") or "")
    findings = Findings(place=in_spec if template is None else in_spec_of_template)
    names = {each.name for each in template.own} if template is not None else set[str]()
    _check_idle(spec, names, context, findings)
    if template is not None:
        return plan_template(template, query, context, given=spec, now=now, findings=findings)
    return plan(query, context, now=now, findings=findings)


def _check_idle(spec: Mapping[str, Any], own: AbstractSet[str], context: ReportContext, findings: Findings) -> None:
    """Questions that the spec names, though nothing in it asks for them; `own`: parameters of its template."""
    given = [(name, spec.get(name)) for name in ("question_id", "outcome_question_id")]
    given += [(f"question_ids/{index}", each) for index, each in enumerate(spec.get("question_ids") or ())]
    for path, question_id in given:
        if path.partition("/")[0] not in own and question_id is not None and question_id not in context.questions:
            findings.error(path, "unknown_id", "None of these questionnaires asks such a question.")


def plan_template(
    template: Template,
    query: ReportQuery,
    context: ReportContext,
    *,
    given: Mapping[str, Any],
    now: datetime,
    findings: Findings,
) -> Plan:
    """The plan of a ready report; `given`: parameters by name, of which it takes its own.

    Raises Invalid for what cannot be asked.
    """
    names = {each.name for each in template.own} & {*Parameters.__struct_fields__}
    parameters = Parameters(**{name: given[name] for name in names if given.get(name) is not None})
    context = guarded(context, query, parameters.metadata)
    template_id: str | None = template.template_id
    match template_id:
        case "distribution":
            types = core_reports.DISTRIBUTED
            require_question(parameters.question_id, context, findings, path="question_id", types=types)
        case "funnel":
            every = tuple((metric, None) for metric in template.metrics)
            query, template_id = replace(query, metrics=every, group_by=("questionnaire",)), None
            if context.protected and (parameters.channel_id or parameters.pipeline_id):
                message = f"{PROTECTED}a funnel is of all channels and pipelines."
                findings.error("channel_id", "unknown_value", message)
        case "sending":
            every = tuple((metric, None) for metric in template.metrics)
            query = replace(query, metrics=every, group_by=(parameters.by,), bucket=query.bucket or "day")
            template_id = None
            if context.protected:
                findings.error("by", "unknown_value", f"{PROTECTED}there is no report of sending.")
                findings.check()
        case templates.COMMENTS:
            _check_comments(query, parameters, context, findings)
        case "drivers":
            if context.protected:
                findings.error("outcome_question_id", "unknown_value", f"{PROTECTED}there are no drivers.")
            parameters = _driver_parameters(parameters, context, findings)
        case _:
            query, template_id = _table_query(template, query, parameters, findings), None
    return plan(query, context, parameters, template_id=template_id, now=now, findings=findings)


def _table_query(template: Template, query: ReportQuery, parameters: Parameters, findings: Findings) -> ReportQuery:
    if template.metrics:
        wanted = tuple((metric, parameters.question_id) for metric in template.metrics)
        return replace(query, metrics=wanted, group_by=(core_reports.EACH_QUESTION,))
    if parameters.metric is None:
        findings.error("metrics/0/metric", "required", "This is required.")
        findings.check()
    query = replace(query, metrics=((parameters.metric or "", parameters.question_id),))
    if template.template_id == "trend":
        return replace(query, group_by=("bucket",), bucket=query.bucket or "month")
    group = core_reports.read_group(parameters.metadata or "")
    if group is None or not (group[0].endswith("_metadata") or parameters.metadata in core_reports.CASE_GROUPS):
        code = "unknown_value" if parameters.metadata else "required"
        expected = "questionnaire_metadata:{name}, responder_metadata:{name}, case:cause or case:remedy is expected."
        findings.error("group_by/0", code, expected)
        findings.check()
    return replace(query, group_by=(parameters.metadata or "",))


def _check_comments(query: ReportQuery, parameters: Parameters, context: ReportContext, findings: Findings) -> None:
    """Words are counted as lists of responses find them: of one questionnaire, by submission, without a condition."""
    if context.protected:
        findings.error("template_id", "unknown_value", f"{PROTECTED}there are no words of comments: they are answers.")
    if len(query.questionnaire_ids) > 1:
        findings.error("questionnaire_ids", "too_many", "The words are of the comments on one questionnaire.")
    given = {
        "filter": query.filter is not None,
        "compare": query.compare != "none",
        "date_basis": query.date_basis not in {None, "submitted"},
    }
    for name in (name for name, is_given in given.items() if is_given):
        findings.error(name, "exclusive", "Words of comments are counted by submission, without filter and comparison.")
    group = parameters.metadata or "band"
    kind, _, name = group.partition(":")
    if group not in {"band", "channel"} and not (kind == "questionnaire_metadata" and name):
        expected = "band, channel or questionnaire_metadata:{name} is expected."
        findings.error("metadata", "unknown_value", expected)
    findings.check()


def _driver_parameters(parameters: Parameters, context: ReportContext, findings: Findings) -> Parameters:
    """Outcome and attributes, these by default all other questions with a scale, and matrices of one."""
    types, questions = core_reports.NUMERIC, context.questions
    outcome = parameters.outcome_question_id
    require_question(outcome, context, findings, path="outcome_question_id", types=types)
    for index, each in enumerate(parameters.question_ids):
        path = f"question_ids/{index}"
        require_question(each, context, findings, path=path, types=types | core_reports.MATRICES)
        if (
            each in questions
            and questions[each].type in core_reports.MATRICES
            and not core_reports.is_rated(questions[each])
        ):
            message = "The columns of this matrix are no scale: give them points, or put them in order."
            findings.error(path, "unknown_value", message)
    rated = [each for each, one in questions.items() if one.type != "number" and core_reports.is_rated(one)]
    given = parameters.question_ids or rated
    return replace(parameters, question_ids=[each for each in dict.fromkeys(given) if each != outcome])


_PARAMETERS: Final[Mapping[str, str]] = {
    "metrics/0/metric": "metric",
    "metrics/0/question_id": "question_id",
    "metrics/1/question_id": "question_id",
    "group_by/0": "metadata",
}


def parameter(code: str, message: str, path: str) -> FieldError:
    """The parameter of a template where a custom report has a place in its spec."""
    name = _PARAMETERS.get(path, path)
    head, _, rest = name.partition("/")
    head = "questionnaire_id" if head == "questionnaire_ids" else head
    if head != "filter" and rest:
        head += f"[{rest}]"
    return FieldError(code, message, parameter=head)


def in_spec(code: str, message: str, path: str) -> FieldError:
    return FieldError(code, message, pointer=f"/spec/{path}")


def in_spec_of_template(code: str, message: str, path: str) -> FieldError:
    return FieldError(code, message, pointer=f"/spec/{_PARAMETERS.get(path, path)}")
