"""Items of all pipelines: refusals, filters, pages that end where others begin, counts, and bounded reading."""

from typing import Any

import pytest

from afterword.core.organizations.access import SCOPES
from afterword.core.scheduling.statuses import Item, PublicItem
from afterword.kit import db
from afterword.kit.transport.base import Sent
from afterword.sending.queue import lists
from afterword.sending.queue.lists import Filter
from tests.conftest import House
from tests.making import make_application
from tests.sending.queue.conftest import Client, Queue, codes
from tests.sending.queue.test_plans import Explained, nodes

ITEMS, COUNT, HOUR = "/q/queue/item", "/q/queue/count", "/q/queue/hour"
OVERLAP = "/q/queue/overlap"


async def fill(queue: Queue, *, count: int = 6) -> list[str]:
    """Items a minute apart, alternately of two pipelines; each third waits, is ignored, or was sent."""
    other = await queue.pipeline()
    await queue.execute(
        """insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id,
             responder_channel_identifier, address_key, send_time, send_offset_minutes, due_time, not_after,
             attempts_max, status, reason, dispatched_time, external_reference)
           select $1, lpad(n::text, 22, '0'), $2, case n % 2 when 0 then $3 else $4 end, 'ann@example.com', '\\x00',
             now() - make_interval(mins => n), 0, now(), now(), 3, case n % 3 when 0 then 1 when 1 then 8 else 4 end,
             case n % 3 when 1 then case n % 2 when 0 then 'frequency_cap' else 'conditions' end end,
             case n % 3 when 2 then now() end, 'order-' || n
           from generate_series(1, $5::int) n""",
        queue.house.organization_id,
        queue.house.questionnaire_id,
        queue.pipeline_id,
        other.pipeline_id,
        count,
    )
    return [f"{n:022}" for n in range(1, count + 1)]


async def other_application(client: Client) -> str:
    return await make_application(client.queue.pool, client.queue.house.organization_id)


async def pages(client: Client, query: str, *, limit: int) -> list[str]:
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        page = await client.ok("GET", f"{ITEMS}?limit={limit}&{query}{after and f'&after={after}'}")
        found += [item["item_id"] for item in page["results"]]
        after = page["next_cursor"]
    return found


@pytest.mark.parametrize("path", [ITEMS, COUNT, HOUR])
class TestRefusals:
    async def test_other_application(self, client: Client, path: str) -> None:
        await client.create()
        narrow = await client.with_token(SCOPES, application_ids=[await other_application(client)])
        found = await narrow.ok("GET", path)
        assert [] == (found["results"] if path == ITEMS else found)
        refused = await narrow.send("GET", f"{path}?application_id={client.queue.house.application_id}")
        assert ["unknown_id"] == [code for _, code in codes(refused)]


class TestList:
    async def test_all_by_pages_in_both_orders(self, client: Client) -> None:
        expected = await fill(client.queue, count=10)
        assert expected == await pages(client, "", limit=3)
        assert expected[::-1] == await pages(client, "oldest_first=1", limit=3)

    async def test_filters(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("afterword.sending.queue.lists.SCANNED_MAX", 2)
        ids = await fill(client.queue, count=24)
        pipeline = client.queue.pipeline_id
        ours = [one for one in ids if int(one) % 2 == 0]
        capped = [one for one in ids if int(one) % 6 == 4]
        assert capped == await pages(client, "status_id[]=6&reason=frequency_cap", limit=2)
        assert ours == await pages(client, f"pipeline_id={pipeline}", limit=2)
        assert ours[::-1] == await pages(client, f"pipeline_id={pipeline}&oldest_first=1", limit=2)
        assert capped == await pages(client, f"status_id[]=6&pipeline_id={pipeline}", limit=50)
        assert ids == await pages(client, f"application_id={client.queue.house.application_id}", limit=2)

    async def test_of_an_order(self, client: Client) -> None:
        await fill(client.queue)
        path = f"{ITEMS}?external_reference=order-3"
        [item] = (await client.ok("GET", path))["results"]
        assert ("order-3", 1) == (item["external_reference"], item["status_id"])
        await client.send("PATCH", f"/q/queue/item/{item['item_id']}", {"status_id": 5})
        again = await client.create(external_reference="order-3")
        found = (await client.ok("GET", path))["results"]
        assert [(again["item_id"], 1), (item["item_id"], 5)] == [(one["item_id"], one["status_id"]) for one in found]

    async def test_of_an_address(self, client: Client) -> None:
        await client.create(responder_channel_identifier="bob@example.com")
        sent = await client.sent()
        ids = [(await client.create())["item_id"], (await client.create())["item_id"]]
        await client.send("PATCH", f"/q/queue/item/{ids[0]}", {"status_id": 5})
        found = await pages(client, "responder_channel_identifier=Ann@example.com", limit=50)
        assert {*ids, sent["item_id"]} == set(found)
        assert [] == await pages(client, "responder_channel_identifier=nobody", limit=50)

    async def test_while_it_is_sent(self, client: Client) -> None:
        item = await client.create()
        await client.queue.worker().claim()
        [found] = (await client.ok("GET", f"{ITEMS}?status_id[]=2"))["results"]
        assert (item["item_id"], 2) == (found["item_id"], found["status_id"])
        assert [(2, None, 1)] == [tuple(one.values())[:3] for one in await client.ok("GET", COUNT)]

    async def test_cursor_of_nothing(self, client: Client) -> None:
        await client.create()
        await client.create()
        after = (await client.ok("GET", f"{ITEMS}?limit=1"))["next_cursor"]
        refused = await client.send("GET", f"{ITEMS}?after={after[:-1]}")
        assert ["invalid_cursor"] == [code for _, code in codes(refused)]
        await client.queue.execute("delete from queue_item")
        refused = await client.send("GET", f"{ITEMS}?after={after}")
        assert ["invalid_cursor"] == [code for _, code in codes(refused)]


class TestCount:
    async def test_by_status_and_reason(self, client: Client) -> None:
        await fill(client.queue, count=12)
        found = [tuple(one.values()) for one in await client.ok("GET", COUNT)]
        assert [
            (1, None, 4, False),
            (3, None, 4, False),
            (6, "conditions", 2, False),
            (6, "frequency_cap", 2, False),
        ] == found
        narrow = await client.send("GET", f"{COUNT}?pipeline_id={client.queue.pipeline_id}&status_id[]=6")
        assert [(6, "frequency_cap", 2)] == [tuple(one.values())[:3] for one in narrow.json()]

    async def test_ends_at_its_limit(self, client: Client) -> None:
        await fill(client.queue, count=30)
        found = await client.queue.run(
            lists.count_items_record, organization_id=client.queue.house.organization_id, chosen=Filter(), limit=7
        )
        counts = {(one.status_id, one.reason): (one.count, one.is_capped) for one in found}
        assert ((7, True), (5, False)) == (counts[PublicItem.SENT, None], counts[PublicItem.IGNORED, "conditions"])


class TestOverlaps:
    async def test_pipelines_that_wrote_to_the_same_people(self, client: Client, neighbour: House) -> None:
        queue, path = client.queue, f"{OVERLAP}?pipeline_id={client.queue.pipeline_id}"
        other = await queue.pipeline()
        theirs = client.items.replace(queue.pipeline_id, other.pipeline_id)
        for name, paths in (("ann", (client.items, theirs)), ("ben", (client.items,)), ("cem", (theirs,))):
            for items in paths:
                body = {"responder_channel_identifier": f"{name}@example.com"}
                assert 201 == (await client.send("POST", items, body)).status_code
        for one in (queue, other):
            await one.worker().send(Sent("reference", 250, "ok"))
        expected = {"pipeline_id": other.pipeline_id, "title": "Other", "people": 1, "sampled_people": 2}
        assert [expected] == await client.ok("GET", path)
        narrow = await client.with_token(SCOPES, application_ids=[await other_application(client)])
        client.headers = neighbour.headers
        for asking in (narrow, client):
            assert [("/pipeline_id", "unknown_id")] == codes(await asking.send("GET", path))


class TestHours:
    async def test_from_this_hour_on(self, client: Client) -> None:
        """Of what waits alone; what is due already, or after seven days, is left out."""
        await fill(client.queue, count=24)
        await client.queue.execute(
            """update queue_item set due_time = date_trunc('hour', now())
                 + case item_id::int % 4 when 0 then interval '30 hours' when 1 then interval '31 hours'
                        when 2 then interval '8 days' else interval '-1 day' end"""
        )
        found = await client.ok("GET", HOUR)
        assert [(2, False), (2, False)] == [(one["count"], one["is_capped"]) for one in found]
        assert found[0]["hour"] < found[1]["hour"]
        narrow = await client.ok("GET", f"{HOUR}?pipeline_id={client.queue.pipeline_id}")
        assert [2] == [one["count"] for one in narrow]
        async with db.connection(client.queue.pool) as database:
            place = {"organization_id": client.queue.house.organization_id, "time_zone": "UTC"}
            capped = await lists.count_hours_record(database, **place, chosen=Filter(), limit=1)
        assert any(one.is_capped for one in capped)


async def test_plans_over_many_items(queue: Queue) -> None:
    """No statement reads the table: each begins in an index and ends after the rows that it needs."""
    await fill(queue, count=20_000)
    async with db.connection(queue.pool) as database:
        await database._connection.execute("analyze queue_item")
        explained: Any = Explained(database)
        organization_id = queue.house.organization_id
        for chosen in (Filter(), Filter(statuses=[Item.IGNORED], pipeline_ids=["0" * 22])):
            await lists.list_item_records(
                explained, organization_id=organization_id, chosen=chosen, limit=50, scanned=500
            )
            assert "queue_item_state" in check(explained.plan, buffers_max=3_000)
        await lists.count_items_record(explained, organization_id=organization_id, chosen=Filter(), limit=1_000)
        check(explained.plan, buffers_max=5_000)


def check(plan: dict[str, Any], *, buffers_max: int) -> set[str]:
    """The indexes of a plan that reads no table from its beginning."""
    found = [node for node in nodes(plan) if node.get("Relation Name") == "queue_item"]
    assert "Seq Scan" not in {node["Node Type"] for node in found}, plan
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < buffers_max, plan
    return {node["Index Name"] for node in nodes(plan) if "Index Name" in node}
