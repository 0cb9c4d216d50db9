"""Alerts: when a rule looks at a response, what its conditions compared, which cases are open."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Facts, Leaf, LeafResult, Node
from afterword.core.questionnaires.question_types import TYPES

STATUS_NEW: Final = 1
CALL_BACK: Final = "call_back"  # the trigger of rules for customers who ask to be called
STATUSES_MAX: Final = 100  # an organization's own
WINDOW_DAYS_DEFAULT: Final = 30  # of a metric whose leaf names none
ACTUAL_CHARACTERS_MAX: Final = 500  # of an answer that a case shows; the whole of it is in the response
METRIC: Final = "metric:"
DETRACTOR: Final = "detractor"
UPPER_HALF: Final = 0.5

Metric = tuple[str, int]  # the subject of a leaf and its window in days
Figures = Mapping[Metric, float | None]  # None: missing, below the minimum base

# A rule on `submitted` looks at the first answer and again at the end, when the others are there; a response that was
# edited after its end is looked at again by all. Each rule opens a case for a response at most once.
TRIGGERS: Final[Mapping[str, frozenset[str]]] = {
    "questionnaire_instance.submitted": frozenset({"submitted"}),
    "questionnaire_instance.completed": frozenset({"submitted", "completed"}),
    "questionnaire_instance.updated": frozenset({"submitted", "completed"}),
}


class Match(msgspec.Struct, frozen=True):
    holds: bool
    leaves: list[LeafResult]


def judge(node: Node | None, facts: Facts) -> Match:
    """A response against the conditions of a rule; null is true of every response."""
    return Match(conditions.matches(node, facts), conditions.leaves(node, facts))


def judge_figures(node: Node, figures: Figures) -> Match:
    """The figures of a day against the conditions of a rule; one that is not there is missing."""
    known = {metric: value for metric, value in figures.items() if value is not None}
    facts: dict[str, object] = {f"{subject} {days}": value for (subject, days), value in known.items()}
    facts |= {subject: value for (subject, days), value in known.items() if days == WINDOW_DAYS_DEFAULT}
    return judge(node, facts)


def metrics_of(node: Node | None) -> list[Metric]:
    """The figures that the conditions ask for, each once, in order."""
    leaves = [leaf for leaf in conditions.leaves_of(node) if leaf.subject.startswith(METRIC)]
    return list(dict.fromkeys((leaf.subject, leaf.window_days or WINDOW_DAYS_DEFAULT) for leaf in leaves))


def question_ids_in(document: object) -> set[str]:
    """The texts in place of question ids in a condition that is not checked yet."""
    if isinstance(document, Mapping):
        subject = document.get("subject")
        found = _question_ids(subject) if isinstance(subject, str) else set[str]()
        return found.union(*(question_ids_in(value) for value in document.values()))
    if isinstance(document, list):
        return set[str]().union(*(question_ids_in(value) for value in document))
    return set()


def documents(leaves: list[LeafResult]) -> list[dict[str, Any]]:
    found = [leaf.document for leaf in leaves]
    for document in found:
        if isinstance(document["actual"], str):
            document["actual"] = document["actual"][:ACTUAL_CHARACTERS_MAX]
    return found


def candidates_of(assignment: Mapping[str, Any], facts: Facts) -> tuple[list[str], list[str]]:
    """The users of the first choice whose value the field has, and those for all other cases."""
    choices: list[dict[str, Any]] = assignment["choices"]
    for choice in choices:
        leaf = Leaf(assignment["subject"], "equal", choice["value"])
        if conditions.evaluate(leaf, facts).matches:
            return choice["user_ids"], assignment["user_ids"]
    return [], assignment["user_ids"]


def users_of(assignment: Mapping[str, Any]) -> list[str]:
    return [*(one for choice in assignment["choices"] for one in choice["user_ids"]), *assignment["user_ids"]]


def least_loaded(candidates: Sequence[str], open_cases: Mapping[str, int]) -> str | None:
    """The candidate with the fewest open cases, of several the first one; those without a number may take none."""
    return min((one for one in candidates if one in open_cases), key=open_cases.__getitem__, default=None)


def folds(opened: datetime, *, now: datetime, fold_hours: int) -> bool:
    """Whether a repeat at `now` still counts on an open case of that time."""
    return fold_hours > 0 and opened > now - timedelta(hours=fold_hours)


class Score(msgspec.Struct, frozen=True):
    """The key score of a response: its band, where its scale has bands, and its place on the scale from 0 to 1."""

    band: str | None
    place: float


def score_of(kind: str | None, value: int | None, highest: int | None, band: str | None) -> Score | None:
    if kind is None or value is None or highest is None:
        return None
    scale = TYPES[kind].scale
    lowest = scale[0] if scale else 1
    return Score(band, (value - lowest) / max(1, highest - lowest))


def is_recovered(before: Score | None, after: Score | None) -> bool | None:
    """Whether a customer who was asked again is won back; None where nothing can be compared.

    A detractor is, who is none any more. Anybody else, and on scales without bands, must be happier than before and
    in the upper half of the scale.
    """
    if before is None or after is None:
        return None
    if before.band == DETRACTOR and after.band is not None:
        return after.band != DETRACTOR
    return after.band != DETRACTOR and after.place > before.place and after.place >= UPPER_HALF


def _question_ids(subject: str) -> set[str]:
    """The question of a subject: `question:{id}`, `question:{id}:{part}`, `metric:{metric}:{id}`."""
    family, *parts = subject.split(":")
    return set(parts[:1] if family == "question" else parts[1:2] if family == "metric" else [])
