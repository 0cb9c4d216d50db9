"""Jumps in words."""

from datetime import UTC, datetime
from typing import Any

from afterword.asking.questionnaires.drafts import DraftRecord
from afterword.asking.screens import question_form
from afterword.asking.screens.questionnaires import Work
from afterword.core.questionnaires import editing
from afterword.core.questionnaires.metadata import Declared
from afterword.kit.texts import texts

WORDS = texts("console", "en")
FIRST, SECOND = "first".ljust(22, "0"), "second".ljust(22, "0")
JUMPS = [
    {
        "target_question_id": SECOND,
        "conditions": {"subject": f"question:{FIRST}", "operator": "less_equal", "value": 6},
    },
    {"target_question_id": None, "conditions": {"not": {"subject": "tag:vip", "operator": "is_empty"}}},
    {"target_question_id": "gone", "conditions": None},
    {"target_question_id": None, "conditions": {"all": 7}},
]


def test_sentences() -> None:
    questions = [
        {"question_id": FIRST, "type": "nps", "title": "Score?", "jumps": JUMPS},
        {"question_id": SECOND, "type": "text", "title": "Why?"},
    ]
    definition: dict[str, Any] = {"groups": [{"group_id": "g" * 22, "questions": questions}]}
    now = datetime(2026, 11, 26, tzinfo=UTC)
    draft = DraftRecord(
        organization_id="o", questionnaire_id="q", base_version_id=None, revision=1, definition=definition,
        updated_time=now, updated_by=None, translated_sources=None,
    )  # fmt: skip
    nothing: Any = None
    work = Work(nothing, draft, [], nothing, Declared(questionnaire={}, responder={}), None)
    question = editing.question_of(definition, FIRST)
    assert question is not None
    said = [one["text"] for one in question_form.sentences(WORDS, work, question, path="/a")]
    assert [
        "If the answer is 0 to 6 (detractors), go to “Why?”.",
        "If not “vip” is not given, go to the end.",
        "Always go to “a deleted question”.",
        "If by a condition, go to the end.",
    ] == [one.replace("\u2068", "").replace("\u2069", "") for one in said]
    assert [(SECOND, "Why?"), ("", "the end")] == question_form.targets(WORDS, definition, FIRST)
    assert {f"question:{FIRST}"} == {
        key for key in question_form.subjects(WORDS, work, FIRST) if key.startswith("question")
    }
