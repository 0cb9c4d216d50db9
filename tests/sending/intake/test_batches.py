"""Batches of items: each row for itself, references once, nothing of an atomic one that fails."""

import asyncio
import json
from typing import Any

import httpx2
import pytest

from afterword.core.organizations.access import SCOPES
from afterword.events.service import data_of
from afterword.kit import db
from afterword.sending.intake import batches
from tests.dates import YEAR
from tests.sending.queue.conftest import BODY, OK, Client


def row(name: str, **members: object) -> dict[str, Any]:
    return {"responder_channel_identifier": f"{name}@example.com", **members}


def outcomes(response: httpx2.Response) -> list[int]:
    assert 200 == response.status_code, response.text
    return [result["status"] for result in response.json()["results"]]


async def post(client: Client, rows: object, query: str = "", **headers: str) -> httpx2.Response:
    return await client.send("POST", f"{client.items}/batch{query}", rows, **headers)


async def items(client: Client) -> list[dict[str, Any]]:
    return await client.ok("GET", f"{client.items}?limit=500&order_by[ASC][]=ResponderChannelIdentifier")


async def events(client: Client, kind: str) -> int:
    return await client.queue.value("select count(*) from event where type = $1", f"queue_item.{kind}")


class TestRefusals:
    async def test_no_rows(self, client: Client) -> None:
        assert 422 == (await post(client, [])).status_code

    async def test_too_many(self, client: Client) -> None:
        response = await post(client, [BODY] * 10_001)
        assert (413, "body_too_large") == (response.status_code, response.json()["code"])
        assert [] == await items(client)

    async def test_not_published(self, client: Client) -> None:
        await client.queue.execute("update questionnaire set published_version_id = null")
        response = await post(client, [BODY])
        assert (409, "questionnaire_not_published") == (response.status_code, response.json()["code"])

    async def test_update_needs_its_scope(self, client: Client) -> None:
        narrow = await client.with_token(SCOPES - {"Queue.Update"})
        response = await post(narrow, [BODY], "?on_conflict=update")
        assert (403, ["Queue.Update"]) == (response.status_code, response.json()["required_scopes"])
        assert [200] == [(await post(narrow, [BODY], "?on_conflict=skip")).status_code]


class TestRows:
    async def test_as_one_by_one(self, client: Client) -> None:
        """A row of a batch becomes the item that the same request alone would have become."""
        body = {
            "locale": "en_US",
            "send_time": f"{YEAR}-07-01T09:00:00+03:00",
            "metadata": {"questionnaire": {"transaction_id": 1042, "empty": ""}, "responder": {"first_name": "Ann"}},
        }
        alone = await client.create(**row("Ann", **body))
        response = await post(client, [row("Ann", **body)])

        [result] = response.json()["results"]
        made = await client.ok("GET", f"/q/queue/item/{result['item_id']}")
        differing = {"item_id", "created_time", "updated_time", "source"}
        assert {name for name in alone if alone[name] != made[name]} <= differing
        assert ("api", "bulk") == (alone["source"], made["source"])
        columns = "metadata, address_key, due_time, attempts_max, resend_after_seconds, created_by, version, test"
        one, other = await client.queue.fetch(f"select {columns} from queue_item order by item_id")
        assert dict(one) == dict(other)
        told = await client.queue.fetch(
            f"select {data_of('event')} as data from event where type = 'queue_item.created' order by seq"
        )
        assert told[0]["data"].keys() == told[1]["data"].keys()
        assert {**response.json(), "results": []} == {"results": [], "created": 1, "updated": 0, "failed": 0}
        assert {"row", "status", "item_id", "external_reference", "problem"} == result.keys()

    @pytest.mark.parametrize("query", ["", "?atomic=1"])
    async def test_a_wrong_address_beside_another_wrong_field(self, client: Client, query: str) -> None:
        response = await post(client, [row("no address", locale="!")], query)
        problem = response.json() if query else response.json()["results"][0]["problem"]
        prefix = "/0" if query else ""
        assert [
            (f"{prefix}/locale", "invalid_locale"),
            (f"{prefix}/responder_channel_identifier", "invalid_address"),
        ] == [(error["pointer"], error["code"]) for error in problem["errors"]]

    async def test_a_bad_row_spoils_no_good_one(self, client: Client) -> None:
        rows = [row("a"), {}, row("b", send_time="soon"), row("c"), row("no address"), 7, row("d", locale="!")]
        response = await post(client, rows)

        assert [201, 422, 422, 201, 422, 422, 422] == outcomes(response)
        found = response.json()
        assert (2, 0, 5) == (found["created"], found["updated"], found["failed"])
        assert [0, 1, 2, 3, 4, 5, 6] == [result["row"] for result in found["results"]]
        problem = found["results"][4]["problem"]
        assert [("/responder_channel_identifier", "invalid_address")] == [
            (error["pointer"], error["code"]) for error in problem["errors"]
        ]
        assert ("invalid", 422) == (problem["code"], problem["status"])
        assert ["a@example.com", "c@example.com"] == [
            item["responder_channel_identifier"] for item in await items(client)
        ]
        assert 2 == await events(client, "created")

    async def test_lines(self, client: Client) -> None:
        content = "\n".join(json.dumps(row(name)) for name in "ab") + "\n"
        response = await client.http.post(
            f"{client.items}/batch",
            content=content,
            headers={**client.headers, "Content-Type": "application/x-ndjson"},
        )
        assert [201, 201] == outcomes(response)

    async def test_strict(self, client: Client) -> None:
        rows = [row("a", metadata={"questionnaire": {"nobody": "1"}}), row("b")]
        response = await post(client, rows, Prefer="handling=strict")
        assert [422, 201] == outcomes(response)

    async def test_more_than_a_statement_takes(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        """Every item has its event, its reference and its own id."""
        monkeypatch.setattr(batches, "ROWS_A_STATEMENT", 100)
        count = 520
        rows = [row(f"a{n}", external_reference=f"order-{n}") for n in range(count)]
        response = await post(client, rows)

        assert [201] * count == outcomes(response)
        found = response.json()["results"]
        assert count == len({result["item_id"] for result in found})
        assert [f"order-{n}" for n in range(count)] == [result["external_reference"] for result in found]
        pairs = await client.queue.fetch("select item_id, external_reference from queue_item")
        assert {(r["item_id"], r["external_reference"]) for r in found} == {tuple(pair.values()) for pair in pairs}
        assert count == await events(client, "created")

    async def test_the_worker_sends_them(self, client: Client) -> None:
        await post(client, [row("a"), row("b")])
        assert 2 == len(await client.queue.worker().send(OK))

    async def test_repeating_with_a_key(self, client: Client) -> None:
        rows = [row("a"), {}, row("b")]
        first = await post(client, rows, Idempotency_Key="k1")
        again = await post(client, rows, Idempotency_Key="k1")

        assert first.json() == again.json()
        assert "true" == again.headers["idempotency-replayed"]
        assert 2 == len(await items(client))
        assert 422 == (await post(client, rows[:1], Idempotency_Key="k1")).status_code


class TestReferences:
    async def test_duplicates_in_order(self, client: Client) -> None:
        """The first good row has the reference, wherever it stands."""
        rows = [row("b"), row("no address", external_reference="x"), row("c", external_reference="x")]
        response = await post(client, [*rows, row("d", external_reference="x")])

        assert [201, 422, 201, 409] == outcomes(response)
        third, last = response.json()["results"][2:]
        assert "already_exists" == last["problem"]["code"]
        assert third["item_id"] == last["item_id"]

    async def test_error(self, client: Client) -> None:
        item = await client.create(external_reference="x")
        response = await post(client, [row("a", external_reference="x"), row("b")])
        assert [409, 201] == outcomes(response)
        assert item["item_id"] == response.json()["results"][0]["item_id"]

    async def test_skip(self, client: Client) -> None:
        item = await client.create(external_reference="x")
        response = await post(client, [row("a", external_reference="x"), row("b")], "?on_conflict=skip")
        assert [200, 201] == outcomes(response)
        assert (1, 0, 0) == tuple(response.json()[name] for name in ("created", "updated", "failed"))
        assert item == await client.ok("GET", f"/q/queue/item/{item['item_id']}")

    async def test_update(self, client: Client) -> None:
        item = await client.create(
            external_reference="x", locale="el", metadata={"questionnaire": {"transaction_id": "1", "old": "2"}}
        )
        same = await client.create(external_reference="same")
        sent = await client.create(external_reference="sent")
        await client.queue.execute(
            "update queue_item set status = 4, dispatched_time = now() where item_id = $1", sent["item_id"]
        )
        rows = [
            row("a", external_reference="x", metadata={"questionnaire": {"transaction_id": "3"}}),
            {**BODY, "external_reference": "same"},
            row("b", external_reference="sent"),
            row("c", external_reference="new"),
            row("c", external_reference="new", locale="en"),
            row("no address", external_reference="x"),
        ]
        response = await post(client, rows, "?on_conflict=update")

        assert [200, 200, 409, 201, 200, 422] == outcomes(response)
        assert (1, 2, 2) == tuple(response.json()[name] for name in ("created", "updated", "failed"))
        assert "item_closed" == response.json()["results"][2]["problem"]["code"]
        after = await client.ok("GET", f"/q/queue/item/{item['item_id']}")
        assert ("a@example.com", None) == (after["responder_channel_identifier"], after["locale"])
        assert item["send_time"] == after["send_time"]
        assert {"questionnaire": {"transaction_id": "3"}, "responder": {}} == await client.queue.value(
            "select metadata from queue_item where item_id = $1", item["item_id"]
        )
        assert same == await client.ok("GET", f"/q/queue/item/{same['item_id']}")
        assert (4, 2) == (await events(client, "created"), await events(client, "updated"))
        key = await client.queue.value("select address_key from queue_item where item_id = $1", item["item_id"])
        direct = await client.create(**row("A"))
        assert key == await client.queue.value(
            "select address_key from queue_item where item_id = $1", direct["item_id"]
        )

    async def test_cancelled_ones_are_free(self, client: Client) -> None:
        item = await client.create(external_reference="x")
        await client.send("PATCH", f"/q/queue/item/{item['item_id']}", {"status_id": 5})
        assert [201] == outcomes(await post(client, [row("a", external_reference="x")]))

    async def test_same_reference_in_another_pipeline(self, client: Client) -> None:
        await client.create(external_reference="x")
        other = Client(client.http, await client.queue.pipeline(channel_id=5, title="Outbox"))  # fmt: skip
        assert [201] == outcomes(await post(other, [row("a", external_reference="x")]))

    async def test_two_batches_at_once(self, client: Client) -> None:
        """The same references in opposite order: each is made once, and nobody waits for ever."""
        references = [f"order-{n}" for n in range(300)]
        rows = [row("a", external_reference=reference) for reference in references]
        responses = await asyncio.gather(post(client, rows), post(client, rows[::-1]), post(client, rows))

        made = [status for response in responses for status in outcomes(response)]
        assert {201: 300, 409: 600} == {status: made.count(status) for status in set(made)}
        assert 300 == await client.queue.value("select count(*) from queue_item")

    async def test_text_is_text(self, client: Client) -> None:
        references = ["'; drop table queue_item; --", "{a,b}", '"', "\\", "NULL", "$1", "%", "é"]
        rows = [row("a", external_reference=reference) for reference in references]
        assert [201] * 8 + [409] * 8 == outcomes(await post(client, rows * 2))
        assert set(references) == {item["external_reference"] for item in await items(client)}


class TestAtomic:
    @pytest.mark.parametrize("bad", [{}, row("no address"), row("b", external_reference="x")])
    async def test_any_refusal_creates_nothing(self, client: Client, bad: dict[str, Any]) -> None:
        await client.create(external_reference="x")
        response = await post(client, [row("a"), bad, row("c")], "?atomic=1")

        assert (422, "invalid") == (response.status_code, response.json()["code"])
        assert {"1"} == {error["pointer"].split("/")[1] for error in response.json()["errors"]}
        assert 1 == len(await items(client))
        assert 1 == await events(client, "created")

    async def test_all_that_is_wrong_at_once(self, client: Client) -> None:
        await client.create(external_reference="x")
        rows = [{}, row("no address"), row("c"), row("d", external_reference="x")]
        response = await post(client, rows, "?atomic=1")
        addresses = ["/0/responder_channel_identifier", "/1/responder_channel_identifier"]
        assert [*addresses, "/3/external_reference"] == [error["pointer"] for error in response.json()["errors"]]
        assert 1 == await events(client, "created")

    async def test_ok(self, client: Client) -> None:
        assert [201, 201] == outcomes(await post(client, [row("a"), row("b")], "?atomic=1"))


async def test_a_batch_waits_for_no_worker(client: Client) -> None:
    """A worker's transaction serves many organizations: it must not stand behind somebody's batch, nor wait for it."""
    for name in ("a", "b"):
        await client.create(**row(name, external_reference=name))
    await client.queue.worker().claim(1)
    rows = [row(name, external_reference=name, locale="el") for name in ("a", "b")]
    async with db.transaction(client.queue.pool) as database:
        await database.execute("select from queue_item where status = 2 for update")
        assert [200, 409] == sorted(outcomes(await post(client, rows, "?on_conflict=update")))
        assert [200, 200] == outcomes(await post(client, rows, "?on_conflict=skip"))
