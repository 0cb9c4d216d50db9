"""The order of deliveries: no endpoint or organization takes the slots of others; unwanted ones stay."""

import asyncio
from collections.abc import Callable

import pytest

from afterword.core.messaging import webhooks as rules
from afterword.events import sending, webhooks
from afterword.kit import db
from afterword.run.worker import deliverer as deliverers
from afterword.run.worker.deliverer import Deliverer
from tests.conftest import House
from tests.events.conftest import Desk, until
from tests.sending.channels.receiver import Receiver, Reply

SUBJECT = "s" * 22
NOBODY = "http://127.0.0.1:9/"


class TestTurns:
    async def test_many_webhooks_of_one_organization(self, desk: Desk, neighbour: House) -> None:
        """They take the organization's eight places, and none of its neighbour's, who comes after it."""
        theirs = Desk(desk.pool, neighbour, desk.client)
        assert desk.house.organization_id < neighbour.organization_id
        for _ in range(12):
            await desk.hook(NOBODY)
        await theirs.hook(NOBODY)
        await desk.tell(*["tag.added"] * 4)
        await theirs.tell("tag.added")
        async with db.transaction(desk.pool) as database:
            await sending.fan_out(database, limit=500)
        counts: dict[str, int] = {}
        after = sending.START
        for _ in range(4):  # fewer places than its webhooks could fill
            async with db.transaction(desk.pool) as database:
                deliveries, after = await sending.claim(database, after=after, limit=9)
            for delivery in deliveries:
                counts[delivery.lease.organization_id] = counts.get(delivery.lease.organization_id, 0) + 1
        assert {desk.house.organization_id: 8, neighbour.organization_id: 1} == counts

    async def test_all_webhooks_of_an_organization_come_to_their_turn(self, desk: Desk) -> None:
        hooks = {(await desk.hook(NOBODY))["webhook_id"] for _ in range(12)}
        await desk.tell(*["tag.added"] * 200)
        async with db.transaction(desk.pool) as database:
            await sending.fan_out(database, limit=500)
        seen: set[str] = set()
        for _ in range(200):
            async with db.transaction(desk.pool) as database:
                deliveries, _ = await sending.claim(database, after=sending.START, limit=40)
                for delivery in deliveries:
                    seen.add(delivery.lease.webhook_id)
                    now = database.clock.now()
                    reply = rules.Reply(duration_ms=1, status=200)
                    await sending.settle(database, lease=delivery.lease, reply=reply, now=now, jitter=1.0)
            if hooks <= seen:
                break
        assert hooks == seen

    async def test_more_lanes_than_one_turn_looks_at(
        self, desk: Desk, make_deliverer: Callable[..., Deliverer], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Those that wait for their next attempt do not keep the others waiting for another poll each."""
        monkeypatch.setattr(sending, "LANES_MAX", 1)
        monkeypatch.setattr(deliverers.Deliverer, "poll_seconds", 3600.0)
        async with Receiver(reply=Reply(500)) as failing, Receiver() as good:
            for _ in range(6):
                await desk.hook(failing.url, event_types=["tag.added"])
            deliverer = make_deliverer()
            await desk.tell("tag.added")
            await desk.deliver(deliverer)
            await desk.hook(good.url)
            await desk.tell("tag.removed")
            await deliverer.fan_out()
            stop = asyncio.Event()
            running = asyncio.create_task(deliverer.run(stop))
            await until(lambda: bool(good.given))
            stop.set()
            await running


class TestFailing:
    async def test_a_pause_is_not_cut_short(self, desk: Desk) -> None:
        """By what was under way when the target asked for it, whether that failed or was taken."""
        hook = await desk.hook(NOBODY)
        key = {"organization_id": desk.house.organization_id, "webhook_id": hook["webhook_id"]}
        async with db.transaction(desk.pool) as database:
            now = database.clock.now()
            asked = rules.Reply(duration_ms=1, status=429, retry_after_seconds=600.0)
            for reply in (asked, rules.Reply(duration_ms=1, status=500), rules.Reply(duration_ms=1, status=200)):
                await webhooks.record_reply(database, **key, reply=reply, now=now)
                until_time = await database.fetch_value("select resume_time from webhook")
                assert 600 == (until_time - now).total_seconds()

    async def test_it_is_left_alone_for_longer_and_longer(self, desk: Desk) -> None:
        hook = await desk.hook(NOBODY)
        key = {"organization_id": desk.house.organization_id, "webhook_id": hook["webhook_id"]}
        rests: list[float] = []
        async with db.transaction(desk.pool) as database:
            now = database.clock.now()
            for _ in range(len(rules.REST_SECONDS) + 2):
                await webhooks.record_reply(database, **key, reply=rules.Reply(duration_ms=1, status=500), now=now)
                until_time = await database.fetch_value("select resume_time from webhook")
                rests.append((until_time - now).total_seconds())
        assert [*rules.REST_SECONDS, 300, 300] == rests


class TestWanted:
    async def test_other_types_since(self, desk: Desk, deliverer: Deliverer) -> None:
        """Whoever narrows an endpoint and gives it another target sends nothing there that it is not to have."""
        async with Receiver() as receiver:
            hook = await desk.hook(receiver.url)
            path = f"/webhook/{hook['webhook_id']}"
            await desk.tell("tag.added", "tag.removed", subject_id=SUBJECT)
            await deliverer.fan_out()
            await desk.ask("PATCH", path, json={"event_types": ["tag.removed"]})
            await desk.deliver(deliverer)
            assert 1 == len(receiver.given)
            found = {one["event_type"]: one for one in await desk.deliveries(hook["webhook_id"])}
            first, last = found["tag.added"], found["tag.removed"]
            assert ("dead", "delivered") == (first["state"], last["state"])
            assert "does not want" in first["error"]
            await desk.ask("POST", f"{path}/delivery/{first['delivery_id']}/redelivery")
            await desk.deliver(deliverer)
            assert 1 == len(receiver.given)
        assert 0 == (await desk.ask("GET", path))["consecutive_failures"]

    async def test_another_binding_since(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver() as receiver:
            hook = await desk.hook(receiver.url)
            await desk.tell("tag.added", questionnaire_id=None)
            await deliverer.fan_out()
            await desk.ask(
                "PATCH", f"/webhook/{hook['webhook_id']}", json={"application_id": desk.house.application_id}
            )
            await desk.deliver(deliverer)
            assert 0 == len(receiver.given)
