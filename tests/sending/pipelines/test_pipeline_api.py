"""Pipelines over HTTP: what their channel needs, what may change, pausing at once, deleting without losing anything."""

import asyncio
from typing import Any

import httpx2
import pytest

from tests.dates import YEAR
from tests.sending.queue.conftest import OK, Client, codes
from tests.sending.queue.test_lanes import lanes

EMAIL, SMS, WEBHOOK, LINK, OUTBOX = 1, 2, 3, 4, 5
TEXTS = {"message_subject": "Well?", "message_body": "Tell us: {{ link }}"}
MAIL = {"channel_id": EMAIL, "title": "Mail", **TEXTS}
DEFAULTS = {
    "description": None, "template_pipeline_id": None, "locale": None, "delay_cap_minutes": 0, "delay_cap_hours": 0,
    "delay_cap_days": 0, "delay_from": None, "frequency_cap_minutes": 0, "frequency_cap_hours": 0,
    "frequency_cap_days": 0, "messages": {},
    "start_time": None, "end_time": None, "dispatch_start_time": None, "dispatch_end_time": None, "time_zone": None,
    "zone_of": "recipient", "weekdays": [1, 2, 3, 4, 5, 6, 7], "conditions": None, "sender_name": None,
    "sender_address": None, "reply_to": None, "max_retry_attempts": 8, "not_after_days": 3, "priority": 5,
    "paused": False, "if_outside": "wait", "if_capped": "wait", "policy_exempt": False, "reminders": [],
    "target_url": None, "state": "running",
}  # fmt: skip
EVERYTHING = {
    **MAIL,
    "description": "All of it",
    "locale": "el_GR",
    "delay_cap_minutes": 59, "delay_cap_hours": 23, "delay_cap_days": 365,
    "delay_from": "questionnaire_metadata:transaction_date",
    "frequency_cap_minutes": 1, "frequency_cap_hours": 2, "frequency_cap_days": 3,
    "messages": {"de": {"subject": "Na?", "body": "{{ link }}"}},
    "start_time": "2026-01-01T00:00:00+02:00", "end_time": f"{YEAR}-07-01T00:00:00+03:00",
    "dispatch_start_time": "21:30", "dispatch_end_time": "06:00",
    "time_zone": "Europe/Berlin", "zone_of": "organization", "weekdays": [1, 3],
    "conditions": {"all": [{"subject": "responder_metadata:vip", "operator": "is_empty"}]},
    "sender_name": "Shop", "sender_address": "shop@example.com", "reply_to": "ann@example.com",
    "max_retry_attempts": 0, "not_after_days": 365, "priority": 0, "paused": True, "if_outside": "skip",
    "if_capped": "skip", "policy_exempt": True,
    "reminders": [
        {"delay_days": 3, "delay_hours": 0, "delay_minutes": 0, "messages": {"en": {"body": "?", "subject": "!"}}},
    ],
    "target_url": "https://example.com/hook",
}  # fmt: skip


def place(client: Client) -> str:
    return client.pipeline.rpartition("/")[0]


async def create(client: Client, **body: Any) -> dict[str, Any]:
    return await client.ok("POST", place(client), {**MAIL, **body}, status=201)


async def change(client: Client, body: object, **headers: str) -> httpx2.Response:
    return await client.send("PATCH", client.pipeline, body, **headers)


async def told(client: Client, pipeline_id: str) -> list[str]:
    rows = await client.queue.fetch("select type from event where subject_id = $1 order by seq", pipeline_id)
    return [row["type"].removeprefix("pipeline.") for row in rows]


class TestCreate:
    async def test_refused(self, client: Client) -> None:
        for expected, body in (
            ([("/channel_id", "required"), ("/title", "required")], {}),
            ([("/message_subject", "required"), ("/message_body", "required")], {"channel_id": EMAIL, "title": "x"}),
            ([("/message_body", "required")], {"channel_id": SMS, "title": "x"}),
            ([("/target_url", "required")], {"channel_id": WEBHOOK, "title": "x"}),
            (
                [("/end_time", "out_of_range")],
                {**MAIL, "start_time": f"{YEAR}-01-01T00:00:00Z", "end_time": f"{YEAR}-01-01T02:00:00+02:00"},
            ),
            ([("/message_footer", "unknown_value")], {**MAIL, "message_footer": "{{ nobody }}"}),
            ([("/messages/el/button", "too_long")], {**MAIL, "messages": {"el": {"body": "x", "button": "x" * 61}}}),
            ([("/weekdays/1", "out_of_range")], {**MAIL, "weekdays": [1, 8]}),
            ([("/dispatch_end_time", "required")], {**MAIL, "dispatch_start_time": "09:00"}),
            ([("/dispatch_start_time", "required")], {**MAIL, "dispatch_end_time": "09:00"}),
            ([("/reminders/0/delay_days", "required")], {**MAIL, "reminders": [{"after_days": 3}]}),  # no such member
            ([("/reminders/1/delay_days", "required")], {**MAIL, "reminders": [{"delay_hours": 1}, {"delay_days": 0}]}),
            ([("/delay_from", "unknown_metadata")], {**MAIL, "delay_from": ""}),
            ([("/delay_from", "unknown_metadata")], {**MAIL, "delay_from": "transaction_date"}),
            ([("/delay_from", "unknown_metadata")], {**MAIL, "delay_from": "responder_metadata:transaction_date"}),
            ([("/delay_from", "unknown_metadata")], {**MAIL, "delay_from": "questionnaire_metadata:score"}),  # a number
            ([("/delay_from", "unknown_metadata")], {**MAIL, "delay_from": "questionnaire_metadata:birthday"}),
        ):
            response = await client.send("POST", place(client), body)
            assert (422, expected) == (response.status_code, codes(response)), expected

    async def test_conditions_ask_for_metadata_alone(self, client: Client) -> None:
        for conditions in (
            {"subject": "question:" + "0" * 22, "operator": "equal", "value": 1},
            {"subject": "tag:vip", "operator": "is_empty"},
            {"subject": "responder_metadata:vip", "operator": "matches", "value": "("},
            {"all": [{"subject": "nothing", "operator": "equal", "value": 1}]},
        ):
            response = await client.send("POST", place(client), {**MAIL, "conditions": conditions})
            assert 422 == response.status_code, conditions
            assert all(error["pointer"].startswith("/conditions") for error in response.json()["errors"])

    async def test_dates_that_a_delay_may_count_from_are_named(self, client: Client) -> None:
        refused = await client.send(
            "POST", place(client), {**MAIL, "delay_from": "questionnaire_metadata:arrival_date"}
        )
        told = refused.json()["errors"][0]["message"]
        assert "questionnaire_metadata:transaction_date" in told
        for one in told.removesuffix(".").partition("one of ")[2].split(", "):
            assert one == (await create(client, **MAIL, delay_from=one))["delay_from"]

    async def test_defaults(self, client: Client) -> None:
        response = await client.send("POST", place(client), MAIL)
        pipeline = response.json()
        expected = {**DEFAULTS, **MAIL, "if_capped": "skip"}
        assert expected == {name: pipeline[name] for name in expected}
        assert response.headers["location"].endswith(f"/pipeline/{pipeline['pipeline_id']}")
        read = await client.send("GET", f"{place(client)}/{pipeline['pipeline_id']}")
        assert (pipeline, response.headers["etag"]) == (read.json(), read.headers["etag"])
        assert ["created"] == await told(client, pipeline["pipeline_id"])

    async def test_everything(self, client: Client) -> None:
        pipeline = await create(client, **EVERYTHING)
        assert EVERYTHING == {name: pipeline[name] for name in EVERYTHING}

    async def test_other_channels(self, client: Client) -> None:
        for body in (
            {"channel_id": SMS, "title": "x", "message_body": "x" * 1_600},
            {"channel_id": WEBHOOK, "title": "x", "target_url": "https://example.com"},
            {"channel_id": LINK, "title": "x"},
            {"channel_id": OUTBOX, "title": "x"},
        ):
            assert 201 == (await client.send("POST", place(client), body)).status_code, body

    async def test_template(self, client: Client) -> None:
        template = await create(client, **EVERYTHING)
        response = await client.send(
            "POST",
            place(client),
            {"channel_id": EMAIL, "title": "Copy", "priority": 9, "template_pipeline_id": template["pipeline_id"]},
        )
        assert 201 == response.status_code, response.text
        copy = response.json()
        own = {"title": "Copy", "priority": 9}
        assert {**EVERYTHING, **own} == {name: copy[name] for name in EVERYTHING}
        assert template["pipeline_id"] == copy["template_pipeline_id"]

    async def test_a_hundred(self, client: Client) -> None:
        await client.queue.execute(
            """insert into pipeline (organization_id, pipeline_id, questionnaire_id, account_id, channel_id, title)
               select organization_id, lpad(n::text, 22, '0'), questionnaire_id, account_id, channel_id, 'Lane'
               from pipeline, generate_series(1, 98) n"""
        )
        responses = await asyncio.gather(*[client.send("POST", place(client), MAIL) for _ in range(3)])
        assert [201, 422, 422] == sorted(response.status_code for response in responses)
        assert 100 == len(await client.ok("GET", f"{place(client)}?limit=500"))


class TestChange:
    async def test_refused(self, client: Client) -> None:
        for expected, body in (
            ([("/message_body", "required")], {"message_body": None}),
            ([("/message_subject", "required")], {"message_subject": None}),
            ([("/message_body", "unknown_value")], {"message_body": "{{ x }}"}),
            ([("/dispatch_end_time", "required")], {"dispatch_start_time": "09:00"}),
            ([("/delay_from", "unknown_metadata")], {"delay_from": "questionnaire_metadata:birthday"}),
        ):
            before = await client.ok("GET", client.pipeline)
            response = await change(client, body)
            assert (422, expected) == (response.status_code, codes(response)), expected
            assert before == await client.ok("GET", client.pipeline)

    async def test_only_what_is_named(self, client: Client) -> None:
        before = await client.ok("GET", client.pipeline)
        after = (await change(client, {"title": "Other", "channel_id": SMS, "pipeline_id": "0" * 22})).json()
        moved = {"title", "updated_time", "updated_by"}
        assert {name for name in before if before[name] != after[name]} <= moved
        assert "Other" == after["title"]
        assert ["created", "updated"] == await told(client, client.queue.pipeline_id)

    async def test_everything(self, client: Client) -> None:
        await change(client, EVERYTHING)
        after = await client.ok("GET", client.pipeline)
        assert EVERYTHING == {name: after[name] for name in EVERYTHING}
        whole = {name: value for name, value in after.items() if value is not None}
        assert after == (await change(client, whole)).json()

    async def test_nothing_new(self, client: Client) -> None:
        first = await change(client, {"title": "Other"})
        again = await change(client, {"title": "Other"})
        assert (first.json(), first.headers["etag"]) == (again.json(), again.headers["etag"])
        assert ["created", "updated"] == await told(client, client.queue.pipeline_id)

    async def test_null_clears(self, client: Client) -> None:
        await change(client, {"locale": "el", "dispatch_start_time": "09:00", "dispatch_end_time": "17:00"})
        after = (await change(client, {"locale": None, "dispatch_start_time": None, "dispatch_end_time": None})).json()
        assert [None] * 3 == [after[name] for name in ("locale", "dispatch_start_time", "dispatch_end_time")]

    async def test_date_that_is_declared_no_more(self, client: Client) -> None:
        """It stays until somebody chooses another one, so that the pipeline can still be paused."""
        await client.queue.change_pipeline("delay_from = 'questionnaire_metadata:gone'")
        assert 200 == (await change(client, {"paused": True, "delay_from": "questionnaire_metadata:gone"})).status_code
        assert None is (await change(client, {"delay_from": None})).json()["delay_from"]
        refused = await change(client, {"delay_from": "questionnaire_metadata:gone"})
        assert [("/delay_from", "unknown_metadata")] == codes(refused)

    async def test_two_at_once_undo_nothing(self, client: Client) -> None:
        await asyncio.gather(change(client, {"title": "a"}), change(client, {"priority": 1}))
        after = await client.ok("GET", client.pipeline)
        assert ("a", 1) == (after["title"], after["priority"])

    async def test_pausing_works_at_once(self, client: Client) -> None:
        """The same worker, with what it remembers of the pipeline, claims nothing more; then everything."""
        worker, pipeline_id = client.queue.worker(), client.queue.pipeline_id
        await client.create()
        assert [pipeline_id] == [lane.pipeline_id for lane in await lanes(client.queue)]
        assert "paused" == (await change(client, {"paused": True})).json()["state"]
        assert [] == [lane.pipeline_id for lane in await lanes(client.queue)]
        assert "running" == (await change(client, {"paused": False})).json()["state"]
        assert [pipeline_id] == [lane.pipeline_id for lane in await lanes(client.queue)]
        assert 1 == len(await worker.send(OK))
        assert ["created", "paused", "resumed"] == await told(client, client.queue.pipeline_id)

    async def test_new_texts_are_sent_at_once(self, client: Client) -> None:
        worker = client.queue.worker()
        await client.create()
        await worker.send(OK)
        await change(client, {"message_subject": "New"})
        await client.create()
        [dispatch] = await worker.claim()
        assert "New" == dispatch.settings.pipeline.message_subject


class TestDelete:
    @pytest.mark.parametrize("held", [False, True])
    async def test_open_items(self, client: Client, *, held: bool) -> None:
        await client.create(**({} if held else {"send_time": f"{YEAR}-07-01T09:00:00Z"}))
        if held:
            await client.queue.worker().claim()
        response = await client.send("DELETE", client.pipeline)
        assert (409, "in_use") == (response.status_code, response.json()["code"])
        assert 200 == (await client.send("GET", client.pipeline)).status_code

    async def test_ok(self, client: Client) -> None:
        item = await client.sent()
        response = await client.send("DELETE", client.pipeline)
        assert (204, b"") == (response.status_code, response.content)

        for method, path in (("GET", client.pipeline), ("PATCH", client.pipeline), ("DELETE", client.pipeline)):
            assert 404 == (await client.send(method, path, {})).status_code
        assert [] == await client.ok("GET", place(client))
        assert 404 == (await client.send("POST", client.items, {"responder_channel_identifier": "a@b.cd"})).status_code
        kept = await client.send("GET", f"/q/queue/item/{item['item_id']}")
        assert (200, 3) == (kept.status_code, kept.json()["status_id"])
        assert ["created", "deleted"] == await told(client, client.queue.pipeline_id)
        versions = "select subject_version from event where subject_id = $1 order by seq"
        assert [1, 2] == [
            row["subject_version"] for row in await client.queue.fetch(versions, client.queue.pipeline_id)
        ]

    async def test_an_item_that_slips_in_is_skipped(self, client: Client) -> None:
        """Created while the pipeline was being deleted: it ends with a reason, and is not sent."""
        item = await client.create()
        await client.queue.change_pipeline("deleted_time = now()")
        assert [] == await client.queue.worker().claim()
        found = await client.ok("GET", f"/q/queue/item/{item['item_id']}")
        assert 6 == found["status_id"]
