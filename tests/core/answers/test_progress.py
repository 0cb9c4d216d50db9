"""Which questions and pages an instance has."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from afterword.core.answers import progress
from afterword.core.answers.progress import SCORE_FACT, PageSequence, points, score
from afterword.core.answers.values import Given
from afterword.core.questionnaires.conditions import Leaf
from afterword.core.questionnaires.definition import Definition, Group
from afterword.core.questionnaires.question_types import Choice, Jump, Question
from tests.core.answers.questions import pages_of, question


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


@pytest.mark.parametrize(
    ("given", "layout", "pages", "missing"),
    [
        # c is asked under 7 in a, e only with an answer of at least 5 in c
        ({}, "by_group", "a b d", ""),
        ({"a": 3}, "by_group", "a bc d", "c"),
        ({"a": 3, "c": 5}, "by_group", "a bc d e", "e"),
        ({"a": 9, "c": 5}, "by_group", "a b d", ""),  # the answer to a hidden question counts as none
        ({"a": 3}, "by_question", "a b c d", "c"),
        ({"a": 3, "c": 9}, "one_page", "abcde", "e"),
        ({}, "one_page", "abd", ""),
    ],
)
def test_conditions(given: dict[str, int], layout: Any, pages: str, missing: str) -> None:
    asked = {"c": {"show_if": less("a", 7)}, "e": {"show_if": Leaf("question:c", "greater_equal", 5)}}
    sequence = sequence_of(way(jumps={"a": (), "c": ()}, **asked), ALL, given, layout=layout)
    found = sequence.reachable
    assert pages == " ".join("".join(one.question_id for one in page) for page in found.values())
    assert [*missing] == sequence.missing()
    if layout == "by_group":
        # d is the last page shown, and no answer to it shows e
        assert (False, "e" not in pages) == (sequence.is_last(1), sequence.is_last(3))
    assert sequence.total == (1 if layout == "one_page" else sequence.total)


def sequence_of(whole: Definition, question_ids: list[str], given: dict[str, int], **more: Any) -> PageSequence:
    return PageSequence(whole, question_ids, {name: Given(value) for name, value in given.items()}, **more)


def shown(whole: Definition, question_ids: list[str], given: dict[str, int]) -> list[str]:
    pages = sequence_of(whole, question_ids, given).reachable
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
        whole = pages_of([question("statement", "s", display_probability=1)])
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
        found = sequence_of(way(), ALL, given, layout=layout).reachable
        assert pages == [f"{number}{''.join(one.question_id for one in page)}" for number, page in found.items()]

    def test_statements_stand_before_their_question(self) -> None:
        names = ["s1", "a", "s2", "s3", "b", "s4"]
        whole = pages_of([question("statement" if name[0] == "s" else "nps", name) for name in names])
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
        assert missing == sequence_of(way(), ALL, given).missing(number)

    def test_a_required_statement_is_never_missing(self) -> None:
        assert [] == PageSequence(pages_of([question("statement", "s", required=True)]), ["s"], {}).missing()


@given(
    question_ids=st.lists(st.sampled_from(ALL), unique=True),
    given_answers=st.dictionaries(st.sampled_from(ALL), st.integers(0, 10)),
)
def test_the_way_goes_forward_and_ends(question_ids: list[str], given_answers: dict[str, int]) -> None:
    whole = way()
    sequence = sequence_of(whole, question_ids, given_answers)
    path = [one.question_id for one in sequence.path]
    on_pages = [one.question_id for page in sequence.reachable.values() for one in page]
    assert path == sorted(set(path))
    assert set(path) <= set(on_pages) <= set(question_ids)
    groups = [whole.groups.index(whole.group_of(page[0].question_id)) for page in sequence.reachable.values()]
    assert groups == sorted(set(groups))


def test_steps_take_the_first_jump_that_holds() -> None:
    jumps = (Jump("c", less("a", 7)), Jump("e", less("a", 9)), Jump(None, None))
    definition = way(jumps={"a": jumps})
    for points_of_a, expected in ((3, [("a", 0), ("c", None), ("d", None), ("e", None)]), (8, [("a", 1), ("e", None)])):
        given = {"a": Given(points_of_a), "c": Given(5)}
        assert expected == PageSequence(definition, ALL, given).steps
    assert [("a", 2)] == PageSequence(definition, ALL, {"a": Given(9)}).steps
    hidden = way(jumps={"a": jumps}, a={"show_if": less("z", 1)})
    assert ("b", None) == PageSequence(hidden, ALL, {"a": Given(9)}).steps[0]


def test_asked_of_another_version() -> None:
    definition = way(b={"display_probability": 50}, c={"display_probability": 50}, G3={"enabled": False})
    assert {"a", "c", "e"} == progress.asked_of(definition, drawn=["c", "d"])


SCORED = (Choice(1, "Much", points=10), Choice(2, "Little", points=-3), Choice(3, "None"))


@pytest.mark.parametrize(
    ("type_name", "fields", "value", "expected"),
    [
        ("single_choice", {"choices": SCORED}, 1, 10),
        ("single_choice", {"choices": SCORED}, 3, 0),
        ("multiple_choice", {"choices": SCORED}, [1, 2], 7),
        ("matrix", {"choices": SCORED}, {"r1": 1, "r2": 1}, 20),
        ("nps", {"scored": True}, 9, 9),
        ("nps", {}, 9, 0),
        ("yes_no", {"scored": True}, True, 1),
        ("yes_no", {"scored": True}, False, 0),
        ("text", {}, "9", 0),
        ("contact", {}, {"name": "1"}, 0),
    ],
)
def test_points(type_name: str, fields: dict[str, Any], value: object, expected: int) -> None:
    assert expected == points(question(type_name, **fields), value)


def test_score() -> None:
    """Hidden questions give nothing; a condition reads the points so far, whatever metadata said."""
    low = Leaf(SCORE_FACT, "less", 5)
    asked = pages_of(
        [question("nps", "a", scored=True)],
        [question("nps", "b", scored=True, show_if=low)],
        [question("text", "c", show_if=Leaf(SCORE_FACT, "greater_equal", 5))],
    )
    for first, shown, total in ((1, "ab", 4), (2, "abc", 5), (7, "ac", 7)):
        answers = {"a": Given(first), "b": Given(3)}
        sequence = PageSequence(asked, ["a", "b", "c"], answers, {SCORE_FACT: 1_000})
        assert [*shown] == [one.question_id for one in sequence.path]
        assert total == score(asked, answers, sequence.hidden)
    assert (0, None) == (score(asked, {}), score(pages_of([question("nps", "a")]), {"a": Given(9)}))
