"""References of providers: kept once, and only those that can be kept."""

import pytest

from afterword.kit import db
from afterword.kit.transport.mime import REFERENCE_CHARACTERS_MAX
from afterword.sending.providers import api
from tests.sending.queue.conftest import Queue


@pytest.mark.parametrize("text", ["", "a\nb", "a\x00", "x" * (REFERENCE_CHARACTERS_MAX + 1)])
def test_no_reference(text: str) -> None:
    assert not api.is_reference(text)


async def test_each_is_kept_once(queue: Queue) -> None:
    item = await queue.schedule()
    account_id = await queue.value("select account_id from channel_account limit 1")
    known = (queue.house.organization_id, account_id, "SM1", item.item_id)
    async with db.transaction(queue.pool) as database:
        for _ in range(2):
            await api.keep_references(
                database, references=[known, (*known[:2], "a\nb", item.item_id)], now=database.clock.now()
            )
        await api.keep_references(database, references=[], now=database.clock.now())
    rows = await queue.fetch("select * from provider_reference order by 1, 2, 3 desc")
    assert ["~sm1", "SM1"] == [row["provider_reference"] for row in rows]
