"""Conditions as rows of a form: subject, comparison, value; a tree that rows cannot show stays a document."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from afterword.core.answers import values
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import COLUMN, WITHOUT_VALUE, Kind, Scope, boolean_of
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.metadata import Declared
from afterword.core.questionnaires.question_types import SCORES, Question
from afterword.core.reading.findings import Findings
from afterword.errors import FieldError
from afterword.kit.texts import Marked, Texts

ROWS_MAX: Final = 20
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
# Ready values of scores: parts of their segments with more than one key.
RANGES: Final[Mapping[str, Mapping[Marked, tuple[int, int]]]] = {
    "nps": {"0 to 6 (detractors)": (0, 6), "7 to 8 (passives)": (7, 8), "9 to 10 (promoters)": (9, 10)},
    "csat": {"1 to 2 (dissatisfied)": (1, 2), "4 to 5 (satisfied)": (4, 5)},
    "ces": {"1 to 3 (hard)": (1, 3), "5 to 7 (easy)": (5, 7)},
}
_WHOLE: Final = re.compile(r"[+-]?\d{1,15}\Z", re.ASCII)
_DECIMAL: Final = re.compile(r"[+-]?\d{1,12}[.,]\d{1,6}\Z", re.ASCII)
_NUMBERS: Final[frozenset[Kind]] = frozenset({"integer", "integers", "number", "metric"})


class Subject(msgspec.Struct, frozen=True):
    """`key`: as conditions name it. `labels`: the choices of a question by their values, or yes and no.

    `seen`: values that arrived lately, each with its count. `limits`: the lowest and the highest value, empty where
    there is none. `scale`: all values of a question with keys. `ranges`: ready values with their ends.
    """

    key: str
    text: str
    kind: Kind
    group: str = ""
    labels: Mapping[int, str] = msgspec.field(default_factory=dict[int, str])
    is_quoted: bool = True  # in sentences: it is somebody's text
    seen: Sequence[tuple[str, int]] = ()
    limits: tuple[str, str] = ("", "")
    scale: range = range(0)
    ranges: Mapping[str, tuple[int, int]] = msgspec.field(default_factory=dict[str, tuple[int, int]])


class Row(msgspec.Struct, frozen=True):
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
                subject = Subject(f"question:{name}", text, kind, answers, yes if kind == "boolean" else labels)
                found.append(subject if name in rows else replace(subject, **_measures(words, question)))
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


def _measures(words: Texts, question: Question) -> dict[str, Any]:
    """The limits of a question's answers, and its ready values."""
    scale = question.scale
    numbers = (scale[0], scale[-1]) if scale else (question.number_min, question.number_max)
    dates = (question.date_min, question.date_max)
    return {
        "limits": tuple(
            str(number) if number is not None else date or "" for number, date in zip(numbers, dates, strict=True)
        ),
        "scale": scale,
        "ranges": {words(text): ends for text, ends in RANGES.get(question.type, {}).items()},
    }


def of_columns(names: Iterable[str]) -> Subjects:
    """The columns of a file, whose cells are texts."""
    return {f"{COLUMN}{name}": Subject(f"{COLUMN}{name}", name, "text") for name in names if name}


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


def offered(words: Texts, subjects: Subjects) -> list[dict[str, Any]]:
    """The kind, the limits and the values of each subject, as far as a list of them can be shown.

    Each value has a note, and whether it is a ready range. `is_closed`: there are no other values.
    """
    return [
        {
            "key": one.key,
            "kind": one.kind,
            "limits": one.limits,
            "is_closed": bool(one.labels or one.scale),
            "values": [
                *((text, "", True) for text in one.ranges),
                *((text, "", False) for text in one.labels.values() or map(str, one.scale)),
                *((text, words.plural("seen {n} time", "seen {n} times", count), False) for text, count in one.seen),
            ],
        }
        for one in subjects.values()
        if len(one.labels) <= SUGGESTED_MAX
    ]


def faults(words: Texts, rows: Iterable[Row], subjects: Subjects) -> list[FieldError]:
    """The rows whose comparison or value does not fit their subject, at the fields that they are shown with."""
    answers = {key.removeprefix("question:"): one for key, one in subjects.items() if key.startswith("question:")}
    scope = Scope(
        questions={name: one.kind for name, one in answers.items()},
        values={name: one.labels or one.scale for name, one in answers.items()},
        metadata={key: one.kind for key, one in subjects.items()},
        undeclared="text",
        tags=True,
        columns=[key.removeprefix(COLUMN) for key in subjects if key.startswith(COLUMN)] or None,
    )
    found: list[FieldError] = []
    for number, row in enumerate(_in_order(rows)[0]):
        findings = Findings()
        subject = subjects.get(row.subject)
        if subject and subject.kind != "metric":
            conditions.read(_leaf(row, subject), "", findings, scope)
            if not findings.found and subject.scale and _WHOLE.match(row.value) and int(row.value) not in subject.scale:
                findings.error("/value", "out_of_range", "The question has no answer of this value.")
        for one in findings.found:
            if one.severity == "error":
                member = one.path.strip("/").partition("/")[0] or "value"
                text = _expected(words, subject) if member == "value" and row.value else ""
                found.append(FieldError(one.code, text or one.message, pointer=f"/{member}-{number}"))
    return found


def _expected(words: Texts, subject: Subject | None) -> str:
    if subject is None or subject.kind not in {"integer", "integers", "number"}:
        return ""
    if subject.labels:
        return words("Choose one of the answers of this question.")
    low, high = subject.limits
    return words("A number from {low} to {high} is expected.", low=low, high=high) if low and high else ""


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
    """The rows by their groups: those that are filled, and one to fill for each group and for a new one.

    A form without any has one more to begin with.
    """
    filled, places = _in_order(rows)
    filled = [replace(row, place=places.index(row.place)) for row in filled]
    blanks = [Row()] * (1 if filled else 2) + [Row(place=place) for place in range(1, len(places))]
    if len(places) <= INNER_MAX:
        blanks.append(Row(place=len(places)))
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
        _row_of(leaf, subjects.get(leaf["subject"]), place)
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
        leaves[row.place].append(_leaf(row, subjects.get(row.subject)))
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
    row = _row_of(leaf, subject, 0)
    text = words(COMPARISONS[row.operator]) if row.operator in COMPARISONS else ""
    name = words("“{title}”").replace("{title}", subject.text) if subject.is_quoted else subject.text
    return text and f"{name} {text} {row.value}".strip()


def _in_order(rows: Iterable[Row]) -> tuple[list[Row], list[int]]:
    filled = sorted((row for row in rows if row.subject), key=lambda row: row.place)
    return filled, list(dict.fromkeys([0, *(row.place for row in filled)]))


def _row_of(leaf: Document, subject: Subject | None, place: int) -> Row:
    operator, value = str(leaf.get("operator")), leaf.get("value")
    if subject:
        for text, ends in subject.ranges.items():
            if (operator, value) == _within(ends, subject):
                return Row(str(leaf.get("subject")), "equal", text, place)
    return Row(str(leaf.get("subject")), operator, _text_of(value, subject), place)


def _leaf(row: Row, subject: Subject | None) -> dict[str, Any]:
    leaf: dict[str, Any] = {"subject": row.subject, "operator": row.operator}
    if subject and row.operator == "equal" and row.value in subject.ranges:
        leaf["operator"], leaf["value"] = _within(subject.ranges[row.value], subject)
    elif row.operator not in WITHOUT_VALUE:
        leaf["value"] = _value_of(row, subject)
    return leaf


def _within(ends: tuple[int, int], subject: Subject) -> tuple[str, object]:
    """The comparison of a ready range: at most or at least where it reaches an end of the scale."""
    low, high = ends
    scale = subject.scale
    if low == scale[0]:
        return "less_equal", high
    return ("greater_equal", low) if high == scale[-1] else ("in", [*range(low, high + 1)])


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
