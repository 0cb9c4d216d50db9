"""The texts of a definition beside those of another language, which may be missing or outdated."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from afterword.core.questionnaires import endings
from afterword.core.questionnaires.definition import GROUP_TEXTS, PAGES, Definition, PageTexts, Texts
from afterword.core.questionnaires.question_types import Question, Translation
from afterword.core.questionnaires.questions import TEXTS
from afterword.core.reading.documents import is_array, is_object

State = Literal["missing", "source_changed", "translated"]
Sources = Mapping[
    str, Mapping[str, str]
]  # by language and key: the text that a translation was made for, if it changed
Document = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Text:
    """A text to translate. `key` stays when the order changes; `path` points to its translation in the definition.

    `member`: `title`, `welcome`, `choices/3`, `rows/{row_id}`.
    """

    key: str
    path: str
    member: str
    source: str
    target: str | None
    question_id: str | None = None


def texts_of(definition: Definition, locale: str, own: Texts) -> list[Text]:
    """All texts that have one in the default language. `own`: the questionnaire's title and description."""
    return list(_texts_of(definition, locale, own))


def state_of(text: Text, outdated: Mapping[str, str]) -> State:
    if not text.target:
        return "missing"
    return "source_changed" if text.key in outdated else "translated"


def note_of(text: Text, titles: Mapping[str, str]) -> str:
    """To which question a part of one belongs, for translators; empty for whole texts. `titles`: by question."""
    if text.question_id is None or text.member == "title":
        return ""
    member = {"choices": "Choice", "rows": "Row"}.get(text.member.partition("/")[0], text.member.replace("_", " "))
    return f"{member[:1].upper()}{member[1:]} of the question “{titles.get(text.question_id, '')}”"


def outdated_after(
    before: Sequence[Text], after: Sequence[Text], *, known: Mapping[str, str], made_for: Mapping[str, str]
) -> dict[str, str]:
    """By key, the text that a translation was made for, where the text is another one now.

    `known`: the same before the change. `made_for`: the texts that new translations were made for, if not for those
    of `after`. A translation that stays as it was belongs to the text of that time.
    """
    earlier = {text.key: text for text in before}
    found: dict[str, str] = {}
    for text in after:
        if not text.target:
            continue
        old = earlier.get(text.key)
        if text.key in made_for:
            source = made_for[text.key]
        elif old is None or old.target != text.target:
            source = text.source
        else:
            source = known.get(text.key, old.source)
        if source != text.source:
            found[text.key] = source
    return found


def translated(document: Document, locale: str, targets: Mapping[str, str | None]) -> dict[str, Any]:
    """A copy of a definition's document with these translations, by `path`; None removes one."""
    whole: dict[str, Any] = copy.deepcopy(dict(document))
    locales = whole.get("locales")
    if is_array(locales) and locale not in locales:
        whole["locales"] = [*locales, locale]
    for path, target in targets.items():
        *steps, last = path.split("/")[1:]
        place: Any = whole
        for step in steps:
            place = _below(place, step)
        if target is None:
            place.pop(last, None)
        else:
            place[last] = target
    return whole


def _below(place: Any, step: str) -> Any:
    """The entry of a list, or the member of an object, which gets an object where it has none."""
    if is_array(place):
        return place[int(step)]
    if not (is_object(place.get(step)) or is_array(place.get(step))):
        place[step] = {}
    return place[step]


def _texts_of(definition: Definition, locale: str, own: Texts) -> Iterator[Text]:
    translated_texts = definition.translations.get(locale) or Texts()
    yield from _members("", f"/translations/{locale}", GROUP_TEXTS, own, translated_texts)
    page_texts = [definition.pages.get(each) or PageTexts() for each in (definition.default_locale, locale)]
    yield from _members("pages/", f"/pages/{locale}", PAGES, *page_texts)
    for place, group in enumerate(definition.groups):
        texts = group.translations.get(locale) or Texts()
        path = f"/groups/{place}"
        yield from _members(f"{group.group_id}/", f"{path}/translations/{locale}", GROUP_TEXTS, group, texts)
        for index, question in enumerate(group.questions):
            yield from _of_question(question, f"{path}/questions/{index}/translations/{locale}", locale)
    for place, ending in enumerate(definition.endings):
        own_texts = ending.translations.get(locale) or endings.EndingTexts()
        path = f"/endings/{place}/translations/{locale}"
        yield from _members(f"{ending.ending_id}/", path, endings.TEXTS, ending, own_texts)


def _of_question(question: Question, path: str, locale: str) -> Iterator[Text]:
    texts = question.translations.get(locale) or Translation()
    key = f"{question.question_id}/"
    yield from _members(key, path, TEXTS, question, texts, question_id=question.question_id)
    parts: list[tuple[str, str, str | None]] = [
        (f"choices/{one.value}", one.label, texts.choices.get(one.value)) for one in question.choices
    ]
    parts += [(f"rows/{one.row_id}", one.label, texts.rows.get(one.row_id)) for one in question.rows]
    for member, source, target in parts:
        yield Text(key + member, f"{path}/{member}", member, source, target, question.question_id)


def _members(
    key: str, path: str, names: Sequence[str], sources: object, targets: object, *, question_id: str | None = None
) -> Iterator[Text]:
    for name in names:
        source = getattr(sources, name)
        if source:
            yield Text(key + name, f"{path}/{name}", name, source, getattr(targets, name), question_id)
