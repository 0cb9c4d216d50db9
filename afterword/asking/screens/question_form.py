"""The fields of a question's form, by its type, with their labels and what is wrong with each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from afterword.asking.instances.answer_page import written_size
from afterword.asking.screens.outline import Problem, is_answered
from afterword.asking.screens.questionnaires import Work
from afterword.console.inputs import theirs_of
from afterword.core.questionnaires import editing, variables
from afterword.core.questionnaires.editing import Values, fields_of, picture_name
from afterword.core.questionnaires.question_types import FILE_TYPES, FILES_MAX, LINES_CHARACTERS_MAX, MEMBERS, TYPES
from afterword.core.questionnaires.questions import TEXTS
from afterword.core.text.placeholders import MAPS
from afterword.errors import FieldError
from afterword.kit.texts import Marked, Texts
from afterword.kit.ui.text import NOTHING

CONTACTS: Final[Mapping[str, Marked]] = {
    "name": "Name", "email": "E-mail address", "phone": "Telephone number", "preferred_time": "Time for a call",
    "street": "Street and number", "postal_code": "Postal code", "city": "City", "region": "Region",
    "country": "Country",
}  # fmt: skip
KINDS_OF_FILES: Final[Mapping[str, Marked]] = {
    "picture": "Pictures", "pdf": "PDF", "document": "Text documents (Word, OpenDocument)",
    "spreadsheet": "Spreadsheets (Excel, OpenDocument)", "text": "Plain text and CSV",
}  # fmt: skip
_INPUTS: Final = {"lines": "area", "decimal": "text"}  # by the kind of a member, where its field has another name
_MEGABYTE: Final = 1_048_576
_SIZES: Final = (1, 2, 5, 10)  # megabytes


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: str
    label: str
    value: str | list[str]
    hint: str = ""
    options: Sequence[tuple[str, str]] = ()
    most: int = 20


@dataclass(frozen=True, slots=True)
class Wrong:
    """Problems as the macros of fields take a refusal."""

    errors: Sequence[FieldError]


def fields(words: Texts, question: Mapping[str, Any], values: Values) -> list[Field]:
    names = fields_of(str(question.get("type")))
    return [_field(words, question, name, values.get(name, "")) for name in names]


def pictures(
    words: Texts, question: Mapping[str, Any], values: Values, offered: Sequence[tuple[str, str]]
) -> list[Field]:
    """A field for each choice that has a label; `offered`: the paths and names of pictures."""
    known = TYPES.get(str(question.get("type")))
    if known is None or not known.has_rich_choices or question.get("style"):
        return []
    found: list[Field] = []
    for value, label in _labels(question):
        name = picture_name({"value": value})
        chosen = str(values.get(name, ""))
        others = [] if not chosen or chosen in dict(offered) else [(chosen, words("the picture that it has"))]
        options = [("", words("none")), *others, *offered]
        found.append(Field(name, "choice", words("Picture of “{label}”", label=label), chosen, "", options))
    return found


def wrong_of(question_id: str, problems: Iterable[Problem]) -> Wrong:
    own = [one for one in problems if one.question_id == question_id and one.is_error and one.member]
    return Wrong([FieldError("wrong", one.text, pointer=f"/{one.member}") for one in own])


def differences(words: Texts, theirs: Values, mine: Values) -> list[tuple[str, str]]:
    labels = {name: member.label for name, member in MEMBERS.items() if name in theirs}
    stored = {name: theirs[name] for name in labels}
    return theirs_of(words, labels, stored, mine, lambda name, value: _shown(words, name, value))


def types(words: Texts) -> list[tuple[str, str]]:
    return [(name, words(one.label)) for name, one in TYPES.items()]


def _field(words: Texts, question: Mapping[str, Any], name: str, value: str | list[str]) -> Field:
    member, known = MEMBERS[name], TYPES.get(str(question.get("type")), TYPES["statement"])
    return Field(
        name,
        _INPUTS.get(member.kind, member.kind),
        words(known.labels.get(name, member.label)),
        value,
        words(member.hint),
        _options(words, question, name),
        LINES_CHARACTERS_MAX if member.kind == "lines" else member.most,
    )


def _options(words: Texts, question: Mapping[str, Any], name: str) -> Sequence[tuple[str, str]]:
    labels, known = _labels(question), TYPES.get(str(question.get("type")), TYPES["statement"])
    numbers = [*known.faces][::-1] or (5, 3, 4, 6, 7, 8, 9, 10)
    options: Mapping[str, Sequence[tuple[str, str]]] = {
        "scale_min": [("1", "1"), ("0", "0")],
        "scale_max": [(str(one), str(one)) for one in numbers],
        "style": [(key, words(style.label)) for key, style in known.styles.items()],
        "other": [("", words("none of them")), *labels],
        "exclusive": labels,
        "contact_fields": [(key, words(CONTACTS[key])) for key in known.parts],
        "file_types": [(key, words(KINDS_OF_FILES[key])) for key in FILE_TYPES],
        "files_max": [(str(one), str(one)) for one in range(1, FILES_MAX + 1)],
        "bytes_max": _sizes(words, question.get("bytes_max")),
    }
    return options.get(name, ())


def _sizes(words: Texts, chosen: object) -> list[tuple[str, str]]:
    """Whole megabytes, and the size that was set by the API."""
    sizes = sorted({one * _MEGABYTE for one in _SIZES} | ({chosen} if isinstance(chosen, int) else set()))
    return [(str(one), written_size(one, words)) for one in sizes]


def _labels(question: Mapping[str, Any]) -> list[tuple[str, str]]:
    choices: Any = question.get("choices") or ()
    return [(str(one.get("value")), str(one.get("label") or "")) for one in choices if isinstance(one, dict)]


def _shown(words: Texts, name: str, value: str | list[str]) -> str:
    if isinstance(value, list):
        return ", ".join(words({**CONTACTS, **KINDS_OF_FILES}.get(one, one)) for one in value) or NOTHING
    if MEMBERS[name].kind == "check":
        return words("yes") if value else words("no")
    return value or NOTHING


OFFERED_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class TextVariables:
    """`titles`: of questions by id. `offered`: the names to insert."""

    titles: Mapping[str, str]
    offered: list[str]

    def shown(self, text: str) -> str:
        return variables.with_titles(text, self.titles)

    def stored(self, text: str) -> str:
        return variables.with_ids(text, self.titles)

    def shown_values(self, values: Values) -> Values:
        return {
            name: self.shown(value) if name in TEXTS and isinstance(value, str) else value
            for name, value in values.items()
        }

    def stored_fields(self, fields: Mapping[str, list[str]]) -> dict[str, list[str]]:
        return {
            name: [self.stored(one) for one in values] if name in TEXTS else values for name, values in fields.items()
        }


def inserts(work: Work, *, before: str | None = None) -> TextVariables:
    """`before`: the question whose texts may have the answers of those before it; None: those of all."""
    document = work.draft.definition
    asked: dict[str, str] = {}
    earlier: list[str] = []
    is_earlier = True
    for one in editing.all_questions(document):
        is_earlier = is_earlier and one.get("question_id") != before
        if is_answered(one):
            asked[str(one.get("question_id"))] = " ".join(str(one.get("title") or "").split())
            earlier += [str(one.get("question_id"))] if is_earlier else []
    titles = variables.plain_titles(asked)
    known = [f"{kind}.{name}" for kind in MAPS for name in getattr(work.declared, kind)]
    names = [*(titles[one] for one in earlier if one in titles), *known, variables.ORGANIZATION]
    return TextVariables(titles, names[:OFFERED_MAX])
