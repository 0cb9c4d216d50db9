"""Replies to customers on their way: sent once, over a real mail server, and answered by mail."""

import io
import sys
from email.message import EmailMessage

import pytest

from afterword.cases import messages
from afterword.kit import db
from afterword.kit.settings import Settings
from afterword.kit.transport.base import EMAIL, Begin, Channel, Message, Outcome, Refused, Retry, Sent, Unknown
from afterword.run import worker
from afterword.run.cli import inbound
from afterword.run.cli.context import Context
from afterword.run.worker.channels import ChannelRegistry
from afterword.run.worker.messages import CaseMessages
from afterword.sending.channels.email import EmailChannel
from tests.cases.conftest import Desk, desk
from tests.cases.messages.test_messages import BODY, path
from tests.run.worker.conftest import Scripted
from tests.sending.channels.sink import Sink

__all__ = ["desk", "path"]


async def send_due(desk: Desk, channel: Channel) -> None:
    channels = {**worker.captured(desk.pool, [EMAIL]), EMAIL: channel}
    registry = ChannelRegistry(pool=desk.pool, site=desk.house.site, defaults=channels, versions={})
    sender = CaseMessages(pool=desk.pool, site=desk.house.site, channels=registry, mail_from="survey@shop.example")
    await sender.turn()
    await sender.land()


def scripted(outcome: Outcome, *, begins: bool = True) -> Scripted:
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
        await send_due(desk, channel)
        await send_due(desk, channel)
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
    channel = scripted(outcome, begins=not isinstance(outcome, Retry))
    await send_due(desk, channel)
    assert expected == await state(desk)
    entries = (await desk.api.get(f"{path}/history"))["results"]
    assert expected == entries[-1]["changes"]["state"]
    await send_due(desk, channel)
    assert 1 == sum(channel.asked.values())  # a retry waits


async def test_lost_worker(desk: Desk, path: str) -> None:
    """Claimed and lost: sent by another. Lost while it was sent: not again."""
    await desk.api.ok("POST", f"{path}/message", BODY)
    async with db.transaction(desk.pool) as database:
        [message] = await messages.claim(database, now=database.clock.now(), limit=5)
    await desk.execute("update alert_message set lease_until = now() - interval '1 second'")
    async with db.transaction(desk.pool) as database:
        [again] = await messages.claim(database, now=database.clock.now(), limit=5)
        assert not await messages.begin(database, message=message, now=database.clock.now())
        assert await messages.begin(database, message=again, now=database.clock.now())
    await desk.execute("update alert_message set lease_until = now() - interval '1 second'")
    channel = scripted(Sent())
    await send_due(desk, channel)
    assert "unknown" == await state(desk)
    assert 0 == sum(channel.asked.values())


async def test_sender_not_allowed(desk: Desk, path: str) -> None:
    await desk.api.ok("POST", f"{path}/message", BODY)
    await desk.execute("update pipeline set sender_address = 'a@elsewhere.example'")
    await send_due(desk, scripted(Sent()))
    assert "failed" == await state(desk)
