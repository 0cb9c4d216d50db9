"""Mentions of colleagues in a text: `@` and an e-mail address or a name."""

from collections.abc import Iterable, Mapping


def mentioned(text: str, people: Mapping[str, Iterable[str]]) -> set[str]:
    """The ids of the people whom the text mentions; `people`: the names of each, case ignored."""
    folded = text.casefold()
    return {person_id for person_id, names in people.items() if any(_is_in(folded, name) for name in names)}


def _is_in(folded: str, name: str) -> bool:
    mark = f"@{name.strip().casefold()}"
    place = folded.find(mark) if len(mark) > 1 else -1
    while place >= 0:
        before, end = folded[place - 1 : place], place + len(mark)
        if not before.isalnum() and not folded[end : end + 1].isalnum():
            return True
        place = folded.find(mark, place + 1)
    return False
