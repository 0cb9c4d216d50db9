"""Sending deliveries: answers of a target, order, claims, switching off, and the turns of organizations."""

import asyncio
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from standardwebhooks import Webhook as Verifier

from afterword import ids
from afterword.core.messaging import webhooks as rules
from afterword.events import sending, service, webhooks
from afterword.kit import db
from afterword.run.worker import deliverer as deliverers
from afterword.run.worker.deliverer import Deliverer
from tests.conftest import House, settled
from tests.event_log import list_events
from tests.events.conftest import SUBJECT, Desk, ids_of, new_event, types_of, until
from tests.pruning import prune
from tests.sending.channels.receiver import Given, Receiver, Reply

OTHER = "t" * 22


async def set_back(pool: db.Pool, table: str, column: str, days: float) -> None:
    statement: Any = f"update {table} set {column} = {column} - make_interval(secs => $1)"
    async with db.connection(pool) as database:
        await database.execute(statement, days * 86400)


class TestFailed:
    @pytest.mark.parametrize("status", [301, 307, 400, 404, 500, 503])
    async def test_refused(self, desk: Desk, deliverer: Deliverer, status: int) -> None:
        async with Receiver(reply=Reply(status, b"no", {"location": "https://example.com"})) as receiver:
            hook = await desk.hook(receiver.url)
            await desk.send(deliverer, "tag.added")
            assert 1 == len(receiver.given)  # neither followed nor repeated at once
        (one,) = await desk.deliveries(hook["webhook_id"])
        shown = tuple(one[name] for name in ("state", "attempts", "response_status", "response_excerpt"))
        assert ("pending", 1, status, "no") == shown
        assert str(status) in one["error"]
        assert one["next_attempt_time"]
        shown = await desk.ask("GET", f"/webhook/{hook['webhook_id']}")
        assert 1 == shown["consecutive_failures"]

    async def test_nobody_there(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver() as receiver:
            url = receiver.url
        hook = await desk.hook(url)
        await desk.send(deliverer, "tag.added")
        (one,) = await desk.deliveries(hook["webhook_id"])
        assert (None, "Nobody took the connection.") == (one["response_status"], one["error"])

    async def test_blocked_since_it_was_saved(self, desk: Desk, deliverer: Deliverer) -> None:
        """The address is checked again at every call."""
        async with Receiver(host="127.0.0.1") as receiver:
            hook = await desk.hook(receiver.url)
            async with db.connection(desk.pool) as database:
                await database.execute("update webhook set target_url = 'http://169.254.169.254/latest/meta-data'")
            await desk.send(deliverer, "tag.added")
            assert 0 == receiver.connections
        (one,) = await desk.deliveries(hook["webhook_id"])
        assert "may not be called" in one["error"]

    async def test_dies_after_the_last_attempt(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver(reply=Reply(500)) as receiver:
            hook = await desk.hook(receiver.url)
            (event_id,) = await desk.tell("tag.added")
            for _ in range(rules.ATTEMPTS_MAX + 2):
                await desk.deliver(deliverer)
                await desk.hasten()
            assert [event_id] * rules.ATTEMPTS_MAX == ids_of(receiver)
        (one,) = await desk.deliveries(hook["webhook_id"])
        assert ("dead", rules.ATTEMPTS_MAX, None) == (one["state"], one["attempts"], one["next_attempt_time"])
        assert one["finished_time"]
        async with db.connection(desk.pool) as database:
            rows = await database.fetch("select outcome, sum(total) as total from delivery_total group by 1")
            totals = {row["outcome"]: row["total"] for row in rows}
        assert {"failed": rules.ATTEMPTS_MAX - 1, "dead": 1} == totals

    async def test_asks_for_a_pause(self, desk: Desk, deliverer: Deliverer) -> None:
        """Nothing goes to it meanwhile, not even what is of other subjects."""
        async with Receiver(reply=Reply(429, headers={"retry-after": "600"})) as receiver:
            hook = await desk.hook(receiver.url)
            await desk.send(deliverer, "tag.added", subject_id=SUBJECT)
            await desk.send(deliverer, "tag.added", subject_id=OTHER)
            assert 1 == len(receiver.given)
        seconds = await desk.value(
            "select extract(epoch from min(due_time) filter (where attempts = 1) - now()) from delivery"
        )
        assert 500 < seconds <= 600
        assert 2 == len(await desk.deliveries(hook["webhook_id"]))

    async def test_gone(self, desk: Desk, deliverer: Deliverer) -> None:
        """410 switches it off at once; the organization is told."""
        async with Receiver(reply=Reply(410)) as receiver:
            hook = await desk.hook(receiver.url)
            await desk.tell("tag.added", subject_id=SUBJECT)
            await desk.send(deliverer, "tag.added", subject_id=SUBJECT)
            assert 1 == len(receiver.given)
        shown = await desk.ask("GET", f"/webhook/{hook['webhook_id']}")
        assert not shown["active"]
        assert shown["disabled_time"]
        assert ["dead", "pending"] == sorted(one["state"] for one in await desk.deliveries(hook["webhook_id"]))
        (told,) = await desk.run(list_events, organization_id=desk.house.organization_id, type_name="webhook.disabled")
        assert hook["webhook_id"] == told.subject_id
        entry = await desk.ask("GET", f"/event/{told.event_id}")
        assert shown == entry["data"]


class TestSwitchedOff:
    async def test_five_days_of_failures(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver(reply=Reply(500)) as receiver:
            hook = await desk.hook(receiver.url)
            path = f"/webhook/{hook['webhook_id']}"
            await desk.send(deliverer, "tag.added")
            await set_back(desk.pool, "webhook", "failing_since", rules.FAILING_DAYS_MAX - 0.01)
            await desk.hasten()
            await desk.deliver(deliverer)
            assert (await desk.ask("GET", path))["active"]
            await set_back(desk.pool, "webhook", "failing_since", 0.02)
            await desk.hasten()
            await desk.deliver(deliverer)
            shown = await desk.ask("GET", path)
            assert (False, 3) == (shown["active"], shown["consecutive_failures"])
            # It is told of nothing while it is off, keeps what it was not given, and gets that when it is on again.
            await desk.tell("tag.removed")
            await desk.hasten()
            await desk.deliver(deliverer)
            assert 3 == len(receiver.given)
            receiver.reply = Reply(200)
            shown = await desk.ask("PATCH", path, json={"active": True})
            assert (True, 0, None) == (shown["active"], shown["consecutive_failures"], shown["disabled_time"])
            await desk.deliver(deliverer)
            assert ["tag.added"] * 4 == types_of(receiver)

    async def test_a_success_between_forgets_all(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver(reply=Reply(500)) as receiver:
            hook = await desk.hook(receiver.url)
            await desk.send(deliverer, "tag.added")
            await set_back(desk.pool, "webhook", "failing_since", 9)
            receiver.reply = Reply(204)
            await desk.send(deliverer, "tag.removed")
        shown = await desk.ask("GET", f"/webhook/{hook['webhook_id']}")
        assert (True, 0) == (shown["active"], shown["consecutive_failures"])


class TestDelivered:
    async def test_what_is_sent(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver(reply=Reply(202, b"thanks\x00\x1b[31m")) as receiver:
            hook = await desk.hook(receiver.url + "/in?a=1")
            (event_id,) = await desk.send(deliverer, "tag.added", subject_id=SUBJECT)
            (given,) = receiver.given
        assert ("POST", "/in?a=1", "application/json") == (given.method, given.target, given.headers["content-type"])
        Verifier(hook["secret"]).verify(given.body, dict(given.headers))
        body = json.loads(given.body)
        event = body.pop("event")
        assert {"what": "tag.added"} == body
        assert {"event_id", "type", "created_time", "organization_id"} == set(event)
        assert (event_id, "tag.added") == (event["event_id"], event["type"])
        assert event["created_time"].endswith(("+02:00", "+03:00"))  # Athens
        (one,) = await desk.deliveries(hook["webhook_id"])
        assert ("delivered", 1, 202, None) == (one["state"], one["attempts"], one["response_status"], one["error"])
        assert "thanks\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}[31m" == one["response_excerpt"]

    async def test_only_what_it_wants(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver() as receiver:
            await desk.hook(receiver.url + "/all")
            await desk.hook(receiver.url + "/tags", event_types=["tag.*", "user.invited"])
            await desk.hook(receiver.url + "/default", event_types=None)
            await desk.hook(receiver.url + "/mine", questionnaire_id=desk.house.questionnaire_id)
            await desk.hook(receiver.url + "/ours", application_id=desk.house.application_id)
            await desk.hook(receiver.url + "/off", active=False)
            await desk.tell("tag.added", "pipeline.created", "questionnaire_instance.completed")
            await desk.tell("user.invited", "user.removed", questionnaire_id=None)
            await desk.send(deliverer, "tag.removed", test=True)
            found: dict[str, list[str]] = {}
            for given in receiver.given:
                found.setdefault(given.target, []).append(json.loads(given.body)["event"]["type"])
        bound = ["pipeline.created", "questionnaire_instance.completed", "tag.added"]
        assert {
            "/all": [*bound, "user.invited", "user.removed"],
            "/tags": ["tag.added", "user.invited"],
            "/default": ["questionnaire_instance.completed"],
            "/mine": bound,
            "/ours": bound,
        } == {target: sorted(types) for target, types in found.items()}

    async def test_nothing_of_before(self, desk: Desk, deliverer: Deliverer) -> None:
        await desk.tell("tag.added")
        async with Receiver() as receiver:
            await desk.hook(receiver.url)
            await desk.send(deliverer, "tag.removed")
            assert ["tag.removed"] == types_of(receiver)

    async def test_both_secrets_sign_for_a_day(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver() as receiver:
            hook = await desk.hook(receiver.url)
            renewed = await desk.ask("POST", f"/webhook/{hook['webhook_id']}/secret")
            assert hook["secret"] != renewed["secret"]
            await desk.send(deliverer, "tag.added")
            await set_back(desk.pool, "webhook", "previous_secret_until", 1.01)
            await desk.send(deliverer, "tag.added")
            first, second = receiver.given
        for secret in (hook["secret"], renewed["secret"]):
            Verifier(secret).verify(first.body, dict(first.headers))
        Verifier(renewed["secret"]).verify(second.body, dict(second.headers))
        with pytest.raises(Exception, match="signature"):
            Verifier(hook["secret"]).verify(second.body, dict(second.headers))

    async def test_order_within_a_subject(self, desk: Desk, deliverer: Deliverer) -> None:
        """A failed delivery holds back its own subject and nothing else."""
        refused = {"tag.added"}

        def reply(given: Given) -> Reply:
            event = json.loads(given.body)["event"]
            return Reply(500 if event["type"] in refused else 200)

        async with Receiver(reply=reply) as receiver:
            await desk.hook(receiver.url)
            await desk.tell("tag.added", "tag.removed", subject_id=SUBJECT)
            await desk.send(deliverer, "tag.removed", subject_id=OTHER)
            assert ["tag.added", "tag.removed"] == sorted(types_of(receiver))
            refused.clear()
            await desk.hasten()
            await desk.deliver(deliverer)
            assert ["tag.added", "tag.removed"] == types_of(receiver)[2:]

    async def test_an_overtaken_event_comes_first(self, desk: Desk, deliverer: Deliverer) -> None:
        """A transaction that began early and waited is read before the one that it waited for."""
        async with Receiver() as receiver:
            await desk.hook(receiver.url)
            await desk.deliver(deliverer)  # what the house was built of
            async with db.transaction(desk.pool) as early:
                await early.fetch_value("select pg_current_xact_id()")
                async with db.transaction(desk.pool) as late:
                    await _record(desk, late, "tag.added")
                await _record(desk, early, "tag.removed")
            # Ours has the lower number and stands in front; but what it followed has come before.
            await settled(desk.pool)
            await desk.run(sending.fan_out, limit=1)
            while await deliverer.turn():
                await deliverer.land()
            assert ["tag.added", "tag.removed"] == types_of(receiver)
            await desk.deliver(deliverer)
            assert 2 == len(receiver.given)


async def _record(desk: Desk, database: db.Database, type_name: str) -> None:
    one = new_event(desk.house, type_name, event_id=ids.ordered(database.clock.now()), subject_id=SUBJECT)
    await service.record(database, events=[one])


class TestClaims:
    async def test_two_in_flight_and_no_more(self, desk: Desk, make_deliverer: Callable[..., Deliverer]) -> None:
        """A target that hangs holds two slots, whoever asks; a neighbour's goes on."""
        async with Receiver(reply=Reply(way="silence")) as hanging, Receiver() as good:
            await desk.hook(hanging.url, event_types=["tag.*"])
            await desk.hook(good.url, event_types=["pipeline.*"])
            for _ in range(20):
                await desk.tell("tag.added", "pipeline.created")
            deliverers = [make_deliverer(call_seconds=30.0) for _ in range(2)]
            while await deliverers[0].fan_out():
                pass
            async with asyncio.timeout(30):
                while len(good.given) < 20 or len(hanging.given) < 2:
                    await asyncio.gather(*(each.turn() for each in deliverers))
                    await asyncio.sleep(0.01)
            assert 2 == len(hanging.given)
            for each in deliverers:
                for flight in list(each._flights):
                    flight.cancel()
                await each.land()

    async def test_of_two_deliverers_one_sends(self, desk: Desk, make_deliverer: Callable[..., Deliverer]) -> None:
        async with Receiver() as receiver:
            await desk.hook(receiver.url)
            await desk.hook(receiver.url + "/second")
            for _ in range(30):
                await desk.tell("tag.added")
            deliverers = [make_deliverer() for _ in range(2)]
            async with asyncio.timeout(60):
                while len(receiver.given) < 60:
                    await asyncio.gather(*(each.fan_out() for each in deliverers))
                    await asyncio.gather(*(each.turn() for each in deliverers))
                    await asyncio.gather(*(each.land() for each in deliverers))
            await asyncio.gather(*(desk.deliver(each) for each in deliverers))
            assert 60 == len({(given.target, given.headers["webhook-id"]) for given in receiver.given})
            assert 60 == len(receiver.given)

    async def test_a_lost_worker(self, desk: Desk, make_deliverer: Callable[..., Deliverer]) -> None:
        """Its deliveries come back and are sent again with the same id; its own late settlement changes nothing."""
        async with Receiver() as receiver:
            hook = await desk.hook(receiver.url)
            await desk.tell("tag.added")
            lost, other = make_deliverer(lease_seconds=0.0), make_deliverer()
            await lost.fan_out()
            deliveries, _ = await desk.run(sending.claim, after=sending.START, limit=9, lease_seconds=0.0)
            assert 1 == len(deliveries)
            await other._reap()
            await desk.hasten()
            await desk.deliver(other)
            is_settled = await desk.run(
                sending.settle,
                lease=deliveries[0].lease,
                reply=rules.Reply(duration_ms=1, status=500),
                now=await desk.now(),
                jitter=1.0,
            )
            assert not is_settled
            assert 1 == len(receiver.given)
        (one,) = await desk.deliveries(hook["webhook_id"])
        assert ("delivered", 2) == (one["state"], one["attempts"])
        assert 0 == (await desk.ask("GET", f"/webhook/{hook['webhook_id']}"))["consecutive_failures"]

    async def test_a_call_is_held_while_its_worker_lives(
        self, desk: Desk, make_deliverer: Callable[..., Deliverer]
    ) -> None:
        """Also while the worker waits for its end, told to stop: leases are shorter than a call and such a stop."""

        async def lease_until() -> datetime:
            return await desk.value("select lease_until from delivery where state = 'claimed'")

        async with Receiver(reply=Reply(way="silence")) as receiver:
            await desk.hook(receiver.url)
            await desk.tell("tag.added")
            slow, stop = make_deliverer(renew_seconds=0.01, call_seconds=30.0), asyncio.Event()
            running = asyncio.create_task(slow.run(stop))
            await until(lambda: bool(receiver.given))
            stop.set()
            claimed = await lease_until()
            async with asyncio.timeout(30):
                while await lease_until() <= claimed:
                    await asyncio.sleep(0.01)
            assert 1 == len(receiver.given)
        await running

    async def test_deleted_webhook(self, desk: Desk, deliverer: Deliverer) -> None:
        async with Receiver() as receiver:
            hook = await desk.hook(receiver.url)
            await desk.tell("tag.added")
            await deliverer.fan_out()
            await desk.ask("DELETE", f"/webhook/{hook['webhook_id']}", status=204)
            await desk.deliver(deliverer)
            assert 0 == receiver.connections
        async with db.transaction(desk.pool) as database:
            while await prune(database, "deliveries of deleted webhooks", "webhooks"):
                pass
            assert (0, 0) == tuple(
                await database.fetch_row("select (select count(*) from delivery), (select count(*) from webhook)") or ()
            )


class TestSettling:
    async def test_waits_for_whoever_holds_the_webhook(self, desk: Desk, deliverer: Deliverer) -> None:
        """A replay holds it longer than one may wait for a lock: nothing is sent twice because of it."""
        async with Receiver() as receiver:
            hook = await desk.hook(receiver.url)
            await desk.tell("tag.added")
            await deliverer.fan_out()
            assert 1 == await deliverer.turn()
            async with db.transaction(desk.pool) as database:
                await database.fetch("select 1 from webhook for no key update")
                await until(lambda: bool(receiver.given))
                await asyncio.sleep(1.5)
            await deliverer.land()
            assert 1 == len(receiver.given)
        (one,) = await desk.deliveries(hook["webhook_id"])
        assert ("delivered", 1) == (one["state"], one["attempts"])


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
        await desk.run(sending.fan_out, limit=500)
        counts: dict[str, int] = {}
        after = sending.START
        for _ in range(4):  # fewer places than its webhooks could fill
            deliveries, after = await desk.run(sending.claim, after=after, limit=9)
            for delivery in deliveries:
                counts[delivery.lease.organization_id] = counts.get(delivery.lease.organization_id, 0) + 1
        assert {desk.house.organization_id: 8, neighbour.organization_id: 1} == counts

    async def test_all_webhooks_of_an_organization_come_to_their_turn(self, desk: Desk) -> None:
        hooks = {(await desk.hook(NOBODY))["webhook_id"] for _ in range(12)}
        await desk.tell(*["tag.added"] * 40)
        await desk.run(sending.fan_out, limit=500)
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
            await desk.send(deliverer, "tag.added")
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
