"""A reader's document is made to pass the check, and nothing is taken out in silence."""

from typing import Any

import pytest

from afterword import errors
from afterword.core.foreign.parts import Line, Read, leaf
from afterword.core.foreign.settling import settle


def read(*questions: dict[str, Any], **more: Any) -> Read:
    document = {"default_locale": "en", "locales": ["en", "el"], **more}
    document["groups"] = [{"key": "g", "questions": list(questions)}]
    return Read(document, [Line("question", "taken", one["key"].upper(), "", (), one["key"]) for one in questions])


def text(key: str, **members: Any) -> dict[str, Any]:
    return {"key": key, "type": "text", "title": key, **members}


def outcomes(made: Read) -> dict[tuple[str, str], str]:
    return {(one.kind, one.place): one.outcome for one in made.lines}


def test_what_is_right_stays() -> None:
    made = read(text("a"), text("b", title="{{ answer.a | x }}", show_if=leaf("question:a", "is_not_empty")))
    before = repr(made.document)
    settle(made)
    assert (before, {"taken"}) == (repr(made.document), {one.outcome for one in made.lines})


@pytest.mark.parametrize("groups", [[], [{"key": "g", "questions": []}]])
def test_without_a_question(groups: list[dict[str, Any]]) -> None:
    with pytest.raises(errors.Invalid, match="no question"):
        settle(Read({"default_locale": "en", "groups": groups}))


def test_what_cannot_be_repaired() -> None:
    made = read(text("a"))
    made.document["locales"] = ["en", "en"]
    with pytest.raises(errors.Invalid, match="already"):
        settle(made)


def test_conditions() -> None:
    made = read(
        text("a", show_if=leaf("question:b", "is_empty")),
        text("b", jumps=[{"target_question_id": "a"}, {"target_question_id": None}, {"target_question_id": "zz"}]),
    )
    settle(made)
    first, second = made.document["groups"][0]["questions"]
    assert ("show_if" in first, [{"target_question_id": None}]) == (False, second["jumps"])
    assert {"left_out"} == {one.outcome for one in made.lines if one.kind == "condition"}


def test_questions() -> None:
    made = read(
        {"key": "a", "type": "single_choice", "title": "One choice", "choices": [{"value": 1, "label": "x"}]},
        text("b", show_if=leaf("question:a", "equal", 1)),
        text("c", translations={"el": {"title": "x" * 501}, "de": {"title": "x"}}),
        {"key": "d", "type": "nothing", "title": ""},
    )
    settle(made)
    first, second, third, fourth = made.document["groups"][0]["questions"]
    assert ({"key": "a", "type": "statement", "title": "One choice"}, "…") == (first, fourth["title"])
    assert ("show_if" in second, third["translations"]) == (False, {})
    found = outcomes(made)
    assert ["left_out", "taken", "changed", "left_out"] == [found["question", one] for one in "ABCD"]
    assert "left_out" == found["condition", "b"]


def test_texts() -> None:
    made = read(
        text("a", title="Why {{ answer.b | not }}?", translations={"el": {"title": "{{ nothing }}"}}),
        text("b"),
        pages={"en": {"welcome": "{{ answer.a | you }}"}},
        endings=[{"key": "e", "text": "{{ nothing | x }}"}, {"key": "f", "button_url": "http://x"}],
    )
    settle(made)
    (group,) = made.document["groups"]
    assert ("Why not?", "…") == (group["questions"][0]["title"], group["questions"][0]["translations"]["el"]["title"])
    assert "you" == made.document["pages"]["en"]["welcome"]
    assert [{"key": "e", "text": "x"}] == made.document["endings"]
    assert {("text", "a"), ("text", "e"), ("ending", "f")} <= outcomes(made).keys()


def test_more_than_fit() -> None:
    made = read(*(text(f"q{number}") for number in range(210)))
    settle(made)
    assert [100, 100] == [len(group["questions"]) for group in made.document["groups"]]
    assert 10 == sum(one.outcome == "left_out" for one in made.lines)
    many = Read({"default_locale": "en", "groups": [{"key": f"g{n}", "questions": [text(f"q{n}")]} for n in range(60)]})
    settle(many)
    assert (50, 60) == (len(many.document["groups"]), sum(len(one["questions"]) for one in many.document["groups"]))
