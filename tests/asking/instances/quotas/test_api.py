"""Quotas: who comes too late sees their ending and counts nowhere; concurrent responses do not exceed them."""

import asyncio
from typing import Any

import pytest

from afterword.asking.instances import answers
from afterword.core.answers.values import Given
from afterword.kit import db
from tests.asking.questionnaires.http import Api, definition, published
from tests.sending.previews.test_pages import go

GENDER, WHY, QUOTA = "g" * 22, "w" * 22, "e" * 22
FEMALE, MALE = 1, 2
ENDING: dict[str, Any] = {
    "ending_id": QUOTA,
    "conditions": {"subject": f"question:{GENDER}", "operator": "equal", "value": FEMALE},
    "title": "Thank you all the same",
    "responses_max": 3,
}


@pytest.fixture
async def path(api: Api) -> str:
    choices = [{"value": FEMALE, "label": "Woman"}, {"value": MALE, "label": "Man"}]
    gender = {"question_id": GENDER, "type": "single_choice", "title": "You are", "choices": choices}
    why = {"question_id": WHY, "type": "text", "title": "Why?"}
    document = {**definition(gender), "endings": [ENDING]}
    document["groups"].append({"questions": [why]})
    questionnaire_id, _ = await published(api, document)
    return f"/q/questionnaire/{questionnaire_id}"


async def issued(api: Api, path: str) -> str:
    return (await api.post(f"{path}/instance")).json()["instance_id"]


async def answer(api: Api, instance_id: str, gender: int, *, complete: bool = True) -> str | None:
    """The id of the quota that was full."""
    async with db.transaction(api.pool) as database:
        context = await answers.lock_context(database, instance_id=instance_id)
        saved = await answers.save_answers(
            database, context=context, answers={GENDER: Given(gender)}, complete=complete, now=database.clock.now()
        )
    return saved.instance.full_quota_id


async def count(api: Api, path: str) -> int:
    [quota] = (await api.get(f"{path}/quota")).json()
    assert (QUOTA, "Thank you all the same", 3) == (quota["ending_id"], quota["title"], quota["responses_max"])
    return quota["responses_count"]


async def test_at_once(api: Api, path: str) -> None:
    """Of ten that complete at once three are counted."""
    assert 404 == (await api.get("/q/questionnaire/no-such/quota")).status_code
    instances = [await issued(api, path) for _ in range(10)]
    results = await asyncio.gather(*(answer(api, one, FEMALE) for one in instances))
    assert 3 == results.count(None)
    assert 3 == await count(api, path)
    assert await answer(api, await issued(api, path), MALE) is None


async def test_page(api: Api, path: str) -> None:
    late = await issued(api, path)
    assert await answer(api, late, FEMALE, complete=False) is None  # a place is taken by completion alone
    first, *others = [await issued(api, path) for _ in range(3)]
    await asyncio.gather(*(answer(api, one, FEMALE) for one in [first, *others]))
    page = await api.client.get(f"/a/{late}")
    sent = await go(api.client, page, **{f"q_{WHY}": "Because"})
    assert f"/a/{late}" == sent.headers["Location"]
    for address in (f"/a/{late}", f"/a/{late}?page=1"):
        end = (await api.client.get(address)).text
        assert "<h1>Thank you all the same</h1>" in end
        assert "We have enough answers like yours already." in end
        assert "Sent on" not in end
    shown = (await api.get(f"/q/instance/{late}")).json()
    assert (QUOTA, None, False) == (shown["full_quota_id"], shown["submitted_time"], shown["finalized"])
    assert [] == (await api.get(f"/q/instance/{late}/response/content")).json()["answers"]
    kinds = [kind.removeprefix("questionnaire_instance.") for kind, _ in await api.events(late)]
    assert ["created", "viewed", "submitted", "updated"] == kinds
    assert 3 == await count(api, path)
    assert 204 == (await api.delete(f"/q/instance/{first}")).status_code
    assert 2 == await count(api, path)
    assert await answer(api, await issued(api, path), FEMALE) is None
