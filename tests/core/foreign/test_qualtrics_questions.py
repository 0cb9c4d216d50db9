"""Questions of Qualtrics: each type, and what of it is lost."""

from functools import partial
from typing import Any

import pytest

from afterword.core.questionnaires.metadata import GLOBAL
from afterword.core.wire.response_columns import Columns, Table
from tests.core.foreign.forms import Taken
from tests.core.foreign.qsf import ABC, asked, leaf, line_of, logic, q, read, survey, told

BAD_GOOD = {"1": "Bad", "2": "Good"}
FIVE = {str(number): str(number) for number in range(1, 6)}
OTHER = {"1": "Bread", "2": {"Display": "Other", "TextEntry": "true"}}


q1 = partial(q, "QID1")


def rule(content: str, **more: Any) -> dict[str, Any]:
    return {"rule": {"Type": "ContentType", "ContentType": content, **more}}


CASES: list[tuple[dict[str, Any], list[dict[str, Any]], str]] = [
    (q1("MC", "SAVR", "TX", choices=ABC), [{"type": "single_choice"}], "taken"),
    (q1("MC", "SAHR", "TX", choices=ABC, force=True), [{"type": "single_choice", "required": True}], "taken"),
    (q1("MC", "DL", choices=ABC), [{"type": "single_choice", "style": "dropdown"}], "taken"),
    (q1("MC", "SB", choices=ABC), [{"type": "single_choice", "style": "dropdown"}], "taken"),
    (
        q1("MC", "MAVR", "TX", choices=ABC, rule={"Type": "ChoiceRange", "MinChoices": "1", "MaxChoices": "2"}),
        [{"type": "multiple_choice", "choices_min": 1, "choices_max": 2}],
        "taken",
    ),
    (
        q1("MC", "MACOL", "TX", choices=ABC, Randomization={"Type": "All"}),
        [{"type": "multiple_choice", "randomize": True}],
        "taken",
    ),
    (
        q1("MC", "SAVR", "TX", choices={"1": "I agree"}),
        [{"type": "consent", "title": "I agree", "description": "Which?"}],
        "changed",
    ),
    (
        q1("TE", "SL", rule={"Type": "CharRange", "MaxChars": "80"}),
        [{"type": "text", "multiline": False, "length_max": 80}],
        "taken",
    ),
    (q1("TE", "ESTB"), [{"type": "text", "multiline": True}], "taken"),
    (
        q1("TE", "SL", **rule("ValidNumber", ValidNumber={"Min": "1", "Max": "9.5", "NumDecimals": "1"})),
        [{"type": "number", "number_min": 1, "number_max": 9.5, "decimals": 1}],
        "taken",
    ),
    (q1("TE", "SL", **rule("ValidEmail")), [{"type": "contact", "contact_fields": ["email"]}], "taken"),
    (q1("TE", "SL", **rule("ValidPhone")), [{"type": "contact", "contact_fields": ["phone"]}], "taken"),
    (q1("TE", "SL", **rule("ValidDate")), [{"type": "date"}], "taken"),
    (
        q1("TE", "FORM", choices={"1": "Name", "2": "Town"}),
        [{"type": "text", "key": "qid1_1", "title": "Which?\nName"}, {"type": "text", "title": "Which?\nTown"}],
        "changed",
    ),
    (q1("DB", "TB"), [{"type": "statement", "title": "Which?"}], "taken"),
    (
        q1("Matrix", "Likert", "MultipleAnswer", choices=ABC, answers=BAD_GOOD),
        [{"type": "multiple_choice", "title": f"Which?\n{label}"} for label in ABC.values()],
        "changed",
    ),
    (
        q1("Matrix", "Likert", "SingleAnswer", choices=ABC, answers={str(n): f"{n}." for n in range(1, 13)}),
        [{"type": "single_choice"}] * 3,
        "changed",
    ),
    (
        q1("Matrix", "Likert", "SingleAnswer", choices=ABC, answers={"1": "Yes"}),
        [{"type": "multiple_choice"}],
        "changed",
    ),
    (q1("Matrix", "Bipolar", choices={"1": "Cold:Warm"}, answers=FIVE), [{"type": "matrix"}], "taken"),
    (q1("Matrix", "RO", choices=BAD_GOOD, answers=ABC), [{"type": "ranking"}] * 2, "changed"),
    (
        q1("Matrix", "TE", "Short", choices=BAD_GOOD, answers=BAD_GOOD),
        [{"type": "text", "key": f"qid1_{one}"} for one in ("1_1", "1_2", "2_1", "2_2")],
        "changed",
    ),
    (
        q1(
            "Slider",
            "HSLIDER",
            choices={"1": ""},
            Labels={"1": {"Display": "Low"}, "2": {"Display": "High"}},
            Configuration={"CSSliderMin": 10, "CSSliderMax": 20, "NumDecimals": "1"},
        ),
        [
            {
                "type": "number",
                "style": "slider",
                "number_min": 10,
                "number_max": 20,
                "decimals": 1,
                "title": "Which?",
                "low_label": "Low",
                "high_label": "High",
            }
        ],
        "taken",
    ),
    (q1("Slider", "HSLIDER", choices=ABC), [{"type": "number", "number_min": 0, "number_max": 100}] * 3, "changed"),
    (
        q1("Slider", "STAR", choices={"1": "Us"}, Configuration={"StarCount": 5}),
        [{"type": "rating", "style": "stars", "scale_max": 5, "title": "Which?\nUs"}],
        "taken",
    ),
    (q1("RO", "DND", "TX", choices=ABC), [{"type": "ranking"}], "taken"),
    (q1("FileUpload", "FileUpload"), [{"type": "file"}], "taken"),
]


class TestTypes:
    @pytest.mark.parametrize(("payload", "expected", "outcome"), CASES)
    def test_whole(self, payload: dict[str, Any], expected: list[dict[str, Any]], outcome: str) -> None:
        made = read(survey(payload))
        found = asked(made)
        assert expected == [{name: one.get(name) for name in part} for part, one in zip(expected, found, strict=True)]
        assert (outcome, True) == (line_of(made, "question").outcome, line_of(made, "question").whole)

    @pytest.mark.parametrize(
        ("payload", "types", "sentence"),
        [
            (q1("CS", "VRTL", choices=BAD_GOOD), ["number"] * 2, "The sum of the answers is not checked."),
            (q1("TE", "SL", **rule("ValidZip")), ["text"], "The form of the answer is not checked: ValidZip."),
            (q1("DB", "GRB", "WTXB"), ["statement"], "Its pictures and videos are left out."),
            (q1("MC", "SAVR", choices={"1": "Yes", "2": '<img src="x">'}), ["single_choice"], "Its pictures"),
            (q1("MC", "MAVR", choices={str(n): f"{n}." for n in range(1, 102)}), ["multiple_choice"], "first 100"),
            (q1("RO", "DND", choices={str(n): f"{n}." for n in range(1, 22)}), ["ranking"], "first 20"),
            (q1("TE", "SL") | {"QuestionText": "${rand://int/1:9} ${m://Email}"}, ["text"], "${rand://int/1:9}"),
            (q1("MC", "SAVR", choices={"1": "Yes", "2": "$e{1*${rand://int/1:9}+2}"}), ["single_choice"], "$e{1*"),
        ],
    )
    def test_partly(self, payload: dict[str, Any], types: list[str], sentence: str) -> None:
        made = read(survey(payload))
        assert types == [one["type"] for one in asked(made)]
        assert not line_of(made, "question").whole
        assert sentence in told(made)

    @pytest.mark.parametrize(
        ("kind", "selector"),
        [
            ("HotSpot", "OnOff"),
            ("HeatMap", "Image"),
            ("Draw", "Signature"),
            ("DD", "DL"),
            ("Matrix", "MaxDiff"),
            ("Matrix", "CS"),
            ("PGR", "DragAndDrop"),
            ("New", ""),
        ],
    )
    def test_unknown(self, kind: str, selector: str) -> None:
        made = read(survey(q1(kind, selector, choices=ABC, answers=BAD_GOOD)))
        assert [("statement", "Which?")] == [(one["type"], one["title"]) for one in asked(made)]
        line = line_of(made, "question", "QID1")
        assert ("left_out", False, "Which?") == (line.outcome, line.whole, line.title)
        assert f"no question of the type {kind}" in told(made)


class TestParts:
    def test_text_fields(self) -> None:
        choices = {"1": {"Display": "A", "TextEntry": "true"}, "2": "B", "3": {"Display": "C", "TextEntry": "true"}}
        made = read(survey(q1("MC", "SAVR", choices=choices, force=True)))
        first, second = asked(made)
        assert [True, None, None] == [one.get("other") for one in first["choices"]]
        assert {"subject": "question:qid1", "operator": "equal", "value": 3} == second["show_if"]
        assert ("text", "Which?\nC", None) == (second["type"], second["title"], second.get("required"))
        assert line_of(made, "question").whole

    @pytest.mark.parametrize("kind", ["Matrix", "RO"])
    def test_text_fields_of_rows(self, kind: str) -> None:
        made = read(survey(q1(kind, "Likert", "SingleAnswer", choices=OTHER, answers=BAD_GOOD)))
        assert ["Which?", "Which?\nOther"] == [one["title"] for one in asked(made)]

    def test_exclusive(self) -> None:
        choices = {**ABC, "4": {"Display": "None", "ExclusiveAnswer": True}}
        made = read(survey(q1("MC", "MAVR", choices=choices)))
        assert [None, None, None, True] == [one.get("exclusive") for one in asked(made)[0]["choices"]]

    def test_rows_within_the_limit(self) -> None:
        rows = {str(n): f"{n}." for n in range(1, 62)}
        made = read(survey(q1("Matrix", "Likert", "SingleAnswer", choices=rows, answers=BAD_GOOD)))
        assert [30, 30, 1] == [len(one["rows"]) for one in asked(made)]

    def test_two_words_whose_codes_are_no_scale(self) -> None:
        payload = q1("Matrix", "Bipolar", choices={"1": "Cold:Warm"}, answers=FIVE)
        made = read(survey(payload | {"RecodeValues": {str(n): str(n - 3) for n in range(1, 6)}}))
        assert ("matrix", True) == (asked(made)[0]["type"], line_of(made, "question").whole)
        assert ["-2", "-1", "0", None, None] == [one.get("code") for one in asked(made)[0]["choices"]]

    def test_side_by_side(self) -> None:
        column = {"QuestionType": "Matrix", "Selector": "Likert", "SubSelector": "SingleAnswer"}
        more = {
            str(n): {
                **column,
                "QuestionID": f"QID1#{n}",
                "QuestionText": f"{n}.",
                "Answers": {"1": {"Display": "Bad"}, "2": {"Display": "Good"}},
            }
            for n in (1, 2)
        }
        german = {"AdditionalQuestions": {"2": {"QuestionText": "Zwei", "Answers": {"1": {"Display": "Schlecht"}}}}}
        german["Choices"] = {"1": {"Display": "Brot"}}
        payload = q1("SBS", "SBSMatrix", choices=ABC, AdditionalQuestions=more, Language={"DE": german})
        asks = q("QID2", "TE", "SL", DisplayLogic=logic([leaf("q://QID1%232/SelectableChoice/3/1")]))
        made = read(survey(payload, asks))
        found = asked(made)
        assert [("matrix", "Which?\n1."), ("matrix", "Which?\n2.")] == [
            (one["type"], one["title"]) for one in found[:2]
        ]
        texts = {"title": "Zwei", "rows": {"r_1": "Brot"}, "choices": {"1": "Schlecht"}}
        assert texts == found[1]["translations"]["de"]
        assert {"subject": "question:qid1_2:r_3", "operator": "equal", "value": 1} == found[2]["show_if"]
        assert line_of(made, "question").whole

    def test_rows_under_a_condition(self) -> None:
        source = q1("MC", "MAVR", choices=ABC)
        logics = {n: logic([leaf(f"q://QID1/SelectableChoice/{n}")]) for n in ABC}
        rows = {n: {"Display": label, "DisplayLogic": logics[n]} for n, label in ABC.items()}
        made = read(survey(source, q("QID2", "Matrix", "Likert", "SingleAnswer", choices=rows, answers=BAD_GOOD)))
        assert [1, 2, 3] == [one["show_if"]["value"] for one in asked(made)[1:]]

    def test_carried_choices(self) -> None:
        locator = {"Locator": "q://QID1/ChoiceGroup/SelectedChoices", "DynamicType": "ChoiceGroup"}
        payload = q("QID2", "MC", "SAVR", DynamicChoices=locator) | {"Choices": []}
        made = read(survey(q1("MC", "MAVR", choices=ABC), payload))
        assert ("statement", "left_out") == (asked(made)[1]["type"], line_of(made, "question", "QID2").outcome)
        assert "Afterword has nothing like DynamicChoices, so it is left out." in told(made, place="QID2")

    def test_a_column_of_an_unknown_type_is_told(self) -> None:
        columns = {"1": {"QuestionType": "Matrix", "Selector": "MaxDiff", "Answers": {"1": {"Display": "Bad"}}}}
        columns["2"] = {"QuestionType": "Matrix", "Selector": "TE", "Answers": {"1": {"Display": "Why?"}}}
        made = read(survey(q1("SBS", "SBSMatrix", choices=ABC, AdditionalQuestions=columns)))
        assert ["text"] * 3 == [one["type"] for one in asked(made)]
        assert "no question of the type Matrix/MaxDiff" in told(made)

    def test_what_is_around_an_answer(self) -> None:
        more = {"QuestionJS": "alert(1)", "Randomization": {"Type": "SubSet"}, "DefaultChoices": {"1": True}}
        payload = q1(
            "MC",
            "SAVR",
            choices=ABC,
            **more,
            rule={"Type": "CustomValidation", "ForceResponse": "ON", "ForceResponseType": "RequestResponse"},
        )
        made = read(survey(payload))
        names = [one.split(" like ")[1].split(",")[0] for one in line_of(made, "question").sentences]
        around = ["QuestionJS", "DefaultChoices", "CustomValidation", "RequestResponse", "Randomization SubSet"]
        assert around == names
        assert (None, "changed") == (asked(made)[0].get("required"), line_of(made, "question").outcome)

    @pytest.mark.parametrize(
        "payload",
        [
            q1("TE", "SL") | {"QuestionText": 'Which? <img src="x">'},
            q1("Slider", "HSLIDER", choices={"1": "A"}, Configuration={"NotApplicable": True}),
            q1("Slider", "HSLIDER", choices={"1": "A"}, Labels={n: {"Display": n} for n in "123"}),
        ],
    )
    def test_what_is_beside_an_answer_is_told(self, payload: dict[str, Any]) -> None:
        line = line_of(read(survey(payload)), "question")
        assert ("changed", True, 1) == (line.outcome, line.whole, len(line.sentences))

    def test_names_in_reports(self) -> None:
        label = {"QuestionDescription": "Cake", "Configuration": {"QuestionDescriptionOption": "SpecifyLabel"}}
        assert "Cake" == asked(read(survey(q1("TE", "SL") | label)))[0]["display_name"]

    def test_html(self) -> None:
        text = "<script>x</script><div>Which &amp; <b>why</b>?</div>&nbsp;<br><p>{{ answer.x }}</p>"
        assert (
            "Which & why?\n{ { answer.x }}" == asked(read(survey(q1("TE", "SL") | {"QuestionText": text})))[0]["title"]
        )


@pytest.mark.parametrize(
    ("column", "meaning"),
    [("Q1_2", "answer.q1.row.r_2"), ("Q2#1_2", "answer.q2_1.row.r_2"), ("Q2#2_1", "answer.q2_2.row.r_1"),
     ("Q3_1_2", "answer.q3_1.choice.2"), ("Q3_2_1", "answer.q3_2.choice.1")],
)  # fmt: skip
def test_columns_of_past_answers_are_known(column: str, meaning: str) -> None:
    parts = {"choices": {"1": "Speed", "2": "Care"}, "answers": {"1": "Bad", "2": "Good"}}
    beside = {str(n): q(f"QID2#{n}", "Matrix", "Likert", "SingleAnswer", **parts) for n in (1, 2)}
    content = survey(
        q("QID1", "Matrix", "Likert", "SingleAnswer", **parts) | {"DataExportTag": "Q1"},
        q("QID2", "SBS", "SBSMatrix", choices=parts["choices"])
        | {"DataExportTag": "Q2", "AdditionalQuestions": beside},
        q("QID3", "Matrix", "Likert", "MultipleAnswer", **parts) | {"DataExportTag": "Q3"},
    )
    known = Columns(Taken(content).definition, GLOBAL)
    assert {column: meaning} == known.guess(Table([column], [["x"]]))
