"""Sample deliveries: as REST hooks of other systems ask for them before they subscribe."""

import json

from afterword.core.messaging.notices import TYPES
from afterword.run import renderings
from afterword.run.worker.deliverer import Deliverer
from tests.events.conftest import Desk
from tests.making import make_token
from tests.sending.channels.receiver import Receiver

PATH = "/webhook/sample?event_type="


async def test_refused(desk: Desk) -> None:
    wrong = {"tag.*": "unknown_value", "*": "unknown_value", "moon.rises": "unknown_value", "": "too_short"}
    for query, code in wrong.items():
        found = await desk.ask("GET", f"{PATH}{query}", status=422)
        assert [("event_type", code)] == [(one["parameter"], one["code"]) for one in found["errors"]]


async def test_rights_of_what_it_is_about(desk: Desk) -> None:
    """Without them it is an example, and nothing of what happened."""
    told = await desk.tell("tag.added")
    token = await make_token(desk.pool, desk.house.organization_id, scopes=["Webhook.Read"])
    answer = await desk.client.get(f"{PATH}tag.added", headers={"Authorization": f"Bearer {token}"})
    assert [told] != [[one["event"]["event_id"]] for one in answer.json()]
    assert desk.house.organization_id not in answer.text


async def test_as_delivered(desk: Desk, deliverer: Deliverer) -> None:
    """The newest first, three at most, each with the very body that a webhook got."""
    async with Receiver() as receiver:
        await desk.hook(receiver.url)
        told = await desk.send(deliverer, *["tag.added"] * 4, "tag.removed")
    delivered = [json.loads(given.body) for given in receiver.given]
    found = await desk.ask("GET", f"{PATH}tag.added")
    assert told[3:0:-1] == [one["event"]["event_id"] for one in found]
    assert all(one in delivered for one in found)


async def test_examples(desk: Desk) -> None:
    """Of each type there is a body of its form, without an event too."""
    for type_name in sorted(TYPES):
        for one in await desk.ask("GET", f"{PATH}{type_name}"):
            assert type_name == one["event"]["type"]
            assert len(one) > 1 or type_name.startswith("sequence.")
    (completed,) = await desk.ask("GET", f"{PATH}questionnaire_instance.completed")
    assert {"instance_id", "answers", "metadata"} <= completed.keys()


def test_each_family_has_its_struct() -> None:
    assert {one.partition(".")[0] for one in TYPES} <= renderings.RESOURCES.keys()
