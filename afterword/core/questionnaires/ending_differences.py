"""The changes of a definition's endings, as the arguments of `differences.Difference`."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from afterword.core.questionnaires import endings
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.endings import Ending, EndingTexts

SETTINGS: Final = ("conditions", *endings.ADDRESSES, *endings.OPTIONAL)


def changes(earlier: Definition, later: Definition, locales: Sequence[str]) -> Iterator[dict[str, Any]]:
    before = {one.ending_id: (place, one) for place, one in enumerate(earlier.endings)}
    after = {one.ending_id: (place, one) for place, one in enumerate(later.endings)}
    for ending_id, (place, ending) in before.items():
        if ending_id not in after:
            yield _change("ending_removed", ending, place)
    for ending_id, (place, ending) in after.items():
        if ending_id not in before:
            yield _change("ending_added", ending, place)
        else:
            old = before[ending_id][1]
            yield from _settings(old, ending, place)
            for locale in locales:
                yield from _texts(_in(old, earlier, locale), ending, later, locale)
    if [each for each in before if each in after] != [each for each in after if each in before]:
        yield {"kind": "endings_moved", "path": "/endings", "before": [*before], "after": [*after]}


def _settings(before: Ending, after: Ending, place: int) -> Iterator[dict[str, Any]]:
    documents = endings.document_of(before), endings.document_of(after)
    for name in SETTINGS:
        values = documents[0].get(name), documents[1].get(name)
        if values[0] != values[1]:
            yield _change("ending_changed", after, place, f"/{name}", member=name, values=values)


def _texts(before: Ending | EndingTexts, after: Ending, later: Definition, locale: str) -> Iterator[dict[str, Any]]:
    below = "" if locale == later.default_locale else f"/translations/{locale}"
    place, new = later.endings.index(after), _in(after, later, locale)
    for name in endings.TEXTS:
        values = getattr(before, name), getattr(new, name)
        if values[0] != values[1]:
            at = f"{below}/{name}"
            yield _change("ending_text_changed", after, place, at, locale=locale, member=name, values=values)


def _in(ending: Ending, definition: Definition, locale: str) -> Ending | EndingTexts:
    return ending if locale == definition.default_locale else ending.translations.get(locale) or EndingTexts()


def _change(
    kind: str,
    ending: Ending,
    place: int,
    below: str = "",
    *,
    values: tuple[object, object] = (None, None),
    **more: object,
) -> dict[str, Any]:
    title = endings.name_of(ending) or str(place + 1)
    return {
        "kind": kind,
        "path": f"/endings/{place}{below}",
        "before": values[0],
        "after": values[1],
        "texts": {"title": title},
        **more,
    }
