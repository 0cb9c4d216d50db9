"""Surveys of Qualtrics: what is refused, the flow, languages, and the traps of the format."""

import json
from typing import Any

import pytest

from afterword import errors
from afterword.core import foreign
from afterword.core.foreign import qualtrics
from tests.core.foreign.forms import Taken
from tests.core.foreign.qsf import ABC, asked, block, branch, leaf, line_of, logic, q, read, shown, survey, told

CHOICE = q("QID1", "MC", "SAVR", choices=ABC)
TEXT = q("QID2", "TE", "SL")
CAKE = logic([leaf("q://QID1/SelectableChoice/2")])
IS_CAKE = {"subject": "question:qid1", "operator": "equal", "value": 2}
IS_NO_CAKE = IS_CAKE | {"operator": "not_equal"}


def end(**options: Any) -> dict[str, Any]:
    return {"Type": "EndSurvey", "FlowID": "FL_E", "Options": options}


class TestRefused:
    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (survey(CHOICE)[:-20], "cannot read this file"),
            (survey(CHOICE).replace(b"Which?", b"\xff"), "cannot read this file"),
            (survey(), "cannot read this file"),
            (b'{"SurveyEntry": [], "SurveyElements": 5}', "cannot read this file"),
            (survey(CHOICE, blocks=[block("Main", "QID9")]), "no question"),
            (survey(q("QID1", "Timing", "PageTimer")), "no question"),
        ],
        ids=["cut", "latin-1", "empty", "no elements", "empty block", "only a timer"],
    )
    def test_file(self, content: bytes, sentence: str) -> None:
        with pytest.raises((errors.Invalid, errors.Malformed)) as refused:
            foreign.read(content)
        assert sentence in refused.value.detail

    @pytest.mark.parametrize("depth", [400, 50_000])
    @pytest.mark.parametrize("step", ['{"Type": "Group", "Flow": [', '{"Type": "Branch", "Flow": ['])
    def test_deep_flow(self, step: str, depth: int) -> None:
        content = survey(CHOICE, flow=[shown("x")])
        content = content.replace(json.dumps(shown("x")).encode(), (step * depth + "]}" * depth).encode())
        with pytest.raises(errors.Invalid, match=r"no question|cannot read"):
            foreign.read(content)

    def test_deep_logic_is_told(self) -> None:
        content = survey(CHOICE, TEXT | {"DisplayLogic": "deep"})
        made = read(content.replace(b'"deep"', b'{"0": ' * 900 + b"{}" + b"}" * 900))
        assert "left_out" == line_of(made, "condition").outcome

    def test_other_forms_are_not_its_own(self) -> None:
        assert not any(
            map(qualtrics.FORMAT.is_of, [b"", b"{}", b"[]", b'{"SurveyElements": []}', b"<x/>", bytes(range(256))])
        )

    @pytest.mark.parametrize(
        "payload", [{}, {"QuestionID": 5, "QuestionType": []}, {"QuestionType": "MC", "Choices": 1, "ChoiceOrder": {}}]
    )
    def test_a_broken_question_becomes_a_text(self, payload: dict[str, Any]) -> None:
        made = read(survey(payload | {"QuestionID": "QID1"}))
        assert ["statement"] == [one["type"] for one in asked(made)]
        assert "left_out" == line_of(made, "question").outcome


class TestTraps:
    def test_choices_as_a_list(self) -> None:
        labels = [{"Display": str(number)} for number in range(11)]
        ends = [{"Display": "Never"}, {"Display": "Surely"}]
        made = read(survey(q("QID1", "MC", "NPS") | {"Choices": labels, "ColumnLabels": ends}))
        assert [("nps", "Never", "Surely")] == [
            (one["type"], one["low_label"], one["high_label"]) for one in asked(made)
        ]

    def test_order_of_choices(self) -> None:
        made = read(survey(CHOICE | {"ChoiceOrder": ["3", 1, "2"]}))
        assert ["Tart", "Bread", "Cake"] == [one["label"] for one in asked(made)[0]["choices"]]

    @pytest.mark.parametrize("written", [[], {}, None, {"DE": []}])
    def test_languages_of_an_untranslated_question(self, written: object) -> None:
        assert "translations" not in asked(read(survey(CHOICE | {"Language": written})))[0]

    def test_trash_is_not_asked(self) -> None:
        made = read(survey(CHOICE, TEXT, blocks=[block("Main", "QID1"), block("Trash", "QID2", kind="Trash")]))
        assert ["qid1"] == [one["key"] for one in asked(made)]
        assert "The survey does not ask these questions, so they are left out: qid2." == told(made, "setting", "Trash")

    def test_trash_is_not_asked_though_the_flow_has_all_else(self) -> None:
        blocks = {"1": block("Main", "QID1"), "2": block("Trash", "QID2", kind="Trash")}
        assert ["qid1"] == [
            one["key"] for one in asked(read(survey(CHOICE, TEXT, blocks=blocks, flow=[shown("Main")])))
        ]

    def test_codes_differ_from_ids(self) -> None:
        made = read(survey(CHOICE | {"RecodeValues": {"1": "10", "2": 20, "3": "30"}}, TEXT | {"DisplayLogic": CAKE}))
        assert [10, 20, 30] == [one["value"] for one in asked(made)[0]["choices"]]
        assert IS_CAKE | {"value": 20} == asked(made)[1]["show_if"]
        assert line_of(made, "question").whole

    @pytest.mark.parametrize("code", ["-1", "0", "2000", "", "1", "x"])
    def test_codes_that_are_none_of_ours_are_told(self, code: str) -> None:
        made = read(survey(CHOICE | {"RecodeValues": {"1": "1", "2": "2", "3": code}}))
        is_shared = code == "1"
        kept = {"": None, "1": "1 (3)"}.get(code, code)
        assert kept is None or f"1 = 1, 2 = 2, {kept} = 3." in told(made)
        choices = asked(made)[0]["choices"]
        assert ([1, 2, 3], kept) == ([one["value"] for one in choices], choices[2].get("code"))
        assert line_of(made, "question").whole is not is_shared
        assert is_shared == ("the same code in past answers, which count as the first of them: 1." in told(made))

    def test_a_code_of_two_is_the_firsts(self) -> None:
        made = read(survey(CHOICE | {"RecodeValues": {"1": "1", "2": "1", "3": "2"}}))
        assert [1, 3, 2] == [one["value"] for one in asked(made)[0]["choices"]]
        assert "1 = 1, 1 (2) = 3, 2 = 2." in told(made)

    def test_choices_of_a_matrix_are_its_rows(self) -> None:
        made = read(
            survey(q("QID1", "Matrix", "Likert", "SingleAnswer", choices=ABC, answers={"1": "Bad", "2": "Good"}))
        )
        [found] = asked(made)
        assert ("matrix", ["Bread", "Cake", "Tart"]) == (found["type"], [one["label"] for one in found["rows"]])
        assert ["Bad", "Good"] == [one["label"] for one in found["choices"]]

    def test_logic_is_nested_maps(self) -> None:
        made = read(survey(CHOICE, TEXT | {"DisplayLogic": CAKE}))
        assert IS_CAKE == asked(made)[1]["show_if"]
        assert ("taken", True) == (line_of(made, "condition").outcome, line_of(made, "condition").whole)

    def test_logic_is_in_the_flow(self) -> None:
        blocks = [block("One", "QID1"), block("Two", "QID2")]
        made = read(survey(CHOICE, TEXT, blocks=blocks, flow=[shown("One"), branch(CAKE, shown("Two"))]))
        assert IS_CAKE == asked(made)[1]["show_if"]

    def test_random_blocks_are_told(self) -> None:
        flow = [shown("One"), {"Type": "BlockRandomizer", "FlowID": "FL_R", "SubSet": 1, "Flow": [shown("Two")] * 2}]
        made = read(survey(CHOICE, TEXT, blocks=[block("One", "QID1"), block("Two", "QID2")], flow=flow))
        assert ["qid1", "qid2"] == [one["key"] for one in asked(made)]
        assert told(made, "setting", "FL_R").startswith("Each person saw 1 of these 2 blocks in random order.")


class TestFlow:
    def test_pages(self) -> None:
        third = q("QID3", "DB", "TB")
        made = read(survey(CHOICE, TEXT, third, blocks=[block("Main", "QID1", "-", "QID2"), block("Last", "QID3")]))
        found = [(one["key"], one["display_name"], len(one["questions"])) for one in made.document["groups"]]
        assert [("main", "Main", 1), ("main_2", "Main", 1), ("last", "Last", 1)] == found

    @pytest.mark.parametrize(
        ("to", "target"), [("ENDOFSURVEY", None), ("ENDOFBLOCK", "qid3"), ("QID3", "qid3"), ("QID2", "qid2")]
    )
    def test_skips(self, to: str, target: str | None) -> None:
        skip = {"ChoiceLocator": "q://QID1/SelectableChoice/2", "Condition": "Selected", "SkipToDestination": to}
        skip["Locator"] = skip["ChoiceLocator"]
        element = {"Type": "Question", "QuestionID": "QID1", "SkipLogic": [skip]}
        blocks = [block("Main", element, "QID2"), block("Last", "QID3")]
        made = read(survey(CHOICE, TEXT, q("QID3", "TE", "ML"), blocks=blocks))
        assert [{"target_question_id": target, "conditions": IS_CAKE}] == asked(made)[0]["jumps"]
        assert [1, 1, 1] == [len(one["questions"]) for one in made.document["groups"]]

    def test_a_skip_does_not_hang_on_a_text_field_that_only_some_see(self) -> None:
        skip = {"Locator": "q://QID1/SelectableChoice/1", "Condition": "Selected", "SkipToDestination": "ENDOFSURVEY"}
        element = {"Type": "Question", "QuestionID": "QID1", "SkipLogic": [skip]}
        fields = {"1": "Bread", "2": {"Display": "B", "TextEntry": "on"}, "3": {"Display": "C", "TextEntry": "on"}}
        first = q("QID1", "MC", "SAVR", choices=fields)
        made = read(survey(first, TEXT, blocks=[block("Main", element, "QID2")]))
        assert [1, 0, 0] == [len(one["jumps"]) if "jumps" in one else 0 for one in asked(made)]

    @pytest.mark.parametrize("to", ["QID1", "QID9", ""])
    def test_a_skip_to_nowhere_is_told(self, to: str) -> None:
        skip = {"Locator": "q://QID1/SelectableChoice/2", "Condition": "Selected", "SkipToDestination": to}
        element = {"Type": "Question", "QuestionID": "QID1", "SkipLogic": [skip]}
        made = read(survey(CHOICE, TEXT, blocks=[block("Main", element, "QID2")]))
        assert [] == asked(made)[0]["jumps"]
        assert ("left_out", False) == (line_of(made, "condition").outcome, line_of(made, "condition").whole)

    def test_an_end_is_a_jump(self) -> None:
        options = {"SurveyTermination": "Redirect", "EOSRedirectURL": "https://shop.example/${e://Field/order id}"}
        flow = [shown("One"), branch(CAKE, end(**options)), shown("Two")]
        made = read(survey(CHOICE, TEXT, blocks=[block("One", "QID1"), block("Two", "QID2")], flow=flow))
        assert [{"target_question_id": None, "conditions": IS_CAKE}] == asked(made)[0]["jumps"]
        [ending] = made.document["endings"]
        assert ("shop.example", IS_CAKE) == (ending["button_label"], ending["conditions"])
        assert "https://shop.example/{{ questionnaire.order_id | - }}" == ending["button_url"]

    def test_an_end_behind_a_question_that_only_some_see(self) -> None:
        hidden = TEXT | {"DisplayLogic": logic([leaf("q://QID1/SelectableChoice/1")])}
        blocks = [block("One", "QID1", "QID2"), block("Two", "QID3")]
        flow = [shown("One"), branch(CAKE, end()), shown("Two")]
        made = read(survey(CHOICE, hidden, q("QID3", "TE", "SL"), blocks=blocks, flow=flow))
        assert IS_NO_CAKE == asked(made)[2]["show_if"]

    def test_the_end_of_a_branch(self) -> None:
        flow = [shown("One"), branch(CAKE, shown("Two"), end()), shown("Three")]
        blocks = [block("One", "QID1"), block("Two", "QID2"), block("Three", "QID3")]
        made = read(survey(CHOICE, TEXT, q("QID3", "TE", "SL"), blocks=blocks, flow=flow))
        assert [{"target_question_id": None, "conditions": None}] == asked(made)[1]["jumps"]

    def test_the_end_for_everybody(self) -> None:
        flow = [shown("One"), end(EOSMessage="MS_1"), shown("Two")]
        made = read(survey(CHOICE, TEXT, blocks=[block("One", "QID1"), block("Two", "QID2")], flow=flow))
        assert ["qid1"] == [one["key"] for one in asked(made)]
        assert "The file does not have the text of this ending. Write it here." == told(made, "ending")
        assert not line_of(made, "ending").key

    @pytest.mark.parametrize("url", ["http://shop.example", "", "javascript:alert(1)"])
    def test_an_address_that_is_not_safe(self, url: str) -> None:
        made = read(survey(CHOICE, options={"SurveyTermination": "Redirect", "EOSRedirectURL": url}))
        assert "endings" not in made.document
        assert "does not begin with https://" in told(made, "ending")

    def test_a_block_that_is_shown_twice(self) -> None:
        bread = logic([leaf("q://QID1/SelectableChoice/1")])
        flow = [shown("One"), branch(CAKE, shown("Two")), branch(bread, shown("Two"))]
        made = read(survey(CHOICE, TEXT, blocks=[block("One", "QID1"), block("Two", "QID2")], flow=flow))
        assert {"subject": "question:qid1", "operator": "in", "value": [2, 1]} == asked(made)[1]["show_if"]

    def test_what_is_around_the_questions_is_told(self) -> None:
        data = {"Type": "EmbeddedData", "FlowID": "FL_D", "EmbeddedData": [{"Field": "order"}, {"Field": "shop"}]}
        flow = [data, {"Type": "WebService", "FlowID": "FL_W"}, {"Type": "Group", "Flow": [shown("Main")]}]
        blocks = [block("Main", "QID1", "QID2", RandomizeQuestions="Advanced", Looping="Question")]
        made = read(survey(CHOICE, q("QID2", "Timing", "PageTimer"), blocks=blocks, flow=flow))
        assert "Send these values as metadata: order, shop." == told(made, "setting", "FL_D")
        assert "Afterword has nothing like WebService, so it is left out." == told(made, "setting", "FL_W")
        assert "Afterword has nothing like Timing, so it is left out." == told(made, "setting", "QID2")
        names = [str(line.sentences[0]) for line in made.lines if line.place == "BL_Main"]
        assert ["Looping Question", "RandomizeQuestions Advanced"] == [
            one.split(" like ")[1].split(",")[0] for one in names
        ]


class TestLanguages:
    def test_all_texts(self) -> None:
        german = {"QuestionText": "Welches?", "Choices": {"1": {"Display": "Brot"}, "2": {"Display": ""}}}
        made = read(survey(CHOICE | {"Language": {"DE": german, "ZH-S": {"QuestionText": "哪个"}}}, language="EN-GB"))
        assert ("en-gb", ["en-gb", "de", "zh-hans"]) == (made.document["default_locale"], made.document["locales"])
        texts = {"de": {"title": "Welches?", "choices": {"1": "Brot"}}, "zh-hans": {"title": "哪个"}}
        assert texts == asked(made)[0]["translations"]

    def test_unknown_ones_are_told(self) -> None:
        made = read(survey(CHOICE | {"Language": {"ELVISH-LANGUAGE-XX": {"QuestionText": "?"}}}))
        assert ["en"] == made.document["locales"]
        assert "unknown or too many: ELVISH-LANGUAGE-XX." in told(made, "setting", "SurveyLanguage")

    def test_too_many(self) -> None:
        tags = [f"{a}{b}" for a in "ab" for b in "abcdefghijklmnopqrstuvwxyz"]
        made = read(survey(CHOICE | {"Language": {tag: {"QuestionText": tag} for tag in tags}}))
        assert 30 == len(made.document["locales"])
        assert not line_of(made, "setting", "SurveyLanguage").whole

    def test_too_large(self) -> None:
        texts = {tag: {"QuestionText": f"{tag} {'x' * 2000}"} for tag in ("DE", "FR", "EL")}
        questions = [q(f"QID{n}", "TE", "SL") | {"Language": texts} for n in range(199)]
        few = q("QID200", "TE", "SL") | {"Language": {tag: texts[tag] for tag in ("DE", "FR")}}
        made = read(survey(*questions, few))
        assert ["en", "de"] == made.document["locales"]
        assert "EL" not in str(asked(made)[0])
        assert "too many: FR, EL." in told(made, "setting", "SurveyLanguage")


def test_passes_the_check_of_our_files() -> None:
    parts = [CHOICE, TEXT | {"DisplayLogic": CAKE, "QuestionText": "Why ${q://QID1/ChoiceGroup/SelectedChoices}?"}]
    content = survey(*parts, options={"SurveyTitle": "Your cake"})
    assert "Why {{ answer.qid1 | … }}?" == Taken(content).definition.questions()[1].title
    made = read(content)
    assert ("After delivery", "Your cake") == (made.document["display_name"], made.document["title"])
    assert foreign.Summary(2, 2, 1, 1, 0) == foreign.Summary.of(made.lines)
    assert made == read(content)
