"""Channels that reach nobody: the outbox keeps each message, the link channel sends nothing."""

from collections.abc import Awaitable, Callable
from typing import Final

from afterword import errors
from afterword.kit.transport.base import Begin, Channel, Connectionless, Message, Outcome, Refused, Retry, Sent
from afterword.kit.transport.mime import Report


class LinkChannel(Connectionless):
    """Begins and ends a send without a connection."""

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        await begin()
        return Sent(reference=message.item_id)


CAPTURED: Final = "captured"  # the reply to a message that was kept

Save = Callable[[Message], Awaitable[None]]

# Words before the @ of a test item's address, or the whole of one without an @, and the fault that they ask for.
SLOW: Final = "slow"
UNKNOWN_USER: Final = "5.1.1"


class OutboxChannel(Connectionless):
    """Keeps each message by `save`, an upsert by `item_id`: keeping it again is harmless."""

    def __init__(self, save: Save) -> None:
        self._save = save

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        """Begin, then keep, later where the database is away. Another error of `save` passes through: it is unknown."""
        await begin()
        try:
            await self._save(message)
        except errors.Unavailable as error:
            return Retry("connection", str(error))
        return Sent(reference=message.item_id, reply=CAPTURED)


class TestChannel(Connectionless):
    """The channel of a test item in the place of its pipeline's: the outbox, with faults by the address.

    `attempt` counts from 1. `report` takes the later bounce of a message.
    """

    def __init__(self, outbox: Channel, *, attempt: int, report: Callable[[list[Report]], Awaitable[None]]) -> None:
        self._outbox = outbox
        self._attempt = attempt
        self._report = report

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        fault = message.recipient.partition("@")[0].casefold()
        if fault == "refuse":
            return Refused(f"550 {UNKNOWN_USER} No such user (test)", 550)
        if fault == SLOW and self._attempt == 1:
            return Retry("recipient", "450 4.2.0 Try again later (test)", 450)
        outcome = await self._outbox.send(message, begin=begin)
        if fault == "bounce":
            text = f"550 {UNKNOWN_USER} No such user (test)"
            await self._report([
                Report(kind="bounced", is_hard=True, item_id=message.item_id, code=UNKNOWN_USER, text=text)
            ])  # fmt: skip
        return outcome
