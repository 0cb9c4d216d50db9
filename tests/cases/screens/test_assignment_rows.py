"""The owner by a field as rows: several people beside one value share it, and a half row is refused."""

from afterword.asking.questionnaires.condition_rows import Subject
from afterword.cases.screens.assignment_rows import document_of, errors_of, sentence_of, stored_draft, typed_draft
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
    assert DOCUMENT == document_of(typed_draft(Form(FORM)), SUBJECTS)
    shown = stored_draft(DOCUMENT, SUBJECTS)
    assert [("Shop", "ann"), ("Shop", "ben"), ("9", "ann"), ("", ""), ("", "")] == list(shown.shown_pairs)
    assert DOCUMENT == document_of(shown, SUBJECTS)
    assert "Shop: Ann, Shop: ben, 9: Ann, eva" == sentence_of(DOCUMENT, SUBJECTS, {"ann": "Ann"})


def test_empty_and_half() -> None:
    words = texts.texts("console", "en")
    assert document_of(typed_draft(Form({})), SUBJECTS) is None
    assert "" == sentence_of(None, SUBJECTS, {})
    half = typed_draft(Form({"of-7": ["Shop"], "user-9": ["ann"]}))
    assert ["/user-0", "/of-1"] == [one.pointer for one in errors_of(words, half)]
