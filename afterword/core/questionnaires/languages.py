"""A definition in other languages: with another default, and without those that are not wanted."""

from collections.abc import Collection
from dataclasses import replace

from afterword.core.questionnaires.definition import Definition, Group, Texts
from afterword.core.questionnaires.endings import TEXTS, Ending, EndingTexts
from afterword.core.questionnaires.question_types import Question, Translation


def with_languages(
    definition: Definition, own: Texts, *, default: str, kept: Collection[str]
) -> tuple[Definition, Texts]:
    """The definition with `default`, one of its languages, and those of `kept`; texts that it lacks stay as they are.

    `own`: the questionnaire's title and description in the default language, before and in the result after.
    """
    locales = (default, *(each for each in definition.locales if each in kept and each != default))
    first = definition.default_locale

    def changed(texts: Texts, translations: dict[str, Texts]) -> tuple[Texts, dict[str, Texts]]:
        mine = texts if default == first else translations.get(default) or Texts()
        new = Texts(mine.title or texts.title, mine.description or texts.description)
        all_texts = {first: texts, **translations}
        return new, {each: all_texts[each] for each in locales if each in all_texts and each != default}

    def group(one: Group) -> Group:
        texts, translations = changed(Texts(one.title, one.description), dict(one.translations))
        return replace(
            one,
            title=texts.title,
            description=texts.description,
            translations=translations,
            questions=tuple(_question(question, first, locales) for question in one.questions),
        )

    texts, translations = changed(own, dict(definition.translations))
    return replace(
        definition,
        default_locale=default,
        locales=locales,
        groups=tuple(group(one) for one in definition.groups),
        pages={each: definition.page_texts(each) for each in locales},
        translations=translations,
        endings=tuple(_ending(one, first, locales) for one in definition.endings),
    ), texts


def _ending(ending: Ending, first: str, locales: Collection[str]) -> Ending:
    default, *others = locales
    texts = {first: EndingTexts(**{name: getattr(ending, name) for name in TEXTS}), **ending.translations}
    mine = texts.get(default) or texts[first]
    return replace(
        ending,
        **{name: getattr(mine, name) or getattr(ending, name) for name in TEXTS},
        translations={each: texts[each] for each in others if each in texts},
    )


def _question(question: Question, first: str, locales: Collection[str]) -> Question:
    default, *others = locales
    original = Translation(
        title=question.title,
        description=question.description,
        low_label=question.low_label,
        high_label=question.high_label,
        choices={choice.value: choice.label for choice in question.choices},
        rows={row.row_id: row.label for row in question.rows},
    )
    texts = {first: original, **question.translations}
    mine = texts.get(default) or original
    return replace(
        question,
        title=mine.title or question.title,
        description=mine.description or question.description,
        low_label=mine.low_label or question.low_label,
        high_label=mine.high_label or question.high_label,
        choices=tuple(replace(one, label=mine.choices.get(one.value, one.label)) for one in question.choices),
        rows=tuple(replace(one, label=mine.rows.get(one.row_id, one.label)) for one in question.rows),
        translations={each: texts[each] for each in others if each in texts},
    )
