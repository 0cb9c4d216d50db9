"""One question: how it is read from JSON, written back, shown in a language. Its types: `question_types.py`."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Final, TypeVar

from afterword.core.questionnaires import condition_reader, conditions
from afterword.core.questionnaires.pictures import read_address
from afterword.core.questionnaires.question_types import (
    FIELDS,
    FILE_BYTES_DEFAULT,
    FILE_BYTES_MAX,
    FILE_BYTES_MIN,
    FILE_TYPES,
    FILE_TYPES_DEFAULT,
    FILES_MAX,
    TYPES,
    Choice,
    Jump,
    Question,
    Row,
    Shape,
    Translation,
)
from afterword.core.reading.documents import Members, read_by_locale
from afterword.errors import Sentence

TITLE_CHARACTERS_MAX = 500
DESCRIPTION_CHARACTERS_MAX = 2000
DISPLAY_NAME_CHARACTERS_MAX = 200
PICTURE_CHARACTERS_MAX = 100
LABEL_CHARACTERS_MAX = 200
END_LABEL_CHARACTERS_MAX = 100
CHOICES_MAX = 100
DROPDOWN_CHOICES_MAX = 500  # countries, shops, models
COLUMNS_MAX = 11
RANKED_MAX = 20
ROWS_MAX = 30
CHOICE_VALUE_MAX = 1000
POINTS_MAX = 1000
SCORED: Final = frozenset({"scale", "yes_no"})  # shapes whose answer is a number of points
JUMPS_MAX = 20
TEXT_CHARACTERS_MAX = 5000
TEXT_CHARACTERS_DEFAULT = 2000
NUMBER_DIGITS_MAX = 15  # a double keeps as many
DECIMALS_MAX = 6
SMILEYS: Final = (3, 5)
_CHOICES_MAX: Final[Mapping[Shape, int]] = {
    "choice": CHOICES_MAX, "choices": CHOICES_MAX, "matrix": COLUMNS_MAX, "ranking": RANKED_MAX,
}  # fmt: skip

TEXTS: Final = ("title", "description", "low_label", "high_label")
_COMMON: Final = (
    "type", "title", "description", "display_name", "required", "enabled", "display_probability", "randomize",
    "low_label", "high_label",
)  # fmt: skip

Name = TypeVar("Name", int, str)

# Gives a row's id and its author's key, if it has one.
RowIdentity = Callable[[Members], tuple[str, str | None]]


def localized(question: Question, locale: str, *, seed: str | None = None) -> Question:
    """The question as a reader of `locale` is shown it: translated, without translations, conditions, jumps and points.

    `seed` (the instance's id) decides the order of choices (of a matrix: rows) where they are to be shuffled: the same
    for one instance on every page, another for the next. Without a seed they keep the authored order.
    """
    texts = question.translations.get(locale) or Translation()
    shown = question if seed is None or not question.randomize else _shuffled(question, seed)
    return replace(
        shown,
        **{name: getattr(texts, name) or getattr(question, name) for name in TEXTS},
        choices=tuple(
            replace(one, label=texts.choices.get(one.value) or one.label, points=None) for one in shown.choices
        ),
        scored=False,
        rows=tuple(replace(one, label=texts.rows.get(one.row_id) or one.label) for one in shown.rows),
        show_if=None,
        jumps=(),
        translations={},
    )


def _shuffled(question: Question, seed: str) -> Question:
    """Every order is as likely as every other; `other` and `exclusive` choices stay last, columns where they are."""

    def draw(name: object) -> bytes:
        return hashlib.sha256(f"{seed}:{question.question_id}:{name}".encode()).digest()

    if question.rows:
        return replace(question, rows=tuple(sorted(question.rows, key=lambda row: draw(row.row_id))))
    fixed = [choice for choice in question.choices if choice.other or choice.exclusive]
    free = [choice for choice in question.choices if not (choice.other or choice.exclusive)]
    return replace(question, choices=(*sorted(free, key=lambda choice: draw(choice.value)), *fixed))


# Writing ------------------------------------------------------------------------------------------------------


def document_of(question: Question) -> dict[str, object]:
    """The question as JSON with every field of its type, null where null; `key` only where the author gave one."""
    document: dict[str, object] = {"question_id": question.question_id}
    if question.key is not None:
        document["key"] = question.key
    document |= {name: getattr(question, name) for name in _COMMON} | _type_fields(question)
    if question.scored:
        document["scored"] = True
    if question.show_if is not None:
        document["show_if"] = conditions.document_of(question.show_if)
    document["jumps"] = [
        {"target_question_id": jump.target_question_id, "conditions": conditions.document_of(jump.conditions)}
        for jump in question.jumps
    ]
    document["translations"] = {
        locale: _translation_document(question, texts) for locale, texts in question.translations.items()
    }
    return document


def _type_fields(question: Question) -> dict[str, object]:
    fields: dict[str, object] = {name: getattr(question, name) for name in TYPES[question.type].fields}
    if fields.get("style", "") is None:
        del fields["style"]
    if "choices" in fields:
        fields["choices"] = [
            {name: value for name, value in asdict(choice).items() if value is not None} for choice in question.choices
        ]
    if "rows" in fields:
        fields["rows"] = [
            {"row_id": row.row_id, **({"key": row.key} if row.key is not None else {}), "label": row.label}
            for row in question.rows
        ]
    for name in fields.keys() & {"contact_fields", "file_types"}:
        fields[name] = list(getattr(question, name))
    return fields


def _translation_document(question: Question, texts: Translation) -> dict[str, object]:
    """Only what is translated: an absent text falls back to the default locale."""
    document: dict[str, object] = {name: text for name in TEXTS if (text := getattr(texts, name)) is not None}
    if question.choices:
        document["choices"] = {str(value): label for value, label in texts.choices.items()}
    if question.rows:
        document["rows"] = dict(texts.rows)
    return document


# Reading ------------------------------------------------------------------------------------------------------


def read(
    members: Members, *, question_id: str, key: str | None, locales: Sequence[str], row_identity: RowIdentity
) -> Question:
    """A question without its jumps, which need to know all the others. `locales`: those a translation may be in."""
    type_name = members.required_text("type", 1, 50)
    if type_name and type_name not in TYPES:
        members.error("type", "unknown_value", Sentence("One of {values} is expected.", values=", ".join(TYPES)))
    known = TYPES.get(type_name, TYPES["statement"])
    choices = _read_choices(members, known.shape) if "choices" in known.fields else ()
    rows = _read_rows(members, row_identity) if "rows" in known.fields else ()
    question = Question(
        question_id=question_id,
        key=key,
        type=known.name,
        title=members.required_text("title", 1, TITLE_CHARACTERS_MAX),
        description=members.text("description", 0, DESCRIPTION_CHARACTERS_MAX),
        display_name=members.text("display_name", 1, DISPLAY_NAME_CHARACTERS_MAX),
        required=members.boolean("required", default=False),
        enabled=members.boolean("enabled", default=True),
        display_probability=members.integer("display_probability", 1, 100, 100),
        randomize=members.boolean("randomize", default=False),
        scored=_read_scored(members, known.shape),
        low_label=members.text("low_label", 0, END_LABEL_CHARACTERS_MAX),
        high_label=members.text("high_label", 0, END_LABEL_CHARACTERS_MAX),
        translations=read_by_locale(
            members, "translations", locales, lambda below: _read_translation(below, choices, rows)
        ),
        choices=choices,
        rows=rows,
    )
    return _read_type_fields(question, members)


def read_jumps(members: Members, scope: condition_reader.Scope, later: Mapping[str, str]) -> tuple[Jump, ...]:
    """The jumps. `later`: the ids that a jump may lead to, by id and by key."""
    jumps: list[Jump] = []
    for path, entry in members.items("jumps", 0, JUMPS_MAX):
        jump = Members(entry, path, members.findings)
        target = jump.text("target_question_id", 1, 64)
        if target is not None and target not in later:
            jump.error("target_question_id", "unknown_id", "A jump leads to a later question, or with null to the end.")
        condition = condition_reader.read(jump.take("conditions"), jump.pointer("conditions"), members.findings, scope)
        jump.finish()
        jumps.append(Jump(None if target is None else later.get(target), condition))
    return tuple(jumps)


def _read_type_fields(question: Question, members: Members) -> Question:  # noqa: C901, PLR0911, PLR0912  one for each type
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
        case "single_choice":
            style = _read_style(members, "dropdown")
            if style and any(choice.picture for choice in question.choices):
                members.error("style", "exclusive", "A list that opens shows no pictures.")
            return replace(question, style=style)
        case "multiple_choice":
            return _read_choice_bounds(question, members)
        case "ranking":
            count = max(len(question.choices), 1)
            return replace(question, rank_max=members.optional_integer("rank_max", 1, count))
        case "text":
            return replace(
                question,
                length_max=members.integer("length_max", 1, TEXT_CHARACTERS_MAX, TEXT_CHARACTERS_DEFAULT),
                multiline=members.boolean("multiline", default=True),
            )
        case "number":
            return _read_number_bounds(question, members)
        case "date" | "date_time":
            return _read_date_bounds(question, members)
        case "contact" | "address":
            return replace(question, contact_fields=_read_names(members, "contact_fields", *FIELDS[question.type]))
        case "file":
            return replace(
                question,
                file_types=_read_names(members, "file_types", FILE_TYPES, FILE_TYPES_DEFAULT),
                files_max=members.integer("files_max", 1, FILES_MAX, 1),
                bytes_max=members.integer("bytes_max", FILE_BYTES_MIN, FILE_BYTES_MAX, FILE_BYTES_DEFAULT),
            )
        case _:
            return question


def _read_choices(members: Members, shape: Shape) -> tuple[Choice, ...]:
    choices: list[Choice] = []
    is_dropdown = shape == "choice" and members.take("style") == "dropdown"
    for path, entry in members.items("choices", 2, DROPDOWN_CHOICES_MAX if is_dropdown else _CHOICES_MAX[shape]):
        one = Members(entry, path, members.findings)
        choice = Choice(
            value=one.required_integer("value", 1, CHOICE_VALUE_MAX),
            label=one.required_text("label", 1, LABEL_CHARACTERS_MAX),
            other=one.boolean("other", default=False),
            exclusive=one.boolean("exclusive", default=False),
            points=one.optional_integer("points", -POINTS_MAX, POINTS_MAX),
            picture=_read_picture(one, shape),
        )
        one.finish()
        if one.take("value") in [earlier.value for earlier in choices]:
            one.error("value", "duplicate", "Each choice has a value of its own.")
        if choice.other and any(earlier.other for earlier in choices):
            one.error("other", "duplicate", "Only one choice can open a text.")
        if shape in {"matrix", "ranking"} and (choice.other or choice.exclusive):
            name = "other" if choice.other else "exclusive"
            one.error(name, "unknown_value", f"No choice of a {shape} can be {name}.")
        if choice.points is not None and shape == "ranking":
            one.error("points", "unknown_value", "Choices of a ranking have no points.")
        choices.append(choice)
    return tuple(choices)


def _read_picture(choice: Members, shape: Shape) -> str | None:
    found = choice.text("picture", 0, PICTURE_CHARACTERS_MAX) or None
    if found is not None and shape in {"matrix", "ranking"}:
        choice.error("picture", "unknown_value", f"Choices of a {shape} have no pictures.")
    elif found is not None and read_address(found) is None:
        choice.error("picture", "invalid_format", "The path of an uploaded picture is expected.")
    return found


def _read_scored(members: Members, shape: Shape) -> bool:
    scored = members.boolean("scored", default=False)
    if scored and shape not in SCORED:
        members.error("scored", "unknown_value", "Answers of scales, and yes, count as points; choices have points.")
    return scored and shape in SCORED


def _read_rows(members: Members, identity: RowIdentity) -> tuple[Row, ...]:
    rows: list[Row] = []
    for path, entry in members.items("rows", 1, ROWS_MAX):
        one = Members(entry, path, members.findings)
        row_id, key = identity(one)
        rows.append(Row(row_id, one.required_text("label", 1, LABEL_CHARACTERS_MAX), key))
        one.finish()
    return tuple(rows)


def _read_choice_bounds(question: Question, members: Members) -> Question:
    count = max(len(question.choices), 1)
    choices_min = members.integer("choices_min", 0, count, 0)
    choices_max = members.optional_integer("choices_max", 1, count)
    if choices_max is not None and choices_min > choices_max:
        members.error("choices_min", "out_of_range", "The least number of choices is over the greatest.")
    return replace(question, choices_min=choices_min, choices_max=choices_max)


def _read_style(members: Members, style: str) -> str | None:
    """The one style that the type has beside its plain form; None for that."""
    found = members.text("style", 0, LABEL_CHARACTERS_MAX) or None
    if found not in {None, style}:
        members.error("style", "unknown_value", f"{style} is expected, or nothing.")
    return found


def _read_number_bounds(question: Question, members: Members) -> Question:
    decimals = members.integer("decimals", 0, DECIMALS_MAX, 0)
    low = members.number("number_min", NUMBER_DIGITS_MAX)
    high = members.number("number_max", NUMBER_DIGITS_MAX)
    for name, bound in (("number_min", low), ("number_max", high)):
        if bound is not None and round(bound, decimals) != bound:
            members.error(
                name, "out_of_range", Sentence("Answers have at most {n} decimals, so no bound has more.", n=decimals)
            )
    if low is not None and high is not None and low > high:
        members.error("number_min", "out_of_range", "The least number is over the greatest.")
    style = _read_style(members, "slider")
    if style is not None and (low is None or high is None or low >= high):
        members.error("style", "required", "A slider has a least and a greatest number.")
    return replace(question, decimals=decimals, number_min=low, number_max=high, style=style)


def _read_date_bounds(question: Question, members: Members) -> Question:
    low, high = members.date("date_min"), members.date("date_max")
    if low is not None and high is not None and low > high:
        members.error("date_min", "out_of_range", "The first date is after the last.")
    return replace(question, date_min=low, date_max=high)


def _read_names(members: Members, name: str, known: Sequence[str], default: tuple[str, ...]) -> tuple[str, ...]:
    if not members.has(name):
        members.take(name)
        return default
    found: list[str] = []
    for path, entry in members.items(name, 1, len(known)):
        if not isinstance(entry, str) or entry not in known:
            members.findings.error(
                path, "unknown_value", Sentence("One of {values} is expected.", values=", ".join(known))
            )
        elif entry in found:
            members.findings.error(path, "duplicate", "This is in the list already.")
        else:
            found.append(entry)
    return tuple(found)


def _read_translation(members: Members, choices: Sequence[Choice], rows: Sequence[Row]) -> Translation:
    labels = _read_labels(
        members,
        "choices",
        {str(choice.value): choice.value for choice in choices},
        "There is no choice with this value.",
    )
    # Files name a row by its key, or by its id where it has none; API clients by its id.
    names = {row.key: row.row_id for row in rows if row.key is not None} | {row.row_id: row.row_id for row in rows}
    row_labels = _read_labels(members, "rows", names, "There is no row with this id or key.")
    return Translation(
        title=members.text("title", 1, TITLE_CHARACTERS_MAX),
        description=members.text("description", 0, DESCRIPTION_CHARACTERS_MAX),
        low_label=members.text("low_label", 0, END_LABEL_CHARACTERS_MAX),
        high_label=members.text("high_label", 0, END_LABEL_CHARACTERS_MAX),
        choices=labels,
        rows=row_labels,
    )


def _read_labels(members: Members, name: str, names: Mapping[str, Name], message: str) -> dict[Name, str]:
    """The labels of a map; two names of one thing, such as a row's id and key, are one too many."""
    labels: dict[Name, str] = {}
    below = Members(members.take(name) or {}, members.pointer(name), members.findings)
    for written, meant in names.items():
        label = below.text(written, 1, LABEL_CHARACTERS_MAX)
        if label is not None and meant in labels:
            below.error(written, "duplicate", "This has a label already.")
        elif label is not None:
            labels[meant] = label
    below.refuse_others(message)
    return labels


# Completeness -------------------------------------------------------------------------------------------------


def untranslated(question: Question, locale: str) -> list[str]:
    """The fields without a text in `locale`, of which its readers see the default locale; `choices/3` for a label."""
    texts = question.translations.get(locale) or Translation()
    names = [name for name in TEXTS if getattr(question, name) and not getattr(texts, name)]
    names += [f"choices/{choice.value}" for choice in question.choices if choice.value not in texts.choices]
    return names + [f"rows/{row.row_id}" for row in question.rows if row.row_id not in texts.rows]
