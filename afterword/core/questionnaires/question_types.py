"""The types of questions, one entry for each, and the records that a question is made of. `questions.py` reads them.

A type of a known shape is one entry of TYPES with a template: how its answers are read, shown, counted and exported
follows from the shape.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Kind
from afterword.core.reading.documents import Members, expected_of
from afterword.core.text import placeholders
from afterword.core.text.locales import Marked
from afterword.errors import Sentence

Number = int | float
Shape = Literal[
    "scale", "choice", "choices", "yes_no", "matrix", "ranking", "text", "number", "date", "time", "date_time",
    "consent", "contact", "files", "none",
]  # fmt: skip
ScoreName = Literal["nps", "csat", "ces"]  # types with a score
ScaleName = Literal[ScoreName, "smileys", "rating"]
TITLE_CHARACTERS_MAX: Final = 500
DESCRIPTION_CHARACTERS_MAX: Final = 2000
DISPLAY_NAME_CHARACTERS_MAX: Final = 200
LABEL_CHARACTERS_MAX: Final = 200
END_LABEL_CHARACTERS_MAX: Final = 100
TEXT_CHARACTERS_MAX: Final = 5000
TEXT_CHARACTERS_DEFAULT: Final = 2000
LINES_CHARACTERS_MAX: Final = 20_000  # of the choices or rows in a form
CHOICES_MAX: Final = 100
DROPDOWN_CHOICES_MAX: Final = 500  # countries, shops, models
COLUMNS_MAX: Final = 11
RANKED_MAX: Final = 20
NUMBER_DIGITS_MAX: Final = 15  # a double keeps as many
DECIMALS_MAX: Final = 6
CONTACT_FIELDS: Final = ("name", "email", "phone", "preferred_time")
ADDRESS_FIELDS: Final = ("street", "postal_code", "city", "region", "country")
FILE_TYPES: Final = ("picture", "pdf", "document", "spreadsheet", "text")
FILE_TYPES_DEFAULT: Final = ("picture", "pdf")
FILE_BYTES_MIN: Final = 10_000
FILE_BYTES_MAX: Final = 10_485_760
FILE_BYTES_DEFAULT: Final = 5_242_880
FILES_MAX: Final = 5  # of one answer
YES_NO: Final[Mapping[int, str]] = {1: "Yes", 0: "No"}
"""The values of a form or link, and their texts in our catalogues; true and false are the same keys."""

Reader = Callable[[Members, str, int], object]
"""Reads a member of a definition by its name; the number is that of the question's choices."""
Rule = Callable[[Members, Mapping[str, Any]], None]
"""Reports members that do not fit each other; they come as they were read."""


class Style(NamedTuple):
    label: Marked  # in the builder
    control: str


class Score(NamedTuple):
    """The figure of all answers: the share of the top segment, or less that of the lowest one where it `is_net`.

    `report` and `description`: its ready report in the reference of the API; `text`: in the console. `mean`: the label
    of its mean, empty where that is not shown.
    """

    label: Marked
    text: Marked
    report: str
    description: str
    mean: Marked = ""
    is_net: bool = False

    @property
    def unit(self) -> str:
        return "" if self.is_net else " %"

    @property
    def bounds(self) -> tuple[float, float]:
        return (-100, 100) if self.is_net else (0, 100)


class Standard(NamedTuple):
    """The content of a new question. Its texts are keys of the catalogues of pages, as customers read them."""

    title: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


EMPTY: Final = Standard()


class QuestionType(msgspec.Struct, frozen=True):
    """One type. Its texts are in English, as keys of our catalogues.

    `label`: in the builder, with `about` below it in the gallery. `standard`: what a new question has.
    `control`: the template of its controls, `templates/public/controls/{control}.html`;
    without one that of its shape, or of the question's style. `subject`: the kind of value that conditions compare.
    `seconds`: to give an answer; of a matrix each row, of a ranking each place, of a contact each field.
    `form`: names of MEMBERS that its form in the builder has beside those of all types and its own. `labels`: where
    the form calls a member otherwise. `members`: readers of the members that only this type has.
    `scale`: its fixed ends. `segments`: name, low, high, from the lowest; `score`: their figure. `ends`:
    labels of the ends if the author gave none.
    `faces`: by the number of keys an emoji and a label for each. `parts`: the names of fields that it may have.
    `identifies`: an answer says who gave it.
    """

    name: str
    label: Marked
    shape: Shape
    about: Marked = ""
    standard: Standard = EMPTY
    control: str = ""
    subject: Kind = "presence"
    seconds: float = 0
    form: tuple[str, ...] = ()
    labels: Mapping[str, Marked] = msgspec.field(default_factory=dict[str, str])
    members: Mapping[str, Reader] = msgspec.field(default_factory=dict[str, Reader])
    rule: Rule | None = None
    styles: Mapping[str, Style] = msgspec.field(default_factory=dict[str, Style])
    choices_max: int = 0
    has_rows: bool = False
    scale: tuple[int, int] | None = None
    segments: tuple[tuple[str, int, int], ...] = ()
    score: Score | None = None
    ends: tuple[str, str] = ("", "")
    faces: Mapping[int, Sequence[tuple[str, str]]] = msgspec.field(default_factory=dict[int, Sequence[tuple[str, str]]])
    parts: tuple[str, ...] = ()
    identifies: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        lists = [name for name, is_there in (("rows", self.has_rows), ("choices", self.choices_max)) if is_there]
        return (*lists, *self.members, *(["style"] if self.styles else []))

    @property
    def is_answered(self) -> bool:
        return self.shape != "none"

    @property
    def is_scored(self) -> bool:
        return "scored" in self.form

    @property
    def has_rich_choices(self) -> bool:
        """Whether its choices may have pictures, open a text, or exclude the others."""
        return self.shape in {"choice", "choices"}

    def control_of(self, style: str | None) -> str:
        found = self.styles.get(style or "")
        return found.control if found else self.control or self.shape


class Choice(msgspec.Struct, frozen=True):
    """One of the answers to choose from; `other` opens a text, `exclusive` excludes the others, `points` are scored.

    `picture`: the path of an asset that is shown above the label, which tells the same in words. `code`: what it was
    in the system that it came from, as its past answers have it.
    """

    value: int
    label: str
    other: bool = False
    exclusive: bool = False
    points: int | None = None
    picture: str | None = None
    code: str | None = None


class Row(msgspec.Struct, frozen=True):
    row_id: str
    label: str
    key: str | None = None
    code: str | None = None


class Jump(msgspec.Struct, frozen=True):
    """Where to go on when the conditions hold (None: always); without a target to the end."""

    target_question_id: str | None
    conditions: conditions.Node | None


class Translation(msgspec.Struct, frozen=True):
    """A question's texts in one more language; a text that is None or absent is that of the default locale."""

    title: str | None = None
    description: str | None = None
    low_label: str | None = None
    high_label: str | None = None
    choices: Mapping[int, str] = msgspec.field(default_factory=dict[int, str])
    rows: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


class Question(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A question in the default locale; fields of other types than its own are None or empty. `code` as of a choice."""

    question_id: str
    type: str
    title: str
    key: str | None = None
    code: str | None = None
    description: str | None = None
    display_name: str | None = None
    required: bool = False
    enabled: bool = True
    display_probability: int = 100
    randomize: bool = False
    scored: bool = False
    low_label: str | None = None
    high_label: str | None = None
    show_if: conditions.Node | None = None
    jumps: tuple[Jump, ...] = ()
    translations: Mapping[str, Translation] = msgspec.field(default_factory=dict[str, Translation])
    scale_min: int | None = None
    scale_max: int | None = None
    style: str | None = None
    rows: tuple[Row, ...] = ()
    choices: tuple[Choice, ...] = ()
    removed_choices: tuple[Choice, ...] = ()  # of older versions alone, for the names in reports
    choices_min: int | None = None
    choices_max: int | None = None
    rank_max: int | None = None
    length_max: int | None = None
    multiline: bool | None = None
    number_min: Number | None = None
    number_max: Number | None = None
    decimals: int | None = None
    date_min: str | None = None
    date_max: str | None = None
    contact_fields: tuple[str, ...] = ()
    file_types: tuple[str, ...] = ()
    files_max: int | None = None
    bytes_max: int | None = None

    @property
    def plain_title(self) -> str:
        """The title with the fallbacks of its variables, for lists and reports."""
        return placeholders.plain(self.title)

    @cached_property
    def shape(self) -> Shape:
        return TYPES[self.type].shape

    @property
    def control(self) -> str:
        return TYPES[self.type].control_of(self.style)

    @cached_property
    def is_answered(self) -> bool:
        return self.shape != "none"

    @cached_property
    def has_points(self) -> bool:
        return self.scored or any(choice.points is not None for choice in self.choices)

    @cached_property
    def is_required(self) -> bool:
        return self.required and self.is_answered

    @cached_property
    def scale(self) -> range:
        """The keys of a scale from its low to its high end; empty for other shapes."""
        if self.shape != "scale":
            return range(0)
        low, high = TYPES[self.type].scale or (1 if self.scale_min is None else self.scale_min, self.scale_max or 0)
        return range(low, high + 1)

    @property
    def ranks(self) -> int:
        """The number of ranks; 0 for other shapes."""
        return (self.rank_max or len(self.choices)) if self.shape == "ranking" else 0

    @property
    def known_values(self) -> Collection[int]:
        return [choice.value for choice in self.choices] or self.scale

    @cached_property
    def is_several(self) -> bool:
        """Whether an answer is a list of choices."""
        return TYPES[self.type].subject == "integers"

    @property
    def kinds(self) -> dict[str, Kind]:
        parts: dict[str, Kind] = {f"{self.question_id}:{row.row_id}": "integer" for row in self.rows}
        texts: dict[str, Kind] = {f"{self.question_id}:{name}": "text" for name in self.contact_fields}
        return {self.question_id: TYPES[self.type].subject, **parts, **texts}

    def choice(self, value: object) -> Choice | None:
        return next((choice for choice in self.choices if choice.value == value), None)

    def label_of(self, value: object) -> str | None:
        """The label of a choice, by its value as a number or as a text; also of one that was removed."""
        known = (*self.choices, *self.removed_choices)
        return next((choice.label for choice in known if str(choice.value) == str(value)), None)

    def naming(self, older: "Question") -> "Question":
        known = {choice.value for choice in (*self.choices, *self.removed_choices)}
        more = [choice for choice in older.choices if choice.value not in known]
        return replace(self, removed_choices=(*self.removed_choices, *more)) if more else self

    def row(self, row_id: str) -> Row | None:
        return next((row for row in self.rows if row.row_id == row_id), None)

    @cached_property
    def other_choice(self) -> Choice | None:
        return next((choice for choice in self.choices if choice.other), None)


class Member(NamedTuple):
    """`meaning`: in sentences about changes. `most`: characters of its field. `default`: of a document without it."""

    kind: Literal["text", "number", "decimal", "date", "area", "lines", "check", "choice", "checks"]
    label: Marked
    meaning: Marked = ""
    hint: Marked = ""
    most: int = 20
    default: object = None


MEMBERS: Final[Mapping[str, Member]] = {
    "title": Member("area", "Question", "the title", most=TITLE_CHARACTERS_MAX),
    "description": Member("area", "Help text", "the description", most=DESCRIPTION_CHARACTERS_MAX),
    "rows": Member("lines", "Rows", "", "One per line. If you only reword a line, its answers stay with it."),
    "choices": Member("lines", "Choices", "",
        "One per line; paste as many as you like. If you only reword a line, its answers stay with it."),
    "points": Member("text", "Points", "the points",
        "A number for each choice, in their order: 10, 5, 0. Empty: none. Their sum is the score of a response.",
        most=1_000),
    "other": Member("choice", "Adds a text field", "the text field"),
    "exclusive": Member("checks", "Excludes the other choices", "the exclusion of other choices"),
    "contact_fields": Member("checks", "Fields", "the fields"),
    "file_types": Member("checks", "Kinds of files", "the kinds of files",
        "Each file is checked by its content. A kiosk, which works without a connection, leaves it out."),
    "files_max": Member("choice", "Maximum number of files", "the maximum number of files", default=1),
    "bytes_max": Member("choice", "Maximum size of each file", "the maximum size of a file",
        default=FILE_BYTES_DEFAULT),
    "scale_min": Member("choice", "Lowest value", "the low end of the scale"),
    "scale_max": Member("choice", "Highest value", "the high end of the scale"),
    "style": Member("choice", "Shown as", "the look of the scale"),
    "low_label": Member("text", "Label of the low end", "the label of the low end", most=END_LABEL_CHARACTERS_MAX),
    "high_label": Member("text", "Label of the high end", "the label of the high end", most=END_LABEL_CHARACTERS_MAX),
    "choices_min": Member("number", "Minimum number of choices", "the minimum number of choices"),
    "choices_max": Member("number", "Maximum number of choices", "the maximum number of choices",
        "Empty: all of them."),
    "rank_max": Member("number", "Only the top ones", "the number of places", "Empty: all of them must be ranked."),
    "number_min": Member("decimal", "Minimum", "the minimum"),
    "number_max": Member("decimal", "Maximum", "the maximum"),
    "decimals": Member("number", "Decimals", "the number of decimals"),
    "date_min": Member("date", "First day", "the first date"),
    "date_max": Member("date", "Last day", "the last date"),
    "length_max": Member("number", "Maximum length in characters", "the maximum length",
        default=TEXT_CHARACTERS_DEFAULT),
    "multiline": Member("check", "Lines shown", "the height of the field", default=True),
    "randomize": Member("check", "In random order", "the shuffling", default=False),
    "scored": Member("check", "The answer counts as points", "the counting of its answer as points",
        "The number of the answer, or 1 for yes, is added to the score of a response.", default=False),
    "required": Member("check", "An answer is required", default=False),
    "display_name": Member("text", "Name in reports", "the internal name", "A short name. Empty: the question itself.",
        DISPLAY_NAME_CHARACTERS_MAX),
    "enabled": Member("check", "Shown to customers", default=True),
    "display_probability": Member("number", "Show to this percentage of people", "the share of people who are asked",
        default=100),
}  # fmt: skip
"""In the order of the form."""
FOLDED: Final = ("display_name", "enabled", "display_probability")


def _whole(low: int, high: int, default: int) -> Reader:
    return lambda members, name, _: members.integer(name, low, high, default)


def _of_choices(default: int | None = None) -> Reader:
    """A number of choices; without a default from 1 on, or None."""

    def read(members: Members, name: str, count: int) -> object:
        if default is None:
            return members.optional_integer(name, 1, max(count, 1))
        return members.integer(name, default, max(count, 1), default)

    return read


def _names(known: Sequence[str], default: tuple[str, ...]) -> Reader:
    def read(members: Members, name: str, _: int) -> object:
        if not members.has(name):
            members.take(name)
            return default
        found: list[str] = []
        for path, entry in members.items(name, 1, len(known)):
            if not isinstance(entry, str) or entry not in known:
                members.findings.error(path, "unknown_value", expected_of(known))
            elif entry in found:
                members.findings.error(path, "duplicate", "This is in the list already.")
            else:
                found.append(entry)
        return tuple(found)

    return read


def _bound(members: Members, name: str, _: int) -> object:
    return members.number(name, NUMBER_DIGITS_MAX)


def _day(members: Members, name: str, _: int) -> object:
    return members.date(name)


_DAYS: Final[Mapping[str, Reader]] = {"date_min": _day, "date_max": _day}


def _check_smileys(members: Members, read: Mapping[str, Any]) -> None:
    if read["scale_max"] not in FACES:
        members.error("scale_max", "out_of_range", "3 or 5 smileys are possible.")


def _check_dropdown(members: Members, read: Mapping[str, Any]) -> None:
    if read["style"] and any(choice.picture for choice in read["choices"]):
        members.error("style", "exclusive", "A drop-down list shows no pictures.")


def _check_choices(members: Members, read: Mapping[str, Any]) -> None:
    if read["choices_max"] is not None and read["choices_min"] > read["choices_max"]:
        members.error("choices_min", "out_of_range", "The least number of choices is over the greatest.")


def _check_number(members: Members, read: Mapping[str, Any]) -> None:
    decimals, low, high = read["decimals"], read["number_min"], read["number_max"]
    for name, bound in (("number_min", low), ("number_max", high)):
        if bound is not None and round(bound, decimals) != bound:
            message = Sentence("Answers have at most {n} decimals, so no bound has more.", n=decimals)
            members.error(name, "out_of_range", message)
    if low is not None and high is not None and low > high:
        members.error("number_min", "out_of_range", "The least number is over the greatest.")
    if read["style"] is not None and (low is None or high is None or low >= high):
        members.error("style", "required", "A slider has a least and a greatest number.")


def _check_days(members: Members, read: Mapping[str, Any]) -> None:
    low, high = read["date_min"], read["date_max"]
    if low is not None and high is not None and low > high:
        members.error("date_min", "out_of_range", "The first date is after the last.")


def _scale(name: str, label: Marked, about: Marked = "", **more: Any) -> QuestionType:
    form = ("low_label", "high_label", "scored")
    return QuestionType(name, label, "scale", about, subject="integer", seconds=3, form=form, **more)


def _contact(
    name: str, label: Marked, parts: tuple[str, ...], default: tuple[str, ...], about: Marked = ""
) -> QuestionType:
    members = {"contact_fields": _names(parts, default)}
    return QuestionType(name, label, "contact", about, seconds=6, members=members, parts=parts, identifies=True)


FACES: Final[Mapping[int, Sequence[tuple[str, str]]]] = {
    3: (("🙁", "Bad"), ("😐", "Neutral"), ("🙂", "Good")),
    5: (("😞", "Very bad"), ("🙁", "Bad"), ("😐", "Neutral"), ("🙂", "Good"), ("😀", "Very good")),
}

_ASPECTS: Final = ("Quality", "Service", "Price")
_SATISFACTION: Final = (
    "Very dissatisfied",
    "Dissatisfied",
    "Neither satisfied nor dissatisfied",
    "Satisfied",
    "Very satisfied",
)

TYPES: Final[Mapping[str, QuestionType]] = {
    row.name: row
    for row in (
        _scale(
            "nps",
            "Recommendation, 0 to 10 (NPS)",
            "Would customers recommend you? The usual yardstick of loyalty.",
            standard=Standard("How likely are you to recommend us to a friend or colleague?", required=True),
            scale=(0, 10),
            segments=(("detractor", 0, 6), ("passive", 7, 8), ("promoter", 9, 10)),
            score=Score(
                "NPS",
                "Promoters minus detractors, for each question.",
                "Net Promoter Score",
                description="Promoters (9, 10) less detractors (0 to 6) of all answers on 0-10, in points; a row for "
                "each question.",
                is_net=True,
            ),
            ends=("Not at all likely", "Extremely likely"),
        ),
        _scale(
            "csat",
            "Satisfaction, 1 to 5 (CSAT)",
            "Was it good? Right after a purchase, a delivery or a visit.",
            standard=Standard("How satisfied are you with us overall?", required=True),
            scale=(1, 5),
            segments=(("dissatisfied", 1, 2), ("neutral", 3, 3), ("satisfied", 4, 5)),
            score=Score(
                "CSAT",
                "The share of satisfied customers, for each question.",
                "Customer satisfaction",
                description="The share of 4 and 5 on 1-5, in percent, and the mean; a row for each question.",
                mean="CSAT, mean",
            ),
            ends=("Very dissatisfied", "Very satisfied"),
        ),
        _scale(
            "ces",
            "Effort, 1 to 7 (CES)",
            "Was it easy? Right after a request to your team.",
            standard=Standard(
                "How much do you agree with this sentence: “You made it easy for me to solve my problem”?",
                required=True,
            ),
            scale=(1, 7),
            segments=(("hard", 1, 3), ("neutral", 4, 4), ("easy", 5, 7)),
            score=Score(
                "CES",
                "The share of customers for whom it was easy, for each question.",
                "Customer effort",
                description="The share of 5 to 7 on 1-7, in percent, and the mean; high is easy. A row for each "
                "question.",
                mean="CES, mean",
            ),
            ends=("Strongly disagree", "Strongly agree"),
        ),
        _scale(
            "rating",
            "Rating by numbers or stars",
            "Stars or numbers up to 10.",
            standard=Standard("How would you rate us?"),
            members={"scale_min": _whole(0, 1, 1), "scale_max": _whole(3, 10, 5)},
            styles={"numbers": Style("Numbers", "scale"), "stars": Style("Stars", "stars")},
        ),
        _scale(
            "smileys",
            "Smileys",
            "Three or five faces: quick on a phone or a kiosk.",
            standard=Standard("How would you rate us?"),
            control="smileys",
            members={"scale_max": _whole(min(FACES), max(FACES), max(FACES))},
            rule=_check_smileys,
            ends=("Very bad", "Very good"),
            faces=FACES,
        ),
        QuestionType(
            "single_choice",
            "One choice",
            "choice",
            "One answer of a list.",
            Standard(
                "How did you hear about us?",
                choices=("From a friend or colleague", "On the internet", "Somewhere else"),
            ),
            subject="integer",
            seconds=3,
            form=("points", "other", "randomize"),
            rule=_check_dropdown,
            styles={
                "": Style("All choices, one below the other", "choices"),
                "dropdown": Style("Drop-down list", "dropdown"),
            },
            choices_max=CHOICES_MAX,
        ),
        QuestionType(
            "multiple_choice",
            "Several choices",
            "choices",
            "All fitting answers of a list.",
            Standard("What did you like?", choices=_ASPECTS),
            subject="integers",
            seconds=5,
            form=("points", "other", "exclusive", "randomize"),
            members={"choices_min": _of_choices(0), "choices_max": _of_choices()},
            rule=_check_choices,
            choices_max=CHOICES_MAX,
        ),
        QuestionType(
            "yes_no",
            "Yes or no",
            "yes_no",
            "Two answers.",
            Standard("Would you choose us again?"),
            control="choices",
            subject="boolean",
            seconds=3,
            form=("scored",),
        ),
        QuestionType(
            "matrix",
            "Matrix",
            "matrix",
            "Several things on the same scale, line by line.",
            Standard("How satisfied are you with each of these?", choices=_SATISFACTION, rows=_ASPECTS),
            seconds=3,
            form=("points", "randomize"),
            labels={"choices": "Columns"},
            choices_max=COLUMNS_MAX,
            has_rows=True,
        ),
        QuestionType(
            "ranking",
            "Ranking",
            "ranking",
            "A list to put in order of importance.",
            Standard("What matters most to you?", choices=_ASPECTS),
            subject="integers",
            seconds=4,
            form=("randomize",),
            members={"rank_max": _of_choices()},
            choices_max=RANKED_MAX,
        ),
        QuestionType(
            "text",
            "Words",
            "text",
            "A comment in their own words.",
            Standard("What could we do better?"),
            subject="text",
            seconds=24,
            members={
                "length_max": _whole(1, TEXT_CHARACTERS_MAX, TEXT_CHARACTERS_DEFAULT),
                "multiline": lambda members, name, _: members.boolean(name, default=True),
            },
        ),
        QuestionType(
            "number",
            "Number",
            "number",
            "A figure that people type, or a slider.",
            subject="number",
            seconds=5,
            form=("low_label", "high_label"),  # the ends of its slider
            members={"number_min": _bound, "number_max": _bound, "decimals": _whole(0, DECIMALS_MAX, 0)},
            rule=_check_number,
            styles={"": Style("A field", "number"), "slider": Style("A slider", "slider")},
        ),
        QuestionType("date", "Date", "date", "A day.", subject="date", seconds=6, members=_DAYS, rule=_check_days),
        QuestionType("time", "Time of day", "time", "Hour and minute.", subject="time", seconds=5),
        QuestionType(
            "date_time",
            "Date and time",
            "date_time",
            "A day with its hour.",
            subject="date_time",
            seconds=10,
            members=_DAYS,
            rule=_check_days,
        ),
        QuestionType(
            "consent",
            "Consent",
            "consent",
            "A tick box, for example to agree to something.",
            Standard("You may contact me about my answers"),
            subject="boolean",
            seconds=3,
        ),
        _contact("contact", "Contact", CONTACT_FIELDS, ("name", "email"), "Name, e-mail address, telephone number."),
        _contact(
            "address",
            "Postal address",
            ADDRESS_FIELDS,
            ("street", "postal_code", "city", "country"),
            "Street, city and country.",
        ),
        QuestionType(
            "file",
            "Files",
            "files",
            "Photos or documents that people send.",
            seconds=30,
            members={
                "file_types": _names(FILE_TYPES, FILE_TYPES_DEFAULT),
                "files_max": _whole(1, FILES_MAX, 1),
                "bytes_max": _whole(FILE_BYTES_MIN, FILE_BYTES_MAX, FILE_BYTES_DEFAULT),
            },
            identifies=True,
        ),
        QuestionType(
            "statement",
            "Text only",
            "none",
            "An introduction or an explanation between questions.",
            control="statement",
            subject="any",
            labels={"title": "Text"},
        ),
    )
}
SCORES: Final[Mapping[str, Score]] = {name: row.score for name, row in TYPES.items() if row.score is not None}
STANDARD_TEXTS: Final = frozenset(
    text for row in TYPES.values() for text in (row.standard.title, *row.standard.choices, *row.standard.rows) if text
)
