"""The review link of an ending: counted once for each response, and for nobody who must not be counted."""

from datetime import timedelta
from typing import LiteralString

import httpx2

from afterword.asking.instances.reviews import PURPOSE, count_clicks
from afterword.core.answers.suspicion import token_of
from afterword.core.figures.periods import Period
from afterword.kit import db
from tests.asking.questionnaires.http import Api, definition, published
from tests.cases.call_backs.test_pages import SCORE, ended
from tests.conftest import SITE

REVIEW = "https://reviews.example/shop"
TO_BRANCH = {"ending_id": "b" * 22, "title": "Thanks", "review_url": f"{REVIEW}?of={{{{ questionnaire.store_id }}}}"}


async def questionnaire(api: Api) -> str:
    question = {"question_id": SCORE, "type": "nps", "title": "Would you recommend us?"}
    questionnaire_id, _ = await published(api, definition(question, endings=[TO_BRANCH]), editable=True)
    return questionnaire_id


async def counted(api: Api, questionnaire_id: str, *, minutes: int = 0, only: list[str] | None = None) -> int:
    async with db.connection(api.pool) as database:
        now = database.clock.now() - timedelta(minutes=minutes)
        return await count_clicks(
            database,
            organization_id=await database.fetch_value("select organization_id from organization limit 1"),
            questionnaire_id=questionnaire_id,
            period=Period(now - timedelta(minutes=1), now + timedelta(minutes=1), "UTC"),
            only=only,
        )


async def tell(api: Api, page: str) -> httpx2.Response:
    return await api.client.post(f"{page}/review", data={"token": token_of(SITE.secret, PURPOSE, page[3:])})


async def test_a_definition_that_asks_happy_customers_alone(api: Api) -> None:
    question = {"question_id": SCORE, "type": "nps", "title": "Would you recommend us?"}
    happy = {"subject": f"question:{SCORE}", "operator": "greater", "value": 8}
    questionnaire_id, _ = await published(api, definition(question))
    path = f"/q/questionnaire/{questionnaire_id}"
    await api.put(f"{path}/draft", definition(question, endings=[{**TO_BRANCH, "conditions": happy}]))
    refused = await api.post(f"{path}/version")
    assert (422, [("/endings/0/review_url", "exclusive")]) == (refused.status_code, api.wrong(refused))


async def test_nobody_else_is_counted(api: Api) -> None:
    """No unknown id, no GET, no open response, no test, none that is held back, no anonymous one."""
    questionnaire_id = await questionnaire(api)
    assert 404 == (await tell(api, f"/a/{'0' * 22}")).status_code
    page = await ended(api, questionnaire_id)
    opened = await api.client.get(f"{page}/review", headers={"Accept": "text/html"})
    assert (405, True) == (opened.status_code, "This page is not here" in opened.text)
    changes: tuple[LiteralString, ...] = (
        "finalized = false, completed_time = null",
        "test = true",
        "judgement = 'held'",
        "anonymity = 'response'",
    )
    for change in changes:
        async with db.transaction(api.pool) as database:
            await database.execute(f"update questionnaire_instance set {change} where instance_id = $1", page[3:])
        assert 204 == (await tell(api, page)).status_code, change
        assert 0 == await counted(api, questionnaire_id), change
        page = await ended(api, questionnaire_id)


async def test_each_response_is_counted_once(api: Api) -> None:
    questionnaire_id = await questionnaire(api)
    page, other = await ended(api, questionnaire_id), await ended(api, questionnaire_id, 9)
    assert f'data-told="{page}/review"' in (await api.client.get(page)).text.replace("&#x2f;", "/")
    for token in ("", token_of(SITE.secret, PURPOSE, other[3:])):
        assert 403 == (await api.client.post(f"{page}/review", data={"token": token})).status_code
    for _ in range(2):
        assert 204 == (await tell(api, page)).status_code
    assert 1 == await counted(api, questionnaire_id)
    await tell(api, other)
    assert 2 == await counted(api, questionnaire_id)
    assert 0 == await counted(api, questionnaire_id, minutes=5)
    assert 0 == await counted(api, questionnaire_id, only=["store_id", "7"])
    async with db.transaction(api.pool) as database:
        await database.execute(
            """update questionnaire_instance set metadata = '{"store_id": "7"}' where instance_id = $1""", other[3:]
        )
    assert 1 == await counted(api, questionnaire_id, only=["store_id", "7"])
    assert 204 == (await api.delete(f"/q/instance/{other[3:]}")).status_code
