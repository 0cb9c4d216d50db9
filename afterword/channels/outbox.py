"""The captured outbox: the whole message as it would have gone out is kept instead of sent."""

from collections.abc import Awaitable, Callable

from afterword.channels.base import OUTBOX, Begin, Message, Outcome, Sent

Save = Callable[[Message], Awaitable[None]]


class OutboxChannel:
    """Keeps each message by `save`, an upsert by `item_id`: keeping it again is harmless."""

    channel_id = OUTBOX
    resend_after_seconds: int | None = 1

    def __init__(self, save: Save) -> None:
        self._save = save

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        """Begin, then keep. What `save` raises passes through: the item's lease then tells."""
        await begin()
        await self._save(message)
        return Sent(reference=message.item_id, reply="captured")

    async def close(self) -> None:
        """Nothing is open."""
