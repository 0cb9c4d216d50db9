"""Conditions as rows: shown where the rows give the same document back, and in words."""

import pytest

from afterword import texts
from afterword.questionnaires.condition_rows import Row, Subject, document_of, rows_of, sentence_of, with_named

SUBJECTS = {
    one.key: one
    for one in (
        Subject("question:q", "Score", "integer", "Answers"),
        Subject("question:c", "Way", "integers", "Answers", {1: "Shop", 2: "Web, app"}),
        Subject("questionnaire_metadata:express", "Express", "boolean", "Of the order", {True: "oui", False: "non"}),
        Subject("questionnaire_metadata:store", "Store", "text", "Of the order"),
    )
}


def leaf(subject: str, operator: str, value: object = None) -> dict[str, object]:
    return {"subject": subject, "operator": operator} | ({} if value is None else {"value": value})


@pytest.mark.parametrize(
    ("document", "rows"),
    [
        ({"all": [leaf("question:q", "less_equal", 6)]}, [Row("question:q", "less_equal", "6")]),
        ({"any": [leaf("question:q", "in", [1, 2])]}, [Row("question:q", "in", "1, 2")]),
        ({"all": [leaf("question:c", "contains", 1)]}, [Row("question:c", "contains", "Shop")]),
        ({"all": [leaf("questionnaire_metadata:express", "equal", True)]},
         [Row("questionnaire_metadata:express", "equal", "oui")]),
        ({"all": [leaf("questionnaire_metadata:store", "is_empty")]},
         [Row("questionnaire_metadata:store", "is_empty", "")]),
        ({"all": [leaf("question:c", "in", [1, 2])]}, None),  # a label with a comma
        ({"all": [leaf("question:q", "equal", "6")]}, None),  # a text where rows write a number
        ({"all": [leaf("question:gone", "equal", 6)]}, None),
        ({"all": [{"subject": "question:q", "operator": "equal", "value": 6, "window_days": 7}]}, None),
        ({"all": [{"any": []}]}, None),
        ({"not": leaf("question:q", "equal", 6)}, None),
        ({"any": []}, None),
    ],
)  # fmt: skip
def test_rows(document: dict[str, object], rows: list[Row] | None) -> None:
    shown = rows_of(document, SUBJECTS)
    if rows is None:
        assert shown is None
    else:
        assert (next(iter(document)), rows) == shown
        assert shown is not None
        assert document == document_of(shown[0], [Row(), *shown[1], Row()], SUBJECTS)


def test_words() -> None:
    words = texts.texts("console", "en")
    document = {"any": [leaf("question:q", "less", 7), leaf("tag:vip", "is_not_empty")]}
    assert "“Score” is less than 7 or “vip” is given" == sentence_of(words, document, with_named(SUBJECTS, document))
    nested = {"all": [{"not": document}, leaf("question:c", "contains", 1)]}
    expected = "not (“Score” is less than 7 or “vip” is given) and “Way” contains Shop"
    assert expected == sentence_of(words, nested, with_named(SUBJECTS, nested)).translate({0x2068: None, 0x2069: None})
    assert "by a condition" == sentence_of(words, {"not": document}, SUBJECTS)
    assert "each response" == sentence_of(words, None, SUBJECTS)
