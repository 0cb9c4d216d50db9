"""The bare link: nothing is sent, and it begins like any other."""

import pytest

from afterword.kit.transport.base import Fenced, Sent
from afterword.sending.channels.outbox import LinkChannel
from tests.sending.channels.conftest import MESSAGE
from tests.sending.channels.test_outbox import fenced, free


async def test_link_only_begins() -> None:
    channel = LinkChannel()
    with pytest.raises(Fenced):
        await channel.send(MESSAGE, begin=fenced)
    assert Sent(reference=MESSAGE.item_id) == await channel.send(MESSAGE, begin=free)
    await channel.close()
