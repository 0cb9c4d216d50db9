"""Findings about what would identify people; those of a questionnaire that is not anonymous are no findings."""

from typing import Any

import pytest

from afterword.core.questionnaires import definition, flow
from afterword.core.reading.findings import Findings

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
