"""Each writing tool: its dry run changes nothing, the code of the dry run acts once, scopes and tenants hold."""

from typing import Any

from afterword.extras.assistants.writing import TOOLS
from tests.conftest import House
from tests.dates import YEAR
from tests.extras.assistants.conftest import Assisted, assisted_by, call, refusal
from tests.privacy.conftest import (
    Desk,
    desk as desk,  # noqa: PLC0414  a fixture
    people,
)

DEFINITION = {
    "default_locale": "en",
    "groups": [{"questions": [{"type": "nps", "title": "Would you recommend us?", "required": True}]}],
}


async def arguments(assisted: Assisted) -> dict[str, dict[str, Any]]:
    house = assisted.house
    pipeline = {"questionnaire_id": house.questionnaire_id, "pipeline_id": house.pipeline_id}
    [case] = (await assisted.ask("/alert/instance"))["results"]
    [waiting, *_] = (await assisted.ask("/q/queue/item?status_id[]=1"))["results"]
    return {
        "schedule_item": {
            **pipeline,
            "responder_channel_identifier": "bob@example.com",
            "send_time": f"{YEAR}-03-01T09:00:00+02:00",
            "external_reference": "order 7",
            "metadata": {"responder": {"first_name": "Bob"}},
        },
        "cancel_item": {"item_id": waiting["item_id"], "why": "The order was returned."},
        "pause_pipeline": {**pipeline, "paused": True},
        "draft_questionnaire": {"display_name": "After a visit", "definition": DEFINITION},
        "save_draft": {"questionnaire_id": house.questionnaire_id, "revision": -1, "definition": DEFINITION},
        "comment_case": {"alert_instance_id": case["alert_instance_id"], "body": "Called back; all is well."},
        "change_case": {"alert_instance_id": case["alert_instance_id"], "status_id": 2, "cause": "Late delivery"},
    }


async def written(desk: Desk) -> str:
    """All rows that a tool could write or change."""
    return await desk.value(
        """select md5(string_agg(r, '')) from (
             select item_id || status || version as r from queue_item union all
             select questionnaire_id || updated_time from questionnaire union all
             select alert_instance_id || status_id || updated_time from alert_instance union all
             select pipeline_id || paused from pipeline union all
             select event_id from event union all
             select questionnaire_id || definition::text from questionnaire_draft union all
             select count(*)::text from idempotency_key order by 1) x"""
    )


async def test_dry_run_then_once(desk: Desk) -> None:
    await people(desk, ["cassandra"])
    async with assisted_by(desk.pool, desk.house) as assisted, assisted.client() as client:
        calls = await arguments(assisted)
        assert calls.keys() == {tool.name for tool in TOOLS}
        done: dict[str, Any] = {}
        for name, given in calls.items():
            before = await written(desk)
            seen = await call(client, name, **given)
            assert seen["dry_run"], name
            assert before == await written(desk), name
            done[name] = await call(client, name, **given, confirmation=seen["confirmation"])
            assert not done[name]["dry_run"], name
            assert before != await written(desk), name
        await acted(assisted, done, calls)


async def acted(assisted: Assisted, done: dict[str, Any], calls: dict[str, dict[str, Any]]) -> None:
    """Each did what its dry run said."""
    house = assisted.house
    item = await assisted.ask(f"/q/queue/item/{done['schedule_item']['result']['item_id']}")
    assert ("bob@example.com", 1, "order 7") == tuple(
        item[name] for name in ("responder_channel_identifier", "status_id", "external_reference")
    )
    cancelled = await assisted.ask(f"/q/queue/item/{calls['cancel_item']['item_id']}")
    assert (5, "The order was returned.") == (cancelled["status_id"], cancelled["result"])
    base = f"/q/questionnaire/{house.questionnaire_id}"
    assert (await assisted.ask(f"{base}/pipeline/{house.pipeline_id}"))["paused"]
    drafted = done["draft_questionnaire"]["result"]["questionnaire_id"]
    for questionnaire_id in (drafted, house.questionnaire_id):
        draft = await assisted.ask(f"/q/questionnaire/{questionnaire_id}/draft")
        assert "Would you recommend us?" in str(draft)
    assert (await assisted.ask(f"/q/questionnaire/{drafted}"))["published_version_id"] is None
    case_id = calls["change_case"]["alert_instance_id"]
    case = await assisted.ask(f"/alert/instance/{case_id}")
    assert (2, "Late delivery") == (case["status_id"], case["cause"])
    comments = (await assisted.ask(f"/alert/instance/{case_id}/comment"))["results"]
    assert "Called back; all is well." in [comment["body"] for comment in comments]


def schedule(house: House, **more: Any) -> dict[str, Any]:
    return {
        "questionnaire_id": house.questionnaire_id,
        "pipeline_id": house.pipeline_id,
        "responder_channel_identifier": "bob@example.com",
        **more,
    }


async def test_a_code_acts_once_and_for_its_caller_alone(assisted: Assisted) -> None:
    house = assisted.house
    async with assisted.client() as client, assisted.client(await assisted.token()) as other:
        given = schedule(house)
        code = (await call(client, "schedule_item", **given))["confirmation"]
        assert "not for this change" in await refusal(other, "schedule_item", **given, confirmation=code)
        changed = {**given, "responder_channel_identifier": "eve@example.com"}
        assert "not for this change" in await refusal(client, "schedule_item", **changed, confirmation=code)
        first, second = [await call(client, "schedule_item", **given, confirmation=code) for _ in range(2)]
        assert first["result"]["item_id"] == second["result"]["item_id"]
    assert 1 == len((await assisted.ask("/q/queue/item"))["results"])


async def test_a_change_between_dry_run_and_act_is_refused(assisted: Assisted) -> None:
    async with assisted.client() as client:
        made = schedule(assisted.house, send_time=f"{YEAR}-03-01T09:00:00+02:00")
        code = (await call(client, "schedule_item", **made))["confirmation"]
        item_id = (await call(client, "schedule_item", **made, confirmation=code))["result"]["item_id"]
        cancel, other = ({"item_id": item_id, "why": why} for why in ("Returned.", "Doubled."))
        codes = [(await call(client, "cancel_item", **each))["confirmation"] for each in (cancel, other)]
        await call(client, "cancel_item", **cancel, confirmation=codes[0])
        assert "412 precondition_failed" in await refusal(client, "cancel_item", **other, confirmation=codes[1])


async def test_a_draft_that_a_person_changed_meanwhile_stays(assisted: Assisted) -> None:
    """Before the dry run, and between it and the act."""
    base = {"questionnaire_id": assisted.house.questionnaire_id, "definition": DEFINITION}
    path = f"/q/questionnaire/{base['questionnaire_id']}/draft"
    async with assisted.client() as client:
        assert "404 not_found" in await refusal(client, "save_draft", **base, revision=0)
        first = await call(client, "save_draft", **base, revision=-1)
        saved = await call(client, "save_draft", **base, revision=-1, confirmation=first["confirmation"])
        revision = saved["result"]["revision"]
        assert "412 precondition_failed" in await refusal(
            client, "save_draft", **base, revision=-1, confirmation=first["confirmation"]
        )
        read = {**base, "definition": {**DEFINITION, "pages": {"en": {"thank_you": "Thanks."}}}, "revision": revision}
        code = (await call(client, "save_draft", **read))["confirmation"]
        typed = await assisted.put(path, {**DEFINITION, "pages": {"en": {"thank_you": "Typed."}}})
        assert "412 precondition_failed" in await refusal(client, "save_draft", **read, confirmation=code)
        assert f"revision {typed['revision']}" in await refusal(client, "save_draft", **read)
    assert "Typed." in str(await assisted.ask(path))


async def test_wrong_changes_get_no_code(assisted: Assisted) -> None:
    house, groups = assisted.house, [{"questions": [{"type": "guess", "title": "x"}]}]
    draft = {"questionnaire_id": house.questionnaire_id, "revision": -1}
    wrong: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("schedule_item", schedule(house, responder_channel_identifier="no address"), "identifier. This is not"),
        ("schedule_item", schedule(house, send_time="tomorrow at nine"), "send_time. A date with a time"),
        ("save_draft", {**draft, "definition": {"default_locale": "en", "groups": groups}}, "/type"),
        ("change_case", {"alert_instance_id": house.pipeline_id}, "Give at least one member to change"),
    )
    async with assisted.client() as client:
        for name, given, sentence in wrong:
            assert sentence in await refusal(client, name, **given)


async def test_scopes_and_tenants(assisted: Assisted, neighbour: House) -> None:
    house = assisted.house
    drafted = {"display_name": "After a visit", "definition": DEFINITION}
    paused = {"questionnaire_id": house.questionnaire_id, "pipeline_id": house.pipeline_id, "paused": True}
    async with assisted.client(await assisted.token(without={"Queue.Create"})) as client:
        assert "Queue.Create" in await refusal(client, "schedule_item", **schedule(house))
    async with assisted.client(await assisted.token(without={"Questionnaire.Create", "Pipeline.Update"})) as client:
        for name, given, scope in (
            ("draft_questionnaire", drafted, "Questionnaire.Create"),
            ("pause_pipeline", paused, "Pipeline.Update"),
        ):
            code = (await call(client, name, **given))["confirmation"]
            assert scope in await refusal(client, name, **given, confirmation=code)
    async with assisted.client(neighbour.token) as client:
        assert "404 not_found" in await refusal(client, "pause_pipeline", **paused)
        assert "404 not_found" in await refusal(client, "schedule_item", **schedule(house))
