"""Alerts and notifications for the contract tests: made over the API, and by the worker's jobs."""

import asyncio
from datetime import timedelta
from typing import Any

from afterword.asking.instances.answers import lock_context, save_answers
from afterword.asking.questionnaires.store import Version
from afterword.cases import notifications, service
from afterword.core.answers.values import Given
from afterword.kit import db
from tests.conftest import House
from tests.contract.wire import Wire

EVENTS_MAX = 500
DEADLINE_SECONDS = 60  # the transactions of other tests, which are waited for, are long on a slow machine


async def alerting(
    pool: db.Pool, wire: Wire, *, house: House, token: str, version: Version
) -> tuple[dict[str, str], dict[str, str]]:
    """Ids of an alert, a case, a comment, a status and a notification; and of those that were deleted again."""

    async def ask(method: str, path: str, document: Any = None) -> Any:
        more = {} if document is None else {"document": document}
        reply = await wire.ask(method, f"/v3.2{path}", token=token, **more)
        assert reply.status in {200, 201, 204}, reply
        return reply.document if reply.body else None

    # Numbers begin at 100 in each organization: theirs shall be none of ours.
    async with db.transaction(pool) as database:
        first = await database.fetch_value("select 100 * count(*) from organization")
        await database.execute(
            "insert into alert_status_number (organization_id, last_status_id) values ($1, $2)",
            *(house.organization_id, first),
        )
    deleted: dict[str, str] = {}
    ids: dict[str, str] = {"assigned_user_id": house.user_id, "escalation_user_id": house.user_id}
    for made in (deleted, ids):
        status = await ask("POST", "/alert/status", {"title": "Waiting", "color": "#112233"})
        made["status_id"] = str(status["status_id"])
        rule = {"application_id": house.application_id, "title": "All", "trigger": "submitted"}
        made["alert_id"] = (await ask("POST", "/alert", rule))["alert_id"]
    customer = {"metadata": {"responder": {"email": f"customer@{house.domain}.example"}}}  # whom a case can reply to
    instance = await ask("POST", f"/q/questionnaire/{house.questionnaire_id}/instance", customer)
    await _answer(pool, house, version, instance["instance_id"])
    await _run_jobs(pool)
    [case] = (await ask("GET", f"/alert/{ids['alert_id']}/instance"))["results"]
    ids["alert_instance_id"] = case["alert_instance_id"]
    for made in (deleted, ids):
        comment = await ask("POST", f"/alert/instance/{case['alert_instance_id']}/comment", {"body": "Called."})
        made["comment_id"] = comment["comment_id"]
    ids["notification_id"] = (await ask("GET", "/notification"))["results"][0]["notification_id"]
    await ask("DELETE", f"/alert/instance/{case['alert_instance_id']}/comment/{deleted['comment_id']}")
    await ask("DELETE", f"/alert/status/{deleted['status_id']}")
    await ask("DELETE", f"/alert/{deleted['alert_id']}")
    return ids, deleted


async def _answer(pool: db.Pool, house: House, version: Version, instance_id: str) -> None:
    async with db.transaction(pool) as database:
        await save_answers(
            database,
            context=await lock_context(database, instance_id=instance_id),
            answers={version.definition.questions()[0].question_id: Given(2)},
            complete=False,
            now=database.clock.now(),
        )


async def _run_jobs(pool: db.Pool) -> None:
    await read_all(pool, service.READER, service.raise_next)
    await read_all(pool, notifications.READER, notifications.notify_next)


async def read_all(pool: db.Pool, reader: str, job: Any, *, later: timedelta = timedelta(0)) -> None:
    """Run a reader's job until the whole log is read: an event can be read once all older transactions are over."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            async with db.transaction(pool) as database:
                await job(database, now=database.clock.now() + later, limit=EVENTS_MAX)
            async with db.connection(pool) as database:
                if not await database.fetch_value(
                    """select exists (select from event e join event_cursor c on c.reader = $1
                                      where (e.xid, e.seq) > (c.xid, c.seq))""",
                    reader,
                ):
                    return
            await asyncio.sleep(0.01)
