"""`afterword queue resolve`."""

import pytest

from afterword import db, errors
from afterword.cli import items
from afterword.core.scheduling.statuses import Item
from afterword.queue.service import NotUncertain
from tests.conftest import House
from tests.queue.conftest import Queue
from tests.queue.test_service import uncertain


@pytest.fixture
def queue(pool: db.Pool, house: House) -> Queue:
    return Queue(pool, house, house.pipeline_id)


class TestResolve:
    async def test_refusals(self, pool: db.Pool, house: House, neighbour: House, queue: Queue) -> None:
        item = await queue.schedule()
        with pytest.raises(NotUncertain):
            await items.resolve(pool, domain=house.caller.domain, item_id=item.item_id, is_sent=True)
        with pytest.raises(errors.NotFound):
            await items.resolve(pool, domain=neighbour.caller.domain, item_id=item.item_id, is_sent=True)

    @pytest.mark.parametrize(
        ("is_sent", "status", "words"), [(True, Item.SENT, "is Sent"), (False, Item.FAILED, "is Failed")]
    )
    async def test_ok(
        self, pool: db.Pool, house: House, queue: Queue, *, is_sent: bool, status: Item, words: str
    ) -> None:
        item = await queue.schedule()
        await uncertain(queue, item)
        said = await items.resolve(pool, domain=house.caller.domain, item_id=item.item_id, is_sent=is_sent)
        assert words in said
        found = await queue.row(item)
        assert (status, None) == (Item(found["status"]), found["updated_by"])
