"""A worker and test messages: their outcome is told, and nothing is learned from it."""

import pytest

from afterword.core.organizations.access import SCOPES
from afterword.kit.transport.base import Begin, Message, Outcome, Refused, Retry, Sent, Unknown
from afterword.sending.channels.email import EmailChannel
from afterword.sending.intake import test_messages
from afterword.sending.messages import composing
from tests.sending.channels.sink import Sink, say
from tests.sending.intake.test_test_messages import Scripted, sending, sent
from tests.sending.queue.conftest import Client, client, http, queue

__all__ = ["client", "http", "queue"]


async def test_over_smtp(client: Client) -> None:
    async with Sink() as sink:
        channel = EmailChannel(sink.url)
        async with sending(client, channel):
            found = await sent(client)
        await channel.close()
    assert "accepted" == found["outcome"]
    assert ["Ann@example.com"] == sink.mails[0].recipients
    assert str(sink.mails[0].parsed["Subject"]).startswith(test_messages.MARK)


async def test_of_a_test_token(client: Client) -> None:
    """The outbox keeps it, and only a token for real data writes to an address."""
    async with Sink() as sink:
        channel = EmailChannel(sink.url)
        async with sending(client, channel):
            found = await sent(await client.with_token(SCOPES, test=True))
        await channel.close()
    assert ("accepted", "captured", 0) == (found["outcome"], found["reply"], sink.count)
    assert 1 == await client.queue.value("select count(*) from outbox_message")


async def test_refused_over_smtp(client: Client) -> None:
    """The server's words, without the address; and the address is not suppressed for it."""
    async with Sink(faults={"rcpt": say("550 5.1.1 <Ann@example.com> unknown")}) as sink:
        channel = EmailChannel(sink.url)
        async with sending(client, channel):
            found = await sent(client)
        await channel.close()
    assert ("refused", "550 5.1.1 <[address]> unknown") == (found["outcome"], found["reply"])
    assert 0 == await client.queue.value("select count(*) from suppression")


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        ("refused", Refused("550 no")),
        ("retry", Retry("account", "535 wrong password")),
        ("throttled", Retry("throttle", "454 later")),
        ("unknown", Unknown("no answer")),
    ],
)
async def test_outcomes(client: Client, expected: str, outcome: Outcome) -> None:
    async def answer(_message: Message, _begin: Begin) -> Outcome:
        return outcome

    async with sending(client, Scripted(answer)):
        found = await sent(client)
    assert (expected, outcome.reason if not isinstance(outcome, Sent) else "") == (found["outcome"], found["reply"])
    assert found["sent_time"] is None
    rows = await client.queue.fetch("select paused_time, open_until, rate, failures from channel_account")
    assert {(None, None, None, 0)} == {tuple(row.values()) for row in rows}  # nothing is learned from it


@pytest.mark.parametrize(("expected", "begins"), [("retry", False), ("unknown", True)])
async def test_channel_that_breaks(client: Client, expected: str, *, begins: bool) -> None:
    async def fail(_message: Message, begin: Begin) -> Outcome:
        if begins:
            await begin()
        raise OSError("broken pipe to ann@example.com")

    async with sending(client, Scripted(fail)):
        found = await sent(client)
    assert expected == found["outcome"]
    assert "ann@" not in found["reply"]


async def test_text_that_cannot_be_rendered(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_context: object) -> Message:
        raise ZeroDivisionError

    async with sending(client):
        monkeypatch.setattr(composing, "compose_mail", broken)
        found = await sent(client)
    assert ("retry", "Rendering failed: ZeroDivisionError") == (found["outcome"], found["reply"].rstrip(": "))
