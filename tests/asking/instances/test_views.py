"""Values for the template of the answer page: the controls of each kind of question, and their values."""

from typing import Any

import pytest

from afterword.asking.instances import views
from afterword.asking.instances.answer_page import Wrong
from afterword.core.answers.values import OTHER, field_name
from afterword.core.questionnaires.definition import parse
from afterword.core.questionnaires.question_types import Question
from afterword.kit.texts import texts

WORDS = texts("pages", "en")
QUESTION_ID = "Q" + "0" * 21
CHOICES = [{"value": 1, "label": "A"}, {"value": 2, "label": "B", "other": True}]


def question(**fields: Any) -> Question:
    document = {"question_id": QUESTION_ID, "title": "Well?", **fields}
    groups = [{"group_id": "G" + "0" * 21, "questions": [document]}]
    [found] = parse({"default_locale": "en", "locales": ["en"], "groups": groups}).questions()
    return found


@pytest.mark.parametrize(
    ("fields", "kind", "options"),
    [
        ({"type": "nps"}, "scale", 11),
        ({"type": "smileys"}, "smileys", 5),
        ({"type": "rating", "style": "stars"}, "stars", 5),
        ({"type": "single_choice", "choices": CHOICES}, "choices", 2),
        ({"type": "text"}, "text", 0),
        ({"type": "consent"}, "consent", 1),
        ({"type": "statement"}, "statement", 0),
    ],
)
def test_controls(fields: dict[str, Any], kind: str, options: int) -> None:
    view = views.view_of(question(**fields), shown=views.Shown(), texts=WORDS)
    assert (kind, options) == (view.kind, len(view.options))
    assert not any(option.checked for option in view.options)


def test_a_wrong_answer_is_shown_again_with_its_sentence() -> None:
    asked = question(type="single_choice", choices=CHOICES)
    shown = views.shown_input(asked, {field_name(QUESTION_ID): ["2"], field_name(QUESTION_ID, OTHER): ["words"]})
    view = views.view_of(asked, shown=shown, texts=WORDS, wrong=Wrong("No."))
    assert ("No.", "words", [False, True]) == (view.error, view.other_text, [each.checked for each in view.options])
