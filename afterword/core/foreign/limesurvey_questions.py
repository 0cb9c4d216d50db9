"""Questions of LimeSurvey by their type: what becomes of each, and the names that conditions and texts have for it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

import msgspec

from afterword.core import toml
from afterword.core.foreign.drafting import Draft, Item, Making, Subject, figure
from afterword.core.foreign.limesurvey_file import Texts, Thing
from afterword.core.foreign.parts import NO_QUESTION, SEVERAL, Entry, Pipe, plain
from afterword.core.questionnaires import question_types as types
from afterword.core.questionnaires.definition import QUESTIONS_MAX
from afterword.core.questionnaires.questions import POINTS_MAX, ROWS_MAX
from afterword.errors import Sentence

Names = dict[str, tuple[Subject, str]]  # with the code of a row, or of a choice that has a name of its own

WORDS: Final[Mapping[str, Mapping[str, str]]] = toml.tables_of(__name__, "limesurvey")
SETTINGS: Final[Mapping[str, str]] = {  # of a question, which have no counterpart
    "array_filter": "It shows only what was chosen in an earlier question ({value}); here all of it is shown.",
    "array_filter_exclude": "It hides what was chosen in an earlier question ({value}); here all of it is shown.",
    **dict.fromkeys(("em_validation_q", "em_validation_sq"), "Its answer is checked by a formula: “{value}”."),
    **dict.fromkeys(("equals_num_value", "max_num_value", "min_num_value"), "Its numbers must have a sum: “{value}”."),
    "random_group": "It is shown in random order with others: “{value}”.",
    "time_limit": "There is a time limit in seconds: “{value}”.",
    "preg": "Its answer is checked by a pattern: “{value}”.",
    "default": "Its answer is filled in beforehand.",
}
FIXED: Final[Mapping[str, tuple[str, ...]]] = {
    "A": tuple("12345"), "B": tuple(map(str, range(1, 11))), "C": ("Y", "U", "N"), "E": ("I", "S", "D"),
}  # fmt: skip
OTHER: Final = "-oth-"  # the code of a text beside the choices
ANSWERS_MAX: Final = types.DROPDOWN_CHOICES_MAX + 1  # one more than a list may have, so that the report tells it
FORMULA: Final = "A bound of its answer follows from a formula: “{value}”."
NO_WORDS: Final = "A text is empty, so its code stands there: “{code}”."
LONG: Final = "It has more rows than a matrix, so it became {n} of them."
ONE_COLUMN: Final = "It has one column alone, so its rows became choices."
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_EXPRESSION: Final = re.compile(r"\{[^\s{}][^{}]{0,400}\}")


class Maker(msgspec.Struct):
    """Makes our questions of one of theirs. `entry`: its line; `names`: to which it adds what it is called."""

    draft: Draft
    thing: Thing
    entry: Entry
    pipe: Pipe
    names: Names
    made: list[Item] = msgspec.field(default_factory=list[Item])
    left_out: list[Sentence] = msgspec.field(default_factory=list[Sentence])  # settings without a counterpart
    _split: str = SEVERAL

    def make(self, *, is_short: bool) -> None:
        """`is_short`: its fields do not become questions of their own."""
        kind = self.thing["type"]
        build = _in_one_text if is_short else _BUILDERS.get(kind, _unknown)
        if subject := build(self):
            self.name("", subject)
        if not self.made and kind not in _SILENT:
            self.question("statement")
            self.entry.left_out("It has no field. It became a text without an answer.")
        if len(self.made) > 1:
            self.entry.changed(self._split, n=len(self.made))
        if self.thing.setting("hidden") == "1":
            self.entry.changed("It is hidden, so it is switched off.")
            for item in self.made:
                item["enabled"] = False
        self.entry.key = self.made[0]["key"] if self.made else ""

    def question(self, kind: str, *codes: str, label: Texts | None = None, **members: Any) -> Making:
        """A question with the texts of theirs, and of its part `label` behind them."""
        named = self.draft.named("_".join([self.thing.code or "q", *filter(None, codes)]))
        is_required = self.thing["mandatory"] in {"Y", "S"} and kind != "statement"
        one = Making(self.draft, self.entry, {}, self.pipe, {**named, "type": kind, "required": is_required})
        titles, helps = dict(self.thing.texts["question"]), dict(self.thing.texts["help"])
        for name in self.draft.languages if label else ():
            title, part = self.said(self.thing.texts["question"], name), self.said(label or {}, name)
            titles[name] = escape(" \N{EN DASH} ".join(filter(None, [title, part])))
            if len(titles[name]) > types.TITLE_CHARACTERS_MAX:
                titles[name], helps[name] = escape(part), f"{escape(title)}\n\n{helps.get(name, '')}"
        if not self.draft.text(titles):
            self.entry.changed(NO_WORDS, code=self.thing.code)
        one.put_title(titles, helps)
        one.item |= members
        self.draft.groups[-1]["questions"].append(one.item)
        self.made.append(one.item)
        return one

    def said(self, texts: Texts, name: str) -> str:
        """The words of a text in a language of the file, else in the default one."""
        return plain(texts.get(name)) or self.draft.text(texts)

    def name(self, rest: str, subject: Subject, part: str = "") -> None:
        """Names an answer: by the code with the part, and by the number of the question with it."""
        self.names["_".join(filter(None, [self.thing.code, rest]))] = subject, part
        self.names[old_name(self.thing["qid"], rest)] = subject, part

    def rows(self, scale: int = 0) -> list[Thing]:
        return [one for one in self.thing.inside if one.scale == scale]

    def answers(self, scale: int = 0) -> list[Thing]:
        return [one for one in self.thing.answers if one.scale == scale][:ANSWERS_MAX]

    def label(self, part: Thing) -> Texts:
        """The words of a part; its code where it has none."""
        found = part.texts["question"] or part.texts["answer"]
        if plain(self.draft.texts(found).get(self.draft.locale)):
            return found
        self.entry.lost(NO_WORDS, code=part.code)
        return {**found, next(iter(self.draft.languages)): escape(part.code)}

    def labels(self, parts: Iterable[Thing]) -> list[tuple[str, object]]:
        """Codes and words of choices or rows, which have no variables here."""
        found: list[tuple[str, object]] = []
        for one in parts:
            words = {name: plain(text) for name, text in self.label(one).items()}
            if any(map(_EXPRESSION.search, words.values())):
                self.entry.lost("A label shows a value, which labels cannot do here.")
            found.append((one.code, {name: escape(_EXPRESSION.sub("…", text)) for name, text in words.items()}))
        return found

    def words(self, code: str) -> Texts:
        """Words of LimeSurvey itself, in the languages of the survey."""
        locales = {name: locale.partition("-")[0] for name, locale in self.draft.languages.items()}
        if lacking := sorted({locale for locale in locales.values() if locale not in WORDS}):
            self.entry.lost(
                "Words of LimeSurvey itself are in English in these languages: “{names}”.", names=", ".join(lacking)
            )
        return {name: WORDS.get(locale, WORDS["en"])[code] for name, locale in locales.items()}

    def fixed(self, codes: Iterable[str]) -> list[Thing]:
        return [answer(code, self.words(code) if code in WORDS["en"] else {"": code}) for code in codes]

    def choices(self, one: Making, parts: Sequence[Thing]) -> Subject:
        """Sets the choices, with one for another answer where the question has it."""
        kind = one.item["type"]
        added: list[tuple[str, object]] = []
        if self.thing["other"] == "Y" and kind in {"single_choice", "multiple_choice"}:
            said = self.thing.texts["other_replace_text"]
            added = self.labels([answer(OTHER, said if self.draft.text(said) else self.words("other"))])
        codes = one.put_choices(kind, self.labels(parts), added)
        excluding = self.thing.setting("exclude_all_others").split(";")
        one.mark(codes, [OTHER], map(str.strip, excluding))
        for choice, part in zip(one.item.get("choices", ()), parts, strict=False):
            points = figure(part["assessment_value"])
            if points and abs(points) <= POINTS_MAX and kind != "ranking":
                choice["points"] = int(points)
        is_random = self.thing.setting("random_order") in {"1", "2"} or self.thing.setting("answer_order") == "random"
        one.put_list(is_dropdown=self.thing["type"] == "!", is_random=is_random)
        return one.subject(codes=codes)

    def number(self, name: str) -> int | float | None:
        """A bound that is a number; one by a formula is left out."""
        written = self.thing.setting(name)
        found = figure(written)
        if written and found is None:
            self.left_out.append(Sentence(FORMULA, value=written[:200]))
        return found

    def field(self, *codes: str, label: Texts | None = None) -> Subject:
        kind = self.thing["type"]
        if kind in {"N", "K", ":"} or self.thing.setting("numbers_only") == "1":
            one = self.question("number", *codes, label=label, **self._bounds())
        else:
            one = self.question("text", *codes, label=label, multiline=kind in {"T", "U"})
            characters = self.number("maximum_chars") or (types.TEXT_CHARACTERS_MAX if kind in {"T", "U"} else 0)
            if 1 <= characters <= types.TEXT_CHARACTERS_MAX:
                one.item["length_max"] = int(characters)
        return one.subject()

    def _bounds(self) -> Item:
        before, behind = ("multiflexible_", "") if self.thing["type"] == ":" else ("", "_num_value_n")
        low, high = self.number(f"{before}min{behind}"), self.number(f"{before}max{behind}")
        is_slider = self.thing.setting("slider_layout") == "1"
        if is_slider:
            low, high = self.number("slider_min") or low or 0, self.number("slider_max") or high or 100
        if low is not None and high is not None and low > high:
            low = high = None
        is_whole = self.thing.setting("num_value_int_only") == "1" and not isinstance(low, float)
        found: Item = {"decimals": 0 if is_whole else types.DECIMALS_MAX, "number_min": low, "number_max": high}
        if is_slider and low != high:
            found["style"] = "slider"
        return {name: value for name, value in found.items() if value is not None}

    def matrix(
        self, rows: Sequence[Thing], answers: Sequence[Thing], *codes: str, label: Texts | None = None, ending: str = ""
    ) -> None:
        """A matrix, several of them for many rows, or a question for each row where it is too wide.

        `ending`: of the names of its rows.
        """
        if len(answers) == 1:
            self.entry.changed(ONE_COLUMN)
            subject = self.choices(self.question("multiple_choice", *codes, label=label), rows)
            for row in rows:
                self.name(f"{row.code}{ending}", subject, row.code)
        elif len(answers) > types.COLUMNS_MAX:
            for row in rows:
                subject = self.choices(self.question("single_choice", row.code, *codes, label=self.label(row)), answers)
                self.name(f"{row.code}{ending}", subject)
        else:
            for start in range(0, len(rows) if answers else 0, ROWS_MAX):
                self._split = LONG if start else self._split
                part = rows[start : start + ROWS_MAX]
                one = self.question("matrix", *codes, str(start // ROWS_MAX + 1) if start else "", label=label)
                keys = one.put_rows(self.labels(part))
                subject = one.subject(codes=self.choices(one, answers).codes, parts=keys)
                for row in part:
                    self.name(f"{row.code}{ending}", subject, row.code)


def count_of(thing: Thing) -> int:
    """The number of questions that it becomes where its fields are questions of their own."""
    rows = sum(one.scale == 0 for one in thing.inside)
    columns = len(thing.inside) - rows
    is_ticked, is_typed = (thing.setting(name) == "1" for name in ("multiflexible_checkbox", "input_boxes"))
    numbers = rows * columns if is_typed else rows if is_ticked else columns
    found = {"K": rows, "Q": rows, "P": 1 + rows, "O": 2, "1": 2, ";": rows * columns, ":": numbers}
    return found.get(thing["type"], 1)


def old_name(number: str, rest: str) -> str:
    """A name by the number of a question, as older conditions have it: `#11A_1` for `7X1X11A#1`."""
    return f"#{number}{rest.replace('_', '').replace('#', '')}"


def answer(code: str, texts: Texts) -> Thing:
    made = Thing({"code": code})
    made.texts["answer"] = texts
    return made


def _single_choice(maker: Maker) -> Subject | None:
    kind = maker.thing["type"]
    answers = maker.fixed("FM") if kind == "G" else maker.answers()
    if not answers:
        return None
    question = maker.question("single_choice")
    subject = maker.choices(question, answers)
    maker.name("other", subject, OTHER)
    if kind == "O":
        comment = maker.question("text", "comment", label=maker.words("comment"), required=False)
        maker.name("comment", comment.subject())
    return subject


def _multiple_choice(maker: Maker) -> Subject | None:
    thing, rows = maker.thing, maker.rows()
    if not rows:
        return None
    question = maker.question("multiple_choice")
    subject = maker.choices(question, rows)
    question.put_list(least=maker.number("min_answers"), most=maker.number("max_answers"))
    for code in subject.codes:
        maker.name("other" if code == OTHER else code, subject, code)
    maker.names[f"that.{thing.code}"] = subject, ""
    for row in rows if thing["type"] == "P" else ():
        chosen = subject.compared("contains", row.code)
        label, own = maker.label(row), {"multiline": False, "required": False, "show_if": chosen}
        comment = maker.question("text", row.code, "comment", label=label, **own)
        maker.name(f"{row.code}_comment", comment.subject())
    return subject


def _yes_no(maker: Maker) -> Subject:
    return maker.question("yes_no").subject(codes={"Y": True, "N": False})


def _points(maker: Maker) -> Subject:
    style = "stars" if maker.thing.setting("slider_rating") == "1" else "numbers"
    return maker.question("rating", scale_min=1, scale_max=5, style=style).subject()


def _fields(maker: Maker) -> None:
    """A question for each of several numbers or short texts."""
    for row in maker.rows():
        maker.name(row.code, maker.field(row.code, label=maker.label(row)))


def _cells(maker: Maker) -> Subject | None:
    """A question for each cell of a grid of texts or numbers."""
    if len(maker.rows()) * len(maker.rows(1)) > QUESTIONS_MAX:
        return _in_one_text(maker)
    for row in maker.rows():
        for column in maker.rows(1):
            words = [maker.label(row), maker.label(column)]
            label = {name: ", ".join(maker.said(one, name) for one in words) for name in maker.draft.languages}
            maker.name(f"{row.code}_{column.code}", maker.field(row.code, column.code, label=label))
    return None


def _numbers_grid(maker: Maker) -> Subject | None:
    """A grid of numbers: ticks are several choices for each row, lists of numbers a matrix for each column."""
    rows, columns = maker.rows(), maker.rows(1)
    if maker.thing.setting("multiflexible_checkbox") == "1" and len(columns) > 1:
        for row in rows:
            question = maker.question("multiple_choice", row.code, label=maker.label(row))
            subject = maker.choices(question, columns)
            for code in subject.codes:
                maker.name(f"{row.code}_{code}", subject, code)
        return None
    low, high, step = (maker.number(f"multiflexible_{name}") for name in ("min", "max", "step"))
    low, high, step = (1 if low is None else low), (10 if high is None else high), step or 1
    count = int((high - low) / step) + 1 if step > 0 and high >= low else 0
    if maker.thing.setting("input_boxes") == "1" or not 2 <= count <= types.COLUMNS_MAX:  # noqa: PLR2004
        return _cells(maker)
    answers = maker.fixed(f"{low + place * step:g}" for place in range(count))
    for column in columns:
        maker.matrix(rows, answers, "of", column.code, label=maker.label(column), ending=f"_{column.code}")
    return None


def _matrix(maker: Maker) -> None:
    kind, rows = maker.thing["type"], maker.rows()
    answers = maker.fixed(FIXED[kind]) if kind in FIXED else maker.answers()
    if kind == "H":
        maker.entry.changed("Its rows and columns are exchanged on the page.")
    maker.matrix(rows, answers)


def _dual_scale(maker: Maker) -> None:
    for scale, name in enumerate(("dualscale_headerA", "dualscale_headerB")):
        number = str(scale + 1)
        header = maker.thing.texts.get(name) or {"": number}
        maker.matrix(maker.rows(), maker.answers(scale), number, label=header, ending=f"_{scale}")


def _ranking(maker: Maker) -> Subject | None:
    answers = maker.answers() or maker.rows()
    if len(answers) < 2:  # noqa: PLR2004
        return None
    question = maker.question("ranking")
    maker.choices(question, answers)
    most = maker.number("max_answers") or 0
    if 1 <= most < len(question.item["choices"]):
        question.item["rank_max"] = int(most)
    maker.name("1", question.subject())  # the first place is there where any is
    return question.subject()


def _date(maker: Maker) -> Subject:
    written = maker.thing.setting("date_format") or "dmy"
    signs = [sign for sign in "dmy" if sign in written]
    kind = "time" if not signs else "date_time" if "H" in written else "date"
    if 0 < len(signs) < len("dmy"):
        said = "It asks for a part of a day ({format}); here people give the whole day."
        maker.entry.lost(said, format=written)
    question = maker.question(kind)
    for name in ("date_min", "date_max"):
        bound = maker.thing.setting(name)
        if _DAY.match(bound) and kind != "time" and bound >= question.item.get("date_min", ""):
            question.item[name] = bound
        elif bound:
            maker.left_out.append(Sentence(FORMULA, value=bound[:200]))
    return question.subject()


def _file(maker: Maker) -> Subject:
    question = maker.question("file")
    question.put_files(filter(None, maker.thing.setting("allowed_filetypes").split(",")))
    size, most = maker.number("max_filesize") or types.FILE_BYTES_MAX, maker.number("max_num_of_files") or 1
    question.item["bytes_max"] = min(max(int(size) * 1024, types.FILE_BYTES_MIN), types.FILE_BYTES_MAX)
    question.item["files_max"] = min(max(int(most), 1), types.FILES_MAX)
    return question.subject()


def _statement(maker: Maker) -> None:
    if any(map(plain, maker.thing.texts["question"].values())):
        maker.question("statement")
    else:
        maker.entry.changed("It is empty, so nothing is shown.")


def _language(maker: Maker) -> None:
    maker.entry.changed("Each page lets people choose their language, so nobody is asked for it.")


def _equation(maker: Maker) -> None:
    said = "It calculates a value, which Afterword does not do: “{text}”."
    maker.entry.left_out(said, text=maker.draft.text(maker.thing.texts["question"])[:200])


def _in_one_text(maker: Maker) -> Subject:
    question = maker.question("text", multiline=True)
    labels = (maker.draft.text(maker.label(one)) for one in maker.thing.inside)
    below = "\n".join([*filter(None, [question.item.get("description")]), *labels])
    question.item["description"] = maker.entry.text(below, types.DESCRIPTION_CHARACTERS_MAX)
    maker.entry.lost("Its fields became one text, since a questionnaire has at most 200 questions.")
    return question.subject()


def _unknown(maker: Maker) -> None:
    maker.question("statement")
    maker.entry.left_out(NO_QUESTION, name=maker.thing["type"][:20] or "?")


_SILENT: Final = frozenset("XI*")  # which say themselves that nothing becomes of them
_BUILDERS: Final[Mapping[str, Callable[[Maker], Subject | None]]] = {
    **dict.fromkeys("L!OG", _single_choice), **dict.fromkeys("MP", _multiple_choice), "Y": _yes_no, "5": _points,
    **dict.fromkeys("STUN", Maker.field), **dict.fromkeys("KQ", _fields), ";": _cells, ":": _numbers_grid,
    **dict.fromkeys("ABCEFH", _matrix), "1": _dual_scale, "R": _ranking, "D": _date, "|": _file, "X": _statement,
    "I": _language, "*": _equation,
}  # fmt: skip
