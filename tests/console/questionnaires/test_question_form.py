"""The form of a question: each type has its members, and what differs is named."""

import pytest

from afterword.console.questionnaires import question_form
from afterword.console.questionnaires.outline import TYPES, Problem
from afterword.core.questionnaires import question_forms, question_types
from afterword.texts import texts

WORDS = texts("console", "en")


@pytest.mark.parametrize("question_type", question_types.TYPES)
def test_fields(question_type: str) -> None:
    question = {"type": question_type}
    found = question_form.fields(WORDS, question, question_forms.values_of(question))
    assert TYPES[question_type]
    names = {one.name for one in found} - {"other", "exclusive", "points"}
    assert set(question_forms.fields_of(question_type)) == names
    assert all(one.label for one in found)


def test_differences_and_problems() -> None:
    theirs = {"title": "A", "required": "1", "contact_fields": ["name", "email"]}
    found = question_form.differences(WORDS, theirs, {"title": "A", "required": "", "contact_fields": ["name"]})
    assert [("Fields", "Name, E-mail address"), ("An answer is required", "yes")] == found
    problems = [Problem("Missing.", question_id="q", member="title"), Problem("Else.", question_id="p", member="title")]
    assert ["/title"] == [one.pointer for one in question_form.wrong_of("q", problems).errors]
