"""Surveys of Formbricks, as its API and its templates have them."""

import json
from typing import Any

import pytest

from afterword import errors
from afterword.core import foreign
from afterword.core.foreign import formbricks as reader
from tests.core.foreign.forms import block, choices, element, formbricks, leaf, rule, taken

LABELS = {"lowerLabel": {"default": "Low"}, "upperLabel": {"default": "High", "de": "Hoch"}}
THREE = [{"id": name, "label": {"default": name.upper()}} for name in ("x", "y", "other")]
T, U = [element("openText", "t")], [element("openText", "u")]
END = {"id": "end", "type": "endScreen", "headline": {"default": "Thanks"}}


class TestRefused:
    @pytest.mark.parametrize(
        "document", [[], {}, {"blocks": []}, {"blocks": [{"elements": 1}]}, {"questions": [{"a": 1}]}]
    )
    def test_no_survey(self, document: object) -> None:
        content = json.dumps(document).encode()
        assert not reader.FORMAT.is_of(content) or document == {"blocks": [{"elements": 1}]}
        with pytest.raises(errors.Invalid):
            foreign.read(content)

    def test_cut(self) -> None:
        content = json.dumps(formbricks([element("nps", "n")])).encode()[:-1]
        assert not reader.FORMAT.is_of(content)
        with pytest.raises(errors.Invalid):
            reader.FORMAT.read(content)

    def test_nothing_but_what_is_left_out(self) -> None:
        with pytest.raises(errors.Invalid, match="no question"):
            foreign.read(json.dumps(formbricks([element("cal", "c", calUserName="a")])).encode())


class TestTypes:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"type": "nps", **LABELS}, {"type": "nps", "low_label": "Low"}),
            ({"type": "csat", "range": 5, "scale": "number"}, {"type": "csat"}),
            ({"type": "csat", "range": 5, "scale": "star"}, {"type": "csat"}),
            ({"type": "ces", "range": 7, "scale": "number"}, {"type": "ces"}),
            ({"type": "ces", "range": 5, "scale": "number"}, {"type": "rating", "scale_max": 5, "style": "numbers"}),
            ({"type": "rating", "range": 10, "scale": "number"}, {"type": "rating", "scale_min": 1, "scale_max": 10}),
            ({"type": "rating", "range": 4, "scale": "star"}, {"type": "rating", "scale_max": 4, "style": "stars"}),
            ({"type": "rating", "range": 3, "scale": "smiley"}, {"type": "smileys", "scale_max": 3}),
            ({"type": "openText"}, {"type": "text", "multiline": True}),
            (
                {"type": "openText", "longAnswer": False, "charLimit": {"enabled": True, "max": 90}},
                {"multiline": False, "length_max": 90},
            ),
            ({"type": "openText", "inputType": "email"}, {"type": "contact", "contact_fields": ("email",)}),
            ({"type": "openText", "inputType": "number"}, {"type": "number", "decimals": 2}),
            (
                {"type": "multipleChoiceMulti", "choices": THREE, "shuffleOption": "all"},
                {"type": "multiple_choice", "randomize": True},
            ),
            ({"type": "ranking", "choices": THREE}, {"type": "ranking"}),
            (
                {"type": "pictureSelection", "choices": [{"id": "p", "imageUrl": "/a"}, {"id": "q", "imageUrl": "/b"}]},
                {"type": "single_choice"},
            ),
            ({"type": "date", "format": "y-M-d"}, {"type": "date"}),
            (
                {"type": "fileUpload", "allowMultipleFiles": True, "allowedFileExtensions": ["pdf", "exe"]},
                {"type": "file", "file_types": ("pdf",), "files_max": 2},
            ),
            ({"type": "cta"}, {"type": "statement"}),
            (
                {"type": "address", "city": {"show": True, "required": True}, "zip": {"show": False}},
                {"type": "address", "contact_fields": ("city",)},
            ),
            (
                {"type": "contactInfo", "lastName": {"show": True}, "phone": {"show": True}},
                {"type": "contact", "contact_fields": ("name", "phone")},
            ),
            ({"type": "hologram"}, {"type": "statement"}),
        ],
    )
    def test_each(self, given: dict[str, Any], expected: dict[str, Any]) -> None:
        made = taken(formbricks([element(given["type"], "q1") | given], [element("openText", "q2")]))
        assert expected == {name: getattr(made["q1"], name) for name in expected}

    def test_a_matrix_has_its_rows_and_columns(self) -> None:
        columns = [{"id": "c1", "label": {"default": "Bad"}}, {"id": "c2", "label": {"default": "Good"}}]
        made = taken(
            formbricks([element("matrix", "m", rows=[{"id": "r", "label": {"default": "Speed"}}], columns=columns)])
        )
        assert ["Speed"] == [row.label for row in made["m"].rows]
        assert [(1, "Bad"), (2, "Good")] == choices(made["m"])

    def test_the_text_beside_a_box_is_what_people_agree_to(self) -> None:
        made = taken(
            formbricks([element("consent", "c", label={"default": "I agree"}, subheader={"default": "<p>Please</p>"})])
        )
        assert ("consent", "I agree", "About c\n\nPlease") == (made["c"].type, made["c"].title, made["c"].description)

    def test_other_and_none(self) -> None:
        several = [*THREE, {"id": "none", "label": {"default": "None"}}]
        made = taken(formbricks([element("multipleChoiceMulti", "m", choices=several)]))
        assert [(False, False), (False, False), (True, False), (False, True)] == [
            (one.other, one.exclusive) for one in made["m"].choices
        ]

    def test_what_is_left_out_is_told(self) -> None:
        made = taken(formbricks([element("cal", "c"), element("openText", "t", imageUrl="/a.png")], styling={"a": 1}))
        assert "nothing like cal" in made.told("c")
        assert "imageUrl" in made.told("t")
        assert not made.line("t").whole
        assert "styling" in made.told("survey", "setting")


def test_ces_and_csat_beside_nps() -> None:
    """Trap 18: there are three scores; a CES of five points is no CES of ours, which has seven."""
    asked = [element("nps", "n"), element("csat", "s", range=5, scale="number"), element("ces", "e", range=5)]
    made = taken(formbricks(asked))
    assert ["nps", "csat", "rating"] == [one.type for one in made.definition.questions()]
    assert "7 points" in made.told("e")
    assert [True, True, False] == [made.line(name).whole for name in "nse"]


class TestLogic:
    def test_logic_of_blocks_and_recall(self) -> None:
        """Trap 17: the logic is on blocks, and an earlier answer stands in a text as `#recall:…#`."""
        first = block(element("rating", "r", range=5, scale="number"), rule("r", "isLessThan", 3, "b3"))
        good = {"default": "<p>You gave #recall:r/fallback:somenbspstars#</p>"}
        bad = {"default": "Sorry #recall:later/fallback:friend#"}
        others = ([element("openText", "good", headline=good)], [element("openText", "bad", headline=bad)])
        made = taken(formbricks(first, *others))
        assert [("bad", leaf("r", "less", 3))] == made.jumps("r")
        assert "You gave {{ answer.r | some stars }}" == made["good"].title
        assert "Sorry friend" == made["bad"].title
        assert not made.line("bad").whole

    def test_older_surveys_have_questions(self) -> None:
        leads = rule("n", "equals", 10, "t2") | {"actions": [{"objective": "jumpToQuestion", "target": "t2"}]}
        older = [element("nps", "n", logic=[leads]), element("openText", "t1"), element("openText", "t2")]
        card = {"enabled": True, "headline": {"default": "Bye"}}
        made = taken({"data": {"name": "Old", "questions": older, "thankYouCard": card}})
        assert [("t2", leaf("n", "equal", 10))] == made.jumps("n")
        assert ["Bye"] == [one.title for one in made.definition.endings]

    @pytest.mark.parametrize(
        ("kind", "operator", "value", "expected"),
        [
            ("Single", "equals", "x", leaf("q", "equal", 1)),
            ("Single", "doesNotEqual", "y", leaf("q", "not_equal", 2)),
            ("Single", "equalsOneOf", ["x", "other"], leaf("q", "in", [1, 3])),
            ("Single", "isSubmitted", None, leaf("q", "is_not_empty")),
            ("Single", "isSkipped", None, leaf("q", "is_empty")),
            ("Multi", "includesAllOf", ["x", "y"], {"all": [leaf("q", "contains", 1), leaf("q", "contains", 2)]}),
            ("Multi", "includesOneOf", ["x", "y"], {"any": [leaf("q", "contains", 1), leaf("q", "contains", 2)]}),
            ("Multi", "doesNotIncludeAllOf", ["x"], leaf("q", "not_contains", 1)),
            ("Multi", "equals", "x", leaf("q", "equal", [1])),
        ],
    )
    def test_of_choices(self, kind: str, operator: str, value: object, expected: object) -> None:
        first = block(element(f"multipleChoice{kind}", "q", choices=THREE), rule("q", operator, value, "b3"))
        made = taken(formbricks(first, T, U))
        assert [("u", expected)] == made.jumps("q")
        assert made.line("b1", "condition").whole

    def test_what_always_holds_has_no_condition(self) -> None:
        """A required question is answered when its page is left; so both ways of an optional one are all of them."""
        submitted, skipped = rule("a", "isSubmitted", None, "b3"), rule("a", "isSkipped", None, "b2")
        first = block(element("openText", "a", required=True), submitted, skipped)
        third = block(element("openText", "c"), *(rule("c", one, None, "b5") for one in ("isSubmitted", "isSkipped")))
        made = taken(formbricks(first, T, third, U, [element("openText", "e")]))
        assert [("c", None)] == made.jumps("a")
        assert [("e", leaf("c", "is_not_empty")), ("e", None)] == made.jumps("c")

    @pytest.mark.parametrize(
        "left",
        [
            rule("q", "matchesMoon", 1, "b2"),
            rule("nobody", "equals", 1, "b2"),
            rule("q", "equals", "unknown", "b2"),
            rule("v", "equals", 1, "b2", type="variable"),
        ],
    )
    def test_what_cannot_be_expressed(self, left: dict[str, Any]) -> None:
        first = block(element("multipleChoiceSingle", "q", choices=THREE), left)
        made = taken(formbricks(first, T))
        assert [] == made.jumps("q")
        assert "left_out" == made.line("b1", "condition").outcome

    def test_back_and_calculated(self) -> None:
        calculate = {"conditions": {"connector": "and", "conditions": []}, "actions": [{"objective": "calculate"}]}
        second = block(element("nps", "b"), rule("b", "equals", 1, "b1"), calculate)
        made = taken(formbricks([element("nps", "a")], second))
        assert [] == made.jumps("b")
        told = " ".join(" ".join(line.sentences) for line in made.lines if line.kind == "condition")
        assert "one back is left out" in told
        assert "calculate" in told

    def test_rows_of_a_matrix_and_hidden_fields(self) -> None:
        labels = [{"id": "1", "label": {"default": "One"}}, {"id": "2", "label": {"default": "Two"}}]
        rules = [
            rule("m", "equals", "1", "b3", meta={"row": "0"}),
            rule("source", "equals", "mail", "b3", type="hiddenField"),
        ]
        first = {"elements": [element("matrix", "m", rows=labels, columns=labels)], "logic": rules}
        made = taken(formbricks(first, T, U, hiddenFields={"fieldIds": ["source"]}))
        row = made["m"].rows[0].key
        hidden = {"subject": "questionnaire_metadata:source", "operator": "equal", "value": "mail"}
        assert [("u", leaf(f"m:{row}", "equal", 2)), ("u", hidden)] == made.jumps("m")


class TestEnds:
    BUTTON = element(
        "cta", "out", buttonExternal=True, buttonUrl="https://shop.example/a", ctaButtonLabel={"default": "Go"}
    )

    def test_each_ending_has_the_conditions_of_its_jumps(self) -> None:
        first = block(element("nps", "n"), rule("n", "isGreaterThanOrEqual", 9, "happy"))
        happy = {"id": "happy", "type": "redirectToUrl", "url": "https://review.example/x", "label": "Review"}
        made = taken(formbricks(first, T, endings=[END, happy]))
        found = [(one.title, one.button_label, made.condition(one.conditions)) for one in made.definition.endings]
        assert [(None, "Review", leaf("n", "greater_equal", 9)), ("Thanks", None, None)] == found
        assert [(None, leaf("n", "greater_equal", 9))] == made.jumps("n")
        assert "leads nobody away" in made.told("happy", "ending")

    def test_a_button_before_the_end_becomes_an_ending(self) -> None:
        first = block(element("csat", "s", required=True), rule("s", "isLessThan", 5, "end"))
        made = taken(formbricks(first, [self.BUTTON], endings=[END]))
        found = [(one.title, one.button_url, made.condition(one.conditions)) for one in made.definition.endings]
        assert [("Thanks", None, leaf("s", "less", 5)), ("About out", "https://shop.example/a", None)] == found
        assert made.line("out").whole

    @pytest.mark.parametrize("url", ["https://shop.example/a", "mailto:a@b.example", "javascript:alert(1)"])
    def test_a_button_between_questions_becomes_a_text(self, url: str) -> None:
        made = taken(formbricks([self.BUTTON | {"buttonUrl": url}], T))
        assert ("statement", f"Go: {url}") == (made["out"].type, made["out"].description)
        assert not made.line("out").whole
        assert () == made.definition.endings

    def test_clicks_are_not_known(self) -> None:
        first = {"elements": [self.BUTTON], "logic": [rule("out", "isClicked", None, "b3")]}
        made = taken(formbricks(first, T, U))
        assert [("u", None)] == made.jumps("out")
        assert not made.line("b1", "condition").whole


def test_languages_and_the_welcome() -> None:
    asked = element("nps", "n", headline={"default": "Würden Sie?", "en": "Would you?", "fr": "Off"}, **LABELS)
    languages: list[dict[str, Any]] = [{"language": {"code": code}} for code in ("de", "en", "fr")]
    languages[0] |= {"default": True}
    languages[2] |= {"enabled": False}
    card = {"enabled": True, "headline": {"default": "Hallo", "en": "Hello"}, "subheader": {"default": "<p>Kurz</p>"}}
    made = taken(formbricks([asked], languages=languages, welcomeCard=card))
    assert ("de", ("de", "en")) == (made.definition.default_locale, made.definition.locales)
    assert ("Würden Sie?", "Would you?") == (made["n"].title, made["n"].translations["en"].title)
    assert {"de": "Hallo\nKurz", "en": "Hello"} == {
        locale: one.welcome for locale, one in made.definition.pages.items()
    }


def test_a_template_without_a_language_is_english() -> None:
    made = taken({"id": "t", "preset": formbricks([element("nps", "n")])})
    assert ("en",) == made.definition.locales
    assert "counts as en" in made.told("languages", "setting")
    assert "Form" == made.settings["title"]
