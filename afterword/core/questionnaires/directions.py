"""Texts of a language that runs the other way: kept apart, so that a page's direction does not move their punctuation.

Where a translation is missing readers get the default locale, which on an Arabic page may well be English.
"""

from dataclasses import replace

from afterword.core.questionnaires.definition import Definition, Group, PageTexts
from afterword.core.questionnaires.question_types import Question
from afterword.core.text.locales import direction

FIRST_STRONG, POP = "\u2068", "\u2069"  # "first strong isolate" and its end (UAX 9)


def isolated(text: str) -> str:
    """The text with each of its lines isolated; of its own direction, whatever stands around it."""
    return "\n".join(line and f"{FIRST_STRONG}{line}{POP}" for line in text.split("\n"))


def runs_against(definition: Definition, locale: str) -> bool:
    """Whether texts of the default locale run the other way on a page in `locale`."""
    return direction(definition.default_locale) != direction(locale)


def readable(definition: Definition, locale: str) -> Definition:
    """The definition as pages in `locale` show it: texts of its default locale isolated, where they run against it."""
    if not runs_against(definition, locale):
        return definition
    own = definition.pages.get(definition.default_locale) or PageTexts()
    pages = PageTexts(_isolated(own.welcome), _isolated(own.thank_you), _isolated(own.closed), _isolated(own.expired))
    return replace(
        definition,
        groups=tuple(_group(group) for group in definition.groups),
        pages={**definition.pages, definition.default_locale: pages},
    )


def _group(group: Group) -> Group:
    return replace(
        group,
        title=_isolated(group.title),
        description=_isolated(group.description),
        questions=tuple(_question(question) for question in group.questions),
    )


def _question(question: Question) -> Question:
    return replace(
        question,
        title=isolated(question.title),
        description=_isolated(question.description),
        low_label=_isolated(question.low_label),
        high_label=_isolated(question.high_label),
        choices=tuple(replace(choice, label=isolated(choice.label)) for choice in question.choices),
        rows=tuple(replace(row, label=isolated(row.label)) for row in question.rows),
    )


def _isolated(text: str | None) -> str | None:
    return None if text is None else isolated(text)
