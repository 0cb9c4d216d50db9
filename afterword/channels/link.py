"""The link channel: the instance is issued and nothing leaves; the caller reads its address from the API."""

from afterword.channels.base import LINK, Begin, Message, Outcome, Sent


class LinkChannel:
    """Sending is the same moves as elsewhere, without a wire."""

    channel_id = LINK
    resend_after_seconds: int | None = 1

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        await begin()
        return Sent(reference=message.item_id)

    async def close(self) -> None:
        """Nothing is open."""
