"""Texts of a language that runs the other way, isolated so that a page's direction does not move their punctuation.

Where a translation is missing readers get the default locale, which on an Arabic page may be English.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from afterword.core.questionnaires import endings
from afterword.core.questionnaires.definition import GROUP_TEXTS, PAGES, Definition, Group, PageTexts
from afterword.core.questionnaires.question_types import Question
from afterword.core.questionnaires.questions import TEXTS
from afterword.core.text.locales import direction

FIRST_STRONG, POP = "\u2068", "\u2069"  # "first strong isolate" and its end (UAX 9)


def isolated(text: str) -> str:
    """The text with each of its lines isolated, so that it keeps its own direction."""
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
        groups=tuple(_group(group) for group in definition.groups),
        pages={**definition.pages, definition.default_locale: PageTexts(**_isolated(own, PAGES))},
        endings=tuple(replace(one, **_isolated(one, endings.TEXTS)) for one in definition.endings),
    )


def _group(group: Group) -> Group:
    questions = tuple(_question(question) for question in group.questions)
    return replace(group, questions=questions, **_isolated(group, GROUP_TEXTS))


def _question(question: Question) -> Question:
    return replace(
        question,
        **_isolated(question, TEXTS),
        choices=tuple(replace(choice, label=isolated(choice.label)) for choice in question.choices),
        rows=tuple(replace(row, label=isolated(row.label)) for row in question.rows),
    )


def _isolated(owner: Group | PageTexts | Question | endings.Ending, names: Sequence[str]) -> dict[str, Any]:
    """The texts of these fields isolated; None stays None."""
    return {name: text and isolated(text) for name in names for text in [getattr(owner, name)]}
