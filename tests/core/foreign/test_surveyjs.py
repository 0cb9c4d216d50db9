"""Surveys of SurveyJS."""

import json
from typing import Any

import pytest

from afterword import errors
from afterword.core import foreign
from afterword.core.foreign import surveyjs as reader
from tests.core.foreign.forms import both, choices, leaf, surveyjs, taken

YES = {"type": "boolean", "name": "yes"}
ONE = {"type": "radiogroup", "name": "one", "choices": ["a", {"value": "b", "text": "Bee"}, 3]}
MANY = {"type": "checkbox", "name": "many", "choices": ["x", "y", "z"]}
GRID = {"type": "matrix", "name": "grid", "rows": ["fast", {"value": "1", "text": "First"}], "columns": ["bad", "good"]}


def comment(name: str, **members: Any) -> dict[str, Any]:
    return {"type": "comment", "name": name, **members}


class TestRefused:
    @pytest.mark.parametrize(
        "document", [[], {}, {"pages": 3}, {"pages": [{"elements": [{"type": 1}]}]}, {"elements": "x"}]
    )
    def test_no_survey(self, document: object) -> None:
        content = json.dumps(document).encode()
        assert not reader.FORMAT.is_of(content)
        with pytest.raises(errors.Invalid, match="not a file of SurveyJS"):
            reader.FORMAT.read(content)

    @pytest.mark.parametrize("kind", ["paneldynamic", "matrixdynamic", "signaturepad", "expression"])
    def test_left_out(self, kind: str) -> None:
        made = taken(surveyjs({"type": kind, "name": "q"}, YES))
        assert f"nothing like {kind}" in made.told("q")
        assert ["yes"] == [one.key for one in made.definition.questions()]

    def test_nothing_else(self) -> None:
        with pytest.raises(errors.Invalid, match="no question"):
            foreign.read(json.dumps(surveyjs({"type": "expression", "name": "q"})).encode())


class TestTypes:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"type": "boolean"}, {"type": "yes_no"}),
            ({"type": "boolean", "renderAs": "checkbox"}, {"type": "consent"}),
            ({"type": "boolean", "labelTrue": "Sure", "labelFalse": "Never"}, {"type": "single_choice"}),
            ({"type": "comment", "maxLength": 80}, {"type": "text", "multiline": True, "length_max": 80}),
            ({"type": "text"}, {"type": "text", "multiline": False}),
            ({"type": "text", "inputType": "email"}, {"type": "contact", "contact_fields": ("email",)}),
            (
                {"type": "text", "inputType": "number", "min": 1, "step": 0.5},
                {"type": "number", "decimals": 1, "number_min": 1},
            ),
            ({"type": "text", "inputType": "range", "min": 0, "max": 9}, {"type": "number", "style": "slider"}),
            ({"type": "slider"}, {"type": "number", "style": "slider", "number_max": 100}),
            ({"type": "text", "inputType": "date", "min": "2026-01-01"}, {"type": "date", "date_min": "2026-01-01"}),
            ({"type": "text", "inputType": "time"}, {"type": "time"}),
            ({"type": "text", "inputType": "datetime-local"}, {"type": "date_time"}),
            ({"type": "dropdown", "choices": [1, 2]}, {"type": "single_choice", "style": "dropdown"}),
            (
                {"type": "tagbox", "choices": [1, 2], "maxSelectedChoices": 9},
                {"type": "multiple_choice", "choices_max": 2},
            ),
            ({"type": "imagepicker", "choices": [1, 2], "multiSelect": True}, {"type": "multiple_choice"}),
            (
                {"type": "ranking", "choices": [1, 2, 3], "selectToRankEnabled": True, "maxSelectedChoices": 2},
                {"type": "ranking", "rank_max": 2},
            ),
            ({"type": "dropdown", "choicesByUrl": {"url": "https://a.example"}}, {"type": "statement"}),
            ({"type": "radiogroup", "choices": ["Only"]}, {"type": "consent"}),
            (
                {"type": "matrix", "rows": [1], "columns": [1, 2], "isAllRowRequired": True},
                {"type": "matrix", "required": True},
            ),
            (
                {"type": "file", "acceptedTypes": "image/*, .pdf", "maxSize": 20_000},
                {"type": "file", "file_types": ("picture", "pdf"), "bytes_max": 20_000},
            ),
            (
                {"type": "html", "html": "<p>Read</p><p>this</p>"},
                {"type": "statement", "title": "Read", "description": "this"},
            ),
            ({"type": "hologram"}, {"type": "statement"}),
        ],
    )
    def test_each(self, given: dict[str, Any], expected: dict[str, Any]) -> None:
        made = taken(surveyjs({"name": "q", **given}, YES))
        assert expected == {name: getattr(made["q"], name) for name in expected}

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({}, ("rating", range(1, 6), "numbers")),
            ({"rateMin": 0, "rateMax": 10}, ("nps", range(11), None)),
            ({"rateValues": list(range(11))}, ("nps", range(11), None)),
            ({"rateMax": 7, "rateType": "stars"}, ("rating", range(1, 8), "stars")),
            ({"rateCount": 3, "rateType": "smileys"}, ("smileys", range(1, 4), None)),
            ({"rateMin": 2, "rateMax": 8, "rateStep": 2}, ("single_choice", range(0), None)),
            ({"rateValues": ["low", "high"]}, ("single_choice", range(0), None)),
            ({"rateMax": 10**9}, ("single_choice", range(0), "dropdown")),
        ],
    )
    def test_ratings(self, given: dict[str, Any], expected: object) -> None:
        """Trap 19: a rating is one to five; one from 0 to 10 is an NPS by its ends."""
        made = taken(surveyjs({"type": "rating", "name": "q", **given}, YES))["q"]
        assert expected == (made.type, made.scale, made.style)

    def test_added_choices(self) -> None:
        """Trap 19: choices may be bare texts, and flags add others."""
        made = taken(surveyjs({**MANY, "hasOther": True, "otherText": "Else", "showNoneItem": True}, ONE))
        assert [(1, "x"), (2, "y"), (3, "z"), (4, "None"), (5, "Else")] == choices(made["many"])
        assert [(False, True), (True, False)] == [(one.other, one.exclusive) for one in made["many"].choices[3:]]
        assert [(1, "a"), (2, "Bee"), (3, "3")] == choices(made["one"])
        assert "a = 1, b = 2" in made.told("one")

    def test_codes_that_are_numbers_stay(self) -> None:
        given = [{"value": 7, "text": "Seven", "showCommentArea": True}, {"value": 2, "text": "Two"}]
        made = taken(surveyjs({"type": "radiogroup", "name": "q", "choices": given}, YES))
        assert [(7, True), (2, False)] == [(one.value, one.other) for one in made["q"].choices]

    def test_codes_that_stand_twice(self) -> None:
        """Nothing is lost silently; an entry that is written twice is no loss."""
        given = [{"value": 1, "text": "One"}, {"value": 1, "text": "Uno"}, {"value": 2, "text": "Two"}, 3, 3]
        made = taken(surveyjs({"type": "radiogroup", "name": "q", "choices": given}, YES))
        assert [(1, "One"), (2, "Two"), (3, "3")] == choices(made["q"])
        assert (False, True) == (made.line("q").whole, "only the first of each is taken: 1." in made.told("q"))
        grid = taken(surveyjs({**GRID, "rows": ["a", {"value": "a", "text": "Again"}, "a"]}, YES))
        assert ([("a", "a")], False) == ([(one.key, one.label) for one in grid["grid"].rows], grid.line("grid").whole)
        plain = taken(surveyjs({**MANY, "choices": ["x", "x", "y"]}, YES))
        assert ("x = 1, y = 2." in plain.told("many"), True) == (True, plain.line("many").whole)

    def test_what_a_question_does_beside_asking(self) -> None:
        rules = [{"type": "regex", "regex": "[0-9]+"}, {"type": "email"}]
        made = taken(surveyjs(comment("q", defaultValue=0, validators=rules), YES))
        told = [" ".join(one.sentences) for one in made.lines if one.kind == "setting"]
        form = "The form of the answer is not checked"
        assert ["Its answer is filled in beforehand.", f"{form}: regex [0-9]+.", f"{form}: email."] == told
        assert made.line("q").whole

    def test_several_fields(self) -> None:
        fields = [{"name": "first", "title": "First"}, {"name": "age", "inputType": "number", "isRequired": True}]
        made = taken(surveyjs({"type": "multipletext", "name": "m", "title": "You", "items": fields}, YES))
        assert [("m_first", "text", "First"), ("m_age", "number", "age")] == [
            (one.key, one.type, one.title) for one in made.definition.questions()[:2]
        ]
        assert (True, "You") == (made["m_age"].required, made["m_age"].description)
        assert "2 questions" in made.told("m")
        whole = taken(
            surveyjs({"type": "multipletext", "name": "m", "items": [{"name": "name"}, {"name": "email"}]}, YES)
        )
        assert ("contact", ("name", "email")) == (whole["m"].type, whole["m"].contact_fields)

    def test_columns_of_a_matrix(self) -> None:
        columns = [
            {"name": "c1", "title": "One"},
            {"name": "c2", "choices": ["u", "v", "w"]},
            {"name": "c3", "cellType": "text"},
        ]
        made = taken(
            surveyjs({"type": "matrixdropdown", "name": "m", "columns": columns, "choices": [1, 2], "rows": ["r"]})
        )
        assert [("matrix", 2), ("matrix", 3), ("statement", 0)] == [
            (one.type, len(one.choices)) for one in made.definition.questions()
        ]
        assert not made.line("m.c3").whole


class TestConditions:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("{one} = 'b'", leaf("one", "equal", 2)),
            ("{one} == 3", leaf("one", "equal", 3)),
            ("{one} <> 'a'", leaf("one", "not_equal", 1)),
            ("{one} anyof ['a', 'b']", leaf("one", "in", [1, 2])),
            ("{one} empty", leaf("one", "is_empty")),
            ("{one} notempty", leaf("one", "is_not_empty")),
            ("!({one} empty)", leaf("one", "is_not_empty")),
            ("{many} contains 'y'", leaf("many", "contains", 2)),
            ("{many} = ['x', 'z']", leaf("many", "equal", [1, 3])),
            ("{many} anyof ['x', 'y']", {"any": [leaf("many", "contains", 1), leaf("many", "contains", 2)]}),
            ("{yes} = true", leaf("yes", "equal", True)),
            ("{yes}", leaf("yes", "equal", True)),
            ("!{yes}", {"subject": "question:yes", "operator": "not_equal", "value": True}),
            ("{grid.fast} = 'good'", leaf("grid:fast", "equal", 2)),
            ("{nps} >= 9 and {one} = 'a'", {"all": [leaf("nps", "greater_equal", 9), leaf("one", "equal", 1)]}),
            (
                "7 < {nps} || {words} contains 'it\\'s'",
                {"any": [leaf("nps", "greater", 7), leaf("words", "contains", "it's")]},
            ),
        ],
    )
    def test_each(self, text: str, expected: object) -> None:
        nps = {"type": "rating", "name": "nps", "rateMin": 0, "rateMax": 10}
        made = taken(surveyjs(ONE, MANY, YES, GRID, nps, comment("words"), comment("q", visibleIf=text)))
        assert expected == made.show_if("q")
        assert made.line("q", "condition").whole

    @pytest.mark.parametrize(
        "text",
        [
            "{one} = 'unknown'",
            "{later} = 1",
            "age({yes}) > 3",
            "{one} = {many}",
            "{one} =",
            "(" * 50 + "{yes}",
            "!" * 900,
            "x" * 9_000,
        ],
    )
    def test_what_cannot_be_expressed(self, text: str) -> None:
        made = taken(surveyjs(ONE, YES, comment("q", visibleIf=text), comment("later")))
        assert made["q"].show_if is None
        assert "left_out" == made.line("q", "condition").outcome

    def test_panels_and_pages(self) -> None:
        inner: dict[str, Any] = {"type": "panel", "name": "p", "title": "Panel", "visibleIf": "{one} = 'a'"}
        inner["elements"] = [{**MANY, "visibleIf": "{yes}"}]
        pages = [
            {"name": "first", "elements": [ONE, YES, inner]},
            {"name": "second", "visibleIf": "{yes} = false", "elements": [GRID]},
        ]
        made = taken({"pages": pages})
        assert leaf("one", "equal", 1) == made.show_if("p")
        assert {"all": [leaf("one", "equal", 1), leaf("yes", "equal", True)]} == made.show_if("many")
        assert leaf("yes", "equal", False) == made.show_if("grid")
        assert ["first", "second"] == [group.key for group in made.definition.groups]

    def test_triggers(self) -> None:
        triggers = [
            {"type": "skip", "expression": "{one} = 'a'", "gotoName": "q"},
            {"type": "complete", "expression": "{one} = 'b'"},
            {"type": "setvalue", "expression": "{one} = 'b'"},
        ]
        made = taken(surveyjs(ONE, YES, comment("q"), triggers=triggers))
        assert [("q", leaf("one", "equal", 1)), (None, leaf("one", "equal", 2))] == made.jumps("one")
        assert "nothing like setvalue" in made.told("setvalue", "condition")

    def test_hidden(self) -> None:
        assert not taken(surveyjs(ONE, {**YES, "visible": False}))["yes"].enabled


def test_texts_show_answers() -> None:
    made = taken(
        surveyjs(
            ONE,
            {"type": "multipletext", "name": "who", "items": [{"name": "name"}, {"name": "email"}]},
            comment("q", title="Why {one}, {who.email}? {later} {nothing}"),
            comment("later"),
        )
    )
    assert "Why {{ answer.one | … }}, {{ answer.who.email | … }}? … {nothing}" == made["q"].title
    assert not made.line("q").whole


def test_languages() -> None:
    """`default` is English where the survey's own language stands beside it."""
    one = comment("q", title=both("Why?", "Γιατί;"))
    for made, locale, other, texts in (
        (taken(surveyjs(one, locale="el")), "el", "en", ("Γιατί;", "Why?")),
        (taken(surveyjs(one)), "en", "el", ("Why?", "Γιατί;")),
    ):
        assert locale == made.definition.default_locale
        assert texts == (made["q"].title, made["q"].translations[other].title)


def test_the_end() -> None:
    html = '<h3>Thanks {one}</h3><p>Bye</p><a class="x" href="https://a.example/?x=1&amp;y=2">Shop</a>'
    conditional = [{"expression": "{yes}", "html": "<p>Great</p>"}]
    made = taken(
        surveyjs(ONE, YES, completedHtml=html, completedHtmlOnCondition=conditional, navigateToUrl="http://a.example")
    )
    first, last = made.definition.endings
    assert ("Great", leaf("yes", "equal", True)) == (first.text, made.condition(first.conditions))
    assert ("Thanks {{ answer.one | … }}", "Bye", "Shop") == (last.title, last.text, last.button_label)
    assert "https://a.example/?x=1&y=2" == last.button_url
