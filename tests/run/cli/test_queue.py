"""`afterword queue resolve` and `resume`."""

from pathlib import Path

import pytest

from afterword.core.scheduling.statuses import Item
from afterword.kit import db
from afterword.sending.intake.imports import service
from tests.conftest import House
from tests.run.cli.shell import shell
from tests.sending.queue.conftest import Queue
from tests.sending.queue.test_service import uncertain


@pytest.fixture
def queue(pool: db.Pool, house: House) -> Queue:
    return Queue(pool, house, house.pipeline_id)


class TestResolve:
    async def test_refusals(
        self, house: House, neighbour: House, queue: Queue, database_url: str, tmp_path: Path
    ) -> None:
        item = await queue.schedule()
        for domain, words in (
            (house.domain, "What became of this item is known."),
            (neighbour.domain, "There is no item"),
        ):
            words_typed = ("queue", "resolve", item.item_id, "--sent", "--organization", domain)
            ended = shell(database_url, tmp_path, *words_typed)
            assert (1, True) == (ended.returncode, words in ended.stderr), ended

    @pytest.mark.parametrize(
        ("option", "status", "words"), [("--sent", Item.SENT, "is Sent"), ("--not-sent", Item.FAILED, "is Failed")]
    )
    async def test_ok(
        self, queue: Queue, database_url: str, tmp_path: Path, option: str, status: Item, words: str
    ) -> None:
        item = await queue.schedule()
        await uncertain(queue, item)
        ended = shell(database_url, tmp_path, "queue", "resolve", item.item_id, option)
        assert (0, True) == (ended.returncode, words in ended.stdout), ended
        found = await queue.row(item)
        assert (status, None) == (Item(found["status"]), found["updated_by"])


class TestResume:
    async def test_unknown(self, house: House, database_url: str, tmp_path: Path) -> None:
        ended = shell(database_url, tmp_path, "queue", "resume", "z" * 22)
        assert (1, "afterword: There is no such import.\n") == (ended.returncode, ended.stderr)

    async def test_ok(self, pool: db.Pool, house: House, database_url: str, tmp_path: Path) -> None:
        async with db.transaction(pool) as database:
            now = database.clock.now()
            job = await service.create(
                database,
                caller=house.caller,
                questionnaire_id=house.questionnaire_id,
                pipeline_id=house.pipeline_id,
                cut=service.cut("responder_channel_identifier\na@example.com\n", separator=",", mapping={}),
                secret=house.site.secret,
                now=now,
            )
            await database.execute("update queue_import set state = 'failed', finished_time = $1", now)
        ended = shell(database_url, tmp_path, "queue", "resume", job.import_id)
        assert (0, "The import is queued: 0 of 1 rows are done.\n") == (ended.returncode, ended.stdout), ended.stderr
