"""Readers of JSON share these: objects of any form, numbers, buttons of endings, and sentences of the report."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from afterword.core.foreign.parts import Entry
from afterword.core.questionnaires import endings
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


def compared(value: object, type_name: str) -> object:
    """A value to compare answers of a type with. Raises ValueError for a text where a number is expected."""
    if TYPES[type_name].subject in {"number", "integer"}:
        found = float(str(value))
        return int(found) if found.is_integer() else found
    return str(value)


def button(url: str, label: str, entry: Entry, *, at_once: bool) -> Document:
    """The button of an ending, with the name of the site where it has no label."""
    if at_once:
        entry.changed(Sentence(AT_ONCE))
    if not url.startswith("https://"):
        entry.lost(Sentence(NO_SECURE_ADDRESS))
        return {}
    label = label or urlsplit(url).hostname or url
    return {"button_label": label[: endings.LABEL_CHARACTERS_MAX], "button_url": url}
