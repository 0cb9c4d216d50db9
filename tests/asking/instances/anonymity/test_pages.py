"""The page of an anonymous invitation: nothing is written before it is sent, and it takes answers once."""

import re
from typing import Any

from afterword.asking.instances.anonymity import TOGETHER_MIN
from afterword.core.answers.values import field_name
from afterword.kit import db
from tests.asking.instances.anonymity.test_service import (
    COMMENT,
    SCORE,
    Survey,
    survey as survey,  # noqa: PLC0414  a fixture
)
from tests.asking.questionnaires.http import FORM
from tests.browser import markup


async def stored(survey: Survey) -> list[dict[str, Any]]:
    async with db.connection(survey.api.pool) as database:
        rows = await database.fetch(
            """select instance_id, anonymity, finalized, version, locale, updated_time, viewed_time, submitted_time,
                 test, editable, metadata, flags, link_id, reference_id
               from questionnaire_instance order by created_time, instance_id"""
        )
    return [dict(row) for row in rows]


async def anonymity(survey: Survey) -> tuple[bool, int, int]:
    found = (await survey.api.get(f"/q/questionnaire/{survey.questionnaire_id}/anonymity")).json()
    return found["anonymous"], found["waiting_count"], found["together_min"]


async def test_nothing_before_the_end(survey: Survey) -> None:
    person = await survey.invite(0)
    before = await stored(survey)
    page = await survey.open(person, f"?q={SCORE}&v=2")
    assert ("anonymous" in page.text, "kept as you go" in page.text) == (True, False)
    assert ("checked" in page.text, "data-view" in page.text) == (False, False)
    assert "Why?" in page.text  # of the second group
    token = markup.read(page.text).fields["token"]
    await survey.api.client.post(f"/a/{person['instance_id']}/view", data={"token": token}, headers=FORM)
    wrong = await survey.send(page, comment="half")
    assert (422, True) == (wrong.status_code, "half" in wrong.text)
    more = await survey.send(wrong, score="2", comment="half")
    assert (200, True) == (more.status_code, "What went wrong?" in more.text)
    again = await survey.send(more, score="2", comment="half")
    assert 422 == again.status_code  # the question that appeared is required
    assert before == await stored(survey)
    patched = await survey.api.patch(f"/q/instance/{person['instance_id']}", {"editable": True})
    assert (False, "invitation") == (patched.json()["editable"], patched.json()["anonymity"])

    end = await survey.send(again, score="2", comment="half", why="Everything")
    assert (200, True) == (end.status_code, "We are sorry" in end.text)
    [row] = await stored(survey)
    assert (True, None, None) == (row["finalized"], row["viewed_time"], row["submitted_time"])
    assert (True, 1, TOGETHER_MIN) == await anonymity(survey)
    twice = await survey.send(again, score="2", comment="half", why="Everything")
    assert (303, f"/a/{person['instance_id']}") == (twice.status_code, twice.headers["location"])
    after = await survey.open(person)
    assert ("Thank you" in after.text, "We are sorry" in after.text, "half" in after.text) == (True, False, False)
    kinds = [kind for kind, _ in await survey.api.events(person["instance_id"])]
    assert ["questionnaire_instance.created"] == kinds
    await survey.answer(TOGETHER_MIN - 1)
    assert (True, 0, TOGETHER_MIN) == await anonymity(survey)
    responses = [row for row in await stored(survey) if row["anonymity"] == "response"]
    assert TOGETHER_MIN == len(responses)


async def test_test_and_public_link(survey: Survey) -> None:
    """Neither waits for others: a test is of nobody, and a visitor is not known."""
    person = await survey.invite(0)
    async with db.transaction(survey.api.pool) as database:
        await database.execute("update questionnaire_instance set test = true")
    assert 200 == (await survey.send(await survey.open(person), score="9")).status_code
    assert [("invitation", True), ("response", True)] == sorted(
        (row["anonymity"], row["test"]) for row in await stored(survey)
    )
    await survey.api.patch(f"/q/questionnaire/{survey.questionnaire_id}", {"public_link": True})
    address = f"/p/{survey.questionnaire_id}/ref/order-1?transaction_id=1042"
    page = await survey.api.client.get(address)
    assert "anonymous" in page.text
    form = markup.read(page.text)
    sent = await survey.api.client.post(
        form.data["action"], data={**form.fields, field_name(SCORE): "9", "homepage": "x", "go": "next"}, headers=FORM
    )
    assert 303 == sent.status_code
    [row] = [row for row in await stored(survey) if not row["test"]]
    assert ("response", {}, None, None) == (row["anonymity"], row["metadata"], row["flags"], row["reference_id"])
    assert row["submitted_time"] is not None
    assert COMMENT not in re.findall(r"q-(\w+)", page.text)


async def test_responses_max(survey: Survey) -> None:
    """Answers that wait count."""
    await survey.api.patch(f"/q/questionnaire/{survey.questionnaire_id}", {"responses_max": 2})
    people = [await survey.invite(number) for number in range(3)]
    for person in people[:-1]:
        assert 200 == (await survey.send(await survey.open(person), score="9")).status_code
    assert 410 == (await survey.open(people[-1])).status_code
