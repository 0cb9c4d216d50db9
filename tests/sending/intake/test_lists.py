"""Lists: the file that is kept for some days, and nobody else's."""

import pytest

from afterword.kit import db
from afterword.sending.intake import lists
from tests.pruning import prune
from tests.sending.queue.conftest import Queue


async def stage(queue: Queue) -> str:
    return await queue.run(
        lists.stage,
        caller=queue.house.caller,
        questionnaire_id=queue.house.questionnaire_id,
        pipeline_id=queue.pipeline_id,
        file_name="a.csv",
        read=lists.read_file(b"Mail\na@b.example\n"),
        mapping={},
        now=await queue.now(),
    )


async def test_kept_for_days(queue: Queue) -> None:
    list_id = await stage(queue)
    key = {"organization_id": queue.house.organization_id, "list_id": list_id}
    for days, is_there, has_file in ((6, True, True), (8, True, False), (31, False, False)):
        await queue.execute("update queue_list set created_time = now() - make_interval(days => $1)", days)
        async with db.transaction(queue.pool) as database:
            await prune(database, "files of lists", "lists")
            found = await lists.get_list(database, **key)
        assert is_there == (found is not None)
        if found is not None and not has_file:
            with pytest.raises(lists.FileGone):
                lists.text_of(found, found.layout.reading)


async def test_remembers_the_last_used_columns(queue: Queue) -> None:
    key = {"organization_id": queue.house.organization_id, "application_id": queue.house.application_id}
    async with db.transaction(queue.pool) as database:
        now = database.clock.now()
        for number in range(3):
            await lists.update_columns(database, **key, mapping={f"c{number}": "locale"}, now=now, keep_max=5)
            await database.execute("update queue_list_column set used_time = used_time - interval '1 day'")
        await lists.update_columns(database, **key, mapping={"c0": ""}, now=now, keep_max=2)
        assert {"c0": "", "c2": "locale"} == await lists.list_known_columns(database, **key)
