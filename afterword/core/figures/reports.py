"""What a report can ask and what it shows: templates, metrics, groups, and the table that counts become.

Counts arrive as cells (`Cell`): of answers with the question and the value, of cases (instances) without a question and
with a stage as the value. What is counted how is the business of `reports/counts`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from afterword.core.figures import disclosure, metrics
from afterword.core.figures.disclosure import Key
from afterword.core.figures.metrics import Base, Change, Measure, Scale
from afterword.core.questionnaires.question_types import Question

QUESTIONNAIRES_MAX: Final = 50
METRICS_MAX: Final = 5
GROUPS_MAX: Final = 3
ROWS_MAX: Final = 1_000
NAME_CHARACTERS_MAX: Final = 255

Basis = Literal["submitted", "completed", "sent"]
BASES: Final[tuple[Basis, ...]] = ("submitted", "completed", "sent")
Metric = Literal["nps", "csat", "ces", "mean", "response", "completion"]
CASE_METRICS: Final = frozenset({"response", "completion"})
TYPE_OF: Final[Mapping[str, str]] = {
    "nps": "nps",
    "csat": "csat",
    "csat_mean": "csat",
    "ces": "ces",
    "ces_mean": "ces",
}
NUMERIC: Final = frozenset({"nps", "csat", "ces", "rating", "smileys", "number"})  # types with a mean
COUNTED: Final = frozenset({"nps", "csat", "ces", "rating", "smileys", "single_choice", "multiple_choice", "consent"})
GROUPING: Final = frozenset({"nps", "csat", "ces", "rating", "smileys", "single_choice", "consent"})
DISTRIBUTED: Final = COUNTED | {"matrix", "ranking"}
ANSWERED: Final = "*"  # the value that counts answers, where one answer has several values
FIXED_GROUPS: Final = ("bucket", "questionnaire", "version", "channel", "locale")
NAMED_GROUPS: Final = ("question", "questionnaire_metadata", "responder_metadata")
EACH_QUESTION: Final = "question_id"  # a group of templates alone: a row for each question

STAGES: Final = ("created", "sent", "delivered", "viewed", "started", "submitted", "completed")
# A rate counts among its denominator only: whoever was delivered without being sent is in no delivery rate. `rr1` and
# `rr2` are AAPOR's (2023): all that were sent are its cases, I+P+R+NC+O+UH+UO; I are complete, P answered half of their
# questions. Who answered fewer broke off.
RATES: Final[Mapping[str, tuple[str, str, Base]]] = {
    "delivery": ("sent_delivered", "sent", "sent"),
    "view": ("delivered_viewed", "delivered", "delivered"),
    "response": ("sent_submitted", "sent", "sent"),
    "response_of_delivered": ("delivered_submitted", "delivered", "delivered"),
    "completion": ("completed", "started", "started"),
    "rr1": ("sent_completed", "sent", "sent"),
    "rr2": ("sent_answered", "sent", "sent"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """How often a value was given in one bucket, questionnaire and combination of dimensions."""

    bucket: int
    questionnaire_id: str
    dimensions: tuple[str | None, ...]
    question_id: str  # empty: cases
    value: str
    count: int


@dataclass(frozen=True, slots=True)
class RequestedMetric:
    """A metric over the answers of some questions, or over cases."""

    metric: str
    question_ids: frozenset[str] = frozenset()
    scale: Scale | None = None

    @property
    def is_of_cases(self) -> bool:
        """Whether it counts instances, not answers."""
        return self.metric in RATES or self.metric in STAGES


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure as it is shown: hidden where its group is small."""

    measure: Measure
    suppressed: bool = False
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One row: the values of what it is grouped by, in that order, and its figures."""

    key: Key
    figures: tuple[Figure, ...]

    @property
    def is_suppressed(self) -> bool:
        """Whether any of it is hidden."""
        return any(figure.suppressed for figure in self.figures)


@dataclass(frozen=True, slots=True)
class Table:
    """All rows and what they come to together."""

    lines: tuple[Line, ...]
    total: tuple[Figure, ...]


# Groups --------------------------------------------------------------------------------------------------------------


def read_group(text: str) -> tuple[str, str] | None:
    """Kind and name of a `group_by` entry (the name of a fixed one is empty); None for what is none."""
    kind, colon, name = text.partition(":")
    if kind in FIXED_GROUPS and not colon:
        return kind, ""
    if kind in NAMED_GROUPS and 1 <= len(name) <= NAME_CHARACTERS_MAX:
        return kind, name
    return None


def dimensions(group_by: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The groups that each response has a value of; bucket, questionnaire and question stand in the cell anyway."""
    found = (read_group(text) for text in group_by)
    return tuple(group for group in found if group is not None and group[0] not in {"bucket", "questionnaire"})


def key_of(cell: Cell, group_by: Sequence[str]) -> Key:
    """Where a cell belongs in a table that is grouped like that."""
    values = iter(cell.dimensions)
    found: list[object] = []
    for group in group_by:
        match group:
            case "bucket":
                found.append(cell.bucket)
            case "questionnaire":
                found.append(cell.questionnaire_id)
            case "question_id":
                found.append(cell.question_id)
            case _:
                found.append(next(values))
    return tuple(found)


# Tables --------------------------------------------------------------------------------------------------------------

Histogram = Mapping[str, int]
TOTAL: Final[Key] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    """Cells by key, as histograms of each wanted metric."""

    rows: Mapping[Key, Sequence[Histogram]]
    total: Sequence[Histogram]
    hidden: Sequence[Collection[Key]] = ()  # of each metric, rows that are hidden whatever their size, and `TOTAL`


def pools(wanted: Sequence[RequestedMetric], *, apart: bool) -> dict[str, str]:
    """The questions, each with the one under which it may be counted: questions in the same metrics count as one."""
    first: dict[frozenset[int], str] = {}
    found: dict[str, str] = {}
    for question_id in sorted({each for want in wanted for each in want.question_ids}):
        places = frozenset(index for index, want in enumerate(wanted) if question_id in want.question_ids)
        found[question_id] = question_id if apart else first.setdefault(places, question_id)
    return found


def gather(
    wanted: Sequence[RequestedMetric], cells: Iterable[Cell], group_by: Sequence[str], keys: Collection[Key]
) -> Counted:
    """Sort cells into rows; `keys` are rows that stand even when nothing was counted there."""
    rows: dict[Key, list[defaultdict[str, int]]] = {key: [defaultdict(int) for _ in wanted] for key in keys}
    total: list[defaultdict[str, int]] = [defaultdict(int) for _ in wanted]
    for cell in cells:
        places = [index for index, want in enumerate(wanted) if _belongs(cell, want)]
        if not places:
            continue
        row = rows.setdefault(key_of(cell, group_by), [defaultdict(int) for _ in wanted])
        for place in places:
            row[place][cell.value] += cell.count
            total[place][cell.value] += cell.count
    return Counted(rows, total)


def tabulate(
    wanted: Sequence[RequestedMetric], now: Counted, before: Counted | None, *, level: float, minimum_base: int
) -> Table:
    """The figures of every row and of all together, small groups hidden, with changes against `before`."""
    measured = _measured(wanted, now, level)
    earlier = None if before is None else _measured(wanted, before, level)
    given = now.hidden or [()] * len(wanted)
    secret = [{*one, *other} for one, other in zip(_secrets(measured, len(wanted), minimum_base), given, strict=True)]
    secret_before = _secrets(earlier or {}, len(wanted), minimum_base)
    lines: list[Line] = []
    for key, measures in measured.items():
        figures: list[Figure] = []
        for index, measure in enumerate(measures):
            was = None if earlier is None or key in secret_before[index] else earlier.get(key)
            figures.append(_figure(measure, key in secret[index], was[index] if was else None))
        lines.append(Line(key, tuple(figures)))
    total = tuple(
        _total_figure(want, index, now, before, level=level, minimum_base=minimum_base, is_hidden=TOTAL in given[index])
        for index, want in enumerate(wanted)
    )
    return Table(tuple(lines), total)


def measure_of(want: RequestedMetric, counts: Histogram, *, level: float) -> Measure:
    """The metric of how often each value, or each stage, was counted."""
    if want.metric in RATES:
        return _rate(want.metric, counts, level)
    if want.metric in STAGES:
        return metrics.count(counts.get(want.metric, 0), metric=want.metric, of=counts.get("created", 0))
    match want.metric:
        case "nps":
            return metrics.nps_of(_integers(counts), level=level)
        case "csat":
            return metrics.csat(_integers(counts), level=level)
        case "ces":
            return metrics.ces(_integers(counts), level=level)
        case _:
            return metrics.mean(_numbers(counts), metric=want.metric, level=level, scale=want.scale)


def _rate(metric: str, counts: Histogram, level: float) -> Measure:
    hits, of, base = RATES[metric]
    # A relay takes mail and says no more of it: where no delivery was reported, its rate is not 0 % but unknown.
    if metric == "delivery" and not counts.get("delivered", 0):
        return Measure(metric=metric, unit="percent", n=counts.get(of, 0), base=base)
    return metrics.share(counts.get(hits, 0), counts.get(of, 0), metric=metric, level=level, base=base)


def distribution(
    counts: Histogram, *, values: Sequence[str], level: float, minimum_base: int, scale: Scale | None = None
) -> list[Figure]:
    """The share of each value among the answers; hidden, all of them, where the answers are few."""
    n = answers_in(counts)
    return [
        Figure(
            metrics.share(counts.get(value, 0), n, metric="share", level=level, scale=scale),
            suppressed=0 < n < minimum_base,
        )
        for value in values
    ]


def answers_in(counts: Histogram) -> int:
    """How many answers a histogram is of."""
    return counts[ANSWERED] if ANSWERED in counts else sum(counts.values())


def driver(
    pairs: Mapping[tuple[str, str], int], counts: Histogram, *, scale: Scale | None, level: float, minimum_base: int
) -> tuple[Figure, Figure]:
    """An attribute's correlation with the outcome and its own mean."""
    numeric: dict[tuple[float, float], int] = {}
    for (outcome, value), count in pairs.items():
        x, y = _number(value), _number(outcome)
        if x is not None and y is not None:
            numeric[x, y] = numeric.get((x, y), 0) + count
    correlation = metrics.correlation(numeric, level=level)
    mean = metrics.mean(_numbers(counts), level=level, scale=scale)
    least = max(minimum_base, metrics.PAIRS_MIN)
    return Figure(correlation, suppressed=0 < correlation.n < least), Figure(mean, suppressed=0 < mean.n < minimum_base)


def scale_of(question: Question | None) -> Scale | None:
    """The ends of a question's scale, where it has one."""
    keys = question.scale if question else range(0)
    return (keys[0], keys[-1]) if keys else None


def _belongs(cell: Cell, want: RequestedMetric) -> bool:
    return not cell.question_id if want.is_of_cases else cell.question_id in want.question_ids


def _measured(wanted: Sequence[RequestedMetric], counted: Counted, level: float) -> dict[Key, list[Measure]]:
    return {
        key: [measure_of(want, counts, level=level) for want, counts in zip(wanted, histograms, strict=True)]
        for key, histograms in counted.rows.items()
    }


def _secrets(measured: Mapping[Key, Sequence[Measure]], columns: int, minimum_base: int) -> list[set[Key]]:
    """The hidden rows of each figure."""
    return [
        disclosure.hidden({key: measures[index].n for key, measures in measured.items()}, minimum=minimum_base)
        for index in range(columns)
    ]


def _figure(measure: Measure, suppressed: bool, before: Measure | None) -> Figure:  # noqa: FBT001
    if suppressed:
        return Figure(measure, suppressed=True)
    return Figure(measure, change=metrics.change(measure, before) if before else None)


def _total_figure(
    want: RequestedMetric,
    index: int,
    now: Counted,
    before: Counted | None,
    *,
    level: float,
    minimum_base: int,
    is_hidden: bool,
) -> Figure:
    measure = measure_of(want, now.total[index], level=level)
    was = None if before is None else measure_of(want, before.total[index], level=level)
    if was is not None and 0 < was.n < minimum_base:
        was = None
    return _figure(measure, is_hidden or 0 < measure.n < minimum_base, was)


def _integers(counts: Histogram) -> dict[int, int]:
    return {int(value): count for value, count in counts.items() if value.isdecimal()}


def _numbers(counts: Histogram) -> dict[float, int]:
    found: dict[float, int] = {}
    for value, count in counts.items():
        number = _number(value)
        if number is not None:
            found[number] = found.get(number, 0) + count
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


# Templates -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter of a template; `type` as in the reference: id, time, text, number."""

    name: str
    type: str
    required: bool = False
    default: object = None


@dataclass(frozen=True, slots=True)
class Template:
    """A ready report."""

    template_id: str
    title: str
    description: str
    own: tuple[Parameter, ...] = ()
    metrics: tuple[str, ...] = ()
    basis: str = "submitted"
    parameters: tuple[Parameter, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", (*self.own, *_common(self.basis)))


def _common(basis: str) -> tuple[Parameter, ...]:
    return (
        Parameter("questionnaire_id", "[id]", required=True),
        Parameter("from_time", "time", default="30 days before to_time"),
        Parameter("to_time", "time", default="now"),
        Parameter("time_zone", "zone", default="the organization's"),
        Parameter("date_basis", "submitted, completed or sent", default=basis),
        Parameter("filter", "Condition as JSON"),
        Parameter("level", "number 0.5-0.999", default=metrics.LEVEL_DEFAULT),
        Parameter("compare", "none, previous_period or previous_year", default="none"),
    )


_BY_METRIC: Final = "submitted; of response and completion sent"
_QUESTION: Final = Parameter("question_id", "id")
_METRIC: Final = Parameter("metric", "nps, csat, ces, mean, response or completion", required=True)
TEMPLATES: Final[Mapping[str, Template]] = {
    each.template_id: each
    for each in (
        Template(
            "nps",
            "Net Promoter Score",
            "Promoters (9, 10) less detractors (0 to 6) of all answers on 0-10, in points; a row for each question.",
            (_QUESTION,),
            ("nps",),
        ),
        Template(
            "csat",
            "Customer satisfaction",
            "The share of 4 and 5 on 1-5, in percent, and the mean; a row for each question.",
            (_QUESTION,),
            ("csat", "csat_mean"),
        ),
        Template(
            "ces",
            "Customer effort",
            "The share of 5 to 7 on 1-7, in percent, and the mean; high is easy. A row for each question.",
            (_QUESTION,),
            ("ces", "ces_mean"),
        ),
        Template(
            "distribution",
            "Distribution",
            "How often each value was given to one question, in percent of its answers.",
            (Parameter("question_id", "id", required=True),),
        ),
        Template(
            "funnel",
            "Funnel",
            "What became of the invitations that went out in the period, in counts and rates.",
            (Parameter("channel_id", "integer"), Parameter("pipeline_id", "id")),
            (*STAGES, *RATES),
            basis="sent",
        ),
        Template(
            "trend",
            "Trend",
            "A metric by day, week, month or quarter.",
            (_METRIC, _QUESTION, Parameter("bucket", "day, week, month or quarter", default="month")),
            basis=_BY_METRIC,
        ),
        Template(
            "by_metadata",
            "By metadata",
            "A metric for each value of a name of metadata, such as each store.",
            (
                _METRIC,
                _QUESTION,
                Parameter("metadata", "questionnaire_metadata:{name} or responder_metadata:{name}", required=True),
            ),
            basis=_BY_METRIC,
        ),
        Template(
            "drivers",
            "Drivers",
            "How strongly the ratings of other questions go together with an outcome; hidden below 30 pairs.",
            (Parameter("outcome_question_id", "id", required=True), Parameter("question_ids", "[id]")),
        ),
    )
}
