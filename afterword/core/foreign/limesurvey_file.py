"""A survey of LimeSurvey as its files have it: XML (`.lss`) of one table after the other, or one table (`.txt`).

Files of 2.x have a row of each text for each language, later ones have the texts in tables of their own (`l10ns`).
Subquestions stand in a table of their own, or among the questions with a `parent_qid`.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from afterword.core.foreign.parts import unreadable
from afterword.core.reading import elements
from afterword.errors import Sentence

ROWS_MAX: Final = 100_000
QUESTIONS_MAX: Final = 1_000
PARTS_MAX: Final = 500  # rows or answers of a question
CELL_CHARACTERS_MAX: Final = 500_000
NOT_ONE: Final = "This is not a whole survey of LimeSurvey."
NOT_A_SURVEY: Final = "This is a part of a survey, such as a group. Export the survey itself."
Texts = dict[str, str]  # by language
Row = Mapping[str, str]


@dataclass(slots=True)
class Part:
    """A subquestion or an answer. `scale`: 1 for the columns of a grid and for the second answers of a dual scale."""

    code: str
    scale: int = 0
    texts: Texts = field(default_factory=Texts)
    order: float = 0
    points: str = ""
    relevance: str = ""


@dataclass(slots=True)
class SurveyQuestion:
    """A question. `attributes`: values by language, "" for all languages."""

    number: str
    code: str
    type: str
    order: float = 0
    texts: Texts = field(default_factory=Texts)
    helps: Texts = field(default_factory=Texts)
    is_required: bool = False
    has_other: bool = False
    relevance: str = ""
    pattern: str = ""
    has_default: bool = False
    attributes: defaultdict[str, Texts] = field(default_factory=lambda: defaultdict[str, Texts](Texts))
    rows: list[Part] = field(default_factory=list[Part])
    answers: list[Part] = field(default_factory=list[Part])

    def attribute(self, name: str) -> str:
        return next((value for value in self.attributes.get(name, {}).values() if value), "")


@dataclass(slots=True)
class Section:
    names: Texts = field(default_factory=Texts)
    descriptions: Texts = field(default_factory=Texts)
    relevance: str = ""
    order: float = 0
    asked: list[SurveyQuestion] = field(default_factory=list[SurveyQuestion])


@dataclass(slots=True)
class Quota:
    name: str
    limit: str
    members: list[tuple[str, str]]  # numbers of questions, codes of answers
    messages: Texts


@dataclass(slots=True)
class Survey:
    """`texts`: of the survey by their name without `surveyls_`."""

    settings: dict[str, str]
    texts: defaultdict[str, Texts]
    sections: list[Section]
    quotas: list[Quota] = field(default_factory=list[Quota])

    def check(self) -> "Survey":
        """The survey. Raises Invalid for more than anybody would ask."""
        asked = [one for section in self.sections for one in section.asked]
        if len(asked) > QUESTIONS_MAX or any(
            len(one.rows) > PARTS_MAX or len(one.answers) > PARTS_MAX for one in asked
        ):
            raise unreadable(
                Sentence(
                    "At most {n} questions, each of {parts} rows or answers, are possible.",
                    n=QUESTIONS_MAX,
                    parts=PARTS_MAX,
                )
            )
        return self

    @property
    def languages(self) -> list[str]:
        """The first one is that in which the survey was written."""
        more = self.settings.get("additional_languages", "").split()
        return list(dict.fromkeys([self.settings.get("language") or "en", *more]))


@dataclass(slots=True)
class _Tables:
    """The rows of each table."""

    rows: defaultdict[str, list[dict[str, str]]] = field(
        default_factory=lambda: defaultdict[str, list[dict[str, str]]](list)
    )
    type: str = ""
    _open: list[str] = field(default_factory=list[str])
    _text: list[str] = field(default_factory=list[str])
    _count: int = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002
        self._open.append(name)
        self._text = []
        if self._open[2:] == ["rows", "row"]:
            self._count += 1
            if self._count > ROWS_MAX:
                raise unreadable(f"At most {ROWS_MAX:,} rows are possible.")
            self.rows[self._open[1]].append({})

    def end(self, name: str) -> None:  # noqa: ARG002
        match self._open:
            case ["document", "LimeSurveyDocType"]:
                self.type = "".join(self._text).strip()
            case ["document", table, "rows", "row", column]:
                self.rows[table][-1][column] = "".join(self._text)[:CELL_CHARACTERS_MAX]
            case _:
                pass
        self._open.pop()
        self._text = []

    def data(self, text: str) -> None:
        self._text.append(text)


def of_structure(text: str) -> Survey:
    """The survey of an `.lss`. Raises Invalid."""
    tables = _Tables()
    elements.parse(text, tables, message=NOT_ONE)
    if tables.type != "Survey":
        raise unreadable(NOT_A_SURVEY)
    rows = tables.rows
    asked = _asked_of(rows)
    sections: dict[str, Section] = {}
    for row in [*rows["groups"], *rows["group_l10ns"]]:
        one = sections.setdefault(row.get("gid", ""), Section())
        if "group_order" in row:
            one.order, one.relevance = _number(row["group_order"]), row.get("grelevance", one.relevance)
        one.names[row.get("language", "")] = row.get("group_name", "")
        one.descriptions[row.get("language", "")] = row.get("description", "")
    for number, group in {
        row["qid"]: row.get("gid", "") for row in rows["questions"] if row.get("qid") in asked
    }.items():
        sections.setdefault(group, Section()).asked.append(asked[number])
    for one in sections.values():
        one.asked.sort(key=lambda each: each.order)
    settings = rows["surveys"][0] if rows["surveys"] else {}
    texts: defaultdict[str, Texts] = defaultdict(Texts)
    for row in rows["surveys_languagesettings"]:
        for name, value in row.items():
            texts[name.removeprefix("surveyls_")][row.get("surveyls_language", "")] = value
    return Survey(settings, texts, sorted(sections.values(), key=lambda one: one.order), _quotas_of(rows)).check()


def _asked_of(rows: Mapping[str, list[dict[str, str]]]) -> dict[str, SurveyQuestion]:
    asked: dict[str, SurveyQuestion] = {}
    parts: dict[str, Part] = {}
    for row in [*rows["questions"], *rows["subquestions"]]:
        number, parent = row.get("qid", ""), row.get("parent_qid", "")
        if parent in {"", "0"}:
            _add_question(
                asked.setdefault(number, SurveyQuestion(number, row.get("title", ""), row.get("type", ""))), row
            )
        elif parent in asked:
            if number not in parts:
                parts[number] = Part(row.get("title", ""), int(_number(row.get("scale_id"))))
                asked[parent].rows.append(parts[number])
            part = parts[number]
            part.order, part.relevance = _number(row.get("question_order")), row.get("relevance", "")
            part.texts[row.get("language", "")] = row.get("question", "")
    for row in rows["question_l10ns"]:
        number, language = row.get("qid", ""), row.get("language", "")
        if number in asked:
            asked[number].texts[language] = row.get("question", "")
            asked[number].helps[language] = row.get("help", "")
        elif number in parts:
            parts[number].texts[language] = row.get("question", "")
    _add_answers(rows, asked)
    _add_conditions(rows, asked)
    _add_settings(rows, asked)
    return asked


def _add_settings(rows: Mapping[str, list[dict[str, str]]], asked: Mapping[str, SurveyQuestion]) -> None:
    for row in rows["question_attributes"]:
        if row.get("qid") in asked and row.get("value"):
            asked[row["qid"]].attributes[row.get("attribute", "")][row.get("language", "")] = row["value"]
    for number in {row.get("qid", "") for row in rows["defaultvalues"]} & asked.keys():
        asked[number].has_default = True
    for one in asked.values():
        one.rows.sort(key=lambda part: (part.scale, part.order))
        one.answers.sort(key=lambda part: (part.scale, part.order))


def _add_question(one: SurveyQuestion, row: Row) -> None:
    one.order, one.is_required = _number(row.get("question_order")), row.get("mandatory") in {"Y", "S"}
    one.has_other, one.pattern = row.get("other") == "Y", row.get("preg", "")
    one.relevance = row.get("relevance", "")
    if row.get("language"):
        one.texts[row["language"]], one.helps[row["language"]] = row.get("question", ""), row.get("help", "")


def _add_answers(rows: Mapping[str, list[dict[str, str]]], asked: Mapping[str, SurveyQuestion]) -> None:
    texts: defaultdict[str, Texts] = defaultdict(Texts)
    for row in rows["answer_l10ns"]:
        texts[row.get("aid", "")][row.get("language", "")] = row.get("answer", "")
    known: dict[tuple[str, str, str], Part] = {}
    for row in rows["answers"]:
        number, code, scale = row.get("qid", ""), row.get("code", ""), row.get("scale_id", "0")
        if number not in asked:
            continue
        if (number, code, scale) not in known:
            made = Part(code, int(_number(scale)), texts[row.get("aid", "-")], _number(row.get("sortorder")))
            known[number, code, scale] = made
            asked[number].answers.append(made)
        part = known[number, code, scale]
        part.points = row.get("assessment_value", "")
        if "answer" in row:
            part.texts[row.get("language", "")] = row["answer"]


def _add_conditions(rows: Mapping[str, list[dict[str, str]]], asked: Mapping[str, SurveyQuestion]) -> None:
    """Files before 1.92 have conditions in place of relevance: one scenario with all its questions must hold."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for row in rows["conditions"]:
        name, method = row.get("cfieldname", "").lstrip("+"), row.get("method", "").strip() or "=="
        written = f'{name} {method} "{row.get("value", "")}"'
        scenarios = found.setdefault(row.get("qid", ""), {})
        scenarios.setdefault(row.get("scenario", ""), {}).setdefault(row.get("cqid", "") + method, []).append(written)
    for number, scenarios in found.items():
        if number in asked and asked[number].relevance in {"", "1"}:
            ways = [" and ".join(f"({' or '.join(one)})" for one in way.values()) for way in scenarios.values()]
            asked[number].relevance = " or ".join(f"({way})" for way in ways)


def _quotas_of(rows: Mapping[str, list[dict[str, str]]]) -> list[Quota]:
    return [
        Quota(
            row.get("name", ""),
            row.get("qlimit", ""),
            [(one["qid"], one["code"]) for one in rows["quota_members"] if one.get("quota_id") == row.get("id")],
            {
                one.get("quotals_language", ""): one.get("quotals_message", "")
                for one in rows["quota_languagesettings"]
                if one.get("quotals_quota_id") == row.get("id")
            },
        )
        for row in rows["quota"]
        if row.get("active") == "1"
    ]


def of_table(text: str) -> Survey:
    """The survey of a table with tabs. Rows of further languages repeat those of the first. Raises Invalid."""
    survey = Survey({}, defaultdict(Texts), [])
    reader = _TableReader(survey)
    try:
        for number, row in enumerate(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")):
            if number >= ROWS_MAX:
                raise unreadable(f"At most {ROWS_MAX:,} rows are possible.")
            reader.take({name: value or "" for name, value in row.items() if isinstance(name, str)})
    except csv.Error as error:
        raise unreadable(NOT_ONE) from error
    if not survey.settings or not survey.sections:
        raise unreadable(NOT_ONE)
    return survey.check()


@dataclass(slots=True)
class _TableReader:
    """Takes the rows one after the other; each belongs to the group and the question above it."""

    survey: Survey
    _asked: dict[str, SurveyQuestion] = field(default_factory=dict[str, SurveyQuestion])
    _places: defaultdict[str, int] = field(default_factory=lambda: defaultdict[str, int](int))  # of groups by language
    _section: Section = field(default_factory=Section)
    _last: SurveyQuestion | None = None
    _parts: dict[tuple[str, str, str, str], Part] = field(default_factory=dict[tuple[str, str, str, str], Part])

    def take(self, row: Row) -> None:
        language, text = row.get("language", ""), row.get("text", "")
        match row.get("class", ""):
            case "S":
                self.survey.settings[row.get("name", "")] = text
            case "SL":
                self.survey.texts[row.get("name", "").removeprefix("surveyls_")][language] = text
            case "G":
                self._take_group(row, language)
            case "Q":
                self._take_question(row, language)
            case "SQ" | "A" if self._last is not None:
                self._take_part(self._last, row)
            case _:
                pass

    def _take_group(self, row: Row, language: str) -> None:
        place = self._places[language]
        self._places[language] += 1
        if place >= len(self.survey.sections):
            self.survey.sections.append(Section())
        self._section, self._last = self.survey.sections[place], None
        self._section.names[language], self._section.descriptions[language] = row.get("name", ""), row.get("text", "")
        self._section.relevance = self._section.relevance or row.get("relevance", "")

    def _take_question(self, row: Row, language: str) -> None:
        code = row.get("name", "")
        if code not in self._asked:
            asked = SurveyQuestion(
                row.get("id") or code, code, row.get("type/scale", ""), relevance=row.get("relevance", "")
            )
            asked.is_required, asked.has_other = row.get("mandatory") in {"Y", "S"}, row.get("other") == "Y"
            asked.pattern, asked.has_default = row.get("validation", ""), bool(row.get("default"))
            self._asked[code] = asked
            self._section.asked.append(asked)
        self._last = self._asked[code]
        self._last.texts[language], self._last.helps[language] = row.get("text", ""), row.get("help", "")
        for name, value in row.items():
            if value and name not in _COLUMNS:
                self._last.attributes[name][language] = value

    def _take_part(self, asked: SurveyQuestion, row: Row) -> None:
        kind, scale, written = row["class"], row.get("type/scale", ""), row.get("relevance", "")
        name = (asked.code, kind, scale, row.get("name", ""))
        if name not in self._parts:
            parts = asked.answers if kind == "A" else asked.rows
            self._parts[name] = Part(row.get("name", ""), int(_number(scale)), order=len(parts))
            self._parts[name].points, self._parts[name].relevance = (written, "") if kind == "A" else ("", written)
            parts.append(self._parts[name])
        self._parts[name].texts[row.get("language", "")] = row.get("text", "")


_COLUMNS: Final = frozenset((
    "id", "related_id", "class", "type/scale", "name", "relevance", "text", "help", "language", "validation",
    "mandatory", "encrypted", "other", "default", "same_default", "same_script",
))  # fmt: skip


def _number(text: str | None) -> float:
    return float(text) if text and text.strip().isdigit() else 0
