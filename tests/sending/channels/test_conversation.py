"""A conversation with a mail server: nothing of the body before the point of no return, and no answer out of turn."""

import asyncio
import inspect
from dataclasses import replace

import aiosmtplib
import pytest
from aiosmtplib.protocol import SMTPProtocol

from afterword.kit.transport.base import Fenced
from tests.sending.channels.conftest import MESSAGE
from tests.sending.channels.sink import Fault, Sink, say
from tests.sending.channels.test_email import SHORT, Begin, channel_to, kind, until


async def test_body_that_the_kernel_never_took() -> None:
    message = replace(MESSAGE, html="ä" * 12_000_000)
    async with Sink(faults={"body": Fault("silence")}) as sink, channel_to(sink, patience=SHORT) as channel:
        assert "recipient" == kind(await channel.send(message, begin=Begin()))
    async with Sink(faults={"body": Fault("reset")}) as sink, channel_to(sink) as channel:
        assert "recipient" == kind(await channel.send(message, begin=Begin()))


async def test_hung_up_while_beginning() -> None:
    async def begin() -> None:
        await until(lambda: "gone" in done)

    async with Sink(faults={"body": Fault("drop")}) as sink, channel_to(sink) as channel:
        done: list[str] = []
        sending = asyncio.ensure_future(channel.send(MESSAGE, begin=begin))
        await until(lambda: any(command == "DATA" for command in sink.commands))
        done.append("gone")
        assert "recipient" == kind(await sending)
        assert 0 == sink.count


@pytest.mark.parametrize("fault", [Fenced(), ValueError("a bug"), ConnectionError("the database"), TimeoutError()])
async def test_what_begin_raises_passes_through_unsent(fault: BaseException) -> None:
    async with Sink() as sink, channel_to(sink) as channel:
        with pytest.raises(type(fault)) as raised:
            await channel.send(MESSAGE, begin=Begin(fault))
        assert fault is raised.value
        assert "sent" == kind(await channel.send(MESSAGE, begin=Begin()))
        assert 1 == sink.count
        assert 2 == sink.connections  # the first was cut in the middle of DATA


async def test_nothing_of_the_body_before_begin() -> None:
    async with Sink() as sink, channel_to(sink) as channel:
        seen: list[int] = []

        async def begin() -> None:
            seen.append(len(sink.commands))
            assert 0 == sink.count

        assert "sent" == kind(await channel.send(MESSAGE, begin=begin))
        assert [4] == seen  # EHLO MAIL RCPT DATA


async def test_answer_out_of_turn_never_passes_for_the_answer_to_the_dot() -> None:
    reply = say("354 Go ahead\r\n250 2.0.0 Ok: queued as NEVER")
    begin = Begin()
    async with Sink(faults={"data": reply}) as sink, channel_to(sink) as channel:
        assert "recipient" == kind(await channel.send(MESSAGE, begin=begin))
        assert (0, 0) == (begin.count, sink.count)


def test_pinned_members_of_aiosmtplib() -> None:
    assert aiosmtplib.__version__.startswith("5.1.")
    assert aiosmtplib.SMTP().protocol is None
    assert inspect.iscoroutinefunction(SMTPProtocol._drain_helper)
    assert ["self", "timeout"] == list(inspect.signature(SMTPProtocol.read_response).parameters)


async def test_pinned_buffer_of_aiosmtplib() -> None:
    assert bytearray() == SMTPProtocol()._buffer
