"""Running reports: what is asked is checked, counted and made into rows, with small groups hidden."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from afterword.core.figures import periods
from afterword.core.figures import reports as core_reports
from afterword.core.figures.disclosure import Key
from afterword.core.figures.periods import Period
from afterword.core.figures.reports import (
    ANSWERED,
    Cell,
    Counted,
    Figure,
    People,
    RequestedMetric,
    Table,
    Tally,
)
from afterword.core.figures.templates import Template
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.conditions import Node
from afterword.core.reading.findings import Findings, Place
from afterword.db import Database
from afterword.errors import FieldError
from afterword.questionnaires import store as questionnaires_store
from afterword.reports.counts import service as counts
from afterword.reports.counts.service import CountQuery, Visible
from afterword.reports.results import asking, shapes
from afterword.reports.results.asking import ReportContext, ReportQuery

APPLICATION_QUESTIONNAIRES_MAX: Final = 500  # the newest; an alert on more of them names those that it is about


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row as it is shown: the values of its groups by name."""

    key: Mapping[str, str | int | None]
    figures: Sequence[Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A report that ran."""

    period: Period
    date_basis: str
    parameters: Mapping[str, Any]
    rows: Sequence[Row]
    total: Sequence[Figure]
    suppressed_rows: int = 0
    truncated: bool = False


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
    """A checked report, ready to be counted."""

    organization_id: str
    ask: ReportQuery
    known: ReportContext
    period: Period
    condition: Node | None
    parameters: Parameters = Parameters()

    @property
    def earlier(self) -> Period | None:
        """The period to compare with."""
        if self.known.protected and self.ask.compare == "previous_period":
            return periods.months_before(self.period)
        return periods.previous(self.period, self.ask.compare)

    def asked(self, period: Period, **more: Any) -> CountQuery:
        bucket = self.ask.bucket if "bucket" in self.ask.group_by else None
        given: dict[str, Any] = {
            "organization_id": self.organization_id,
            "questionnaire_ids": self.ask.questionnaire_ids,
            "period": period,
            "buckets": periods.buckets(period, bucket),
            "basis": self.ask.basis(is_of_cases=False),
            "zone": self.known.organization.time_zone,
            "dimensions": core_reports.dimensions(self.ask.group_by),
            "condition": self.condition,
            "test": self.known.test,
        }
        return CountQuery(**{**given, **more})

    async def visible(self, db: Database, asked: CountQuery, *, is_of_cases: bool = False) -> Visible:
        """The answers or cases that a reader of figures alone may see."""
        minimum = self.known.organization.minimum_base
        return await counts.visible(db, asked=asked, is_of_cases=is_of_cases, types=self.known.types, minimum=minimum)

    def of_questions(self, period: Period, question_ids: Sequence[str]) -> CountQuery:
        """The answers to each of these questions."""
        return self.pooled(period, {each: each for each in question_ids})

    def pooled(self, period: Period, questions: Mapping[str, str]) -> CountQuery:
        """The answers to these questions, each counted under the name of one of them."""
        types = frozenset(self.known.questions[each].type for each in questions)
        return self.asked(period, questions=questions, types=types)


async def run(db: Database, *, caller: Caller, ask: ReportQuery, place: Place, now: datetime) -> Result:
    """A custom report. Raises Invalid for what cannot be asked, or would be too much."""
    wrong = Findings(place=place)
    known = await asking.learn(db, caller=caller, questionnaire_ids=ask.questionnaire_ids, wrong=wrong)
    wanted = check(ask, known, now=now, wrong=wrong)
    return await _run_table(db, _checked(caller, ask, known, now=now, wrong=wrong), wanted)


def check(ask: ReportQuery, known: ReportContext, *, now: datetime, wrong: Findings) -> tuple[RequestedMetric, ...]:
    """The metrics of a report that can be run; raises Invalid with everything that is wrong."""
    wanted = asking.wanted_of(ask, known, wrong=wrong)
    asking.check_groups(ask, known, wrong=wrong)
    asking.scope_ask(ask, known, now=now, wrong=wrong)
    return wanted


async def run_template(
    db: Database, *, caller: Caller, template: Template, ask: ReportQuery, given: Mapping[str, Any], now: datetime
) -> Result:
    """A ready report; `given`: parameters by name, of which it takes its own.

    Raises Invalid for what cannot be asked, or would be too much.
    """
    wrong, parameters = Findings(place=_parameter), _own(template, given)
    known = await asking.learn(db, caller=caller, questionnaire_ids=ask.questionnaire_ids, wrong=wrong)
    match template.template_id:
        case "trend" | "by_metadata" | "nps" | "csat" | "ces":
            ask = _table_ask(template, ask, parameters, wrong)
            wanted = check(ask, known, now=now, wrong=wrong)
            return await _run_table(db, _checked(caller, ask, known, now=now, wrong=wrong), wanted)
        case "distribution":
            types = core_reports.DISTRIBUTED
            asking.require_question(parameters.question_id, known, path="question_id", types=types, wrong=wrong)
            return await _run_distribution(db, _checked(caller, ask, known, parameters, now=now, wrong=wrong))
        case "funnel":
            ask = replace(ask, metrics=tuple((metric, None) for metric in template.metrics))
            ask = replace(ask, group_by=("questionnaire",))
            if known.protected and (parameters.channel_id or parameters.pipeline_id):
                wrong.error(
                    "channel_id", "unknown_value", f"{asking.PROTECTED}a funnel is of all channels and pipelines."
                )
            wanted = asking.wanted_of(ask, known, wrong=wrong)
            return await _run_table(db, _checked(caller, ask, known, parameters, now=now, wrong=wrong), wanted)
        case _:
            if known.protected:
                wrong.error("outcome_question_id", "unknown_value", f"{asking.PROTECTED}there are no drivers.")
            parameters = _driver_parameters(parameters, known, wrong)
            return await _run_drivers(db, _checked(caller, ask, known, parameters, now=now, wrong=wrong))


async def figure_values(
    db: Database,
    *,
    organization_id: str,
    application_id: str,
    questionnaire_ids: Sequence[str],
    metrics: Sequence[tuple[str, str | None, int]],
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
    known = await asking.known(db, organization_id=organization_id, owners=owners)
    return [
        await _value(db, organization_id, tuple(owners), known, (metric, question_id), days=days, now=now)
        for metric, question_id, days in metrics
    ]


async def _value(
    db: Database,
    organization_id: str,
    questionnaire_ids: tuple[str, ...],
    known: ReportContext,
    metric: tuple[str, str | None],
    *,
    days: int,
    now: datetime,
) -> float | None:
    ask = ReportQuery(questionnaire_ids=questionnaire_ids, metrics=(metric,), last_days=days)
    wrong = Findings(place=_parameter)
    wanted = asking.wanted_of(ask, known, wrong=wrong)
    if wrong.found or not questionnaire_ids:
        return None
    period = Period(now - timedelta(days=days), now, known.organization.time_zone)
    run = _Run(organization_id=organization_id, ask=ask, known=known, period=period, condition=None)
    cells, people = await _cells(db, run, wanted, period)
    counted = core_reports.gather(wanted, cells, (), (), people)
    table = core_reports.tabulate(wanted, counted, None, level=ask.level, minimum_base=known.organization.minimum_base)
    figure = table.total[0]
    return None if figure.suppressed else figure.measure.value


# Tables of metrics ---------------------------------------------------------------------------------------------------


async def _run_table(db: Database, run: _Run, wanted: Sequence[RequestedMetric]) -> Result:
    ask = run.ask
    now = await _counted(db, run, wanted, run.period)
    before = None if run.earlier is None else await _counted(db, run, wanted, run.earlier)
    table = core_reports.tabulate(wanted, now, before, level=ask.level, minimum_base=run.known.minimum_base)
    return _result(run, *_shown(run, table), total=table.total, suppressed=_suppressed(table))


async def _counted(db: Database, run: _Run, wanted: Sequence[RequestedMetric], period: Period) -> Counted:
    group_by, standing = run.ask.group_by, _standing(run, wanted, period)
    if run.known.protected:
        return counts.counted(wanted, await _visible(db, run, wanted, period), group_by, standing)
    cells, people = await _cells(db, run, wanted, period)
    return core_reports.gather(wanted, cells, group_by, standing, people)


async def _visible(db: Database, run: _Run, wanted: Sequence[RequestedMetric], period: Period) -> Visible:
    found = await run.visible(db, run.pooled(period, core_reports.pools(wanted, apart=True)))
    if not any(want.is_of_cases for want in wanted):
        return found
    asked = run.asked(period, basis=run.ask.basis(is_of_cases=True))
    return found + await run.visible(db, asked, is_of_cases=True)


async def _cells(
    db: Database, run: _Run, wanted: Sequence[RequestedMetric], period: Period
) -> tuple[list[Cell], People]:
    questions = core_reports.pools(wanted, apart=core_reports.EACH_QUESTION in run.ask.group_by)
    most = run.known.organization.minimum_base
    found, people = await counts.answers(db, asked=run.pooled(period, questions), people_max=most)
    if any(want.is_of_cases for want in wanted):
        asked = run.asked(
            period,
            basis=run.ask.basis(is_of_cases=True),
            channel_id=run.parameters.channel_id,
            pipeline_id=run.parameters.pipeline_id,
        )
        cells, behind = await counts.cases(db, asked=asked, people_max=most)
        return [*found, *cells], people + behind
    return found, people


def _standing(run: _Run, wanted: Sequence[RequestedMetric], period: Period) -> list[Key]:
    """Rows that stand even where nothing was counted: each bucket, each question, each questionnaire alone."""
    match run.ask.group_by:
        case ("bucket",):
            return [(index,) for index in range(len(periods.buckets(period, run.ask.bucket)))]
        case ("questionnaire",):
            return [(each,) for each in run.ask.questionnaire_ids]
        case (core_reports.EACH_QUESTION,):
            return [(each,) for each in run.known.questions if each in wanted[0].question_ids]
        case _:
            return []


def _shown(run: _Run, table: Table) -> tuple[list[Row], bool]:
    """The rows in their order and at most so many; personal values of a hidden row are not named."""
    lines = [line for line in table.lines if not (line.is_suppressed and shapes.is_personal(run.ask, run.known, line))]
    lines = shapes.ordered(run.ask.group_by, lines)
    truncated = len(lines) > core_reports.ROWS_MAX
    kept = lines[-core_reports.ROWS_MAX :] if run.ask.group_by == ("bucket",) else lines[: core_reports.ROWS_MAX]
    starts = periods.buckets(run.period, run.ask.bucket)
    rows = [Row(key=shapes.key_of(run.ask.group_by, line.key, starts), figures=line.figures) for line in kept]
    # Without groups there is nothing but the total.
    return (rows if run.ask.group_by else []), truncated


def _suppressed(table: Table) -> int:
    return sum(line.is_suppressed for line in table.lines)


# The other templates -------------------------------------------------------------------------------------------------


async def _run_distribution(db: Database, run: _Run) -> Result:
    question_id = run.parameters.question_id or ""
    question = run.known.questions[question_id]
    minimum, level = run.known.organization.minimum_base, run.ask.level
    cells, people = await _answers(db, run, run.period, question_id)
    before = None if run.earlier is None else await _answers(db, run, run.earlier, question_id)
    rows: list[Row] = []
    total: list[Figure] = []
    for part in shapes.parts_of(question):
        counted = shapes.histogram(cells, part)
        was = None if before is None else (shapes.histogram(before[0], part), before[1])
        found = shapes.distribution(question, part, (counted, people), was, level=level, minimum_base=minimum)
        rows += [Row(key=key, figures=[figure]) for key, figure in found]
        total.append(shapes.answers(core_reports.answers_in(counted), people, minimum_base=minimum))
    hidden = sum(figure.suppressed for row in rows for figure in row.figures)
    return _result(
        run, rows[: core_reports.ROWS_MAX], len(rows) > core_reports.ROWS_MAX, total=total, suppressed=hidden
    )


async def _answers(db: Database, run: _Run, period: Period, question_id: str) -> tuple[Sequence[Cell], Tally]:
    """The answers to a question and who gave them; of each hidden part a single cell, which is below every minimum."""
    asked = run.of_questions(period, [question_id])
    if not run.known.protected:
        cells, people = await counts.answers(db, asked=asked, people_max=run.known.organization.minimum_base)
        wanted = (RequestedMetric("mean", frozenset({question_id})),)
        return cells, core_reports.gather(wanted, cells, (), (), people).total[0]
    found = await run.visible(db, asked)
    parts = map(counts.part_of, found.hidden) if found.named else shapes.parts_of(run.known.questions[question_id])
    hidden = set(parts) - set(map(counts.part_of, found.total))
    secret = [Cell(0, "", (), question_id, f"{part}:{ANSWERED}".lstrip(":"), 1) for part in hidden]
    return [*found.total, *secret], Tally()


async def _run_drivers(db: Database, run: _Run) -> Result:
    outcome_id, question_ids = run.parameters.outcome_question_id or "", list(run.parameters.question_ids)
    asked = run.of_questions(run.period, question_ids)
    found, pair_people = await counts.pairs(db, asked=asked, outcome_question_id=outcome_id)
    minimum, level = run.known.organization.minimum_base, run.ask.level
    each = run.of_questions(run.period, [*question_ids, outcome_id])
    cells, people = await counts.answers(db, asked=each, people_max=minimum)
    scales = {each: core_reports.scale_of(run.known.questions[each]) for each in (*question_ids, outcome_id)}
    wanted = [RequestedMetric("mean", frozenset({each}), scale) for each, scale in scales.items()]
    counted = core_reports.gather(wanted, cells, (), (), people)
    *means, outcome = core_reports.tabulate(wanted, counted, None, level=level, minimum_base=minimum).total
    rows: list[Row] = []
    for question_id, mean in zip(question_ids, means, strict=True):
        behind = pair_people.get(question_id, 0)
        figure = core_reports.driver(found[question_id], behind, mean, level=level, minimum_base=minimum)
        rows.append(Row(key={"question_id": question_id}, figures=(figure, mean)))
    rows.sort(key=lambda row: abs(shapes.shown_value(row.figures[0]) or 0.0), reverse=True)
    hidden = sum(any(figure.suppressed for figure in row.figures) for row in rows)
    return _result(run, rows, False, total=[outcome], suppressed=hidden)


def _own(template: Template, given: Mapping[str, Any]) -> Parameters:
    names = {each.name for each in template.own} & Parameters.__dataclass_fields__.keys()
    return Parameters(**{name: given[name] for name in names if given[name] is not None})


def _table_ask(template: Template, ask: ReportQuery, parameters: Parameters, wrong: Findings) -> ReportQuery:
    """A template of metrics as a custom report would say it."""
    if template.metrics:
        wanted = tuple((metric, parameters.question_id) for metric in template.metrics)
        return replace(ask, metrics=wanted, group_by=(core_reports.EACH_QUESTION,))
    if parameters.metric is None:
        wrong.error("metrics/0/metric", "required", "This is required.")
        wrong.check()
    ask = replace(ask, metrics=((parameters.metric or "", parameters.question_id),))
    if template.template_id == "trend":
        return replace(ask, group_by=("bucket",), bucket=ask.bucket or "month")
    group = core_reports.read_group(parameters.metadata or "")
    if group is None or not group[0].endswith("_metadata"):
        code = "unknown_value" if parameters.metadata else "required"
        wrong.error("group_by/0", code, "questionnaire_metadata:{name} or responder_metadata:{name} is expected.")
        wrong.check()
    return replace(ask, group_by=(parameters.metadata or "",))


def _driver_parameters(parameters: Parameters, known: ReportContext, wrong: Findings) -> Parameters:
    """Outcome and attributes, these by default all other questions with a scale."""
    types = core_reports.NUMERIC
    outcome = parameters.outcome_question_id
    asking.require_question(outcome, known, path="outcome_question_id", types=types, wrong=wrong)
    for index, each in enumerate(parameters.question_ids):
        asking.require_question(each, known, path=f"question_ids/{index}", types=types, wrong=wrong)
    given = parameters.question_ids or known.of_types(*sorted(types - {"number"}))
    return replace(parameters, question_ids=[each for each in dict.fromkeys(given) if each != outcome])


# What all have -------------------------------------------------------------------------------------------------------


def _checked(
    caller: Caller,
    ask: ReportQuery,
    known: ReportContext,
    parameters: Parameters = Parameters(),
    *,
    now: datetime,
    wrong: Findings,
) -> _Run:
    period, condition = asking.scope_ask(ask, known, now=now, wrong=wrong)
    return _Run(
        organization_id=caller.organization_id,
        ask=ask,
        known=known,
        period=period,
        condition=condition,
        parameters=parameters,
    )


def _result(run: _Run, rows: list[Row], truncated: bool, *, total: Sequence[Figure], suppressed: int) -> Result:  # noqa: FBT001
    own = {
        name: value
        for name in ("question_id", "channel_id", "pipeline_id", "outcome_question_id", "question_ids")
        if (value := getattr(run.parameters, name))
    }
    return Result(
        period=run.period,
        date_basis=run.ask.basis_shown,
        parameters={**asking.document_of(run.ask), **own},
        rows=rows,
        total=total,
        suppressed_rows=suppressed,
        truncated=truncated,
    )


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


def spec_place(code: str, message: str, path: str) -> FieldError:
    """The place in a custom report's spec."""
    return FieldError(code, message, pointer=f"/spec/{path}")
