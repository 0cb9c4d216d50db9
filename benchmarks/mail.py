"""Composing and sending mails by the e-mail channel, against a bare client that sends a ready message."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import aiosmtplib

from afterword import ids
from afterword.kit.transport import mime
from afterword.kit.transport.base import Message, Sent
from afterword.sending.channels.email import EmailChannel
from afterword.sending.messages import composing
from afterword.sending.messages.composing import MessageContext
from afterword.sending.queue.sending.dispatches import Dispatch
from benchmarks import queue
from benchmarks.findings import Ratio
from benchmarks.requests import connects, fill
from benchmarks.stage import Stage, free_port, running

CONNECTIONS: Final = 10
MESSAGES_PEOPLE: Final = 100
FLOOR: Final = 1.0
SENDER: Final = "survey@example.org"


async def compose_and_send(stage: Stage, *, rounds: int, seconds: float) -> list[Ratio]:
    """Mails a second over ten connections to one sink: rendered, built and handed over; against handed over alone."""
    dispatches = await _dispatches(stage)
    message = _compose(stage, dispatches[0])
    port = free_port()
    rates: list[tuple[float, float]] = []
    async with running("benchmarks.sink", str(port), settings={}):
        await connects(port)
        channel = EmailChannel(f"smtp://127.0.0.1:{port}?starttls=never", slots=CONNECTIONS)
        for _ in range(rounds):
            ours = await _ours(stage, channel, dispatches, seconds)
            rates.append((ours, await _bare(port, message, seconds)))
        await channel.close()
    what = f"Compose and send mail, {CONNECTIONS} connections"
    size = f"; {len(mime.build(message)) / 1000:.0f} kB each"
    return [Ratio(what, "aiosmtplib, a ready message", "a second", rates, FLOOR, size)]


async def _dispatches(stage: Stage) -> list[Dispatch]:
    """Real items that are ready to go."""
    await queue.empty(stage)
    await fill(stage, MESSAGES_PEOPLE)
    worker = queue.worker_on(stage, stage.pool, batch=MESSAGES_PEOPLE)
    return list((await queue.claim(worker)).dispatches)


async def _ours(stage: Stage, channel: EmailChannel, dispatches: list[Dispatch], seconds: float) -> float:
    async def begin() -> None:
        """Nobody else wants these."""

    async def send(number: int) -> None:
        message = _compose(stage, dispatches[number % len(dispatches)])
        outcome = await channel.send(message, begin=begin)
        assert isinstance(outcome, Sent), outcome

    return await _rate(send, seconds)


async def _bare(port: int, message: Message, seconds: float) -> float:
    content = mime.build(message)
    clients = [aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False) for _ in range(CONNECTIONS)]
    for client in clients:
        await client.connect()
    free = list(clients)

    async def send(_number: int) -> None:
        client = free.pop()
        await client.sendmail(SENDER, [message.recipient], content)
        free.append(client)

    rate = await _rate(send, seconds)
    for client in clients:
        await client.quit()
    return rate


async def _rate(send: Callable[[int], Awaitable[None]], seconds: float) -> float:
    """Calls of `send` per second, `CONNECTIONS` at a time."""
    count = 0
    begun = time.perf_counter()

    async def keep_sending() -> None:
        nonlocal count
        while time.perf_counter() - begun < seconds:
            count += 1
            await send(count)

    await asyncio.gather(*(keep_sending() for _ in range(CONNECTIONS)))
    return count / (time.perf_counter() - begun)


def _compose(stage: Stage, dispatch: Dispatch) -> Message:
    settings, responder = dispatch.settings, dispatch.responder
    context = MessageContext(
        item_id=ids.ordered(dispatch.item.database_now),
        recipient=responder.address or dispatch.item.responder_channel_identifier,
        pipeline=settings.pipeline,
        version=dispatch.version,
        instance=dispatch.instance,
        responder_metadata=responder.metadata,
        unsubscribe_id=responder.unsubscribe_id,
        organization_name=settings.organization_name,
        postal_address=settings.postal_address,
        questionnaire_name=settings.questionnaire_name,
        sender=SENDER,
        site=stage.site,
        now=dispatch.item.database_now,
    )
    return composing.compose_mail(context)
