"""Answers: what is refused for each type, what a posted page means, which questions and pages an instance has."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core.answers import forms as answer_forms
from afterword.core.answers import progress, values
from afterword.core.answers.forms import read_date, read_number
from afterword.core.answers.progress import PageSequence
from afterword.core.answers.values import Given, InvalidAnswer
from afterword.core.questionnaires.conditions import Leaf
from afterword.core.questionnaires.definition import Definition, Group
from afterword.core.questionnaires.question_types import TYPES, Choice, Jump, Question, Row, Translation

CHOICES = (
    Choice(1, "One"),
    Choice(2, "Two"),
    Choice(3, "Three"),
    Choice(8, "Other", other=True),
    Choice(9, "None of them", exclusive=True),
)


def question(type_name: str, question_id: str = "Q", **fields: Any) -> Question:
    defaults: dict[str, dict[str, Any]] = {
        "rating": {"scale_min": 0, "scale_max": 10, "style": "numbers"},
        "smileys": {"scale_min": 1, "scale_max": 3},
        "single_choice": {"choices": CHOICES},
        "multiple_choice": {"choices": CHOICES, "choices_min": 0},
        "matrix": {"choices": CHOICES[:3], "rows": (Row("r1", "Speed"), Row("r2", "Price"))},
        "ranking": {"choices": CHOICES[:3]},
        "text": {"length_max": 10, "multiline": True},
        "number": {"decimals": 2, "number_min": 0, "number_max": 1000},
        "date": {"date_min": "2026-01-01", "date_max": "2026-12-31"},
        "contact": {"contact_fields": ("name", "email", "phone")},
    }
    values: dict[str, Any] = {"title": "?", **defaults.get(type_name, {}), **fields}
    return Question(question_id=question_id, type=type_name, **values)


def code_of(asked: Question, value: object, other_text: str | None = None) -> str:
    with pytest.raises(InvalidAnswer) as refusal:
        values.check(asked, value, other_text)
    return refusal.value.code


class TestCheck:
    @pytest.mark.parametrize(
        ("type_name", "value", "code"),
        [
            ("nps", None, "wrong_type"),
            ("nps", "9", "wrong_type"),
            ("nps", 9.0, "wrong_type"),
            ("nps", True, "wrong_type"),
            ("nps", 11, "out_of_range"),
            ("nps", -1, "out_of_range"),
            ("csat", 0, "out_of_range"),
            ("csat", 6, "out_of_range"),
            ("ces", 8, "out_of_range"),
            ("rating", 11, "out_of_range"),
            ("smileys", 4, "out_of_range"),
            ("single_choice", 4, "unknown_value"),
            ("single_choice", [1], "wrong_type"),
            ("single_choice", "1", "wrong_type"),
            ("multiple_choice", 1, "wrong_type"),
            ("multiple_choice", [], "too_few"),
            ("multiple_choice", [1, 4], "unknown_value"),
            ("multiple_choice", [1, 1], "duplicate"),
            ("multiple_choice", [1, "2"], "wrong_type"),
            ("multiple_choice", [1, 9], "exclusive"),
            ("multiple_choice", [1] * 1000, "duplicate"),
            ("text", 7, "wrong_type"),
            ("text", " \n ", "too_short"),
            ("text", "\x00\x01", "too_short"),
            ("text", "x" * 11, "too_long"),
            ("statement", "anything", "unknown_value"),
            ("matrix", [1, 2], "wrong_type"),
            ("matrix", {}, "too_few"),
            ("matrix", {"r1": 4}, "unknown_value"),
            ("matrix", {"r1": "1"}, "wrong_type"),
            ("matrix", {"r1": None}, "wrong_type"),
            ("matrix", {"r1": 1, "r9": 1}, "unknown_value"),
            ("ranking", 1, "wrong_type"),
            ("ranking", [], "too_few"),
            ("ranking", [1, 1], "duplicate"),
            ("ranking", [1, 4], "unknown_value"),
            ("ranking", [True, 2], "wrong_type"),
            ("number", "7", "wrong_type"),
            ("number", True, "wrong_type"),
            ("number", float("nan"), "wrong_type"),
            ("number", float("inf"), "wrong_type"),
            ("number", 1.005, "invalid_format"),
            ("number", -0.01, "out_of_range"),
            ("number", 1000.01, "out_of_range"),
            ("number", 10**18, "too_long"),
            ("number", 1e300, "too_long"),
            ("number", 5e-324, "too_long"),
            ("date", 20260101, "wrong_type"),
            ("date", "2026-02-29", "invalid_format"),
            ("date", "20260101", "invalid_format"),
            ("date", "2026-01-01T00:00", "invalid_format"),
            ("date", "\u0662\u0660\u0662\u0666-\u0660\u0661-\u0660\u0661", "invalid_format"),
            ("date", "2025-12-31", "out_of_range"),
            ("date", "2027-01-01", "out_of_range"),
            ("consent", 1, "wrong_type"),
            ("consent", "true", "wrong_type"),
            ("contact", "ann@example.com", "wrong_type"),
            ("contact", {}, "too_few"),
            ("contact", {"name": " "}, "too_few"),
            ("contact", {"name": 7}, "wrong_type"),
            ("contact", {"fax": "1"}, "unknown_value"),
            ("contact", {"preferred_time": "noon"}, "unknown_value"),  # not asked for here
            ("contact", {"name": "x" * 321}, "too_long"),
            ("contact", {"email": "ann at example"}, "invalid_address"),
            ("contact", {"phone": "call me"}, "invalid_address"),
            ("contact", {"phone": "12 34"}, "invalid_address"),
        ],
    )
    def test_refused(self, type_name: str, value: object, code: str) -> None:
        assert code == code_of(question(type_name), value)

    @pytest.mark.parametrize(
        ("type_name", "value", "part"),
        [
            ("matrix", {"r1": 1}, "r2"),
            ("consent", False, None),
            ("contact", {"name": "Ann", "phone": "210 1234567"}, "email"),
            ("contact", {"name": "Ann", "email": " ", "phone": "210 1234567"}, "email"),
        ],
    )
    def test_required_means_all_of_it(self, type_name: str, value: object, part: str | None) -> None:
        with pytest.raises(InvalidAnswer) as refusal:
            values.check(question(type_name, required=True), value)
        assert ("required", part) == (refusal.value.code, refusal.value.part)
        assert values.check(question(type_name), value)

    def test_places_of_a_ranking(self) -> None:
        assert "too_many" == code_of(question("ranking", rank_max=2), [1, 2, 3])
        assert [3, 1] == values.check(question("ranking", rank_max=2), [3, 1]).value

    def test_bounds_of_choices(self) -> None:
        asked = question("multiple_choice", choices_min=2, choices_max=2)
        assert "too_few" == code_of(asked, [1])
        assert "too_many" == code_of(asked, [1, 2, 3])
        assert [1, 2] == values.check(asked, [1, 2]).value
        assert [9] == values.check(asked, [9]).value  # whoever says "none" need not say it twice

    def test_other_text_without_its_choice(self) -> None:
        assert "exclusive" == code_of(question("single_choice"), 1, "because")
        assert "exclusive" == code_of(question("nps"), 1, "because")
        assert "too_long" == code_of(question("single_choice"), 8, "x" * 501)

    @pytest.mark.parametrize(
        ("type_name", "value", "stored"),
        [
            ("nps", 0, 0),
            ("nps", 10, 10),
            ("rating", 0, 0),
            ("smileys", 3, 3),
            ("single_choice", 8, 8),
            ("multiple_choice", [3, 1], [1, 3]),
            ("text", "  a\r\nb ", "a\nb"),
            ("text", "a\u0000b\ud800", "ab"),
            ("text", "παράδοση", "παράδοση"),
            ("matrix", {"r2": 3, "r1": 1}, {"r1": 1, "r2": 3}),
            ("matrix", {"r2": 3}, {"r2": 3}),
            ("ranking", [3, 1, 2], [3, 1, 2]),
            ("ranking", [2], [2]),
            ("number", 0, 0),
            ("number", -0.0, 0),
            ("number", 12.5, 12.5),
            ("number", 1000.0, 1000),
            ("date", "2026-02-28", "2026-02-28"),
            ("consent", True, True),
            ("consent", False, False),
            (
                "contact",
                {"email": " ann@example.com", "name": "Ann\nLee"},
                {"name": "Ann Lee", "email": "ann@example.com"},
            ),
            ("contact", {"name": "", "phone": "+30 (210) 123-4567"}, {"phone": "+30 (210) 123-4567"}),
        ],
    )
    def test_ok(self, type_name: str, value: object, stored: object) -> None:
        assert Given(stored) == values.check(question(type_name), value)  # type: ignore[arg-type]

    def test_one_line(self) -> None:
        assert "a b" == values.check(question("text", multiline=False), " a\n b").value

    def test_other_text(self) -> None:
        assert Given(8, "Rain") == values.check(question("single_choice"), 8, "  Rain ")
        assert Given([1, 8], "Rain") == values.check(question("multiple_choice"), [8, 1], "Rain")
        assert Given(8) == values.check(question("single_choice"), 8, " ")


class TestReadForm:
    @pytest.mark.parametrize(
        ("type_name", "values", "code"),
        [
            ("nps", ["ten"], "wrong_type"),
            ("nps", ["\u0663"], "wrong_type"),  # digits of other scripts
            ("nps", ["1e1"], "wrong_type"),
            ("nps", ["99999999999999999999"], "wrong_type"),
            ("nps", ["11"], "out_of_range"),
            ("nps", ["1", "2"], "too_many"),
            ("single_choice", ["7"], "unknown_value"),
            ("multiple_choice", ["1", "9"], "exclusive"),
            ("text", ["x" * 11], "too_long"),
            ("number", ["twelve"], "wrong_type"),
            ("number", ["1,2,3"], "wrong_type"),
            ("number", ["1.005"], "invalid_format"),
            ("number", ["-1"], "out_of_range"),
            ("number", ["9" * 15], "out_of_range"),
            ("number", ["9" * 16], "wrong_type"),
            ("date", ["tomorrow"], "invalid_format"),
            ("date", ["1/2/2026"], "invalid_format"),
            ("date", ["31.2.2026"], "invalid_format"),
            ("consent", ["yes"], "wrong_type"),
        ],
    )
    def test_refused(self, type_name: str, values: list[str], code: str) -> None:
        with pytest.raises(InvalidAnswer) as refusal:
            answer_forms.read_form(question(type_name), {"q_Q": values})
        assert code == refusal.value.code

    @pytest.mark.parametrize(
        ("type_name", "fields", "code", "part"),
        [
            ("matrix", {"r1": "x"}, "wrong_type", "r1"),
            ("matrix", {"r2": "7"}, "unknown_value", "r2"),
            ("ranking", {"1": "0"}, "out_of_range", "1"),
            ("ranking", {"1": "4"}, "out_of_range", "1"),
            ("ranking", {"1": "first"}, "wrong_type", "1"),
            ("ranking", {"1": "2", "3": "2"}, "duplicate", "1"),
            ("contact", {"name": "Ann", "email": "ann"}, "invalid_address", "email"),
        ],
    )
    def test_refused_part(self, type_name: str, fields: dict[str, str], code: str, part: str) -> None:
        with pytest.raises(InvalidAnswer) as refusal:
            answer_forms.read_form(question(type_name), {f"q_Q_{name}": [text] for name, text in fields.items()})
        assert (code, part) == (refusal.value.code, refusal.value.part)

    @pytest.mark.parametrize(
        ("type_name", "fields", "answer"),
        [
            ("nps", {}, None),
            ("nps", {"q_Q": [""]}, None),
            ("nps", {"q_other": ["3"]}, None),
            ("nps", {"q_Q": ["7"]}, Given(7)),
            ("nps", {"q_Q": ["7", "7"]}, Given(7)),
            ("text", {"q_Q": ["  "]}, None),
            ("text", {"q_Q": ["\x00"]}, None),
            ("text", {"q_Q": [" fine "]}, Given("fine")),
            ("statement", {"q_Q": ["7"]}, None),
            ("multiple_choice", {"q_Q": ["3", "1", "3"]}, Given([1, 3])),
            ("multiple_choice", {"q_Q": []}, None),
            ("multiple_choice", {"q_Q": ["1"], "q_Q_other": ["Rain"]}, Given([1, 8], "Rain")),
            ("multiple_choice", {"q_Q_other": [" "]}, None),
            ("single_choice", {"q_Q": ["8"], "q_Q_other": ["Rain"]}, Given(8, "Rain")),
            ("single_choice", {"q_Q_other": ["Rain"]}, Given(8, "Rain")),
            ("single_choice", {"q_Q": ["1"], "q_Q_other": ["Rain"]}, Given(1)),
            ("matrix", {"q_Q": ["1"]}, None),
            ("matrix", {"q_Q_r1": [" "], "q_Q_r9": ["1"]}, None),
            ("matrix", {"q_Q_r2": ["3"], "q_Q_r1": ["1"]}, Given({"r1": 1, "r2": 3})),
            ("ranking", {"q_Q_1": [""], "q_Q_2": [""]}, None),
            ("ranking", {"q_Q_1": ["3"], "q_Q_2": ["1"], "q_Q_3": ["2"]}, Given([2, 3, 1])),
            ("ranking", {"q_Q_1": ["3"], "q_Q_2": ["1"]}, Given([2, 1])),  # a place left out closes
            ("number", {"q_Q": [" "]}, None),
            ("number", {"q_Q": ["12,50"]}, Given(12.5)),
            ("date", {"q_Q": ["2026-11-21"]}, Given("2026-11-21")),
            ("date", {"q_Q": ["21.11.2026"]}, Given("2026-11-21")),
            ("consent", {}, None),
            ("consent", {"q_Q": ["1"]}, Given(value=True)),
            ("consent", {"q_Q": ["0"]}, Given(value=False)),
            ("contact", {"q_Q_name": [" "], "q_Q_email": [""]}, None),
            ("contact", {"q_Q_name": ["Ann"], "q_Q_fax": ["1"]}, Given({"name": "Ann"})),
        ],
    )
    def test_ok(self, type_name: str, fields: dict[str, list[str]], answer: Given | None) -> None:
        assert answer == answer_forms.read_form(question(type_name), fields)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7), ("-7", -7), ("\u22127", -7), ("+7", 7), ("007", 7), ("1,5", 1.5), ("1.5", 1.5),
        ("\u0663\u066b\u0665", 3.5),
        ("۱۲", 12), ("1 000", 1000), ("1\u202f000,5", 1000.5), ("1'000.50", 1000.5), ("1.000,5", 1000.5),
        ("1,000.5", 1000.5), ("1.000.000", 1_000_000), ("1,000", 1.0), ("", None), ("-", None), ("1e3", None),
        ("1.5.2", None), ("1,00,000", None), ("1.000,000.5", None), ("0x10", None), ("½", None), ("1 2", None),
        ("1" * 400, None), (" " * 400, None),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(text: str, number: float | None) -> None:
    assert number == read_number(text)


@pytest.mark.parametrize(
    ("text", "day"),
    [("2026-11-21", "2026-11-21"), ("1.2.2026", "2026-02-01"), ("01. 02. 2026", "2026-02-01"),
     ("\u0662\u0660\u0662\u0666-11-21", "2026-11-21"),
     ("1/2/2026", "1/2/2026"), ("1.2.26", "1.2.26")],
)  # fmt: skip
def test_dates_as_people_write_them(text: str, day: str) -> None:
    assert day == read_date(text)


class TestSegmentAndLabel:
    @pytest.mark.parametrize(
        ("type_name", "value", "segment"),
        [
            ("nps", 0, "detractor"), ("nps", 6, "detractor"), ("nps", 7, "passive"), ("nps", 8, "passive"),
            ("nps", 9, "promoter"), ("nps", 10, "promoter"), ("csat", 2, "dissatisfied"), ("csat", 3, "neutral"),
            ("csat", 4, "satisfied"), ("ces", 3, "hard"), ("ces", 4, "neutral"), ("ces", 5, "easy"),
            ("rating", 10, None), ("text", "text", None), ("single_choice", 1, None),
        ],
    )  # fmt: skip
    def test_segment(self, type_name: str, value: object, segment: str | None) -> None:
        assert segment == values.segment(question(type_name), value)

    @pytest.mark.parametrize("type_name", ["nps", "csat", "ces"])
    def test_every_score_has_one(self, type_name: str) -> None:
        asked = question(type_name)
        assert None not in {values.segment(asked, value) for value in asked.scale}
        assert len(TYPES[type_name].segments) == 3

    def test_label(self) -> None:
        asked = question("multiple_choice", translations={"el": Translation(choices={1: "Ένα"})})
        assert "Ένα, Two" == values.label(asked, [1, 2], "el")
        assert "Other" == values.label(question("single_choice"), 8, "en")
        assert values.label(question("nps"), 9, "en") is None
        assert values.label(asked, [77], "en") is None

    def test_label_of_several(self) -> None:
        texts = Translation(choices={1: "Ένα"}, rows={"r1": "Ταχύτητα"})
        matrix = question("matrix", translations={"el": texts}, randomize=True)
        assert "Ταχύτητα: Ένα, Price: Two" == values.label(matrix, {"r2": 2, "r1": 1}, "el")
        assert "Three, One" == values.label(question("ranking"), [3, 1], "en")
        for type_name, value in (("number", 1), ("date", "2026-01-01"), ("consent", True), ("contact", {"name": "1"})):
            assert values.label(question(type_name), value, "en") is None


class TestFacts:
    def test_by_type(self) -> None:
        assert {"question:Q": date(2026, 1, 1)} == values.facts_of(question("date"), "2026-01-01")
        assert {"question:Q": 1.5} == values.facts_of(question("number"), 1.5)
        assert {"question:Q": {"r1": 2}, "question:Q:r1": 2} == values.facts_of(question("matrix"), {"r1": 2})
        assert "a@b.c" == values.facts_of(question("contact"), {"email": "a@b.c"})["question:Q:email"]

    def test_kinds_name_them(self) -> None:
        assert {"Q": "presence", "Q:r1": "integer", "Q:r2": "integer"} == question("matrix").kinds
        assert {"name", "email", "phone"} == {name[2:] for name in question("contact").kinds if name != "Q"}
        assert {"Q": "date"} == question("date").kinds

    @pytest.mark.parametrize(
        ("type_name", "value", "subject", "operator", "wanted", "holds"),
        [
            ("matrix", {"r1": 1}, "question:a:r1", "less", 2, True),
            ("matrix", {"r1": 1}, "question:a:r2", "less", 2, False),
            ("matrix", {"r1": 1}, "question:a", "is_not_empty", None, True),
            ("ranking", [2, 1], "question:a", "contains", 1, True),
            ("number", 12.5, "question:a", "greater", 12, True),
            ("date", "2026-05-01", "question:a", "less", "2026-04-30", False),
            ("date", "2026-05-01", "question:a", "equal", "2026-05-01", True),
            ("consent", True, "question:a", "equal", True, True),
            ("contact", {"email": "Ann@Example.com"}, "question:a:email", "ends_with", "@example.com", True),
        ],
    )
    def test_jumps_read_them(
        self,
        type_name: str,
        value: Any,
        subject: str,
        operator: str,
        wanted: object,
        holds: bool,  # noqa: FBT001
    ) -> None:
        jump = Jump(None, Leaf(subject, operator, wanted))
        groups = (
            Group(group_id="G1", questions=(question(type_name, "a", jumps=(jump,)),)),
            Group(group_id="G2", questions=(question("nps", "b"),)),
        )
        whole = Definition(default_locale="en", locales=("en",), groups=groups)
        assert (["a"] if holds else ["a", "b"]) == [
            one.question_id for one in PageSequence(whole, ["a", "b"], {"a": Given(value)}).path
        ]


def less(question_id: str, value: int) -> Leaf:
    return Leaf(f"question:{question_id}", "less", value)


def way(**changes: Any) -> Definition:
    """Four pages: a | b c | d | e, where a low score in `a` leads to `c`, and a low one in `c` to the end."""
    jumps: dict[str, tuple[Jump, ...]] = {"a": (Jump("c", less("a", 7)),), "c": (Jump(None, less("c", 3)),)}
    jumps |= changes.get("jumps", {})

    def one(name: str) -> Question:
        return question("nps", name, required=name in "ce", jumps=jumps.get(name, ()), **changes.get(name, {}))

    groups = tuple(
        Group(group_id=f"G{place}", questions=tuple(one(name) for name in names), **changes.get(f"G{place}", {}))
        for place, names in enumerate(["a", "bc", "d", "e"], 1)
    )
    return Definition(default_locale="en", locales=("en",), groups=groups)


ALL = ["a", "b", "c", "d", "e"]


def shown(whole: Definition, question_ids: list[str], given: dict[str, int]) -> list[str]:
    pages = PageSequence(whole, question_ids, {name: Given(value) for name, value in given.items()}).reachable
    return ["".join(one.question_id for one in page) for page in pages.values()]


class TestDeal:
    def test_what_is_switched_off(self) -> None:
        assert ["a", "c", "e"] == progress.draw_questions(
            way(b={"enabled": False}, G3={"enabled": False}), draw=lambda: 0.5
        )

    @pytest.mark.parametrize(
        ("draw", "question_ids"),
        [(0.0, ALL), (0.2999, ALL), (0.3, ["a", "c", "d", "e"]), (0.999, ["a", "c", "d", "e"])],
    )
    def test_probability(self, draw: float, question_ids: list[str]) -> None:
        assert question_ids == progress.draw_questions(way(b={"display_probability": 30}), draw=lambda: draw)

    def test_draws_only_where_needed(self) -> None:
        draws = iter([0.9])
        assert ["a", "c", "d", "e"] == progress.draw_questions(
            way(b={"display_probability": 30}), draw=lambda: next(draws)
        )

    def test_a_statement_is_always_shown(self) -> None:
        group = Group(group_id="G", questions=(question("statement", "s", display_probability=1),))
        whole = Definition(default_locale="en", locales=("en",), groups=(group,))
        assert ["s"] == progress.draw_questions(whole, draw=lambda: 0.99)


class TestPages:
    @pytest.mark.parametrize(
        ("question_ids", "given", "pages"),
        [
            (ALL, {}, ["a", "bc", "d", "e"]),
            (ALL, {"a": 9}, ["a", "bc", "d", "e"]),
            (ALL, {"a": 3}, ["a", "c", "d", "e"]),  # enters the second page at its second question
            (ALL, {"a": 3, "c": 1}, ["a", "c"]),
            (ALL, {"c": 1}, ["a", "bc"]),
            (["a", "b", "d", "e"], {"a": 3}, ["a", "d", "e"]),  # the target is not among the questions: on from there
            (["b", "e"], {}, ["b", "e"]),
            ([], {}, []),
        ],
    )
    def test_way(self, question_ids: list[str], given: dict[str, int], pages: list[str]) -> None:
        assert pages == shown(way(), question_ids, given)

    @pytest.mark.parametrize(
        ("layout", "given", "pages"),
        [
            ("by_question", {}, ["1a", "2b", "3c", "4d", "5e"]),
            ("by_question", {"a": 3}, ["1a", "3c", "4d", "5e"]),
            ("by_question", {"a": 3, "c": 1}, ["1a", "3c"]),
            ("one_page", {"a": 3, "c": 1}, ["1abcde"]),  # nothing is hidden on a page
            ("by_group", {"a": 3, "c": 1}, ["1a", "2c"]),
        ],
    )
    def test_layouts(self, layout: Any, given: dict[str, int], pages: list[str]) -> None:
        known = {name: Given(value) for name, value in given.items()}
        found = PageSequence(way(), ALL, known, layout=layout).reachable
        assert pages == [f"{number}{''.join(one.question_id for one in page)}" for number, page in found.items()]

    def test_statements_stand_before_their_question(self) -> None:
        names = ["s1", "a", "s2", "s3", "b", "s4"]
        asked = tuple(question("statement" if name[0] == "s" else "nps", name) for name in names)
        whole = Definition(default_locale="en", locales=("en",), groups=(Group(group_id="G", questions=asked),))
        found = PageSequence(whole, names, {}, layout="by_question").pages
        assert ["s1a", "s2s3b", "s4"] == ["".join(one.question_id for one in page) for page in found]

    def test_first_jump_that_holds_wins(self) -> None:
        jumps = {"a": (Jump("d", less("a", 2)), Jump("e", less("a", 5)), Jump("c", None))}
        assert ["a", "d", "e"] == shown(way(jumps=jumps), ALL, {"a": 1})
        assert ["a", "e"] == shown(way(jumps=jumps), ALL, {"a": 4})
        assert ["a", "c", "d", "e"] == shown(way(jumps=jumps), ALL, {"a": 9})

    def test_inside_a_page_nothing_is_hidden(self) -> None:
        whole = way(jumps={"b": (Jump("d", less("b", 5)),)})
        assert ["a", "bc", "d", "e"] == shown(whole, ALL, {"b": 1})
        assert ["a", "b", "d", "e"] == [one.question_id for one in PageSequence(whole, ALL, {"b": Given(1)}).path]

    def test_metadata_decides_too(self) -> None:
        condition = Leaf("questionnaire_metadata:store_id", "equal", "7")
        whole = way(jumps={"a": (Jump(None, condition),)})
        facts = {"questionnaire_metadata:store_id": "7"}
        assert [1] == list(PageSequence(whole, ALL, {}, facts).reachable)

    @pytest.mark.parametrize(
        ("given", "number", "missing"),
        [
            ({}, None, ["c", "e"]),
            ({}, 2, ["c"]),
            ({}, 1, []),
            ({"c": 1}, None, []),  # to the end: nobody is asked e
            ({"c": 5}, None, ["e"]),
            ({"c": 5, "e": 5}, None, []),
        ],
    )
    def test_missing_required(self, given: dict[str, int], number: int | None, missing: list[str]) -> None:
        known = {name: Given(value) for name, value in given.items()}
        assert missing == PageSequence(way(), ALL, known).missing(number)

    def test_a_required_statement_is_never_missing(self) -> None:
        group = Group(group_id="G", questions=(question("statement", "s", required=True),))
        whole = Definition(default_locale="en", locales=("en",), groups=(group,))
        assert [] == PageSequence(whole, ["s"], {}).missing()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=3), below, max_size=2),
    max_leaves=5,
)
TYPE_NAMES = st.sampled_from(list(TYPES))


PARTS = st.dictionaries(st.sampled_from(["r1", "r2", "name", "email"]), st.integers(1, 3) | st.text(max_size=5))
VALUES = st.integers(0, 11) | st.lists(st.integers(1, 9), max_size=5) | PARTS | st.dates().map(str)


@given(type_name=TYPE_NAMES, value=JSON | VALUES)
def test_any_json_is_stored_the_same_twice_or_refused(type_name: str, value: object) -> None:
    asked = question(type_name)
    try:
        stored = values.check(asked, value)
    except InvalidAnswer:
        return
    assert stored == values.check(asked, stored.value)


TEXTS = st.lists(st.text(max_size=12) | st.sampled_from(["0", "1", "8", "9", "1,5", "2026-05-01"]), max_size=4)


@given(type_name=TYPE_NAMES, texts=TEXTS, fields=st.dictionaries(
    st.sampled_from(["other", "r1", "r2", "1", "2", "3", "name", "email", "phone"]), TEXTS))  # fmt: skip
def test_any_form_is_what_json_would_be_or_refused(
    type_name: str, texts: list[str], fields: dict[str, list[str]]
) -> None:
    asked = question(type_name)
    try:
        answer = answer_forms.read_form(asked, {"q_Q": texts, **{f"q_Q_{name}": one for name, one in fields.items()}})
    except InvalidAnswer:
        return
    assert answer is None or answer == values.check(asked, answer.value, answer.other_text)


@given(
    question_ids=st.lists(st.sampled_from(ALL), unique=True),
    given_answers=st.dictionaries(st.sampled_from(ALL), st.integers(0, 10)),
)
def test_the_way_goes_forward_and_ends(question_ids: list[str], given_answers: dict[str, int]) -> None:
    whole = way()
    known = {name: Given(value) for name, value in given_answers.items()}
    sequence = PageSequence(whole, question_ids, known)
    path = [one.question_id for one in sequence.path]
    on_pages = [one.question_id for page in sequence.reachable.values() for one in page]
    assert path == sorted(set(path))
    assert set(path) <= set(on_pages) <= set(question_ids)
    groups = [whole.groups.index(whole.group_of(page[0].question_id)) for page in sequence.reachable.values()]
    assert groups == sorted(set(groups))
