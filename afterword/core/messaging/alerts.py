"""Alerts: when a rule looks at a response, what its conditions compared, when a case is due, which cases are open."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Literal

from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import All, AnyOf, Facts, Leaf, LeafResult, Node, Not

STATUS_NEW: Final = 1
STATUS_OWN_FIRST: Final = 100  # numbers below are the product's
STATUSES_MAX: Final = 100  # an organization's own
WINDOW_DAYS_DEFAULT: Final = 30  # of a metric whose leaf names none
ACTUAL_CHARACTERS_MAX: Final = 500  # of an answer that a case shows; the whole of it is in the response
METRIC: Final = "metric:"

Trigger = Literal["submitted", "completed", "schedule"]
Severity = Literal["low", "normal", "high", "critical"]
Metric = tuple[str, int]  # the subject of a leaf and its window in days
Figures = Mapping[Metric, float | None]  # None: missing, below the minimum base

# A rule on `submitted` looks at the first answer and again at the end, when the others are there; a response that was
# edited after its end is looked at again by all. Each rule opens a case for a response at most once.
TRIGGERS: Final[Mapping[str, frozenset[str]]] = {
    "questionnaire_instance.submitted": frozenset({"submitted"}),
    "questionnaire_instance.completed": frozenset({"submitted", "completed"}),
    "questionnaire_instance.updated": frozenset({"submitted", "completed"}),
}


@dataclass(frozen=True, slots=True)
class Match:
    """Whether conditions hold, and what each of them compared."""

    holds: bool
    leaves: list[LeafResult]


def judge(node: Node | None, facts: Facts) -> Match:
    """A response against the conditions of a rule; null is true of every response."""
    return Match(conditions.matches(node, facts), conditions.leaves(node, facts))


def judge_figures(node: Node, figures: Figures) -> Match:
    """The figures of a day against the conditions of a rule; one that is not there is missing."""
    facts = {_key(metric): value for metric, value in figures.items() if value is not None}
    keyed = _with_windows(node)
    results = conditions.leaves(keyed, facts)
    leaves = [replace(result, subject=result.subject.partition(" ")[0]) for result in results]
    return Match(conditions.matches(keyed, facts), leaves)


def metrics_of(node: Node | None) -> list[Metric]:
    """The figures that the conditions ask for, each once, in order."""
    return list(dict.fromkeys(_metric(leaf) for leaf in leaves_of(node) if leaf.subject.startswith(METRIC)))


def leaves_of(node: Node | None) -> list[Leaf]:
    """All comparisons of a tree, in the order of the document."""
    match node:
        case None:
            return []
        case All(nodes) | AnyOf(nodes):
            return [leaf for child in nodes for leaf in leaves_of(child)]
        case Not(child):
            return leaves_of(child)
        case Leaf():
            return [node]


def question_ids_in(document: object) -> set[str]:
    """The texts in place of question ids in a condition that is not checked yet."""
    if isinstance(document, Mapping):
        subject = document.get("subject")
        found = {subject.split(":")[place] for place in _places(subject)} if isinstance(subject, str) else set[str]()
        return found.union(*(question_ids_in(value) for value in document.values()))
    if isinstance(document, list):
        return set[str]().union(*(question_ids_in(value) for value in document))
    return set()


def documents(leaves: list[LeafResult], *, with_actual: bool = True) -> list[dict[str, Any]]:
    """Leaf results as JSON. Without `actual` nothing of what people wrote is in it."""
    return [
        {
            "subject": leaf.subject,
            "operator": leaf.operator,
            "value": _plain(leaf.value),
            "actual": _plain(leaf.actual) if with_actual else None,
            "matches": leaf.matches,
        }
        for leaf in leaves
    ]


def due_time(now: datetime, *, due_hours: int | None) -> datetime | None:
    """When a case that opens now is to be done."""
    return None if due_hours is None else now + timedelta(hours=due_hours)


def folds(opened: datetime, *, now: datetime, fold_hours: int) -> bool:
    """Whether a repeat at `now` still counts on an open case of that time."""
    return fold_hours > 0 and opened > now - timedelta(hours=fold_hours)


def _places(subject: str) -> tuple[int, ...]:
    """Where the parts of a subject name a question: `question:{id}`, `metric:{metric}:{id}`."""
    parts = subject.split(":")
    if parts[0] == "question" and len(parts) > 1:
        return (1,)
    return (2,) if parts[0] == "metric" and len(parts) > 2 else ()  # noqa: PLR2004  the third part


def _metric(leaf: Leaf) -> Metric:
    return leaf.subject, leaf.window_days or WINDOW_DAYS_DEFAULT


def _key(metric: Metric) -> str:
    subject, days = metric
    return f"{subject} {days}"  # one subject may stand there with two windows


def _with_windows(node: Node) -> Node:
    match node:
        case All(nodes):
            return All(tuple(_with_windows(child) for child in nodes))
        case AnyOf(nodes):
            return AnyOf(tuple(_with_windows(child) for child in nodes))
        case Not(child):
            return Not(_with_windows(child))
        case Leaf():
            return replace(node, subject=_key(_metric(node)))


def _plain(value: object) -> object:
    """A typed value as JSON shows it; long texts are cut."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return value[:ACTUAL_CHARACTERS_MAX]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
