"""Items of the last days decided anew: as of their own time, by caps that count the replay, and without a trace."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from afterword import db
from afterword.channels.base import Sent
from afterword.core.organizations.access import installation
from afterword.queue.replays import service
from tests.queue.client import Client
from tests.queue.conftest import Queue


@pytest.fixture
async def client(http: httpx2.AsyncClient, queue: Queue) -> Client:
    return Client(http, queue)


async def sent(client: Client, days_ago: int, name: str = "ann", **more: Any) -> str:
    """The id of an item that was sent so long ago."""
    item = await client.create(responder_channel_identifier=f"{name}@example.com", **more)
    await client.queue.worker().send(Sent("reference", 250, "ok"))
    await client.queue.execute(
        "update queue_item set send_time = now() - make_interval(days => $2), not_after = now() where item_id = $1",
        *(item["item_id"], days_ago),
    )
    return item["item_id"]


async def replayed(client: Client) -> dict[str, str]:
    organization_id, pipeline_id = client.queue.house.organization_id, client.queue.house.pipeline_id
    async with db.connection(client.queue.pool) as database:
        now = database.clock.now() + timedelta(seconds=1)
        key: dict[str, Any] = {"pipeline_id": pipeline_id, "now": now}
        items = await service.list_newest(database, caller=installation(organization_id), **key)
        return await service.replay(database, organization_id=organization_id, **key, items=items)


async def test_caps_count_what_the_replay_sends(client: Client) -> None:
    ids = [await sent(client, days) for days in (9, 7, 1)]
    other = await sent(client, 5, "bob")
    assert dict.fromkeys([*ids, other], service.ASKED) == await replayed(client)
    await client.queue.change_pipeline("frequency_cap_days = 3")
    found = await replayed(client)
    assert ["", "frequency_cap", ""] == [found[item_id] for item_id in ids]
    assert service.ASKED == found[other]


async def test_what_came_later_does_not_count(client: Client) -> None:
    early, late = await sent(client, 9), await sent(client, 1)
    await client.send("POST", "/suppression", {"channel_id": 1, "identifier": "ann@example.com"})
    await client.queue.execute("update suppression set created_time = now() - interval '5 days'")
    found = await replayed(client)
    assert service.ASKED == found[early]
    assert found[late] not in {service.ASKED, "frequency_cap"}


async def test_left_out(client: Client) -> None:
    """Tests, reminders, erased people, what is older, and what is still to come."""
    await sent(client, 40)
    await sent(client, 2, "test")
    await sent(client, 2, "reminder")
    erased = await sent(client, 2, "erased")
    await client.queue.execute("update queue_item set test = true where responder_channel_identifier ~ '^test'")
    await client.queue.execute(
        "update queue_item set source = 'reminder' where responder_channel_identifier ~ '^reminder'"
    )
    await client.queue.execute("update queue_item set anonymized_time = now() where item_id = $1", erased)
    assert {} == await replayed(client)


async def test_holds_end(client: Client) -> None:
    """What a closed window holds is decided again when it opens."""
    item_id = await sent(client, 8)
    await client.queue.execute("update queue_item set not_after = now() + interval '9 days'")
    await client.queue.change_pipeline("dispatch_start_time = '03:00', dispatch_end_time = '03:30'")
    assert {item_id: service.ASKED} == await replayed(client)
