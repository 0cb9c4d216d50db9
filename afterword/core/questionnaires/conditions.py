"""One condition tree (all, any, not, leaves) for jumps, pipelines, alerts and filters, and its evaluation.

`condition_reader.py` reads the tree from JSON and checks it. Facts are a mapping from subject
(`question:{question_id}`, `responder_metadata:{name}`) to a typed value; a subject that is not in it, null, blank or an
empty array is missing. Regular expressions run on RE2, in linear time.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import re2

from afterword.core.reading.documents import BOOLEANS, is_array, is_object

PATTERN_BYTES_MAX = 1 << 20

Facts = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Leaf:
    subject: str
    operator: str
    value: object = None
    window_days: int | None = None

    @property
    def fact(self) -> str:
        """The name of the compared fact: with the days of a metric, since two windows of one metric may be compared."""
        return self.subject if self.window_days is None else f"{self.subject} {self.window_days}"


@dataclass(frozen=True, slots=True)
class All:
    """True when every node is; true when there is none."""

    nodes: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True when one node is; false when there is none."""

    nodes: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    node: "Node"


Node = Leaf | All | AnyOf | Not


@dataclass(frozen=True, slots=True)
class LeafResult:
    subject: str
    operator: str
    value: object
    actual: object
    matches: bool

    @property
    def document(self) -> dict[str, Any]:
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


def matches(node: Node | None, facts: Facts) -> bool:
    """Whether the condition holds; null always does."""
    match node:
        case None:
            return True
        case All(nodes):
            return all(matches(child, facts) for child in nodes)
        case AnyOf(nodes):
            return any(matches(child, facts) for child in nodes)
        case Not(child):
            return not matches(child, facts)
        case Leaf():
            return _is_met(node, facts.get(node.fact))


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


def leaves(node: Node | None, facts: Facts) -> list[LeafResult]:
    """Every leaf with its result, in the order of the document."""
    return [evaluate(leaf, facts) for leaf in leaves_of(node)]


def evaluate(leaf: Leaf, facts: Facts) -> LeafResult:
    """The result of one leaf. On a missing subject only `is_empty`, `not_equal` and `not_contains` are true."""
    actual = facts.get(leaf.fact)
    return LeafResult(leaf.subject, leaf.operator, leaf.value, actual, _is_met(leaf, actual))


def _is_met(leaf: Leaf, actual: object) -> bool:
    negated = _NEGATIONS.get(leaf.operator)
    operator = negated or leaf.operator
    holds = _is_missing(actual) if operator == "is_empty" else _holds(operator, actual, leaf.value)
    return holds is (negated is None)


def first_unmet(node: Node | None, facts: Facts, *, expected: bool = True) -> LeafResult | None:
    """The first leaf because of which the condition is not `expected`; None when it is, or when it has no leaf."""
    if matches(node, facts) is expected:
        return None
    match node:
        case All(nodes) | AnyOf(nodes):
            found = (first_unmet(child, facts, expected=expected) for child in nodes)
            return next((leaf for leaf in found if leaf is not None), None)
        case Not(child):
            return first_unmet(child, facts, expected=not expected)
        case Leaf():
            return evaluate(node, facts)
        case None:
            return None


def document_of(node: Node | None) -> dict[str, object] | None:
    """The tree as JSON, such that `read` gives the same tree back."""
    match node:
        case None:
            return None
        case All(nodes):
            return {"all": [document_of(child) for child in nodes]}
        case AnyOf(nodes):
            return {"any": [document_of(child) for child in nodes]}
        case Not(child):
            return {"not": document_of(child)}
        case Leaf():
            document: dict[str, object] = {"subject": node.subject, "operator": node.operator}
            if node.operator not in WITHOUT_VALUE:
                document["value"] = _plain(node.value)
            if node.window_days is not None:
                document["window_days"] = node.window_days
            return document


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | time):
        return value.isoformat(timespec="minutes")
    if isinstance(value, date):
        return value.isoformat()
    if is_object(value):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if is_array(value) else value


# Evaluation ---------------------------------------------------------------------------------------------------

_NEGATIONS: Final = {"not_equal": "equal", "not_contains": "contains", "is_not_empty": "is_empty"}
WITHOUT_VALUE: Final = frozenset({"is_empty", "is_not_empty"})
_NUMBER: Final = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,18})?\Z", re.ASCII)


def _holds(operator: str, actual: object, value: object) -> bool:
    if _is_missing(actual):
        return False
    if operator == "in":
        return is_array(value) and any(_equal(actual, one) for one in value)
    return _COMPARISONS[operator](actual, value)


def _is_missing(actual: object) -> bool:
    empty = (is_array(actual) or is_object(actual)) and not actual
    return actual is None or (isinstance(actual, str) and not actual.strip()) or empty


def _equal(actual: object, value: object) -> bool:
    """By the type of what was given: a number with a number, text without case, an array as a set."""
    if is_array(actual):
        expected = value if is_array(value) else [value]
        return set(map(_comparable, actual)) == set(map(_comparable, expected))
    if isinstance(actual, bool):
        return boolean_of(value) is actual
    if isinstance(actual, str):
        return not is_array(value) and _folded(actual) == _folded(value)
    pair = _ordered(actual, value)
    return pair is not None and pair[0] == pair[1]


def _contains(actual: object, value: object) -> bool:
    if is_array(actual):
        return _comparable(value) in set(map(_comparable, actual))
    return isinstance(actual, str) and _folded(value) in _folded(actual)


def _compare(actual: object, value: object) -> int | None:
    """-1, 0 or 1 for numbers and dates, None for other types."""
    pair = None if isinstance(actual, bool | str) else _ordered(actual, value)
    if pair is None:
        return None
    return (pair[0] > pair[1]) - (pair[0] < pair[1])


def _ordered(actual: object, value: object) -> tuple[Decimal, Decimal] | None:
    """Both sides on one line of numbers (dates by their moment or day), or None when they have none in common."""
    if isinstance(actual, int | float | Decimal):
        number = number_of(value)
        return None if number is None else (Decimal(str(actual)), number)
    if isinstance(actual, date):
        expected = date_of(value)
        if expected is None:
            return None
        if isinstance(actual, datetime) and isinstance(expected, datetime):
            return _moment(actual), _moment(expected)
        return Decimal(actual.toordinal()), Decimal(expected.toordinal())
    if isinstance(actual, time):
        at = time_of(value)
        return None if at is None else (_minutes(actual), _minutes(at))
    return None


def number_of(value: object) -> Decimal | None:
    """Decimal, by the digits as they are written: a declared 0.1 equals the 0.1 of a condition."""
    if isinstance(value, int | float):
        return None if isinstance(value, bool) else Decimal(str(value))
    return Decimal(value.strip()) if isinstance(value, str) and _NUMBER.match(value.strip()) else None


def date_of(value: object) -> date | None:
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        return date.fromisoformat(text) if len(text) == len("2026-01-31") else datetime.fromisoformat(text)
    except ValueError:
        return None


def time_of(value: object) -> time | None:
    if not isinstance(value, str):
        return None
    try:
        return time.fromisoformat(value.strip())
    except ValueError:
        return None


def _minutes(value: time) -> Decimal:
    return Decimal(value.hour * 60 + value.minute)


def _moment(value: datetime) -> Decimal:
    return Decimal((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp())


def boolean_of(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return BOOLEANS.get(_folded(value))


def _comparable(value: object) -> object:
    """Something with a hash, equal for what counts as equal inside an array."""
    return _folded(value) if isinstance(value, str) else tuple(value) if is_array(value) else value


def _folded(value: object) -> str:
    """Text such that only letters count: composed and without case; numbers and booleans as they are written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime | time):
        value = value.isoformat(timespec="minutes")
    return unicodedata.normalize("NFC", str(value)).casefold().strip()


def _is_text(value: object) -> bool:
    """Times are texts too: conditions asked for their hour before they were compared."""
    return isinstance(value, str | datetime | time)


def _matches(actual: object, value: object) -> bool:
    return isinstance(actual, str) and isinstance(value, str) and pattern_of(value).search(actual) is not None


_COMPARISONS: Final[Mapping[str, Callable[[object, object], bool]]] = {
    "equal": _equal,
    "greater": lambda actual, value: _compare(actual, value) == 1,
    "greater_equal": lambda actual, value: _compare(actual, value) in {0, 1},
    "less": lambda actual, value: _compare(actual, value) == -1,
    "less_equal": lambda actual, value: _compare(actual, value) in {-1, 0},
    "contains": _contains,
    "begins_with": lambda actual, value: _is_text(actual) and _folded(actual).startswith(_folded(value)),
    "ends_with": lambda actual, value: isinstance(actual, str) and _folded(actual).endswith(_folded(value)),
    "matches": _matches,
}
OPERATORS: Final = (*_COMPARISONS, "in", "is_empty", *_NEGATIONS)


@lru_cache(maxsize=64)  # of a megabyte at most each
def pattern_of(text: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = PATTERN_BYTES_MAX
    return re2.compile(text, options)
