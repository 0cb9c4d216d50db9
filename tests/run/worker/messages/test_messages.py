"""Mails that carry notices: sent once, tried again, given up; to a real mail server where that matters."""

import asyncio
import html
import io
import sys
from datetime import timedelta
from email.message import EmailMessage

import pytest

from afterword.cases import messages
from afterword.kit import db
from afterword.kit.settings import Settings
from afterword.kit.transport.base import EMAIL, Begin, Channel, Message, Outcome, Refused, Retry, Sent, Unknown
from afterword.run import worker
from afterword.run.cli import inbound
from afterword.run.cli.context import Context
from afterword.run.worker import captured
from afterword.run.worker.channels import ChannelRegistry
from afterword.run.worker.messages import CaseMessages, Notices
from afterword.sending.channels.email import EmailChannel
from afterword.tenants import mails
from afterword.tenants.mails import NOTICES_SHOWN_MAX
from tests.cases.conftest import Desk, desk
from tests.cases.messages.test_messages import BODY, path
from tests.pruning import prune
from tests.run.worker.conftest import DEADLINE_SECONDS, Scripted
from tests.sending.channels.sink import Fault, Sink, say

__all__ = ["desk", "path"]


SENDER = "survey@shop.example"


@pytest.fixture
async def due(desk: Desk) -> Desk:
    """One case, of which the owner is told by a mail that is due."""
    await desk.case(title="Unhappy people", severity="high", conditions=desk.low())
    await desk.notify_all()
    await make_due(desk)
    return desk


async def make_due(desk: Desk) -> None:
    await desk.execute("update notice_mail set due_time = now() - interval '1 second'")


def notices(desk: Desk, channel: Channel) -> Notices:
    return Notices(pool=desk.pool, site=desk.house.site, channel=channel, mail_from=SENDER)


async def send_due(desk: Desk, channel: Channel) -> int:
    """Send what is due now; how many mails that was."""
    sender = notices(desk, channel)
    count = await sender.turn()
    await sender.land()
    return count


async def states(desk: Desk) -> str:
    return await desk.value("select string_agg(state, ' ' order by created_time) from notice_mail")


def scripted(*outcomes: Outcome) -> Scripted:
    """A channel that answers like this, one after the other; the last for good."""
    left = list(outcomes)

    async def answer(_message: Message, _begin: object) -> Outcome:
        return left.pop(0) if len(left) > 1 else left[0]

    return Scripted(answer)


class TestSend:
    async def test_nothing(self, desk: Desk) -> None:
        assert 0 == await send_due(desk, scripted(Sent()))

    async def test_not_yet(self, desk: Desk) -> None:
        """Notices of one minute share a mail."""
        await desk.case()
        await desk.notify_all()
        assert 0 == await send_due(desk, scripted(Sent()))
        assert "waiting" == await states(desk)

    async def test_real_server(self, due: Desk) -> None:
        async with Sink() as sink:
            channel = EmailChannel(sink.url)
            assert 1 == await send_due(due, channel)
            assert 0 == await send_due(due, channel)
            await channel.close()
        [mail] = sink.mails
        message = mail.parsed
        assert ["owner@demo.example"] == mail.recipients
        assert (SENDER, "New alert: Unhappy people") == (mail.sender, message["Subject"])
        assert "Demo <survey@shop.example>" == message["From"]
        [case] = await due.cases()
        link = f"{due.house.site.public_url}/console/cases/{case['alert_instance_id']}"
        for kind in ("plain", "html"):
            part = message.get_body((kind,))
            assert part is not None
            text = html.unescape(part.get_content())
            assert link in text
            assert "Severity: high" in text
            assert ("html" == kind) == (f'href="{link}"' in text)
            assert f"{due.house.site.public_url}/console/settings/notifications" in text
            assert not [word for word in (str(case["responder_id"]), due.house.token, "matched") if word in text]
        assert "sent" == await states(due)

    async def test_outbox(self, due: Desk) -> None:
        """Without a mail server it is captured like every other mail."""
        assert 1 == await send_due(due, captured(due.pool, [EMAIL])[EMAIL])
        row = await due.value("select recipient || ' ' || subject from outbox_message")
        assert "owner@demo.example New alert: Unhappy people" == row

    async def test_several_share_one(self, desk: Desk) -> None:
        await desk.alert(title="One <b>", fold_hours=0)
        await desk.alert(title="Two")
        await desk.respond()
        await desk.raise_all()
        await desk.notify_all()
        await make_due(desk)
        channel = scripted(Sent())
        assert 1 == await send_due(desk, channel)
        [message] = channel.messages.values()
        assert "2 notices" == message.subject
        assert "New alert: One <b>" in message.text
        assert "New alert: One &lt;b&gt;" in message.html
        assert "New alert: Two" in message.text

    async def test_very_many(self, due: Desk) -> None:
        await due.execute(
            """insert into notification (organization_id, notification_id, user_id, event_id, type, title, body,
                 mail_id)
               select organization_id, 'n' || n, user_id, 'e' || n, type, title, body, mail_id
               from notification, generate_series(1, 60) n"""
        )
        channel = scripted(Sent())
        await send_due(due, channel)
        [message] = channel.messages.values()
        assert "61 notices" == message.subject
        assert f"And {61 - NOTICES_SHOWN_MAX} more." in message.text

    async def test_digest(self, desk: Desk) -> None:
        """Two days' worth of notices wait for one mail."""
        anna = await desk.person("anna", time_zone="Europe/Athens")
        await anna.ok("PUT", "/notification/subscription", {"digest": "weekly"})
        await desk.alert(subscriber_user_ids=[anna.user_id])
        for _ in range(2):
            await desk.respond()
            await desk.raise_all()
            await desk.notify_all()
        rows = await desk.value(
            """select array_agg(extract(hour from due_time at time zone 'Europe/Athens')::int * 10
                 + extract(isodow from due_time at time zone 'Europe/Athens')::int)
               from notice_mail where user_id = $1""",
            anna.user_id,
        )
        assert [81] == rows

    async def test_user_who_left(self, due: Desk) -> None:
        await due.execute("update organization_user set active = false")
        channel = scripted(Sent())
        assert 1 == await send_due(due, channel)
        assert ({}, "failed") == (channel.messages, await states(due))


class TestAgain:
    @pytest.mark.parametrize("outcome", [Retry("recipient", "later"), Unknown("no answer"), Retry("account", "login")])
    async def test_later(self, due: Desk, outcome: Outcome) -> None:
        channel = scripted(outcome, Sent())
        assert 1 == await send_due(due, channel)
        assert "waiting" == await states(due)
        assert 0 == await send_due(due, channel)
        waits = await due.value("select due_time - now() from notice_mail")
        assert timedelta(seconds=40) < waits < timedelta(seconds=80)
        await make_due(due)
        assert 1 == await send_due(due, channel)
        assert "sent" == await states(due)
        assert {2} == set(channel.asked.values())

    async def test_refused(self, due: Desk) -> None:
        await send_due(due, scripted(Refused("There is no such mailbox.")))
        assert ("failed", "There is no such mailbox.") == (
            await states(due), await due.value("select error from notice_mail"),
        )  # fmt: skip

    async def test_given_up(self, due: Desk) -> None:
        channel = scripted(Retry("recipient", "later"))
        for _ in range(mails.ATTEMPTS_MAX):
            await make_due(due)
            await send_due(due, channel)
        assert ("failed", mails.ATTEMPTS_MAX) == (await states(due), channel.asked.total())

    async def test_server_that_stops_in_the_middle(self, due: Desk) -> None:
        async with Sink({"dot": Fault("drop", times=1)}) as sink:
            channel = EmailChannel(sink.url)
            await send_due(due, channel)
            assert "waiting" == await states(due)
            await make_due(due)
            await send_due(due, channel)
            await channel.close()
        assert (1, "sent") == (len(sink.mails), await states(due))

    async def test_server_that_refuses(self, due: Desk) -> None:
        async with Sink({"rcpt": say("550 5.1.1 No such user")}) as sink:
            channel = EmailChannel(sink.url)
            await send_due(due, channel)
            await channel.close()
        assert "failed" == await states(due)


class TestSeveralOfOneUser:
    """Mails to one user that are put back at the same moment must not stand in each other's way."""

    async def test_tried_again(self, desk: Desk) -> None:
        await two_mails(desk)
        assert 2 == await send_due(desk, scripted(Retry("account", "login")))
        assert "waiting waiting" == await states(desk)

    async def test_lost_worker(self, desk: Desk) -> None:
        await two_mails(desk)
        async with db.transaction(desk.pool) as database:
            now = database.clock.now()
            assert 2 == len(await mails.claim_mails(database, now=now, limit=10))
        async with db.transaction(desk.pool) as database:
            later = now + timedelta(seconds=mails.LEASE_SECONDS + 1)
            assert [2, 2] == [mail.attempts for mail in await mails.claim_mails(database, now=later, limit=10)]


async def two_mails(desk: Desk) -> None:
    """Two mails to the owner that are due at once, as after an hour without a worker."""
    for minutes in (2, 1):
        await desk.case()
        await desk.notify_all()
        await desk.execute(
            "update notice_mail set due_time = now() - $1::interval where due_time > now()", timedelta(minutes=minutes)
        )


class TestLease:
    async def test_lost_worker(self, due: Desk) -> None:
        """Whoever claimed it and died: another sends it, the late settlement of the first changes nothing."""
        async with db.transaction(due.pool) as database:
            now = database.clock.now()
            [mail] = await mails.claim_mails(database, now=now, limit=10)
        assert 0 == await send_due(due, scripted(Sent()))
        later = now + timedelta(seconds=mails.LEASE_SECONDS + 1)
        async with db.transaction(due.pool) as database:
            [again] = await mails.claim_mails(database, now=later, limit=10)
        assert (mail.mail_id, mail.epoch + 1, 2) == (again.mail_id, again.epoch, again.attempts)
        async with db.transaction(due.pool) as database:
            await mails.settle_mail(database, mail=mail, outcome="sent", reason="", now=later, jitter=1.0)
        assert "claimed" == await states(due)
        async with db.transaction(due.pool) as database:
            await mails.settle_mail(database, mail=again, outcome="sent", reason="", now=later, jitter=1.0)
        assert "sent" == await states(due)

    async def test_mail_that_kills_workers(self, due: Desk) -> None:
        await due.execute("update notice_mail set attempts = 7")
        async with db.transaction(due.pool) as database:
            now = database.clock.now()
            assert 1 == len(await mails.claim_mails(database, now=now, limit=10))
        async with db.transaction(due.pool) as database:
            later = now + timedelta(seconds=mails.LEASE_SECONDS + 1)
            assert [] == await mails.claim_mails(database, now=later, limit=10)
        assert "failed" == await states(due)

    async def test_two_workers(self, due: Desk) -> None:
        channel = scripted(Sent())
        counts = await asyncio.gather(*(send_due(due, channel) for _ in range(4)))
        assert (1, 1) == (sum(counts), channel.asked.total())


class TestRun:
    async def test_stop_in_the_middle(self, due: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        """It does not wait for a server that is silent; the mail comes back with its lease."""
        monkeypatch.setattr(Notices, "grace_seconds", 0.05)
        began, stop = asyncio.Event(), asyncio.Event()

        async def hang(_message: Message, _begin: object) -> Outcome:
            began.set()
            await asyncio.Event().wait()
            raise AssertionError

        running = asyncio.create_task(notices(due, Scripted(hang)).run(stop))
        await asyncio.wait_for(began.wait(), DEADLINE_SECONDS)
        stop.set()
        await asyncio.wait_for(running, DEADLINE_SECONDS)
        assert "claimed" == await states(due)

    async def test_channel_that_breaks(self, due: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its exception ends nothing."""
        stop, tried = asyncio.Event(), asyncio.Event()

        async def fail(_message: Message, _begin: object) -> Outcome:
            tried.set()
            raise RuntimeError

        running = asyncio.create_task(notices(due, Scripted(fail)).run(stop))
        await asyncio.wait_for(tried.wait(), DEADLINE_SECONDS)
        assert not running.done()
        stop.set()
        await asyncio.wait_for(running, DEADLINE_SECONDS)
        assert "waiting" == await states(due)

    async def test_prune(self, due: Desk) -> None:
        await send_due(due, scripted(Sent()))
        async with db.transaction(due.pool) as database:
            now = database.clock.now()
            assert 0 == await prune(database, "notice mails", now=now)
            assert 1 == await prune(database, "notice mails", now=now + timedelta(days=91))
        assert 1 == await due.value("select count(*) from notification where mail_id is null")


async def send_messages(desk: Desk, channel: Channel) -> None:
    channels = {**worker.captured(desk.pool, [EMAIL]), EMAIL: channel}
    registry = ChannelRegistry(pool=desk.pool, site=desk.house.site, defaults=channels, versions={})
    sender = CaseMessages(pool=desk.pool, site=desk.house.site, channels=registry, mail_from="survey@shop.example")
    await sender.turn()
    await sender.land()


def answering(outcome: Outcome, *, begins: bool = True) -> Scripted:
    async def answer(_message: Message, begin: Begin) -> Outcome:
        if begins:
            await begin()
        return outcome

    return Scripted(answer)


async def state(desk: Desk) -> str:
    return await desk.value("select state from alert_message where not incoming")


async def test_there_and_back(desk: Desk, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By SMTP to the customer; the answer's References bring it into the case, a forged one does not."""
    await desk.api.ok("POST", f"{path}/message", {**BODY, "waiting": True})
    async with Sink() as sink:
        channel = EmailChannel(sink.url)
        await send_messages(desk, channel)
        await send_messages(desk, channel)
        await channel.close()
    [mail] = sink.mails
    assert ["ann@example.com"] == mail.recipients
    assert "We are sorry" == str(mail.parsed["Subject"])
    assert "sent" == await state(desk)
    own = str(mail.parsed["Message-ID"])
    for number, (reference, is_known) in enumerate((("<" + "x" * 22 + own[23:], False), (own, True), (own, True))):
        answer = EmailMessage()
        answer["From"], answer["To"], answer["Subject"] = "Ann <ann@example.com>", "survey@shop.example", "Απ: sorry"
        answer["Message-ID"], answer["References"] = "<1@example.com>", f"<old@example.com> {reference}"
        answer.set_content("Ευχαριστώ πολύ!\n\nOn Wed, 25 Nov 2026 the shop wrote:\n> Dear Ann", charset="iso-8859-7")
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BytesIO(answer.as_bytes())}))
        await inbound.run(Context(Settings(), "", desk.house.site), desk.pool, maildir=None, mbox=None)
        found = await desk.value("select string_agg(body, '|') from alert_message where incoming")
        assert ("Ευχαριστώ πολύ!" if is_known else None) == found, number
    assert not (await desk.api.get(path))["waiting"]
    await desk.api.ok("POST", f"{path}/message", BODY)
    async with Sink() as sink:
        channel = EmailChannel(sink.url)
        await send_messages(desk, channel)
        await channel.close()
    again = sink.mails[0].parsed
    assert ["<1@example.com>", f"{own} <1@example.com>", None] == [
        again[name] for name in ("In-Reply-To", "References", "Auto-Submitted")
    ]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Sent(), "sent"),
        (Refused("550 no such user"), "failed"),
        (Retry("recipient", "451 later"), "waiting"),
        (Unknown("no answer"), "unknown"),  # it may have arrived: never sent again
    ],
)
async def test_outcomes(desk: Desk, path: str, outcome: Outcome, expected: str) -> None:
    await desk.api.ok("POST", f"{path}/message", BODY)
    channel = answering(outcome, begins=not isinstance(outcome, Retry))
    await send_messages(desk, channel)
    assert expected == await state(desk)
    entries = (await desk.api.get(f"{path}/history"))["results"]
    assert expected == entries[-1]["changes"]["state"]
    await send_messages(desk, channel)
    assert 1 == sum(channel.asked.values())  # a retry waits


async def test_lost_worker_of_a_message(desk: Desk, path: str) -> None:
    """Claimed and lost: sent by another. Lost while it was sent: not again."""
    await desk.api.ok("POST", f"{path}/message", BODY)
    async with db.transaction(desk.pool) as database:
        [message] = await messages.claim_due(database, now=database.clock.now(), limit=5)
    await desk.execute("update alert_message set lease_until = now() - interval '1 second'")
    async with db.transaction(desk.pool) as database:
        [again] = await messages.claim_due(database, now=database.clock.now(), limit=5)
        assert not await messages.begin(database, message=message, now=database.clock.now())
        assert await messages.begin(database, message=again, now=database.clock.now())
    await desk.execute("update alert_message set lease_until = now() - interval '1 second'")
    channel = answering(Sent())
    await send_messages(desk, channel)
    assert "unknown" == await state(desk)
    assert 0 == sum(channel.asked.values())


async def test_sender_not_allowed(desk: Desk, path: str) -> None:
    await desk.api.ok("POST", f"{path}/message", BODY)
    await desk.execute("update pipeline set sender_address = 'a@elsewhere.example'")
    await send_messages(desk, answering(Sent()))
    assert "failed" == await state(desk)
