"""The owner by a field as rows: several people beside one value share it, and a half row is refused."""

from afterword.asking.questionnaires.condition_rows import Subject
from afterword.cases.screens.alert_rules import (
    assignment_errors,
    assignment_of,
    assignment_sentence,
    stored_assignment,
    typed_assignment,
)
from afterword.console.screens import Form
from afterword.kit import texts

WAY = "question:way"
SUBJECTS = {WAY: Subject(WAY, "Way", "integer", "Answers", {1: "Shop", 2: "Web"})}
FORM = {"field": [WAY], "of-0": ["Shop"], "user-0": ["ann"], "of-3": ["shop"], "user-3": ["ben"], "of-5": ["9"],
        "user-5": ["ann"], "candidate_ids": ["eva", "eva"]}  # fmt: skip
DOCUMENT = {
    "subject": WAY,
    "choices": [{"value": "1", "user_ids": ["ann", "ben"]}, {"value": "9", "user_ids": ["ann"]}],
    "user_ids": ["eva"],
}


def test_rows() -> None:
    assert DOCUMENT == assignment_of(typed_assignment(Form(FORM)), SUBJECTS)
    shown = stored_assignment(DOCUMENT, SUBJECTS)
    assert [("Shop", "ann"), ("Shop", "ben"), ("9", "ann"), ("", ""), ("", "")] == list(shown.shown_pairs)
    assert DOCUMENT == assignment_of(shown, SUBJECTS)
    assert "Shop: Ann, Shop: ben, 9: Ann, eva" == assignment_sentence(DOCUMENT, SUBJECTS, {"ann": "Ann"})


def test_empty_and_half() -> None:
    words = texts.texts("console", "en")
    assert assignment_of(typed_assignment(Form({})), SUBJECTS) is None
    assert "" == assignment_sentence(None, SUBJECTS, {})
    half = typed_assignment(Form({"of-7": ["Shop"], "user-9": ["ann"]}))
    assert ["/user-0", "/of-1"] == [one.pointer for one in assignment_errors(words, half)]
