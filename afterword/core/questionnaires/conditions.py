"""One condition tree (all, any, not, leaves) for jumps, pipelines, alerts and filters: its evaluation and its reader.

Facts are a mapping from subject
(`question:{question_id}`, `responder_metadata:{name}`) to a typed value; a subject that is not in it, null, blank or an
empty array is missing. Regular expressions run on RE2, in linear time.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec
import re2

from afterword import errors, ids
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.documents import BOOLEANS, Members, is_array, is_integer, is_object, is_printable
from afterword.core.reading.findings import Findings
from afterword.errors import Sentence

PATTERN_BYTES_MAX = 1 << 20

Facts = Mapping[str, object]


class Leaf(msgspec.Struct, frozen=True):
    subject: str
    operator: str
    value: object = None
    window_days: int | None = None

    @property
    def fact(self) -> str:
        """The name of the compared fact: with the days of a metric, since two windows of one metric may be compared."""
        return self.subject if self.window_days is None else f"{self.subject} {self.window_days}"


class All(msgspec.Struct, frozen=True):
    """True when every node is; true when there is none."""

    nodes: "tuple[Node, ...]"


class AnyOf(msgspec.Struct, frozen=True):
    """True when one node is; false when there is none."""

    nodes: "tuple[Node, ...]"


class Not(msgspec.Struct, frozen=True):
    node: "Node"


Node = Leaf | All | AnyOf | Not


class LeafResult(msgspec.Struct, frozen=True):
    subject: str
    operator: str
    value: object
    actual: object
    matches: bool

    @property
    def document(self) -> dict[str, Any]:
        return {name: _plain(getattr(self, name)) for name in self.__struct_fields__}


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


DEPTH_MAX = 5
LEAVES_MAX = 50
VALUE_CHARACTERS_MAX = 500
PATTERN_CHARACTERS_MAX = 200
IN_VALUES_MAX = 100
WINDOW_DAYS_MAX = 90
NAME_CHARACTERS_MAX = 255
COLUMN: Final = "column:"  # begins the subjects of a file
OUTCOMES = ("cause", "remedy")  # of the case of a response

# The kind of a subject's value. `presence`: there or not; `any`: not known beforehand.
Kind = Literal[
    "integer", "integers", "number", "text", "date", "time", "date_time", "boolean", "presence", "metric", "any"
]  # fmt: skip


class Scope(msgspec.Struct, frozen=True):
    """The subjects that leaves may name in one use of conditions.

    `questions`: kind of answer by question id, and by `{question_id}:{row_id}` for the parts of an answer; `keys`: the
    same ids by the author's keys; `values`: by question id the values of its choices or scale, as far as they are
    checked; `columns`: of a file, where nothing else may be named;
    `metadata`: the declared types by subject, such as `responder_metadata:age`;
    `undeclared`: the kind of other names, `text` where the declarations are known, since they are kept as text;
    `metrics`: those of a question, None where none may be named.
    """

    questions: Mapping[str, Kind] = msgspec.field(default_factory=dict[str, Kind])
    keys: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    values: Mapping[str, Collection[int]] = msgspec.field(default_factory=dict[str, Collection[int]])
    metadata: Mapping[str, Kind] = msgspec.field(default_factory=dict[str, Kind])
    undeclared: Kind = "any"
    tags: bool = False
    metrics: Collection[str] | None = None
    cases: bool = False
    columns: Collection[str] | None = None


METADATA_ONLY: Final = Scope()


def scope_of(declared: Declared | None) -> Scope:
    """Conditions over metadata alone, checked by their declared types; a name that is not declared is text."""
    return METADATA_ONLY if declared is None else Scope(metadata=declared.types, undeclared="text")


def read(document: object, path: str, findings: Findings, scope: Scope = METADATA_ONLY) -> Node | None:
    """The tree of a JSON document (null: None); everything wrong goes to `findings`, the broken node reads as true."""
    if document is None:
        return None
    node = _read(document, path, findings, scope, depth=1)
    if len(leaves_of(node)) > LEAVES_MAX:
        findings.error(path, "too_many", Sentence("At most {n} comparisons are possible.", n=LEAVES_MAX))
    return node


class _Ids(dict[str, Kind]):
    def __contains__(self, _: object) -> bool:
        return True


ANY_QUESTION: Final = Scope(questions=_Ids(), tags=True, cases=True)
"""Of many questionnaires: a question that one lacks has no answer there."""


def read_parameter(text: str | None) -> object:
    """The condition of a `filter` parameter, not yet checked. Raises Invalid."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        raise errors.Invalid.in_query("filter", "invalid_format", "A condition as JSON is expected.") from None


def read_saved(document: object) -> Node | None:
    """The tree of conditions that were checked when they were saved; a question that has gone since has no answers."""
    return read(document, "", Findings(), Scope(questions=_Ids(), tags=True, metrics=_Ids()))


_GROUPS: Final = ("all", "any", "not")
_SAME: Final = frozenset({"equal", "not_equal", "in"})
_IN_ORDER: Final = _SAME | {"greater", "greater_equal", "less", "less_equal"}
_BY_KIND: Final[Mapping[Kind, frozenset[str]]] = {
    "integer": _IN_ORDER, "integers": _SAME | {"contains", "not_contains"}, "number": _IN_ORDER,
    "text": _SAME | {"contains", "not_contains", "begins_with", "ends_with", "matches"}, "date": _IN_ORDER,
    "time": _IN_ORDER | {"begins_with"}, "date_time": _IN_ORDER | {"begins_with"}, "boolean": _SAME,
    "presence": frozenset(),
}  # fmt: skip
_BY_KIND_OF_FORMS: Final[Mapping[Kind, frozenset[str]]] = {**_BY_KIND, "metric": _IN_ORDER}
_EVERY: Final = frozenset(OPERATORS)


def kinds_of(operator: str) -> list[Kind]:
    """The kinds of subjects that forms offer this comparison for."""
    return [kind for kind, allowed in _BY_KIND_OF_FORMS.items() if operator in allowed | WITHOUT_VALUE]


_TRUE: Final = All(())


def _read(document: object, path: str, findings: Findings, scope: Scope, *, depth: int) -> Node:
    if depth > DEPTH_MAX:
        findings.error(path, "too_many", Sentence("Conditions are nested more than {n} deep.", n=DEPTH_MAX))
        return _TRUE
    if not is_object(document):
        findings.error(path, "wrong_type", "A condition is an object: all, any, not, or a comparison.")
        return _TRUE
    group = next((name for name in _GROUPS if name in document), None)
    if group is None:
        return _read_leaf(Members(document, path, findings), scope)
    if len(document) > 1:
        findings.error(path, "exclusive", "A condition has one of all, any and not, and nothing beside it.")
    below = f"{path}/{group}"
    if group == "not":
        return Not(_read(document[group], below, findings, scope, depth=depth + 1))
    nodes = document[group]
    if not is_array(nodes) or len(nodes) > LEAVES_MAX:
        findings.error(below, "wrong_type", Sentence("A list of at most {n} conditions is expected.", n=LEAVES_MAX))
        nodes = ()
    read_nodes = tuple(
        _read(node, f"{below}/{index}", findings, scope, depth=depth + 1) for index, node in enumerate(nodes)
    )
    return All(read_nodes) if group == "all" else AnyOf(read_nodes)


def _read_leaf(members: Members, scope: Scope) -> Node:
    found_before = len(members.findings.found)
    subject, kind = _read_subject(members, scope) if scope.columns is None else _read_column(members, scope.columns)
    operator = members.required_text("operator", 1, 50)
    if operator and operator not in OPERATORS:
        members.error(
            "operator", "unknown_value", Sentence("One of {values} is expected.", values=", ".join(OPERATORS))
        )
    elif operator and operator not in WITHOUT_VALUE | _BY_KIND.get(kind, _EVERY):
        members.error("operator", "wrong_type", _operator_message(kind))
    value = _read_value(members, operator, kind)
    if operator in _SAME | {"contains", "not_contains"}:
        _check_known(members, value, scope.values.get(subject.partition(":")[2]))
    window_days = members.optional_integer("window_days", 1, WINDOW_DAYS_MAX) if kind == "metric" else None
    members.finish()
    # A full list of findings stops growing, but then the document is refused in any case.
    if len(members.findings.found) > found_before:
        return _TRUE
    if scope.undeclared == "text" and "_metadata:" in subject and subject not in scope.metadata:
        message = "This name is not declared: it is compared as text, and public links drop it."
        members.findings.warning(members.pointer("subject"), "undeclared_metadata", message)
    return Leaf(subject, operator, value, window_days)


def _operator_message(kind: Kind) -> str:
    if kind == "presence":
        return "This is there or not: is_empty or is_not_empty."
    allowed = _BY_KIND[kind] | WITHOUT_VALUE
    operators = ", ".join(one for one in OPERATORS if one in allowed)
    if kind == "text":
        text = "What stands here is compared by {operators}. A name that is not declared is a text."
    else:
        text = "What stands here is compared by {operators}."
    return Sentence(text, operators=operators)


def _read_subject(members: Members, scope: Scope) -> tuple[str, Kind]:
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
        case "case" if scope.cases and name in OUTCOMES:
            return subject, "text"
        case "metric" if scope.metrics is not None and name:
            return _check_metric(members, subject, scope), "metric"
        case _:
            if subject:
                members.error("subject", "unknown_value", _known_subjects(scope))
            return subject, "any"


def _read_column(members: Members, columns: Collection[str]) -> tuple[str, Kind]:
    subject = members.required_text("subject", 1, 300)
    if subject and subject.removeprefix(COLUMN) not in (columns if subject.startswith(COLUMN) else ()):
        members.error("subject", "unknown_column", "The file's header has no such column.")
    return subject, "text"


def _known_subjects(scope: Scope) -> str:
    others = [*(["question:ID"] if scope.questions else []), *(["tag:TAG"] if scope.tags else [])]
    others += [] if scope.metrics is None else ["metric:NAME"]
    others += [f"case:{name}" for name in OUTCOMES] if scope.cases else []
    known = ", ".join(["questionnaire_metadata:NAME", "responder_metadata:NAME", *others])
    return Sentence("Conditions cannot speak of this here. They know {known}.", known=known)


def _by_key(scope: Scope, name: str) -> str:
    """The ids of a question, or of a part of one, whose keys or ids are given."""
    key, colon, part = name.partition(":")
    question_id = scope.keys.get(key, key)
    return scope.keys.get(f"{key}:{part}", f"{question_id}:{part}") if colon else question_id


_METRICS: Final = ("response", "completion")


def _check_metric(members: Members, subject: str, scope: Scope) -> str:
    _, metric, *rest = subject.split(":")
    if scope.metrics is not None and metric in scope.metrics and len(rest) == 1:
        known = rest[0] in scope.questions or (not scope.questions and ids.is_id(rest[0]))
        if not known:
            members.error("subject", "unknown_id", "There is no question with this id.")
    elif metric not in _METRICS or rest:
        members.error("subject", "unknown_value", "nps, csat, ces and mean want a question; response, completion none.")
    return subject


def _read_value(members: Members, operator: str, kind: Kind) -> object:
    if operator in WITHOUT_VALUE:
        if members.take("value") is not None:
            members.error("value", "exclusive", "This operator takes no value.")
        return None
    value = members.take("value")
    if value is None:
        members.error("value", "required", "A value to compare with is required.")
    elif operator == "in" or (is_array(value) and operator in {"equal", "not_equal"}):
        if not is_array(value) or not 1 <= len(value) <= IN_VALUES_MAX:
            members.error("value", "wrong_type", Sentence("A list of 1 to {n} values is expected.", n=IN_VALUES_MAX))
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
        members.error(
            "value", "too_long", Sentence("At most {n} printable characters are possible.", n=VALUE_CHARACTERS_MAX)
        )
    elif kind in _EXPECTED and operator != "begins_with" and not _EXPECTED[kind][1](value):
        members.error("value", "wrong_type", _EXPECTED[kind][0])
    elif operator == "matches":
        _check_pattern(members, value)


def _check_known(members: Members, value: object, known: Collection[int] | None) -> None:
    for one in value if is_array(value) else [value]:
        if known and is_integer(one) and one not in known:
            members.error("value", "unknown_value", "The question has no answer of this value.")


# The sentence of a kind's wrong values, and their check. Metadata are texts, so numbers may be written as such.
_EXPECTED: Final[Mapping[Kind, tuple[str, Callable[[object], bool]]]] = {
    "integer": ("A whole number is expected here.", is_integer),
    "integers": ("A whole number is expected here.", is_integer),
    "number": ("A number is expected here.", lambda value: number_of(value) is not None),
    "date": ("A date such as 2026-11-21 is expected here.", lambda value: date_of(value) is not None),
    "time": ("A time such as 09:30 is expected here.", lambda value: time_of(value) is not None),
    "date_time": (
        "A date, or one with a time such as 2026-11-21T09:30, is expected here.",
        lambda value: date_of(value) is not None,
    ),
    "boolean": ("true or false is expected here.", lambda value: boolean_of(value) is not None),
}


def _check_pattern(members: Members, value: object) -> None:
    if not isinstance(value, str) or len(value) > PATTERN_CHARACTERS_MAX:
        members.error(
            "value", "too_long", Sentence("A pattern of at most {n} characters is expected.", n=PATTERN_CHARACTERS_MAX)
        )
        return
    try:
        pattern_of(value)
    except re2.error:
        members.error("value", "invalid_format", "This is no regular expression that RE2 can read.")
