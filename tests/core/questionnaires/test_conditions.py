"""Conditions: what each operator says of each type, and documents that keep their tree."""

import time
from datetime import UTC, date, datetime, time as clock
from typing import Any

import pytest
from hypothesis import given, strategies as st

from afterword.core.questionnaires import conditions, metadata
from afterword.core.questionnaires.conditions import All, AnyOf, Leaf, Not, Scope
from afterword.core.reading.findings import Findings

DECLARED = metadata.typed("number", "0.1")
MORNING, MOMENT = clock(9, 5), datetime(2026, 11, 21, 9, 30)  # noqa: DTZ001  an answer has no zone


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
            ("equal", DECLARED, 0.1, True),
            ("equal", DECLARED, "0.1", True),
            ("not_equal", DECLARED, 0.1, False),
            ("in", DECLARED, [0.1, 2], True),
            ("greater", DECLARED, 0, True),
            ("less_equal", DECLARED, 0.1, True),
            ("less", DECLARED, 0.1, False),
            ("equal", DECLARED, "x", False),
            ("less", MORNING, "10:00", True),
            ("greater", MORNING, "08:59", True),
            ("equal", MORNING, "09:05", True),
            ("in", MORNING, ("08:00", "09:05"), True),
            ("begins_with", MORNING, "09", True),
            ("less", MORNING, "soon", False),
            ("greater", MOMENT, "2026-11-21T09:29", True),
            ("less_equal", MOMENT, "2026-11-21", True),  # a day is all of it
            ("equal", MOMENT, "2026-11-21T09:30", True),
            ("begins_with", MOMENT, "2026-11-21T09", True),
        ],
    )
    def test_operator(self, *, operator: str, actual: object, value: object, expected: bool) -> None:
        assert expected is holds(operator, actual, value)

    @pytest.mark.parametrize("actual", [MORNING, MOMENT])
    def test_times_are_shown_as_texts(self, actual: object) -> None:
        found = conditions.evaluate(Leaf("subject", "is_empty"), {"subject": actual})
        assert isinstance(found.document["actual"], str)

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


QUESTIONS = Scope(
    questions={
        "Q1": "integer", "Q2": "integers", "Q3": "text", "Q4": "number", "Q5": "date", "Q6": "boolean",
        "Q7": "presence", "Q7:R1": "integer",
    },
    keys={"score": "Q1", "later": "Q9", "grid": "Q7", "grid:speed": "Q7:R1"},
    metadata={"responder_metadata:age": "number", "questionnaire_metadata:store_pickup": "boolean"},
)  # fmt: skip


NAME = "questionnaire_metadata:store_id"


def leaf(subject: str = NAME, operator: str = "equal", value: object = "1") -> dict[str, object]:
    return {"subject": subject, "operator": operator, "value": value}


def nested(depth: int) -> dict[str, Any]:
    return leaf() if depth == 1 else {"not": nested(depth - 1)}


def problems(document: object, scope: Scope = QUESTIONS) -> list[tuple[str, str]]:
    findings = Findings()
    conditions.read(document, "", findings, scope)
    return [(finding.path, finding.code) for finding in findings.found]


def read(document: object, scope: Scope = QUESTIONS) -> conditions.Node | None:
    findings = Findings()
    node = conditions.read(document, "", findings, scope)
    assert [] == findings.found
    return node


class TestRead:
    @pytest.mark.parametrize(
        ("document", "path", "code"),
        [
            ([], "", "wrong_type"),
            ("always", "", "wrong_type"),
            ({}, "/subject", "required"),
            ({"all": [], "any": []}, "", "exclusive"),
            ({"all": [], "subject": NAME}, "", "exclusive"),
            ({"all": {}}, "/all", "wrong_type"),
            ({"all": [leaf(), 7]}, "/all/1", "wrong_type"),
            ({"not": []}, "/not", "wrong_type"),
            (nested(6), "/not/not/not/not/not", "too_many"),
            ({"all": [leaf()] * 51}, "/all", "wrong_type"),
            ({"all": [{"any": [leaf()] * 26}, {"any": [leaf()] * 25}]}, "", "too_many"),
            (leaf("color"), "/subject", "unknown_value"),
            (leaf("questionnaire_metadata:"), "/subject", "unknown_value"),
            (leaf("questionnaire_metadata:" + "x" * 256), "/subject", "unknown_value"),
            (leaf("tag:vip", "is_empty", None), "/subject", "unknown_value"),  # not in jumps
            (leaf("metric:nps:Q1"), "/subject", "unknown_value"),
            (leaf("question:unknown"), "/subject", "unknown_id"),
            (leaf("question:later", value=1), "/subject", "unknown_id"),  # asked after this place
            ({"subject": "question:unknown", "value": 1}, "/operator", "required"),
            (leaf(operator="like"), "/operator", "unknown_value"),
            (leaf(operator=7), "/operator", "wrong_type"),  # pyrefly: ignore[bad-argument-type]
            (leaf(value=None), "/value", "required"),
            (leaf(value={}), "/value", "wrong_type"),
            (leaf(value="x" * 501), "/value", "too_long"),
            (leaf(value="a\x00"), "/value", "too_long"),
            (leaf(operator="in", value="1"), "/value", "wrong_type"),
            (leaf(operator="in", value=[]), "/value", "wrong_type"),
            (leaf(operator="in", value=["1"] * 101), "/value", "wrong_type"),
            (leaf(operator="is_empty", value="x"), "/value", "exclusive"),
            (leaf(operator="matches", value="("), "/value", "invalid_format"),
            (leaf(operator="matches", value=r"(a)\1"), "/value", "invalid_format"),  # RE2 has no back references
            (leaf(operator="matches", value="a" * 201), "/value", "too_long"),
            (leaf("question:Q1", "contains", 3), "/operator", "wrong_type"),
            (leaf("question:Q1", "equal", "3"), "/value", "wrong_type"),
            (leaf("question:Q1", "equal", True), "/value", "wrong_type"),
            (leaf("question:Q2", "greater", 3), "/operator", "wrong_type"),
            (leaf("question:Q3", "less", "a"), "/operator", "wrong_type"),
            (leaf("question:Q4", "equal", "many"), "/value", "wrong_type"),
            (leaf("question:Q4", "contains", 1), "/operator", "wrong_type"),
            (leaf("question:Q5", "less", "2026-02-30"), "/value", "wrong_type"),
            (leaf("question:Q5", "less", 7), "/value", "wrong_type"),
            (leaf("question:Q5", "matches", "2026"), "/operator", "wrong_type"),
            (leaf("question:Q6", "equal", "yes"), "/value", "wrong_type"),
            (leaf("question:Q6", "greater", False), "/operator", "wrong_type"),
            (leaf("question:Q7", "equal", 1), "/operator", "wrong_type"),  # a whole matrix is no number
            (leaf("question:Q7:R2", "equal", 1), "/subject", "unknown_id"),
            (leaf("question:grid:price", "equal", 1), "/subject", "unknown_id"),
            (leaf("question:Q1:R1", "equal", 1), "/subject", "unknown_id"),
            (leaf("responder_metadata:age", "contains", "4"), "/operator", "wrong_type"),
            (leaf("responder_metadata:age", "less", "old"), "/value", "wrong_type"),
            (leaf("questionnaire_metadata:store_pickup", "equal", "perhaps"), "/value", "wrong_type"),
        ],
    )
    def test_refused(self, document: object, path: str, code: str) -> None:
        assert (path, code) in problems(document)

    @pytest.mark.parametrize(
        ("document", "scope", "sentence"),
        [
            (
                leaf("questionnaire_metadata:nix", "greater", 1),
                conditions.scope_of(metadata.Declared.of([])),
                "not declared is a text",
            ),
            (leaf("question:Q1"), conditions.METADATA_ONLY, "Only metadata can be read here."),
        ],
    )
    def test_refusal_says_why(self, document: object, scope: conditions.Scope, sentence: str) -> None:
        findings = Findings()
        conditions.read(document, "", findings, scope)
        assert [True] == [sentence in found.message for found in findings.found]

    @pytest.mark.parametrize(
        "document",
        [
            nested(5),
            {"all": []},
            {"any": [{"not": {"all": [leaf(), leaf(value=1.5)]}}, leaf(operator="is_empty", value=None)]},
            leaf("question:score", "less_equal", 6),
            leaf("question:Q2", "contains", 3),
            leaf("question:Q2", "equal", [1, 2]),
            leaf("question:Q1", "in", [1, 2]),
            leaf("responder_metadata:e-mail of: somebody", "ends_with", "@example.com"),
            leaf(operator="matches", value="^[A-Z]{2}[0-9]+$"),
            leaf("question:Q4", "less", 1.5),
            leaf("question:Q5", "in", ["2026-02-28", "2026-03-01"]),
            leaf("question:Q6", "equal", value=True),
            leaf("question:Q7", "is_not_empty", None),
            leaf("question:Q7:R1", "less", 3),
            leaf("responder_metadata:age", "less", "40"),
            leaf("responder_metadata:age", "less", 40),
            leaf("questionnaire_metadata:store_pickup", "equal", value=True),
        ],
    )
    def test_ok(self, document: object) -> None:
        assert [] == problems(document)

    def test_null_is_always_true(self) -> None:
        assert conditions.read(None, "", Findings()) is None
        assert conditions.matches(None, {})

    def test_keys_become_ids(self) -> None:
        assert Leaf("question:Q1", "equal", 7) == read(leaf("question:score", "equal", 7))
        for subject in ("question:grid:speed", "question:grid:R1", "question:Q7:R1"):
            assert Leaf("question:Q7:R1", "equal", 7) == read(leaf(subject, "equal", 7))

    def test_tags_and_metrics_where_they_are_allowed(self) -> None:
        scope = Scope(questions={"Q1": "integer"}, tags=True, metrics=("nps",))
        assert [] == problems(leaf("tag:vip", "is_not_empty", None), scope)
        assert [("/operator", "wrong_type")] == problems(leaf("tag:vip"), scope)
        assert [] == problems({**leaf("metric:nps:Q1", "less", 20), "window_days": 30}, scope)
        assert [] == problems(leaf("metric:response", "less", 20), scope)
        assert [("/subject", "unknown_value")] == problems(leaf("metric:response:Q1", "less", 20), scope)
        assert [("/subject", "unknown_id")] == problems(leaf("metric:nps:Q2", "less", 20), scope)
        assert [("/window_days", "out_of_range")] == problems(
            {**leaf("metric:response", "less", 20), "window_days": 91}, scope
        )


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda below: st.one_of(
    st.lists(below, max_size=3),
    st.dictionaries(st.sampled_from(["all", "any", "not", "subject", "operator", "value", "x"]), below, max_size=3),
), max_leaves=10))  # fmt: skip
def test_any_json_is_read_or_reported(document: object) -> None:
    findings = Findings()
    node = conditions.read(document, "", findings, QUESTIONS)
    assert findings.found or node is None or conditions.document_of(node) is not None
