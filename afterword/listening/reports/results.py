"""Running reports: a checked query is counted and made into rows, with small groups hidden."""

from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

import msgspec
import structlog
from msgspec.structs import replace

from afterword import errors
from afterword.asking.questionnaires import contexts, store as questionnaires_store
from afterword.cases import service as cases
from afterword.cases.rules import Alert
from afterword.core.figures import metrics, periods, queries, reports as core_reports, rows as core_rows, templates
from afterword.core.figures.metrics import Measure
from afterword.core.figures.periods import Bucket, Period
from afterword.core.figures.queries import CountQuery, Plan, ReportContext, ReportQuery
from afterword.core.figures.reports import ANSWERED, Cell, Counted, Figure, Line, People, RequestedMetric, Table, Tally
from afterword.core.figures.rows import RowKey, Selection, equal, number_of
from afterword.core.figures.templates import Template
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.question_types import Question
from afterword.core.reading.findings import Findings
from afterword.kit.db import Database, savepoint
from afterword.listening.reports import counts
from afterword.listening.reports.counts import Group, Visible
from afterword.listening.responses import comments
from afterword.listening.responses.comments import CommentWord
from afterword.listening.responses.service import Filter
from afterword.sending.pipelines import store as pipelines_store

APPLICATION_QUESTIONNAIRES_MAX: Final = 500  # the newest; an alert on more of them names those that it is about
WORDS_MAX: Final = 30
WORDS_OF_GROUP_MAX: Final = 8
MOMENT: Final = timedelta(microseconds=1)

Found = tuple[Sequence[Cell], People]
logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row as it is shown: the values of its groups by name."""

    key: core_rows.RowKey
    figures: Sequence[Figure]
    selection: Selection


class Result(msgspec.Struct, frozen=True, kw_only=True):
    period: Period
    date_basis: core_reports.Basis
    parameters: Mapping[str, Any]
    rows: Sequence[Row]
    total: Sequence[Figure]
    suppressed_rows: int
    truncated: bool
    selection: Selection


class Answers(msgspec.Struct, frozen=True):
    """The counts of a question's values; `hidden`: the parts that their reader may not see."""

    counts: Tally
    hidden: AbstractSet[str] = frozenset()


async def planned(db: Database, *, caller: Caller, spec: Mapping[str, Any], now: datetime) -> Plan:
    """The plan of a spec, all of whose ids the caller reaches. Raises Invalid with places in it."""
    query, findings = queries.query_of(spec), Findings(place=queries.in_spec)
    context = await contexts.load_context(db, caller=caller, query=query, findings=findings)
    pipeline_id = spec.get("pipeline_id")
    if pipeline_id is not None and not await pipelines_store.count_among(
        db, organization_id=caller.organization_id, questionnaire_ids=query.questionnaire_ids, pipeline_id=pipeline_id
    ):
        findings.error("pipeline_id", "unknown_id", "None of these questionnaires has such a pipeline.")
        findings.check()
    return queries.plan_spec(spec, context, now=now)


async def run(db: Database, *, caller: Caller, spec: Mapping[str, Any], now: datetime) -> Result:
    """A report by its spec. Raises Invalid where a questionnaire or question is gone, or it reads too much."""
    return await run_plan(db, await planned(db, caller=caller, spec=spec, now=now))


async def run_query(db: Database, *, query: ReportQuery, context: ReportContext, now: datetime) -> Result:
    """Raises Invalid where it reads too much."""
    run = queries.plan(query, context, now=now, findings=Findings(place=queries.in_spec))
    return _listed(run, await _table(db, run))


async def run_trend(
    db: Database,
    *,
    query: ReportQuery,
    context: ReportContext,
    now: datetime,
    steps: Sequence[Bucket],
    choose: Callable[[Sequence[Figure]], Bucket],
) -> tuple[Result, ReportQuery]:
    """A report by that of the buckets `steps` that `choose` takes by the total; with the query that gives the same.

    The change of a bucket is that from the one in its place before. Raises Invalid where it reads too much.
    """
    run = queries.plan(query, context, now=now, findings=Findings(place=queries.in_spec))
    if context.protected:
        counted, earlier = await tallied(db, run)
        return _listed(run, _tabulated(run, counted, earlier and replace(earlier, rows={}))), query
    run = replace(run, steps=steps)
    found, before = await _found(db, run)
    larger = replace(run, query=replace(query, bucket=steps[0]), steps=())
    counted = _joined(run, larger, found, run.period)
    if (chosen := choose(_tabulated(run, replace(counted, rows={}), None).total)) != steps[0]:
        larger = replace(larger, query=replace(query, bucket=chosen))
        counted = _joined(run, larger, found, run.period)
    earlier = None
    if before is not None and run.earlier is not None:
        whole = _joined(run, larger, before, run.earlier)
        # A month may touch more weeks than the next one, which are in the total alone.
        earlier = replace(whole, rows={key: row for key, row in whole.rows.items() if key in counted.rows})
    return _listed(larger, _tabulated(larger, counted, earlier)), larger.query


def _joined(run: Plan, larger: Plan, found: Found, period: Period) -> Counted:
    """The cells of the smallest buckets in those of `larger`."""
    starts = larger.buckets(period)
    into = {index: periods.bucket_of(day, starts) for index, day in enumerate(run.buckets(period))}
    cells, people = found
    return core_reports.gather(run.wanted, cells, run.query.group_by, larger.standing_rows(period), people, into=into)


async def run_template(
    db: Database, *, caller: Caller, template: Template, query: ReportQuery, given: Mapping[str, Any], now: datetime
) -> Result:
    """A ready report; `given`: parameters by name. Raises Invalid for what cannot be asked, or would be too much."""
    findings = Findings(place=queries.parameter)
    context = await contexts.load_context(db, caller=caller, query=query, findings=findings)
    return await run_plan(db, queries.plan_template(template, query, context, given=given, now=now, findings=findings))


async def run_plan(db: Database, run: Plan) -> Result:
    """Raises Invalid where it reads too much."""
    match run.template_id:
        case "distribution":
            return await _run_distribution(db, run)
        case "drivers":
            return await _run_drivers(db, run)
        case templates.COMMENTS:
            return await _run_comments(db, run)
        case _:
            return _listed(run, await _table(db, run))


async def evaluate_alerts(db: Database, *, now: datetime, limit: int) -> int:
    """Evaluate the daily alerts that are due; return their count, `limit` where more may wait.

    An alert that fails, as its figures take too long, is logged and waits for its next day: it must not block others.
    """
    due = await cases.claim_scheduled(db, now=now, limit=limit)
    for alert in due:
        try:
            async with savepoint(db):
                wanted = cases.metrics_of(alert)
                try:
                    values = await figure_values(db, alert=alert, wanted=wanted, now=now)
                except errors.Invalid:  # more responses than a report reads: no figure is better than a wrong one
                    values = [None] * len(wanted)
                await cases.raise_scheduled(db, alert=alert, figures=dict(zip(wanted, values, strict=True)), now=now)
        except Exception:  # of one organization's alert
            logger.exception("a daily alert was passed over", alert_id=alert.alert_id)
    return len(due)


async def figure_values(
    db: Database, *, alert: Alert, wanted: Sequence[tuple[str, int]], now: datetime
) -> list[float | None]:
    """Metrics over their last days (subject, window), as an alert compares them; None below the minimum base.

    Without questionnaires those of the application; a question that none of them asks has no value. Raises Invalid.
    """
    owners = await questionnaires_store.list_owners(
        db,
        organization_id=alert.organization_id,
        questionnaire_ids=alert.questionnaire_ids or None,
        application_ids=[alert.application_id],
        limit=APPLICATION_QUESTIONNAIRES_MAX,
    )
    context = await contexts.context_of(db, organization_id=alert.organization_id, owners=owners)
    values: list[float | None] = []
    for subject, days in wanted:
        _, metric, *question_id = subject.split(":")
        chosen = (metric, question_id[0] if question_id else None)
        query, findings = ReportQuery(questionnaire_ids=tuple(owners), metrics=(chosen,)), Findings()
        requested = queries.requested_metrics(query, context, findings)
        if findings.found or not owners:
            values.append(None)
            continue
        period = Period(now - timedelta(days=days), now, context.time_zone)
        run = Plan(query=query, context=context, wanted=requested, period=period)
        values.append((await _table(db, run)).total[0].measure.value if await _has_people(db, run) else None)
    return values


async def _has_people(db: Database, run: Plan) -> bool:
    """Whether its figure is of as many people as the minimum base, below which an alert tells nobody of it."""
    want = run.wanted[0]
    questions = {each: each for each in want.question_ids}
    asked = run.of_cases(run.period) if want.is_of_cases else run.of_answers(run.period, questions)
    return await counts.count_people(db, asked=asked, limit=run.minimum) >= run.minimum


# Tables of metrics ---------------------------------------------------------------------------------------------------


def _listed(run: Plan, table: Table) -> Result:
    """The rows in their order and at most so many; personal values of a hidden row are not named."""
    query = run.query
    lines = [line for line in table.lines if not (line.is_suppressed and _is_personal(run, line))]
    lines = core_rows.ordered(query.group_by, lines)
    kept = lines[-core_reports.ROWS_MAX :] if query.group_by == ("bucket",) else lines[: core_reports.ROWS_MAX]
    starts = periods.buckets(run.period, query.bucket)
    buckets = core_rows.buckets_of(run.period, starts)
    rows: list[Row] = []
    for line in kept:
        key = core_rows.named_key(query.group_by, line.key, starts)
        rows.append(Row(key=key, figures=line.figures, selection=selection_of(run, key, buckets=buckets)))
    return _result(
        run,
        rows if query.group_by else [],  # without groups there is nothing but the total
        total=table.total,
        suppressed=sum(line.is_suppressed for line in table.lines),
        truncated=len(lines) > core_reports.ROWS_MAX,
    )


async def _table(db: Database, run: Plan) -> Table:
    now, before = await tallied(db, run)
    return _tabulated(run, now, before)


def _tabulated(run: Plan, now: Counted, before: Counted | None) -> Table:
    against_rest = run.query.compare == "rest"
    return core_reports.tabulate(run.wanted, now, before, level=run.query.level, against_rest=against_rest)


async def tallied(db: Database, run: Plan) -> tuple[Counted, Counted | None]:
    """The counts of the period, and of the one before where the query compares."""
    if run.context.protected:
        now = await _protected(db, run, run.period)
        return now, None if run.earlier is None else await _protected(db, run, run.earlier)
    now, before = await _found(db, run)
    counted = _gathered(run, now, run.period)
    return counted, None if before is None or run.earlier is None else _gathered(run, before, run.earlier)


async def _protected(db: Database, run: Plan, period: Period) -> Counted:
    wanted, group_by = run.wanted, run.query.group_by
    found = await _visible(db, run, run.of_answers(period, core_reports.pools(wanted, separately=True)))
    if any(want.is_of_cases for want in wanted):
        found += await _visible(db, run, run.of_cases(period), is_of_cases=True)
    return counts.counted(wanted, found, group_by, run.standing_rows(period))


def _gathered(run: Plan, found: Found, period: Period) -> Counted:
    cells, people = found
    return core_reports.gather(run.wanted, cells, run.query.group_by, run.standing_rows(period), people)


async def _found(db: Database, run: Plan) -> tuple[Found, Found | None]:
    """The cells of the period, and those of the one before; read together where they can be."""
    earlier = run.earlier
    if earlier is None:
        return (await _found_in(db, run, run.period, None))[-1], None
    if run.condition is None and earlier.to_time <= run.period.from_time:
        before, now = await _found_in(db, run, run.period, earlier)
        return now, before
    now, before = [(await _found_in(db, run, period, None))[-1] for period in (run.period, earlier)]
    return now, before


async def _found_in(db: Database, run: Plan, period: Period, earlier: Period | None) -> Sequence[Found]:
    wanted = run.wanted
    questions = core_reports.pools(wanted, separately=core_reports.EACH_QUESTION in run.query.group_by)
    found = await counts.answers_of_parts(db, asked=run.of_answers(period, questions, earlier))
    if any(want.is_of_cases for want in wanted):
        cases = await counts.cases_of_parts(
            db,
            asked=run.of_cases(period, earlier),
            has_repeats=any(want.metric in core_reports.RATES for want in wanted),
        )
        found = [
            ([*cells, *of_cases], people + more) for (cells, people), (of_cases, more) in zip(found, cases, strict=True)
        ]
    return found


async def _visible(db: Database, run: Plan, asked: CountQuery, *, is_of_cases: bool = False) -> Visible:
    return await counts.visible(db, asked=asked, is_of_cases=is_of_cases, types=run.context.types, minimum=run.minimum)


def _is_personal(run: Plan, line: Line) -> bool:
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


async def _run_distribution(db: Database, run: Plan) -> Result:
    """A row for each value that can be given, and for those that older versions had, by part of the question."""
    question = run.context.questions[run.parameters.question_id or ""]
    given = [await _answers(db, run, period, question) for period in filter(None, (run.period, run.earlier))]
    rows: list[Row] = []
    total: list[Figure] = []
    for part in core_reports.parts_of(question):
        rows += part_rows(run, question, part, given)
        number = core_reports.answers_in(core_reports.of_part(given[0].counts, part))
        measure = Measure(metric="answers", unit="count", n=number, value=float(number))
        total.append(Figure(measure, suppressed=part in given[0].hidden))
    return _result(
        run,
        rows[: core_reports.ROWS_MAX],
        total=total,
        suppressed=sum(row.figures[0].suppressed for row in rows),
        truncated=len(rows) > core_reports.ROWS_MAX,
    )


def part_rows(
    run: Plan, question: Question, part: str, given: Sequence[Answers], *, key: core_rows.RowKey = MappingProxyType({})
) -> list[Row]:
    """The share of each value of a question, of one row of a matrix or one rank.

    `given`: the answers of the period, and of the one before where the query compares; `key`: of the group they are of.
    """
    now, *before = given
    counted = core_reports.of_part(now.counts, part)
    values = core_reports.values_of(question)
    values += sorted(each for each in counted if each not in {*values, ANSWERED})
    asked: dict[str, Any] = {"values": values, "level": run.query.level, "scale": core_reports.scale_of(question)}
    figures = core_reports.distribution(counted, effect=now.counts.effect, is_hidden=part in now.hidden, **asked)
    for one in before:
        counted = core_reports.of_part(one.counts, part)
        was = core_reports.distribution(counted, effect=one.counts.effect, is_hidden=part in one.hidden, **asked)
        figures = [changed(figure, earlier) for figure, earlier in zip(figures, was, strict=True)]
    rows: list[Row] = []
    for value, figure in zip(values, figures, strict=True):
        number = core_rows.number_of(value)
        named = {**core_rows.part_key(question, part), "value": number, "label": question.label_of(value)}
        condition = core_rows.answer_condition(question, named)
        rows.append(Row(key=named, figures=[figure], selection=selection_of(run, key, condition)))
    return rows


async def _answers(db: Database, run: Plan, period: Period, question: Question) -> Answers:
    question_id = question.question_id
    asked = run.of_answers(period, {question_id: question_id})
    if not run.context.protected:
        cells, people = await counts.answers(db, asked=asked)
        wanted = (RequestedMetric("mean", frozenset({question_id})),)
        [tally] = core_reports.gather(wanted, cells, (), (), people).total
        return Answers(tally)
    found = await _visible(db, run, asked)
    parts = map(counts.part_of, found.hidden) if found.named else core_reports.parts_of(question)
    hidden = set(parts) - set(map(counts.part_of, found.total))
    tally = Tally()
    for cell in found.total:
        tally[cell.value] += cell.count
    return Answers(tally, hidden)


async def _run_drivers(db: Database, run: Plan) -> Result:
    outcome_id, question_ids = run.parameters.outcome_question_id or "", list(run.parameters.question_ids)
    asked = run.of_answers(run.period, {each: each for each in (*question_ids, outcome_id)})
    cells, people = await counts.answers(db, asked=asked)
    wanted = [RequestedMetric("mean", frozenset({each})) for each in (*question_ids, outcome_id)]
    *tallies, of_outcome = core_reports.gather(wanted, cells, (), (), people).total
    rows = await driver_rows(db, run, outcome_id, dict(zip(question_ids, tallies, strict=True)))
    outcome = core_reports.rating(run.context.questions[outcome_id], of_outcome, level=run.query.level)
    hidden = sum(any(figure.suppressed for figure in row.figures) for row in rows)
    return _result(run, rows, total=[Figure(outcome)], suppressed=hidden, truncated=False)


async def driver_rows(
    db: Database,
    run: Plan,
    outcome_id: str,
    tallies: Mapping[str, Tally],
    *,
    of_group: Group | None = None,
) -> list[Row]:
    """The correlation and the mean of each question, and of each row of a matrix, the strongest first.

    `tallies`: the answers to each, of this group alone where one is given.
    """
    if not tallies:
        return []
    asked = run.of_answers(run.period, {each: each for each in tallies})
    found, pair_people = await counts.pairs(db, asked=asked, outcome_question_id=outcome_id, of_group=of_group)
    level, rows = run.query.level, list[Row]()
    key = {f"questionnaire_metadata:{of_group[0]}": of_group[1]} if of_group else {}
    for question_id, tally in tallies.items():
        question = run.context.questions[question_id]
        ratings = core_reports.ratings_of(question)
        for part in core_reports.parts_of(question):
            mean = Figure(core_reports.rating(question, tally, part, level=level))
            asked_of = question_id, part
            pairs, people_behind = found.get(asked_of, {}), pair_people.get(asked_of, 0)
            figure = core_reports.driver(pairs, people_behind, mean, ratings=ratings, level=level)
            both = {"all": [core_rows.answered(outcome_id), core_rows.answered(question_id, part)]}
            named = {"question_id": question_id, **core_rows.part_key(question, part)}
            rows.append(Row(key=named, figures=(figure, mean), selection=selection_of(run, key, both)))
    rows.sort(key=lambda row: 0 if row.figures[0].suppressed else abs(row.figures[0].measure.value or 0), reverse=True)
    return rows


async def _run_comments(db: Database, run: Plan) -> Result:
    """The words of comments: those of all, or each group followed by its own. Truncated: older ones are not counted."""
    selection = selection_of(run, {})
    [questionnaire_id] = run.query.questionnaire_ids
    group, band = run.parameters.metadata or "", run.parameters.band
    found = await comments.counted(
        db,
        organization_id=run.context.organization_id,
        application_ids=(),  # the questionnaire is one that the caller reaches
        chosen=Filter(
            only=run.context.only,
            questionnaire_id=questionnaire_id,
            from_time=selection.from_time,
            to_time=selection.to_time - MOMENT,
            band=band,
            test=run.context.test,
        ),
        group_by=group,
        limit=WORDS_MAX,
    )
    whole = replace(selection, only="comment", band=band, from_time=found.from_time or selection.from_time)
    rows = [] if group else [_word_row({}, whole, one.n, one) for one in found.words]
    for each in found.groups:
        of_group = _comments_of_group(whole, group, each.value)
        if of_group is None:
            continue
        key: RowKey = {group: number_of(each.value) if group == "channel" and each.value else each.value}
        rows.append(_word_row(key, of_group, each.n))
        rows += [_word_row(key, of_group, one.n, one) for one in each.words[:WORDS_OF_GROUP_MAX]]
    total = _comments_figure(found.n)
    shown = _result(run, rows, total=[total], suppressed=0, truncated=found.from_time is not None)
    return replace(shown, selection=whole)


def _word_row(key: RowKey, selection: Selection, n: int, one: CommentWord | None = None) -> Row:
    """A word; without one, all comments of a group."""
    named = {**key, "word": one.word if one else None, "text": one.text if one else None}
    selection = replace(selection, word=one.word) if one else selection
    return Row(key=named, figures=[_comments_figure(n)], selection=selection)


def _comments_figure(n: int) -> Figure:
    return Figure(Measure(metric="comments", unit="count", n=n, value=n))


def _comments_of_group(selection: Selection, group: str, value: str | None) -> Selection | None:
    """The responses of a group; None for those without a score, which no selection has."""
    match group:
        case "band":
            return replace(selection, band=value) if value else None
        case "channel":
            return replace(selection, channel_id=int(value or 0))
        case _:
            return replace(selection, condition=equal(group, value))


def of_others(whole: Figure, own: Figure, minimum: int) -> Figure | None:
    """The figure of everybody, beside that of a part; None where the others are so few that it would tell of them."""
    return whole if whole.measure.n - own.measure.n >= minimum and not whole.suppressed else None


def changed(figure: Figure, before: Figure) -> Figure:
    if figure.suppressed or before.suppressed:
        return figure
    return Figure(figure.measure, change=metrics.change(figure.measure, before.measure))


# Parts of every result -----------------------------------------------------------------------------------------------


def _result(run: Plan, rows: list[Row], *, total: Sequence[Figure], suppressed: int, truncated: bool) -> Result:
    names = ("question_id", "metadata", "band", "channel_id", "pipeline_id", "outcome_question_id", "question_ids")
    own = {name: value for name in names if (value := getattr(run.parameters, name))}
    return Result(
        period=run.period,
        date_basis=run.query.basis_shown,
        parameters={**queries.document_of(run.query), **own},
        rows=rows,
        total=total,
        suppressed_rows=suppressed,
        truncated=truncated,
        selection=selection_of(run, {}),
    )


def selection_of(
    run: Plan,
    key: core_rows.RowKey,
    condition: Mapping[str, Any] | None = None,
    *,
    buckets: Mapping[str, tuple[datetime, datetime]] | None = None,
) -> Selection:
    """The responses of a row; `condition`: beside those of its key and of the report; `buckets`: as of `buckets_of`."""
    conditions = [each for each in (run.query.filter, condition) if each is not None]
    return core_rows.selection_of(
        key,
        questionnaire_ids=run.query.questionnaire_ids,
        period=run.period,
        buckets=buckets or {},
        basis=run.query.basis_shown,
        wanted=run.wanted,
        types={each: question.type for each, question in run.context.questions.items()},
        condition={"all": conditions} if len(conditions) > 1 else next(iter(conditions), None),
    )
