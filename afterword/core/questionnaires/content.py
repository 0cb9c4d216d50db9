"""The content of an instance as its responder is shown it: groups, questions and page texts in one language."""

from collections.abc import Collection
from dataclasses import replace

from afterword.core.questionnaires import questions
from afterword.core.questionnaires.definition import GROUP_TEXTS, PAGES, Definition, Group, Texts
from afterword.core.questionnaires.question_types import Question

_HIDDEN = frozenset({"key", "jumps", "translations"})


def content(
    definition: Definition,
    locale: str,
    *,
    question_ids: Collection[str],
    instance_id: str,
    questionnaire_id: str,
    version_id: str,
) -> dict[str, object]:
    """The content of one instance in one language: `groups` with their `questions`, and `pages`.

    Questions that were not drawn are left out, and so are groups without any; no translations, no jumps.
    """
    version = {"questionnaire_id": questionnaire_id, "version_id": version_id}
    shown: list[dict[str, object]] = []
    for position, group in enumerate(definition.groups):
        drawn = [
            {
                **_question_content(questions.localized(question, locale, seed=instance_id)),
                "group_id": group.group_id,
                **version,
                "position": index,
            }
            for index, question in enumerate(group.questions)
            if question.question_id in question_ids
        ]
        if drawn:
            shown.append({**_group_content(group, locale, position, len(drawn)), **version, "questions": drawn})
    texts = definition.page_texts(locale)
    return {"groups": shown, "pages": {name: getattr(texts, name) for name in PAGES}}


def _question_content(question: Question) -> dict[str, object]:
    """A localized question as JSON: the fields of its type, without keys, translations and jumps."""
    bare = replace(question, rows=tuple(replace(row, key=None) for row in question.rows))
    return {name: value for name, value in questions.document_of(bare).items() if name not in _HIDDEN}


def _group_content(group: Group, locale: str, position: int, questions_count: int) -> dict[str, object]:
    texts = group.translations.get(locale) or Texts()
    return {
        "group_id": group.group_id,
        **{name: getattr(texts, name) or getattr(group, name) for name in GROUP_TEXTS},
        "display_name": group.display_name,
        "enabled": group.enabled,
        "position": position,
        "questions_count": questions_count,
    }
