"""Asking the customer of a case again: whom nobody may ask, and the pipeline that the settings choose."""

from tests.cases.conftest import Desk
from tests.cases.conftest import desk as desk  # noqa: PLC0414  a fixture
from tests.cases.messages.test_messages import case_of_ann
from tests.conftest import client as client  # noqa: PLC0414  a fixture


async def test_refusals(desk: Desk) -> None:
    """Nobody is asked without a customer, on an old version of the case, or after unsubscribing."""
    path = f"{await case_of_ann(desk)}/recovery"
    stale = await desk.api.send("POST", path, headers={"If-Match": '"77"'})
    assert 412 == stale.status_code
    wrong = {"recovery_questionnaire_id": "0" * 22}
    assert (422, "unknown_id /recovery_questionnaire_id") == await desk.api.refused("PATCH", "/alert/settings", wrong)
    await desk.respond()
    await desk.raise_all()
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
