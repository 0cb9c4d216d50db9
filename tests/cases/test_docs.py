"""Every request of docs/alerts.md works as it stands there, one after the other."""

import json
import re
from pathlib import Path

from tests.cases.conftest import Desk
from tests.cases.messages.test_messages import case_of_ann

EXAMPLE = re.compile(r"```http\n(\w+) /v3\.2(/\S+)\n(.*?)```", re.DOTALL)
PAGE = Path(__file__).parents[2] / "docs" / "alerts.md"


async def test_examples(desk: Desk) -> None:
    path = await case_of_ann(desk)
    names = {
        "application_id": desk.house.application_id,
        "questionnaire_id": desk.house.questionnaire_id,
        "question_id": desk.score_id,
        "user_id": desk.house.user_id,
        "alert_instance_id": path.rpartition("/")[2],
    }
    examples = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    unseen = {"conditions", "waiting", "password"}
    assert 12 == len(examples)
    for method, path, body in examples:
        for name, value in names.items():
            path, body = (text.replace(f"{{{name}}}", value) for text in (path, body))  # noqa: PLW2901
        answer = await desk.api.ok(method, path, json.loads(body))
        if path == "/alert/preview":
            assert 0 == answer["matched"]
            continue
        kept = {name: value for name, value in json.loads(body).items() if name not in unseen}
        assert kept == {name: answer[name] for name in kept}
    assert ["created", "status_changed", "commented", "status_changed", "resolved"] == [
        kind for kind in await desk.kinds() if kind != "assigned"
    ]
    await desk.api.ok("DELETE", "/alert/status/100?move_to=2")
