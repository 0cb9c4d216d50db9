"""`afterword queue resolve` and `resume`."""

import asyncio
from pathlib import Path

import pytest

from afterword import db, errors
from afterword.cli import queue as commands
from afterword.core.scheduling.statuses import Item
from afterword.intake.imports import service as imports
from afterword.intake.imports.service import NewImport
from afterword.queue.service import NotUncertain
from tests.cli.test_shell import shell
from tests.conftest import House
from tests.queue.conftest import Queue
from tests.queue.test_service import uncertain


@pytest.fixture
def queue(pool: db.Pool, house: House) -> Queue:
    return Queue(pool, house, house.pipeline_id)


async def resolve(pool: db.Pool, *, domain: str, item_id: str, is_sent: bool) -> str:
    async with db.transaction(pool) as database:
        return await commands.resolve(database, domain=domain, item_id=item_id, is_sent=is_sent)


class TestResolve:
    async def test_refusals(self, pool: db.Pool, house: House, neighbour: House, queue: Queue) -> None:
        item = await queue.schedule()
        with pytest.raises(NotUncertain):
            await resolve(pool, domain=house.caller.domain, item_id=item.item_id, is_sent=True)
        with pytest.raises(errors.NotFound):
            await resolve(pool, domain=neighbour.caller.domain, item_id=item.item_id, is_sent=True)

    @pytest.mark.parametrize(
        ("is_sent", "status", "words"), [(True, Item.SENT, "is Sent"), (False, Item.FAILED, "is Failed")]
    )
    async def test_ok(
        self, pool: db.Pool, house: House, queue: Queue, *, is_sent: bool, status: Item, words: str
    ) -> None:
        item = await queue.schedule()
        await uncertain(queue, item)
        said = await resolve(pool, domain=house.caller.domain, item_id=item.item_id, is_sent=is_sent)
        assert words in said
        found = await queue.row(item)
        assert (status, None) == (Item(found["status"]), found["updated_by"])


class TestResume:
    async def test_unknown(self, house: House, database_url: str, tmp_path: Path) -> None:
        ended = await asyncio.to_thread(shell, database_url, tmp_path, "queue", "resume", "z" * 22)
        assert (1, "afterword: There is no such import.\n") == (ended.returncode, ended.stderr)

    async def test_ok(self, pool: db.Pool, house: House, database_url: str, tmp_path: Path) -> None:
        new = NewImport(
            questionnaire_id=house.questionnaire_id,
            pipeline_id=house.pipeline_id,
            cut=imports.cut(b"responder_channel_identifier\na@example.com\n", separator=",", mapping={}),
        )
        async with db.transaction(pool) as database:
            now = database.clock.now()
            job = await imports.create(database, caller=house.caller, new=new, secret=house.site.secret, now=now)
            await database.execute("update queue_import set state = 'failed', finished_time = $1", now)
        ended = await asyncio.to_thread(shell, database_url, tmp_path, "queue", "resume", job.import_id)
        assert (0, "The import is queued: 0 of 1 rows are done.\n") == (ended.returncode, ended.stdout), ended.stderr
