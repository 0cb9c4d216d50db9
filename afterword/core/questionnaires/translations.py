"""The texts of a definition in its languages: missing or outdated ones, another default, texts of another direction.

Where a translation is missing, readers get the default locale, which on an Arabic page may be English.
"""

import copy
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from afterword.core.questionnaires import endings
from afterword.core.questionnaires.definition import GROUP_TEXTS, PAGES, Definition, Group, PageTexts, Text, Texts
from afterword.core.questionnaires.endings import Ending, EndingTexts
from afterword.core.questionnaires.question_types import Question, Translation
from afterword.core.questionnaires.questions import TEXTS, translated as translated_question
from afterword.core.reading.documents import is_array, is_object
from afterword.core.text.locales import direction

State = Literal["missing", "source_changed", "translated"]
Sources = Mapping[
    str, Mapping[str, str]
]  # by language and key: the text that a translation was made for, if it changed
Document = Mapping[str, object]


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


def standard_after(before: Sequence[Text], after: Sequence[Text], known: Mapping[str, str]) -> dict[str, str | None]:
    """By path, the standard translations of texts that are new or changed; None: of another text, so it goes.

    `known`: standard translations by text. A translation that somebody wrote stays.
    """
    earlier = {one.key: one.source for one in before}
    found: dict[str, str | None] = {}
    for one in after:
        was, target = earlier.get(one.key), known.get(one.source)
        is_left = was is not None and was != one.source and one.target is not None and one.target == known.get(was)
        if is_left or (was != one.source and target and not one.target):
            found[one.path] = target
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


def with_languages(
    definition: Definition, own: Texts, *, default: str, kept: Collection[str]
) -> tuple[Definition, Texts]:
    """The definition with `default`, one of its languages, and those of `kept`; texts that it lacks stay as they are.

    `own`: the questionnaire's title and description in the default language, before and in the result after.
    """
    locales = (default, *(each for each in definition.locales if each in kept and each != default))
    first = definition.default_locale

    def changed(owner: Texts | Ending, names: Sequence[str], translations: Mapping[str, Any]) -> dict[str, Any]:
        kind = Texts if isinstance(owner, Texts) else EndingTexts
        original = kind(**{name: getattr(owner, name) for name in names})
        texts = {first: original, **translations}
        mine = texts.get(default) or original
        new = {name: getattr(mine, name) or getattr(original, name) for name in names}
        return new | {"translations": {each: texts[each] for each in locales[1:] if each in texts}}

    def group(one: Group) -> Group:
        questions = tuple(_question(question, first, locales) for question in one.questions)
        return replace(one, questions=questions, **changed(one, GROUP_TEXTS, one.translations))

    texts = changed(own, GROUP_TEXTS, definition.translations)
    return replace(
        definition,
        default_locale=default,
        locales=locales,
        groups=tuple(group(one) for one in definition.groups),
        pages={each: definition.page_texts(each) for each in locales},
        translations=texts.pop("translations"),
        endings=tuple(replace(one, **changed(one, endings.TEXTS, one.translations)) for one in definition.endings),
    ), Texts(**texts)


def _question(question: Question, first: str, locales: Collection[str]) -> Question:
    default, *others = locales
    original = Translation(
        **{name: getattr(question, name) for name in TEXTS},
        choices={choice.value: choice.label for choice in question.choices},
        rows={row.row_id: row.label for row in question.rows},
    )
    texts = {first: original, **question.translations}
    kept = {each: texts[each] for each in others if each in texts}
    return replace(translated_question(question, default), translations=kept)


FIRST_STRONG, POP = "\u2068", "\u2069"  # "first strong isolate" and its end (UAX 9)


def isolated(text: str) -> str:
    return "\n".join(line and f"{FIRST_STRONG}{line}{POP}" for line in text.split("\n"))


def runs_against(definition: Definition, locale: str) -> bool:
    """Whether texts of the default locale run the other way on a page in `locale`."""
    return direction(definition.default_locale) != direction(locale)


def readable(definition: Definition, locale: str) -> Definition:
    """The definition as pages in `locale` show it: texts of its default locale isolated, where they run against it."""
    if not runs_against(definition, locale):
        return definition
    own = definition.pages.get(definition.default_locale) or PageTexts()
    return replace(
        definition,
        groups=tuple(_isolated_group(group) for group in definition.groups),
        pages={**definition.pages, definition.default_locale: PageTexts(**_isolated(own, PAGES))},
        endings=tuple(replace(one, **_isolated(one, endings.TEXTS)) for one in definition.endings),
    )


def _isolated_group(group: Group) -> Group:
    questions = tuple(_isolated_question(question) for question in group.questions)
    return replace(group, questions=questions, **_isolated(group, GROUP_TEXTS))


def _isolated_question(question: Question) -> Question:
    return replace(
        question,
        **_isolated(question, TEXTS),
        choices=tuple(replace(choice, label=isolated(choice.label)) for choice in question.choices),
        rows=tuple(replace(row, label=isolated(row.label)) for row in question.rows),
    )


def _isolated(owner: Group | PageTexts | Question | endings.Ending, names: Sequence[str]) -> dict[str, Any]:
    return {name: text and isolated(text) for name in names for text in [getattr(owner, name)]}
