"""The call-back form of an ending: one case for each response, changed until somebody works on it."""

import asyncio
import html
import re
from typing import Any

import httpx2

from afterword.asking.instances import answers
from afterword.asking.instances.call_backs import PURPOSE
from afterword.core.answers.suspicion import token_of
from afterword.core.answers.values import Given
from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from tests.asking.questionnaires.conftest import api as api  # noqa: PLC0414  a fixture
from tests.asking.questionnaires.http import Api, definition, published
from tests.conftest import SITE

SCORE = "s" * 22
ENDINGS: list[dict[str, Any]] = [
    {
        "ending_id": "c" * 22,
        "conditions": {"subject": f"question:{SCORE}", "operator": "less_equal", "value": 6},
        "title": "We are sorry",
        "call_back": True,
    },
]
NUMBER = "+30 210 123 4567"
DONE = "There is nothing more for you to do."


async def questionnaire(api: Api) -> str:
    question = {"question_id": SCORE, "type": "nps", "title": "Would you recommend us?"}
    questionnaire_id, _ = await published(api, definition(question, endings=ENDINGS), editable=True)
    return questionnaire_id


async def ended(api: Api, questionnaire_id: str, score: int = 3) -> str:
    instance_id = (await api.post(f"/q/questionnaire/{questionnaire_id}/instance")).json()["instance_id"]
    async with db.transaction(api.pool) as database:
        context = await answers.lock_context(database, instance_id=instance_id)
        await answers.save_answers(
            database, context=context, answers={SCORE: Given(score)}, complete=True, now=database.clock.now()
        )
    return f"/a/{instance_id}"


async def form_of(api: Api, page: str) -> dict[str, str]:
    """The hidden field, and the first time that is offered."""
    text = (await api.client.get(page)).text
    token, window = re.search(r'name="token" value="(\w+)"', text), re.search(r'<option value="(\d+)"', text)
    assert token
    assert window
    return {"token": token[1], "window": window[1], "number": NUMBER}


async def send(api: Api, page: str, form: dict[str, str]) -> httpx2.Response:
    return await api.client.post(f"{page.partition('?')[0]}/call", data=form)


async def cases(api: Api, **options: Any) -> list[dict[str, Any]]:
    return (await api.get("/alert/instance", **options)).json()["results"]


async def test_refused(api: Api) -> None:
    """Nothing is written without the form, by another ending, with wrong values, before the end and for tests."""
    questionnaire_id = await questionnaire(api)
    page, happy = await ended(api, questionnaire_id), await ended(api, questionnaire_id, 9)
    form = await form_of(api, page)
    assert 404 == (await send(api, "/a/nobody", form)).status_code
    assert 403 == (await send(api, page, {**form, "token": "x"})).status_code
    assert 'name="window"' not in (await api.client.get(happy)).text
    assert 403 == (await send(api, happy, form)).status_code
    own = token_of(SITE.secret, PURPOSE, happy[3:])
    assert 303 == (await send(api, happy, {**form, "token": own})).status_code
    wrong = await send(api, page, {**form, "number": "<b>12", "window": "1", "note": "x" * 501})
    assert (422, 3) == (wrong.status_code, wrong.text.count('aria-invalid="true"'))
    assert DONE not in wrong.text  # the form is something to do
    assert "&lt;b&gt;12" in wrong.text
    async with db.transaction(api.pool) as database:
        await database.execute("update questionnaire_instance set test = true where instance_id = $1", happy[3:])
        await database.execute("update answer set value = '1' where instance_id = $1", happy[3:])
        await database.execute("update questionnaire_instance set judgement = 'held' where instance_id = $1", page[3:])
    trial = await send(api, happy, await form_of(api, happy))
    assert (200, True, True) == (trial.status_code, "+302101234567" in trial.text, "nothing was kept" in trial.text)
    assert 'name="window"' not in (await api.client.get(page)).text
    assert [] == await cases(api)


async def test_one_case(api: Api) -> None:
    """Sent twice at once: one case, by a rule that is made for it; changed until an agent takes it; then told."""
    questionnaire_id = await questionnaire(api)
    page = await ended(api, questionnaire_id)
    form = await form_of(api, page)
    sent = await asyncio.gather(*(send(api, page, {**form, "note": "The <i>box</i>"}) for _ in range(2)))
    assert [(303, page)] * 2 == [(one.status_code, one.headers["location"]) for one in sent]
    [case] = await cases(api)
    assert ("+302101234567", "The <i>box</i>", page[3:]) == (
        case["call_back_number"],
        case["call_back_note"],
        case["instance_id"],
    )
    assert case["due_time"] == case["call_back_until_time"] > case["call_back_time"]
    rule = (await api.get(f"/alert/{case['alert_id']}")).json()
    assert ("call_back", "Customers asking for a call", 1) == (rule["trigger"], rule["title"], rule["open_count"])
    blind = await api.token(scopes=SCOPES - {"Responder.Read"})
    path = f"/alert/instance/{case['alert_instance_id']}"
    for found in ((await cases(api, token=blind))[0], (await api.get(path, token=blind)).json()):
        assert (None, None) == (found["call_back_number"], found["call_back_note"])
    said = html.unescape((await api.client.get(page)).text)
    assert ("We will call you at" in said, 'name="window"' in said, DONE in said) == (True, False, True)
    change = await form_of(api, f"{page}?call=change")
    assert 303 == (await send(api, page, {**change, "number": "+44 20 7946 0018"})).status_code
    [changed] = await cases(api)
    assert ("+442079460018", None) == (changed["call_back_number"], changed["call_back_note"])
    assert 200 == (await api.patch(path, {"status_id": 2})).status_code
    assert 303 == (await send(api, page, {**change, "number": NUMBER})).status_code
    assert "+442079460018" == (await cases(api))[0]["call_back_number"]
    assert "Change the call" not in (await api.client.get(f"{page}?call=change")).text
    assert 200 == (await api.patch(path, {"status_id": 3})).status_code
    after = (await api.client.get(page)).text
    assert ("We will call you" in after, 'name="window"' in after) == (False, False)
    other = await ended(api, questionnaire_id)
    assert 303 == (await send(api, other, form | await form_of(api, other))).status_code
    assert {case["alert_id"]} == {one["alert_id"] for one in await cases(api)}


async def test_rule(api: Api) -> None:
    """A rule of the organization for calls takes those whose conditions hold; what it opens is no other trigger's."""
    questionnaire_id = await questionnaire(api)
    application_id = (await api.get(f"/q/questionnaire/{questionnaire_id}")).json()["owner_application_id"]
    rule = {
        "application_id": application_id,
        "title": "Very unhappy",
        "trigger": "call_back",
        "conditions": {"subject": f"question:{SCORE}", "operator": "less_equal", "value": 2},
        "severity": "critical",
        "assigned_user_id": api.house.user_id,
    }
    made = (await api.post("/alert", rule)).json()
    for score in (1, 5):
        page = await ended(api, questionnaire_id, score)
        assert 303 == (await send(api, page, await form_of(api, page))).status_code
    first, second = sorted(await cases(api), key=lambda one: one["severity"])
    assert (made["alert_id"], "critical", api.house.user_id) == (
        first["alert_id"],
        first["severity"],
        first["assigned_user_id"],
    )
    assert ("normal", None) == (second["severity"], second["assigned_user_id"])
