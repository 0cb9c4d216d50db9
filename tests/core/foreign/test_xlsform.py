"""Forms of XLSForm."""

from typing import Any

import pytest

from afterword import errors
from afterword.core import foreign
from afterword.core.foreign import xlsform as reader
from afterword.core.wire import tables
from tests.core.foreign.forms import COLOURS, Taken, choices, leaf, xlsform

NOTE = {"type": "note", "name": "n", "label": "Note"}
COLOUR = {"type": "select_one c", "name": "colour", "label": "Colour"}
COLOURED = {"type": "select_multiple c", "name": "several", "label": "Several"}


def made(*rows: dict[str, Any], **settings: object) -> Taken:
    return Taken(xlsform(rows, COLOURS, settings))


class TestRefused:
    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"PK\x03\x04" + b"\x00" * 99, xlsform([NOTE])[:300]])
    def test_no_workbook(self, content: bytes) -> None:
        assert not reader.FORMAT.is_of(content)

    def test_another_workbook(self) -> None:
        content = xlsform([{"email": "ann@example.com"}])
        assert reader.FORMAT.is_of(content)
        with pytest.raises(errors.Invalid, match="not a file of XLSForm"):
            foreign.read(content)

    def test_one_that_unpacks_to_more_than_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tables, "UNPACKED_BYTES_MAX", 9_000)
        with pytest.raises(errors.TooLarge):
            foreign.read(xlsform([{**NOTE, "name": f"n{number}"} for number in range(400)]))

    def test_nothing_but_what_is_left_out(self) -> None:
        with pytest.raises(errors.Invalid, match="no question"):
            foreign.read(xlsform([{"type": "calculate", "name": "x", "calculation": "1"}]))


class TestTypes:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"type": "text"}, {"type": "text", "multiline": False}),
            ({"type": "text", "appearance": "multiline"}, {"type": "text", "multiline": True}),
            (
                {"type": "integer", "constraint": ". >= 1 and . <= 9"},
                {"type": "number", "decimals": 0, "number_min": 1, "number_max": 9},
            ),
            ({"type": "decimal", "constraint": ". > ${x}"}, {"type": "number", "decimals": 6, "number_min": None}),
            (
                {"type": "range", "parameters": "start=1 end=5 step=1", "appearance": "rating"},
                {"type": "rating", "scale_max": 5, "style": "stars"},
            ),
            (
                {"type": "range", "parameters": "start=0;end=100;step=5"},
                {"type": "number", "style": "slider", "number_max": 100},
            ),
            ({"type": "range", "parameters": "start=a"}, {"type": "rating", "scale_max": 10}),
            ({"type": "date"}, {"type": "date"}),
            ({"type": "time"}, {"type": "time"}),
            ({"type": "dateTime"}, {"type": "date_time"}),
            ({"type": "note"}, {"type": "statement"}),
            ({"type": "acknowledge", "required": "true()"}, {"type": "consent", "required": True}),
            ({"type": "image"}, {"type": "file", "file_types": ("picture",)}),
            ({"type": "file"}, {"type": "file"}),
            ({"type": "select one from c", "appearance": "minimal"}, {"type": "single_choice", "style": "dropdown"}),
            ({"type": "select_multiple c", "required": "yes"}, {"type": "multiple_choice", "required": True}),
            ({"type": "rank c", "parameters": "randomize = true"}, {"type": "ranking", "randomize": True}),
            ({"type": "select_one nowhere"}, {"type": "statement"}),
            ({"type": "geopoint"}, {"type": "statement"}),
        ],
    )
    def test_each(self, given: dict[str, Any], expected: dict[str, Any]) -> None:
        form = made({"name": "q", "label": "Q", "hint": "Help", **given}, NOTE)
        assert {**expected, "description": "Help"} == {
            name: getattr(form["q"], name) for name in (*expected, "description")
        }

    @pytest.mark.parametrize("kind", ["calculate", "start", "today", "hidden", "uri:deviceid"])
    def test_left_out(self, kind: str) -> None:
        form = made({"type": kind, "name": "q"}, NOTE)
        assert f"nothing like {kind}" in form.told("q", "setting")

    def test_repeats_are_left_out(self) -> None:
        begin = {"type": "begin repeat", "name": "r", "label": "Again"}
        form = made(begin, {**COLOUR, "name": "in"}, {"type": "end repeat"}, NOTE)
        assert ["n"] == [one.key for one in form.definition.questions()]
        assert ["left_out", "left_out"] == [form.line(name).outcome for name in ("r", "in")]

    def test_media_are_told(self) -> None:
        form = made({**NOTE, "media::image": "a.png"})
        assert "media::image" in form.told("n")

    @pytest.mark.parametrize("label", ["label", "label::English (en)"])
    def test_or_other(self, label: str) -> None:
        """Trap 20: the label of the other answer is in no sheet, so it is in one language."""
        named = [
            {"list_name": "c", "name": name, label: name, "label::French (fr)": name.upper()}
            for name in ("red", "blue")
        ]
        row = {"type": "select_one c or_other", "name": "q", label: "Which?", "label::French (fr)": "Lequel ?"}
        form = Taken(xlsform([row, NOTE], named))
        assert [(1, "red"), (2, "blue"), (3, "Other")] == choices(form["q"])
        assert [False, False, True] == [one.other for one in form["q"].choices]
        assert {1: "RED", 2: "BLUE"} == form["q"].translations["fr"].choices
        assert "in English in all languages" in form.told("q")


def test_groups() -> None:
    form = made(
        NOTE,
        {"type": "begin_group", "name": "g", "label": "Page", "relevant": "${n2} = 1"},
        COLOUR,
        {"type": "begin group", "name": "h", "label": "Inner", "relevant": "selected(${colour}, 'red')"},
        COLOURED,
        {"type": "end group"},
        {"type": "end_group"},
        {**NOTE, "name": "last"},
    )
    assert [(None, 1), ("Page", 3), (None, 1)] == [
        (group.title, len(group.questions)) for group in form.definition.groups
    ]
    assert ["n", "colour", "h", "several", "last"] == [one.key for one in form.definition.questions()]
    assert leaf("colour", "equal", 1) == form.show_if("several")
    assert "left_out" == form.line("g", "condition").outcome


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${colour} = 'blue'", leaf("colour", "equal", 2)),
        ("${colour} != \u2018blue\u2019", leaf("colour", "not_equal", 2)),
        ("${colour} = ''", leaf("colour", "is_empty")),
        ("selected(${several}, 'red')", leaf("several", "contains", 1)),
        ("not(selected(${several}, 'red'))", leaf("several", "not_contains", 1)),
        ("${age} > 17 and ${age} <= '65'", {"all": [leaf("age", "greater", 17), leaf("age", "less_equal", 65)]}),
        ("${ok} = 'OK'", leaf("ok", "equal", True)),
        ("string-length(${word}) > 0", leaf("word", "is_not_empty")),
        (
            "count-selected(${several}) >= 1 or ${day} > date('2026-01-01')",
            {"any": [leaf("several", "is_not_empty"), leaf("day", "greater", "2026-01-01")]},
        ),
        ("regex(${word}, 'a')", None),
        ("count-selected(${several}) > 1", None),
        ("${age} > ${colour}", None),
        ("${unknown} = 1", None),
    ],
)
def test_relevant(text: str, expected: object) -> None:
    kinds = {"age": "integer", "ok": "acknowledge", "word": "text", "day": "date"}
    asked = [{"type": kind, "name": name} for name, kind in kinds.items()]
    form = made(COLOUR, COLOURED, *asked, {**NOTE, "relevant": text})
    assert expected == form.show_if("n")
    assert (expected is not None) == form.line("n", "condition").whole


def test_languages_and_names_in_texts() -> None:
    rows = [
        {**COLOUR, "label": "", "Label::Ελληνικά": "Χρώμα", "label:English (en)": "Colour"},
        {**NOTE, "label": "", "Label::Ελληνικά": "Είπατε ${colour}", "label:English (en)": "You said ${colour} ${x}"},
    ]
    form = Taken(xlsform(rows, COLOURS, {"form_title": "Form", "default_language": "Ελληνικά"}))
    assert ("el", ("el", "en"), "Form") == (
        form.definition.default_locale,
        form.definition.locales,
        form.settings["title"],
    )
    assert "Είπατε {{ answer.colour | … }}" == form["n"].title
    assert "You said {{ answer.colour | … }} …" == form["n"].translations["en"].title
