"""Answers: what is refused for each type, what a posted page means, which questions and pages an instance has."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterword.core import answers, definition
from afterword.core.answers import Given, InvalidAnswer
from afterword.core.definition import Choice, Definition, Group, Jump, Question, Translation
from afterword.core.questions import TYPES

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
        "text": {"length_max": 10, "multiline": True},
    }
    values: dict[str, Any] = {"title": "?", **defaults.get(type_name, {}), **fields}
    return Question(question_id=question_id, type=type_name, **values)


def code_of(asked: Question, value: object, other_text: str | None = None) -> str:
    with pytest.raises(InvalidAnswer) as refusal:
        answers.check(asked, value, other_text)
    assert asked.question_id == refusal.value.question_id
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
        ],
    )
    def test_refused(self, type_name: str, value: object, code: str) -> None:
        assert code == code_of(question(type_name), value)

    def test_bounds_of_choices(self) -> None:
        asked = question("multiple_choice", choices_min=2, choices_max=2)
        assert "too_few" == code_of(asked, [1])
        assert "too_many" == code_of(asked, [1, 2, 3])
        assert [1, 2] == answers.check(asked, [1, 2]).value
        assert [9] == answers.check(asked, [9]).value  # whoever says "none" need not say it twice

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
        ],
    )
    def test_ok(self, type_name: str, value: object, stored: object) -> None:
        assert Given(stored) == answers.check(question(type_name), value)  # type: ignore[arg-type]

    def test_one_line(self) -> None:
        assert "a b" == answers.check(question("text", multiline=False), " a\n b").value

    def test_other_text(self) -> None:
        assert Given(8, "Rain") == answers.check(question("single_choice"), 8, "  Rain ")
        assert Given([1, 8], "Rain") == answers.check(question("multiple_choice"), [8, 1], "Rain")
        assert Given(8) == answers.check(question("single_choice"), 8, " ")


class TestReadForm:
    @pytest.mark.parametrize(
        ("type_name", "values", "code"),
        [
            ("nps", ["ten"], "wrong_type"),
            ("nps", ["٣"], "wrong_type"),  # digits of other scripts
            ("nps", ["1e1"], "wrong_type"),
            ("nps", ["99999999999999999999"], "wrong_type"),
            ("nps", ["11"], "out_of_range"),
            ("nps", ["1", "2"], "too_many"),
            ("single_choice", ["7"], "unknown_value"),
            ("multiple_choice", ["1", "9"], "exclusive"),
            ("text", ["x" * 11], "too_long"),
        ],
    )
    def test_refused(self, type_name: str, values: list[str], code: str) -> None:
        with pytest.raises(InvalidAnswer) as refusal:
            answers.read_form(question(type_name), {"q_Q": values})
        assert code == refusal.value.code

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
        ],
    )
    def test_ok(self, type_name: str, fields: dict[str, list[str]], answer: Given | None) -> None:
        assert answer == answers.read_form(question(type_name), fields)


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
        assert segment == answers.segment(question(type_name), value)

    @pytest.mark.parametrize("type_name", ["nps", "csat", "ces"])
    def test_every_score_has_one(self, type_name: str) -> None:
        asked = question(type_name)
        assert None not in {answers.segment(asked, value) for value in asked.scale}
        assert len(TYPES[type_name].segments) == 3

    def test_label(self) -> None:
        asked = question("multiple_choice", translations={"el": Translation(choices={1: "Ένα"})})
        assert "Ένα, Two" == answers.label(asked, [1, 2], "el")
        assert "Other" == answers.label(question("single_choice"), 8, "en")
        assert answers.label(question("nps"), 9, "en") is None
        assert answers.label(asked, [77], "en") is None


def less(question_id: str, value: int) -> definition.conditions.Leaf:
    return definition.conditions.Leaf(f"question:{question_id}", "less", value)


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


def shown(whole: Definition, dealt: list[str], given: dict[str, int]) -> list[str]:
    pages = answers.pages(whole, dealt, {name: Given(value) for name, value in given.items()})
    return ["".join(one.question_id for one in page.questions) for page in pages]


class TestDeal:
    def test_what_is_switched_off(self) -> None:
        assert ["a", "c", "e"] == answers.deal(way(b={"enabled": False}, G3={"enabled": False}), draw=lambda: 0.5)

    @pytest.mark.parametrize(
        ("draw", "dealt"), [(0.0, ALL), (0.2999, ALL), (0.3, ["a", "c", "d", "e"]), (0.999, ["a", "c", "d", "e"])]
    )
    def test_probability(self, draw: float, dealt: list[str]) -> None:
        assert dealt == answers.deal(way(b={"display_probability": 30}), draw=lambda: draw)

    def test_draws_only_where_needed(self) -> None:
        draws = iter([0.9])
        assert ["a", "c", "d", "e"] == answers.deal(way(b={"display_probability": 30}), draw=lambda: next(draws))

    def test_a_statement_is_always_shown(self) -> None:
        group = Group(group_id="G", questions=(question("statement", "s", display_probability=1),))
        whole = Definition(default_locale="en", locales=("en",), groups=(group,))
        assert ["s"] == answers.deal(whole, draw=lambda: 0.99)


class TestPages:
    @pytest.mark.parametrize(
        ("dealt", "given", "pages"),
        [
            (ALL, {}, ["a", "bc", "d", "e"]),
            (ALL, {"a": 9}, ["a", "bc", "d", "e"]),
            (ALL, {"a": 3}, ["a", "c", "d", "e"]),  # enters the second page at its second question
            (ALL, {"a": 3, "c": 1}, ["a", "c"]),
            (ALL, {"c": 1}, ["a", "bc"]),
            (["a", "b", "d", "e"], {"a": 3}, ["a", "d", "e"]),  # the target was not dealt: on from there
            (["b", "e"], {}, ["b", "e"]),
            ([], {}, []),
        ],
    )
    def test_way(self, dealt: list[str], given: dict[str, int], pages: list[str]) -> None:
        assert pages == shown(way(), dealt, given)

    def test_first_jump_that_holds_wins(self) -> None:
        jumps = {"a": (Jump("d", less("a", 2)), Jump("e", less("a", 5)), Jump("c", None))}
        assert ["a", "d", "e"] == shown(way(jumps=jumps), ALL, {"a": 1})
        assert ["a", "e"] == shown(way(jumps=jumps), ALL, {"a": 4})
        assert ["a", "c", "d", "e"] == shown(way(jumps=jumps), ALL, {"a": 9})

    def test_inside_a_page_nothing_is_hidden(self) -> None:
        whole = way(jumps={"b": (Jump("d", less("b", 5)),)})
        assert ["a", "bc", "d", "e"] == shown(whole, ALL, {"b": 1})
        assert ["a", "b", "d", "e"] == [one.question_id for one in answers.path(whole, ALL, {"b": Given(1)})]

    def test_metadata_decides_too(self) -> None:
        condition = definition.conditions.Leaf("questionnaire_metadata:store_id", "equal", "7")
        whole = way(jumps={"a": (Jump(None, condition),)})
        facts = {"questionnaire_metadata:store_id": "7"}
        assert ["G1"] == [page.group_id for page in answers.pages(whole, ALL, {}, metadata=facts)]

    @pytest.mark.parametrize(
        ("given", "group_id", "missing"),
        [
            ({}, None, ["c", "e"]),
            ({}, "G2", ["c"]),
            ({}, "G1", []),
            ({"c": 1}, None, []),  # to the end: nobody is asked e
            ({"c": 5}, None, ["e"]),
            ({"c": 5, "e": 5}, None, []),
        ],
    )
    def test_missing_required(self, given: dict[str, int], group_id: str | None, missing: list[str]) -> None:
        known = {name: Given(value) for name, value in given.items()}
        assert missing == answers.missing_required(way(), ALL, known, group_id=group_id)

    def test_a_required_statement_is_never_missing(self) -> None:
        group = Group(group_id="G", questions=(question("statement", "s", required=True),))
        whole = Definition(default_locale="en", locales=("en",), groups=(group,))
        assert [] == answers.missing_required(whole, ["s"], {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=3), below, max_size=2),
    max_leaves=5,
)
TYPE_NAMES = st.sampled_from(list(TYPES))


@given(type_name=TYPE_NAMES, value=JSON | st.integers(0, 11) | st.lists(st.integers(1, 9), max_size=5))
def test_any_json_is_stored_the_same_twice_or_refused(type_name: str, value: object) -> None:
    asked = question(type_name)
    try:
        stored = answers.check(asked, value)
    except InvalidAnswer:
        return
    assert stored == answers.check(asked, stored.value)


@given(type_name=TYPE_NAMES, values=st.lists(st.text(max_size=12) | st.sampled_from(["0", "1", "8", "9"]), max_size=4),
       other=st.lists(st.text(max_size=12), max_size=2))  # fmt: skip
def test_any_form_is_what_json_would_be_or_refused(type_name: str, values: list[str], other: list[str]) -> None:
    asked = question(type_name)
    try:
        answer = answers.read_form(asked, {"q_Q": values, "q_Q_other": other})
    except InvalidAnswer:
        return
    assert answer is None or answer == answers.check(asked, answer.value, answer.other_text)


@given(
    dealt=st.lists(st.sampled_from(ALL), unique=True),
    given_answers=st.dictionaries(st.sampled_from(ALL), st.integers(0, 10)),
)
def test_the_way_goes_forward_and_ends(dealt: list[str], given_answers: dict[str, int]) -> None:
    whole = way()
    known = {name: Given(value) for name, value in given_answers.items()}
    path = [one.question_id for one in answers.path(whole, dealt, known)]
    pages = answers.pages(whole, dealt, known)
    on_pages = [one.question_id for page in pages for one in page.questions]
    assert path == sorted(set(path))
    assert set(path) <= set(on_pages) <= set(dealt)
    places = [whole.groups.index(page.group) for page in pages]
    assert places == sorted(set(places))
