"""Questions of LimeSurvey by their type: what becomes of each, and the names that conditions and texts have for it."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from html import escape
from importlib import resources
from typing import Any, Final

from afterword.core.foreign.limesurvey_expressions import Target
from afterword.core.foreign.limesurvey_file import Part, SurveyQuestion, Texts
from afterword.core.foreign.parts import NO_QUESTION, SEVERAL, Entry, Keys, Pipe, Values, leaf, plain
from afterword.core.questionnaires.conditions import number_of
from afterword.core.questionnaires.question_types import (
    CHOICES_MAX,
    COLUMNS_MAX,
    DECIMALS_MAX,
    DROPDOWN_CHOICES_MAX,
    FILE_BYTES_MAX,
    FILE_BYTES_MIN,
    FILES_MAX,
    LABEL_CHARACTERS_MAX,
    RANKED_MAX,
    TEXT_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
)
from afterword.core.questionnaires.questions import CHOICE_VALUE_MAX, POINTS_MAX, ROWS_MAX
from afterword.errors import Sentence

Question = dict[str, Any]

WORDS: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads(
    resources.files("afterword.core.foreign").joinpath("limesurvey.toml").read_text("utf-8")
)
SETTINGS: Final[Mapping[str, str]] = {  # of a question, which have no counterpart
    "array_filter": "It shows only what was chosen in an earlier question ({value}); here all of it is shown.",
    "array_filter_exclude": "It hides what was chosen in an earlier question ({value}); here all of it is shown.",
    "em_validation_q": "Its answer is checked by a formula: “{value}”.",
    "em_validation_sq": "Its answer is checked by a formula: “{value}”.",
    "equals_num_value": "Its numbers must have a sum: “{value}”.",
    "max_num_value": "Its numbers must have a sum: “{value}”.",
    "min_num_value": "Its numbers must have a sum: “{value}”.",
    "random_group": "It is shown in random order with others: “{value}”.",
    "time_limit": "There is a time limit in seconds: “{value}”.",
}
FIXED: Final[Mapping[str, tuple[str, ...]]] = {
    "A": tuple("12345"), "B": tuple(map(str, range(1, 11))), "C": ("Y", "U", "N"), "E": ("I", "S", "D"),
}  # fmt: skip
FILE_ENDINGS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp", "heic"), "picture"), "pdf": "pdf",
    **dict.fromkeys(("doc", "docx", "odt"), "document"), **dict.fromkeys(("xls", "xlsx", "ods"), "spreadsheet"),
    **dict.fromkeys(("txt", "csv"), "text"),
}  # fmt: skip
OTHER: Final = "-oth-"  # the code of a text beside the choices
DASH: Final = "\N{EN DASH}"
FORMULA: Final = "A bound of its answer follows from a formula: “{value}”."
MANY: Final = "Its fields became one text, since a questionnaire has at most 200 questions."
MATRICES: Final = "It became {n} matrices, one for each of its columns."
TOO_MANY: Final = "At most {n} choices are possible; the others are left out."
TICKED: Final = "It has one choice alone, so it became a tick."
NO_WORDS: Final = "A text is empty, so its code stands there: “{code}”."
LONG: Final = "It has more rows than a matrix, so it became {n} of them."
WIDE: Final = "It has more columns than a matrix, so each row became a question of its own."
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_PLAIN: Final = re.compile(r"-?\d{1,12}(?:\.\d{1,6})?\Z")
_EXPRESSION: Final = re.compile(r"\{[^\s{}][^{}]{0,400}\}")


@dataclass(slots=True)
class Languages:
    """Those of the file by our names; `first` is that of the texts themselves, the others are translations."""

    first: str
    by_name: Mapping[str, str]  # ours, by the name in the file

    def read(self, texts: Texts) -> dict[str, str]:
        """The texts by our languages; one for all languages is that of the first."""
        found = {self.by_name[name]: text for name, text in texts.items() if name in self.by_name}
        return found if found.get(self.by_name[self.first]) else {**found, self.by_name[self.first]: texts.get("", "")}

    @property
    def default(self) -> str:
        return self.by_name[self.first]


@dataclass(slots=True)
class Maker:
    """Makes our questions of one of theirs. `said` is its line; `names`: what it gives to conditions and texts."""

    asked: SurveyQuestion
    languages: Languages
    keys: Keys
    said: Entry
    pipe: Pipe
    is_short: bool = False  # its fields must not become questions of their own
    settings: list[Sentence] = field(default_factory=list[Sentence])  # that have no counterpart
    made: list[Question] = field(default_factory=list[Question])
    names: dict[str, tuple[Target, ...]] = field(default_factory=dict[str, tuple[Target, ...]])

    def make(self) -> None:
        build = _BUILDERS.get(self.asked.type, _unknown)
        if self.is_short and count_of(self.asked) > 1:
            build = _in_one_text
        build(self)
        for one in self.made:
            one["required"] = self.asked.is_required and one["type"] != "statement" and one.get("required", True)
            if self.asked.attribute("hidden") == "1":
                one["enabled"] = False
        if self.asked.attribute("hidden") == "1":
            self.said.changed(Sentence("It is hidden, so it is switched off."))
        if self.made:
            self.said.key = self.made[0]["key"]
        everything = dict.fromkeys(one.subject for each in self.names.values() for one in each)
        self.names.setdefault(f"that.{self.asked.code}", tuple(Target(one, "presence") for one in everything))

    def add(self, kind: str, key: str, *, label: Part | None = None, word: str = "", **members: Any) -> Question:
        """A question with the texts of theirs, and of its part `label` or our `word` behind them."""
        titles, helps = self.languages.read(self.asked.texts), self.languages.read(self.asked.helps)
        labels = self.languages.read(label.texts) if label else {}
        default = self.languages.default
        made: dict[str, dict[str, str]] = {}
        for locale in dict.fromkeys([default, *titles]):
            title = plain(titles.get(locale) or titles.get(default, ""))
            part = _word(word, locale) if word else plain(labels.get(locale) or labels.get(default, ""))
            part = part or (label.code if label else "")
            whole, more = f" {DASH} ".join([one for one in (title, part) if one]), helps.get(locale, "")
            if part and len(whole) > TITLE_CHARACTERS_MAX:
                whole, more = part, f"{escape(title)}\n\n{more}"
            made[locale] = self.said.title_and_help(escape(whole), more, self.pipe)
        first = made.pop(self.languages.default)
        question = {"key": key, "type": kind, **first, **members}
        if not question["title"]:
            question["title"] = self.asked.code
            self.said.changed(Sentence(NO_WORDS, code=self.asked.code))
        translations = {locale: {k: v for k, v in texts.items() if v} for locale, texts in made.items()}
        question["translations"] = {locale: texts for locale, texts in translations.items() if texts}
        self.made.append(question)
        return question

    def key(self, *parts: str) -> str:
        return self.keys.give("_".join([self.asked.code or "q", *filter(None, parts)]))

    def labels(self, question: Question, member: str, parts: Sequence[tuple[object, Part]]) -> None:
        """Sets the labels of choices by their values, or of rows by their keys, in all languages."""
        for name, part in parts:
            for locale, text in self.languages.read(part.texts).items():
                label = self.said.text(text, LABEL_CHARACTERS_MAX, self.no_pipe)
                if locale == self.languages.default:
                    entry = {"value": name} if member == "choices" else {"key": name}
                    question.setdefault(member, []).append({**entry, "label": label or part.code})
                    if not label:
                        self.said.lost(Sentence(NO_WORDS, code=part.code))
                elif label:
                    question["translations"].setdefault(locale, {}).setdefault(member, {})[str(name)] = label

    def no_pipe(self, text: str) -> str:
        """Labels have no variables."""
        if _EXPRESSION.search(text):
            self.said.lost(Sentence("A label shows a value, which labels cannot do here."))
        return _EXPRESSION.sub("…", text)

    def choices(self, question: Question, parts: Sequence[Part], *, has_other: bool = False) -> Mapping[str, int]:
        """Sets the choices and gives their values by code."""
        values = dict(Values.of([part.code for part in parts], self.said).by_code)
        self.labels(question, "choices", [(values[part.code], part) for part in parts])
        for choice, part in zip(question["choices"], parts, strict=True):
            points = number_of(part.points) if question["type"] != "ranking" and _PLAIN.match(part.points) else None
            if points and abs(points) <= POINTS_MAX:
                choice["points"] = int(points)
        if has_other:
            free = (one for one in range(max(values.values(), default=0) + 1, CHOICE_VALUE_MAX + 1))
            values[OTHER] = next(free, None) or min(set(range(1, CHOICE_VALUE_MAX)) - set(values.values()))
            texts = self.asked.attributes["other_replace_text"]
            words = {name: _word("other", ours) for name, ours in self.languages.by_name.items()}
            named = {name: texts.get(name) or texts.get("") or word for name, word in words.items()}
            self.labels(question, "choices", [(values[OTHER], Part("other", texts=named))])
            question["choices"][-1]["other"] = True
            self.check_words({} if any(texts.values()) else words)
        return values

    def check_words(self, words: Mapping[str, str]) -> None:
        """Says in which languages LimeSurvey's own words are English here."""
        lacking = [ours for name, ours in self.languages.by_name.items() if name in words and _base(ours) not in WORDS]
        if lacking:
            text = "Words of LimeSurvey itself are in English in these languages: “{names}”."
            self.said.lost(Sentence(text, names=", ".join(lacking)))

    def word_parts(self, codes: Sequence[str]) -> list[Part]:
        """Answers that LimeSurvey itself names."""
        if codes[0].isdigit():
            return [Part(code, texts=dict.fromkeys(self.languages.by_name, code)) for code in codes]
        self.check_words(dict.fromkeys(self.languages.by_name, ""))
        each = self.languages.by_name.items()
        return [Part(code, texts={name: _word(code, ours) for name, ours in each}) for code in codes]

    def number(self, name: str) -> int | float | None:
        """A bound that is a number; one by a formula is left out."""
        written = self.asked.attribute(name)
        if not written:
            return None
        found = number_of(written) if _PLAIN.match(written) else None
        if found is None:
            self.settings.append(Sentence(FORMULA, value=written[:200]))
            return None
        return _plain_number(found)

    def name(self, rest: str, *targets: Target, old: str | None = None) -> None:
        """Names targets: by the code with the part, and by the number of the question with it (`old`)."""
        self.names[f"{self.asked.code}{f'_{rest}' if rest else ''}"] = targets
        self.names[f"#{self.asked.number}{rest if old is None else old}"] = targets


def count_of(asked: SurveyQuestion) -> int:
    """The number of questions that it becomes where its fields are questions of their own."""
    rows, columns = _grid(asked)
    has_cells = asked.type == ";" or (asked.type == ":" and asked.attribute("input_boxes") == "1")
    return {
        "K": len(rows), "Q": len(rows), "P": 1 + len(rows), "O": 2, "1": 2,
        ":": len(rows) if asked.attribute("multiflexible_checkbox") == "1" else len(columns),
    }.get(asked.type, 1) if not has_cells else len(rows) * len(columns)  # fmt: skip


def _grid(asked: SurveyQuestion) -> tuple[list[Part], list[Part]]:
    return [one for one in asked.rows if one.scale == 0], [one for one in asked.rows if one.scale == 1]


def _base(locale: str) -> str:
    return locale.partition("-")[0]


def _word(name: str, locale: str) -> str:
    return WORDS.get(_base(locale), WORDS["en"])[name]


def _plain_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _single_choice(maker: Maker) -> None:
    asked, key = maker.asked, maker.key()
    answers = [one for one in asked.answers if one.scale == 0]
    if asked.type == "G":
        answers = maker.word_parts(("F", "M"))
    if len(answers) + asked.has_other < 2:  # noqa: PLR2004
        maker.add("statement", key)
        maker.said.left_out(Sentence("It has fewer than two choices. It became a text without an answer."))
        return
    question = maker.add("single_choice", key)
    if asked.type == "!" or len(answers) >= CHOICES_MAX:
        question["style"] = "dropdown"
    if len(answers) >= DROPDOWN_CHOICES_MAX:
        maker.said.lost(Sentence(TOO_MANY, n=DROPDOWN_CHOICES_MAX))
        answers = answers[: DROPDOWN_CHOICES_MAX - 1]
    values = maker.choices(question, answers, has_other=asked.has_other)
    _shuffle(maker, question)
    target = Target(f"question:{key}", "choice", values, variable=f"answer.{key}")
    maker.name("", target)
    maker.name("other", replace(target, kind="presence"))
    if asked.type == "O":
        comment = maker.key("comment")
        maker.add("text", comment, word="comment", required=False)
        maker.name("comment", Target(f"question:{comment}", "text", variable=f"answer.{comment}"))
        maker.said.changed(Sentence(SEVERAL, n=2))


def _shuffle(maker: Maker, question: Question) -> None:
    if maker.asked.attribute("random_order") in {"1", "2"} or maker.asked.attribute("answer_order") == "random":
        question["randomize"] = True


def _multiple_choice(maker: Maker) -> None:
    asked, key = maker.asked, maker.key()
    rows = asked.rows[: CHOICES_MAX - asked.has_other]
    if asked.rows[len(rows) :]:
        maker.said.lost(Sentence(TOO_MANY, n=CHOICES_MAX))
    if len(rows) + asked.has_other < 2:  # noqa: PLR2004
        _tick(maker, key, rows)
        return
    question = maker.add("multiple_choice", key)
    values = maker.choices(question, rows, has_other=asked.has_other)
    excluding = {code.strip() for code in asked.attribute("exclude_all_others").split(";")}
    for choice in question["choices"]:
        if choice["value"] in {values[part.code] for part in rows if part.code in excluding}:
            choice["exclusive"] = True
    most = len(question["choices"])
    bounds = [(name, maker.number(f"{name}_answers")) for name in ("min", "max")]
    question |= {f"choices_{name}": bound for name, bound in bounds if isinstance(bound, int) and 0 < bound <= most}
    if question.get("choices_min", 0) > question.get("choices_max", most):
        del question["choices_min"]
    _shuffle(maker, question)
    subject = f"question:{key}"
    options = {code: Target(subject, "option", value=value) for code, value in values.items()}
    for code, one in options.items():
        maker.name("other" if code == OTHER else code, one)
    maker.name("", Target(subject, "several", values, variable=f"answer.{key}"))
    maker.names[f"that.{asked.code}"] = tuple(options.values())
    if asked.type == "P":
        _comments(maker, subject, [(part, values[part.code]) for part in rows])


def _comments(maker: Maker, subject: str, rows: Sequence[tuple[Part, int]]) -> None:
    for part, value in rows:
        comment = maker.key(part.code, "comment")
        made = maker.add("text", comment, label=part, multiline=False, required=False)
        made["show_if"] = leaf(subject, "contains", value)
        target = Target(f"question:{comment}", "text", variable=f"answer.{comment}")
        maker.name(f"{part.code}_comment", target, old=f"{part.code}comment")
    maker.said.changed(Sentence(SEVERAL, n=len(maker.made)))


def _tick(maker: Maker, key: str, rows: Sequence[Part]) -> None:
    if not rows:
        maker.add("statement", key)
        maker.said.left_out(Sentence("It has fewer than two choices. It became a text without an answer."))
        return
    maker.add("consent", key, label=rows[0])
    maker.said.changed(Sentence(TICKED))
    target = Target(f"question:{key}", "yes_no")
    maker.name(rows[0].code, target)


def _yes_no(maker: Maker) -> None:
    key = maker.key()
    maker.add("yes_no", key)
    maker.name("", Target(f"question:{key}", "yes_no", variable=f"answer.{key}"))


def _points(maker: Maker) -> None:
    key = maker.key()
    style = {"1": "stars"}.get(maker.asked.attribute("slider_rating"), "numbers")
    maker.add("rating", key, scale_min=1, scale_max=5, style=style)
    maker.name("", Target(f"question:{key}", "number", variable=f"answer.{key}"))


def _text(maker: Maker) -> None:
    if maker.asked.attribute("numbers_only") == "1":
        _number(maker)
        return
    key = maker.key()
    _add_text(maker, key)
    maker.name("", Target(f"question:{key}", "text", variable=f"answer.{key}"))


def _add_text(maker: Maker, key: str, **members: Any) -> None:
    characters = maker.number("maximum_chars")
    if characters and 1 <= characters <= TEXT_CHARACTERS_MAX:
        members["length_max"] = int(characters)
    elif maker.asked.type in {"T", "U"}:
        members["length_max"] = TEXT_CHARACTERS_MAX
    maker.add("text", key, multiline=maker.asked.type in {"T", "U"}, **members)


def _number(maker: Maker) -> None:
    key = maker.key()
    _add_number(maker, key)
    maker.name("", Target(f"question:{key}", "number", variable=f"answer.{key}"))


def _add_number(
    maker: Maker, key: str, names: tuple[str, str] = ("min_num_value_n", "max_num_value_n"), **members: Any
) -> None:
    low, high = maker.number(names[0]), maker.number(names[1])
    is_slider = maker.asked.attribute("slider_layout") == "1"
    if is_slider:
        low, high = maker.number("slider_min") or low or 0, maker.number("slider_max") or high or 100
    if low is not None and high is not None and low > high:
        low = high = None
    decimals = (
        0 if maker.asked.attribute("num_value_int_only") == "1" and low in {None, int(low or 0)} else DECIMALS_MAX
    )
    question = maker.add("number", key, decimals=decimals, **members)
    question |= {name: bound for name, bound in (("number_min", low), ("number_max", high)) if bound is not None}
    if is_slider and low is not None and high is not None and low < high:
        question["style"] = "slider"


def _fields(maker: Maker) -> None:
    """A question for each of several numbers or short texts."""
    asked = maker.asked
    is_number = asked.type == "K" or asked.attribute("numbers_only") == "1"
    for part in asked.rows:
        key = maker.key(part.code)
        (_add_number if is_number else _add_text)(maker, key, label=part)
        target = Target(f"question:{key}", "number" if is_number else "text", variable=f"answer.{key}")
        maker.name(part.code, target)
    _say_several(maker)


def _say_several(maker: Maker) -> None:
    if not maker.made:
        maker.add("statement", maker.key())
        maker.said.left_out(Sentence("It has no field. It became a text without an answer."))
    elif len(maker.made) > 1:
        maker.said.changed(Sentence(SEVERAL, n=len(maker.made)))


def _cells(maker: Maker) -> None:
    """A question for each cell of a grid of texts or numbers."""
    rows, columns = _grid(maker.asked)
    is_number = maker.asked.type == ":" or maker.asked.attribute("numbers_only") == "1"
    for row in rows:
        for column in columns:
            key = maker.key(row.code, column.code)
            names = {**row.texts, **{name: f"{plain(row.texts.get(name) or row.code)}, {plain(text or column.code)}"
                for name, text in column.texts.items()}}  # fmt: skip
            label = Part(f"{row.code}, {column.code}", texts=names)
            if is_number:
                _add_number(maker, key, ("multiflexible_min", "multiflexible_max"), label=label)
            else:
                _add_text(maker, key, label=label)
            kind = "number" if is_number else "text"
            maker.name(f"{row.code}_{column.code}", Target(f"question:{key}", kind, variable=f"answer.{key}"))
    _say_several(maker)


def _numbers_grid(maker: Maker) -> None:
    """A grid of numbers: ticks are several choices for each row, lists of numbers a matrix for each column."""
    asked = maker.asked
    rows, columns = _grid(asked)
    if asked.attribute("multiflexible_checkbox") == "1" and len(columns) > 1:
        for row in rows:
            key = maker.key(row.code)
            question = maker.add("multiple_choice", key, label=row)
            values = maker.choices(question, columns)
            for code, value in values.items():
                maker.name(f"{row.code}_{code}", Target(f"question:{key}", "option", value=value))
        _say_several(maker)
        return
    low, high, step = (maker.number(f"multiflexible_{name}") for name in ("min", "max", "step"))
    low, high, step = (0 if low is None else low), (10 if high is None else high), step or 1
    low = 1 if not asked.attribute("multiflexible_min") and high > 1 else low
    count = int((high - low) / step) + 1 if step > 0 and high >= low else 0
    if asked.attribute("input_boxes") == "1" or not 2 <= count <= COLUMNS_MAX or not columns:  # noqa: PLR2004
        _cells(maker)
        return
    codes = [str(_plain_number(Decimal(str(low)) + place * Decimal(str(step)))) for place in range(count)]
    answers = [Part(code, texts=dict.fromkeys(maker.languages.by_name, code)) for code in codes]
    for column in columns:
        _add_matrix(maker, maker.key(column.code), rows, answers, label=column, rest=f"_{column.code}")
    maker.said.changed(Sentence(MATRICES, n=len(columns)))


def _matrix(maker: Maker) -> None:
    asked = maker.asked
    fixed = FIXED.get(asked.type)
    answers = maker.word_parts(fixed) if fixed else [one for one in asked.answers if one.scale == 0]
    rows = _grid(asked)[0]
    if not rows or not answers:
        _say_several(maker)
        return
    if asked.type == "H":
        maker.said.changed(Sentence("Its rows and columns are exchanged on the page."))
    _add_matrix(maker, maker.key(), rows, answers)


def _dual_scale(maker: Maker) -> None:
    rows = _grid(maker.asked)[0]
    for scale, name in enumerate(("dualscale_headerA", "dualscale_headerB")):
        answers = [one for one in maker.asked.answers if one.scale == scale]
        header = Part(str(scale + 1), texts=dict(maker.asked.attributes[name]))
        if rows and answers:
            _add_matrix(
                maker, maker.key(str(scale + 1)), rows, answers, label=header, rest=f"_{scale}", old=f"#{scale}"
            )
    _say_several(maker)


def _add_matrix(
    maker: Maker, key: str, rows: Sequence[Part], answers: Sequence[Part], *, label: Part | None = None, rest: str = "",
    old: str | None = None,
) -> None:  # fmt: skip
    """A matrix, several of them for many rows, or a question for each row where it is too wide or has one column."""
    is_narrow, is_wide = len(answers) == 1, len(answers) > COLUMNS_MAX
    if is_narrow:
        question = maker.add(
            "multiple_choice" if len(rows) > 1 else "consent", key, label=label if rows[1:] else rows[0]
        )
        values = maker.choices(question, rows) if rows[1:] else {}
        maker.said.changed(Sentence("It has one column alone, so its rows became choices."))
        for code, value in values.items():
            maker.name(f"{code}{rest}", Target(f"question:{key}", "option", value=value), old=old and f"{code}{old}")
        return
    if is_wide:
        maker.said.changed(Sentence(WIDE))
        for row in rows:
            own = maker.key(row.code, rest)
            question = maker.add("single_choice", own, label=row)
            values = maker.choices(question, answers)
            maker.name(f"{row.code}{rest}", Target(f"question:{own}", "choice", values, variable=f"answer.{own}"))
        return
    parts = [rows[start : start + ROWS_MAX] for start in range(0, len(rows), ROWS_MAX)]
    if parts[1:]:
        maker.said.changed(Sentence(LONG, n=len(parts)))
    for number, part in enumerate(parts):
        own, keys = key if not number else maker.key(rest, str(number + 1)), Keys()
        question = maker.add("matrix", own, label=label)
        named = [(keys.give(row.code, "r"), row) for row in part]
        maker.labels(question, "rows", named)
        values = maker.choices(question, answers)
        _shuffle(maker, question)
        for name, row in named:
            target = Target(f"question:{own}:{name}", "choice", values)
            maker.name(f"{row.code}{rest}", target, old=None if old is None else f"{row.code}{old}")


def _ranking(maker: Maker) -> None:
    asked, key = maker.asked, maker.key()
    answers = asked.answers or asked.rows
    if len(answers) < 2:  # noqa: PLR2004
        _say_several(maker)
        return
    if len(answers) > RANKED_MAX:
        maker.said.lost(Sentence(TOO_MANY, n=RANKED_MAX))
    question = maker.add("ranking", key)
    maker.choices(question, answers[:RANKED_MAX])
    most = maker.number("max_answers")
    if isinstance(most, int) and 1 <= most < len(question["choices"]):
        question["rank_max"] = most
    _shuffle(maker, question)
    target = Target(f"question:{key}", "several", variable=f"answer.{key}")
    maker.name("", target)
    maker.name("1", target)  # the first place is there where any is


def _date(maker: Maker) -> None:
    key, written = maker.key(), maker.asked.attribute("date_format")
    has_day = any(sign in written for sign in "dmy") or not written
    has_time = "H" in written
    kind = "date_time" if has_day and has_time else "time" if has_time else "date"
    if written and has_day and not all(sign in written for sign in "dmy"):
        maker.said.lost(
            Sentence("It asks for a part of a day ({format}); here people give the whole day.", format=written)
        )
    days: dict[str, str] = {}
    for name in ("date_min", "date_max"):
        bound = maker.asked.attribute(name)
        if _DAY.match(bound) and kind != "time":
            days[name] = bound
        elif bound:
            maker.settings.append(Sentence(FORMULA, value=bound[:200]))
    question = maker.add(kind, key)
    question |= days if days.get("date_min", "") <= days.get("date_max", "9") else {}
    target = Target(f"question:{key}", "date" if kind != "time" else "presence", variable=f"answer.{key}")
    maker.name("", target)


def _file(maker: Maker) -> None:
    key = maker.key()
    endings = [one.strip().lower() for one in maker.asked.attribute("allowed_filetypes").split(",") if one.strip()]
    unknown = [one for one in endings if one not in FILE_ENDINGS]
    if unknown:
        maker.said.lost(Sentence("These files cannot be sent: “{names}”.", names=", ".join(unknown)[:100]))
    kinds = list(dict.fromkeys(FILE_ENDINGS[one] for one in endings if one in FILE_ENDINGS))
    kilobytes = maker.number("max_filesize") or 0
    size = min(max(int(kilobytes) * 1024, FILE_BYTES_MIN), FILE_BYTES_MAX) if kilobytes else FILE_BYTES_MAX
    most = min(max(int(maker.number("max_num_of_files") or 1), 1), FILES_MAX)
    question = maker.add("file", key, bytes_max=size, files_max=most)
    question |= {"file_types": kinds} if kinds else {}
    maker.name("", Target(f"question:{key}", "presence"))


def _statement(maker: Maker) -> None:
    if not any(map(plain, maker.asked.texts.values())):
        maker.said.changed(Sentence("It is empty, so nothing is shown."))
        return
    maker.add("statement", maker.key())


def _language(maker: Maker) -> None:
    maker.said.changed(Sentence("Each page lets people choose their language, so nobody is asked for it."))


def _equation(maker: Maker) -> None:
    maker.said.left_out(Sentence("It calculates a value, which Afterword does not do: “{text}”.",
        text=plain(next(filter(None, maker.asked.texts.values()), ""))[:200]))  # fmt: skip


def _in_one_text(maker: Maker) -> None:
    rows, columns = _grid(maker.asked)
    key = maker.key()
    question = maker.add("text", key, multiline=True)
    default = maker.languages.default
    labels = [plain(maker.languages.read(one.texts).get(default, "")) or one.code for one in (*rows, *columns)]
    below = "\n".join([*([question["description"]] if "description" in question else []), *labels])
    question["description"] = maker.said.text(below, TITLE_CHARACTERS_MAX * 4)
    maker.said.lost(Sentence(MANY))
    maker.name("", Target(f"question:{key}", "text", variable=f"answer.{key}"))


def _unknown(maker: Maker) -> None:
    maker.add("statement", maker.key())
    maker.said.left_out(Sentence(NO_QUESTION, name=maker.asked.type[:20] or "?"))


_BUILDERS: Final[Mapping[str, Callable[[Maker], None]]] = {
    **dict.fromkeys("L!OG", _single_choice), **dict.fromkeys("MP", _multiple_choice), "Y": _yes_no, "5": _points,
    **dict.fromkeys("STU", _text), "N": _number, **dict.fromkeys("KQ", _fields), ";": _cells, ":": _numbers_grid,
    **dict.fromkeys("ABCEFH", _matrix), "1": _dual_scale, "R": _ranking, "D": _date, "|": _file, "X": _statement,
    "I": _language, "*": _equation,
}  # fmt: skip
