"""A questionnaire as the structure of a survey of LimeSurvey, 5 to 7 (`.lss`)."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

from afterword.core.foreign import exports
from afterword.core.foreign.exports import NO_FIELDS, NO_SCORE, PAGES, Source, Unwritable, Written, code_of, shown_when
from afterword.core.foreign.parts import NAMES
from afterword.core.questionnaires.conditions import Leaf
from afterword.core.questionnaires.endings import localized
from afterword.core.questionnaires.question_types import Choice, Question
from afterword.errors import Sentence

Row = dict[str, object]
LABEL: Final = "LimeSurvey"
VERSION: Final = 500  # of its database, from which on texts stand in tables of their own
SURVEY: Final = 100_001  # another number is given where a survey has this one
CODE_CHARACTERS_MAX: Final = 20
OTHER: Final = "-oth-"
_ANSWER: Final = re.compile("[A-Za-z0-9]{1,5}")  # the code of a choice
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OPERATORS: Final[Mapping[str, str]] = NAMES["limesurvey"]["signs"]
_TYPES: Final[Mapping[str, str]] = NAMES["limesurvey"]["types"]
_ATTRIBUTES: Final = (
    ("min_answers", "choices_min"), ("max_answers", "choices_max"), ("max_answers", "rank_max"),
    ("maximum_chars", "length_max"), ("max_num_of_files", "files_max"), ("min_num_value_n", "number_min"),
    ("max_num_value_n", "number_max"), ("date_min", "date_min"), ("date_max", "date_max"),
)  # fmt: skip
_FORMATS: Final[Mapping[str, str]] = {"date": "yyyy-mm-dd", "time": "HH:MM", "date_time": "yyyy-mm-dd HH:MM"}
_FILES: Final[Mapping[str, str]] = NAMES["limesurvey"]["endings"]
_EVERY: Final[Mapping[str, object]] = {  # of the columns of questions and those below them
    "sid": SURVEY, "preg": "", "encrypted": "N", "scale_id": 0, "same_default": 0, "modulename": "",
}  # fmt: skip


def written(source: Source) -> Written:
    writer = _Writer(source, LABEL)
    return Written(writer.document().encode(), tuple(writer.lines))


@dataclass(slots=True)
class _Writer(exports.Writer):
    rows: defaultdict[str, list[Row]] = field(default_factory=lambda: defaultdict[str, list[Row]](list))
    codes: set[str] = field(default_factory=set[str])
    below: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict[str, list[str]](list))  # by question

    def document(self) -> str:
        definition = self.definition
        for one in definition.questions():
            self.names[one.question_id] = self._code(one.code or one.key or one.question_id, self.codes)
        shown = shown_when(definition)
        for order, group in enumerate(definition.groups, start=1):
            hidden = "" if group.enabled else "0"
            self._add("groups", gid=order, sid=SURVEY, group_order=order, randomization_group="", grelevance=hidden)
            titles = self.texts(group, "title") or {definition.default_locale: str(order)}
            texts = {"group_name": titles, "description": self.texts(group, "description")}
            self._add_texts("group_l10ns", texts, gid=order)
            for place, question in enumerate(group.questions, start=1):
                relevance = self.condition(question, shown[question.question_id], self._leaf)
                self._question(question, gid=order, order=place, relevance=relevance or "1")
        self._survey()
        languages = "".join(f"<language>{escape(one)}</language>" for one in definition.locales)
        tables = "\n".join(_table(name, rows) for name, rows in self.rows.items())
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<document>\n<LimeSurveyDocType>Survey</LimeSurveyDocType>\n'
            f"<DBVersion>{VERSION}</DBVersion>\n<languages>{languages}</languages>\n{tables}\n</document>\n"
        )

    def _add(self, table: str, **values: object) -> None:
        self.rows[table].append(values)

    def _add_texts(
        self, table: str, texts: Mapping[str, Mapping[str, str]], language: str = "language", **values: object
    ) -> None:
        """Adds a row for each language; what has no translation stands in the default language."""
        default = self.definition.default_locale
        for locale in self.definition.locales:
            found = {name: self._html(own.get(locale) or own.get(default, "")) for name, own in texts.items()}
            self._add(table, **values, **found, **{language: locale})

    @staticmethod
    def _code(name: str, given: set[str]) -> str:
        """A code of letters and digits that begins with a letter; capitals alone tell no two apart."""
        code = re.sub(r"[^A-Za-z0-9]", "", name)[: CODE_CHARACTERS_MAX - 3]
        code = code if code[:1].isalpha() else f"Q{code}"
        chosen, number = code, 2
        while chosen.lower() in given:
            chosen, number = f"{code}{number}", number + 1
        given.add(chosen.lower())
        return chosen

    def _html(self, text: str) -> str:
        return self.piped(text, self._variable, _literal)

    def _variable(self, name: str) -> str | None:
        found = self.of_answer(name)
        return f"{{{self._name(*found)}.shown}}" if found else None

    def _name(self, question: Question, part: str) -> str:
        return self.names[question.question_id] + (f"_{self.names[question.question_id + part]}" if part else "")

    # Questions

    def _question(self, question: Question, *, gid: int, order: int, relevance: str) -> None:
        qid = len(self.rows["questions"]) + 1
        kind, attributes = self._kind(question)
        other, is_required = question.other_choice, "Y" if question.is_required else "N"
        self._add(
            "questions", **_EVERY, qid=qid, parent_qid=0, gid=gid, type=kind, title=self.names[question.question_id],
            other="N" if other is None else "Y", mandatory=is_required, question_order=order, relevance=relevance,
        )  # fmt: skip
        below = {} if question.shape == "consent" else self.texts(question, "description")
        self._add_texts("question_l10ns", {"question": self.texts(question, "title"), "help": below}, qid=qid)
        attributes |= {"random_order": 1} if question.randomize else {}
        attributes |= {} if question.enabled else {"hidden": 1}
        for name, value in attributes.items():
            self._add("question_attributes", qid=qid, attribute=name, value=value, language="")
        if other is not None:
            texts = {"value": self.labels(question, "choices", other.value, other.label)}
            self._add_texts("question_attributes", texts, qid=qid, attribute="other_replace_text")
        self._parts(question, qid, gid, kind)
        self.lost(
            question,
            "slider" if question.style == "slider" else "",
            "labels of the ends" if kind in {"5", "N"} and (question.low_label or question.high_label) else "",
            has_points=question.has_points and question.shape not in {"choice", "matrix"},
        )

    def _kind(self, question: Question) -> tuple[str, Row]:
        """The type there, and the attributes that bound its answers."""
        kind, found = _TYPES[question.shape], Row()
        found |= {name: value for name, member in _ATTRIBUTES if (value := getattr(question, member)) is not None}
        match question.shape:
            case "scale":
                kind = "5" if question.scale == range(1, 6) else "L"
                found |= {"slider_rating": 1} if question.style == "stars" and kind == "5" else {}
            case "choice" if question.style == "dropdown":
                kind = "!"
            case "choices" if excluding := [
                code_of(question, one.value, _ANSWER) for one in question.choices if one.exclusive
            ]:
                found["exclude_all_others"] = ";".join(map(str, excluding))
            case "text" if not question.multiline:
                kind = "S"
            case "number" if not question.decimals:
                found["num_value_int_only"] = 1
            case "date" | "time" | "date_time":
                found["date_format"] = _FORMATS[question.shape]
            case "files":
                found["allowed_filetypes"] = ",".join(_FILES[one] for one in question.file_types)
                found["max_filesize"] = (question.bytes_max or 0) // 1024
            case _:
                pass
        if question.shape == "contact":
            self.say("question", question, Sentence(NO_FIELDS, name=LABEL))
        elif question.shape == "scale" and (question.type, kind) != ("rating", "5"):
            self.say("question", question, Sentence(NO_SCORE, name=LABEL))
        return kind, found

    def _parts(self, question: Question, qid: int, gid: int, kind: str) -> None:
        """Choices are answers, or questions below where several may be chosen; rows and fields are below, too."""
        identity, given = question.question_id, set[str]()
        own = [one for one in question.choices if not one.other]
        if kind == "M":
            below = [(str(one.value), self.labels(question, "choices", one.value, one.label)) for one in own]
            below = below or [("1", self.texts(question, "description") or self.texts(question, "title"))]
        elif kind == "Q":
            names = {name: name.replace("_", " ").capitalize() for name in question.contact_fields}
            below = [(name, dict.fromkeys(self.definition.locales, label)) for name, label in names.items()]
        else:
            below = [(one.row_id, self.labels(question, "rows", one.row_id, one.label)) for one in question.rows]
        keys = {one.row_id: one.code or one.key or one.row_id for one in question.rows}
        keys |= {str(one.value): str(code_of(question, one.value, _ANSWER)) for one in own}
        for order, (value, texts) in enumerate(below, start=1):
            code = keys.get(value, value)
            code = code if code.isdecimal() else self._code(code, given)
            self.names[f"{identity}{value}"] = code
            self.below[identity].append(value)
            self._add(
                "subquestions", **_EVERY, qid=qid * 1_000 + order, parent_qid=qid, gid=gid, type="T", title=code,
                other="N", mandatory="N", question_order=order, relevance="1",
            )  # fmt: skip
            self._add_texts("question_l10ns", {"question": texts, "help": {}}, qid=qid * 1_000 + order)
        if kind == "M" and question.other_choice is not None:
            self.names[f"{identity}{question.other_choice.value}"] = "other"
            self.below[identity].append(str(question.other_choice.value))
        ends = {question.scale[0]: "low_label", question.scale[-1]: "high_label"} if question.scale else {}
        own = own or [Choice(value, str(value)) for value in question.scale]
        for order, choice in enumerate(own if kind in {"L", "!", "F", "R"} else (), start=1):
            code = code_of(question, choice.value, _ANSWER)
            self._add(
                "answers", aid=qid * 1_000 + order, qid=qid, code=code, sortorder=order,
                assessment_value=choice.points or 0, scale_id=0,
            )  # fmt: skip
            texts = self.labels(question, "choices", choice.value, choice.label)
            named = self.texts(question, ends[choice.value]) if choice.value in ends else {}
            texts |= {locale: f"{choice.label} ({text})" for locale, text in named.items()}
            self._add_texts("answer_l10ns", {"answer": texts}, aid=qid * 1_000 + order)

    # Conditions

    def _leaf(self, leaf: Leaf) -> str:
        question, part = self.subject(leaf)
        if leaf.operator in {"is_empty", "is_not_empty"}:
            sign, word = ("", " and ") if leaf.operator == "is_empty" else ("!", " or ")
            return word.join(f"{sign}is_empty({one}.NAOK)" for one in self._fields(question, part))
        values = [*leaf.value] if isinstance(leaf.value, list | tuple) else [leaf.value]
        if question.shape == "choices" and leaf.operator in {"contains", "not_contains"}:
            sign = "==" if leaf.operator == "contains" else "!="
            return " and ".join(f'{self._name(question, str(one))}.NAOK {sign} "Y"' for one in values)
        if question.shape in {"choices", "ranking", "files"} or leaf.operator not in {*_OPERATORS, "in"}:
            raise Unwritable
        name, sign = self._fields(question, part)[0], _OPERATORS.get(leaf.operator, "==")
        return " or ".join(f"{name}.NAOK {sign} {self._value(question, one)}" for one in values)

    def _fields(self, question: Question, part: str) -> list[str]:
        """The names of an answer: of each of its fields where it has several."""
        name = self.names[question.question_id]
        return [self._name(question, one) for one in ([part] if part else self.below[question.question_id])] or [name]

    @staticmethod
    def _value(question: Question, value: object) -> str:
        if isinstance(value, bool):
            return '"Y"' if value else '"N"'
        if question.other_choice is not None and value == question.other_choice.value:
            return f'"{OTHER}"'
        if '"' in str(value):
            raise Unwritable
        return str(value) if question.shape in {"number", "scale"} else f'"{code_of(question, value, _ANSWER)}"'

    # The survey itself

    def _survey(self) -> None:
        definition = self.definition
        default = definition.default_locale
        others = " ".join(one for one in definition.locales if one != default)
        more = {"language": default, "additional_languages": others, "anonymized": "Y" if definition.anonymous else "N"}
        self._add("surveys", sid=SURVEY, gsid=1, admin="", active="N", format="G", **more)
        ending = next((one for one in definition.endings if one.conditions is None and one.responses_max is None), None)
        numbered = enumerate(definition.endings, 1)
        others = [one.key or Sentence("Ending {n}", n=n) for n, one in numbered if one is not ending]
        self.not_held("ending", None, others)
        self.not_held("setting", None, [text for name, text in PAGES.items() if self.pages(name)])
        own = {locale: self.own(locale) for locale in definition.locales}
        end = {locale: localized(ending, locale) for locale in definition.locales if ending is not None}
        words = {locale: "\n".join(filter(None, [one.title, one.text])) for locale, one in end.items()}
        texts = {
            "surveyls_title": {locale: one.title or self.source.display_name for locale, one in own.items()},
            "surveyls_description": {locale: one.description or "" for locale, one in own.items()},
            "surveyls_welcometext": self.pages("welcome"),
            "surveyls_endtext": words if any(words.values()) else self.pages("thank_you"),
            "surveyls_urldescription": {locale: one.button_label or "" for locale, one in end.items()},
        }
        self._add_texts(
            "surveys_languagesettings", texts, "surveyls_language", surveyls_survey_id=SURVEY,
            surveyls_url=(ending.button_url if ending else "") or "", surveyls_dateformat=6, surveyls_numberformat=0,
        )  # fmt: skip


def _literal(text: str) -> str:
    """A brace before a word would begin an expression."""
    return escape(text.replace("{", "{ "), quote=False).replace("\n", "<br />\n")


def _table(name: str, rows: Sequence[Row]) -> str:
    fields = "".join(f"<fieldname>{one}</fieldname>" for one in dict.fromkeys(key for row in rows for key in row))
    lines = "\n".join(
        f"<row>{''.join(f'<{key}>{_cell(value)}</{key}>' for key, value in row.items())}</row>" for row in rows
    )
    return f"<{name}>\n<fields>{fields}</fields>\n<rows>\n{lines}\n</rows>\n</{name}>"


def _cell(value: object) -> str:
    return escape(_NO_XML.sub("", str(value)), quote=False)
