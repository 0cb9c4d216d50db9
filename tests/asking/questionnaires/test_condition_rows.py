"""Conditions as rows: shown where the rows give the same document back, and in words."""

import pytest

from afterword.asking.questionnaires.condition_rows import (
    INNER_MAX,
    RANGES,
    ROWS_MAX,
    SUGGESTED_MAX,
    Row,
    Subject,
    document_of,
    faults,
    offered,
    rows_of,
    sentence_of,
    shown_rows,
    suggestions,
    with_named,
    with_seen,
)
from afterword.core.questionnaires.question_types import TYPES
from afterword.kit import texts

SUBJECTS = {
    one.key: one
    for one in (
        Subject("question:q", "Score", "integer", "Answers"),
        Subject("question:c", "Way", "integers", "Answers", {1: "Shop", 2: "Web, app"}),
        Subject("questionnaire_metadata:express", "Express", "boolean", "Of the order", {True: "oui", False: "non"}),
        Subject("questionnaire_metadata:store", "Store", "text", "Of the order"),
        Subject("questionnaire_metadata:day", "Day", "date", "Of the order"),
        Subject("question:nps", "NPS", "integer", "Answers", limits=("0", "10"), scale=range(11), ranges=RANGES["nps"]),
        Subject("question:n", "Number", "number", "Answers"),
        Subject("metric:response", "Answered, of sent", "metric", "Figures"),
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
        ({"all": [leaf("question:nps", "less_equal", 6)]}, [Row("question:nps", "equal", "0 to 6 (detractors)")]),
        ({"all": [leaf("question:nps", "in", [7, 8])]}, [Row("question:nps", "equal", "7 to 8 (passives)")]),
        ({"all": [leaf("question:nps", "greater_equal", 9)]}, [Row("question:nps", "equal", "9 to 10 (promoters)")]),
        ({"all": [leaf("question:nps", "less_equal", 5)]}, [Row("question:nps", "less_equal", "5")]),
        ({"all": [leaf("question:nps", "equal", 9)]}, [Row("question:nps", "equal", "9")]),
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
    """One for each group and for a new one, numbered as errors count them; one more in an empty form."""
    rows = [Row("question:q", place=3), Row("question:q"), Row("", "equal"), Row("question:c", place=3)]
    places = [(place, [number for number, _ in members]) for place, members in shown_rows(rows)]
    assert [(0, [0, 3]), (1, [1, 2, 4]), (2, [5])] == places
    assert [(0, [0, 1]), (1, [2])] == [(place, [number for number, _ in members]) for place, members in shown_rows([])]
    full = [Row("question:q", place=number % (INNER_MAX + 1)) for number in range(ROWS_MAX)]
    assert ROWS_MAX == sum(len(members) for _, members in shown_rows(full))


@pytest.mark.parametrize(
    ("row", "pointer", "said"),
    [
        (Row("question:nps", "less_equal", "abc"), "/value-1", "A number from 0 to 10 is expected."),
        (Row("question:nps", "equal", "11"), "/value-1", "A number from 0 to 10 is expected."),
        (Row("question:nps", "less", "11"), "/value-1", "A number from 0 to 10 is expected."),
        (Row("question:nps", "equal", ""), "/value-1", "A value to compare with is required."),
        (Row("question:nps", "begins_with", "9"), "/operator-1", "What stands here is compared by"),
        (Row("question:n", "less", "abc"), "/value-1", "A number is expected here."),
        (Row("question:c", "contains", "Elsewhere"), "/value-1", "Choose one of the answers of this question."),
        (Row("questionnaire_metadata:day", "less", "soon"), "/value-1", "A date such as"),
        (Row("questionnaire_metadata:express", "equal", "perhaps"), "/value-1", "true or false is expected here."),
        (Row("question:nps", "equal", "0 to 6 (detractors)"), "", ""),
        (Row("question:nps", "less", "6"), "", ""),
        (Row("question:c", "contains", "shop"), "", ""),
        (Row("questionnaire_metadata:day", "less", "2026-11-29"), "", ""),
        (Row("metric:response", "less", "low"), "", ""),  # its form knows its figures
        (Row("question:gone", "less", "6"), "", ""),
    ],
)
def test_faults(row: Row, pointer: str, said: str) -> None:
    found = faults(texts.texts("console", "en"), [Row(), Row("question:q", "equal", "1"), row], SUBJECTS)
    assert ([pointer] if pointer else []) == [one.pointer for one in found]
    assert all(said in one.message.translate({0x2068: None, 0x2069: None}) for one in found)


def test_ready_values_are_those_of_the_scores() -> None:
    """Each is a segment with more than one key, so that people do not work out the ends."""
    for name, ranges in RANGES.items():
        segments = [(low, high) for _, low, high in TYPES[name].segments if low < high]
        assert segments == list(ranges.values())
    assert set(RANGES) == {name for name, one in TYPES.items() if one.segments}


def test_offered() -> None:
    found = {one["key"]: one for one in offered(texts.texts("console", "en"), SUBJECTS)}
    nps = found["question:nps"]
    assert ("integer", ("0", "10"), True) == (nps["kind"], nps["limits"], nps["is_closed"])
    assert [*RANGES["nps"], *map(str, range(11))] == [text for text, _, _ in nps["values"]]
    assert [("Shop", "", False), ("Web, app", "", False)] == found["question:c"]["values"]
    assert (False, []) == (found["question:n"]["is_closed"], found["question:n"]["values"])
    long = Subject("question:long", "Long", "integer", labels={n: f"Shop {n}" for n in range(SUGGESTED_MAX + 1)})
    assert not offered(texts.texts("console", "en"), {"question:long": long})


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
