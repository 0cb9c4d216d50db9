"""A survey of LimeSurvey as its files have it: XML (`.lss`) of one table after the other, or one table (`.txt`).

Files of 2.x have a row of each text for each language, later ones have the texts in tables of their own (`l10ns`).
Subquestions stand in a table of their own, or among the questions with a `parent_qid`. The rows of a `.txt` are read
into the tables of 2.x, so that both become a survey in the same way.
"""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from afterword.core.foreign.parts import unreadable
from afterword.core.reading import elements
from afterword.errors import Sentence

ROWS_MAX: Final = 100_000
QUESTIONS_MAX: Final = 1_000
PARTS_MAX: Final = 500  # rows of a question
CELL_CHARACTERS_MAX: Final = 500_000
NOT_ONE: Final = "This is not a whole survey of LimeSurvey."
Texts = dict[str, str]  # by language, "" for all languages
Row = dict[str, str]
Tables = defaultdict[str, list[Row]]

_NONE: Final = frozenset(("", "0"))  # of the number of a question above
_TEXTS: Final = frozenset((
    "group_name", "description", "question", "help", "answer", "other_replace_text", "dualscale_headerA",
    "dualscale_headerB",
))  # fmt: skip
_CLASSES: Final[Mapping[str, tuple[str, Row]]] = {  # of rows of a `.txt`: tables, and names of columns, of an `.lss`
    "G": ("groups", {"name": "group_name", "text": "description", "relevance": "grelevance"}),
    "Q": ("questions", {"name": "title", "text": "question", "type/scale": "type", "validation": "preg"}),
    "SQ": ("subquestions", {"name": "title", "text": "question", "type/scale": "scale_id"}),
    "A": ("answers", {"name": "code", "text": "answer", "type/scale": "scale_id", "relevance": "assessment_value"}),
}


class Thing(msgspec.Struct):
    """A group, a question, a subquestion, an answer or a quota: its columns, and its texts by their names.

    `inside`: of a group its questions, of a question its subquestions. Settings of a question are texts or columns.
    """

    columns: Row = msgspec.field(default_factory=Row)
    texts: defaultdict[str, Texts] = msgspec.field(default_factory=lambda: defaultdict[str, Texts](Texts))
    inside: list["Thing"] = msgspec.field(default_factory=list["Thing"])
    answers: list["Thing"] = msgspec.field(default_factory=list["Thing"])

    def __getitem__(self, name: str) -> str:
        return self.columns.get(name, "")

    @property
    def code(self) -> str:
        return self["title"] or self["code"]

    @property
    def scale(self) -> int:
        """1 for the columns of a grid, and for the second answers of a dual scale."""
        return int(self["scale_id"] == "1")

    @property
    def order(self) -> tuple[int, float]:
        places = ("group_order", "question_order", "sortorder")
        return self.scale, max(_number(self[name]) for name in places)

    def setting(self, name: str) -> str:
        return next(filter(None, self.texts.get(name, {}).values()), self[name])


class Survey(msgspec.Struct):
    """`texts`: of the survey by their name without `surveyls_`."""

    settings: Row
    texts: defaultdict[str, Texts]
    groups: list[Thing]
    quotas: list[Thing]


class _Handler(msgspec.Struct):
    """The rows of each table of an `.lss`."""

    tables: Tables = msgspec.field(default_factory=lambda: Tables(list))
    type: str = ""
    _open: list[str] = msgspec.field(default_factory=list[str])
    _text: list[str] = msgspec.field(default_factory=list[str])
    _count: int = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002
        self._open.append(name)
        self._text = []
        if self._open[2:] == ["rows", "row"]:
            self._count += 1
            if self._count > ROWS_MAX:
                raise unreadable(f"At most {ROWS_MAX:,} rows are possible.")
            self.tables[self._open[1]].append({})

    def end(self, name: str) -> None:  # noqa: ARG002
        match self._open:
            case ["document", "LimeSurveyDocType"]:
                self.type = "".join(self._text).strip()
            case ["document", table, "rows", "row", column]:
                self.tables[table][-1][column] = "".join(self._text)[:CELL_CHARACTERS_MAX]
            case _:
                pass
        self._open.pop()
        self._text = []

    def data(self, text: str) -> None:
        self._text.append(text)


def of_structure(text: str) -> Survey:
    """The survey of an `.lss`. Raises Invalid."""
    handler = _Handler()
    elements.parse(text, handler, message=NOT_ONE)
    if handler.type != "Survey":
        raise unreadable("This is a part of a survey, such as a group. Export the survey itself.")
    return _survey_of(handler.tables)


def of_table(text: str) -> Survey:
    """The survey of a table with tabs, whose rows belong to the group and the question above. Raises Invalid.

    Groups and questions of further languages are repeated in the same order.
    """
    tables, groups, numbers = Tables(list, surveys=[{}]), Counter[str](), dict[str, str]()
    above = ""  # the question
    for place, row in enumerate(_rows_of(text)):
        kind, name, language, written = (row.get(column, "") for column in ("class", "name", "language", "text"))
        if kind == "S":
            tables["surveys"][0][name] = written
        elif kind == "SL":
            tables["surveys_languagesettings"].append({"surveyls_language": language, name: written})
        elif kind == "G":
            groups[language] += 1
            above = ""
        elif kind == "Q":
            above = numbers.setdefault(name, row.get("id") or name)
        if kind in _CLASSES and (above or kind == "G"):
            table, names = _CLASSES[kind]
            given = {names.get(column, column): cell for column, cell in row.items()}
            given |= dict.fromkeys(("group_order", "question_order", "sortorder"), str(place))
            given |= {"gid": str(groups[language]), "qid": above}
            if kind == "SQ":
                given |= {"parent_qid": above, "qid": f"{above} {given['scale_id']} {name}"}
            tables[table].append(given)
    if not tables["surveys"][0] or not tables["groups"]:
        raise unreadable(NOT_ONE)
    return _survey_of(tables)


def _rows_of(text: str) -> Iterator[Row]:
    try:
        for number, row in enumerate(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")):
            if number >= ROWS_MAX:
                raise unreadable(f"At most {ROWS_MAX:,} rows are possible.")
            yield {name: value or "" for name, value in row.items() if isinstance(name, str)}
    except csv.Error as error:
        raise unreadable(NOT_ONE) from error


def _survey_of(tables: Tables) -> Survey:
    """Raises Invalid for more than anybody would ask."""
    groups = _things("gid", tables["groups"], tables["group_l10ns"])
    things = _things("qid", tables["questions"], tables["subquestions"], tables["question_l10ns"])
    top = (number for number, one in things.items() if one["type"] and one["parent_qid"] in _NONE)
    asked = {number: things[number] for number in top if number not in _NONE}
    for one in things.values():
        if one["parent_qid"] in asked:
            asked[one["parent_qid"]].inside.append(one)
    for one in asked.values():
        groups.setdefault(one["gid"], Thing()).inside.append(one)
    _add_answers(tables, asked)
    _add_settings(tables, asked)
    _add_conditions(tables["conditions"], asked)
    for one in [*groups.values(), *asked.values()]:
        one.inside.sort(key=lambda each: each.order)
        one.answers.sort(key=lambda each: each.order)
    if len(asked) > QUESTIONS_MAX or any(len(one.inside) > PARTS_MAX for one in asked.values()):
        said = "At most {n} questions, each of {parts} rows, are possible."
        raise unreadable(Sentence(said, n=QUESTIONS_MAX, parts=PARTS_MAX))
    texts = defaultdict[str, Texts](Texts)
    for row in tables["surveys_languagesettings"]:
        for name, value in row.items():
            texts[name.removeprefix("surveyls_")][row.get("surveyls_language", "")] = value
    settings = tables["surveys"][0] if tables["surveys"] else {}
    return Survey(settings, texts, sorted(groups.values(), key=lambda one: one.order), _quotas_of(tables, asked))


def _things(identity: str, *tables: Iterable[Row]) -> dict[str, Thing]:
    """Of rows with the same identity the texts of each language are taken, and the first of the other cells."""
    found: dict[str, Thing] = {}
    for row in (row for rows in tables for row in rows):
        one = found.setdefault(row.get(identity, ""), Thing())
        for name, value in row.items():
            if name in _TEXTS:
                one.texts[name][row.get("language", "")] = value
            else:
                one.columns.setdefault(name, value)
    return found


def _add_answers(tables: Tables, asked: Mapping[str, Thing]) -> None:
    """Older files have no number of an answer, and a row of it for each language."""
    for row in tables["answers"]:
        row.setdefault("aid", " ".join(row.get(name, "") for name in ("qid", "code", "scale_id")))
    for one in _things("aid", tables["answers"], tables["answer_l10ns"]).values():
        if one["qid"] in asked:
            asked[one["qid"]].answers.append(one)


def _add_settings(tables: Tables, asked: Mapping[str, Thing]) -> None:
    for row in tables["question_attributes"]:
        if row.get("qid") in asked and row.get("value"):
            asked[row["qid"]].texts[row.get("attribute", "")][row.get("language", "")] = row["value"]
    for row in tables["defaultvalues"]:
        asked.get(row.get("qid", ""), Thing()).columns["default"] = "Y"


def _add_conditions(rows: Iterable[Row], things: Mapping[str, Thing]) -> None:
    """Files before 1.92 have conditions in place of relevance: one scenario with all its questions must hold."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for row in rows:
        name, method = row.get("cfieldname", "").lstrip("+"), row.get("method", "").strip() or "=="
        written = f'{name} {method} "{row.get("value", "")}"'
        scenarios = found.setdefault(row.get("qid", ""), {})
        scenarios.setdefault(row.get("scenario", ""), {}).setdefault(row.get("cqid", "") + method, []).append(written)
    for number, scenarios in found.items():
        if number in things and things[number]["relevance"] in {"", "1"}:
            ways = [" and ".join(f"({' or '.join(one)})" for one in way.values()) for way in scenarios.values()]
            things[number].columns["relevance"] = " or ".join(f"({way})" for way in ways)


def _quotas_of(tables: Tables, asked: Mapping[str, Thing]) -> list[Thing]:
    """A quota counts those who gave one of its answers to each of its questions, which becomes a condition."""
    quotas = _things("id", (row for row in tables["quota"] if row.get("active") == "1"))
    members: list[Row] = []
    for row in tables["quota_members"]:
        number, code = row.get("qid", ""), row.get("code", "")
        name, value = (f"{number}{code}", "Y") if asked.get(number, Thing())["type"] in {"M", "P"} else (number, code)
        members.append({"qid": row.get("quota_id", ""), "cqid": number, "cfieldname": f"0X0X{name}", "value": value})
    _add_conditions(members, quotas)
    for row in tables["quota_languagesettings"]:
        one = quotas.get(row.get("quotals_quota_id", ""), Thing())
        one.texts["message"][row.get("quotals_language", "")] = row.get("quotals_message", "")
    return list(quotas.values())


def _number(text: str) -> float:
    return float(text) if text.strip().isdecimal() else 0
