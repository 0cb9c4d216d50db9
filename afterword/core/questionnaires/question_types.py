"""The types of questions in one table, and the records that a question is made of. `questions.py` reads them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.condition_reader import Kind
from afterword.core.text import placeholders

Number = int | float
Shape = Literal[
    "scale", "choice", "choices", "yes_no", "matrix", "ranking", "text", "number", "date", "time", "date_time",
    "consent", "contact", "files", "none",
]  # fmt: skip
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
# The fields that a question of the type may have, and those that it has if none are named.
FIELDS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "contact": (CONTACT_FIELDS, ("name", "email")),
    "address": (ADDRESS_FIELDS, ("street", "postal_code", "city", "country")),
}


@dataclass(frozen=True, slots=True)
class QuestionType:
    """A row of the table of types: what an answer is, the fixed ends of its scale, segments as name, low, high.

    `fields`: the members that only questions of this type have, in the order in which they are written.
    """

    name: str
    shape: Shape
    fields: tuple[str, ...] = ()
    scale: tuple[int, int] | None = None
    segments: tuple[tuple[str, int, int], ...] = ()


def _score(name: str, low: int, high: int, *segments: tuple[str, int, int]) -> QuestionType:
    return QuestionType(name, "scale", scale=(low, high), segments=segments)


TYPES: Final[Mapping[str, QuestionType]] = {
    row.name: row
    for row in (
        _score("nps", 0, 10, ("detractor", 0, 6), ("passive", 7, 8), ("promoter", 9, 10)),
        _score("csat", 1, 5, ("dissatisfied", 1, 2), ("neutral", 3, 3), ("satisfied", 4, 5)),
        _score("ces", 1, 7, ("hard", 1, 3), ("neutral", 4, 4), ("easy", 5, 7)),
        QuestionType("rating", "scale", ("scale_min", "scale_max", "style")),
        QuestionType("smileys", "scale", ("scale_max",)),
        QuestionType("single_choice", "choice", ("choices", "style")),
        QuestionType("multiple_choice", "choices", ("choices", "choices_min", "choices_max")),
        QuestionType("yes_no", "yes_no"),
        QuestionType("matrix", "matrix", ("rows", "choices")),
        QuestionType("ranking", "ranking", ("choices", "rank_max")),
        QuestionType("text", "text", ("length_max", "multiline")),
        QuestionType("number", "number", ("number_min", "number_max", "decimals", "style")),
        QuestionType("date", "date", ("date_min", "date_max")),
        QuestionType("time", "time"),
        QuestionType("date_time", "date_time", ("date_min", "date_max")),
        QuestionType("consent", "consent"),
        QuestionType("contact", "contact", ("contact_fields",)),
        QuestionType("address", "contact", ("contact_fields",)),
        QuestionType("file", "files", ("file_types", "files_max", "bytes_max")),
        QuestionType("statement", "none"),
    )
}
# Conditions compare an answer with values of this kind, by shape; of a matrix and a contact only their parts.
KINDS: Final[Mapping[Shape, Kind]] = {
    "scale": "integer", "choice": "integer", "choices": "integers", "yes_no": "boolean", "matrix": "presence",
    "ranking": "integers", "text": "text", "number": "number", "date": "date", "time": "time",
    "date_time": "date_time", "consent": "boolean", "contact": "presence", "files": "presence", "none": "any",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers to choose from; `other` opens a text, `exclusive` excludes the others, `points` are scored.

    `picture`: the path of an asset that is shown above the label, which tells the same in words.
    """

    value: int
    label: str
    other: bool = False
    exclusive: bool = False
    points: int | None = None
    picture: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a matrix, to which one of the choices is given."""

    row_id: str
    label: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Jump:
    """Where to go on when the conditions hold (None: always); without a target to the end."""

    target_question_id: str | None
    conditions: conditions.Node | None


@dataclass(frozen=True, slots=True)
class Translation:
    """A question's texts in one more language; a text that is None or absent is that of the default locale."""

    title: str | None = None
    description: str | None = None
    low_label: str | None = None
    high_label: str | None = None
    choices: Mapping[int, str] = field(default_factory=dict[int, str])
    rows: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question in the default locale; fields of other types than its own are None or empty."""

    question_id: str
    type: str
    title: str
    key: str | None = None
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
    translations: Mapping[str, Translation] = field(default_factory=dict[str, Translation])
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

    @property
    def shape(self) -> Shape:
        return TYPES[self.type].shape

    @property
    def is_answered(self) -> bool:
        return self.shape != "none"

    @property
    def has_points(self) -> bool:
        return self.scored or any(choice.points is not None for choice in self.choices)

    @property
    def is_required(self) -> bool:
        return self.required and self.is_answered

    @property
    def scale(self) -> range:
        """The keys of a scale from its low to its high end; empty for other shapes."""
        if self.shape != "scale":
            return range(0)
        low, high = TYPES[self.type].scale or (self.scale_min or 0, self.scale_max or 0)
        return range(low, high + 1)

    @property
    def ranks(self) -> int:
        """The number of ranks; 0 for other shapes."""
        return (self.rank_max or len(self.choices)) if self.shape == "ranking" else 0

    @property
    def known_values(self) -> Collection[int]:
        """The values that an answer chooses among, by their numbers; empty where it is free."""
        return [choice.value for choice in self.choices] or self.scale

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds for conditions, by `{question_id}` and, for its parts, `{question_id}:{part}`."""
        parts: dict[str, Kind] = {f"{self.question_id}:{row.row_id}": "integer" for row in self.rows}
        texts: dict[str, Kind] = {f"{self.question_id}:{name}": "text" for name in self.contact_fields}
        return {self.question_id: KINDS[self.shape], **parts, **texts}

    def choice(self, value: object) -> Choice | None:
        return next((choice for choice in self.choices if choice.value == value), None)

    def label_of(self, value: object) -> str | None:
        """The label of a choice, by its value as a number or as a text; also of one that was removed."""
        known = (*self.choices, *self.removed_choices)
        return next((choice.label for choice in known if str(choice.value) == str(value)), None)

    def naming(self, older: "Question") -> "Question":
        """The question with the choices that only an older version had."""
        known = {choice.value for choice in (*self.choices, *self.removed_choices)}
        more = [choice for choice in older.choices if choice.value not in known]
        return replace(self, removed_choices=(*self.removed_choices, *more)) if more else self

    def row(self, row_id: str) -> Row | None:
        return next((row for row in self.rows if row.row_id == row_id), None)

    @property
    def other_choice(self) -> Choice | None:
        return next((choice for choice in self.choices if choice.other), None)
