"""Conditions: what each operator says of each type, and documents that keep their tree."""

import time
from datetime import UTC, date, datetime
from datetime import time as clock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.questionnaires import conditions, metadata
from afterword.core.questionnaires.conditions import All, AnyOf, Leaf, Not
from afterword.core.reading.findings import Findings


def holds(operator: str, actual: object, value: object) -> bool:
    return conditions.evaluate(Leaf("subject", operator, value), {"subject": actual}).matches


class TestMatches:
    @pytest.mark.parametrize(
        ("operator", "actual", "value", "expected"),
        [
            ("equal", 7, 7, True),
            ("equal", 7, 8, False),
            ("equal", 7, "7", True),
            ("equal", 7, "seven", False),
            ("equal", True, True, True),
            ("equal", True, "1", True),
            ("equal", False, "true", False),
            ("equal", True, "maybe", False),
            ("equal", "Αθήνα", "αθήνα", True),
            ("equal", "ΟΔΟΣ", "οδος", True),  # final sigma
            ("equal", "Straße", "STRASSE", True),
            ("equal", "e\u0301", "é", True),
            ("equal", "12", 12, True),
            ("equal", "12.0", 12, False),  # an undeclared value is text
            ("equal", [1, 2], [2, 1], True),
            ("equal", [1, 2], [1], False),
            ("equal", [1], 1, True),
            ("equal", date(2026, 1, 31), "2026-01-31", True),
            ("equal", date(2026, 1, 31), "31/01/2026", False),
            ("not_equal", 7, 8, True),
            ("in", 7, (6, 7), True),
            ("in", "EL", ("en", "el"), True),
            ("in", "fr", ("en", "el"), False),
            ("greater", 7, 6, True),
            ("greater", 7, 7, False),
            ("greater_equal", 7, 7, True),
            ("less", 7, 7.5, True),
            ("less_equal", 8, 7, False),
            ("less", "7", 8, False),  # numbers and dates only
            ("greater", True, 0, False),
            ("greater", date(2026, 2, 1), "2026-01-31", True),
            ("less", date(2026, 2, 1), "2026-02-01T10:00:00+02:00", False),
            ("less", datetime(2026, 2, 1, 9, tzinfo=UTC), "2026-02-01T12:00:00+02:00", True),
            ("contains", "Hello there", "HELLO", True),
            ("contains", [1, 2], 2, True),
            ("contains", [1, 2], 3, False),
            ("contains", 12, 1, False),
            ("not_contains", 12, 1, True),  # the exact negation
            ("not_contains", [1, 2], 2, False),
            ("begins_with", "Hello", "he", True),
            ("ends_with", "Hello", "LO", True),
            ("ends_with", 10, "0", False),
            ("matches", "order 12", "[0-9]+$", True),
            ("matches", "Order", "order", False),  # case-sensitive
            ("matches", 12, "1", False),
            ("is_empty", "", None, True),
            ("is_empty", "  ", None, True),
            ("is_empty", [], None, True),
            ("is_empty", 0, None, False),
            ("is_empty", False, None, False),
            ("is_not_empty", 0, None, True),
        ],
    )
    def test_operator(self, *, operator: str, actual: object, value: object, expected: bool) -> None:
        assert expected is holds(operator, actual, value)

    @pytest.mark.parametrize("operator", conditions.OPERATORS)
    @pytest.mark.parametrize("missing", [{}, {"subject": None}, {"subject": ""}, {"subject": []}])
    def test_missing_subject(self, operator: str, missing: dict[str, object]) -> None:
        value = ("x",) if operator == "in" else "x"
        result = conditions.evaluate(Leaf("subject", operator, value), missing)
        assert (operator in {"is_empty", "not_equal", "not_contains"}) is result.matches

    def test_tree(self) -> None:
        yes, no = Leaf("a", "equal", 1), Leaf("a", "equal", 2)
        facts = {"a": 1}
        assert conditions.matches(All(()), facts)
        assert not conditions.matches(AnyOf(()), facts)
        assert conditions.matches(AnyOf((no, yes)), facts)
        assert not conditions.matches(All((no, yes)), facts)
        assert conditions.matches(Not(no), facts)

    def test_leaves_say_what_they_compared(self) -> None:
        node = All((Leaf("a", "equal", 1), Not(AnyOf((Leaf("b", "is_empty"),)))))
        results = conditions.leaves(node, {"a": 2})
        assert [("a", 2, False), ("b", None, True)] == [(one.subject, one.actual, one.matches) for one in results]

    @pytest.mark.parametrize(
        ("operator", "value", "expected"),
        [
            ("equal", 0.1, True),
            ("equal", "0.1", True),
            ("not_equal", 0.1, False),
            ("in", [0.1, 2], True),
            ("greater", 0, True),
            ("less_equal", 0.1, True),
            ("less", 0.1, False),
            ("equal", "x", False),
        ],
    )
    def test_declared_number(self, operator: str, value: object, expected: bool) -> None:  # noqa: FBT001
        assert expected is holds(operator, metadata.typed("number", "0.1"), value)

    def test_hostile_pattern_is_quick(self) -> None:
        before = time.process_time()
        assert not holds("matches", "a" * 4096 + "!", "^(a+)+$")
        assert time.process_time() - before < 5  # microseconds; going back and forth it would be the age of the world


SCALARS = st.one_of(st.integers(-99, 99), st.booleans(), st.text(max_size=8), st.dates(), st.lists(st.integers(0, 5)))
SUBJECTS = st.sampled_from(["questionnaire_metadata:a", "responder_metadata:b"])
LEAVES = st.builds(
    Leaf,
    SUBJECTS,
    st.sampled_from(
        [name for name in conditions.OPERATORS if name not in {"in", "matches", "is_empty", "is_not_empty"}]
    ),
    st.one_of(st.integers(-99, 99), st.booleans(), st.text("abcABC ", min_size=1, max_size=8)),
)
NODES = st.recursive(
    LEAVES,
    lambda below: st.one_of(
        st.builds(Not, below),
        st.builds(All, st.lists(below, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(below, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@given(operator=st.sampled_from(["equal", "contains"]), actual=SCALARS, value=SCALARS)
def test_negations_are_exact(operator: str, actual: object, value: object) -> None:
    assert holds(operator, actual, value) is not holds(f"not_{operator}", actual, value)


@given(node=NODES, facts=st.dictionaries(SUBJECTS, SCALARS))
def test_a_tree_survives_its_document(node: conditions.Node, facts: dict[str, object]) -> None:
    findings = Findings()
    again = conditions.read(conditions.document_of(node), "", findings)
    if not findings.found:  # deeper than allowed otherwise
        assert node == again
        assert conditions.matches(node, facts) is conditions.matches(again, facts)


@pytest.mark.parametrize(
    ("actual", "operator", "value", "holds"),
    [
        (clock(9, 5), "less", "10:00", True),
        (clock(9, 5), "greater", "08:59", True),
        (clock(9, 5), "equal", "09:05", True),
        (clock(9, 5), "in", ("08:00", "09:05"), True),
        (clock(9, 5), "begins_with", "09", True),
        (clock(9, 5), "less", "soon", False),
        (datetime(2026, 11, 21, 9, 30), "greater", "2026-11-21T09:29", True),  # noqa: DTZ001  an answer has no zone
        (datetime(2026, 11, 21, 9, 30), "less_equal", "2026-11-21", True),  # noqa: DTZ001  a day is all of it
        (datetime(2026, 11, 21, 9, 30), "equal", "2026-11-21T09:30", True),  # noqa: DTZ001
        (datetime(2026, 11, 21, 9, 30), "begins_with", "2026-11-21T09", True),  # noqa: DTZ001
    ],
)
def test_times(actual: object, operator: str, value: object, holds: bool) -> None:  # noqa: FBT001  a table's column
    leaf = Leaf("question:q", operator, value)
    found = conditions.evaluate(leaf, {"question:q": actual})
    assert holds is found.matches
    assert isinstance(found.document["actual"], str)
