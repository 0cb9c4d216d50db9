"""An item's past: the decision about it, its attempts, and the item that is sent in its place."""

from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest

from afterword.kit.transport.base import Outcome, Refused, Retry, Unknown
from tests.dates import YEAR
from tests.sending.queue.conftest import OK, Client

UNMET = """conditions = '{"subject": "questionnaire_metadata:store_id", "operator": "equal", "value": "7"}'"""


async def ask(client: Client, item: dict[str, Any], what: str, method: str = "GET", **headers: str) -> httpx2.Response:
    return await client.send(method, f"/q/queue/item/{item['item_id']}/{what}", **headers)


async def trace(client: Client, item: dict[str, Any]) -> dict[str, Any]:
    response = await ask(client, item, "trace")
    assert 200 == response.status_code, response.text
    return response.json()


class TestTrace:
    async def test_due(self, client: Client) -> None:
        found = await trace(client, await client.create(metadata={"questionnaire": {"nobody": "1", "store_id": "7"}}))
        assert (1, "go", None, None) == tuple(found[name] for name in ("status_id", "verdict", "reason", "result"))
        assert ["nobody"] == found["undeclared_metadata"]
        assert ("Europe/Athens", "en") == (found["time_zone"], found["locale"])
        assert all(check["passed"] for check in found["checks"])

    async def test_not_due_yet(self, client: Client) -> None:
        found = await trace(client, await client.create(send_time=f"{YEAR}-07-01T09:00:00+03:00"))
        assert ("go", f"{YEAR}-07-01T09:00:00+03:00", f"{YEAR}-07-01T09:00:00") == tuple(
            found[name] for name in ("verdict", "planned_time", "planned_local_time")
        )

    async def test_waits_for_its_window_from_the_start(self, client: Client) -> None:
        await client.queue.change_pipeline("dispatch_start_time = '09:00', dispatch_end_time = '17:00'")
        found = await trace(client, await client.create(send_time=f"{YEAR}-07-01T03:00:00+03:00"))
        [window] = [check for check in found["checks"] if check["rule"] == "window"]
        assert ("go", None, True) == (found["verdict"], found["result"], window["passed"])
        assert window["detail"].startswith(f"Held until {YEAR}-07-01 09:0")
        assert window["detail"].endswith(" Europe/Athens: outside the dispatch window")

    async def test_held(self, client: Client) -> None:
        await client.queue.change_pipeline("frequency_cap_days = 2, if_capped = 'wait'")
        await client.sent()
        item = await client.create()
        before = await trace(client, item)
        await client.queue.worker().claim()
        after = await trace(client, item)
        assert [("hold", "frequency_cap")] * 2 == [(found["verdict"], found["reason"]) for found in (before, after)]
        assert after["result"].startswith("Held: asked on")
        wait = datetime.fromisoformat(after["planned_time"]) - await client.queue.now()
        assert timedelta(days=1) < wait <= timedelta(days=2)

    async def test_skipped(self, client: Client) -> None:
        await client.queue.change_pipeline(UNMET)
        item = await client.create(metadata={"questionnaire": {"store_id": "8"}})
        [check] = [check for check in (await trace(client, item))["checks"] if check["rule"] == "conditions"]
        assert [("8", False)] == [(leaf["actual"], leaf["matches"]) for leaf in check["leaves"]]
        await client.queue.worker().claim()
        found = await trace(client, item)
        assert (6, "skip", "conditions") == tuple(found[name] for name in ("status_id", "verdict", "reason"))
        assert datetime.fromisoformat(item["send_time"]) == datetime.fromisoformat(found["planned_time"])
        assert found["planned_time"].startswith(found["planned_local_time"])
        [check] = [check for check in found["checks"] if not check["passed"]]
        assert ("conditions", [("8", False)]) == (
            check["rule"],
            [(leaf["actual"], leaf["matches"]) for leaf in check["leaves"]],
        )

    async def test_sent(self, client: Client) -> None:
        item = await client.sent()
        found = await trace(client, item)
        assert (3, "done") == (found["status_id"], found["verdict"])
        assert datetime.fromisoformat(item["send_time"]) == datetime.fromisoformat(found["planned_time"])

    @pytest.mark.parametrize(
        ("statement", "reason", "result"),
        [
            ("update pipeline set paused = true", "paused", "Held: the pipeline is paused"),
            (
                "update channel_account set paused_time = now(), paused_reason = '535 wrong password'",
                "account_paused",
                "Held: the account that it is sent through waits for a person: 535 wrong password",
            ),
            (
                "update sending_guard set paused_time = now(), paused_reason = 'a copy of yesterday'",
                "all_paused",
                "Held: all sending is paused until the operator has looked",
            ),
            (
                "update channel_account set open_until = now() + interval '5 minutes'",
                "account_resting",
                "Held: the provider does not respond, tried again at ",
            ),
            ("update pipeline set end_time = now() - interval '1 second'", "ended", "Ignored: the pipeline ended on "),
            ("update questionnaire set active = false", "inactive", "Ignored: the questionnaire is not active"),
        ],
    )
    async def test_a_lane_that_nobody_claims_from(
        self, client: Client, statement: str, reason: str, result: str
    ) -> None:
        item = await client.create()
        await client.queue.execute(statement)

        found = await trace(client, item)

        assert reason == found["reason"]
        assert found["result"].startswith(result)
        [check] = [check for check in found["checks"] if not check["passed"]]
        assert ("period", found["result"]) == (check["rule"], check["detail"])

    async def test_too_late_in_a_paused_lane(self, client: Client) -> None:
        item = await client.create()
        await client.queue.execute("update pipeline set paused = true")
        await client.queue.execute("update queue_item set not_after = now(), due_time = now()")

        found = await trace(client, item)

        assert ("skip", "too_late") == (found["verdict"], found["reason"])
        assert found["result"].endswith("held by: a paused pipeline")

    async def test_a_breaker_that_will_have_rested(self, client: Client) -> None:
        await client.queue.execute("update channel_account set open_until = now() + interval '5 minutes'")
        send_time = (await client.queue.now() + timedelta(hours=1)).isoformat()

        assert "go" == (await trace(client, await client.create(send_time=send_time)))["verdict"]

    async def test_the_language_of_the_responder(self, client: Client) -> None:
        await client.sent()
        await client.queue.execute("update responder set locale = 'el'")
        await client.queue.execute("update pipeline set locale = null")

        assert "el" == (await trace(client, await client.create()))["locale"]

    async def test_writes_nothing(self, client: Client) -> None:
        await client.queue.change_pipeline("frequency_cap_days = 2")
        item = await client.create()
        await trace(client, item)
        assert 0 == await client.queue.value("select count(*) from contact")


class TestAttempts:
    async def test_none(self, client: Client) -> None:
        assert [] == (await ask(client, await client.create(), "attempt")).json()

    async def test_in_order(self, client: Client) -> None:
        item = await client.create()
        for outcome in (Retry("recipient", "busy", reply_code=450), OK):
            await client.queue.execute("update queue_item set due_time = now()")
            await client.queue.worker().send(outcome)
        found = (await ask(client, item, "attempt")).json()
        assert [(1, "retry", 450), (2, "accepted", 250)] == [
            (one["attempt"], one["outcome"], one["reply_code"]) for one in found
        ]
        assert (1, "reference") == (found[1]["channel_id"], found[1]["provider_reference"])

    async def test_under_way(self, client: Client) -> None:
        item = await client.create()
        worker = client.queue.worker()
        await worker.begin(*await worker.claim())
        [found] = (await ask(client, item, "attempt")).json()
        assert (None, None) == (found["outcome"], found["finish_time"])


class TestRepeat:
    @pytest.mark.parametrize("outcome", [Refused("no"), Unknown("silence")])
    async def test_failed(self, client: Client, outcome: Outcome) -> None:
        """An unknown outcome that must not be repeated is for a person to repeat."""
        item = await client.create(
            locale="el", external_reference="x", metadata={"questionnaire": {"store_id": "7"}, "responder": {"a": "b"}}
        )
        await client.queue.execute("update queue_item set resend_after_seconds = null")
        await client.queue.worker().send(outcome)

        response = await ask(client, item, "repetition", "POST")

        assert 201 == response.status_code, response.text
        new = response.json()
        assert response.headers["location"].endswith(f"/q/queue/item/{new['item_id']}")
        assert (item["item_id"], 1, None) == (new["previous_item_id"], new["status_id"], new["external_reference"])
        same = ("responder_channel_identifier", "locale", "pipeline_id", "questionnaire_id")
        assert [item[name] for name in same] == [new[name] for name in same]
        metadata = await client.queue.fetch("select metadata from queue_item order by item_id")
        assert metadata[0] == metadata[1]
        assert 4 == (await client.ok("GET", f"/q/queue/item/{item['item_id']}"))["status_id"]

    async def test_that_of_a_test_is_one(self, client: Client) -> None:
        item = await client.sent(Refused("no"))
        await client.queue.execute("update queue_item set test = true")
        new = (await ask(client, item, "repetition", "POST")).json()
        assert await client.queue.value("select test from queue_item where item_id = $1", new["item_id"])

    async def test_it_goes_out(self, client: Client) -> None:
        """It is no reminder: that the item before it was not sent does not keep it."""
        item = await client.sent(Refused("no"))
        new = (await ask(client, item, "repetition", "POST")).json()
        [dispatch] = await client.queue.worker().send(OK)
        assert new["item_id"] == dispatch.item.item_id
        assert 3 == (await client.ok("GET", f"/q/queue/item/{new['item_id']}"))["status_id"]

    async def test_ignored(self, client: Client) -> None:
        await client.queue.change_pipeline(UNMET)
        item = await client.create()
        await client.queue.worker().claim()
        assert 201 == (await ask(client, item, "repetition", "POST")).status_code

    async def test_others(self, client: Client) -> None:
        pending, sent, aborted = [await client.create(responder_channel_identifier=f"{n}@example.com") for n in "abc"]
        await client.queue.execute("update queue_item set due_time = now() + interval '1 day'")
        await client.queue.execute("update queue_item set due_time = now() where item_id = $1", sent["item_id"])
        await client.queue.worker().send(OK)
        await client.send("PATCH", f"/q/queue/item/{aborted['item_id']}", {"status_id": 5})
        for item in (pending, sent, aborted):
            response = await ask(client, item, "repetition", "POST")
            assert (409, "item_not_repeatable") == (response.status_code, response.json()["code"])
        assert 3 == await client.queue.value("select count(*) from queue_item")
