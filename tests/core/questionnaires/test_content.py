"""The content of an instance: what was drawn, in one language, without what its responder must not see."""

from typing import Any

from afterword.core.questionnaires import definition
from tests.core.questionnaires.test_definition import document, give_id
from tests.core.questionnaires.test_questions import parse


def test_rows_have_no_keys() -> None:
    good = parse("matrix")
    ids = [question.question_id for question in good.questions()]
    shown = definition.content(good, "en", question_ids=ids, instance_id="I", questionnaire_id="Q", version_id="V")
    groups: Any = shown["groups"]
    assert [{"row_id": give_id("row", "asked.speed"), "label": "Speed"}] == groups[0]["questions"][0]["rows"][:1]


def test_what_was_drawn_in_one_language() -> None:
    good = definition.parse(document(), give_id=give_id)
    why = give_id("question", "why")
    shown = definition.content(good, "el", question_ids=[why], instance_id="I", questionnaire_id="Q", version_id="V")
    groups: Any = shown["groups"]
    assert [give_id("group", "second")] == [group["group_id"] for group in groups]
    assert 1 == groups[0]["position"]
    assert 1 == groups[0]["questions_count"]
    question = groups[0]["questions"][0]
    assert {
        "question_id": why,
        "position": 1,
        "questionnaire_id": "Q",
        "version_id": "V",
    }.items() <= question.items()
    assert not {"translations", "jumps", "key"} & (question.keys() | groups[0].keys())
    assert {"welcome": "Καλώς ήρθατε", "thank_you": "Thanks", "closed": None, "expired": None} == shown["pages"]
