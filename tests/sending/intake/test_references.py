"""Business keys: one live item under the client's own name, however often and at once it is asked for."""

import asyncio
from typing import Any
from urllib.parse import quote

import pytest

from afterword.core.organizations.access import SCOPES
from tests.dates import YEAR
from tests.sending.queue.conftest import BODY, OK, Client

METHODS = ("GET", "PUT", "DELETE")


def path(client: Client, reference: str = "order 1042") -> str:
    return f"{client.pipeline}/queue/reference/{quote(reference, safe='')}"


async def put(client: Client, body: dict[str, Any] | None = None, reference: str = "order 1042", **headers: str) -> Any:
    return await client.send("PUT", path(client, reference), BODY if body is None else body, **headers)


async def test_broken_encoding(client: Client) -> None:
    response = await client.send("PUT", f"{client.pipeline}/queue/reference/%ff%fe", BODY)
    assert 404 == response.status_code


async def count(client: Client) -> int:
    return await client.queue.value("select count(*) from queue_item")


class TestRefusals:
    @pytest.mark.parametrize("scope", ["Queue.Create", "Queue.Update"])
    async def test_put_needs_both_scopes(self, client: Client, scope: str) -> None:
        response = await put(await client.with_token(SCOPES - {scope}))
        assert (403, [scope]) == (response.status_code, response.json()["required_scopes"])

    async def test_what_no_reference_is(self, client: Client) -> None:
        for method in METHODS:
            for reference in ("x" * 101, "a\nb", "a\x00b", "a\x7f", "a\u0085", "a/b"):
                assert 404 == (await client.send(method, path(client, reference), BODY)).status_code, method
                assert 0 == await count(client)

    async def test_invalid(self, client: Client) -> None:
        response = await put(client, {"responder_channel_identifier": "no address"})
        assert (422, "invalid") == (response.status_code, response.json()["code"])

    async def test_not_published(self, client: Client) -> None:
        await client.queue.execute("update questionnaire set published_version_id = null")
        assert (409, "questionnaire_not_published") == ((r := await put(client)).status_code, r.json()["code"])


class TestPut:
    async def test_creates_then_changes(self, client: Client) -> None:
        created = await put(client, {**BODY, "locale": "el", "send_time": f"{YEAR}-07-01T09:00:00+03:00"})
        assert 201 == created.status_code, created.text
        item = created.json()
        assert created.headers["location"].endswith(f"/q/queue/item/{item['item_id']}")
        assert ("order 1042", 1) == (item["external_reference"], item["status_id"])

        same = await put(client, {**BODY, "locale": "el"})
        assert (200, item) == (same.status_code, same.json())
        assert created.headers["etag"] == same.headers["etag"]

        changed = await put(client, {"responder_channel_identifier": "bob@example.com"})
        assert 200 == changed.status_code
        after = changed.json()
        assert ("bob@example.com", None, item["send_time"]) == tuple(
            after[name] for name in ("responder_channel_identifier", "locale", "send_time")
        )
        assert "location" not in changed.headers
        assert after == await client.ok("GET", path(client))
        stored = await client.queue.fetch("select type from event where subject_id = $1 order by seq", item["item_id"])
        assert ["queue_item.created", "queue_item.updated"] == [row["type"] for row in stored]

    async def test_none_that_is_there(self, client: Client) -> None:
        assert 201 == (await put(client, **{"If-None-Match": "*"})).status_code
        item = await client.ok("GET", path(client))
        for tags in ("*", '"1"', 'W/"1"', '"7", "1"'):
            again = await put(client, {"responder_channel_identifier": "bob@example.com"}, **{"If-None-Match": tags})
            assert (412, "precondition_failed") == (again.status_code, again.json()["code"])
        assert item == await client.ok("GET", path(client))
        assert 200 == (await put(client, **{"If-None-Match": '"7"'})).status_code
        assert 204 == (await client.send("DELETE", path(client))).status_code
        assert 201 == (await put(client, **{"If-None-Match": "*"})).status_code
        both = {"If-Match": "*", "If-None-Match": "*"}
        assert [412, 412] == [(await put(client, reference=name, **both)).status_code for name in ("order 1042", "no")]

    async def test_metadata_are_replaced(self, client: Client) -> None:
        await put(client, {**BODY, "metadata": {"questionnaire": {"a": "1", "b": "2"}, "responder": {"c": "3"}}})
        await put(client, {**BODY, "metadata": {"questionnaire": {"a": "4"}}})
        assert {"questionnaire": {"a": "4"}, "responder": {}} == await client.queue.value(
            "select metadata from queue_item"
        )

    async def test_the_path_names_it(self, client: Client) -> None:
        response = await put(client, {**BODY, "external_reference": "another"})
        assert "order 1042" == response.json()["external_reference"]

    async def test_held_by_a_worker(self, client: Client) -> None:
        await put(client)
        await client.queue.worker().claim()
        response = await put(client)
        assert (409, "item_in_dispatch") == (response.status_code, response.json()["code"])
        assert "5" == response.headers["retry-after"]

    async def test_sent(self, client: Client) -> None:
        await put(client)
        await client.queue.worker().send(OK)
        response = await put(client)
        assert (409, "item_closed") == (response.status_code, response.json()["code"])
        assert 3 == (await client.ok("GET", path(client)))["status_id"]

    async def test_many_at_once_make_one(self, client: Client) -> None:
        bodies = [{**BODY, "locale": locale} for locale in ("el", "en", "de", "fr", "it", "es")]
        responses = await asyncio.gather(*[put(client, body) for body in bodies])

        statuses = sorted(response.status_code for response in responses)
        assert [200] * 5 + [201] == statuses
        assert 1 == len({response.json()["item_id"] for response in responses})
        assert 1 == await count(client)

    async def test_text_is_text(self, client: Client) -> None:
        for reference in (
            "'; drop table queue_item; --",
            "' or '1'='1",
            "{a,b}",
            "a\\b",
            "%",
            "_",
            "$1",
            "a?b#c",
            "NULL",
            "παραγγελία",
            "a+b c",
        ):
            await put(client, reference="another")
            response = await put(client, reference=reference)
            assert (201, reference) == (response.status_code, response.json()["external_reference"]), reference
            assert reference == (await client.ok("GET", path(client, reference)))["external_reference"]
            assert 204 == (await client.send("DELETE", path(client, reference))).status_code
            assert 200 == (await client.send("GET", path(client, "another"))).status_code


class TestCancel:
    async def test_ok(self, client: Client) -> None:
        item = (await put(client)).json()
        response = await client.send("DELETE", path(client))
        assert (204, b"") == (response.status_code, response.content)

        cancelled = await client.ok("GET", f"/q/queue/item/{item['item_id']}")
        assert (5, "aborted") == (cancelled["status_id"], cancelled["result"])
        assert [404, 404] == [(await client.send(method, path(client))).status_code for method in ("GET", "DELETE")]
        assert [] == await client.queue.worker().claim()

    async def test_sold_again(self, client: Client) -> None:
        """A refunded order that is bought again has one live item."""
        first = (await put(client)).json()
        await client.send("DELETE", path(client))
        second = await put(client)
        assert 201 == second.status_code
        assert first["item_id"] != second.json()["item_id"]
        assert second.json() == await client.ok("GET", path(client))

    async def test_sent(self, client: Client) -> None:
        await put(client)
        await client.queue.worker().send(OK)
        response = await client.send("DELETE", path(client))
        assert (409, "item_closed") == (response.status_code, response.json()["code"])
