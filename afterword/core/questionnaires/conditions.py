"""One condition tree (all, any, not, leaves) for jumps, pipelines, alerts and filters: read, checked, evaluated purely.

Facts are a mapping from subject (`question:{question_id}`, `responder_metadata:{name}`) to a typed value; a subject
that is not in it, null, blank or an empty array is missing. Regular expressions run on RE2, in linear time.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, Literal

import re2

from afterword import ids
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.reading import (
    Findings,
    Members,
    is_array,
    is_date,
    is_integer,
    is_object,
    is_printable,
)

DEPTH_MAX = 5
LEAVES_MAX = 50
VALUE_CHARACTERS_MAX = 500
PATTERN_CHARACTERS_MAX = 200
PATTERN_BYTES_MAX = 1 << 20
IN_VALUES_MAX = 100
WINDOW_DAYS_MAX = 90
NAME_CHARACTERS_MAX = 255

Facts = Mapping[str, object]
NO_FACTS: Final[Facts] = {}
# What a subject is: one whole number, several, any number, … `presence`: there or not, `any`: not known beforehand.
Kind = Literal["integer", "integers", "number", "text", "date", "boolean", "presence", "metric", "any"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One comparison of a subject with a value."""

    subject: str
    operator: str
    value: object = None
    window_days: int | None = None


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
    """The comparison of one leaf, and its result."""

    subject: str
    operator: str
    value: object
    actual: object
    matches: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """The subjects that leaves may name in one use of conditions.

    `questions`: kind of answer by question id, and by `{question_id}:{row_id}` for the parts of an answer; `keys`: the
    same by the author's keys; `metadata`: the declared types by subject, such as `responder_metadata:age`;
    `undeclared`: what other names are, `text` where the declarations are known, for as that they are kept.
    """

    questions: Mapping[str, Kind] = field(default_factory=dict[str, Kind])
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    metadata: Mapping[str, Kind] = field(default_factory=dict[str, Kind])
    undeclared: Kind = "any"
    tags: bool = False
    metrics: bool = False


METADATA_ONLY: Final = Scope()


def scope_of(declared: Declared | None) -> Scope:
    """Conditions over metadata alone, checked by their declared types; a name that is not declared is text."""
    return METADATA_ONLY if declared is None else Scope(metadata=declared.types, undeclared="text")


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
            return evaluate(node, facts).matches


def leaves(node: Node | None, facts: Facts) -> list[LeafResult]:
    """Every leaf with its result, in the order of the document."""
    match node:
        case None:
            return []
        case All(nodes) | AnyOf(nodes):
            return [result for child in nodes for result in leaves(child, facts)]
        case Not(child):
            return leaves(child, facts)
        case Leaf():
            return [evaluate(node, facts)]


def evaluate(leaf: Leaf, facts: Facts) -> LeafResult:
    """The result of one leaf. On a missing subject only `is_empty`, `not_equal` and `not_contains` are true."""
    actual = facts.get(leaf.subject)
    partner = _NEGATIONS.get(leaf.operator)
    operator = partner or leaf.operator
    holds = _is_missing(actual) if operator == "is_empty" else _holds(operator, actual, leaf.value)
    return LeafResult(leaf.subject, leaf.operator, leaf.value, actual, holds is (partner is None))


def read(document: object, path: str, findings: Findings, scope: Scope = METADATA_ONLY) -> Node | None:
    """The tree of a JSON document (null: None); everything wrong goes to `findings`, the broken node reads as true."""
    if document is None:
        return None
    count = [0]
    node = _read(document, path, findings, scope, count, depth=1)
    if count[0] > LEAVES_MAX:
        findings.error(path, "too_many", f"At most {LEAVES_MAX} comparisons are possible.")
    return node


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
            if node.operator not in _WITHOUT_VALUE:
                document["value"] = list(node.value) if isinstance(node.value, tuple) else node.value
            if node.window_days is not None:
                document["window_days"] = node.window_days
            return document


# Evaluation ---------------------------------------------------------------------------------------------------

_NEGATIONS: Final = {"not_equal": "equal", "not_contains": "contains", "is_not_empty": "is_empty"}
_WITHOUT_VALUE: Final = frozenset({"is_empty", "is_not_empty"})
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
        return _boolean(value) is actual
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
        number = _number(value)
        return None if number is None else (Decimal(str(actual)), number)
    if isinstance(actual, date):
        expected = _date(value)
        if expected is None:
            return None
        if isinstance(actual, datetime) and isinstance(expected, datetime):
            return _moment(actual), _moment(expected)
        return Decimal(actual.toordinal()), Decimal(expected.toordinal())
    return None


def _number(value: object) -> Decimal | None:
    """Decimal, by the digits as they are written: a declared 0.1 equals the 0.1 of a condition."""
    if isinstance(value, int | float):
        return None if isinstance(value, bool) else Decimal(str(value))
    return Decimal(value.strip()) if isinstance(value, str) and _NUMBER.match(value.strip()) else None


def _date(value: object) -> date | None:
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        return date.fromisoformat(text) if len(text) == len("2026-01-31") else datetime.fromisoformat(text)
    except ValueError:
        return None


def _moment(value: datetime) -> Decimal:
    return Decimal((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp())


def _boolean(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "1": True, "false": False, "0": False}.get(_folded(value))


def _comparable(value: object) -> object:
    """Something with a hash, equal for what counts as equal inside an array."""
    return _folded(value) if isinstance(value, str) else tuple(value) if is_array(value) else value


def _folded(value: object) -> str:
    """Text such that only letters count: composed and without case; numbers and booleans as they are written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return unicodedata.normalize("NFC", str(value)).casefold().strip()


def _begins_with(actual: object, value: object) -> bool:
    return isinstance(actual, str) and _folded(actual).startswith(_folded(value))


def _ends_with(actual: object, value: object) -> bool:
    return isinstance(actual, str) and _folded(actual).endswith(_folded(value))


def _matches(actual: object, value: object) -> bool:
    return isinstance(actual, str) and isinstance(value, str) and _pattern(value).search(actual) is not None


_COMPARISONS: Final[Mapping[str, Callable[[object, object], bool]]] = {
    "equal": _equal,
    "greater": lambda actual, value: _compare(actual, value) == 1,
    "greater_equal": lambda actual, value: _compare(actual, value) in {0, 1},
    "less": lambda actual, value: _compare(actual, value) == -1,
    "less_equal": lambda actual, value: _compare(actual, value) in {-1, 0},
    "contains": _contains,
    "begins_with": _begins_with,
    "ends_with": _ends_with,
    "matches": _matches,
}
OPERATORS: Final = (*_COMPARISONS, "in", "is_empty", *_NEGATIONS)


@lru_cache(maxsize=64)  # of a megabyte at most each
def _pattern(text: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = PATTERN_BYTES_MAX
    return re2.compile(text, options)


# Reading ------------------------------------------------------------------------------------------------------

_GROUPS: Final = ("all", "any", "not")
_SAME: Final = frozenset({"equal", "not_equal", "in"})
_IN_ORDER: Final = _SAME | {"greater", "greater_equal", "less", "less_equal"}
_BY_KIND: Final[Mapping[Kind, frozenset[str]]] = {
    "integer": _IN_ORDER,
    "integers": _SAME | {"contains", "not_contains"},
    "number": _IN_ORDER,
    "text": _SAME | {"contains", "not_contains", "begins_with", "ends_with", "matches"},
    "date": _IN_ORDER,
    "boolean": _SAME,
    "presence": frozenset(),
}
_EVERY: Final = frozenset(OPERATORS)
_TRUE: Final = All(())


def _read(document: object, path: str, findings: Findings, scope: Scope, count: list[int], *, depth: int) -> Node:
    if depth > DEPTH_MAX:
        findings.error(path, "too_many", f"Conditions are nested more than {DEPTH_MAX} deep.")
        return _TRUE
    if not is_object(document):
        findings.error(path, "wrong_type", "A condition is an object: all, any, not, or a comparison.")
        return _TRUE
    group = next((name for name in _GROUPS if name in document), None)
    if group is None:
        count[0] += 1
        return _read_leaf(Members(document, path, findings), scope)
    if len(document) > 1:
        findings.error(path, "exclusive", "A condition has one of all, any and not, and nothing beside it.")
    below = f"{path}/{group}"
    if group == "not":
        return Not(_read(document[group], below, findings, scope, count, depth=depth + 1))
    nodes = document[group]
    if not is_array(nodes) or len(nodes) > LEAVES_MAX:
        findings.error(below, "wrong_type", f"A list of at most {LEAVES_MAX} conditions is expected.")
        nodes = ()
    read_nodes = tuple(
        _read(node, f"{below}/{index}", findings, scope, count, depth=depth + 1) for index, node in enumerate(nodes)
    )
    return All(read_nodes) if group == "all" else AnyOf(read_nodes)


def _read_leaf(members: Members, scope: Scope) -> Node:
    found_before = len(members.findings.found)
    subject, kind = _read_subject(members, scope)
    operator = members.required_text("operator", 1, 50)
    if operator and operator not in OPERATORS:
        members.error("operator", "unknown_value", f"One of {', '.join(OPERATORS)} is expected.")
    elif operator and operator not in _WITHOUT_VALUE | _BY_KIND.get(kind, _EVERY):
        members.error("operator", "wrong_type", _not_so(kind))
    value = _read_value(members, operator, kind)
    window_days = members.optional_integer("window_days", 1, WINDOW_DAYS_MAX) if kind == "metric" else None
    members.finish()
    # A full list of findings stops growing, but then the document is refused in any case.
    if len(members.findings.found) > found_before:
        return _TRUE
    return Leaf(subject, operator, value, window_days)


def _not_so(kind: Kind) -> str:
    if kind == "presence":
        return "This is there or not: is_empty or is_not_empty."
    allowed = _BY_KIND[kind] | _WITHOUT_VALUE
    undeclared = " A name that is not declared is a text." if kind == "text" else ""
    return f"What stands here is compared by {', '.join(one for one in OPERATORS if one in allowed)}.{undeclared}"


def _read_subject(members: Members, scope: Scope) -> tuple[str, Kind]:
    """The subject with ids in place of keys, and the kind of what it reads."""
    subject = members.required_text("subject", 1, 300)
    family, _, name = subject.partition(":")
    match family:
        case "question":
            question_id = _by_key(scope, name)
            if question_id not in scope.questions:
                asked = "No question that is asked here or earlier has this id or key."
                members.error("subject", "unknown_id", asked if scope.questions else "Only metadata can be read here.")
            return f"question:{question_id}", scope.questions.get(question_id, "any")
        case "questionnaire_metadata" | "responder_metadata" if 1 <= len(name) <= NAME_CHARACTERS_MAX:
            return subject, scope.metadata.get(subject, scope.undeclared)
        case "tag" if scope.tags and name:
            return subject, "presence"
        case "metric" if scope.metrics and name:
            return _check_metric(members, subject, scope), "metric"
        case _:
            if subject:
                members.error("subject", "unknown_value", _known_subjects(scope))
            return subject, "any"


def _known_subjects(scope: Scope) -> str:
    others = [*(["question:ID"] if scope.questions else []), *(["tag:TAG"] if scope.tags else [])]
    others += ["metric:NAME"] if scope.metrics else []
    known = ", ".join(["questionnaire_metadata:NAME", "responder_metadata:NAME", *others])
    return f"Conditions cannot speak of this here. They know {known}."


def _by_key(scope: Scope, name: str) -> str:
    """The ids of a question, or of a part of one, whose keys or ids are given."""
    key, colon, part = name.partition(":")
    question_id = scope.keys.get(key, key)
    return scope.keys.get(f"{key}:{part}", f"{question_id}:{part}") if colon else question_id


_METRICS_OF_A_QUESTION: Final = ("nps", "csat", "ces", "mean")
_METRICS: Final = ("response", "completion")


def _check_metric(members: Members, subject: str, scope: Scope) -> str:
    _, metric, *rest = subject.split(":")
    if metric in _METRICS_OF_A_QUESTION and len(rest) == 1:
        known = rest[0] in scope.questions or (not scope.questions and ids.is_id(rest[0]))
        if not known:
            members.error("subject", "unknown_id", "There is no question with this id.")
    elif metric not in _METRICS or rest:
        members.error("subject", "unknown_value", "nps, csat, ces and mean want a question; response, completion none.")
    return subject


def _read_value(members: Members, operator: str, kind: Kind) -> object:
    if operator in _WITHOUT_VALUE:
        if members.take("value") is not None:
            members.error("value", "exclusive", "This operator takes no value.")
        return None
    value = members.take("value")
    if value is None:
        members.error("value", "required", "A value to compare with is required.")
    elif operator == "in" or (is_array(value) and operator in {"equal", "not_equal"}):
        if not is_array(value) or not 1 <= len(value) <= IN_VALUES_MAX:
            members.error("value", "wrong_type", f"A list of 1 to {IN_VALUES_MAX} values is expected.")
            return None
        for one in value:
            _check_value(members, one, operator, kind)
        return tuple(value)
    else:
        _check_value(members, value, operator, kind)
    return value


def _check_value(members: Members, value: object, operator: str, kind: Kind) -> None:
    if not isinstance(value, str | int | float):
        members.error("value", "wrong_type", "A text, a number, true or false is expected.")
    elif isinstance(value, str) and (len(value) > VALUE_CHARACTERS_MAX or not is_printable(value)):
        members.error("value", "too_long", f"At most {VALUE_CHARACTERS_MAX} printable characters are possible.")
    elif kind in _EXPECTED and not _is_of(kind, value):
        members.error("value", "wrong_type", f"{_EXPECTED[kind]} is expected here.")
    elif operator == "matches":
        _check_pattern(members, value)


_EXPECTED: Final[Mapping[Kind, str]] = {
    "integer": "A whole number",
    "integers": "A whole number",
    "number": "A number",
    "date": "A date such as 2026-11-21",
    "boolean": "true or false",
}


def _is_of(kind: Kind, value: object) -> bool:
    """Whether a value can equal what its subject gives. Metadata are texts, so numbers may be written as such."""
    match kind:
        case "integer" | "integers":
            return is_integer(value)
        case "number":
            return _number(value) is not None
        case "date":
            return is_date(value) or _date(value) is not None
        case "boolean":
            return _boolean(value) is not None
        case _:
            return True


def _check_pattern(members: Members, value: object) -> None:
    if not isinstance(value, str) or len(value) > PATTERN_CHARACTERS_MAX:
        members.error("value", "too_long", f"A pattern of at most {PATTERN_CHARACTERS_MAX} characters is expected.")
        return
    try:
        _pattern(value)
    except re2.error:
        members.error("value", "invalid_format", "This is no regular expression that RE2 can read.")
