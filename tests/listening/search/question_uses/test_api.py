"""The uses of a question: in its own questionnaire, and wherever else something asks for it."""

from typing import Any

from tests.asking.questionnaires.conftest import api as api  # noqa: PLC0414  a fixture
from tests.asking.questionnaires.http import Api, definition, published

SCORE, WHY = "s" * 22, "w" * 22


async def test_uses(api: Api) -> None:
    condition = {"subject": f"question:{SCORE}", "operator": "less_equal", "value": 6}
    jumps = [{"target_question_id": None, "conditions": condition}]
    score = {"question_id": SCORE, "type": "nps", "title": "Would you recommend us?", "jumps": jumps}
    why = {"question_id": WHY, "type": "text", "title": "Why?"}
    questionnaire_id, _ = await published(
        api, definition(score, why, endings=[{"ending_id": "e" * 22, "conditions": condition, "title": "Sorry"}])
    )
    path = f"/q/questionnaire/{questionnaire_id}"
    assert [] == (await api.get(f"{path}/question/{WHY}/use")).json()
    assert 404 == (await api.get(f"{path}/question/{'x' * 22}/use")).status_code
    await api.patch(path, {"key_question_id": SCORE})
    made: dict[str, Any] = {}
    for kind, address, body in (
        ("alert", "/alert", {"questionnaire_ids": [questionnaire_id], "conditions": condition}),
        ("report", "/report/custom", {"spec": {"questionnaire_ids": [questionnaire_id], "metrics": [{"metric": "nps"}],
                                               "filter": condition}}),
    ):  # fmt: skip
        body |= {"title": f"A {kind}", "application_id": api.house.application_id}
        response = await api.post(address, body)
        assert 201 == response.status_code, response.text
        made[kind] = response.json()[f"{kind}_id"]
    expected = [
        {"kind": "key_question", "id": questionnaire_id, "title": "Mine"},
        {"kind": "jump", "id": SCORE, "title": "Would you recommend us?"},
        {"kind": "ending", "id": "e" * 22, "title": "Sorry"},
        {"kind": "alert", "id": made["alert"], "title": "A alert"},
        {"kind": "report", "id": made["report"], "title": "A report"},
    ]
    assert expected == (await api.get(f"{path}/question/{SCORE}/use")).json()
    token = await api.token(scopes=["Question.Read", "Alert.Read"])
    assert expected[:4] == (await api.get(f"{path}/question/{SCORE}/use", token=token)).json()
    elsewhere = await api.token(application_ids=[await api.application()])
    assert 404 == (await api.get(f"{path}/question/{SCORE}/use", token=elsewhere)).status_code
    await api.delete(f"/alert/{made['alert']}")
    assert ["key_question", "jump", "ending", "report"] == [
        one["kind"] for one in (await api.get(f"{path}/question/{SCORE}/use")).json()
    ]
