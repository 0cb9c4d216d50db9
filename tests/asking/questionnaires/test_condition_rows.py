"""Conditions as rows: shown where the rows give the same document back, and in words."""

import pytest

from afterword.asking.questionnaires.condition_rows import (
    INNER_MAX,
    ROWS_MAX,
    Row,
    Subject,
    document_of,
    rows_of,
    sentence_of,
    shown_rows,
    suggestions,
    with_named,
    with_seen,
)
from afterword.kit import texts

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
        ({"all": [leaf("question:q", "less", 6), {"any": [leaf("question:q", "less", 0), leaf("question:c", "in", [1])]}]},  # noqa: E501
         [Row("question:q", "less", "6"), Row("question:q", "less", "0", 1), Row("question:c", "in", "Shop", 1)]),
        ({"any": [{"all": [leaf("question:q", "equal", 1)]}, {"all": [leaf("question:q", "equal", 2)]}]},
         [Row("question:q", "equal", "1", 1), Row("question:q", "equal", "2", 2)]),
        ({"all": [{"all": [leaf("question:q", "equal", 1)]}]}, None),
        ({"all": [{"any": [{"not": leaf("question:q", "equal", 1)}]}]}, None),
        ({"all": [{"any": [leaf("question:q", "equal", 1)]}] * 5}, None),  # more groups than the form has
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


def test_inner_groups_come_last() -> None:
    inner = {"any": [leaf("question:q", "equal", 1)]}
    shown = rows_of({"all": [inner, leaf("question:q", "less", 6)]}, SUBJECTS)
    assert shown is not None
    assert {"all": [leaf("question:q", "less", 6), inner]} == document_of(*shown, SUBJECTS)


def test_rows_to_fill() -> None:
    """Two for the outer group and for a new one, one for each that is there; numbered as errors count them."""
    rows = [Row("question:q", place=3), Row("question:q"), Row("", "equal"), Row("question:c", place=3)]
    places = [(place, [number for number, _ in members]) for place, members in shown_rows(rows)]
    assert [(0, [0, 3, 4]), (1, [1, 2, 5]), (2, [6, 7])] == places
    full = [Row("question:q", place=number % (INNER_MAX + 1)) for number in range(ROWS_MAX)]
    assert ROWS_MAX == sum(len(members) for _, members in shown_rows(full))


def test_seen() -> None:
    words = texts.texts("console", "en")
    seen = {"questionnaire_metadata:store": [("Athens", 3), ("Patras", 1)], "responder_metadata:tier": [("gold", 2)]}
    found = with_seen(words, SUBJECTS, seen)
    assert ("tier", "text") == (found["responder_metadata:tier"].text, found["responder_metadata:tier"].kind)
    notes = dict(suggestions(words, found))
    assert "Store · seen 3 times" == notes["Athens"]
    assert "Store · seen 1 time" == notes["Patras"]
    assert "tier · seen 2 times" == notes["gold"]
    assert not notes["Shop"]


def test_words() -> None:
    words = texts.texts("console", "en")
    document = {"any": [leaf("question:q", "less", 7), leaf("tag:vip", "is_not_empty")]}
    assert "“Score” is less than 7 or “vip” is given" == sentence_of(words, document, with_named(SUBJECTS, document))
    nested = {"all": [{"not": document}, leaf("question:c", "contains", 1)]}
    expected = "not (“Score” is less than 7 or “vip” is given) and “Way” contains Shop"
    assert expected == sentence_of(words, nested, with_named(SUBJECTS, nested)).translate({0x2068: None, 0x2069: None})
    assert "by a condition" == sentence_of(words, {"not": document}, SUBJECTS)
    assert "each response" == sentence_of(words, None, SUBJECTS)
