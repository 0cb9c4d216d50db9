"""Captured messages over the API: callers that see them, filters, and one with its content."""

from msgspec.structs import replace

from afterword.core.organizations.access import SCOPES
from afterword.kit.transport.base import SMS, WEBHOOK, Message, Sent
from afterword.sending.queue import outbox
from tests.conftest import SITE
from tests.sending.channels.conftest import MESSAGE
from tests.sending.queue.conftest import Client, Queue

OUTBOX = "/q/outbox"


async def capture(queue: Queue, item_id: str, **changed: object) -> None:
    own = {"organization_id": queue.house.organization_id, "item_id": item_id, **changed}
    message: Message = replace(MESSAGE, **own)
    await queue.run(outbox.insert_message, message=message)


async def listed(client: Client, query: str = "") -> list[str]:
    response = await client.send("GET", f"{OUTBOX}?{query}")
    assert 200 == response.status_code, response.text
    return [one["message_id"] for one in response.json()["results"]]


async def test_callers_that_see_less(client: Client) -> None:
    real, test = (await client.create())["item_id"], (await client.create(test=True))["item_id"]
    for item_id in (real, test):
        await capture(client.queue, item_id)
    assert [test, real] == await listed(client)
    tester = await client.with_token(SCOPES, test=True)
    assert [test] == await listed(tester)
    without_values = await client.with_token(SCOPES - {"Responder Value.Read"})
    assert 403 == (await without_values.send("GET", f"{OUTBOX}/{test}")).status_code


async def test_filters_and_content(client: Client) -> None:
    item_id = (await client.create(test=True))["item_id"]
    await client.queue.worker().send(Sent("captured"))
    await capture(client.queue, item_id)
    texts = {"recipient": "+306900000000", "text": "SMS", "subject": ""}
    for number, channel_id in ((1, SMS), (2, WEBHOOK)):
        await capture(client.queue, f"{number:022}", channel_id=channel_id, **texts)
    of_pipeline = f"filter_by[EQUAL][PipelineId]={client.queue.pipeline_id}"
    assert [item_id] == await listed(client, of_pipeline)
    assert [item_id] == await listed(client, "filter_by[EQUAL][ResponderChannelIdentifier]=ann@example.org")
    first = await client.send("GET", f"{OUTBOX}?limit=2")
    assert 2 == len(first.json()["results"])
    mail = await client.ok("GET", f"{OUTBOX}/{item_id}")
    assert ("How was it?", "How was it?", True) == (mail["subject"], mail["text"].strip(), mail["test"])
    assert "<p>How was it?</p>" == mail["html"].strip()
    assert mail["collection_url"].startswith(f"{SITE.public_url}/a/")
    sms = await client.ok("GET", f"{OUTBOX}/{2:022}")
    assert ("SMS", None, None, None) == (sms["text"], sms["html"], sms["collection_url"], sms["item_id"])
