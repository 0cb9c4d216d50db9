"""Conditions as authors write them: the tree of a JSON document, checked against the subjects that its use has."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import re2

from afterword import ids
from afterword.core.questionnaires.conditions import (
    OPERATORS,
    WITHOUT_VALUE,
    All,
    AnyOf,
    Leaf,
    Node,
    Not,
    boolean_of,
    date_of,
    leaves_of,
    number_of,
    pattern_of,
    time_of,
)
from afterword.core.questionnaires.metadata import Declared
from afterword.core.reading.documents import Members, is_array, is_integer, is_object, is_printable
from afterword.core.reading.findings import Findings
from afterword.errors import Sentence

DEPTH_MAX = 5
LEAVES_MAX = 50
VALUE_CHARACTERS_MAX = 500
PATTERN_CHARACTERS_MAX = 200
IN_VALUES_MAX = 100
WINDOW_DAYS_MAX = 90
NAME_CHARACTERS_MAX = 255
OUTCOMES = ("cause", "remedy")  # of the case of a response

# The kind of a subject's value. `presence`: there or not; `any`: not known beforehand.
Kind = Literal[
    "integer", "integers", "number", "text", "date", "time", "date_time", "boolean", "presence", "metric", "any"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scope:
    """The subjects that leaves may name in one use of conditions.

    `questions`: kind of answer by question id, and by `{question_id}:{row_id}` for the parts of an answer; `keys`: the
    same ids by the author's keys; `values`: by question id the values of its choices or scale, as far as they are
    checked; `metadata`: the declared types by subject, such as `responder_metadata:age`;
    `undeclared`: the kind of other names, `text` where the declarations are known, since they are kept as text.
    """

    questions: Mapping[str, Kind] = field(default_factory=dict[str, Kind])
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Mapping[str, Collection[int]] = field(default_factory=dict[str, Collection[int]])
    metadata: Mapping[str, Kind] = field(default_factory=dict[str, Kind])
    undeclared: Kind = "any"
    tags: bool = False
    metrics: bool = False
    cases: bool = False


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


def read_saved(document: object) -> Node | None:
    """The tree of conditions that were checked when they were saved; a question that has gone since has no answers."""
    return read(document, "", Findings(), Scope(questions=_Ids(), tags=True, metrics=True))


_GROUPS: Final = ("all", "any", "not")
_SAME: Final = frozenset({"equal", "not_equal", "in"})
_IN_ORDER: Final = _SAME | {"greater", "greater_equal", "less", "less_equal"}
_BY_KIND: Final[Mapping[Kind, frozenset[str]]] = {
    "integer": _IN_ORDER, "integers": _SAME | {"contains", "not_contains"}, "number": _IN_ORDER,
    "text": _SAME | {"contains", "not_contains", "begins_with", "ends_with", "matches"}, "date": _IN_ORDER,
    "time": _IN_ORDER | {"begins_with"}, "date_time": _IN_ORDER | {"begins_with"}, "boolean": _SAME,
    "presence": frozenset(),
}  # fmt: skip
_EVERY: Final = frozenset(OPERATORS)
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
    subject, kind = _read_subject(members, scope)
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
        case "case" if scope.cases and name in OUTCOMES:
            return subject, "text"
        case "metric" if scope.metrics and name:
            return _check_metric(members, subject, scope), "metric"
        case _:
            if subject:
                members.error("subject", "unknown_value", _known_subjects(scope))
            return subject, "any"


def _known_subjects(scope: Scope) -> str:
    others = [*(["question:ID"] if scope.questions else []), *(["tag:TAG"] if scope.tags else [])]
    others += ["metric:NAME"] if scope.metrics else []
    others += [f"case:{name}" for name in OUTCOMES] if scope.cases else []
    known = ", ".join(["questionnaire_metadata:NAME", "responder_metadata:NAME", *others])
    return Sentence("Conditions cannot speak of this here. They know {known}.", known=known)


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
