"""The ways through a questionnaire, compared with the pages that answers lead to."""

from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from afterword.core.answers.progress import PageSequence
from afterword.core.answers.values import Given
from afterword.core.questionnaires import definition, flow
from afterword.core.questionnaires.definition import Definition
from afterword.core.questionnaires.flow import Edge, Flow, Length, length
from afterword.core.questionnaires.question_types import TYPES
from afterword.core.reading.findings import Findings
from tests.core.questionnaires.test_definition import JSON, changed, document as example, give_id, places
from tests.sizes import size

A, B, C, D = (letter * 22 for letter in "abcd")


def condition(question_id: str, operator: str, value: object) -> dict[str, Any]:
    return {"subject": f"question:{question_id}", "operator": operator, "value": value}


def document(*questions: dict[str, Any], page: int = 1) -> Definition:
    """One question a page unless `page` says how many; smileys of three where no type is given."""
    whole = [
        {"type": "smileys", "scale_max": 3, "title": "How?", "question_id": letter * 22, **question}
        for letter, question in zip("abcd", questions, strict=False)
    ]
    groups = [
        {"group_id": f"{number:022}", "questions": whole[number : number + page]}
        for number in range(0, len(whole), page)
    ]
    return definition.parse({"default_locale": "en", "groups": groups})


def jump(target: str | None, conditions: object = None) -> dict[str, Any]:
    return {"target_question_id": target, "conditions": conditions}


@pytest.mark.parametrize(
    ("first", "edges", "unreachable"),
    [
        ({}, {Edge(A, B)}, ()),
        ({"jumps": [jump(C)]}, {Edge(A, C, 0)}, (B,)),
        ({"jumps": [jump(None)]}, {Edge(A, None, 0)}, (B, C)),
        ({"jumps": [jump(C, condition(A, "less", 2))]}, {Edge(A, C, 0), Edge(A, B)}, ()),
        ({"jumps": [jump(C, condition(A, "less", 2)), jump(B)]}, {Edge(A, C, 0), Edge(A, B, 1)}, ()),
        # every answer is given to one of the two, or none is given
        ({"jumps": [jump(C, condition(A, "less", 3)), jump(None, condition(A, "equal", 3))], "required": True},
         {Edge(A, C, 0), Edge(A, None, 1)}, (B,)),
        ({"jumps": [jump(C, condition(A, "less", 3)), jump(None, condition(A, "equal", 3))]},
         {Edge(A, C, 0), Edge(A, None, 1), Edge(A, B)}, ()),
        # no answer is over the scale
        ({"jumps": [jump(C, condition(A, "greater", 3))], "required": True}, {Edge(A, B)}, ()),
        ({"jumps": [jump(C)], "display_probability": 50}, {Edge(A, C, 0), Edge(A, B)}, ()),
        ({"type": "text", "jumps": [jump(C, condition(A, "contains", "x"))]}, {Edge(A, C, 0), Edge(A, B)}, ()),
    ],
)  # fmt: skip
def test_edges(first: dict[str, Any], edges: set[Edge], unreachable: tuple[str, ...]) -> None:
    found = Flow(document(first, {}, {}))
    assert edges == {edge for edge in found.edges if edge.source == A}
    assert unreachable == found.unreachable


@pytest.mark.parametrize(
    ("show_if", "edges", "unreachable"),
    [
        (condition(A, "less", 2), {Edge(A, B), Edge(B, None, 0), Edge(B, C)}, ()),  # a hidden one does not jump
        (condition("questionnaire_metadata", "less", 2) | {"subject": "questionnaire_metadata:age"},
         {Edge(A, B), Edge(B, None, 0), Edge(B, C)}, ()),
        (condition(A, "greater", 3), {Edge(A, C)}, (B,)),
        ({"all": [condition(A, "equal", 1), condition(A, "equal", 2)]}, {Edge(A, C)}, (B,)),
    ],
)  # fmt: skip
def test_conditions(show_if: dict[str, Any], edges: set[Edge], unreachable: tuple[str, ...]) -> None:
    asked = document({}, {"show_if": show_if, "jumps": [jump(None)]}, {})
    assert edges == {edge for edge in Flow(asked).edges if edge.source in {A, B}}
    assert unreachable == Flow(asked).unreachable
    assert [B] == flow.used_to_show(asked, A) or "metadata" in str(show_if)


def test_pages_and_what_is_off() -> None:
    """On a page all stays shown that follows; a question that is off is passed over and no place of the drawing."""
    asked = document({"jumps": [jump(C)]}, {}, {"enabled": False}, {}, page=2)
    assert (A, B, D) == Flow(asked).nodes
    assert () == Flow(asked).unreachable
    assert Edge(A, D, 0) in Flow(asked).edges
    assert [A] == flow.used_by_jumps(asked, C)
    rows = document({}, {"jumps": [jump(None, condition(A, "less", 2))]})
    assert [B] == flow.used_by_jumps(rows, A)


@st.composite
def drawn(draw: st.DrawFn) -> Definition:
    """Four questions with jumps by their own answers, on one or two pages."""
    questions: list[dict[str, Any]] = []
    for number, letter in enumerate("abcd"):
        later = [None, *(each * 22 for each in "abcd"[number + 1 :])]
        conditions = st.none() | st.builds(
            condition, st.just(letter * 22), st.sampled_from(["less", "equal", "greater"]), st.integers(0, 4)
        )
        jumps = draw(st.lists(st.builds(jump, st.sampled_from(later), conditions), max_size=2))
        one: dict[str, Any] = {"jumps": jumps, "required": draw(st.booleans()), "enabled": draw(st.integers(0, 4)) > 0}
        if number and draw(st.integers(0, 3)) == 0:
            asked = draw(st.sampled_from("abcd"[:number])) * 22
            one["show_if"] = condition(asked, draw(st.sampled_from(["less", "greater"])), draw(st.integers(0, 4)))
        questions.append(one)
    return document(*questions, page=draw(st.sampled_from([1, 2])))


@settings(max_examples=size(20, 200))
@given(asked=drawn())
def test_exactly_the_questions_that_no_answers_lead_to(asked: Definition) -> None:
    found, everything = Flow(asked), asked.questions()
    shown: set[str] = set()
    ways: set[tuple[str | None, str | None]] = set()
    for values in product((None, 1, 2, 3), repeat=len(found.nodes)):
        given_ = {node: Given(value) for node, value in zip(found.nodes, values, strict=True) if value is not None}
        if any(one.required and one.question_id in found.nodes and one.question_id not in given_ for one in everything):
            continue
        sequence = PageSequence(asked, found.nodes, given_, {})
        shown |= {one.question_id for page in sequence.reachable.values() for one in page}
        way = [None, *(one.question_id for one in sequence.path), None]
        ways |= set(pairwise(way))
    assert not set(found.unreachable) & shown
    if any(one.show_if for one in everything):  # whether the answer that it asks for is given is not looked at
        return
    assert set(found.unreachable) == set(found.nodes) - shown
    reached = {node for node in found.nodes if any(node in each for each in ways)}
    assert ways == {(edge.source, edge.target) for edge in found.edges if edge.source is None or edge.source in reached}


SCORE: dict[str, Any] = {"question_id": "q" * 22, "type": "nps", "title": "How likely?"}
SHOP = {"subject": "questionnaire_metadata:shop", "operator": "equal", "value": "7"}
POINTS = {"subject": "questionnaire_metadata:score", "operator": "greater", "value": 7}
CONTACT: dict[str, Any] = {"question_id": "c" * 22, "type": "contact", "title": "Who are you?"}
JUMP = {"target_question_id": None, "conditions": SHOP}


def found(question: dict[str, Any], *, anonymous: bool = True, **more: Any) -> list[tuple[str, str]]:
    document = {
        "default_locale": "en",
        "anonymous": anonymous,
        "groups": [{"group_id": "g" * 22, "questions": [question]}],
    }
    findings = Findings()
    read = definition.read(document | more, findings)
    assert definition.parse(definition.document_of(read)) == read
    flow.check_anonymity(read, findings)
    return [(one.path, one.code) for one in findings.found if one.severity == "error"]


@pytest.mark.parametrize(
    ("paths", "question", "more"),
    [
        ([], SCORE, {}),
        (["/groups/0/questions/0/type"], CONTACT, {}),
        (["/groups/0/questions/0/type"], CONTACT | {"type": "address"}, {}),
        (["/groups/0/questions/0/type"], CONTACT | {"type": "file"}, {}),
        (["/groups/0/questions/0/display_probability"], SCORE | {"display_probability": 50}, {}),
        (["/groups/0/questions/0"], SCORE | {"show_if": SHOP}, {}),
        (["/groups/0/questions/0"], SCORE | {"jumps": [JUMP]}, {}),
        (["/groups/0/questions/0"], SCORE | {"title": "{{ responder.name | You }}, how likely?"}, {}),
        (["/anonymous"], SCORE, {"pages": {"en": {"thank_you": "Thanks, {{ responder.name | you }}."}}}),
        (["/anonymous"], SCORE, {"endings": [{"ending_id": "e" * 22, "conditions": SHOP}]}),
        ([], SCORE, {"endings": [{"ending_id": "e" * 22, "conditions": POINTS}]}),
        (["/endings/0/call_back"], SCORE, {"endings": [{"ending_id": "e" * 22, "call_back": True}]}),
        (["/endings/0/coupon_pool"], SCORE, {"endings": [{"ending_id": "e" * 22, "coupon_pool": "summer"}]}),
        (
            ["/endings/0/responses_max"],
            SCORE,
            {"endings": [{"ending_id": "e" * 22, "conditions": POINTS, "responses_max": 9}]},
        ),
    ],
)
def test_findings(paths: list[str], question: dict[str, Any], more: dict[str, Any]) -> None:
    assert [(path, "not_anonymous") for path in paths] == found(question, **more)
    assert [] == found(question, anonymous=False, **more)


def test_of_a_short_one() -> None:
    one = document({"type": "nps", "title": "How likely are you to recommend us to a friend or colleague?"})
    assert Length(seconds=10, screens=1) == length(one)
    two = document({"type": "nps"}, {"type": "text", "title": "Why?"})
    assert Length(seconds=15, screens=2) == length(two)
    assert Length(seconds=5, screens=0) == length(definition.read({"default_locale": "en"}, Findings()))


def test_each_type_takes_time() -> None:
    assert all((one.seconds > 0) is one.is_answered for one in TYPES.values())
    long = {"type": "single_choice", "choices": [{"value": n, "label": "Reason"} for n in range(1, 25)]}
    assert length(document({**long, "style": "dropdown"})).screens < length(document(long)).screens
    whole = {**long, "style": "dropdown", "choices": [{"value": n, "label": "A store"} for n in range(1, 501)]}
    assert 10 == length(document(whole)).seconds, "nobody reads 500 names"


def test_the_longest_way_counts() -> None:
    asked = length(document({"required": True}, {"type": "text", "required": True}, {}))
    skipped = length(document({"required": True, "jumps": [jump(C)]}, {"type": "text", "required": True}, {}))
    assert (asked.seconds, asked.screens) > (skipped.seconds, skipped.screens)
    sometimes = [jump(B, {"subject": f"question:{'a' * 22}", "operator": "less", "value": 2}), jump(C)]
    assert asked == length(document({"required": True, "jumps": sometimes}, {"type": "text", "required": True}, {}))


def test_more_of_everything() -> None:
    parts = {"type": "matrix", "rows": [{"row_id": f"row{n:019}", "label": "Part"} for n in range(8)]}
    choices = {"choices": [{"value": 1, "label": "Bad"}, {"value": 2, "label": "Good"}]}
    ranking = {"type": "ranking", "choices": [{"value": n, "label": "Reason"} for n in range(1, 6)]}
    assert 2 == length(document({**parts, **choices})).screens
    seconds = [
        length(document(one)).seconds
        for one in (
            {},
            {"title": "How " * 40},
            {**ranking},
            {"type": "contact", "required": True},
            {**parts, **choices},
        )
    ]
    assert all(seconds[0] < each for each in seconds[1:]), seconds


@given(path=st.sampled_from(places(example())), to=JSON)
def test_of_any_draft(path: tuple[str | int, ...], to: object) -> None:
    """A draft may be wrong in any place and still has a length."""
    found = length(definition.read(changed(*path, to=to), Findings(), give_id=give_id))
    assert found.seconds >= 5
