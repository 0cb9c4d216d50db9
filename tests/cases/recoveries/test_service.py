"""A customer asked again: refusals, the item, and its answer, noted and told once."""

from afterword.cases import recoveries
from tests.cases.conftest import Desk
from tests.cases.messages.test_messages import case_of_ann

ROW = """insert into response (organization_id, instance_id, questionnaire_id, application_id, version_id, responder_id,
    test, locale, submitted_time, score_question_id, score_kind, score, score_max, band, words)
  select organization_id, instance_id, questionnaire_id, $2, version_id, responder_id, false, locale, submitted_time,
    'q', 'csat', $3::integer, 5, case when $3 <= 2 then 'detractor' else 'promoter' end, ''
  from questionnaire_instance where instance_id = $1
  on conflict (organization_id, instance_id) do update set score = excluded.score, band = excluded.band"""


async def test_answered_and_changed(desk: Desk) -> None:
    case = await desk.case()
    answer = await desk.respond(5)
    keys = [(desk.house.organization_id, answer.instance_id)]
    for instance_id, score in ((case["instance_id"], 1), (answer.instance_id, 5)):
        await desk.execute(ROW, instance_id, desk.house.application_id, score)
    await _note(desk, keys)  # it answers no item
    await desk.execute(
        """update questionnaire_instance set previous_questionnaire_instance_id = $2, item_id = $3
           where instance_id = $1""",
        *(answer.instance_id, case["instance_id"], "I" * 22),
    )
    await desk.execute(
        "update alert_instance set recovery_item_id = $1 where alert_instance_id = $2",
        "I" * 22,
        case["alert_instance_id"],
    )
    for _ in range(2):
        await _note(desk, keys)
    assert ["recovery_answered"] == [kind for kind in await desk.kinds() if kind.startswith("recovery")]
    path = f"/alert/instance/{case['alert_instance_id']}"
    assert (await desk.api.get(path))["recovered"] is True
    await desk.execute(ROW, answer.instance_id, desk.house.application_id, 2)
    await _note(desk, keys)
    assert (await desk.api.get(path))["recovered"] is False
    assert 1 == (await desk.kinds()).count("recovery_answered")


async def _note(desk: Desk, keys: list[tuple[str, str]]) -> None:
    await desk.run(recoveries.record_recovery_answers, keys=keys, now=await desk.now())


async def test_refusals(desk: Desk) -> None:
    """Nobody is asked without a customer, on an old version of the case, or after unsubscribing."""
    path = f"{await case_of_ann(desk)}/recovery"
    stale = await desk.api.send("POST", path, headers={"If-Match": '"77"'})
    assert 412 == stale.status_code
    wrong = {"recovery_questionnaire_id": "0" * 22}
    assert (422, "unknown_id /recovery_questionnaire_id") == await desk.api.refused("PATCH", "/alert/settings", wrong)
    await desk.raised()
    nobody = (await desk.cases())[-1]["alert_instance_id"]
    assert (409, "no_address") == await desk.api.refused("POST", f"/alert/instance/{nobody}/recovery")
    address = {"channel_id": 1, "identifier": "ann@example.com", "reason": "unsubscribed"}
    await desk.api.ok("POST", "/suppression", address)
    for method in ("GET", "POST"):
        assert (409, "may_not_ask") == await desk.api.refused(method, path)
    assert 0 == await desk.value("select count(*) from queue_item where source = 'recovery'")


async def test_ok(desk: Desk) -> None:
    """The item carries on the chain of the response; nobody is asked twice before an answer."""
    case = await case_of_ann(desk)
    await desk.api.ok("PATCH", "/alert/settings", {"recovery_questionnaire_id": desk.house.questionnaire_id})
    foreseen = await desk.api.get(f"{case}/recovery")
    asked = await desk.api.ok("POST", f"{case}/recovery")
    assert (None, desk.house.pipeline_id) == (foreseen["item_id"], foreseen["pipeline_id"])
    shown = await desk.api.get(case)
    assert asked["item_id"] == shown["recovery_item_id"]
    assert shown["instance_id"] == await desk.value(
        "select previous_questionnaire_instance_id from queue_item where item_id = $1", asked["item_id"]
    )
    assert (409, "already_asked") == await desk.api.refused("POST", f"{case}/recovery")
    entry = (await desk.api.get(f"{case}/history"))["results"][-1]
    assert {"recovery_item_id": {"from": None, "to": asked["item_id"]}} == entry["changes"]
