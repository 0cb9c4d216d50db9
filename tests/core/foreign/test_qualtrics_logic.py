"""Conditions of Qualtrics, and its variables in texts."""

from typing import Any

import pytest

from tests.core.foreign.forms import leaf as ours
from tests.core.foreign.qsf import ABC, asked, leaf, line_of, logic, q, read, survey, told

BEFORE = (
    q("QID1", "MC", "SAVR", choices=ABC, RecodeValues={"1": "10", "2": "20", "3": "30"}),
    q("QID2", "MC", "MAVR", choices=ABC),
    q("QID3", "Matrix", "Likert", "SingleAnswer", choices=ABC, answers={"1": "Bad", "2": "Good"}),
    q("QID4", "TE", "SL", rule={"Type": "ContentType", "ContentType": "ValidNumber"}),
    q("QID5", "TE", "SL"),
    q("QID6", "MC", "SAVR", choices={"1": "I agree"}),
    q("QID7", "Slider", "HSLIDER", choices=ABC),
    q("QID8", "MC", "NPS", choices={str(number): str(number) for number in range(11)}),
    q("QID9", "TE", "SL", rule={"Type": "ContentType", "ContentType": "ValidEmail"}),
)
ONE, TWO = leaf("q://QID1/SelectableChoice/1"), leaf("q://QID2/SelectableChoice/2")
FIRST, SECOND = ours("qid1", "equal", 10), ours("qid2", "contains", 2)
ORDER = {"subject": "questionnaire_metadata:order_id", "operator": "is_empty"}
FIELD = {"LogicType": "EmbeddedField", "LeftOperand": "order id"}


def of(*written: dict[str, Any], **more: Any) -> Any:
    return logic(list(written), **more)


def answer(number: int, operator: str, value: str | None = None) -> dict[str, Any]:
    return leaf(f"q://QID{number}/ChoiceTextEntryValue", operator, value)


def last(found: object) -> Any:
    return read(survey(*BEFORE, q("QID10", "TE", "SL", DisplayLogic=found)))


class TestUnknown:
    @pytest.mark.parametrize(
        "written",
        [
            {},
            [],
            "If",
            of({"LogicType": "GeoIP", "Operator": "Is", "LeftOperand": "x"}),
            of(leaf("q://QID10/SelectableChoice/1")),
            of(leaf("q://QID99/SelectableChoice/1")),
            of(leaf("q://QID1/SelectableChoice/9", "NotSelected")),
            of(leaf("q://QID1/SelectableChoice/9")),
            of(leaf("q://QID1/SelectableChoice/1", "NotDisplayed")),
            of(leaf("q://QID1/SelectedChoicesRecode", "GreaterThan", "20")),
            of(leaf("q://QID1/ChoiceTextEntryValue/3", "Contains", "x")),
            of(leaf("q://QID4/ChoiceTextEntryValue", "GreaterThan", "many")),
            of(leaf("nonsense")),
            of(ONE, {"LogicType": "DeviceType", "Operator": "Is", "Conjuction": "And"}),
            of({"LogicType": "PanelData", "LeftOperand": "m://Email1", "Operator": "Empty"}),
        ],
    )
    def test_everybody_is_asked(self, written: object) -> None:
        made = last(written)
        assert "show_if" not in asked(made)[-1]
        if written:
            assert ("left_out", False) == (line_of(made, "condition").outcome, line_of(made, "condition").whole)
            assert "so everybody is asked" in told(made, "condition")

    def test_wrong_kind(self) -> None:
        made = last(of(leaf("q://QID1/SelectedChoicesRecode", "Contains", "10")))
        assert "show_if" not in asked(made)[-1]
        assert "left_out" == line_of(made, "condition").outcome

    def test_too_large(self) -> None:
        many = [leaf("q://QID5/ChoiceTextEntryValue", "Contains", str(n), Conjuction="Or") for n in range(51)]
        assert "show_if" not in asked(last(of(*many)))[-1]

    def test_says_it_in_their_words(self) -> None:
        written = leaf("nonsense") | {"Description": '<span class="ConjDesc">If</span> <b>the moon</b> Is <i>Full</i>'}
        assert "If the moon Is Full" in told(last(of(written)), "condition")
        assert "“q://QID77/X Selected 7”" in told(last(of(leaf("q://QID77/X", value="7"))), "condition")


class TestConditions:
    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            (of(ONE), FIRST),
            (of(ONE | {"Operator": "NotSelected"}), FIRST | {"operator": "not_equal"}),
            (of(TWO), SECOND),
            (of(TWO | {"Operator": "NotSelected"}), SECOND | {"operator": "not_contains"}),
            (of(leaf("q://QID3/SelectableChoice/2/1")), ours("qid3:r_2", "equal", 1)),
            (of(answer(4, "GreaterThanOrEqual", "18")), ours("qid4", "greater_equal", 18)),
            (of(answer(5, "Contains", "late")), ours("qid5", "contains", "late")),
            (of(answer(5, "EqualTo", "")), ours("qid5", "is_empty")),
            (of(answer(5, "NotEmpty")), ours("qid5", "is_not_empty")),
            (of(leaf("q://QID6/SelectableChoice/1", "NotSelected")), ours("qid6", "not_equal", value=True)),
            (of(leaf("q://QID7/ChoiceNumericEntryValue/3", "LessThan", "0.5")), ours("qid7_3", "less", 0.5)),
            (of(leaf("q://QID8/SelectableChoice/0")), ours("qid8", "equal", 0)),
            (of(FIELD | {"Operator": "EqualTo", "RightOperand": "7"}), ORDER | {"operator": "equal", "value": "7"}),
            (
                of({"LogicType": "PanelData", "LeftOperand": "m://FirstName", "Operator": "NotEmpty"}),
                {"subject": "responder_metadata:first_name", "operator": "is_not_empty"},
            ),
            (of(ONE, TWO | {"Conjuction": "And"}), {"all": [FIRST, SECOND]}),
            (of(ONE, TWO | {"Conjuction": "Or"}), {"any": [FIRST, SECOND]}),
            (
                of(ONE, TWO | {"Conjuction": "Or"}, FIELD | {"Operator": "Empty", "Conjuction": "And"}),
                {"any": [FIRST, {"all": [SECOND, ORDER]}]},
            ),
            (logic([ONE], [TWO], joints=["OrIf"]), {"any": [FIRST, SECOND]}),
            (logic([ONE], [TWO], joints=["AndIf"]), {"all": [FIRST, SECOND]}),
        ],
    )
    def test_taken(self, written: object, expected: object) -> None:
        made = last(written)
        assert expected == asked(made)[-1]["show_if"]
        assert line_of(made, "condition").whole

    def test_any_row(self) -> None:
        rows = [ours(f"qid3:r_{n}", "equal", 2) for n in (1, 2, 3)]
        assert {"any": rows} == asked(last(of(leaf("q://QID3/SelectableAnswer/2"))))[-1]["show_if"]

    @pytest.mark.parametrize(
        "written",
        [
            of(leaf("q://QID1/ChoiceDisplayed/1", "Displayed")),
            of(leaf("q://QID1/ChoiceDisplayed/1", "Displayed"), {"LogicType": "DeviceType", "Conjuction": "Or"}),
            of(leaf("q://QID11/SelectableChoice/1", "NotSelected")),
            of(leaf("q://QID11/ChoiceTextEntryValue", "Empty")),
        ],
    )
    def test_what_always_holds_is_no_condition(self, written: object) -> None:
        made = last(written)
        assert "show_if" not in asked(made)[-1]
        assert line_of(made, "condition").whole

    def test_choices_have_none(self) -> None:
        shown = {"Display": "Cake", "DisplayLogic": of(ONE)}
        made = read(survey(*BEFORE, q("QID10", "MC", "SAVR", choices={"1": "Bread", "2": shown})))
        assert ("left_out", False) == (line_of(made, "condition").outcome, line_of(made, "condition").whole)


class TestTexts:
    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            ("${q://QID1/ChoiceGroup/SelectedChoices}", "{{ answer.qid1 | … }}"),
            ("${q://QID5/ChoiceTextEntryValue}", "{{ answer.qid5 | … }}"),
            ("${q://QID7/ChoiceNumericEntryValue/2}", "{{ answer.qid7_2 | … }}"),
            ("${q://QID9/ChoiceTextEntryValue}", "{{ answer.qid9.email | … }}"),
            ("${e://Field/order id}", "{{ questionnaire.order_id | … }}"),
            ("${e://Field/2nd}", "{{ questionnaire.f_2nd | … }}"),
            ("${m://FirstName}", "{{ responder.first_name | … }}"),
            ("${m://Email}", "…"),
            ("${q://QID10/ChoiceTextEntryValue}", "…"),
            ("${q://QID3/ChoiceGroup/SelectedAnswers/1}", "…"),
            ("${lm://Field/1}", "…"),
            ("$e{1*${rand://int/1:9}+3}", "…"),
            ("$5 {and} ${", "$5 {and} ${"),
        ],
    )
    def test_piped(self, written: str, expected: str) -> None:
        made = read(survey(*BEFORE, q("QID10", "TE", "SL", QuestionText=f"Why {written}?")))
        assert f"Why {expected}?" == asked(made)[-1]["title"]
        assert ("…" != expected) == line_of(made, "question", "QID10").whole
