"""Items for somebody who sees one branch: an item belongs to the branch whose value of metadata it has."""

from typing import Any

import pytest

from afterword.core.organizations.access import SCOPES
from afterword.kit import db
from afterword.sending.queue import lists
from afterword.sending.queue.lists import Filter
from tests.sending.queue.conftest import BODY, Client, Queue, codes
from tests.sending.queue.test_lists import check, fill
from tests.sending.queue.test_plans import Explained

NORTH = {**BODY, "metadata": {"questionnaire": {"store_id": "north"}}}
SOUTH = {**BODY, "metadata": {"questionnaire": {"store_id": "south"}}, "external_reference": "order-s"}
POINTER = "/metadata/questionnaire/store_id"


@pytest.fixture
async def manager(client: Client) -> Client:
    return await client.with_token(SCOPES, only_where="store_id", only_values=["north"])


class TestScheduleItem:
    @pytest.mark.parametrize(
        ("body", "code"), [(BODY, "required"), (SOUTH, "unknown_value"), ({**BODY, "metadata": None}, "required")]
    )
    async def test_refusals(self, client: Client, manager: Client, body: dict[str, Any], code: str) -> None:
        response = await manager.send("POST", client.items, body)
        assert (422, [(POINTER, code)]) == (response.status_code, codes(response))
        assert "south" not in response.json()["detail"]
        put = await manager.send("PUT", f"{client.pipeline}/queue/reference/order-9", body)
        assert (422, [(POINTER, code)]) == (put.status_code, codes(put))
        assert 0 == await client.queue.value("select count(*) from queue_item")

    async def test_ok(self, client: Client, manager: Client) -> None:
        response = await manager.send("POST", client.items, NORTH)
        assert 201 == response.status_code
        item_id = response.json()["item_id"]
        for path in (
            f"{client.items}/{item_id}",
            f"/q/queue/item/{item_id}",
            f"/q/queue/item/{item_id}/trace",
        ):
            assert 200 == (await manager.send("GET", path)).status_code


class TestChange:
    async def test_elsewhere(self, client: Client, manager: Client) -> None:
        """No item of another branch is read, changed, explained, sent again or removed."""
        item_id = (await client.create(**SOUTH))["item_id"]
        path = f"/q/queue/item/{item_id}"
        for method, below, body in (
            ("GET", "", None),
            ("PATCH", "", {"status_id": 5}),
            ("DELETE", "", None),
            ("GET", "/trace", None),
            ("GET", "/attempt", None),
            ("POST", "/repetition", {}),
        ):
            assert 404 == (await manager.send(method, path + below, body)).status_code, (method, below)
        assert 1 == (await client.send("GET", path)).json()["status_id"]

    async def test_an_item_stays_in_its_branch(self, client: Client, manager: Client) -> None:
        item_id = (await manager.send("POST", client.items, NORTH)).json()["item_id"]
        path = f"{client.items}/{item_id}"
        for value, code in (("south", "unknown_value"), (None, "required")):
            refused = await manager.send("PATCH", path, {"metadata": {"questionnaire": {"store_id": value}}})
            assert (422, [(POINTER, code)]) == (refused.status_code, codes(refused))
        assert 200 == (await manager.send("PATCH", path, {"locale": "el"})).status_code
        assert 204 == (await manager.send("DELETE", path)).status_code


class TestReference:
    async def test_elsewhere(self, client: Client, manager: Client) -> None:
        """It is not found; that it is taken is told, since a pipeline has it once."""
        await client.create(**SOUTH)
        path = f"{client.pipeline}/queue/reference/order-s"
        assert 404 == (await manager.send("GET", path)).status_code
        assert 404 == (await manager.send("DELETE", path)).status_code
        taken = await manager.send("PUT", path, NORTH)
        assert (409, "already_exists") == (taken.status_code, taken.json()["code"])
        assert "south" == (await client.ok("GET", path))["metadata"]["questionnaire"]["store_id"]

    async def test_ok(self, client: Client, manager: Client) -> None:
        path = f"{client.pipeline}/queue/reference/order-n"
        assert [201, 200, 200, 204] == [
            (await manager.send(method, path, body)).status_code
            for method, body in (("PUT", NORTH), ("PUT", NORTH), ("GET", None), ("DELETE", None))
        ]


class TestLists:
    async def test_counts_and_pages(self, client: Client, manager: Client) -> None:
        for number in range(6):
            await client.create(**{**(SOUTH if number % 2 else NORTH), "external_reference": f"order-{number}"})
        found = (await manager.send("GET", "/q/queue/item?limit=2")).json()
        rest = (await manager.send("GET", f"/q/queue/item?limit=2&after={found['next_cursor']}")).json()
        shown = [*found["results"], *rest["results"]]
        assert ["north"] * 3 == [one["metadata"]["questionnaire"]["store_id"] for one in shown]
        assert [3] == [one["count"] for one in await manager.ok("GET", "/q/queue/count")]
        assert [6] == [one["count"] for one in await client.ok("GET", "/q/queue/count")]
        for name, value in (
            ("external_reference", "order-1"),
            ("external_reference", "order-0"),
            ("responder_channel_identifier", BODY["responder_channel_identifier"]),
        ):
            listed = (await manager.send("GET", f"/q/queue/item?{name}={value}")).json()["results"]
            assert {"north"} >= {one["metadata"]["questionnaire"]["store_id"] for one in listed}
            assert (value != "order-1") == bool(listed)

    async def test_hours(self, client: Client, manager: Client) -> None:
        for body in (NORTH, SOUTH):
            await client.create(**body)
        await client.queue.execute("update queue_item set due_time = now() + interval '30 hours'")
        assert [1] == [one["count"] for one in await manager.ok("GET", "/q/queue/hour")]

    async def test_plans(self, queue: Queue) -> None:
        """A branch that has no item costs as much as the items that a page looks at, in the same index."""
        await fill(queue, count=3_000)
        async with db.connection(queue.pool) as database:
            await database._connection.execute("analyze queue_item")
            explained: Any = Explained(database)
            given = {"organization_id": queue.house.organization_id, "chosen": Filter(only=("store_id", "nowhere"))}
            await lists.list_item_records(explained, **given, limit=50, scanned=500)
            assert "queue_item_state" in check(explained.plan, buffers_max=6_000)
            await lists.count_items_record(explained, **given, limit=500)
            assert "queue_item_state" in check(explained.plan, buffers_max=6_000)
