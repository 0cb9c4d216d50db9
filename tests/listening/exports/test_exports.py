"""Exports from the request to the bytes, and what a worker does that is stopped in the middle."""

import hashlib
import json

import pytest

from afterword.core.answers.values import Given
from afterword.core.organizations.access import Caller
from afterword.kit import db
from afterword.kit.db import leases
from afterword.kit.db.leases import OPEN_MAX
from afterword.listening.exports import service
from tests.listening.exports.conftest import CSAT, REASONS, Shop, table
from tests.making import make_token
from tests.pruning import prune

DAY = 86_400


async def shift(pool: db.Pool, seconds: int) -> None:
    """Move all exports back in time."""
    async with db.transaction(pool) as database:
        await database.execute(
            """update export set expires_time = expires_time - make_interval(secs => $1),
                 lease_until = lease_until - make_interval(secs => $1)""",
            float(seconds),
        )


async def own_item(shop: Shop, instance_id: str) -> None:
    """Let an item have asked for a response, with an order key."""
    response = await shop.client.post(
        f"/v3.2/q/questionnaire/{shop.house.questionnaire_id}/pipeline/{shop.house.pipeline_id}/queue/item",
        json={"responder_channel_identifier": "ann@example.com", "external_reference": "A-1042"},
        headers=shop.house.headers,
    )
    assert 201 == response.status_code, response.text
    async with db.transaction(shop.pool) as database:
        await database.execute(
            "update questionnaire_instance set item_id = $2 where instance_id = $1",
            instance_id,
            response.json()["item_id"],
        )


class TestCreate:
    async def test_wrong(self, shop: Shop) -> None:
        for request_body, pointer, code in (
            ({"since_cursor": "nonsense"}, "/since_cursor", "invalid_cursor"),
            ({"from_time": "2026-02-01T00:00:00Z", "to_time": "2026-02-01T00:00:00Z"}, "/to_time", "out_of_range"),
            ({"filter": {"subject": "question:0000000000000000000000", "operator": "equal", "value": 1}},
             "/filter/subject", "unknown_id"),
            ({"filter": {"all": 7}}, "/filter/all", "wrong_type"),
        ):  # fmt: skip
            problem = await shop.ask(422, **request_body)
            assert [(pointer, code)] == [(each["pointer"], each["code"]) for each in problem["errors"]]

    async def test_too_many_wait(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(leases, "OPEN_MAX", OPEN_MAX)  # the probes of the whole interface lift it
        for _ in range(OPEN_MAX):
            await shop.ask()
        assert "rate_limited" == (await shop.ask(429))["code"]

    async def test_ok(self, shop: Shop) -> None:
        export = await shop.ask(format="jsonl", locale="EL", values="codes", from_time="2026-01-01 00:00")
        assert ("queued", 0, None, None, None) == tuple(
            export[name] for name in ("state", "progress", "row_count", "bytes", "next_cursor")
        )
        assert ("el", "2026-01-01T00:00:00+02:00") == (export["locale"], export["from_time"])
        again = await shop.get(f"/q/export/{export['export_id']}")
        assert export == again.json()
        assert "etag" in again.headers
        listed = await shop.get(f"/q/questionnaire/{shop.house.questionnaire_id}/export")
        assert [export] == listed.json()["results"]


class TestFile:
    async def test_expired(self, shop: Shop) -> None:
        export = await shop.ask()
        await shop.write()
        await shift(shop.pool, 8 * DAY)
        async with db.transaction(shop.pool) as database:
            assert 1 == await prune(database, "the time of exports")
            assert 1 == await prune(database, "files of exports", "exports")
        response = await shop.get(f"/q/export/{export['export_id']}/file")
        assert (410, "gone") == (response.status_code, response.json()["code"])
        assert "expired" == (await shop.get(f"/q/export/{export['export_id']}")).json()["state"]
        await shift(shop.pool, 91 * DAY)
        async with db.transaction(shop.pool) as database:
            assert 1 == await prune(database, "files of exports", "exports")
        assert 404 == (await shop.get(f"/q/export/{export['export_id']}")).status_code

    async def test_a_large_file_goes_in_parts(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "BATCH_ROWS", 1)
        for n in range(3):
            await shop.respond({CSAT: Given(1 + n)})
        await shop.ask()
        await shop.write()
        await shift(shop.pool, 8 * DAY)
        for gone in (2, 1, 0):
            async with db.transaction(shop.pool) as database:
                await prune(database, "the time of exports", limit=2)
                assert gone == await prune(database, "files of exports", "exports", limit=2)

    async def test_values_need_their_scopes(self, shop: Shop, weak: Caller) -> None:
        """So do recipients and filters by values."""
        await shop.respond({CSAT: Given(5)})
        export = await shop.ask()
        await shop.write()
        of_email = {"subject": "responder_metadata:email", "operator": "is_not_empty"}
        for method, path, body, scope in (
            ("GET", f"/v3.2/q/export/{export['export_id']}/file", None, "Questionnaire Value.Read"),
            ("POST", shop.path, {"format": "csv", "filter": of_email}, "Responder Value.Read"),
            ("POST", shop.path, {"format": "csv", "include_recipient": True}, "Queue.Read"),
        ):
            token = await make_token(shop.pool, shop.house.organization_id, scopes=weak.scopes - {scope})
            headers = {"Authorization": f"Bearer {token}"}
            refused = await shop.client.request(method, path, json=body, headers=headers)
            assert (403, [scope]) == (refused.status_code, refused.json()["required_scopes"])

    async def test_nothing(self, shop: Shop) -> None:
        await shop.respond({})
        text = await shop.file()
        assert [] == table(text)
        assert text.startswith("instance_id,version_id,")

    async def test_recipients(self, shop: Shop) -> None:
        """The order key and the address of the item that asked; empty where none did."""
        asked, alone = [await shop.respond({CSAT: Given(n)}) for n in (1, 2)]
        await own_item(shop, asked)
        rows = {row["instance_id"]: row for row in table(await shop.file(include_recipient=True))}
        assert ("A-1042", "ann@example.com") == (rows[asked]["external_reference"], rows[asked]["recipient"])
        assert ("", "") == (rows[alone]["external_reference"], rows[alone]["recipient"])
        lines = map(json.loads, (await shop.file(format="jsonl", include_recipient=True)).splitlines())
        assert {asked: "A-1042", alone: None} == {one["instance_id"]: one["external_reference"] for one in lines}
        assert "recipient" not in (await shop.file()).partition("\n")[0]

    async def test_deleted_and_test_responses_are_left_out(self, shop: Shop) -> None:
        kept, deleted, test = [await shop.respond({CSAT: Given(n)}) for n in (1, 2, 3)]
        assert 204 == (await shop.delete(f"/q/instance/{deleted}")).status_code
        async with db.transaction(shop.pool) as database:
            await database.execute("update questionnaire_instance set test = true where instance_id = $1", test)
        assert [kept] == [row["instance_id"] for row in table(await shop.file())]

    async def test_incomplete(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(1)})
        complete = await shop.respond({CSAT: Given(2)}, complete=True)
        assert 2 == len(table(await shop.file()))
        assert [complete] == [row["instance_id"] for row in table(await shop.file(include_incomplete=False))]
        assert [complete] == [row["instance_id"] for row in table(await shop.file(date_basis="completed"))]

    async def test_span(self, shop: Shop) -> None:
        instance_id = await shop.respond({CSAT: Given(1)})
        submitted = (await shop.get(f"/q/instance/{instance_id}")).json()["submitted_time"]
        assert 1 == len(table(await shop.file(from_time=submitted)))
        assert 0 == len(table(await shop.file(to_time=submitted)))
        assert 0 == len(table(await shop.file(date_basis="sent")))

    async def test_filter(self, shop: Shop) -> None:
        low, _ = [
            await shop.respond({CSAT: Given(n)}, metadata={"questionnaire": {"store_id": str(n)}}) for n in (1, 5)
        ]
        question_id = (await shop.get(f"/q/questionnaire/{shop.house.questionnaire_id}/group")).json()[0]["group_id"]
        questions = await shop.get(f"/q/questionnaire/{shop.house.questionnaire_id}/group/{question_id}/question")
        subject = f"question:{questions.json()[0]['question_id']}"
        for condition in (
            {"subject": subject, "operator": "less", "value": 3},
            {"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "1"},
        ):
            assert [low] == [row["instance_id"] for row in table(await shop.file(filter=condition))]

    async def test_what_changed_since(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        await shop.respond({CSAT: Given(1)})
        export = await shop.ask()
        await shop.write()
        cursor = (await shop.get(f"/q/export/{export['export_id']}")).json()["next_cursor"]
        async with db.transaction(shop.pool) as database:
            await database.execute("update questionnaire_instance set updated_time = updated_time - interval '1 hour'")
        changed = await shop.respond({CSAT: Given(2)})
        assert [changed] == [row["instance_id"] for row in table(await shop.file(since_cursor=cursor))]

    async def test_without_metadata(self, shop: Shop) -> None:
        await shop.respond({CSAT: Given(1)}, metadata={"responder": {"email": "ann@example.com"}})
        assert "ann@example.com" not in await shop.file(include_metadata=False)

    async def test_labels_in_a_language(self, shop: Shop) -> None:
        await shop.respond({REASONS: Given([1])})
        assert (await shop.file(locale="en", values="labels")) != (await shop.file(locale="el", values="labels"))

    async def test_more_than_one_batch(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "BATCH_ROWS", 3)
        written = [await shop.respond({CSAT: Given(1 + n % 5)}) for n in range(8)]
        for format_name in ("csv", "jsonl"):
            export = await shop.ask(format=format_name)
            await shop.write()
            response = await shop.get(f"/q/export/{export['export_id']}/file")
            done = (await shop.get(f"/q/export/{export['export_id']}")).json()
            text = response.content.decode()
            found = (
                [row["instance_id"] for row in table(text)]
                if format_name == "csv"
                else [json.loads(line)["instance_id"] for line in text.splitlines()]
            )
            assert (written[::-1], 8) == (found, done["row_count"])
            assert f"sha256:{hashlib.sha256(response.content).hexdigest()}" == done["checksum"]


class TestDelete:
    async def test_waiting(self, shop: Shop) -> None:
        export = await shop.ask()
        response = await shop.get(f"/q/export/{export['export_id']}/file")
        assert (409, "not_ready") == (response.status_code, response.json()["code"])
        assert 204 == (await shop.delete(f"/q/export/{export['export_id']}")).status_code
        assert "cancelled" == (await shop.get(f"/q/export/{export['export_id']}")).json()["state"]
        assert 0 == await shop.write()
        assert 204 == (await shop.delete(f"/q/export/{export['export_id']}")).status_code
        assert 404 == (await shop.get(f"/q/export/{export['export_id']}")).status_code

    async def test_done(self, shop: Shop) -> None:
        export = await shop.ask()
        await shop.write()
        assert 204 == (await shop.delete(f"/q/export/{export['export_id']}")).status_code
        assert 404 == (await shop.get(f"/q/export/{export['export_id']}/file")).status_code
        async with db.connection(shop.pool) as database:
            assert 0 == await database.fetch_value("select count(*) from export_piece")
