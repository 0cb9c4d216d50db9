"""Running reports: a checked query is counted and made into rows, with small groups hidden."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from afterword import errors
from afterword.core.figures import metrics, periods, queries
from afterword.core.figures import reports as core_reports
from afterword.core.figures.disclosure import Key
from afterword.core.figures.metrics import Measure
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import PROTECTED, CountQuery, ReportContext, ReportQuery
from afterword.core.figures.reports import ANSWERED, Cell, Counted, Figure, Line, RequestedMetric, Table, Tally
from afterword.core.figures.templates import Template
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.conditions import Node
from afterword.core.questionnaires.question_types import Question
from afterword.core.reading.findings import Findings
from afterword.db import Database
from afterword.errors import FieldError
from afterword.organizations import store as organizations
from afterword.questionnaires import store as questionnaires_store
from afterword.questionnaires.metadata import service as metadata
from afterword.reports import store
from afterword.reports.counts import service as counts
from afterword.reports.counts.service import Visible
from afterword.reports.store import CustomReport

VERSIONS_MAX: Final = 500  # the newest ones, whose questions a report knows
APPLICATION_QUESTIONNAIRES_MAX: Final = 500  # the newest; an alert on more of them names those that it is about


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row as it is shown: the values of its groups by name."""

    key: core_reports.RowKey
    figures: Sequence[Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    period: Period
    date_basis: str
    parameters: Mapping[str, Any]
    rows: Sequence[Row]
    total: Sequence[Figure]
    suppressed_rows: int
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters that only some templates have."""

    question_id: str | None = None
    metric: str | None = None
    metadata: str | None = None
    channel_id: int | None = None
    pipeline_id: str | None = None
    outcome_question_id: str | None = None
    question_ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    query: ReportQuery
    context: ReportContext
    wanted: Sequence[RequestedMetric]
    period: Period
    condition: Node | None = None
    parameters: Parameters = Parameters()

    @property
    def minimum(self) -> int:
        return self.context.minimum_base

    @property
    def earlier(self) -> Period | None:
        if self.context.protected and self.query.compare == "previous_period":
            return periods.months_before(self.period)
        return periods.previous(self.period, self.query.compare)

    def asked(self, period: Period, **more: Any) -> CountQuery:
        bucket = self.query.bucket if "bucket" in self.query.group_by else None
        given: dict[str, Any] = {
            "organization_id": self.context.organization_id,
            "questionnaire_ids": self.query.questionnaire_ids,
            "period": period,
            "buckets": periods.buckets(period, bucket),
            "basis": self.query.basis(is_of_cases=False),
            "zone": self.context.time_zone,
            "dimensions": core_reports.dimensions(self.query.group_by),
            "condition": self.condition,
            "test": self.context.test,
        }
        return CountQuery(**{**given, **more})

    def of_cases(self, period: Period) -> CountQuery:
        return self.asked(
            period,
            basis=self.query.basis(is_of_cases=True),
            channel_id=self.parameters.channel_id,
            pipeline_id=self.parameters.pipeline_id,
        )

    def of_answers(self, period: Period, questions: Mapping[str, str]) -> CountQuery:
        """The answers to these questions, each counted under the name of one of them."""
        types = frozenset(self.context.questions[each].type for each in questions)
        return self.asked(period, questions=questions, types=types)

    async def visible(self, db: Database, asked: CountQuery, *, is_of_cases: bool = False) -> Visible:
        return await counts.visible(
            db, asked=asked, is_of_cases=is_of_cases, types=self.context.types, minimum=self.minimum
        )


async def get_saved(db: Database, *, caller: Caller, report_id: str, is_locked: bool = False) -> CustomReport:
    """A report that the caller may see; `is_locked`: until the transaction ends. Raises NotFound."""
    report = await store.get_report(
        db,
        organization_id=caller.organization_id,
        report_id=report_id,
        application_ids=caller.application_ids,
        is_locked=is_locked,
    )
    if report is None:
        raise errors.NotFound("There is no such report.")
    return report


async def run(db: Database, *, caller: Caller, report: CustomReport, now: datetime) -> Result:
    """Raises Invalid where a questionnaire or question is gone, or it reads too much."""
    query = queries.query_of(report.spec)
    context = await load_context(db, caller=caller, query=query, findings=Findings(place=in_spec))
    return await run_query(db, query=query, context=context, now=now)


async def run_query(db: Database, *, query: ReportQuery, context: ReportContext, now: datetime) -> Result:
    """Raises Invalid where it reads too much."""
    return await _run_table(db, plan(query, context, now=now, findings=Findings(place=in_spec)))


async def load_context(db: Database, *, caller: Caller, query: ReportQuery, findings: Findings) -> ReportContext:
    """Load the questions of these questionnaires; unknown or inaccessible ones are errors. Raises Invalid."""
    owners = await questionnaires_store.list_owners(
        db,
        organization_id=caller.organization_id,
        questionnaire_ids=query.questionnaire_ids,
        application_ids=caller.application_ids,
        limit=len(query.questionnaire_ids),
    )
    for index, questionnaire_id in enumerate(query.questionnaire_ids):
        if questionnaire_id not in owners:
            findings.error(f"questionnaire_ids/{index}", "unknown_id", "There is no such questionnaire.")
    findings.check()
    owners = {each: owners[each] for each in query.questionnaire_ids}
    found = await context_of(db, organization_id=caller.organization_id, owners=owners)
    return replace(found, test=caller.test, protected=not caller.reads_answers)


async def context_of(db: Database, *, organization_id: str, owners: Mapping[str, str]) -> ReportContext:
    """The context of questionnaires; `owners`: the application of each."""
    organization = await organizations.get_organization(db, organization_id=organization_id)
    if organization is None:
        raise errors.NotFound("There is no such organization.")
    definitions = await questionnaires_store.list_version_definitions(
        db, organization_id=organization_id, questionnaire_ids=list(owners), limit=VERSIONS_MAX
    )
    questions: dict[str, Question] = {}
    for definition in definitions:
        for question in definition.questions():
            questions.setdefault(question.question_id, question)
    declared = [
        await metadata.declared(db, organization_id=organization_id, application_id=each)
        for each in sorted(set(owners.values()))
    ]
    return ReportContext(
        organization_id=organization_id,
        time_zone=organization.time_zone,
        minimum_base=organization.minimum_base,
        questions=questions,
        declared=declared,
    )


def plan(
    query: ReportQuery,
    context: ReportContext,
    parameters: Parameters = Parameters(),
    *,
    now: datetime,
    findings: Findings,
) -> _Run:
    """A report that can be run. Raises Invalid with everything that is wrong."""
    wanted = queries.requested_metrics(query, context, findings)
    queries.check_groups(query, context, findings)
    period, condition = queries.scope_of(query, context, now=now, findings=findings)
    return _Run(query=query, context=context, wanted=wanted, period=period, condition=condition, parameters=parameters)


async def run_template(
    db: Database, *, caller: Caller, template: Template, query: ReportQuery, given: Mapping[str, Any], now: datetime
) -> Result:
    """A ready report; `given`: parameters by name, of which it takes its own.

    Raises Invalid for what cannot be asked, or would be too much.
    """
    names = {each.name for each in template.own} & Parameters.__dataclass_fields__.keys()
    parameters = Parameters(**{name: given[name] for name in names if given[name] is not None})
    findings = Findings(place=_parameter)
    context = await load_context(db, caller=caller, query=query, findings=findings)
    match template.template_id:
        case "trend" | "by_metadata" | "nps" | "csat" | "ces":
            query = _table_query(template, query, parameters, findings)
            return await _run_table(db, plan(query, context, now=now, findings=findings))
        case "distribution":
            types = core_reports.DISTRIBUTED
            queries.require_question(parameters.question_id, context, findings, path="question_id", types=types)
            return await _run_distribution(db, plan(query, context, parameters, now=now, findings=findings))
        case "funnel":
            every = tuple((metric, None) for metric in template.metrics)
            query = replace(query, metrics=every, group_by=("questionnaire",))
            if context.protected and (parameters.channel_id or parameters.pipeline_id):
                message = f"{PROTECTED}a funnel is of all channels and pipelines."
                findings.error("channel_id", "unknown_value", message)
            return await _run_table(db, plan(query, context, parameters, now=now, findings=findings))
        case _:
            if context.protected:
                findings.error("outcome_question_id", "unknown_value", f"{PROTECTED}there are no drivers.")
            parameters = _driver_parameters(parameters, context, findings)
            return await _run_drivers(db, plan(query, context, parameters, now=now, findings=findings))


async def figure_values(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    questionnaire_ids: Sequence[str],
    wanted: Sequence[tuple[str, str | None, int]],
    now: datetime,
) -> list[float | None]:
    """Metrics over their last days (metric, question, window), as alerts compare them; None below the minimum base.

    Without questionnaires those of the application; a question that none of them asks has no value.
    """
    owners = await questionnaires_store.list_owners(
        db,
        organization_id=organization_id,
        questionnaire_ids=questionnaire_ids or None,
        application_ids=[application_id],
        limit=APPLICATION_QUESTIONNAIRES_MAX,
    )
    context = await context_of(db, organization_id=organization_id, owners=owners)
    values: list[float | None] = []
    for metric, question_id, days in wanted:
        query, findings = ReportQuery(questionnaire_ids=tuple(owners), metrics=((metric, question_id),)), Findings()
        requested = queries.requested_metrics(query, context, findings)
        if findings.found or not owners:
            values.append(None)
            continue
        period = Period(now - timedelta(days=days), now, context.time_zone)
        table = await _table(db, _Run(query=query, context=context, wanted=requested, period=period))
        values.append(_shown_value(table.total[0]))
    return values


# Tables of metrics ---------------------------------------------------------------------------------------------------


async def _run_table(db: Database, run: _Run) -> Result:
    """The rows in their order and at most so many; personal values of a hidden row are not named."""
    query, table = run.query, await _table(db, run)
    lines = [line for line in table.lines if not (line.is_suppressed and _is_personal(run, line))]
    lines = core_reports.ordered(query.group_by, lines)
    kept = lines[-core_reports.ROWS_MAX :] if query.group_by == ("bucket",) else lines[: core_reports.ROWS_MAX]
    starts = periods.buckets(run.period, query.bucket)
    rows = [Row(key=core_reports.named_key(query.group_by, line.key, starts), figures=line.figures) for line in kept]
    return _result(
        run,
        rows if query.group_by else [],  # without groups there is nothing but the total
        total=table.total,
        suppressed=sum(line.is_suppressed for line in table.lines),
        truncated=len(lines) > core_reports.ROWS_MAX,
    )


async def _table(db: Database, run: _Run) -> Table:
    now = await _counted(db, run, run.period)
    before = None if run.earlier is None else await _counted(db, run, run.earlier)
    minimum = 0 if run.context.protected else run.minimum  # 0: small groups are left out already
    return core_reports.tabulate(run.wanted, now, before, level=run.query.level, minimum_base=minimum)


async def _counted(db: Database, run: _Run, period: Period) -> Counted:
    wanted, group_by = run.wanted, run.query.group_by
    has_cases = any(want.is_of_cases for want in wanted)
    standing = _standing_rows(run, period)
    if run.context.protected:
        found = await run.visible(db, run.of_answers(period, core_reports.pools(wanted, separately=True)))
        if has_cases:
            found += await run.visible(db, run.of_cases(period), is_of_cases=True)
        return counts.counted(wanted, found, group_by, standing)
    questions = core_reports.pools(wanted, separately=core_reports.EACH_QUESTION in group_by)
    cells, people = await counts.answers(db, asked=run.of_answers(period, questions), people_max=run.minimum)
    if has_cases:
        cases, of_cases = await counts.cases(db, asked=run.of_cases(period), people_max=run.minimum)
        cells, people = [*cells, *cases], people + of_cases
    return core_reports.gather(wanted, cells, group_by, standing, people)


def _standing_rows(run: _Run, period: Period) -> list[Key]:
    """Rows that stand even where nothing was counted: each bucket, each question, each questionnaire alone."""
    match run.query.group_by:
        case ("bucket",):
            return [(index,) for index in range(len(periods.buckets(period, run.query.bucket)))]
        case ("questionnaire",):
            return [(each,) for each in run.query.questionnaire_ids]
        case (core_reports.EACH_QUESTION,):
            return [(each,) for each in run.context.questions if each in run.wanted[0].question_ids]
        case _:
            return []


def _is_personal(run: _Run, line: Line) -> bool:
    """Whether the row's key would name a personal value, or one of an undeclared name, which is taken for personal."""
    for group, value in zip(run.query.group_by, line.key, strict=True):
        kind, _, name = group.partition(":")
        if value is None or kind not in {"questionnaire_metadata", "responder_metadata"}:
            continue
        for declared in run.context.declared:
            names = declared.questionnaire if kind == "questionnaire_metadata" else declared.responder
            if name not in names or names[name].anonymize:
                return True
    return False


# The other templates -------------------------------------------------------------------------------------------------


async def _run_distribution(db: Database, run: _Run) -> Result:
    """A row for each value that can be given, and for those that older versions had, by part of the question."""
    question = run.context.questions[run.parameters.question_id or ""]
    cells, people = await _answers(db, run, run.period, question)
    before = None if run.earlier is None else await _answers(db, run, run.earlier, question)
    rows: list[Row] = []
    total: list[Figure] = []
    for part in core_reports.parts_of(question):
        counted = core_reports.histogram(cells, part)
        values = core_reports.values_of(question)
        values += sorted(each for each in counted if each not in {*values, ANSWERED})
        given: dict[str, Any] = {"values": values, "level": run.query.level, "minimum_base": run.minimum}
        given["scale"] = core_reports.scale_of(question)
        figures = core_reports.distribution(counted, people=people, **given)
        if before is not None:
            was = core_reports.distribution(core_reports.histogram(before[0], part), people=before[1], **given)
            figures = [_changed(figure, earlier) for figure, earlier in zip(figures, was, strict=True)]
        key = core_reports.part_key(question, part)
        for value, figure in zip(values, figures, strict=True):
            label = next((each.label for each in question.choices if str(each.value) == value), None)
            rows.append(Row(key={**key, "value": core_reports.number_of(value), "label": label}, figures=[figure]))
        number = core_reports.answers_in(counted)
        measure = Measure(metric="answers", unit="count", n=number, value=float(number))
        total.append(Figure(measure, suppressed=core_reports.is_small(measure, people, run.minimum)))
    return _result(
        run,
        rows[: core_reports.ROWS_MAX],
        total=total,
        suppressed=sum(row.figures[0].suppressed for row in rows),
        truncated=len(rows) > core_reports.ROWS_MAX,
    )


async def _answers(db: Database, run: _Run, period: Period, question: Question) -> tuple[Sequence[Cell], Tally]:
    """The answers to a question and who gave them; of each hidden part a single cell, which is below every minimum."""
    question_id = question.question_id
    asked = run.of_answers(period, {question_id: question_id})
    if not run.context.protected:
        cells, people = await counts.answers(db, asked=asked, people_max=run.minimum)
        wanted = (RequestedMetric("mean", frozenset({question_id})),)
        return cells, core_reports.gather(wanted, cells, (), (), people).total[0]
    found = await run.visible(db, asked)
    parts = map(counts.part_of, found.hidden) if found.named else core_reports.parts_of(question)
    hidden = set(parts) - set(map(counts.part_of, found.total))
    secret = [Cell(0, "", (), question_id, f"{part}:{ANSWERED}".lstrip(":"), 1) for part in hidden]
    return [*found.total, *secret], Tally()


async def _run_drivers(db: Database, run: _Run) -> Result:
    outcome_id, question_ids = run.parameters.outcome_question_id or "", list(run.parameters.question_ids)
    level, minimum = run.query.level, run.minimum
    asked = run.of_answers(run.period, {each: each for each in question_ids})
    found, pair_people = await counts.pairs(db, asked=asked, outcome_question_id=outcome_id)
    asked = run.of_answers(run.period, {each: each for each in (*question_ids, outcome_id)})
    cells, people = await counts.answers(db, asked=asked, people_max=minimum)
    scales = {each: core_reports.scale_of(run.context.questions[each]) for each in (*question_ids, outcome_id)}
    wanted = [RequestedMetric("mean", frozenset({each}), scale) for each, scale in scales.items()]
    counted = core_reports.gather(wanted, cells, (), (), people)
    *means, outcome = core_reports.tabulate(wanted, counted, None, level=level, minimum_base=minimum).total
    rows: list[Row] = []
    for question_id, mean in zip(question_ids, means, strict=True):
        people_behind = pair_people.get(question_id, 0)
        figure = core_reports.driver(found[question_id], people_behind, mean, level=level, minimum_base=minimum)
        rows.append(Row(key={"question_id": question_id}, figures=(figure, mean)))
    rows.sort(key=lambda row: abs(_shown_value(row.figures[0]) or 0.0), reverse=True)
    hidden = sum(any(figure.suppressed for figure in row.figures) for row in rows)
    return _result(run, rows, total=[outcome], suppressed=hidden, truncated=False)


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
    if group is None or not group[0].endswith("_metadata"):
        code = "unknown_value" if parameters.metadata else "required"
        findings.error("group_by/0", code, "questionnaire_metadata:{name} or responder_metadata:{name} is expected.")
        findings.check()
    return replace(query, group_by=(parameters.metadata or "",))


def _driver_parameters(parameters: Parameters, context: ReportContext, findings: Findings) -> Parameters:
    """Outcome and attributes, these by default all other questions with a scale."""
    types = core_reports.NUMERIC
    outcome = parameters.outcome_question_id
    queries.require_question(outcome, context, findings, path="outcome_question_id", types=types)
    for index, each in enumerate(parameters.question_ids):
        queries.require_question(each, context, findings, path=f"question_ids/{index}", types=types)
    given = parameters.question_ids or context.of_types(*sorted(types - {"number"}))
    return replace(parameters, question_ids=[each for each in dict.fromkeys(given) if each != outcome])


def _changed(figure: Figure, before: Figure) -> Figure:
    if figure.suppressed or before.suppressed:
        return figure
    return Figure(figure.measure, change=metrics.change(figure.measure, before.measure))


# Parts of every result -----------------------------------------------------------------------------------------------


def _result(run: _Run, rows: list[Row], *, total: Sequence[Figure], suppressed: int, truncated: bool) -> Result:
    names = ("question_id", "channel_id", "pipeline_id", "outcome_question_id", "question_ids")
    own = {name: value for name in names if (value := getattr(run.parameters, name))}
    return Result(
        period=run.period,
        date_basis=run.query.basis_shown,
        parameters={**queries.document_of(run.query), **own},
        rows=rows,
        total=total,
        suppressed_rows=suppressed,
        truncated=truncated,
    )


def _shown_value(figure: Figure) -> float | None:
    return None if figure.suppressed else figure.measure.value


_PARAMETERS: Final[Mapping[str, str]] = {
    "metrics/0/metric": "metric",
    "metrics/0/question_id": "question_id",
    "metrics/1/question_id": "question_id",
    "group_by/0": "metadata",
}


def _parameter(code: str, message: str, path: str) -> FieldError:
    """The parameter of a template where a custom report has a place in its spec."""
    name = _PARAMETERS.get(path, path)
    head, _, rest = name.partition("/")
    head = "questionnaire_id" if head == "questionnaire_ids" else head
    if head != "filter" and rest:
        head += f"[{rest}]"
    return FieldError(code, message, parameter=head)


def in_spec(code: str, message: str, path: str) -> FieldError:
    return FieldError(code, message, pointer=f"/spec/{path}")
