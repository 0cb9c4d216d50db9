"""One question: its types in one table, its fields, how it is read from JSON, written back, shown in a language."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from afterword.core import conditions
from afterword.core.reading import Members, read_by_locale

TITLE_CHARACTERS_MAX = 500
DESCRIPTION_CHARACTERS_MAX = 2000
DISPLAY_NAME_CHARACTERS_MAX = 200
LABEL_CHARACTERS_MAX = 200
END_LABEL_CHARACTERS_MAX = 100
CHOICES_MAX = 100
CHOICE_VALUE_MAX = 1000
JUMPS_MAX = 20
TEXT_CHARACTERS_MAX = 5000
TEXT_CHARACTERS_DEFAULT = 2000
SMILEYS: Final = (3, 5)

Shape = Literal["scale", "choice", "choices", "text", "none"]


@dataclass(frozen=True, slots=True)
class QuestionType:
    """A row of the table of types: what an answer is, the fixed ends of its scale, segments as name, low, high."""

    name: str
    shape: Shape
    scale: tuple[int, int] | None = None
    segments: tuple[tuple[str, int, int], ...] = ()


TYPES: Final[Mapping[str, QuestionType]] = {
    row.name: row
    for row in (
        QuestionType("nps", "scale", (0, 10), (("detractor", 0, 6), ("passive", 7, 8), ("promoter", 9, 10))),
        QuestionType("csat", "scale", (1, 5), (("dissatisfied", 1, 2), ("neutral", 3, 3), ("satisfied", 4, 5))),
        QuestionType("ces", "scale", (1, 7), (("hard", 1, 3), ("neutral", 4, 4), ("easy", 5, 7))),
        QuestionType("rating", "scale"),
        QuestionType("smileys", "scale"),
        QuestionType("single_choice", "choice"),
        QuestionType("multiple_choice", "choices"),
        QuestionType("text", "text"),
        QuestionType("statement", "none"),
    )
}
# What conditions may compare an answer with, by shape; "" where there is no answer.
KINDS: Final[Mapping[Shape, str]] = {
    "scale": "number",
    "choice": "number",
    "choices": "numbers",
    "text": "text",
    "none": "nothing",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers to choose from; `other` opens a text, `exclusive` stands alone."""

    value: int
    label: str
    other: bool = False
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Jump:
    """Where to go on when the conditions hold (None: always); without a target to the end."""

    target_question_id: str | None
    conditions: conditions.Node | None


@dataclass(frozen=True, slots=True)
class Translation:
    """A question's texts in one more language; None and absent choices fall back to the default locale."""

    title: str | None = None
    description: str | None = None
    low_label: str | None = None
    high_label: str | None = None
    choices: Mapping[int, str] = field(default_factory=dict[int, str])


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
    low_label: str | None = None
    high_label: str | None = None
    jumps: tuple[Jump, ...] = ()
    translations: Mapping[str, Translation] = field(default_factory=dict[str, Translation])
    scale_min: int | None = None
    scale_max: int | None = None
    style: str | None = None
    choices: tuple[Choice, ...] = ()
    choices_min: int | None = None
    choices_max: int | None = None
    length_max: int | None = None
    multiline: bool | None = None

    @property
    def shape(self) -> Shape:
        """What an answer to it is."""
        return TYPES[self.type].shape

    @property
    def is_answered(self) -> bool:
        """Whether it asks anything; a statement does not."""
        return self.shape != "none"

    @property
    def is_required(self) -> bool:
        """Whether an answer must be given; never for a statement."""
        return self.required and self.is_answered

    @property
    def scale(self) -> range:
        """The keys of a scale from its low to its high end; empty for other shapes."""
        if self.shape != "scale":
            return range(0)
        low, high = TYPES[self.type].scale or (self.scale_min or 0, self.scale_max or 0)
        return range(low, high + 1)

    def choice(self, value: object) -> Choice | None:
        """The choice of a value."""
        return next((choice for choice in self.choices if choice.value == value), None)

    @property
    def other_choice(self) -> Choice | None:
        """The choice that opens a text, if there is one."""
        return next((choice for choice in self.choices if choice.other), None)


def localized(question: Question, locale: str, *, seed: str | None = None) -> Question:
    """The question as a reader of `locale` is shown it: texts translated, no translations or jumps left.

    `seed` (the instance's id) decides the order of choices where they are to be shuffled: the same for one instance
    on every page, another for the next. Without a seed they stand as authored.
    """
    texts = question.translations.get(locale) or Translation()
    shown = _shuffled(question, seed) if question.randomize and seed is not None else question.choices
    return replace(
        question,
        title=texts.title or question.title,
        description=texts.description or question.description,
        low_label=texts.low_label or question.low_label,
        high_label=texts.high_label or question.high_label,
        choices=tuple(replace(choice, label=texts.choices.get(choice.value) or choice.label) for choice in shown),
        jumps=(),
        translations={},
    )


def _shuffled(question: Question, seed: str) -> tuple[Choice, ...]:
    """Every order is as likely as every other; `other` and `exclusive` choices stay last."""
    fixed = [choice for choice in question.choices if choice.other or choice.exclusive]
    free = [choice for choice in question.choices if not (choice.other or choice.exclusive)]
    return (*sorted(free, key=lambda choice: _draw(f"{seed}:{question.question_id}:{choice.value}")), *fixed)


def _draw(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


# Writing ------------------------------------------------------------------------------------------------------


def document_of(question: Question) -> dict[str, object]:
    """The question as JSON with every field of its type, null where null; `key` only where the author gave one."""
    document: dict[str, object] = {"question_id": question.question_id}
    if question.key is not None:
        document["key"] = question.key
    document |= {
        "type": question.type,
        "title": question.title,
        "description": question.description,
        "display_name": question.display_name,
        "required": question.required,
        "enabled": question.enabled,
        "display_probability": question.display_probability,
        "randomize": question.randomize,
        "low_label": question.low_label,
        "high_label": question.high_label,
    }
    document |= _type_fields(question)
    document["jumps"] = [
        {"target_question_id": jump.target_question_id, "conditions": conditions.document_of(jump.conditions)}
        for jump in question.jumps
    ]
    document["translations"] = {
        locale: _translation_document(question, texts) for locale, texts in question.translations.items()
    }
    return document


def _type_fields(question: Question) -> dict[str, object]:
    match question.type:
        case "rating":
            names = ("scale_min", "scale_max", "style")
        case "smileys":
            names = ("scale_max",)
        case "single_choice":
            names = ("choices",)
        case "multiple_choice":
            names = ("choices", "choices_min", "choices_max")
        case "text":
            names = ("length_max", "multiline")
        case _:
            names = ()
    fields: dict[str, object] = {name: getattr(question, name) for name in names}
    if "choices" in fields:
        fields["choices"] = [
            {"value": choice.value, "label": choice.label, "other": choice.other, "exclusive": choice.exclusive}
            for choice in question.choices
        ]
    return fields


def _translation_document(question: Question, texts: Translation) -> dict[str, object]:
    """Only what is translated: an absent text falls back to the default locale."""
    document: dict[str, object] = {
        name: text
        for name in ("title", "description", "low_label", "high_label")
        if (text := getattr(texts, name)) is not None
    }
    if question.choices:
        document["choices"] = {str(value): label for value, label in texts.choices.items()}
    return document


# Reading ------------------------------------------------------------------------------------------------------


def read(members: Members, *, question_id: str, key: str | None, locales: Sequence[str]) -> Question:
    """A question without its jumps, which need to know all the others. `locales`: those a translation may be in."""
    type_name = members.required_text("type", 1, 50)
    if type_name and type_name not in TYPES:
        members.error("type", "unknown_value", f"One of {', '.join(TYPES)} is expected.")
    choices = _read_choices(members) if TYPES.get(type_name, TYPES["nps"]).shape in {"choice", "choices"} else ()
    question = Question(
        question_id=question_id,
        key=key,
        type=type_name if type_name in TYPES else "statement",
        title=members.required_text("title", 1, TITLE_CHARACTERS_MAX),
        description=members.text("description", 0, DESCRIPTION_CHARACTERS_MAX),
        display_name=members.text("display_name", 1, DISPLAY_NAME_CHARACTERS_MAX),
        required=members.boolean("required", default=False),
        enabled=members.boolean("enabled", default=True),
        display_probability=members.integer("display_probability", 1, 100, 100),
        randomize=members.boolean("randomize", default=False),
        low_label=members.text("low_label", 0, END_LABEL_CHARACTERS_MAX),
        high_label=members.text("high_label", 0, END_LABEL_CHARACTERS_MAX),
        translations=read_by_locale(members, "translations", locales, lambda below: _read_translation(below, choices)),
        choices=choices,
    )
    return _read_type_fields(question, members)


def read_jumps(members: Members, scope: conditions.Scope, later: Mapping[str, str]) -> tuple[Jump, ...]:
    """The jumps. `later`: the ids that a jump may lead to, by id and by key."""
    jumps: list[Jump] = []
    for path, entry in members.items("jumps", 0, JUMPS_MAX):
        jump = Members(entry, path, members.findings)
        target = jump.text("target_question_id", 1, 64)
        if target is not None and target not in later:
            jump.error("target_question_id", "unknown_id", "A jump leads to a later question, or with null to the end.")
        condition = conditions.read(jump.take("conditions"), jump.pointer("conditions"), members.findings, scope)
        jump.finish()
        jumps.append(Jump(None if target is None else later.get(target), condition))
    return tuple(jumps)


def _read_type_fields(question: Question, members: Members) -> Question:
    match question.type:
        case "rating":
            return replace(
                question,
                scale_min=members.integer("scale_min", 0, 1, 1),
                scale_max=members.integer("scale_max", 3, 10, 5),
                style=members.one_of("style", ("numbers", "stars"), "numbers"),
            )
        case "smileys":
            scale_max = members.integer("scale_max", min(SMILEYS), max(SMILEYS), max(SMILEYS))
            if scale_max not in SMILEYS:
                members.error("scale_max", "out_of_range", "3 or 5 smileys are possible.")
            return replace(question, scale_min=1, scale_max=scale_max)
        case "multiple_choice":
            return _read_choice_bounds(question, members)
        case "text":
            return replace(
                question,
                length_max=members.integer("length_max", 1, TEXT_CHARACTERS_MAX, TEXT_CHARACTERS_DEFAULT),
                multiline=members.boolean("multiline", default=True),
            )
        case _:
            return question


def _read_choices(members: Members) -> tuple[Choice, ...]:
    choices: list[Choice] = []
    for path, entry in members.items("choices", 2, CHOICES_MAX):
        one = Members(entry, path, members.findings)
        choice = Choice(
            value=one.required_integer("value", 1, CHOICE_VALUE_MAX),
            label=one.required_text("label", 1, LABEL_CHARACTERS_MAX),
            other=one.boolean("other", default=False),
            exclusive=one.boolean("exclusive", default=False),
        )
        one.finish()
        if one.take("value") in [earlier.value for earlier in choices]:
            one.error("value", "duplicate", "Each choice has a value of its own.")
        if choice.other and any(earlier.other for earlier in choices):
            one.error("other", "duplicate", "Only one choice can open a text.")
        choices.append(choice)
    return tuple(choices)


def _read_choice_bounds(question: Question, members: Members) -> Question:
    count = max(len(question.choices), 1)
    choices_min = members.integer("choices_min", 0, count, 0)
    choices_max = members.optional_integer("choices_max", 1, count)
    if choices_max is not None and choices_min > choices_max:
        members.error("choices_min", "out_of_range", "The least number of choices is over the greatest.")
    return replace(question, choices_min=choices_min, choices_max=choices_max)


def _read_translation(members: Members, choices: Sequence[Choice]) -> Translation:
    labels: dict[int, str] = {}
    values = {str(choice.value): choice.value for choice in choices}
    known = Members(members.take("choices") or {}, members.pointer("choices"), members.findings)
    for name, value in values.items():
        label = known.text(name, 1, LABEL_CHARACTERS_MAX)
        if label is not None:
            labels[value] = label
    known.refuse_others("There is no choice with this value.")
    return Translation(
        title=members.text("title", 1, TITLE_CHARACTERS_MAX),
        description=members.text("description", 0, DESCRIPTION_CHARACTERS_MAX),
        low_label=members.text("low_label", 0, END_LABEL_CHARACTERS_MAX),
        high_label=members.text("high_label", 0, END_LABEL_CHARACTERS_MAX),
        choices=labels,
    )


# Completeness -------------------------------------------------------------------------------------------------


def untranslated(question: Question, locale: str) -> list[str]:
    """The texts that a reader of `locale` would see in the default locale: names of fields, `choices/3` for a label."""
    texts = question.translations.get(locale) or Translation()
    names = [
        name
        for name in ("title", "description", "low_label", "high_label")
        if getattr(question, name) and not getattr(texts, name)
    ]
    return names + [f"choices/{choice.value}" for choice in question.choices if choice.value not in texts.choices]
