"""Forms of Typeform: what is refused, each type of field, jumps, endings and texts."""

import json
from typing import Any

import pytest

from afterword import errors
from afterword.core import foreign
from afterword.core.foreign import typeform
from afterword.core.foreign.parts import Read
from tests.core.foreign.forms import Taken, leaf
from tests.core.foreign.qsf import asked, line_of, read, told

AB = [{"id": "i1", "ref": "red", "label": "Red"}, {"id": "i2", "ref": "blue", "label": "Blue"}]
THANKS = {"ref": "end", "type": "thankyou_screen", "title": "Thank you", "properties": {"show_button": False}}


def field(kind: str, ref: str = "one", /, title: str = "Which?", **properties: Any) -> dict[str, Any]:
    validations = properties.pop("validations", {"required": False})
    found = {"id": "x", "ref": ref, "type": kind, "title": title, "properties": properties, "validations": validations}
    return found | properties.pop("beside", {})


def form(*fields: dict[str, Any], **more: Any) -> bytes:
    settings = {"language": more.pop("language", "en")}
    return json.dumps({"title": "After delivery", "fields": list(fields), "settings": settings, **more}).encode()


def jump(
    to: str, operator: str = "always", value: Any = None, *, of: str = "one", kind: str = "field"
) -> dict[str, Any]:
    """An action. `value`: a constant, or of a choice its ref in a list."""
    constant = (
        {"type": "choice", "value": value[0]} if isinstance(value, list) else {"type": "constant", "value": value}
    )
    variables = [] if operator == "always" else [{"type": "field", "value": of}, constant]
    condition = {"op": operator, "vars": variables}
    return {"action": "jump", "details": {"to": {"type": kind, "value": to}}, "condition": condition}


def logic(*actions: dict[str, Any], ref: str = "one") -> list[dict[str, Any]]:
    return [{"type": "field", "ref": ref, "actions": list(actions)}]


def jumps_of(first: dict[str, Any], action: dict[str, Any]) -> tuple[Any, Read]:
    made = read(form(first, field("short_text", "two"), field("short_text", "three"), logic=logic(action)))
    return asked(made)[0].get("jumps"), made


class TestRefused:
    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (form(field("yes_no"))[:-9], "Afterword cannot read this file"),
            (form(), "Afterword cannot read this file"),
            (form(field("group", fields=[])), "The file has no question."),
            (b'{"fields": [{"title": "x", "type": "text"}]}', "Afterword cannot read this file"),
        ],
        ids=["cut", "empty", "an empty group", "another form"],
    )
    def test_file(self, content: bytes, sentence: str) -> None:
        with pytest.raises(errors.Invalid) as refused:
            foreign.read(content)
        assert sentence in refused.value.detail

    def test_without_fields(self) -> None:
        with pytest.raises(errors.Invalid, match="not a file of Typeform"):
            typeform.FORMAT.read(b'{"fields": {}}')

    def test_deep_groups(self) -> None:
        below = '{"type": "group", "ref": "g", "title": "", "properties": {"fields": [' * 300 + "]}}" * 300
        content = form(field("yes_no"), {"deep": 1}).replace(b'{"deep": 1}', below.encode())
        assert 1 == len(asked(read(content)))

    def test_deep_logic_is_told(self) -> None:
        deep = '{"op": "and", "vars": [' * 400 + '{"op": "resembles"}' + "]}" * 400
        content = form(field("yes_no"), field("yes_no", "two"), logic=logic(jump("two")))
        made = read(content.replace(b'{"op": "always", "vars": []}', deep.encode()))
        assert "left_out" == line_of(made, "condition").outcome

    @pytest.mark.parametrize("written", [None, 5, [], {}, "x", [None, 5, "x", {}]])
    @pytest.mark.parametrize("member", ["logic", "thankyou_screens", "welcome_screens", "hidden", "settings"])
    def test_members_of_another_form_are_ignored(self, member: str, written: object) -> None:
        content = json.loads(form(field("yes_no"), _links={})) | {member: written}
        assert 1 == len(asked(read(json.dumps(content).encode())))


CASES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        field("short_text", validations={"required": True, "max_length": 80}),
        {"type": "text", "multiline": False, "length_max": 80, "required": True},
        "taken",
    ),
    (field("long_text"), {"type": "text", "multiline": True, "required": None}, "taken"),
    (field("website"), {"type": "text"}, "changed"),
    (field("multiple_choice", choices=AB, randomize=True), {"type": "single_choice", "randomize": True}, "taken"),
    (
        field("multiple_choice", choices=AB, allow_multiple_selection=True, validations={"max_selection": 2}),
        {"type": "multiple_choice", "choices_max": 2},
        "taken",
    ),
    (field("picture_choice", choices=AB), {"type": "single_choice"}, "taken"),
    (field("dropdown", choices=AB), {"type": "single_choice", "style": "dropdown"}, "taken"),
    (field("ranking", choices=AB), {"type": "ranking"}, "taken"),
    (field("yes_no"), {"type": "yes_no"}, "taken"),
    (field("legal"), {"type": "yes_no"}, "changed"),
    (field("email"), {"type": "contact", "contact_fields": ["email"]}, "taken"),
    (field("phone_number"), {"type": "contact", "contact_fields": ["phone"]}, "taken"),
    (
        field("number", validations={"min_value": 1, "max_value": 9}),
        {"type": "number", "number_min": 1, "number_max": 9},
        "taken",
    ),
    (
        field("rating", steps=7, shape="star"),
        {"type": "rating", "style": "stars", "scale_min": 1, "scale_max": 7},
        "taken",
    ),
    (field("rating", steps=5, shape="heart"), {"type": "rating", "style": "numbers"}, "taken"),
    (field("rating", steps=2), {"type": "single_choice"}, "taken"),
    (field("opinion_scale", steps=11), {"type": "rating", "scale_min": 0, "scale_max": 10}, "taken"),
    (
        field("opinion_scale", steps=5, start_at_one=True, labels={"left": "Bad", "center": "So so", "right": "Good"}),
        {"type": "rating", "scale_min": 1, "scale_max": 5, "low_label": "Bad", "high_label": "Good"},
        "changed",
    ),
    (field("opinion_scale", steps=11, start_at_one=True), {"type": "single_choice"}, "taken"),
    (field("nps", labels={"left": "Never"}), {"type": "nps", "low_label": "Never"}, "taken"),
    (field("date", structure="MMDDYYYY"), {"type": "date"}, "taken"),
    (field("file_upload"), {"type": "file"}, "taken"),
    (field("statement", description="More"), {"type": "statement", "description": "More"}, "taken"),
    (
        field(
            "contact_info",
            fields=[
                {"subfield_key": key, "validations": {"required": True}, "title": key}
                for key in ("first_name", "last_name", "phone_number", "email")
            ],
        ),
        {"type": "contact", "contact_fields": ["name", "phone", "email"], "required": True},
        "taken",
    ),
    (
        field("address", fields=[{"subfield_key": key} for key in ("address", "address_line_2", "zip_code", "city")]),
        {"type": "address", "contact_fields": ["street", "postal_code", "city"]},
        "taken",
    ),
]


class TestFields:
    @pytest.mark.parametrize(("written", "expected", "outcome"), CASES)
    def test_whole(self, written: dict[str, Any], expected: dict[str, Any], outcome: str) -> None:
        made = read(form(written))
        [found] = asked(made)
        assert expected == {name: found.get(name) for name in expected}
        assert (outcome, True) == (line_of(made, "question").outcome, line_of(made, "question").whole)

    @pytest.mark.parametrize("kind", ["payment", "calendly", "multi_format", "new", ""])
    def test_unknown(self, kind: str) -> None:
        made = read(form(field("yes_no", "first"), field(kind)))
        assert [("statement", "Which?")] == [(one["type"], one["title"]) for one in asked(made)[1:]]
        assert ("left_out", False) == (line_of(made, "question", "one").outcome, line_of(made, "question", "one").whole)

    @pytest.mark.parametrize(
        ("written", "sentence"),
        [
            (
                field("picture_choice", choices=[{**AB[0], "attachment": {}}, {**AB[1], "attachment": {"href": "x"}}]),
                "Its pictures and videos are left out.",
            ),
            (
                field("dropdown", choices=[{"label": str(n)} for n in range(501)]),
                "Only its first 500 entries are taken.",
            ),
            (
                field(
                    "contact_info",
                    fields=[
                        {"subfield_key": "email", "validations": {"required": True}},
                        {"subfield_key": "first_name"},
                    ],
                ),
                "Afterword has no place for these parts of it: required.",
            ),
            (
                field("contact_info", fields=[{"subfield_key": "email"}, {"subfield_key": "company"}]),
                "Afterword has no place for these parts of it: company.",
            ),
        ],
    )
    def test_partly(self, written: dict[str, Any], sentence: str) -> None:
        made = read(form(written))
        assert not line_of(made, "question").whole
        assert sentence == told(made)

    def test_a_picture_beside_a_question_is_told(self) -> None:
        made = read(form(field("yes_no") | {"attachment": {"href": "x"}}))
        assert ("changed", True) == (line_of(made, "question").outcome, line_of(made, "question").whole)

    def test_other(self) -> None:
        made = read(form(field("multiple_choice", choices=AB, allow_other_choice=True)))
        choices = [(one["value"], one["label"], one.get("other")) for one in asked(made)[0]["choices"]]
        assert [(1, "Red", None), (2, "Blue", None), (3, "Other", True)] == choices

    @pytest.mark.parametrize("below", [{}, {"allow_multiple_selection": True}])
    def test_matrix(self, below: dict[str, Any]) -> None:
        rows = [field("multiple_choice", ref, ref.title(), choices=AB, **below) for ref in ("price", "speed")]
        made = read(form(field("matrix", fields=rows)))
        assert [{"key": "price", "label": "Price"}, {"key": "speed", "label": "Speed"}] == asked(made)[0]["rows"]
        assert ("allow_multiple_selection" in told(made), not below) == (bool(below), line_of(made, "question").whole)

    def test_groups_are_pages(self) -> None:
        group = field(
            "group", "g", "About you", description="Briefly", fields=[field("yes_no", "a"), field("yes_no", "b")]
        )
        made = read(form(field("yes_no", "first"), group, field("yes_no", "last")))
        pages = [(one.get("title"), one.get("description"), len(one["questions"])) for one in made.document["groups"]]
        assert [(None, None, 1), ("About you", "Briefly", 2), (None, None, 1)] == pages


IS_BLUE = leaf("one", "equal", 2)
CHOICE = field("multiple_choice", choices=AB)
SEVERAL = field("multiple_choice", choices=AB, allow_multiple_selection=True)


class TestJumps:
    @pytest.mark.parametrize(
        ("first", "operator", "value", "condition"),
        [
            (CHOICE, "always", None, None),
            (CHOICE, "is", ["blue"], IS_BLUE),
            (CHOICE, "equal", "Blue", IS_BLUE),
            (CHOICE, "is_not", ["blue"], leaf("one", "not_equal", 2)),
            (SEVERAL, "is", ["red"], leaf("one", "contains", 1)),
            (field("yes_no"), "is", True, leaf("one", "equal", value=True)),
            (field("legal"), "is", False, leaf("one", "equal", value=False)),
            (field("number"), "greater_equal_than", 5, leaf("one", "greater_equal", 5)),
            (field("nps"), "lower_than", "7", leaf("one", "less", 7)),
            (field("short_text"), "begins_with", "a", leaf("one", "begins_with", "a")),
            (field("short_text"), "equal", "", leaf("one", "is_empty")),
            (field("date"), "earlier_than", "2026-05-01", leaf("one", "less", "2026-05-01")),
            (field("email"), "ends_with", ".gr", leaf("one:email", "ends_with", ".gr")),
            (field("yes_no"), "answered", None, leaf("one", "is_not_empty")),
        ],
    )
    def test_taken(self, first: dict[str, Any], operator: str, value: Any, condition: object) -> None:
        found, made = jumps_of(first, jump("three", operator, value))
        assert [{"target_question_id": "three", "conditions": condition}] == found
        assert line_of(made, "condition").whole
        assert [1, 2] == [len(one["questions"]) for one in made.document["groups"]]

    @pytest.mark.parametrize(
        ("first", "action"),
        [
            (CHOICE, jump("one")),
            (CHOICE, jump("nowhere")),
            (CHOICE, jump("three", "is", ["green"])),
            (CHOICE, jump("three", "is", ["blue"], of="two")),
            (CHOICE, jump("three", "resembles", ["blue"])),
            (field("number"), jump("three", "greater_than", "many")),
            (field("file_upload"), jump("three", "equal", "x")),
            (CHOICE, jump("three") | {"condition": {"op": "equal", "vars": [{"type": "variable", "value": "score"}]}}),
            (CHOICE, jump("three") | {"condition": {"op": "or", "vars": []}}),
        ],
    )
    def test_unknown_ones_are_told(self, first: dict[str, Any], action: dict[str, Any]) -> None:
        found, made = jumps_of(first, action)
        assert not found
        assert ("left_out", False) == (line_of(made, "condition").outcome, line_of(made, "condition").whole)

    def test_trees_and_hidden_values(self) -> None:
        hidden = {"op": "equal", "vars": [{"type": "hidden", "value": "plan"}, {"type": "constant", "value": "gold"}]}
        blue = jump("", "is", ["blue"])["condition"]
        action = jump("three") | {"condition": {"op": "and", "vars": [hidden, {"op": "or", "vars": [blue, hidden]}]}}
        gold = {"subject": "questionnaire_metadata:plan", "operator": "equal", "value": "gold"}
        assert {"all": [gold, {"any": [IS_BLUE, gold]}]} == jumps_of(CHOICE, action)[0][0]["conditions"]

    @pytest.mark.parametrize(("joint", "expected"), [("or", None), ("and", IS_BLUE)])
    def test_what_always_holds_in_a_tree(self, joint: str, expected: object) -> None:
        below = [jump("", "is", ["blue"])["condition"], {"op": "always", "vars": []}]
        found, _ = jumps_of(CHOICE, jump("three") | {"condition": {"op": joint, "vars": below}})
        assert [{"target_question_id": "three", "conditions": expected}] == found

    def test_of_a_field_that_is_not_there(self) -> None:
        made = read(form(CHOICE, logic=logic(jump("one"), ref="gone")))
        line = line_of(made, "condition", "gone")
        assert ("left_out", False) == (line.outcome, line.whole)

    def test_rows_of_a_matrix(self) -> None:
        rows = [field("multiple_choice", "price", "Price", choices=AB)]
        found, _ = jumps_of(field("matrix", fields=rows), jump("three", "is", ["red"], of="price"))
        assert {"subject": "question:one:price", "operator": "equal", "value": 1} == found[0]["conditions"]

    def test_to_a_group(self) -> None:
        group = field("group", "g", fields=[field("yes_no", "inside")])
        made = read(form(CHOICE, field("yes_no", "two"), group, logic=logic(jump("g"))))
        assert "inside" == asked(made)[0]["jumps"][0]["target_question_id"]

    def test_calculations_are_told(self) -> None:
        made = read(form(CHOICE, field("yes_no", "two"), logic=logic(jump("two"), {"action": "add", "details": {}})))
        assert "The form calculates with answers. This is left out." == told(made, "setting", "logic")


BUTTON = {"show_button": True, "button_mode": "redirect"}


class TestEndings:
    def test_by_condition(self) -> None:
        said = {"title": "Come *back*", "properties": {"description": "_Soon_, {{field:one}}"}}
        other = {**THANKS, "ref": "other", **said}
        action = jump("other", "is", ["blue"], kind="thankyou")
        made = read(form(CHOICE, field("yes_no", "two"), thankyou_screens=[THANKS, other], logic=logic(action)))
        first = {"key": "other", "title": "Come back", "text": "Soon, {{ answer.one | … }}", "conditions": IS_BLUE}
        assert [first, {"key": "end", "title": "Thank you"}] == made.document["endings"]
        assert [{"target_question_id": None, "conditions": IS_BLUE}] == asked(made)[0]["jumps"]

    def test_always_behind_the_last_question(self) -> None:
        other = {**THANKS, "ref": "other"}
        action = jump("other", kind="thankyou")
        made = read(form(CHOICE, thankyou_screens=[THANKS, other], logic=logic(action)))
        assert ["other"] == [one["key"] for one in made.document["endings"] if "conditions" not in one][:1]

    @pytest.mark.parametrize(
        ("screen", "ending", "outcome"),
        [
            (
                {"type": "url_redirect", "properties": {"redirect_url": "https://shop.example/x"}},
                {"button_label": "shop.example", "button_url": "https://shop.example/x"},
                "changed",
            ),
            (
                {"properties": {**BUTTON, "button_text": "Shop", "redirect_url": "https://shop.example"}},
                {"button_label": "Shop", "button_url": "https://shop.example"},
                "taken",
            ),
            ({"properties": {**BUTTON, "redirect_url": "http://shop.example"}}, {}, "changed"),
            ({"attachment": {"href": "x"}}, {}, "changed"),
        ],
    )
    def test_buttons(self, screen: dict[str, Any], ending: dict[str, Any], outcome: str) -> None:
        made = read(form(CHOICE, thankyou_screens=[THANKS | screen]))
        assert [{"key": "end", "title": "Thank you", **ending}] == made.document["endings"]
        assert outcome == line_of(made, "ending").outcome

    @pytest.mark.parametrize(
        ("second", "sentence"),
        [
            ({"ref": "two"}, "No jump leads to this ending"),
            ({"ref": "end", "properties": {"redirect_url": "https://www.typeform.com/x"}}, "advertises Typeform"),
        ],
    )
    def test_left_out(self, second: dict[str, Any], sentence: str) -> None:
        made = read(form(CHOICE, thankyou_screens=[THANKS, THANKS | second]))
        assert sentence in told(made, "ending", second["ref"])


class TestTexts:
    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            ("{{field:one}}", "{{ answer.one | … }}"),
            ("{{hidden:plan}}", "{{ questionnaire.plan | … }}"),
            ("{{hidden:2nd plan}}", "…"),
            ("{{var:score}}", "…"),
            ("{{field:two}}", "…"),
            ("{{field:none}}", "…"),
            ("*bold* and _slanted_", "bold and slanted"),
            ("2*3*4 snake_case_name", "2*3*4 snake_case_name"),
            ("{{x}}", "{ {x}}"),
        ],
    )
    def test_titles(self, written: str, expected: str) -> None:
        made = read(form(field("short_text"), field("short_text", "two", f"Why {written}?")))
        assert f"Why {expected}?" == asked(made)[1]["title"]
        assert ("…" != expected) == line_of(made, "question", "two").whole

    def test_welcome(self) -> None:
        screen = {"ref": "w", "title": "Hello", "properties": {"description": "Five minutes."}}
        more = {"ref": "v", "title": "Welcome back"}
        made = read(form(field("yes_no"), welcome_screens=[screen, more], language="de"))
        assert {"de": {"welcome": "Hello\nFive minutes.\nWelcome back"}} == made.document["pages"]
        assert line_of(made, "text", "w").whole

    def test_hidden_values(self) -> None:
        made = read(form(field("yes_no"), hidden=["order", "shop"]))
        assert "Send these values as metadata: order, shop." == told(made, "setting", "hidden")


def test_passes_the_check_of_our_files() -> None:
    fields = [CHOICE, field("short_text", "two", "Why {{field:one}}?"), field("nps", "three")]
    content = form(*fields, logic=logic(jump("three", "is", ["blue"])), thankyou_screens=[THANKS])
    made = Taken(content)
    assert ["single_choice", "text", "nps"] == [one.type for one in made.definition.questions()]
    assert foreign.Summary(3, 3, 1, 1, 0) == foreign.Summary.of(made.lines)
    assert (typeform.FORMAT, read(content)) == foreign.read(content)
