"""Definitions as clients send and see them: without the keys of authors' files, which stay with the ids they belong to.

A file names groups, questions and rows by keys, an API client by ids. So that the same questionnaire may be edited by
both, keys are taken off what is shown, and put on again where an id comes back.
"""

from collections.abc import Callable, Mapping
from typing import Final

from afterword.core.reading.documents import is_array, is_object

Document = dict[str, object]
Change = Callable[[Document, str], None]  # is given an entry and the name of its id

# The lists of a member of this name: each with the name of its entries' ids.
_LISTS: Final[Mapping[str, Mapping[str, str]]] = {
    "": {"endings": "ending_id", "groups": "group_id"},
    "groups": {"questions": "question_id"},
    "questions": {"rows": "row_id"},
}


def prepared(document: Mapping[str, object], *, known: Mapping[str, object], new_id: Callable[[], str]) -> Document:
    """The stored form of a client's document: each group, question and row has its id, and its key from `known`.

    Nothing is checked; anything but objects and lists stays as it is. A repeated id gets its key once.
    """
    keys: dict[tuple[str, object], object] = {}

    def remember_key(entry: Document, id_name: str) -> None:
        identity = entry.get(id_name)
        if isinstance(identity, str) and entry.get("key") is not None:
            keys.setdefault((id_name, identity), entry["key"])

    def identify(entry: Document, id_name: str) -> None:
        _remove_key(entry, id_name)
        identity = entry.get(id_name)
        if identity is None:
            entry[id_name] = new_id()
        elif isinstance(identity, str) and (key := keys.pop((id_name, identity), None)) is not None:
            entry["key"] = key

    _changed(known, remember_key)
    return _changed(document, identify)


def shown(document: Mapping[str, object]) -> Document:
    return _changed(document, _remove_key)


def _remove_key(entry: Document, _: str) -> None:
    entry.pop("key", None)


def _changed(document: Mapping[str, object], change: Change, within: str = "") -> Document:
    """A copy of the document in which `change` has seen every ending, group, question and row, from the top down."""
    copy = dict(document)
    for name, id_name in _LISTS.get(within, {}).items():
        entries = copy.get(name)
        if is_array(entries):
            copy[name] = [_entry(one, change, name, id_name) if is_object(one) else one for one in entries]
    return copy


def _entry(entry: Mapping[str, object], change: Change, name: str, id_name: str) -> Document:
    one = dict(entry)
    change(one, id_name)
    return _changed(one, change, name)
