"""Conditions as rows of a form: subject, comparison, value; a tree that rows cannot show stays a document."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from afterword.core.answers import values
from afterword.core.questionnaires.conditions import WITHOUT_VALUE, Kind, boolean_of
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.question_types import SCORES
from afterword.kit.texts import Marked, Texts

ROWS_MAX: Final = 20
BLANK_ROWS: Final = 2
INNER_MAX: Final = 4  # groups within the outer one
SUGGESTED_MAX: Final = 100
GROUPS: Final = ("all", "any")
_INNER: Final[Mapping[str, str]] = {"all": "any", "any": "all"}
COMPARISONS: Final[Mapping[str, Marked]] = {
    "equal": "is", "not_equal": "is not", "in": "is one of", "less_equal": "is at most", "less": "is less than",
    "greater_equal": "is at least", "greater": "is more than", "contains": "contains",
    "not_contains": "does not contain", "begins_with": "begins with", "ends_with": "ends with",
    "matches": "matches the pattern", "is_empty": "is not given", "is_not_empty": "is given",
}  # fmt: skip
_WHOLE: Final = re.compile(r"[+-]?\d{1,15}\Z", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?\d{1,12}[.,]\d{1,6}\Z", re.ASCII)
_NUMBERS: Final[frozenset[Kind]] = frozenset({"integer", "integers", "number", "metric"})


@dataclass(frozen=True, slots=True)
class Subject:
    """`key`: as conditions name it. `labels`: the choices of a question by their values, or yes and no.

    `seen`: values that arrived lately, each with its count.
    """

    key: str
    text: str
    kind: Kind
    group: str = ""
    labels: Mapping[int, str] = field(default_factory=dict[int, str])
    is_quoted: bool = True  # in sentences: it is somebody's text
    seen: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """`place`: 0 in the outer group, else the number of the group within it.

    Where all of the outer group must hold, one of an inner group is enough, and the other way round.
    """

    subject: str = ""
    operator: str = ""
    value: str = ""
    place: int = 0


# The rows of a group, each with the number of its fields.
Fieldset = tuple[int, Sequence[tuple[int, Row]]]
Subjects = Mapping[str, Subject]
Document = Mapping[str, Any]


def subjects_of(words: Texts, *, definitions: Sequence[Definition], declared: Declared) -> Subjects:
    found: list[Subject] = []
    answers, numbers = words("Answers"), words("Figures of thirty days")
    yes: Mapping[int, str] = {True: words("yes"), False: words("no")}
    for question in (each for definition in definitions for each in definition.questions() if each.is_answered):
        labels: Mapping[int, str] = {one.value: one.label for one in question.choices}
        rows = {
            f"{question.question_id}:{row.row_id}": f"{question.plain_title} · {row.label}" for row in question.rows
        }
        for name, kind in question.kinds.items():
            text = rows.get(name, question.plain_title)
            if ":" not in name or name in rows:
                found.append(Subject(f"question:{name}", text, kind, answers, yes if kind == "boolean" else labels))
        if (score := SCORES.get(question.type)) is not None:
            text = f"{score.label} · {question.plain_title}"
            found.append(Subject(f"metric:{question.type}:{question.question_id}", text, "metric", numbers))
    for group, members, title in (
        ("questionnaire_metadata", declared.questionnaire, words("Of the order")),
        ("responder_metadata", declared.responder, words("Of the person")),
    ):
        for name, one in members.items():
            labels = yes if one.type == "boolean" else {}
            found.append(Subject(f"{group}:{name}", one.title_in(words), one.type, title, labels))
    for metric, title in (("response", words("Answered, of sent")), ("completion", words("Completed, of started"))):
        found.append(Subject(f"metric:{metric}", title, "metric", numbers))
    return {one.key: one for one in found}


def with_named(subjects: Subjects, document: object) -> Subjects:
    """The subjects, and those that only the document names: tags, and metadata that nobody declared."""
    kinds: Mapping[str, Kind] = {"tag": "presence", "questionnaire_metadata": "text", "responder_metadata": "text"}
    named = {
        key: Subject(key, key.partition(":")[2], kinds[key.partition(":")[0]], "")
        for key in _named(document)
        if key.partition(":")[0] in kinds
    }
    return {**named, **subjects}


def with_seen(words: Texts, subjects: Subjects, seen: Mapping[str, Sequence[tuple[str, int]]]) -> Subjects:
    """The subjects with the values that arrived lately, by subject; names that nobody declared come after them."""
    others = {
        key: Subject(key, key.partition(":")[2], "text", words("Seen, not declared"))
        for key in seen
        if key not in subjects
    }
    return {
        key: replace(one, seen=seen.get(key, ())) if not one.labels else one
        for key, one in {**subjects, **others}.items()
    }


def grouped(subjects: Subjects) -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
    groups = dict.fromkeys(one.group for one in subjects.values())
    return [(group, [(key, one.text) for key, one in subjects.items() if one.group == group]) for group in groups]


def suggestions(words: Texts, subjects: Subjects) -> Sequence[tuple[str, str]]:
    """Suggestions for values, each with a note: the choices of questions, and what was seen of other subjects."""
    found = {label: "" for one in subjects.values() for label in one.labels.values()}
    for one in subjects.values():
        for value, count in one.seen:
            found.setdefault(value, f"{one.text} · {words.plural('seen {n} time', 'seen {n} times', count)}")
    return list(found.items())[:SUGGESTED_MAX]


def typed_rows(text: Callable[[str], str]) -> list[Row]:
    places = {str(place): place for place in range(INNER_MAX + 1)}
    return [
        Row(
            *(text(f"{name}-{index}") for name in ("subject", "operator", "value")),
            place=places.get(text(f"place-{index}"), 0),
        )
        for index in range(ROWS_MAX)
    ]


def shown_rows(rows: Iterable[Row]) -> Sequence[Fieldset]:
    """The rows by their groups: those that are filled, and some to fill, also for one more group."""
    filled, places = _in_order(rows)
    filled = [replace(row, place=places.index(row.place)) for row in filled]
    blanks = [Row()] * BLANK_ROWS + [Row(place=place) for place in range(1, len(places))]
    if len(places) <= INNER_MAX:
        blanks += [Row(place=len(places))] * BLANK_ROWS
    numbered = list(enumerate([*filled, *blanks][:ROWS_MAX]))
    groups = [(place, [each for each in numbered if each[1].place == place]) for place in range(len(places) + 1)]
    return [group for group in groups if group[1]]


def place_of(parts: Sequence[str], rows: Iterable[Row] = ()) -> str:
    """The field of a row for an error in the condition of these rows, whose pointer has these parts below it."""
    numbers = [int(part) for part in parts if part.isdigit()][:2]
    member = parts[-1] if parts and parts[-1] in {"subject", "operator"} else "value"
    filled, places = _in_order(rows)
    group = numbers[0] - sum(not row.place for row in filled) + 1 if numbers else 0
    if len(numbers) > 1 and 0 < group < len(places):
        numbers[0] = [row.place for row in filled].index(places[group])
    return f"{member}-{sum(numbers)}"


def rows_of(document: object, subjects: Subjects) -> tuple[str, list[Row]] | None:
    if document is None:
        return "all", []
    if not isinstance(document, dict):
        return None
    group = next((name for name in GROUPS if name in document), "")
    nodes = document[group] if group else [document]
    if not isinstance(nodes, list):  # of a draft, which may be wrong
        return None
    group = group or "all"
    inner = [node for node in nodes if isinstance(node, dict) and isinstance(node.get(_INNER[group]), list)]
    outer = [node for node in nodes if node not in inner]
    places = [(0, node) for node in outer]
    places += [(place, leaf) for place, node in enumerate(inner, 1) for leaf in node[_INNER[group]]]
    rows = [
        Row(
            str(leaf["subject"]),
            str(leaf.get("operator")),
            _text_of(leaf.get("value"), subjects.get(leaf["subject"])),
            place,
        )
        for place, leaf in places
        if isinstance(leaf, dict) and isinstance(leaf.get("subject"), str)
    ]
    # Rows put inner groups last; the order changes nothing of what a condition says.
    is_same = document_of(group, rows, subjects) == {group: [*outer, *inner]}
    is_shown = is_same and len(inner) <= INNER_MAX and all(row.subject in subjects for row in rows)
    return (group, rows) if is_shown and 0 < len(rows) <= ROWS_MAX else None


def document_of(group: str, rows: Iterable[Row], subjects: Subjects) -> dict[str, Any] | None:
    """The condition of the rows, without those that have no subject; None where none has."""
    filled, places = _in_order(rows)
    leaves: dict[int, list[dict[str, Any]]] = {place: [] for place in places}
    for row in filled:
        leaf: dict[str, Any] = {"subject": row.subject, "operator": row.operator}
        if row.operator not in WITHOUT_VALUE:
            leaf["value"] = _value_of(row, subjects.get(row.subject))
        leaves[row.place].append(leaf)
    group = group if group in GROUPS else "all"
    nodes = [*leaves.pop(0), *({_INNER[group]: inner} for inner in leaves.values())]
    return {group: nodes} if nodes else None


def sentence_of(words: Texts, document: object, subjects: Subjects) -> str:
    """The condition in words; of one with a subject that is not known only that there is one."""
    if document is None:
        return words("each response")
    return _phrase(words, document, subjects) or words("by a condition")


def choice_of(text: str, subject: Subject | None) -> str:
    """A single value as it is stored; `choice_text` gives the text back."""
    return str(_one_of(text, subject.kind if subject else "any", subject.labels if subject else {}))


def choice_text(value: str, subject: Subject | None) -> str:
    return _text_of(int(value) if _WHOLE.match(value) else value, subject)


def _phrase(words: Texts, node: object, subjects: Subjects, *, is_inner: bool = False) -> str:
    """A comparison, or those of a group, in brackets inside of another one; empty where words cannot show it."""
    if not isinstance(node, dict):
        return ""
    if "not" in node:
        inner = _phrase(words, node["not"], subjects, is_inner=True)
        return inner and words("not {condition}", condition=inner)
    group = next((name for name in GROUPS if name in node), None)
    if group is None:
        subject = subjects.get(str(node.get("subject")))
        return _comparison(words, node, subject) if subject else ""
    nodes = node[group] if isinstance(node[group], list) else []
    parts = [_phrase(words, each, subjects, is_inner=True) for each in nodes]
    joint = words("and") if group == "all" else words("or")
    text = f" {joint} ".join(parts) if all(parts) else ""
    return f"({text})" if is_inner and len(parts) > 1 and text else text


def _comparison(words: Texts, leaf: Document, subject: Subject) -> str:
    operator = str(leaf.get("operator"))
    text = words(COMPARISONS[operator]) if operator in COMPARISONS else ""
    name = f"“{subject.text}”" if subject.is_quoted else subject.text
    return text and f"{name} {text} {_text_of(leaf.get('value'), subject)}".strip()


def _in_order(rows: Iterable[Row]) -> tuple[list[Row], list[int]]:
    filled = sorted((row for row in rows if row.subject), key=lambda row: row.place)
    return filled, list(dict.fromkeys([0, *(row.place for row in filled)]))


def _value_of(row: Row, subject: Subject | None) -> object:
    """The value as conditions have it: numbers as such, choices by their labels."""
    kind: Kind = subject.kind if subject else "any"
    labels = subject.labels if subject else {}
    if row.operator == "in":
        return [_one_of(part.strip(), kind, labels) for part in row.value.split(",") if part.strip()] or None
    return _one_of(row.value, kind, labels) if row.value else None


def _one_of(text: str, kind: Kind, labels: Mapping[int, str]) -> object:
    folded = text.casefold()
    for value, label in labels.items():
        if label.casefold() == folded:
            return value
    if kind in _NUMBERS and _WHOLE.match(text):
        return int(text)
    if kind in _NUMBERS and _DECIMAL.match(text):
        return float(Decimal(text.replace(",", ".")))
    if kind in {"time", "date_time"}:
        return values.read_time(text) if kind == "time" else values.read_date_time(text)
    found = boolean_of(text) if kind == "boolean" else None
    return text if found is None else found


def _text_of(value: object, subject: Subject | None) -> str:
    if isinstance(value, list):
        return ", ".join(_text_of(one, subject) for one in value)
    labels = subject.labels if subject else {}
    if isinstance(value, int) and value in labels:
        return labels[value]
    if subject is not None and subject.kind == "boolean" and boolean_of(value) is not None:
        return labels.get(bool(boolean_of(value)), str(value))
    return "" if value is None else str(value)


def _named(document: object) -> set[str]:
    if isinstance(document, dict):
        own = {document["subject"]} if isinstance(document.get("subject"), str) else set[str]()
        return own.union(*(_named(value) for value in document.values()))
    return set[str]().union(*(_named(one) for one in document)) if isinstance(document, list) else set()
