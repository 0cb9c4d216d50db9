"""Reports: their metrics, their cells, and the tables that are made of these.

A cell is what a report counts, in the groups that it counts by. Cells of answers have the question and the value,
cells of cases (instances) no question and a stage as the value. `reports/counts` makes them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from afterword.core.figures import metrics
from afterword.core.figures.disclosure import Key
from afterword.core.figures.metrics import Base, Change, Interval, Measure, Scale
from afterword.core.questionnaires.question_types import SCORES, TYPES, Question, ScoreName, Shape

QUESTIONNAIRES_MAX: Final = 50
METRICS_MAX: Final = 5
GROUPS_MAX: Final = 3
ROWS_MAX: Final = 1_000

SuppressedReason = Literal["few_people", "few_pairs"]
Metric = Literal[ScoreName, "mean", "response", "completion"]
MEANS: Final[Mapping[str, str]] = {f"{name}_mean": name for name, score in SCORES.items() if score.mean}
TYPE_OF: Final[Mapping[str, str]] = {**{name: name for name in SCORES}, **MEANS}
METRICS_OF_A_QUESTION: Final = (*SCORES, "mean")
EACH_QUESTION: Final = "question_id"  # a group of templates alone: a row for each question

STAGES: Final = ("created", "sent", "delivered", "viewed", "started", "submitted", "completed")
BOUNCED: Final = "bounced"  # counted of cases as stages are, though it is none on the way, and not kept by day
# A rate counts among its denominator only: a case delivered without being sent is in no delivery rate. `rr1` and
# `rr2` are AAPOR's (2023): all that were sent are its cases, I+P+R+NC+O+UH+UO; I are complete, P answered half of their
# questions. Those with fewer answers broke off.
RATES: Final[Mapping[str, tuple[str, str, Base]]] = {
    "delivery": ("sent_delivered", "sent", "sent"),
    "view": ("delivered_viewed", "delivered", "delivered"),
    "response": ("sent_submitted", "sent", "sent"),
    "response_of_delivered": ("delivered_submitted", "delivered", "delivered"),
    "completion": ("completed", "started", "started"),
    "rr1": ("sent_completed", "sent", "sent"),
    "rr2": ("sent_answered", "sent", "sent"),
}

NAME_CHARACTERS_MAX: Final = 255
Found = TypeVar("Found", bound="Coordinates")
Basis = Literal["submitted", "completed", "sent"]


def _types(*shapes: Shape) -> frozenset[str]:
    return frozenset(name for name, row in TYPES.items() if row.shape in shapes)


NUMERIC: Final = _types("scale", "number")  # types with a mean
GROUPING: Final = _types("scale", "choice", "consent", "yes_no")
COUNTED: Final = GROUPING | _types("choices")
RANKED: Final = _types("ranking")
MATRICES: Final = _types("matrix")
DISTRIBUTED: Final = COUNTED | RANKED | MATRICES
ANSWERED: Final = "*"  # the value that counts answers, where one answer has several values
FIXED_GROUPS: Final = ("bucket", "questionnaire", "version", "channel", "pipeline", "locale")
NAMED_GROUPS: Final = ("question", "questionnaire_metadata", "responder_metadata")
CASE_GROUPS: Final = ("case:cause", "case:remedy")  # of the response's case that was closed last
Histogram = Mapping[str, int]


class Coordinates(msgspec.Struct, frozen=True):  # a report has thousands, and a dataclass is slow to make
    bucket: int
    questionnaire_id: str
    dimensions: tuple[str | None, ...]
    question_id: str  # empty: cases


class Cell(Coordinates, frozen=True):
    value: str
    count: int


class Repeat(Coordinates, frozen=True):
    """The number of a person's answers. `weight`: the sampled part of the person's responses."""

    person: int
    answers: int
    weight: float


class Effects(msgspec.Struct, frozen=True):
    """Design effects of answers: of all, and of rows; of a sample the same one of each row."""

    total: float
    row: float
    rows: Mapping[Key, float]


@dataclass(frozen=True, slots=True)
class People:
    """Repeated answers of the people behind cells; `is_sample`: of a sample of them.

    `effects`: what was computed of them, by what it was computed for.
    """

    repeats: Sequence[Repeat] = ()
    is_sample: bool = False
    effects: dict[object, "Effects"] = field(default_factory=dict[object, "Effects"], compare=False)

    def __add__(self, other: "People") -> "People":
        return People([*self.repeats, *other.repeats], self.is_sample or other.is_sample)


def read_group(text: str) -> tuple[str, str] | None:
    """Kind and name of a `group_by` entry (the name of a fixed one is empty); None when it is neither."""
    kind, colon, name = text.partition(":")
    if kind in FIXED_GROUPS and not colon:
        return kind, ""
    if text in CASE_GROUPS or (kind in NAMED_GROUPS and 1 <= len(name) <= NAME_CHARACTERS_MAX):
        return kind, name
    return None


def dimensions(group_by: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The groups that each response has a value of; bucket, questionnaire and question are members of the cell."""
    found = (read_group(text) for text in group_by)
    return tuple(group for group in found if group is not None and group[0] not in {"bucket", "questionnaire"})


def key_of(cell: Coordinates, group_by: Sequence[str]) -> Key:
    if group_by == ("bucket",):  # thousands of cells of a trend
        return (cell.bucket,)
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


def moved(found: Iterable[Found], buckets: Mapping[int, int]) -> list[Found]:
    """The same counts in other buckets; those of buckets that are not named are left out."""
    if all(bucket == into for bucket, into in buckets.items()):
        return [each for each in found if each.bucket in buckets]
    return [msgspec.structs.replace(each, bucket=buckets[each.bucket]) for each in found if each.bucket in buckets]


def answers_in(counts: Histogram) -> int:
    return counts[ANSWERED] if ANSWERED in counts else sum(counts.values())


def parts_of(question: Question) -> list[str]:
    """The rows of a matrix and the ranks of a ranking, each a distribution of its own; else one part without a name."""
    if question.ranks:
        return [str(rank) for rank in range(1, len(question.choices) + 1)]
    return [row.row_id for row in question.rows] or [""]


def of_part(counts: Histogram, part: str) -> dict[str, int]:
    """The counts of one matrix row or one rank by its values; without a part all of them."""
    mark = f"{part}:" if part else ""
    return {value.removeprefix(mark): count for value, count in counts.items() if value.startswith(mark)}


def ratings_of(question: Question) -> dict[str, int]:
    """The rating that each column of a matrix is: its points, else its value; empty where the columns are no scale.

    Values are a scale where they rise, or fall, from column to column. Where some columns have points, another one is
    no rating, such as "Does not apply".
    """
    if question.type not in MATRICES:
        return {}
    points = {str(choice.value): choice.points for choice in question.choices if choice.points is not None}
    values = [choice.value for choice in question.choices]
    if not points and values in (sorted(values), sorted(values, reverse=True)):
        points = {str(value): value for value in values}
    return points if len(set(points.values())) > 1 else {}


def is_rated(question: Question) -> bool:
    """Whether its answers, or those to each of its rows, are ratings with a mean."""
    return question.type in NUMERIC or bool(ratings_of(question))


def values_of(question: Question) -> list[str]:
    if TYPES[question.type].subject == "boolean":
        return ["true", "false"]
    return [str(value) for value in question.scale] or [str(choice.value) for choice in question.choices]


class RequestedMetric(msgspec.Struct, frozen=True):
    """A metric over the answers of some questions, or over cases."""

    metric: str
    question_ids: frozenset[str] = frozenset()
    scale: Scale | None = None

    @property
    def is_of_cases(self) -> bool:
        return self.metric in RATES or self.metric in STAGES or self.metric == BOUNCED


class Figure(msgspec.Struct, frozen=True):
    """A measure as it is shown; `suppressed`: hidden from this reader, or a correlation of too few pairs."""

    measure: Measure
    suppressed: bool = False
    change: Change | None = None

    @property
    def suppressed_reason(self) -> SuppressedReason | None:
        if not self.suppressed:
            return None
        return "few_pairs" if self.measure.unit == "correlation" else "few_people"

    @property
    def document(self) -> dict[str, Any]:
        """Every member that the API shows, rounded; of a hidden figure nothing but that it is."""
        measure, hidden = self.measure, self.suppressed
        decimals = CORRELATION_DECIMALS if measure.unit == "correlation" else VALUE_DECIMALS
        return {
            "metric": measure.metric,
            "value": None if hidden or measure.value is None else _rounded(measure.value, decimals),
            "unit": measure.unit,
            "n": None if hidden else measure.n,
            "base": measure.base,
            "population": None,
            "interval": None if hidden or measure.interval is None else _interval(measure.interval, decimals),
            "method": "none" if hidden else measure.method,
            "scale": f"{measure.scale[0]}-{measure.scale[1]}" if measure.scale else None,
            "parts": None if hidden or measure.parts is None else dict(measure.parts),
            "suppressed": hidden,
            "suppressed_reason": self.suppressed_reason,
            "change": None if hidden or self.change is None else _change(self.change, decimals),
        }


class Line(msgspec.Struct, frozen=True):
    """One row: the values of what it is grouped by, in that order, and its figures."""

    key: Key
    figures: tuple[Figure, ...]

    @property
    def is_suppressed(self) -> bool:
        return any(figure.suppressed for figure in self.figures)


class Table(msgspec.Struct, frozen=True):
    lines: tuple[Line, ...]
    total: tuple[Figure, ...]


# Tables --------------------------------------------------------------------------------------------------------------

TOTAL: Final[Key] = ()


class Tally(defaultdict[str, int]):
    """The count of each value. `effect`: as of a measure."""

    def __init__(self) -> None:
        super().__init__(int)
        self.effect = 1.0


class Counted(msgspec.Struct, frozen=True):
    """Cells by key, as histograms of each requested metric."""

    rows: Mapping[Key, Sequence[Tally]]
    total: Sequence[Tally]
    hidden: Sequence[Collection[Key]] = ()  # of each metric, rows that are hidden from this reader, and `TOTAL`


def pools(requested: Sequence[RequestedMetric], *, separately: bool) -> dict[str, str]:
    """The questions, each with the one under which it may be counted: questions in the same metrics count as one."""
    first: dict[frozenset[int], str] = {}
    found: dict[str, str] = {}
    for question_id in sorted({each for request in requested for each in request.question_ids}):
        uses = frozenset(index for index, request in enumerate(requested) if question_id in request.question_ids)
        found[question_id] = question_id if separately else first.setdefault(uses, question_id)
    return found


def gather(
    requested: Sequence[RequestedMetric],
    cells: Iterable[Cell],
    group_by: Sequence[str],
    keys: Collection[Key],
    people: People | None = None,
    *,
    into: Mapping[int, int] | None = None,
) -> Counted:
    """Sort cells into rows; `keys` are rows that are listed even when nothing was counted there.

    `into`: of a trend, the row of each bucket.
    """
    rows = {key: [Tally() for _ in requested] for key in keys}
    total = [Tally() for _ in requested]
    indexes_of: dict[str, list[int]] = {}  # by question
    for cell in cells:
        indexes = indexes_of.get(cell.question_id)
        if indexes is None:
            indexes = [index for index, request in enumerate(requested) if _belongs(cell, request)]
            indexes_of[cell.question_id] = indexes
        if not indexes:
            continue
        key = key_of(cell, group_by) if into is None else (into[cell.bucket],)
        row = rows.get(key)
        if row is None:
            row = rows[key] = [Tally() for _ in requested]
        for index in indexes:
            row[index][cell.value] += cell.count
            total[index][cell.value] += cell.count
    people = people or People()
    for index, request in enumerate(requested):
        effects = _effects_of(people, {""} if request.is_of_cases else request.question_ids, group_by, into)
        total[index].effect = effects.total
        for key, row in rows.items():
            row[index].effect = effects.row if people.is_sample else effects.rows.get(key, 1.0)
    return Counted(rows, total)


def _effects_of(
    people: People, questions: Collection[str], group_by: Sequence[str], into: Mapping[int, int] | None
) -> Effects:
    """The effects of answers to these questions in rows by these groups; the people remember them."""
    key = (frozenset(questions), tuple(group_by), into and tuple(into.values()))
    found = people.effects.get(key)
    if found is not None:
        return found
    weights: dict[int, float] = {}
    given: defaultdict[Key, Counter[int]] = defaultdict(Counter)
    for repeat in people.repeats:
        if repeat.question_id in questions:
            weights[repeat.person] = repeat.weight
            row = key_of(repeat, group_by) if into is None else (into[repeat.bucket],)
            given[row][repeat.person] += repeat.answers
    everybody: Counter[int] = Counter()
    for answers in given.values():
        everybody.update(answers)
    found = people.effects[key] = Effects(
        _effect(everybody.items(), weights),
        _effect((pair for answers in given.values() for pair in answers.items()), weights),
        {} if people.is_sample else {row: _effect(answers.items(), weights) for row, answers in given.items()},
    )
    return found


def _effect(answers: Iterable[tuple[int, int]], weights: Mapping[int, float]) -> float:
    """Kish's design effect: the mean number of answers of a person, over answers."""
    found = [(weights[person], count) for person, count in answers]
    number = math.fsum(weight * count for weight, count in found)
    return math.fsum(weight * count * count for weight, count in found) / number if number else 1.0


def tabulate(
    requested: Sequence[RequestedMetric],
    now: Counted,
    before: Counted | None,
    *,
    level: float,
    against_rest: bool = False,
) -> Table:
    """The figures of every row and of all together, with changes against `before`.

    `against_rest`: each row's change is its difference from all other rows together.
    """
    columns = [_column(request, index, now, before, level=level) for index, request in enumerate(requested)]
    if against_rest:
        columns = [
            (_against_rest(request, index, now, figures, level=level), total)
            for index, (request, (figures, total)) in enumerate(zip(requested, columns, strict=True))
        ]
    lines = tuple(Line(key, tuple(figures[key] for figures, _ in columns)) for key in now.rows)
    return Table(lines, tuple(total for _, total in columns))


def _column(
    request: RequestedMetric, index: int, now: Counted, before: Counted | None, *, level: float
) -> tuple[dict[Key, Figure], Figure]:
    hidden = now.hidden[index] if now.hidden else ()
    earlier = _measures(request, before, index, level) if before else {}
    figures = {
        key: _figure(measure, key in hidden, earlier.get(key))
        for key, measure in _measures(request, now, index, level).items()
    }
    total = measure_of(request, now.total[index], level=level)
    previous = measure_of(request, before.total[index], level=level) if before else None
    return figures, _figure(total, TOTAL in hidden, previous)


def _against_rest(
    request: RequestedMetric, index: int, now: Counted, figures: Mapping[Key, Figure], *, level: float
) -> dict[Key, Figure]:
    """The figures with their difference from the others together, where both are shown.

    A shown row and a shown total give the others away, so nothing more is told.
    """
    changes: list[Change | None] = []
    for key, figure in figures.items():
        rest = Tally()
        rest.update({value: count - now.rows[key][index].get(value, 0) for value, count in now.total[index].items()})
        rest.effect = now.total[index].effect
        measure = measure_of(request, rest, level=level)
        is_shown = not figure.suppressed and measure.n > 0
        changes.append(metrics.change(figure.measure, measure) if is_shown else None)
    return {
        key: replace(figure, change=change)
        for (key, figure), change in zip(figures.items(), metrics.corrected(changes), strict=True)
    }


def measure_of(request: RequestedMetric, counts: Tally, *, level: float) -> Measure:
    """The metric of how often each value, or each stage, was counted."""
    if request.metric in RATES:
        return _rate(request.metric, counts, level)
    if request.metric in STAGES or request.metric == BOUNCED:
        return metrics.count(counts.get(request.metric, 0), metric=request.metric, of=counts.get("created", 0))
    effect = min(counts.effect, max(1, sum(counts.values())))
    if request.metric in TYPES:
        scores = {int(value): count for value, count in counts.items() if value.isdecimal()}
        return metrics.score(request.metric, scores, level=level, effect=effect)
    return metrics.mean(_numbers(counts), metric=request.metric, level=level, scale=request.scale, effect=effect)


def rating(question: Question, counts: Tally, part: str = "", *, level: float) -> Measure:
    """The mean of the answers to a question; `part`: to this row of a matrix whose columns are a scale."""
    if not part:
        return measure_of(RequestedMetric("mean", scale=scale_of(question)), counts, level=level)
    ratings, found = ratings_of(question), Counter[int]()
    for value, count in of_part(counts, part).items():
        if value in ratings:
            found[ratings[value]] += count
    scale = (min(ratings.values()), max(ratings.values()))
    effect = min(counts.effect, max(1, found.total()))
    return metrics.mean(found, level=level, scale=scale, effect=effect)


def _rate(metric: str, counts: Tally, level: float) -> Measure:
    hits, of, base = RATES[metric]
    # A relay reports no deliveries: without any report the rate is not 0 % but unknown.
    if metric == "delivery" and not counts.get("delivered", 0):
        return Measure(metric=metric, unit="percent", n=counts.get(of, 0), base=base)
    n = counts.get(of, 0)
    effect = min(counts.effect, max(1, n))
    return metrics.share(counts.get(hits, 0), n, metric=metric, level=level, base=base, effect=effect)


def distribution(
    counts: Histogram,
    *,
    effect: float,
    values: Sequence[str],
    level: float,
    is_hidden: bool,
    scale: Scale | None = None,
) -> list[Figure]:
    """The share of each value among the answers."""
    n = answers_in(counts)
    share = partial(metrics.share, n=n, metric="share", level=level, scale=scale, effect=min(effect, max(1, n)))
    return [Figure(share(counts.get(value, 0)), suppressed=is_hidden) for value in values]


def driver(
    pairs: Mapping[tuple[str, str], int],
    people: int,
    mean: Figure,
    *,
    ratings: Mapping[str, int] | None = None,
    level: float,
) -> Figure:
    """An attribute's correlation with the outcome, of `people`; `mean` is the attribute's own.

    `ratings`: as of `ratings_of` for a row of a matrix. It is hidden where it is of fewer than PAIRS_MIN pairs, which
    say nothing.
    """
    numeric: Counter[tuple[float, float]] = Counter()
    for (outcome, value), count in pairs.items():
        x, y = ratings.get(value) if ratings else _number(value), _number(outcome)
        if x is not None and y is not None:
            numeric[x, y] += count
    effect = max(mean.measure.effect, numeric.total() / max(1, people))
    correlation = metrics.correlation(numeric, level=level, effect=min(effect, max(1, numeric.total())))
    return Figure(correlation, suppressed=0 < correlation.n < metrics.PAIRS_MIN)


def scale_of(question: Question | None) -> Scale | None:
    keys = question.scale if question else range(0)
    return (keys[0], keys[-1]) if keys else None


def _belongs(cell: Coordinates, request: RequestedMetric) -> bool:
    return not cell.question_id if request.is_of_cases else cell.question_id in request.question_ids


def _measures(request: RequestedMetric, counted: Counted, index: int, level: float) -> dict[Key, Measure]:
    return {key: measure_of(request, row[index], level=level) for key, row in counted.rows.items()}


def _figure(measure: Measure, suppressed: bool, before: Measure | None) -> Figure:  # noqa: FBT001
    if suppressed:
        return Figure(measure, suppressed=True)
    return Figure(measure, change=metrics.change(measure, before) if before else None)


def _numbers(counts: Histogram) -> dict[float, int]:
    found: Counter[float] = Counter()
    for value, count in counts.items():
        if (number := _number(value)) is not None:
            found[number] += count
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


VALUE_DECIMALS: Final = 2
CORRELATION_DECIMALS: Final = 3
TEST_DECIMALS: Final = 4
P_MIN: Final = 0.0001  # a smaller p is shown as this one: no chance is 0


def _interval(interval: Interval, decimals: int) -> dict[str, Any]:
    low, high = _rounded(interval.low, decimals), _rounded(interval.high, decimals)
    return {"low": low, "high": high, "level": interval.level}


def _change(change: Change, decimals: int) -> dict[str, Any]:
    return {
        "previous": _rounded(change.previous, decimals),
        "difference": _rounded(change.difference, decimals),
        "z": None if change.z is None else _rounded(change.z, TEST_DECIMALS),
        "p": None if change.p is None else max(P_MIN, _rounded(change.p, TEST_DECIMALS)),
        "method": change.method,
        "real": change.real,
    }


def _rounded(value: float, decimals: int) -> float:
    return round(value, decimals) + 0.0  # no -0.0
