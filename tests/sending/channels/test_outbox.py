"""The captured outbox, and the bare link, of which nothing is sent."""

import pytest

from afterword import errors
from afterword.kit.transport.base import Fenced, Message, Retry, Sent
from afterword.sending.channels.outbox import LinkChannel, OutboxChannel
from tests.sending.channels.conftest import MESSAGE


async def fenced() -> None:
    raise Fenced


async def free() -> None:
    pass


async def test_fenced_item_is_not_kept() -> None:
    kept: list[Message] = []

    async def save(message: Message) -> None:
        kept.append(message)

    with pytest.raises(Fenced):
        await OutboxChannel(save).send(MESSAGE, begin=fenced)
    assert [] == kept


async def test_what_save_raises_passes_through() -> None:
    async def save(message: Message) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await OutboxChannel(save).send(MESSAGE, begin=free)


async def test_a_database_that_is_away_for_a_moment() -> None:
    """Keeping it again is harmless, so nothing is unknown."""

    async def save(message: Message) -> None:
        raise errors.Unavailable("The database is away.")

    assert Retry("connection", "The database is away.") == await OutboxChannel(save).send(MESSAGE, begin=free)


async def test_kept_whole_after_begin() -> None:
    order: list[object] = []

    async def begin() -> None:
        order.append("begin")

    async def save(message: Message) -> None:
        order.append(message)

    channel = OutboxChannel(save)
    assert isinstance(await channel.send(MESSAGE, begin=begin), Sent)
    assert ["begin", MESSAGE] == order
    await channel.close()


async def test_link_only_begins() -> None:
    channel = LinkChannel()
    with pytest.raises(Fenced):
        await channel.send(MESSAGE, begin=fenced)
    assert Sent(reference=MESSAGE.item_id) == await channel.send(MESSAGE, begin=free)
    await channel.close()
