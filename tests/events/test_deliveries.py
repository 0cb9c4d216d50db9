"""Deliveries as clients see them: sent again alone, by a span of time or behind a cursor; pruned."""

from datetime import timedelta

import pytest

from afterword.events import deliveries
from afterword.kit import db
from afterword.run.worker.deliverer import Deliverer
from tests.events.conftest import SUBJECT, Desk, ids_of, types_of
from tests.pruning import prune
from tests.sending.channels.receiver import Receiver, Reply


class TestAgain:
    async def test_redelivery_keeps_the_id(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver() as receiver:
            hook = await desk.hook(receiver.url)
            await desk.send(deliverer, "tag.added")
            (one,) = await desk.deliveries(hook["webhook_id"])
            path = f"/webhook/{hook['webhook_id']}/delivery/{one['delivery_id']}"
            again = await desk.ask("POST", f"{path}/redelivery")
            assert ("pending", 0, None) == (again["state"], again["attempts"], again["finished_time"])
            await desk.deliver(deliverer)
            assert "delivered" == (await desk.ask("GET", path))["state"]
            assert 2 == len(receiver.given)
            assert 1 == len(set(ids_of(receiver)))

    async def test_one_that_waits_is_tried_at_once(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver(reply=Reply(500)) as receiver:
            hook = await desk.hook(receiver.url)
            await desk.send(deliverer, "tag.added", "tag.removed", subject_id=SUBJECT)
            receiver.reply = Reply(200)
            first, second = await desk.deliveries(hook["webhook_id"])
            if first["event_type"] != "tag.added":
                first, second = second, first
            path = f"/webhook/{hook['webhook_id']}/delivery"
            await desk.ask("POST", f"{path}/{second['delivery_id']}/redelivery")  # behind the first, still
            await desk.deliver(deliverer)
            assert 1 == len(receiver.given)
            await desk.ask("POST", f"{path}/{first['delivery_id']}/redelivery")
            await desk.deliver(deliverer)
            assert ["tag.added", "tag.added", "tag.removed"] == types_of(receiver)

    async def test_a_span_of_time(self, desk: Desk, deliverer: Deliverer) -> None:
        """Also what was before the webhook; twice the same ids, in order."""
        told = await desk.tell("tag.added", "tag.removed", "pipeline.created", subject_id=SUBJECT)
        async with Receiver() as receiver:
            hook = await desk.hook(receiver.url, event_types=["tag.*"])
            path = f"/webhook/{hook['webhook_id']}/redelivery"
            await desk.ask("POST", path, status=422, json={})
            await desk.ask("POST", path, status=422, json={"after": "x"})
            span = {"from_time": "2026-01-01T00:00:00Z"}
            for _ in range(2):
                assert {"count": 2, "next_cursor": None} == await desk.ask("POST", path, json=span)
                await desk.deliver(deliverer)
            none = {**span, "to_time": "2026-01-02T00:00:00Z"}
            assert 0 == (await desk.ask("POST", path, json=none))["count"]
            assert [*told[:2], *told[:2]] == ids_of(receiver)

    async def test_behind_a_cursor(self, desk: Desk, deliverer: Deliverer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(deliveries, "REPLAY_EVENTS_MAX", 2)
        told = await desk.tell(*["tag.added"] * 4)
        log = (await desk.ask("GET", "/event?type[]=tag.*"))["results"]
        async with Receiver() as receiver:
            hook = await desk.hook(receiver.url)
            path = f"/webhook/{hook['webhook_id']}/redelivery"
            found = await desk.ask("POST", path, json={"after": log[0]["cursor"]})
            assert 2 == found["count"]
            found = await desk.ask("POST", path, json={"after": found["next_cursor"]})
            assert 1 <= found["count"]
            await desk.deliver(deliverer)
            assert set(told[1:]) <= set(ids_of(receiver))
            assert told[0] not in ids_of(receiver)


class TestPrune:
    async def test_what_is_done_for_long(self, desk: Desk, deliverer: Deliverer) -> None:
        """Thirty days after its end a delivery goes; counted it stays."""
        async with Receiver() as receiver:
            hook = await desk.hook(receiver.url)
            await desk.send(deliverer, "tag.added")
            receiver.reply = Reply(500)
            await desk.send(deliverer, "tag.removed")
        async with db.transaction(desk.pool) as database:
            now = database.clock.now()
            assert 0 == await prune(database, "deliveries", now=now + timedelta(days=29))
            assert 1 == await prune(database, "deliveries", now=now + timedelta(days=31))
        assert ["tag.removed"] == [one["event_type"] for one in await desk.deliveries(hook["webhook_id"])]
