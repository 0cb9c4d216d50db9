"""All questions of a questionnaire over a period, beside the period before: of everybody, or of one group.

Answers are counted by a name of metadata at once. Its values are the groups, of which one may be chosen: daily counts
serve both, and no filter looks at single responses.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from afterword.asking.questionnaires import contexts
from afterword.asking.questionnaires.store import Questionnaire
from afterword.core.figures import queries, reports as core_reports, rows as core_rows
from afterword.core.figures.disclosure import Key
from afterword.core.figures.metrics import Measure
from afterword.core.figures.periods import Period
from afterword.core.figures.queries import Plan, ReportContext
from afterword.core.figures.reports import TOTAL, Counted, Figure, RequestedMetric, Tally
from afterword.core.figures.rows import Selection
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.question_types import SCORES, Question
from afterword.core.reading.findings import Findings
from afterword.kit.db import Database
from afterword.listening.reports import results
from afterword.listening.reports.counts import Group
from afterword.listening.reports.results import Answers, Row

QUESTIONS_MAX: Final = 20  # of a page
DRIVERS_MAX: Final = 50  # questions
NAMES_MAX: Final = 50
VALUES_MAX: Final = 50  # a name with more of them is none to choose groups by
VALUES_OF: Final = 1_000  # responses, the newest, whose values are known
COMMENTS_MAX: Final = 3  # of a question
COMMENTS_OF: Final = 500  # responses, the newest of the period, whose comments are looked for
METADATA: Final = "questionnaire_metadata"
LIVE: Final = (core_reports.NUMERIC | core_reports.DISTRIBUTED) - core_reports.COUNTED  # without daily counts


class Comment(msgspec.Struct, frozen=True):
    question_id: str
    text: str
    instance_id: str
    submitted_time: datetime
    locale: str


class QuestionResult(msgspec.Struct, frozen=True, kw_only=True):
    """`figure`: the score or mean. `rows`: shares of values, or `is_of_means` the mean of each row of a matrix."""

    question: Question
    selection: Selection
    figure: Figure | None = None
    rows: Sequence[Row] = ()
    is_of_means: bool = False
    comments: Sequence[Comment] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nobody answered; not known of a question that is not counted."""
        figures = [row.figures[0] for row in self.rows] or [each for each in (self.figure,) if each is not None]
        return bool(figures) and not any(each.measure.n or each.suppressed for each in figures)


class QuestionnaireResults(msgspec.Struct, frozen=True, kw_only=True):
    """`values`: of each name by which groups are made. `groups`: the outcome of each group, beside all others.

    Of a caller with a limit `values` are those of the limit, one is always chosen, `groups` are empty, and `of_all` is
    the outcome of all groups, if enough others are in it.

    `drivers`: None where there is no outcome, or where the reader sees figures alone. `may_read`: single answers.
    """

    context: ReportContext
    period: Period
    earlier: Period
    questions: Sequence[QuestionResult]
    has_more: bool
    values: Mapping[str, Sequence[str]]
    by: str
    value: str
    may_read: bool
    outcome: Question | None = None
    groups: Sequence[Row] = ()
    total: Figure | None = None
    of_all: Figure | None = None
    drivers: Sequence[Row] | None = None


async def read(
    db: Database,
    *,
    caller: Caller,
    questionnaire: Questionnaire,
    period: Mapping[str, Any],
    by: str,
    value: str,
    page: int,
    now: datetime,
) -> QuestionnaireResults:
    """`period`: the members of a spec that say it. `by`: a name of metadata, `value`: one of its values; page from 0.

    Raises Invalid where it reads too much. Readers of figures alone get whole months, and no small groups.
    """
    questionnaire_id = questionnaire.questionnaire_id
    query = queries.query_of({**period, "metrics": [], "questionnaire_ids": (questionnaire_id,)})
    owners = {questionnaire_id: questionnaire.owner_application_id}
    findings = Findings(place=queries.in_spec)
    context = await contexts.load_context(db, caller=caller, query=query, findings=findings, known=owners)
    context = replace(context, only=None)  # counts are by group, of which a caller with a limit has the own ones
    values, by, value = await _choose_group(
        db, caller=caller, context=context, questionnaire_id=questionnaire_id, by=by, value=value
    )
    query = replace(query, compare="previous_period", group_by=(f"{METADATA}:{by}",) if by else ())
    run = queries.plan(query, context, now=now, findings=findings)
    asking = [one for one in context.questions.values() if one.is_answered]
    first = page * QUESTIONS_MAX
    shown = asking[first : first + QUESTIONS_MAX]
    outcome = next((one for kind in SCORES for one in asking if one.type == kind), None) if not page else None
    counts = _Page(run, (by, value) if value else None)
    rated = [one for one in asking if outcome and one.type != "number" and core_reports.is_rated(one)][:DRIVERS_MAX]
    counted = (*shown, *rated, *([outcome] if outcome else ()))
    await counts.count(db, list({one.question_id: one for one in counted}.values()))
    may_read = not run.context.protected
    texts = [one.question_id for one in shown if one.shape == "text"] if may_read else []
    comments = await _list_comments(
        db,
        **questionnaire.key,
        question_ids=texts,
        from_time=run.period.from_time,
        to_time=run.period.to_time,
        of_group=counts.group,
        test_only=caller.test,
    )
    drivers = await counts.drivers(db, outcome, rated) if outcome and may_read else None
    return QuestionnaireResults(
        context=context,
        period=run.period,
        earlier=run.earlier or run.period,
        questions=[counts.result(one, comments.get(one.question_id, ())) for one in shown],
        has_more=len(asking) > first + QUESTIONS_MAX,
        values=values,
        by=by,
        value=value,
        may_read=may_read,
        outcome=outcome,
        groups=counts.groups(outcome) if outcome and by and not caller.limit else (),
        total=counts.figure(outcome) if outcome else None,
        of_all=counts.of_all(outcome) if outcome and caller.limit else None,
        drivers=drivers,
    )


async def _choose_group(
    db: Database, *, caller: Caller, context: ReportContext, questionnaire_id: str, by: str, value: str
) -> tuple[Mapping[str, Sequence[str]], str, str]:
    """The values of each name by which groups are made, the name, and the value; of a limit always one of its own."""
    limit = caller.limit
    if limit:
        if not limit.values:
            caller.refuse_limited(limit)
        return {limit.name: limit.values}, limit.name, value if value in limit.values else limit.values[0]
    values = await _list_values(
        db,
        organization_id=caller.organization_id,
        questionnaire_id=questionnaire_id,
        names=_names(context),
        test_only=caller.test,
    )
    by = by if by in values else next(iter(values), "")
    return values, by, value if value in values.get(by, ()) else ""


def _names(context: ReportContext) -> Sequence[str]:
    """The declared names without personal values; none for whoever opens single answers, but not their values."""
    if METADATA in context.unread and not context.protected:
        return []
    return [name for declared in context.declared for name, one in declared.questionnaire.items() if not one.anonymize]


class _Counts(msgspec.Struct, frozen=True):
    """The answers to a question now and in the period before, of each group; `index`: of it among what was counted."""

    request: RequestedMetric
    index: int
    now: Counted
    before: Counted | None


class _Page(msgspec.Struct, frozen=True):
    """The counts of some questions, of this group where one is chosen."""

    run: Plan
    group: Group | None
    counted: dict[str, _Counts] = msgspec.field(default_factory=dict[str, _Counts])

    @property
    def key(self) -> core_rows.RowKey:
        """Of the group, as its row is shown."""
        return {f"{METADATA}:{self.group[0]}": self.group[1]} if self.group else {}

    @property
    def row(self) -> Key:
        """Of the group in the counts."""
        return (self.group[1],) if self.group else TOTAL

    async def count(self, db: Database, questions: Sequence[Question]) -> None:
        """Count those of which daily counts are kept, then the others."""
        kept = [one for one in questions if one.type in core_reports.COUNTED]
        live = [one for one in questions if one.type in LIVE]
        for part in filter(None, (kept, live)):
            wanted = [_wanted(one) for one in part]
            now, before = await results.tallied(db, replace(self.run, wanted=wanted))
            for index, (one, request) in enumerate(zip(part, wanted, strict=True)):
                self.counted[one.question_id] = _Counts(request, index, now, before)

    def result(self, question: Question, comments: Sequence[Comment]) -> QuestionResult:
        answered = results.selection_of(self.run, self.key, core_rows.answered(question.question_id))
        found = QuestionResult(question=question, selection=answered, comments=comments)
        counts = self.counted.get(question.question_id)
        if counts is None:
            return found
        parts = core_reports.parts_of(question)[: 1 if question.ranks else None]  # of a ranking the first rank
        if core_reports.ratings_of(question):
            return replace(found, rows=[self._mean(question, part) for part in parts], is_of_means=True)
        rows: list[Row] = []
        if question.type in core_reports.DISTRIBUTED:
            periods = filter(None, (counts.now, counts.before))
            given = [self._answers(counted, counts.index, parts) for counted in periods]
            rows = [row for part in parts for row in results.part_rows(self.run, question, part, given, key=self.key)]
        return replace(
            found, figure=self.figure(question) if question.type in core_reports.NUMERIC else None, rows=rows
        )

    def figure(self, question: Question) -> Figure:
        """The score or mean of the chosen group."""
        request = self.counted[question.question_id].request
        return self._figure(question, lambda tally: core_reports.measure_of(request, tally, level=self.run.query.level))

    def of_all(self, question: Question) -> Figure | None:
        """The score of all groups; None where the others have so few answers that it would tell of them."""
        whole = replace(self, group=None).figure(question)
        return results.of_others(whole, self.figure(question), self.run.minimum)

    def groups(self, question: Question) -> Sequence[Row]:
        """The score of each group, with its difference from all others."""
        counts = self.counted[question.question_id]
        of_one = replace(
            counts.now,
            rows={key: [row[counts.index]] for key, row in counts.now.rows.items()},
            total=[counts.now.total[counts.index]],
            hidden=counts.now.hidden[counts.index : counts.index + 1],
        )
        group_by, level = self.run.query.group_by, self.run.query.level
        table = core_reports.tabulate([counts.request], of_one, None, level=level, against_rest=True)
        lines = core_rows.ordered(group_by, [line for line in table.lines if line.figures[0].measure.n])
        keys = [core_rows.named_key(group_by, line.key, ()) for line in lines[:VALUES_MAX]]
        answered = core_rows.answered(question.question_id)
        return [
            Row(key=key, figures=line.figures, selection=results.selection_of(self.run, key, answered))
            for key, line in zip(keys, lines, strict=False)
        ]

    async def drivers(self, db: Database, outcome: Question, rated: Sequence[Question]) -> Sequence[Row]:
        """The ratings that go together with the outcome."""
        tallies: dict[str, Tally] = {}
        for one in rated:
            if one != outcome:
                counts = self.counted[one.question_id]
                tallies[one.question_id] = self._answers(counts.now, counts.index, ()).counts
        return await results.driver_rows(db, self.run, outcome.question_id, tallies, of_group=self.group)

    def _mean(self, question: Question, part: str) -> Row:
        level = self.run.query.level
        figure = self._figure(question, lambda tally: core_reports.rating(question, tally, part, level=level), part)
        selection = results.selection_of(self.run, self.key, core_rows.answered(question.question_id, part))
        return Row(key=core_rows.part_key(question, part), figures=[figure], selection=selection)

    def _figure(self, question: Question, measure: Callable[[Tally], Measure], part: str = "") -> Figure:
        counts = self.counted[question.question_id]
        found: list[Figure] = []
        for counted in filter(None, (counts.now, counts.before)):
            given = self._answers(counted, counts.index, [part])
            found.append(Figure(measure(given.counts), suppressed=part in given.hidden))
        return results.changed(*found) if len(found) > 1 else found[0]

    def _answers(self, counted: Counted, index: int, parts: Sequence[str]) -> Answers:
        """Of a part that its reader may not see nothing was counted."""
        row = counted.rows.get(self.row) if self.row else counted.total
        tally = row[index] if row else Tally()
        hidden: set[str] = set()
        if self.run.context.protected:
            is_hidden = row is None or self.row in counted.hidden[index]
            hidden = {part for part in parts if is_hidden or (part and not core_reports.of_part(tally, part))}
        return Answers(tally, hidden)


def _wanted(question: Question) -> RequestedMetric:
    metric = question.type if question.type in SCORES else "mean"
    return RequestedMetric(metric, frozenset({question.question_id}), core_reports.scale_of(question))


async def _list_values(
    db: Database, *, organization_id: str, questionnaire_id: str, names: Sequence[str], test_only: bool
) -> Mapping[str, Sequence[str]]:
    """The values of each name, the frequent first, in the order of the names; none where they are many or hardly recur.

    Values and words of tests are not listed: a reader of tests alone gets none.
    """
    rows = await db.fetch(
        """with newest as (
             select i.metadata from questionnaire_instance i
             where i.organization_id = $1 and i.questionnaire_id = $2 and i.submitted_time is not null
               and i.deleted_time is null and not i.test and not $3::boolean
             order by i.submitted_time desc limit $5),
           found as (
             select e.key as name, e.value, count(*) as count, count(*) over (partition by e.key) as values_count,
               sum(count(*)) over (partition by e.key) as all_count
             from newest n, jsonb_each_text(n.metadata) e where e.key = any($4::text[]) group by 1, 2)
           select name, value from found where values_count <= least($6, all_count / 2)
           order by array_position($4, name), count desc, value limit $6 * cardinality($4)""",
        *(organization_id, questionnaire_id, test_only, list(names[:NAMES_MAX]), VALUES_OF, VALUES_MAX),
    )
    return {name: [row["value"] for row in of_name] for name, of_name in groupby(rows, key=itemgetter("name"))}


async def _list_comments(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    question_ids: Sequence[str],
    from_time: datetime,
    to_time: datetime,
    of_group: Group | None,
    test_only: bool,
) -> Mapping[str, Sequence[Comment]]:
    """The newest words that answer each question."""
    if not question_ids:
        return {}
    rows = await db.fetch(
        """with newest as (
             select i.instance_id, i.submitted_time, i.locale from questionnaire_instance i
             where i.organization_id = $1 and i.questionnaire_id = $2 and i.submitted_time >= $3
               and i.submitted_time < $4 and i.deleted_time is null and not i.test and not $5::boolean
               and ($6::text is null or i.metadata ->> $6 = $7)
             order by i.submitted_time desc limit $8),
           found as (
             select a.question_id, a.value #>> '{}' as text, n.instance_id, n.submitted_time, n.locale,
               row_number() over (partition by a.question_id order by n.submitted_time desc, n.instance_id) as place
             from newest n join answer a on a.organization_id = $1 and a.instance_id = n.instance_id
             where a.question_id = any($9::text[]) and not a.provisional and jsonb_typeof(a.value) = 'string')
           select question_id, text, instance_id, submitted_time, locale from found where place <= $10
           order by question_id, place limit $10 * cardinality($9)""",
        *(organization_id, questionnaire_id, from_time, to_time, test_only, *(of_group or (None, None))),
        *(COMMENTS_OF, list(question_ids), COMMENTS_MAX),
    )
    found = [Comment(**row) for row in rows]
    return {question_id: list(said) for question_id, said in groupby(found, key=lambda one: one.question_id)}
