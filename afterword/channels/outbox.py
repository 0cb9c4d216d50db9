"""The captured outbox: keeps the whole message instead of sending it."""

from collections.abc import Awaitable, Callable

from afterword.channels.base import Begin, Connectionless, Message, Outcome, Sent

Save = Callable[[Message], Awaitable[None]]


class OutboxChannel(Connectionless):
    """Keeps each message by `save`, an upsert by `item_id`: keeping it again is harmless."""

    def __init__(self, save: Save) -> None:
        self._save = save

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        """Begin, then keep. An error of `save` passes through, and the outcome is unknown."""
        await begin()
        await self._save(message)
        return Sent(reference=message.item_id, reply="captured")
