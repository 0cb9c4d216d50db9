"""A worker remembers its database over restarts, and sends nothing from an older one."""

from pathlib import Path

from afterword.kit import db
from afterword.run.worker.guard import FILE_NAME, Guard
from afterword.sending.queue import restores
from tests.run.worker.conftest import Bench


async def test_the_memory_outlasts_the_process(bench: Bench, tmp_path: Path) -> None:
    first = Guard(pool=bench.queue.pool, folder=tmp_path)
    await bench.queue.schedule()
    assert 0 == first.seq_min
    assert await first.is_open()

    second = Guard(pool=bench.queue.pool, folder=tmp_path)

    assert second.seq_min == first.seq_min > 0
    assert [FILE_NAME] == [path.name for path in tmp_path.iterdir()]  # noqa: ASYNC240


async def test_a_file_that_cannot_be_read(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("{")

    assert await Guard(pool=bench.queue.pool, folder=tmp_path).is_open()


async def test_an_older_database(bench: Bench, tmp_path: Path) -> None:
    """Nothing leaves until it is confirmed; then the rest goes."""
    await Guard(pool=bench.queue.pool, folder=tmp_path).is_open()
    file = tmp_path / FILE_NAME
    remembered = Guard(pool=bench.queue.pool, folder=tmp_path)
    await bench.queue.execute("alter sequence event_seq_seq restart with 1000")
    item = await bench.queue.schedule()
    await remembered._check()
    await bench.queue.execute("delete from event")
    await bench.queue.execute("alter sequence event_seq_seq restart with 1")
    assert file.exists()

    guard = Guard(pool=bench.queue.pool, folder=tmp_path)
    assert not await guard.is_open()
    async with bench.worker():
        await bench.until("select paused_time is not null from sending_guard")
        assert 1 == await bench.queue.status(item)
        async with db.transaction(bench.queue.pool) as database:
            assert await restores.update_to_confirmed(database)
        await bench.until_done()
    assert {item.item_id: 1} == bench.channel.accepted
