"""The e-mail channel against a server that fails at every point, and what keeps its promises."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from afterword.kit.transport.base import Message, Refused
from afterword.sending.channels import conversation
from afterword.sending.channels.conversation import Timeouts
from afterword.sending.channels.email import MAILS_PER_CONNECTION_MAX, CannotLoginError, EmailChannel, check_login
from tests.bar import Tell
from tests.sending.channels import sink as sink_module
from tests.sending.channels.calls import Begin, kind
from tests.sending.channels.conftest import MESSAGE, Certificate, MakeMessage
from tests.sending.channels.sink import Fault, Phase, Sink, Way, say

PATIENCE = 30.0
SHORT = 2.0  # where waiting in vain is what is tested; the steps before have as long
SILENT = {"silence", "slow"}
LOGIN = ("ann", "s3cr3t")


@asynccontextmanager
async def channel_to(
    sink: Sink, *, slots: int = 2, patience: float = PATIENCE, url: str = ""
) -> AsyncGenerator[EmailChannel]:
    channel = EmailChannel(
        url or sink.url, slots, timeouts=Timeouts(patience, patience, patience), idle_seconds=PATIENCE
    )
    try:
        yield channel
    finally:
        await channel.close()


async def until(condition: Callable[[], bool]) -> None:
    """Waits until it holds; fails after some seconds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


# The table of sending, cell by cell. Rows: where; columns: how.
WAYS: tuple[str, ...] = ("drop", "reset", "silence", "garbage", "slow", "4yz", "5yz", "421")
TABLE: dict[Phase, tuple[str, ...]] = {
    "greeting": ("connection",) * 6 + ("account", "throttle"),
    "ehlo": ("connection",) * 6 + ("account", "throttle"),
    "starttls": ("connection",) * 6 + ("account", "throttle"),
    "auth": ("connection",) * 6 + ("account", "throttle"),
    "mail": ("connection",) * 5 + ("recipient", "account", "throttle"),
    "rcpt": ("recipient",) * 6 + ("refused", "throttle"),
    "data": ("recipient",) * 6 + ("refused", "throttle"),
    "body": ("recipient", "recipient", "unknown", "unknown", "unknown", "recipient", "refused", "throttle"),
    "dot": ("unknown",) * 5 + ("recipient", "refused", "throttle"),
    "quit": ("sent",) * 8,
}
REPLIES = {"4yz": "451 4.3.0 Later", "5yz": "550 5.7.1 No", "421": "421 4.7.0 Too many"}


async def cell(phase: Phase, way: str, certificate: Certificate, turn: asyncio.Semaphore) -> tuple[str, int, int]:
    """One cell: the outcome, how often begin was awaited, how many mails the server took."""
    fault = say(REPLIES[way]) if way in REPLIES else Fault(_way(way))
    faults: dict[Phase, Fault] = {phase: fault}
    tls = certificate.context if phase == "starttls" else None
    async with turn, Sink(faults=faults, tls=tls, login=LOGIN) as sink:
        url = f"smtp://ann:s3cr3t@127.0.0.1:{sink.port}?ca={certificate.file}"
        begin = Begin()
        async with channel_to(sink, url=url, patience=SHORT if fault.way in SILENT else PATIENCE) as channel:
            outcome = await channel.send(MESSAGE, begin=begin)
        return kind(outcome), begin.count, sink.count


def _way(way: str) -> Way:
    return next(known for known in get_args(Way) if known == way)


async def test_every_phase_and_fault(certificate: Certificate, monkeypatch: pytest.MonkeyPatch, tell: Tell) -> None:
    monkeypatch.setattr(conversation, "FAREWELL_SECONDS", 0.3)
    turn = asyncio.Semaphore(30)
    cells: list[tuple[Phase, str]] = [(phase, way) for phase in TABLE for way in WAYS]
    found = await asyncio.gather(*[cell(phase, way, certificate, turn) for phase, way in cells])
    expected = {(phase, way): TABLE[phase][WAYS.index(way)] for phase, way in cells}
    assert expected == {place: outcome for place, (outcome, _, _) in zip(cells, found, strict=True)}
    for (phase, _), (outcome, begun, accepted) in zip(cells, found, strict=True):
        assert int(phase in {"body", "dot", "quit"}) == begun
        assert int(outcome == "sent") == accepted
    tell(f"{len(cells)} cells of {len(TABLE)} phases as the table has them")


@pytest.mark.parametrize("way", ["lost", "hang"])
async def test_taken_without_a_word(way: Way) -> None:
    async with Sink(faults={"dot": Fault(way)}) as sink, channel_to(sink, patience=SHORT) as channel:
        assert "unknown" == kind(await channel.send(MESSAGE, begin=Begin()))
        assert 1 == sink.count


async def test_late_answer_counts() -> None:
    async with Sink(faults={"dot": Fault("late")}) as sink, channel_to(sink) as channel:
        sending = asyncio.ensure_future(channel.send(MESSAGE, begin=Begin()))
        await until(lambda: sink.count == 1)
        assert not sending.done()
        sink.release.set()
        assert "sent" == kind(await sending)


async def test_answer_that_came_while_the_process_stood_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it goes on, the limit of time has passed and the answer is there, unread: the answer counts."""
    write = sink_module.Session.write

    async def write_and_stand_still(session: sink_module.Session, reply: str) -> None:
        await write(session, reply)
        if "queued" in reply:
            time.sleep(SHORT + 0.5)  # noqa: ASYNC251  that is the fault

    monkeypatch.setattr(sink_module.Session, "write", write_and_stand_still)
    async with Sink() as sink, channel_to(sink, patience=SHORT) as channel:
        assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))


# The point of no return -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["greeting", "mail", "data", "dot"])
async def test_cancelled(phase: Phase) -> None:
    async with Sink(faults={phase: Fault("silence", times=1)}) as sink, channel_to(sink, slots=1) as channel:
        sending = asyncio.ensure_future(channel.send(MESSAGE, begin=Begin()))
        await until(lambda: sink.connections == 1)
        await until(lambda: sink.faults[phase].times == 0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))  # the slot is free again
        assert 2 == sink.connections


# Connections ------------------------------------------------------------------------------------------------------


async def test_connection_is_reused_and_left_in_time(make_message: MakeMessage) -> None:
    count = MAILS_PER_CONNECTION_MAX + 5
    async with Sink() as sink, channel_to(sink, slots=1) as channel:
        for number in range(count):
            assert "sent" == kind(await channel.send(make_message(number), begin=Begin()))
        assert 2 == sink.connections
        await until(lambda: sink.commands.count("QUIT") == 1)
    assert 2 == sink.commands.count("QUIT")
    assert [f"{number:022d}" for number in range(count)] == [mail.item_id for mail in sink.mails]


@pytest.mark.parametrize(
    "recipient", ["ann..shop@docomo.ne.jp", '"ann..shop"@docomo.ne.jp', '"Ann..shop"@Docomo.ne.jp']
)
async def test_dots_that_only_quotation_marks_allow(recipient: str) -> None:
    async with Sink() as sink, channel_to(sink) as channel:
        assert "sent" == kind(await channel.send(replace(MESSAGE, recipient=recipient), begin=Begin()))
    assert ['"ann..shop"@docomo.ne.jp'] == [one.replace("Ann", "ann") for one in sink.mails[0].recipients]
    assert b'\r\nTo: "ann..shop"@docomo.ne.jp\r\n' in sink.mails[0].content.replace(b'"Ann', b'"ann')
    assert "ann..shop" == sink.mails[0].parsed["To"].addresses[0].username.lower()


async def test_pool_is_bounded(make_message: MakeMessage) -> None:
    async with Sink() as sink, channel_to(sink, slots=3) as channel:
        outcomes = await asyncio.gather(*[channel.send(make_message(each), begin=Begin()) for each in range(40)])
        assert {"sent"} == {kind(outcome) for outcome in outcomes}
        assert sink.connections <= 3
        assert 40 == len({mail.item_id for mail in sink.mails})


async def test_refusal_is_followed_by_rset() -> None:
    async with Sink(faults={"rcpt": say("550 5.1.1 No", times=1)}) as sink, channel_to(sink) as channel:
        assert Refused("550 5.1.1 No", 550, suppress=True) == await channel.send(MESSAGE, begin=Begin())
        assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))
        assert 1 == sink.connections
        assert ["RSET"] == [command for command in sink.commands if command == "RSET"]


async def test_stale_connection_is_replaced_unnoticed() -> None:
    async with Sink() as sink, channel_to(sink) as channel:
        assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))
        sink.faults = {"mail": Fault("drop", times=1)}
        begin = Begin()
        assert "sent" == kind(await channel.send(MESSAGE, begin=begin))
        assert 2 == sink.connections
        assert 1 == begin.count


async def test_idle_connection_is_closed() -> None:
    async with Sink() as sink:
        channel = EmailChannel(sink.url, 2, idle_seconds=0.05)
        assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))
        await until(lambda: "QUIT" in sink.commands)
        assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))
        assert 2 == sink.connections
        await channel.close()


# Login and TLS ----------------------------------------------------------------------------------------------------


async def test_password_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with Sink(login=("ann", "other")) as sink:
        channel = EmailChannel(f"smtp://ann:s3cr3t@127.0.0.1:{sink.port}", 1)
        await channel.send(MESSAGE, begin=Begin())
        await channel.close()
    assert "s3cr3t" not in caplog.text


# Addresses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        replace(MESSAGE, recipient="ann@example.org>\r\nRCPT TO:<eve@example.org"),
        replace(MESSAGE, recipient="ann@example.org, eve@example.org"),
        replace(MESSAGE, recipient="ann example.org"),
        replace(MESSAGE, recipient=""),
        replace(MESSAGE, sender="survey@shop.example>\nX"),
        replace(MESSAGE, reply_to="eve@example.org\r\nBcc: eve@example.org"),
    ],
)
async def test_bad_address_is_refused_before_connecting(message: Message) -> None:
    async with Sink() as sink, channel_to(sink) as channel:
        begin = Begin()
        outcome = await channel.send(message, begin=begin)
        assert isinstance(outcome, Refused)
        assert not outcome.suppress
        assert (0, 0) == (begin.count, sink.connections)


async def test_utf8_address() -> None:
    message = replace(MESSAGE, recipient="jürgen@bücher.example")
    async with Sink() as sink, channel_to(sink) as channel:
        assert "refused" == kind(await channel.send(message, begin=Begin()))
    async with Sink(extensions=("SMTPUTF8", "8BITMIME")) as sink, channel_to(sink) as channel:
        assert "sent" == kind(await channel.send(message, begin=Begin()))
        assert ["jürgen@xn--bcher-kva.example"] == sink.mails[0].recipients
        assert "SMTPUTF8" in sink.commands[1]


async def test_domain_beyond_ascii_needs_no_extension() -> None:
    async with Sink() as sink, channel_to(sink) as channel:
        message = replace(MESSAGE, recipient="ann@bücher.example")
        assert "sent" == kind(await channel.send(message, begin=Begin()))
        assert ["ann@xn--bcher-kva.example"] == sink.mails[0].recipients


async def test_lines_that_begin_with_dots_arrive() -> None:
    text = ".\n..\n.dot\nRCPT\n.\nQUIT"
    async with Sink() as sink, channel_to(sink) as channel:
        assert "sent" == kind(await channel.send(replace(MESSAGE, text=text), begin=Begin()))
        body = sink.mails[0].parsed.get_body(("plain",))
        assert body is not None
        assert text.split("\n") == body.get_content().split()
        assert ["ann@example.org"] == sink.mails[0].recipients


# The doctor's question --------------------------------------------------------------------------------------------


async def test_check_login(certificate: Certificate) -> None:
    async with Sink(tls=certificate.context, login=LOGIN) as sink:
        found = await check_login(f"smtp://ann:s3cr3t@127.0.0.1:{sink.port}?ca={certificate.file}")
        assert f"127.0.0.1:{sink.port} answers, TLSv1.3, logged in as ann" == found
        assert not any(command.startswith("MAIL") for command in sink.commands)


async def test_check_login_refused() -> None:
    async with Sink(login=LOGIN) as sink:
        with pytest.raises(CannotLoginError, match="535") as refused:
            await check_login(f"smtp://ann:wrong-s3cr3t@127.0.0.1:{sink.port}")
        assert "wrong-s3cr3t" not in str(refused.value)


async def test_check_login_of_no_address() -> None:
    with pytest.raises(ValueError, match="smtp://"):
        await check_login("mail.example.org")


# Fixtures ---------------------------------------------------------------------------------------------------------


async def test_sink_writes_down_before_it_answers(tmp_path: Path, make_message: MakeMessage) -> None:
    file = tmp_path / "accepted"
    async with Sink(file=file, retry=0.3, lost=0.3, keep=False) as sink, channel_to(sink, slots=5) as channel:
        outcomes = await asyncio.gather(*[channel.send(make_message(each), begin=Begin()) for each in range(60)])
    kinds = [kind(outcome) for outcome in outcomes]
    accepted = file.read_text().split()
    assert {"sent", "unknown", "recipient"} == set(kinds)
    assert len(accepted) == kinds.count("sent") + kinds.count("unknown")
    assert not sink.mails
