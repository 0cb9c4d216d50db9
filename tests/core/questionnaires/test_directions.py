"""Texts that run against a page: isolated line by line, and only where they do."""

from afterword.core.questionnaires import translations
from afterword.core.questionnaires.definition import parse

QUESTION = {
    "question_id": "Q" * 22, "type": "single_choice", "title": "Which?", "description": "Take one.\n\nOr none.",
    "choices": [{"value": 1, "label": "The first."}, {"value": 2, "label": "The other."}],
    "translations": {"ar": {"title": "أيهما؟"}},
}  # fmt: skip
DEFINITION = parse(
    {
        "default_locale": "en", "locales": ["en", "el", "ar"],
        "groups": [{"group_id": "G" * 22, "title": "A group.", "questions": [QUESTION]}],
        "pages": {"en": {"thank_you": "Thanks."}},
    }
)  # fmt: skip


def test_the_same_direction() -> None:
    assert DEFINITION is translations.readable(DEFINITION, "el")


def test_against_it() -> None:
    shown = translations.readable(DEFINITION, "ar")
    [group] = shown.groups
    [question] = group.questions
    assert ("\u2068A group.\u2069", None) == (group.title, group.description)
    assert ("\u2068Which?\u2069", "\u2068Take one.\u2069\n\n\u2068Or none.\u2069") == (
        question.title, question.description
    )  # fmt: skip
    assert ["\u2068The first.\u2069", "\u2068The other.\u2069"] == [choice.label for choice in question.choices]
    assert "أيهما؟" == question.translations["ar"].title
    assert ("\u2068Thanks.\u2069", None) == (shown.page_texts("ar").thank_you, shown.page_texts("ar").closed)
