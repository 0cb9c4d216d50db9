"""Messages sent as a test: asked for over HTTP, sent by a worker's channels, and answered as a test."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from afterword.core.organizations.access import SCOPES
from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.kit.transport.base import EMAIL, Begin, Channel, Message, Outcome, Refused, Sent
from afterword.run import worker
from afterword.run.worker import messages as test_messages
from afterword.run.worker.channels import ChannelRegistry
from afterword.sending.intake import test_messages as intake_test_messages
from afterword.sending.messages import composing
from tests.pruning import prune
from tests.sending.queue.conftest import Client, Queue, codes

BODY = {"responder_channel_identifier": "Ann@Example.com", "locale": "en"}
UNTOUCHED = ("queue_item", "attempt", "questionnaire_instance", "responder", "responder_address", "contact", "event")

Script = Callable[[Message, Begin], Awaitable[Outcome]]


async def accept(_message: Message, begin: Begin) -> Outcome:
    await begin()
    return Sent("ref", 250, "250 2.0.0 Ok")


@dataclass
class Scripted:
    """A channel whose answers are the test's."""

    script: Script = accept
    channel_id: int = EMAIL
    resend_after_seconds: int | None = 600
    messages: list[Message] = field(default_factory=list[Message])

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        self.messages.append(message)
        return await self.script(message, begin)

    async def close(self) -> None:
        pass


@asynccontextmanager
async def sending(client: Client, channel: Channel | None = None) -> AsyncGenerator[test_messages.TestMessages]:
    """A worker that sends test messages, e-mail by this channel."""
    async with sending_of(client.queue.pool, client.queue.house.site, channel) as sender:
        yield sender


@asynccontextmanager
async def sending_of(
    pool: db.Pool, site: Site, channel: Channel | None = None
) -> AsyncGenerator[test_messages.TestMessages]:
    stop = asyncio.Event()
    channels = {**worker.captured(pool, [EMAIL]), **({EMAIL: channel} if channel else {})}
    registry = ChannelRegistry(pool=pool, site=site, defaults=channels, versions={})
    sender = test_messages.TestMessages(pool=pool, site=site, channels=registry, mail_from="survey@shop.example")
    running = asyncio.create_task(sender.run(stop))
    try:
        yield sender
    finally:
        stop.set()
        await running


async def ask(client: Client, *, headers: dict[str, str] | None = None, **body: Any) -> httpx2.Response:
    return await client.send("POST", f"{client.pipeline}/test", {**BODY, **body}, **(headers or {}))


async def sent(client: Client, **body: Any) -> dict[str, Any]:
    response = await ask(client, **body)
    assert 200 == response.status_code, response.text
    return response.json()


async def counts(queue: Queue) -> dict[str, int]:
    return {table: await queue.value(f"select count(*) from {table}") for table in UNTOUCHED}


class TestRefused:
    async def test_no_address(self, client: Client) -> None:
        response = await ask(client, responder_channel_identifier="ann@example.com>\r\nRCPT TO:<eve@example.com")
        assert (422, [("/responder_channel_identifier", "invalid_address")]) == (response.status_code, codes(response))

    async def test_sender_that_is_not_allowed(self, client: Client) -> None:
        await client.queue.execute("update pipeline set sender_address = 'billing@other.example'")
        async with sending(client, channel := Scripted()):
            told = await sent(client)
        assert ("refused", []) == (told["outcome"], channel.messages)
        assert "sender_address: the organization may not send" in told["reply"]

    async def test_never_published(self, client: Client) -> None:
        await client.queue.execute("update questionnaire set published_version_id = null")
        response = await ask(client)
        assert (409, "questionnaire_not_published") == (response.status_code, response.json()["code"])

    async def test_closed(self, client: Client) -> None:
        await client.queue.execute("update questionnaire set active = false")
        response = await ask(client)
        assert (409, "questionnaire_inactive") == (response.status_code, response.json()["code"])

    async def test_nobody_there_to_send(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(intake_test_messages, "TAKEN_SECONDS_MAX", 0.2)
        response = await ask(client)
        assert (503, "5") == (response.status_code, response.headers["Retry-After"])
        assert "nothing was sent" in response.json()["detail"]
        async with sending(client, channel := Scripted()) as sender:
            assert 0 == await sender.turn()  # it was taken back
        assert [] == channel.messages

    async def test_too_many(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(intake_test_messages, "TEST_MESSAGES_MAX", 2)
        async with sending(client):
            assert [200, 200, 429] == [(await ask(client)).status_code for _ in range(3)]
            response = await ask(client)
        assert 1 <= int(response.headers["Retry-After"]) <= intake_test_messages.TEST_MESSAGES_SECONDS + 1
        await client.queue.execute("update trial set created_time = created_time - interval '10 minutes'")
        async with sending(client):
            assert 200 == (await ask(client)).status_code

    async def test_too_many_at_once(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        async def keep(*_: object, **__: object) -> bool:
            return True  # nobody took it; it stays as if somebody still waited

        monkeypatch.setattr(intake_test_messages, "TAKEN_SECONDS_MAX", 0.0)
        monkeypatch.setattr(intake_test_messages, "delete_waiting_test_message", keep)
        monkeypatch.setattr(intake_test_messages, "OPEN_MAX", 2)  # the probes of the whole interface lift it
        assert [503, 503, 429] == [(await ask(client)).status_code for _ in range(3)]

    async def test_suppressed(self, client: Client) -> None:
        """A suppressed address gets no test message either."""
        item = await client.queue.sent(outcome=Refused("550 5.1.1 gone", 550, suppress=True))
        async with sending(client, channel := Scripted()):
            found = await sent(client)
        assert ("refused", None) == (found["outcome"], found["sent_time"])
        assert "Not sent: the address is suppressed (hard_bounce)." == found["reply"]
        assert ([], item.responder_channel_identifier) == (channel.messages, "ann@example.com")
        assert 0 == await client.queue.value("select count(*) from questionnaire_instance where test")


class TestSent:
    async def test_ok(self, client: Client) -> None:
        await client.queue.change_pipeline(
            "message_subject = 'Order {{ item.external_reference }}', paused = true, "
            "message_body = 'Dear {{ responder.first_name | you }}, {{ questionnaire.order }}'"
        )
        before = await counts(client.queue)
        metadata = {"questionnaire": {"order": "1042"}, "responder": {"first_name": "Ann"}}
        async with sending(client, channel := Scripted()):
            found = await sent(client, metadata=metadata, external_reference="A-17")
        [message] = channel.messages
        assert "[Test] Order A-17" == found["subject"] == message.subject
        assert "Dear Ann, 1042" in found["body"]
        assert found["body"] == message.text
        assert ("Ann@Example.com", "en") == (found["responder_channel_identifier"], found["locale"])
        assert ("accepted", "250 2.0.0 Ok") == (found["outcome"], found["reply"])
        assert found["sent_time"] is not None
        assert "Ann@example.com" == message.recipient
        made = {"questionnaire_instance": 1, "responder": 1, "event": 2}
        assert {name: count + made.get(name, 0) for name, count in before.items()} == await counts(client.queue)

    async def test_links_open_a_test_instance(self, client: Client) -> None:
        """A real page, whose answer is in no figure; only the link to unsubscribe does nothing."""
        async with sending(client, channel := Scripted()):
            await sent(client, metadata={"questionnaire": {"order": "1042"}})
        [message] = channel.messages
        site = client.queue.house.site
        [instance] = await client.queue.fetch("select instance_id, test, locale, metadata from questionnaire_instance")
        assert (True, "en", {"order": "1042"}) == (instance["test"], instance["locale"], instance["metadata"])
        url = site.pages("").collection_url(instance["instance_id"])
        assert url in message.html
        assert "was a test" not in (await client.http.get(url, headers={"Accept": "text/html"})).text
        assert f"<{site.pages('').unsubscribe_url(composing.SAMPLE_ID)}>" == message.headers["List-Unsubscribe"]

    async def test_in_the_outbox(self, client: Client) -> None:
        """Where no mail leaves, a test message is captured like any other."""
        async with sending(client):
            found = await sent(client)
        assert ("accepted", "captured") == (found["outcome"], found["reply"])
        assert 1 == await client.queue.value("select count(*) from outbox_message where subject = $1", found["subject"])

    async def test_a_worker_that_takes_long(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        go = asyncio.Event()

        async def slowly(message: Message, begin: Begin) -> Outcome:
            await go.wait()
            return await accept(message, begin)

        monkeypatch.setattr(intake_test_messages, "ACT_SECONDS_MAX", 2.0)
        async with sending(client, Scripted(slowly)):
            found = await sent(client)
            go.set()
        assert "unknown" == found["outcome"]
        assert "may yet arrive" in found["reply"]

    async def test_with_a_key_it_is_sent_once(self, client: Client) -> None:
        async with sending(client, channel := Scripted()):
            found = [await ask(client, headers={"Idempotency_Key": "one"}) for _ in range(2)]
        assert ["accepted"] * 2 == [response.json()["outcome"] for response in found]
        assert 1 == len(channel.messages)
        assert "true" == found[1].headers["Idempotency-Replayed"]

    async def test_locale_of_the_responder(self, client: Client) -> None:
        async with sending(client):
            assert "en" == (await sent(client, locale=None))["locale"]

    async def test_what_is_known_of_a_responder(self, client: Client) -> None:
        """Only who may read a responder's values gets them filled in."""
        await client.queue.change_pipeline("message_body = 'Dear {{ responder.first_name | you }}'")
        await client.queue.schedule("ann@example.com", metadata={"responder": {"first_name": "Ann"}})
        await client.queue.worker().send(Sent("x", 250, "ok"))
        narrow = await client.with_token(frozenset({"Pipeline.Update"}))
        async with sending(client):
            assert "Dear Ann" in (await sent(client))["body"]
            assert "Dear you" in (await sent(narrow))["body"]

    async def test_prune(self, client: Client) -> None:
        async with sending(client):
            await sent(client)
        now = await client.queue.now()
        async with db.transaction(client.queue.pool) as database:
            assert 0 == await prune(database, "test messages", now=now)
            later = now + timedelta(seconds=intake_test_messages.KEPT_SECONDS + 1)
            assert 1 == await prune(database, "test messages", now=later)


class TestThroughAnAccount:
    async def test_refusals(self, client: Client) -> None:
        account_id = await client.queue.value("select account_id from channel_account")
        path = f"/provider/{account_id}/test"
        wrong = await client.send("POST", path, {"responder_channel_identifier": "nobody"})
        assert [("/responder_channel_identifier", "invalid_address")] == codes(wrong)
        await client.queue.execute("update channel_account set channel_id = 3")
        wrong = await client.send("POST", path, {"responder_channel_identifier": "https://10.0.0.1/hook"})
        assert [("/responder_channel_identifier", "invalid_address")] == codes(wrong)

    async def test_sent_while_paused_with_the_reply(self, client: Client) -> None:
        await client.queue.execute("update channel_account set paused_time = now()")
        await client.queue.execute("update pipeline set sender_address = 'survey@shop.example'")
        await client.queue.execute(
            "insert into organization_sender_domain (organization_id, domain) select organization_id, 'shop.example' "
            "from organization"
        )
        account_id = await client.queue.value("select account_id from channel_account")
        body = {"responder_channel_identifier": "ann@example.com"}
        before = await counts(client.queue)
        async with sending(client, channel := Scripted()):
            found = (await client.send("POST", f"/provider/{account_id}/test", body)).json()
        assert ("accepted", "250 2.0.0 Ok", intake_test_messages.TEXT) == (
            found["outcome"],
            found["reply"],
            found["body"],
        )
        assert ["survey@shop.example"] == [message.sender for message in channel.messages]
        assert before == await counts(client.queue)


class TestPages:
    """Where the links of a test message lead: nothing is written, whoever calls."""

    async def test_get(self, client: Client) -> None:
        before = await counts(client.queue)
        for path in (f"a/{composing.SAMPLE_ID}", f"a/{composing.SAMPLE_ID}?q=x&v=9", f"u/{composing.SAMPLE_ID}"):
            response = await client.http.get(f"https://answers.example/{path}", headers={"Accept-Language": "el"})
            assert 200 == response.status_code
            assert "Αυτή ήταν μια δοκιμή" in response.text
            assert before == await counts(client.queue)

    async def test_one_click(self, client: Client) -> None:
        response = await client.http.post(
            f"https://answers.example/u/{composing.SAMPLE_ID}", data={"List-Unsubscribe": "One-Click"}
        )
        assert 200 == response.status_code
        assert 0 == await client.queue.value("select count(*) from suppression")


class TestPreview:
    async def preview(self, client: Client, **body: Any) -> httpx2.Response:
        return await client.send("POST", f"{client.pipeline}/preview", body)

    async def test_refusals(self, client: Client) -> None:
        narrow = await client.with_token(SCOPES - {"Queue.Read"})
        item_id = (await client.create())["item_id"]
        assert 403 == (await self.preview(narrow, item_id=item_id)).status_code
        assert [("/item_id", "unknown_id")] == codes(await self.preview(client, item_id="z" * 22))
        assert [("/reminder_number", "out_of_range")] == codes(await self.preview(client, reminder_number=1))
        await client.queue.execute("update pipeline set sender_address = 'billing@other.example'")
        assert 422 == (await self.preview(client)).status_code

    async def test_of_an_item_and_a_reminder(self, client: Client) -> None:
        body = "Dear {{ responder.first_name | customer }}, {{ link }}"
        await client.queue.execute("update pipeline set version = version + 1, message_body = $1", body)
        reminders = [{"delay_days": 1, "messages": {"en": {"subject": "Still there?", "body": "Again: {{ link }}"}}}]
        await client.queue.execute("update pipeline set reminders = $1", reminders)
        before = await counts(client.queue)
        plain = (await self.preview(client, locale="en")).json()
        assert ("en", None, True) == (plain["locale"], plain["segments"], "Dear customer," in plain["html"])
        reminder = (await self.preview(client, locale="en", reminder_number=1)).json()
        assert ("Still there?", True) == (reminder["subject"], reminder["text"].startswith("Again: "))
        assert before == await counts(client.queue)
        item = await client.create(metadata={"responder": {"first_name": "Ann <b>"}})
        shown = (await self.preview(client, item_id=item["item_id"])).json()
        assert "Dear Ann <b>," in shown["text"]
        assert "Dear Ann &lt;b&gt;," in shown["html"]
        hidden = await self.preview(await client.with_token(SCOPES - {"Responder Value.Read"}), item_id=item["item_id"])
        assert "Dear customer," in hidden.json()["text"]
