"""Readers of JSON share these: objects of any form, numbers, buttons of endings, and sentences of the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from afterword.core.foreign.parts import Condition, Entry, leaf
from afterword.core.questionnaires import endings
from afterword.core.questionnaires.conditions import WITHOUT_VALUE
from afterword.core.questionnaires.question_types import TYPES
from afterword.errors import Sentence

Document = dict[str, Any]

PICTURES: Final = "Its pictures and videos are left out."
FEW: Final = "Only its first {n} entries are taken."
MIDDLE: Final = "Labels in the middle of the scale are left out."
UNCHECKED: Final = "The form of the answer is not checked: {name}."
VALUES: Final = "Send these values as metadata: {names}."
AT_ONCE: Final = "People were led to the address at once. Now they press a button."
NO_SECURE_ADDRESS: Final = "Its button is left out, because its address does not begin with https://."
SCALE: Final = range(3, 11)  # of the highest number of a rating


def mapping(value: object) -> Document:
    """An object as it is, and a list by its places: some systems write an empty object as an empty list."""
    if isinstance(value, list):
        return {str(place): one for place, one in enumerate(value)}
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Document]:
    """The objects in a list, or in an object in its order."""
    return [one for one in mapping(value).values() if isinstance(one, dict)]


def at(thing: object, *path: object) -> Any:
    for name in path:
        thing = mapping(thing).get(str(name))
    return thing


def few(names: Sequence[Any], most: int, entry: Entry) -> list[Any]:
    if len(names) > most:
        entry.lost(Sentence(FEW, n=most))
    return [*names[:most]]


def number_of(value: object) -> float | None:
    """A number that may be written as a text, if a question can have it as its bound."""
    try:
        found = float(str(value))
    except ValueError:
        return None
    is_kept = abs(found) < 10**15
    return (int(found) if found.is_integer() else found) if is_kept else None


@dataclass(frozen=True, slots=True)
class Subject:
    """A question, or a part of one, that conditions and texts can name.

    `name`: a key, or one with that of a part; `place`: of the question in the document; `values`: of its choices by
    the names that the other system has for them; `codes`: the same by the codes of its exports.
    """

    name: str
    type: str
    place: int = 0
    values: Mapping[str, int] = field(default_factory=dict[str, int])
    codes: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def variable(self) -> str | None:
        """The name of its variable in texts."""
        is_shown = TYPES[self.type].is_answered and (":" not in self.name or self.type == "contact")
        return f"answer.{self.name.replace(':', '.')}" if is_shown else None

    def chosen(self, choice: str, operator: str) -> Condition | None:
        """Whether a choice is the answer, or among the answers; None where it has no such choice."""
        if choice not in self.values:
            return None
        if TYPES[self.type].subject == "integers":
            operator = {"equal": "contains", "not_equal": "not_contains"}.get(operator, operator)
        return leaf(f"question:{self.name}", operator, self.values[choice])

    def compared(self, operator: str, value: object) -> Condition | None:
        """A comparison with a value that may be written as a text; None for one that is no number where it must be."""
        is_number = TYPES[self.type].subject in {"number", "integer"} and operator not in WITHOUT_VALUE
        found = number_of(value) if is_number else value
        return None if is_number and found is None else comparison(f"question:{self.name}", operator, found)


def comparison(subject: str, operator: str, value: object) -> Condition:
    """A comparison; one with an empty text asks whether there is a value."""
    if operator in {"equal", "not_equal"} and value in ("", None, "null"):  # it may be a list, which no set has
        operator = "is_empty" if operator == "equal" else "is_not_empty"
    return leaf(subject, operator, None if operator in WITHOUT_VALUE else value)


def button(url: str, label: str, entry: Entry, *, at_once: bool) -> Document:
    """The button of an ending, with the name of the site where it has no label."""
    if at_once:
        entry.changed(Sentence(AT_ONCE))
    if not url.startswith("https://"):
        entry.lost(Sentence(NO_SECURE_ADDRESS))
        return {}
    label = label or urlsplit(url).hostname or url
    return {"button_label": label[: endings.LABEL_CHARACTERS_MAX], "button_url": url}
