"""The order of the work: the longest due first, cases without a due time last; closed ones the newest first."""

from datetime import datetime, timedelta
from typing import Any

from afterword.cases.alert_instances import store
from afterword.cases.alert_instances.store import WorkItem
from afterword.kit import db
from tests.cases.conftest import Desk
from tests.cases.conftest import desk as desk  # noqa: PLC0414  a fixture


async def test_order(desk: Desk) -> None:
    await desk.alert()
    for _ in range(4):
        await desk.respond()
    await desk.raise_all()
    ids = [case["alert_instance_id"] for case in await desk.cases()]
    for case_id, hours in zip(ids, (None, 5, -5, 1), strict=True):
        await desk.execute(
            "update alert_instance set due_time = now() + make_interval(hours => $2) where alert_instance_id = $1",
            *(case_id, hours),
        )
    assert [ids[2], ids[3], ids[1], ids[0]] == [one.alert_instance_id for one in await listed(desk)]
    assert [ids[2]] == [one.alert_instance_id for one in await listed(desk, tab="overdue")]
    assert [] == await listed(desk, after=(store.NEVER, ids[0]))


async def test_closed(desk: Desk) -> None:
    case = await desk.case()
    now = await desk.now()
    await desk.execute("update alert_instance set resolved_time = $1", now)
    assert [] == await listed(desk)
    async with db.connection(desk.pool) as database:
        given: dict[str, Any] = {**desk.house.caller.reach, "since": now - timedelta(days=1), "limit": 5}
        found = await store.list_closed(database, **given, before=now + timedelta(seconds=1))
        assert [case["alert_instance_id"]] == [one.alert_instance_id for one in found]
        assert [] == await store.list_closed(database, **given, before=now)


async def listed(desk: Desk, *, tab: str = "open", after: tuple[datetime, str] | None = None) -> list[WorkItem]:
    async with db.connection(desk.pool) as database:
        return await store.list_work(
            database,
            **desk.house.caller.reach,
            tab=tab,
            user_id=None,
            now=database.clock.now(),
            after=after,
            limit=10,
        )
