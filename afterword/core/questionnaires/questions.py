"""One question: how it is read from JSON, written back, shown in a language. Its types: `question_types.py`."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.question_types import (
    DESCRIPTION_CHARACTERS_MAX,
    DISPLAY_NAME_CHARACTERS_MAX,
    DROPDOWN_CHOICES_MAX,
    END_LABEL_CHARACTERS_MAX,
    LABEL_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
    TYPES,
    Choice,
    Jump,
    Question,
    QuestionType,
    Row,
    Translation,
)
from afterword.core.questionnaires.visuals import read_address
from afterword.core.reading.documents import Members, expected_of, given, read_by_locale

PICTURE_CHARACTERS_MAX = 100
ROWS_MAX = 30
CHOICE_VALUE_MAX = 1000
POINTS_MAX = 1000
JUMPS_MAX = 20

TEXTS: Final = ("title", "description", "low_label", "high_label")
_COMMON: Final = (
    "type", "title", "description", "display_name", "required", "enabled", "display_probability", "randomize",
    "low_label", "high_label",
)  # fmt: skip

Name = TypeVar("Name", int, str)

# Gives a row's id and its author's key, if it has one.
RowIdentity = Callable[[Members], tuple[str, str | None]]


def localized(question: Question, locale: str, *, seed: str | None = None) -> Question:
    """The question as readers of `locale` are shown it: translated; no translations, conditions, jumps, points, codes.

    `seed` (the instance's id) decides the order of choices (of a matrix: rows) where they are to be shuffled: the same
    for one instance on every page, another for the next. Without a seed they keep the authored order.
    """
    shown = translated(question if seed is None or not question.randomize else _shuffled(question, seed), locale)
    choices = tuple(replace(one, points=None, code=None) for one in shown.choices)
    return replace(shown, choices=choices, code=None, scored=False, show_if=None, jumps=(), translations={})


def translated(question: Question, locale: str) -> Question:
    """The question with its texts in `locale`, as far as there are some."""
    texts = question.translations.get(locale) or Translation()
    return replace(
        question,
        **{name: getattr(texts, name) or getattr(question, name) for name in TEXTS},
        choices=tuple(replace(one, label=texts.choices.get(one.value) or one.label) for one in question.choices),
        rows=tuple(replace(one, label=texts.rows.get(one.row_id) or one.label) for one in question.rows),
    )


def _shuffled(question: Question, seed: str) -> Question:

    def draw(name: object) -> bytes:
        return hashlib.sha256(f"{seed}:{question.question_id}:{name}".encode()).digest()

    if question.rows:
        return replace(question, rows=tuple(sorted(question.rows, key=lambda row: draw(row.row_id))))
    fixed = [choice for choice in question.choices if choice.other or choice.exclusive]
    free = [choice for choice in question.choices if not (choice.other or choice.exclusive)]
    return replace(question, choices=(*sorted(free, key=lambda choice: draw(choice.value)), *fixed))


def document_of(question: Question) -> dict[str, object]:
    """The question as JSON with every field of its type, null where null; `key` and `code` only where there is one."""
    document = given(question, ("question_id", "key", "code"))
    document |= {name: getattr(question, name) for name in _COMMON} | _type_fields(question)
    if question.scored:
        document["scored"] = True
    if question.show_if is not None:
        document["show_if"] = conditions.document_of(question.show_if)
    document["jumps"] = jumps_document(question)
    document["translations"] = {
        locale: _translation_document(question, texts) for locale, texts in question.translations.items()
    }
    return document


def jumps_document(question: Question) -> list[dict[str, object]]:
    return [
        {"target_question_id": jump.target_question_id, "conditions": conditions.document_of(jump.conditions)}
        for jump in question.jumps
    ]


def _type_fields(question: Question) -> dict[str, object]:
    fields: dict[str, object] = {name: getattr(question, name) for name in TYPES[question.type].fields}
    if fields.get("style", "") is None:
        del fields["style"]
    if "choices" in fields:
        fields["choices"] = [given(choice, Choice.__struct_fields__) for choice in question.choices]
    if "rows" in fields:
        fields["rows"] = [given(row, ("row_id", "key", "code", "label")) for row in question.rows]
    for name in fields.keys() & {"contact_fields", "file_types"}:
        fields[name] = list(getattr(question, name))
    return fields


def _translation_document(question: Question, texts: Translation) -> dict[str, object]:
    document = given(texts, TEXTS)
    if question.choices:
        document["choices"] = {str(value): label for value, label in texts.choices.items()}
    if question.rows:
        document["rows"] = dict(texts.rows)
    return document


def read(
    members: Members, *, question_id: str, key: str | None, locales: Sequence[str], row_identity: RowIdentity
) -> Question:
    """A question without its jumps, which need to know all the others. `locales`: those a translation may be in."""
    type_name = members.required_text("type", 1, 50)
    if type_name and type_name not in TYPES:
        members.error("type", "unknown_value", expected_of(TYPES))
    known = TYPES.get(type_name, TYPES["statement"])
    choices = _read_choices(members, known) if known.choices_max else ()
    rows = _read_rows(members, row_identity) if known.has_rows else ()
    return Question(
        question_id=question_id,
        key=key,
        code=members.text("code", 1, LABEL_CHARACTERS_MAX),
        type=known.name,
        title=members.required_text("title", 1, TITLE_CHARACTERS_MAX),
        description=members.text("description", 0, DESCRIPTION_CHARACTERS_MAX),
        display_name=members.text("display_name", 1, DISPLAY_NAME_CHARACTERS_MAX),
        required=members.boolean("required", default=False),
        enabled=members.boolean("enabled", default=True),
        display_probability=members.integer("display_probability", 1, 100, 100),
        randomize=members.boolean("randomize", default=False),
        scored=_read_scored(members, known),
        low_label=members.text("low_label", 0, END_LABEL_CHARACTERS_MAX),
        high_label=members.text("high_label", 0, END_LABEL_CHARACTERS_MAX),
        translations=read_by_locale(
            members, "translations", locales, lambda below: _read_translation(below, choices, rows)
        ),
        choices=choices,
        rows=rows,
        **_read_own(members, known, choices),
    )


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


def _read_own(members: Members, known: QuestionType, choices: Sequence[Choice]) -> dict[str, Any]:
    found = {name: reader(members, name, len(choices)) for name, reader in known.members.items()}
    if known.styles:
        found["style"] = _read_style(members, [*known.styles])
    if known.rule is not None:
        known.rule(members, {**found, "choices": choices})
    return found


def _read_choices(members: Members, known: QuestionType) -> tuple[Choice, ...]:
    choices: list[Choice] = []
    taken: set[str] = set()
    is_dropdown = bool(known.styles) and members.take("style") == "dropdown"
    for path, entry in members.items("choices", 2, DROPDOWN_CHOICES_MAX if is_dropdown else known.choices_max):
        one = Members(entry, path, members.findings)
        choice = Choice(
            value=one.required_integer("value", 1, CHOICE_VALUE_MAX),
            label=one.required_text("label", 1, LABEL_CHARACTERS_MAX),
            other=one.boolean("other", default=False),
            exclusive=one.boolean("exclusive", default=False),
            points=one.optional_integer("points", -POINTS_MAX, POINTS_MAX),
            picture=_read_picture(one, known),
            code=one.text("code", 1, LABEL_CHARACTERS_MAX),
        )
        one.finish()
        for name, own in (("value", str(one.take("value"))), ("code", choice.code)):
            if own in taken:
                one.error(name, "duplicate", "Each choice has a value and a code of its own.")
        taken |= {str(choice.value), choice.code or ""}
        if choice.other and any(earlier.other for earlier in choices):
            one.error("other", "duplicate", "Only one choice can open a text.")
        if not known.has_rich_choices and (choice.other or choice.exclusive):
            name = "other" if choice.other else "exclusive"
            one.error(name, "unknown_value", f"No choice of a {known.shape} can be {name}.")
        if choice.points is not None and "points" not in known.form:
            one.error("points", "unknown_value", "Choices of a ranking have no points.")
        choices.append(choice)
    return tuple(choices)


def _read_picture(choice: Members, known: QuestionType) -> str | None:
    found = choice.text("picture", 0, PICTURE_CHARACTERS_MAX) or None
    if found is not None and not known.has_rich_choices:
        choice.error("picture", "unknown_value", f"Choices of a {known.shape} have no pictures.")
    elif found is not None and read_address(found) is None:
        choice.error("picture", "invalid_format", "The path of an uploaded picture is expected.")
    return found


def _read_scored(members: Members, known: QuestionType) -> bool:
    scored = members.boolean("scored", default=False)
    if scored and not known.is_scored:
        members.error("scored", "unknown_value", "Answers of scales, and yes, count as points; choices have points.")
    return scored and known.is_scored


def _read_rows(members: Members, identity: RowIdentity) -> tuple[Row, ...]:
    rows: list[Row] = []
    for path, entry in members.items("rows", 1, ROWS_MAX):
        one = Members(entry, path, members.findings)
        row_id, key = identity(one)
        code = one.text("code", 1, LABEL_CHARACTERS_MAX)
        rows.append(Row(row_id, one.required_text("label", 1, LABEL_CHARACTERS_MAX), key, code))
        one.finish()
    return tuple(rows)


def _read_style(members: Members, styles: Sequence[str]) -> str | None:
    if "" not in styles:
        return members.one_of("style", styles, styles[0])
    found = members.text("style", 0, LABEL_CHARACTERS_MAX) or None
    if found is not None and found not in styles:
        others = ", ".join(style for style in styles if style)
        members.error("style", "unknown_value", f"{others} is expected, or nothing.")
    return found


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
