"""The link channel: nothing is sent; the client reads the instance's address from the API."""

from afterword.kit.transport.base import Begin, Connectionless, Message, Outcome, Sent


class LinkChannel(Connectionless):
    """Begins and ends a send without a connection."""

    async def send(self, message: Message, *, begin: Begin) -> Outcome:
        await begin()
        return Sent(reference=message.item_id)
