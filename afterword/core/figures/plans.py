"""Plans of reports: a query with its context, checked, and what it counts. Nothing is counted here."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from datetime import date, datetime
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from afterword.core.figures import cells as core_cells, periods, queries, reports as core_reports, templates
from afterword.core.figures.disclosure import Key
from afterword.core.figures.periods import Bucket, Period
from afterword.core.figures.queries import PROTECTED, CountQuery, Part, ReportContext, ReportQuery
from afterword.core.figures.reports import RequestedMetric
from afterword.core.figures.templates import TEMPLATES, Template
from afterword.core.questionnaires.conditions import Node
from afterword.core.reading.findings import Findings
from afterword.errors import FieldError


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
            "dimensions": core_cells.dimensions(self.query.group_by),
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
    context = queries.guarded(context, query)
    wanted = queries.requested_metrics(query, context, findings)
    queries.check_groups(query, context, findings)
    period, condition = queries.scope_of(query, context, now=now, findings=findings)
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
    query, template = queries.query_of(spec), TEMPLATES.get(spec.get("template_id") or "")
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
    context = queries.guarded(context, query, parameters.metadata)
    template_id: str | None = template.template_id
    match template_id:
        case "distribution":
            types = core_cells.DISTRIBUTED
            queries.require_question(parameters.question_id, context, findings, path="question_id", types=types)
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
    group = core_cells.read_group(parameters.metadata or "")
    if group is None or not (group[0].endswith("_metadata") or parameters.metadata in core_cells.CASE_GROUPS):
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
    types, questions = core_cells.NUMERIC, context.questions
    outcome = parameters.outcome_question_id
    queries.require_question(outcome, context, findings, path="outcome_question_id", types=types)
    for index, each in enumerate(parameters.question_ids):
        path = f"question_ids/{index}"
        queries.require_question(each, context, findings, path=path, types=types | core_cells.MATRICES)
        if (
            each in questions
            and questions[each].type in core_cells.MATRICES
            and not core_cells.is_rated(questions[each])
        ):
            message = "The columns of this matrix are no scale: give them points, or put them in order."
            findings.error(path, "unknown_value", message)
    rated = [each for each, one in questions.items() if one.type != "number" and core_cells.is_rated(one)]
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
