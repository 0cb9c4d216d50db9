"""The form of a question names what differs and what is wrong."""

from afterword.asking.screens import question_form
from afterword.asking.screens.question_form import mark_of
from afterword.asking.screens.questionnaires import Problem
from afterword.kit.texts import texts

WORDS = texts("console", "en")


def test_differences_and_problems() -> None:
    theirs = {"title": "A", "required": "1", "contact_fields": ["name", "email"]}
    found = question_form.differences(WORDS, theirs, {"title": "A", "required": "", "contact_fields": ["name"]})
    assert [("Fields", "Name, E-mail address"), ("An answer is required", "yes")] == found
    problems = [Problem("Missing.", question_id="q", member="title"), Problem("Else.", question_id="p", member="title")]
    assert ["/title"] == [one.pointer for one in question_form.wrong_of("q", problems).errors]


def test_mark_of() -> None:
    condition = {"subject": "question:a", "operator": "equal", "value": 1}
    assert ("", 16) == (mark_of(None), len(mark_of(condition)))
    assert mark_of(condition) == mark_of(dict(reversed(condition.items())))
    assert mark_of(condition) != mark_of({**condition, "value": 2})
