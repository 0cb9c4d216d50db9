"""Conditions as authors write them: what is refused when they are saved, and where; what reads back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.questionnaires import conditions, metadata
from afterword.core.questionnaires.conditions import Leaf, Scope
from afterword.core.reading.findings import Findings

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
