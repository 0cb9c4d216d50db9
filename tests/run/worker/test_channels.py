"""Messages through accounts of organizations, from the queue to a gateway on this machine and back."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC
from typing import Any
from urllib.parse import parse_qs

import pytest
import structlog
from msgspec.structs import replace
from standardwebhooks import Webhook
from structlog.testing import capture_logs

from afterword.core.wire.site import Site
from afterword.extras import smpp
from afterword.kit import db
from afterword.kit.transport.base import WEBHOOK, Begin, Message, Outcome, Retry, Sent
from afterword.kit.transport.http import Caller
from afterword.run import worker
from afterword.run.worker import channels
from afterword.sending.channels import webhook
from afterword.sending.channels.webhook import WebhookChannel
from afterword.sending.providers import service
from afterword.sending.providers.service import Account
from afterword.sending.queue import service as queue, traces
from tests.conftest import SITE, House
from tests.extras.test_smpp import carrier
from tests.journeys.processes import until
from tests.run.worker.conftest import DEADLINE_SECONDS, RIG, Bench, Logs, accept
from tests.sending.channels.calls import LOOPBACK
from tests.sending.channels.receiver import Given, Receiver, Reply
from tests.sending.queue.conftest import SMS, Queue

SCHEDULED, SENDING, SENT, FAILED, UNCERTAIN = 1, 3, 4, 5, 6
PHONE = "+306912345678"
OPEN = Site(SITE.public_url, SITE.secret, LOOPBACK)
PACE = replace(RIG, slots=8)


@pytest.fixture
async def sms(bench: Bench) -> Bench:
    """A pipeline for SMS on a site that may call this machine; no account has settings yet."""
    queue = await bench.queue.pipeline(
        questionnaire_id=bench.queue.house.questionnaire_id,
        channel_id=SMS,
        title="SMS",
        message_body="{{ organization }}: {{ link }}",
    )
    return dataclasses.replace(
        bench, queue=dataclasses.replace(queue, house=dataclasses.replace(queue.house, site=OPEN))
    )


@asynccontextmanager
async def working(bench: Bench) -> AsyncGenerator["asyncio.Task[None]"]:
    """A worker with the installation's own ways: none for SMS, the outbox for mail, webhooks."""
    stop = asyncio.Event()
    caller = Caller(allowed=LOOPBACK)
    posting = WebhookChannel(
        caller=caller, secrets_of=lambda organization_id: [webhook.secret_of(OPEN.secret, organization_id)]
    )
    running = asyncio.create_task(
        worker.run(
            database_url=bench.database_url,
            site=OPEN,
            channels=lambda pool: {**worker.captured(pool, [1]), WEBHOOK: posting},
            mail_from="survey@shop.example",
            stop=stop,
            pace=PACE,
        )
    )
    try:
        yield running
    finally:
        stop.set()
        await asyncio.wait([running], timeout=DEADLINE_SECONDS)
        await caller.close()


async def add(bench: Bench, kind: str, settings: Mapping[str, Any], *, is_default: bool = True) -> Account:
    async with db.transaction(bench.queue.pool) as database:
        account, _ = await service.add_account(
            database,
            organization_id=bench.queue.house.organization_id,
            kind=kind,
            title=None,
            settings=settings,
            is_default=is_default,
            site=OPEN,
            now=database.clock.now(),
        )
    return account


def twilio(url: str, **more: Any) -> dict[str, Any]:
    return {"account_sid": "AC1", "auth_token": "t", "sender": "Shop", "url": url, **more}


def taken(_given: Given) -> Reply:
    return Reply(201, b'{"sid": "SM1", "status": "queued"}')


async def abandon(bench: Bench, running: "asyncio.Task[None]") -> None:
    """The end of a process: no outcome is written, and its leases run out."""
    running.cancel()
    await asyncio.wait([running], timeout=DEADLINE_SECONDS)
    await bench.queue.execute("update queue_item set lease_until = now() - interval '1 second' where status = 3")


class TestText:
    async def test_without_an_account_it_waits_and_the_trace_says_why(self, sms: Bench) -> None:
        item = await sms.queue.schedule(PHONE)
        async with working(sms):
            good = await dataclasses.replace(sms.queue, pipeline_id=sms.queue.house.pipeline_id).schedule(
                "ann@example.com"
            )
            await sms.until("select status = 4 from queue_item where item_id = $1", good.item_id)
        row = await sms.queue.row(item)
        assert (SCHEDULED, 0) == (row["status"], row["attempts"])
        async with db.transaction(sms.queue.pool) as database:
            current = await queue.get(database, caller=sms.queue.house.caller, item_id=item.item_id)
            found = await traces.explain(database, item=current, now=database.clock.now(), zone=UTC)
        assert ("no_account", "hold") == (found.reason, found.verdict)

    async def test_sent(self, sms: Bench) -> None:
        item = await sms.queue.schedule(PHONE)
        async with Receiver(taken) as receiver:
            await add(sms, "sms_twilio", twilio(receiver.url))
            async with working(sms):
                await sms.until_done()
        row = await sms.queue.row(item)
        assert (SENT, 1) == (row["status"], row["attempts"])
        code = await sms.queue.value("select short_code from questionnaire_instance")
        assert f"Demo: {SITE.public_url}/s/{code}" == parse_qs(receiver.given[0].body.decode())["Body"][0]
        assert "SM1" == await sms.queue.value("select provider_reference from attempt")

    async def test_a_crash_leaves_it_uncertain_and_it_is_not_sent_again(self, sms: Bench) -> None:
        item = await sms.queue.schedule(PHONE)
        async with Receiver(Reply(way="silence")) as receiver:
            await add(sms, "sms_twilio", twilio(receiver.url))
            async with working(sms) as running:
                await sms.until("select exists (select from queue_item where status = 3)")
                await abandon(sms, running)
            receiver.reply = taken
            async with working(sms):
                await sms.until("select status = 6 from queue_item where item_id = $1", item.item_id)
            assert 1 == len(receiver.given)
        assert ["unknown"] == await sms.queue.attempts(item)

    async def test_a_lost_answer_likewise(self, sms: Bench) -> None:
        item = await sms.queue.schedule(PHONE)
        async with Receiver(Reply(way="drop")) as receiver:
            await add(sms, "sms_twilio", twilio(receiver.url))
            async with working(sms):
                await sms.until("select status = 6 from queue_item where item_id = $1", item.item_id)
        assert (1, ["unknown"]) == (len(receiver.given), await sms.queue.attempts(item))

    async def test_an_idempotent_gateway_is_asked_again(self, sms: Bench) -> None:
        item = await sms.queue.schedule(PHONE)
        async with Receiver() as receiver:
            receiver.reply = lambda _given: Reply() if len(receiver.given) > 1 else Reply(way="drop")
            body = {"to": "{to}", "text": "{text}", "ref": "{id}"}
            await add(sms, "sms_http", {"url": receiver.url, "body": body, "idempotent": True})
            async with working(sms):
                await sms.until_done()
        assert ["retry", "accepted"] == await sms.queue.attempts(item)
        assert [item.item_id] * 2 == [json.loads(given.body)["ref"] for given in receiver.given]

    async def test_our_own_fault_pauses_the_account_and_fails_nothing(self, sms: Bench) -> None:
        items = [await sms.queue.schedule(f"+3069123456{number}") for number in range(10, 30)]
        async with Receiver(Reply(401, b'{"code": 20003}')) as receiver:
            account = await add(sms, "sms_twilio", twilio(receiver.url))
            async with working(sms):
                await sms.until(
                    "select paused_time is not null from channel_account where account_id = $1", account.account_id
                )
                await sms.until("select not exists (select from queue_item where status <> 1)")
                receiver.reply = taken
                async with db.transaction(sms.queue.pool) as database:
                    await service.resume_account(database, account_id=account.account_id)
                await sms.until_done()
        assert {SENT} == {(await sms.queue.row(item))["status"] for item in items}
        assert {1} == {(await sms.queue.row(item))["attempts"] for item in items}

    async def test_a_throttle_slows_the_account_and_counts_nothing(self, sms: Bench) -> None:
        items = [await sms.queue.schedule(f"+3069123456{number}") for number in range(10, 20)]
        async with Receiver() as receiver:
            receiver.reply = lambda given: taken(given) if len(receiver.given) > 3 else Reply(429)
            account = await add(sms, "sms_twilio", twilio(receiver.url))
            async with working(sms):
                await sms.until_done()
        assert {(SENT, 1)} == {((row := await sms.queue.row(item))["status"], row["attempts"]) for item in items}
        rate = "select rate is not null from channel_account where account_id = $1"
        assert await sms.queue.value(rate, account.account_id)

    async def test_the_breaker_burns_no_attempt(self, sms: Bench) -> None:
        item = await sms.queue.schedule(PHONE)
        async with Receiver(taken) as receiver:
            pass  # nobody listens there now
        account = await add(sms, "sms_twilio", twilio(receiver.url))
        async with working(sms):
            await sms.until("select open_until > now() from channel_account where account_id = $1", account.account_id)
            await sms.until_still(lambda: 0)  # a failure under way would open it again, for longer than a test waits
            async with Receiver(taken, port=receiver.port):
                await sms.queue.execute("update channel_account set open_until = now() where open_until is not null")
                await sms.until_done()
        row = await sms.queue.row(item)
        assert (SENT, 1, ["accepted"]) == (row["status"], row["attempts"], await sms.queue.attempts(item))


class TestAccounts:
    async def test_new_settings_are_used_by_a_worker_that_runs(self, sms: Bench) -> None:
        async with Receiver(taken) as one, Receiver(taken) as other:
            account = await add(sms, "sms_twilio", twilio(one.url))
            async with working(sms):
                await sms.queue.schedule(PHONE)
                await sms.until_done()
                async with db.transaction(sms.queue.pool) as database:
                    await service.change_account(
                        database, account_id=account.account_id, site=OPEN, settings=twilio(other.url)
                    )
                await sms.queue.schedule(PHONE)
                await sms.until_done()
            assert (1, 1) == (len(one.given), len(other.given))

    async def test_another_default_moves_the_pipelines(self, sms: Bench) -> None:
        async with Receiver(taken) as one, Receiver(taken) as other:
            await add(sms, "sms_twilio", twilio(one.url))
            beside = await add(sms, "sms_twilio", twilio(other.url), is_default=False)
            async with working(sms):
                await sms.queue.schedule(PHONE)
                await sms.until_done()
                async with db.transaction(sms.queue.pool) as database:
                    _, moved = await service.change_account(
                        database, account_id=beside.account_id, site=OPEN, is_default=True
                    )
                await sms.queue.schedule(PHONE)
                await sms.until_done()
            assert (1, 1, 1) == (moved, len(one.given), len(other.given))

    async def test_settings_sealed_with_another_secret_pause_it(self, sms: Bench) -> None:
        account = await add(sms, "sms_twilio", twilio("https://gateway.example"))
        await sms.queue.execute(
            "update channel_account set settings = '\\x0102030405060708090a0b0c0d0e0f' where settings is not null"
        )
        await sms.queue.schedule(PHONE)
        async with working(sms):
            await sms.until(
                "select paused_time is not null from channel_account where account_id = $1", account.account_id
            )
        reason = await sms.queue.value(
            "select paused_reason from channel_account where account_id = $1", account.account_id
        )
        assert "another secret" in reason

    async def test_an_account_of_one_organization_is_not_another_s(self, sms: Bench, neighbour: House) -> None:
        async with Receiver(taken) as receiver:
            await add(sms, "sms_twilio", twilio(receiver.url))
            theirs = await Queue(sms.queue.pool, neighbour, neighbour.pipeline_id).pipeline(
                questionnaire_id=neighbour.questionnaire_id, channel_id=SMS, title="SMS", message_body="{{ link }}"
            )
            waiting = await theirs.schedule(PHONE)
            item = await sms.queue.schedule(PHONE)
            async with working(sms):
                await sms.until("select status = 4 from queue_item where item_id = $1", item.item_id)
            assert (1, SCHEDULED) == (len(receiver.given), await theirs.status(waiting))


class TestSmpp:
    async def test_sent_and_delivered(self, sms: Bench) -> None:
        item = await sms.queue.schedule(PHONE)
        async with carrier() as smsc:
            settings = {"host": "127.0.0.1", "port": smsc.port, "system_id": "us", "password": "pw", "sender": "Shop"}
            await add(sms, "smpp", settings)
            async with working(sms):
                await sms.until_done()
                await smsc.sessions[0].deliver_sm(
                    "Shop", b"id:m1 stat:DELIVRD err:000", source_addr=PHONE[1:], esm_class=smpp.RECEIPT
                )
                await sms.until("select exists (select from event where type = 'queue_item.delivered')")
        assert ["accepted"] == await sms.queue.attempts(item)

    async def test_receipts_of_no_message_are_logged(self, sms: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        """An SMSC that spells its ids in another way loses no receipt silently."""
        monkeypatch.setattr(channels, "RECEIPT_PAUSES", (0.0,))
        monkeypatch.setattr(channels, "logger", structlog.get_logger())
        await sms.queue.schedule(PHONE)
        async with carrier() as smsc:
            settings = {"host": "127.0.0.1", "port": smsc.port, "system_id": "us", "password": "pw", "sender": "Shop"}
            account = await add(sms, "smpp", settings)
            with capture_logs() as lines:
                async with working(sms):
                    await sms.until_done()
                    for text in (b"id:1017 stat:DELIVRD", b"stat:DELIVRD"):
                        await smsc.sessions[0].deliver_sm("Shop", text, source_addr=PHONE[1:], esm_class=smpp.RECEIPT)
                    await until(lambda: len([line for line in lines if "receipt" in line["event"]]) >= 2)
        [unmatched] = [line for line in lines if "references" in line]
        assert (account.account_id, ["1017"]) == (unmatched["account_id"], unmatched["references"])


class TestWebhook:
    @pytest.fixture
    async def hook(self, bench: Bench) -> Bench:
        queue = await bench.queue.pipeline(
            questionnaire_id=bench.queue.house.questionnaire_id,
            channel_id=WEBHOOK,
            title="Hook",
            target_url="https://hook.example",
            message_subject="How was it, {{ responder.first_name | you }}?",
            message_body="Here: {{ link }}",
        )
        return dataclasses.replace(
            bench, queue=dataclasses.replace(queue, house=dataclasses.replace(queue.house, site=OPEN))
        )

    async def test_posted(self, hook: Bench) -> None:
        async with Receiver() as receiver:
            await hook.queue.change_pipeline(f"target_url = '{receiver.url}/x'")
            item = await hook.queue.schedule(
                "customer 7", metadata={"responder": {"first_name": "Ann"}, "questionnaire": {}}
            )
            async with working(hook):
                await hook.until_done()
        (given,) = receiver.given
        secret = webhook.secret_of(OPEN.secret, hook.queue.house.organization_id)
        document = Webhook(secret).verify(given.body, dict(given.headers))
        instance_id = await hook.queue.value("select instance_id from questionnaire_instance")
        code = await hook.queue.value("select short_code from questionnaire_instance")
        assert (item.item_id, "queue_item.dispatch") == (given.headers["webhook-id"], document["type"])
        data = document["data"]
        assert {
            "item_id": item.item_id, "questionnaire_instance_id": instance_id, "subject": "How was it, Ann?",
            "collection_url": f"{SITE.public_url}/a/{instance_id}",
            "collection_url_short": f"{SITE.public_url}/s/{code}",
            "body": f"Here: {SITE.public_url}/a/{instance_id}", "responder_channel_identifier": "customer 7",
        }.items() <= data.items()  # fmt: skip
        assert {"first_name": "Ann"} == data["metadata"]["responder"]
        assert data["unsubscribe_url"].startswith(f"{SITE.public_url}/u/")

    async def test_a_crash_repeats_it_under_the_same_id(self, hook: Bench) -> None:
        async with Receiver(Reply(way="silence")) as receiver:
            await hook.queue.change_pipeline(f"target_url = '{receiver.url}'")
            item = await hook.queue.schedule("customer 7")
            async with working(hook) as running:
                await hook.until("select exists (select from queue_item where status = 3)")
                await abandon(hook, running)
            receiver.reply = Reply()
            async with working(hook):
                await hook.until_done()
            assert [item.item_id] * 2 == [given.headers["webhook-id"] for given in receiver.given]
        assert ["unknown", "accepted"] == await hook.queue.attempts(item)

    @pytest.mark.parametrize("reply", [Reply(401), Reply(302), Reply(503), None])
    async def test_one_bad_receiver_holds_up_no_other(self, hook: Bench, reply: Reply | None) -> None:
        """Theirs wait or count, and the account that all receivers share stays open and as fast as it was."""
        async with Receiver(reply or Reply()) as bad, Receiver() as good:
            await hook.queue.change_pipeline(f"target_url = '{bad.url}'")
            second = await hook.queue.pipeline(
                questionnaire_id=hook.queue.house.questionnaire_id,
                channel_id=WEBHOOK,
                title="Good",
                target_url="https://good.example",
            )
            await second.change_pipeline(f"target_url = '{good.url}'")
            if reply is None:
                await bad.__aexit__(None, None, None)
            waiting = [await hook.queue.schedule(f"customer {number}") for number in range(12)]
            async with working(hook):
                await hook.until("select not exists (select from queue_item where reason is null)")
                going = [await second.schedule(f"customer {number}") for number in range(12)]
                await hook.until("select count(*) = 12 from queue_item where status = 4")
        account = (await hook.queue.fetch("select * from channel_account where channel_id = 3"))[0]
        assert (None, None, 0, None) == (
            account["paused_time"], account["open_until"], account["failures"], account["rate"]
        )  # fmt: skip
        assert {SENT} == {(await hook.queue.row(item))["status"] for item in going}
        assert {SCHEDULED} == {(await hook.queue.row(item))["status"] for item in waiting}

    async def test_a_private_address_is_not_called_whatever_was_saved(self, hook: Bench) -> None:
        await hook.queue.change_pipeline("target_url = 'http://169.254.169.254/latest/meta-data'")
        item = await hook.queue.schedule("customer 7")
        async with working(hook):
            await hook.until("select count(*) = 1 from attempt where outcome is not null")
        row = await hook.queue.row(item)
        assert (SCHEDULED, "retry", ["retry"]) == (row["status"], row["reason"], await hook.queue.attempts(item))
        assert "may not be called" in row["result"]

    async def test_secrets_of_its_own(self, hook: Bench) -> None:
        secrets = [webhook.secret_of(b"x" * 32, name) for name in ("new", "old")]
        async with Receiver() as receiver:
            await hook.queue.change_pipeline(f"target_url = '{receiver.url}'")
            await add(hook, "webhook", {"secrets": secrets})
            await hook.queue.schedule("customer 7")
            async with working(hook):
                await hook.until_done()
        for secret in secrets:
            Webhook(secret).verify(receiver.given[0].body, dict(receiver.given[0].headers))


class TestHealth:
    async def test_a_wrong_login_pauses_the_account_and_fails_nothing(self, bench: Bench) -> None:
        async def refuse(message: Message, begin: Begin) -> Outcome:
            return Retry("account", "535 5.7.8 bad credentials", 535)

        bench.channel.script = refuse
        items = [await bench.queue.schedule(f"a{n}@example.com") for n in range(6)]
        async with bench.worker():
            await bench.until("select exists (select from channel_account where paused_time is not null)")
            await bench.until("select not exists (select from queue_item where status <> 1)")

        assert {(SCHEDULED, 0)} == {
            ((await bench.queue.row(item))["status"], (await bench.queue.row(item))["attempts"]) for item in items
        }
        assert "535 5.7.8 bad credentials" == await bench.queue.value("select paused_reason from channel_account")
        assert 0 == await bench.queue.value("select count(*) from attempt")

    async def test_the_breaker_opens_and_one_probe_closes_it(self, bench: Bench, logs: Logs) -> None:
        is_up = False

        async def answer(message: Message, begin: Begin) -> Outcome:
            return await accept(message, begin) if is_up else Retry("connection", "nobody there")

        bench.channel.script = answer
        for number in range(20):
            await bench.queue.schedule(f"a{number}@example.com")
        async with bench.worker():
            await bench.until("select exists (select from channel_account where open_until > now())")
            asked = await bench.until_still(bench.channel.asked.total)
            await bench.queue.execute("update channel_account set open_until = now()")
            await bench.until("select failures > 5 and open_until > now() from channel_account")
            assert asked + 1 == bench.channel.asked.total()
            is_up = True
            await bench.queue.execute("update channel_account set open_until = now()")
            await bench.until_done()

        assert 20 == bench.channel.accepted.total()
        assert [1, 1] == [logs.events.count(one) for one in ("provider away", "provider answers again")]
        assert "nobody there" == logs.causes["provider away"]
        assert (0, None) == tuple(
            (await bench.queue.fetch("select failures, open_until from channel_account"))[0].values()
        )

    async def test_throttled(self, bench: Bench) -> None:
        """Everything is delivered, no attempt is counted, the rate is learned."""
        refused: list[str] = []

        async def answer(message: Message, begin: Begin) -> Outcome:
            if bench.channel.asked.total() > 10 and len(refused) < 5:  # however slowly they come
                refused.append(message.item_id)
                return Retry("throttle", "454 4.7.0 too many", 454)
            return await accept(message, begin)

        bench.channel.script = answer
        for number in range(18):
            await bench.queue.schedule(f"a{number}@example.com")
        async with bench.worker(replace(RIG, slots=20)):
            await bench.until_done()

        assert 18 == bench.channel.accepted.total()
        assert 1 == await bench.queue.value("select max(attempts) from queue_item")
        assert await bench.queue.value("select rate is not null and rate_ceiling is not null from channel_account")

    async def test_a_domain_that_throttles(self, bench: Bench) -> None:
        """It goes slower alone: everything is delivered, nothing counted, and no other mail waits for it."""
        asked: list[str] = []

        async def answer(message: Message, begin: Begin) -> Outcome:
            if message.recipient.endswith("@slow.example"):
                asked.append(message.item_id)
                if 3 < len(asked) <= 5:  # however slowly they come
                    return Retry("throttle", "450 4.7.0 rate limit", 450, domain="slow.example")
            return await accept(message, begin)

        bench.channel.script = answer
        for number in range(36):
            domain = "example.com" if number % 6 else "slow.example"
            await bench.queue.schedule(f"a{number}@{domain}")
        async with bench.worker(replace(RIG, slots=20)):
            await bench.until_done()

        assert 36 == bench.channel.accepted.total()
        assert 1 == await bench.queue.value("select max(attempts) from queue_item")
        assert await bench.queue.value("select rate is null and has_domain_rates from channel_account")
        assert ["slow.example"] == [row["domain"] for row in await bench.queue.fetch("select domain from domain_rate")]
        quick = "select max(throttled) from queue_item where responder_channel_identifier like '%@example.com'"
        assert 0 == await bench.queue.value(quick)

    async def test_claiming_beside_outcomes(self, bench: Bench) -> None:
        """While outcomes are written the next items are claimed, and begin after: no slot has two begun items."""
        two_of_each = """select count(*) filter (where status = 2) = 2 and count(*) filter (where status = 3) = 2
                         from queue_item"""
        async with bench.worker(replace(RIG, slots=2)):
            async with db.transaction(bench.queue.pool) as other:
                await other.execute("lock table attempt_total in exclusive mode")
                for _ in range(6):
                    await bench.queue.schedule()
                await bench.until(two_of_each)
                for _ in range(10):
                    await asyncio.sleep(RIG.poll_seconds)
                    assert await bench.queue.value(two_of_each)
            await bench.until_done()

        assert 6 == sum(bench.channel.accepted.values())

    async def test_slots_of_an_account(self, bench: Bench) -> None:
        """A slow account fills only its own slots; others go on."""
        go = asyncio.Event()
        most = running = 0

        async def slowly(message: Message, begin: Begin) -> Outcome:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await begin()
            await go.wait()
            running -= 1
            return Sent()

        bench.channel.script = slowly
        await bench.queue.execute("update channel_account set slots_max = 2")
        for number in range(6):
            await bench.queue.schedule(f"a{number}@example.com")
        link = await bench.queue.pipeline(
            questionnaire_id=bench.queue.house.questionnaire_id, channel_id=4, title="Link"
        )
        item = await link.schedule("key")
        async with bench.worker():
            await bench.until("select status = 4 from queue_item where item_id = $1", item.item_id)
            assert 2 == most
            go.set()
            await bench.until_done()

        assert 2 == most


SELDOM = replace(RIG, slots=20, poll_seconds=600.0)  # whoever waited for the next look would miss every deadline


async def test_a_free_slot_is_used_at_once(bench: Bench) -> None:
    await bench.queue.value("update channel_account set slots_max = 2 returning 1")
    for _ in range(12):
        await bench.queue.schedule()

    async with bench.worker(SELDOM):
        await bench.until_done()

    assert 12 == sum(bench.channel.accepted.values())
