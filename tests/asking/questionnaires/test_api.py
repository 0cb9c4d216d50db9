"""Questionnaires, groups and questions over HTTP: refusals, exact members, lists, what a confined caller sees."""

from dataclasses import dataclass
from typing import Any, get_args

import pytest

from afterword.asking.questionnaires import api
from afterword.core.questionnaires.question_types import ADDRESS_FIELDS, CONTACT_FIELDS, TYPES
from afterword.kit import db
from tests.asking.questionnaires.http import Api, definition, published
from tests.conftest import SITE

QUESTIONNAIRE = {
    "questionnaire_id", "owner_application_id", "display_name", "title", "description", "valid_days", "editable",
    "template_questionnaire_id", "desktop_collapsed", "non_collapsed_questions_count", "key_question_id",
    "credits_accountable", "questionnaire_icon_url", "default_locale", "locales", "active", "public_link",
    "responses_max", "published_version_id", "public_link_url", "archived_time", "created_time", "updated_time",
    "created_by", "updated_by",
}  # fmt: skip
GROUP = {
    "group_id", "questionnaire_id", "version_id", "position", "questions_count", "title", "description",
    "display_name", "enabled", "translations",
}  # fmt: skip
QUESTION = {
    "question_id", "group_id", "questionnaire_id", "version_id", "position", "type", "title", "description",
    "display_name", "required", "enabled", "display_probability", "randomize", "low_label", "high_label", "jumps",
    "translations",
}  # fmt: skip


def test_the_reference_knows_every_type() -> None:
    assert tuple(TYPES) == get_args(api.QuestionType)
    assert (*CONTACT_FIELDS, *ADDRESS_FIELDS) == get_args(api.ContactField)


@dataclass(frozen=True)
class Published:
    """The house's questionnaire: its path, its second group and its first question."""

    path: str
    group_id: str
    question_id: str


@pytest.fixture
async def there(api: Api) -> Published:
    path = f"/q/questionnaire/{api.house.questionnaire_id}"
    first, second = (await api.get(f"{path}/group")).json()
    [question, *_] = (await api.get(f"{path}/group/{first['group_id']}/question")).json()
    return Published(path, second["group_id"], question["question_id"])


class TestGetQuestionnaire:
    async def test_ok(self, api: Api, there: Published) -> None:
        response = await api.get(there.path)
        assert 200 == response.status_code
        body = response.json()
        assert body.keys() == QUESTIONNAIRE
        assert {
            "owner_application_id": api.house.application_id,
            "display_name": "After delivery",
            "title": "Your delivery",
            "valid_days": 14,
            "editable": True,
            "template_questionnaire_id": None,
            "key_question_id": there.question_id,
            "default_locale": "en",
            "locales": ["en", "el", "de", "ar"],
            "public_link": False,
            "responses_max": None,
            "archived_time": None,
            "published_version_id": api.house.version_id,
            "public_link_url": f"{SITE.public_url}/p/{api.house.questionnaire_id}",
            "created_by": None,
        }.items() <= body.items()
        assert body["created_time"].endswith(("+02:00", "+03:00"))


class TestGroups:
    async def test_list(self, api: Api, there: Published) -> None:
        response = await api.get(f"{there.path}/group")
        assert 200 == response.status_code
        groups = response.json()
        assert all(one.keys() == GROUP for one in groups)
        assert [(0, None, 1), (1, "A little more detail", 2)] == [
            (one["position"], one["title"], one["questions_count"]) for one in groups
        ]
        assert {"title": "Etwas genauer"} == groups[1]["translations"]["de"]

    async def test_one(self, api: Api, there: Published) -> None:
        response = await api.get(f"{there.path}/group/{there.group_id}")
        assert 200 == response.status_code
        assert (there.group_id, api.house.version_id) == tuple(
            response.json()[name] for name in ("group_id", "version_id")
        )
        assert response.headers["ETag"]

    async def test_never_published(self, api: Api, there: Published) -> None:
        async with db.transaction(api.pool) as database:
            await database.execute("update questionnaire set published_version_id = null")
        one = there.path
        assert [] == (await api.get(f"{one}/group")).json()
        assert 404 == (await api.get(f"{one}/group/{there.group_id}")).status_code
        assert 404 == (await api.get(f"{one}/question/{there.question_id}")).status_code


class TestQuestions:
    async def test_list(self, api: Api, there: Published) -> None:
        path = f"{there.path}/group/{there.group_id}/question"
        response = await api.get(path)
        assert 200 == response.status_code
        reasons, comment = response.json()
        assert reasons.keys() == QUESTION | {"choices", "choices_min", "choices_max"}
        assert comment.keys() == QUESTION | {"length_max", "multiline"}
        assert ("multiple_choice", 0, True) == (reasons["type"], reasons["position"], reasons["randomize"])
        assert {"value": 90, "label": "Something else", "other": True, "exclusive": False} in reasons["choices"]
        assert "Etwas anderes" == reasons["translations"]["de"]["choices"]["90"]

    async def test_one(self, api: Api, there: Published) -> None:
        path = f"{there.path}/question/{there.question_id}"
        response = await api.get(path)
        assert 200 == response.status_code
        body: dict[str, Any] = response.json()
        assert body.keys() == QUESTION
        shown = tuple(body[name] for name in ("type", "required", "low_label", "jumps"))
        assert ("csat", True, "Very dissatisfied", []) == shown

    async def test_jumps(self, api: Api) -> None:
        question_id = "B" * 22
        condition = {"subject": f"question:{question_id}", "operator": "equal", "value": 1}
        jump = {"target_question_id": None, "conditions": condition}
        asked = {"type": "nps", "title": "Likely?", "question_id": question_id, "jumps": [jump]}
        questionnaire_id, _ = await published(api, definition(asked))
        found = await api.get(f"/q/questionnaire/{questionnaire_id}/question/{question_id}")
        assert [jump] == found.json()["jumps"]
