"""Events show their subject as its GET does right after the change, for every type."""

import asyncio
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
import pytest

from afterword.asking.instances.answers import lock_context, record_view, save_answers
from afterword.asking.questionnaires import store as questionnaires_store
from afterword.cases import service
from afterword.core.answers.values import Given
from afterword.core.messaging.notices import TYPES
from afterword.events.service import Event
from afterword.kit import db
from afterword.kit.transport.base import Outcome, Refused, Retry, Sent
from afterword.run.worker.long_work import Exporter
from afterword.tenants.organizations import plans
from tests.contract.alerting import read_all
from tests.dates import YEAR
from tests.event_log import list_events
from tests.events.conftest import Desk, client, desk
from tests.sending.queue.conftest import Queue

__all__ = ["client", "desk"]  # fixtures

PATHS: Final[Mapping[str, str]] = {
    "queue_item": "/q/queue/item/{id}",
    "questionnaire_instance": "/q/instance/{id}",
    "answer": "/q/instance/{id}",
    "responder": "/q/responder/{id}",
    "tag": "/q/instance/{id}/tag",
    "alert_instance": "/alert/instance/{id}",
    "questionnaire": "/q/questionnaire/{id}",
    "pipeline": "/q/questionnaire/{questionnaire_id}/pipeline/{id}",
    "export": "/q/export/{id}",
    "plan": "/plan",
    "user": "/user/{id}",
    "token": "/token/{id}",
    "webhook": "/webhook/{id}",
    "suppression": "/suppression/{id}",
}
GONE: Final = frozenset(
    {"queue_item.deleted", "questionnaire_instance.deleted", "pipeline.deleted", "tag.removed", "user.removed"}
)
"""Their subjects are not there to be compared with; they must have the members of those that are."""
NEVER_TOLD: Final = {"queue_item": {"metadata": {"questionnaire": {}, "responder": {}}}}
"""Stands in an event for a member, since the log keeps no values of people."""
OF_ONE_ALONE: Final = {"user": {"scopes", "applications"}}
"""Members that a GET of one works out, which no list and no event has."""
ELSEWHERE: Final[Mapping[str, str]] = {
    "queue_item.delivered": "tests of reports",
    "queue_item.bounced": "tests of reports",
    "queue_item.complained": "tests of reports",
    "questionnaire_instance.expired": "recorded by nothing: expiry is a matter of the clock",
    "questionnaire_instance.reopened": "as updated, in one change",
    "answer.confirmed": "recorded by nothing: answers that a machine may have given are not taken yet",
    "responder.unsubscribed": "tests of responders",
    "responder.erased": "erasure",
    "suppression.deleted": "tests of suppressions",
    "alert_instance.repeated": "as created",
    "alert_instance.answered": "tests of messages of alerts",
    "alert_instance.recovery_answered": "tests of recoveries",
    "alert_instance.overdue": "tests of escalation",
    "alert_instance.escalated": "tests of escalation",
    "import.finished": "tests of imports",
    "import.failed": "tests of imports",
    "export.failed": "as finished",
    "plan.low_credits": "as credits_exhausted",
    "plan.expired": "as renewed",
    "queue_item.ignored": "tests of the queue",
}


@dataclass
class Journal:
    """Reads what was recorded since it last looked, and compares it with what its subjects show."""

    desk: Desk
    seq: int = 0
    seen: set[str] = field(default_factory=set[str])
    members: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    async def compare(self) -> None:
        """Each subject's last event is what its GET shows."""
        async with db.connection(self.desk.pool) as database:
            events = [
                one
                for one in await list_events(database, organization_id=self.desk.house.organization_id)
                if one.seq > self.seq
            ]
        last: dict[tuple[str, str | None], Event] = {}
        for one in events:
            self.seq = one.seq
            self.seen.add(one.type)
            last[one.type.partition(".")[0], one.subject_id] = one
        for one in last.values():
            await self._compare(one)

    async def _compare(self, event: Event) -> None:
        family = event.type.partition(".")[0]
        data = (await self.desk.ask("GET", f"/event/{event.event_id}"))["data"]
        if event.type == "questionnaire_instance.completed":
            content = await self.desk.ask("GET", f"/q/instance/{event.subject_id}/response/content")
            assert content["answers"]
            assert content["answers"] == data.pop("answers")
            assert content["metadata"] == data.pop("metadata")
        if event.type in GONE:
            assert self.members[family] == set(data), event.type
            return
        path = PATHS[family].format(id=event.subject_id, questionnaire_id=event.questionnaire_id)
        shown = await self.desk.ask("GET", path)
        if family == "tag":
            (shown,) = [one for one in shown if one["tag"] == data["tag"]]
        if family == "plan":
            (shown,) = [one for one in shown if one["plan_id"] == data["plan_id"]]
        shown = {name: value for name, value in shown.items() if name not in OF_ONE_ALONE.get(family, ())}
        shown |= NEVER_TOLD.get(family, {})
        if event.type == "alert_instance.mentioned":
            assert [self.desk.house.user_id] == data.pop("mentioned_user_ids")
        self.members[family] = set(shown)
        assert shown == data, event.type


@pytest.fixture
async def journal(desk: Desk) -> Journal:
    made = Journal(desk)
    async with db.connection(desk.pool) as database:
        made.seq = await database.fetch_value("select max(seq) from event")
    return made


async def _send(queue: Queue, outcome: Outcome) -> None:
    await queue.worker().send(outcome)


async def test_rows_of_earlier_releases(desk: Desk) -> None:
    """Documents, as long as processes of an earlier release may read them; both forms read the same."""
    queue = Queue(desk.pool, desk.house, desk.house.pipeline_id)
    await queue.schedule("ann@example.com")
    await _send(queue, Sent("reference", 250, "ok"))
    form = "select type from event where num_nonnulls(item, instance, responder) = 1 order by type"
    logged = ["questionnaire_instance.created", "queue_item.created", "queue_item.sent", "responder.created"]
    with suppress(_Undone):
        async with db.transaction(desk.pool) as database:
            before = await list_events(database, organization_id=desk.house.organization_id)
            assert logged == [row["type"] for row in await database.fetch(form)]
            await database.execute("create temp table written on commit drop as select * from event")
            await database.execute("delete from event")
            await database.execute(
                "create trigger data before insert on event for each row when (new.data is null) "
                "execute function write_event_data()"
            )
            await database.execute("insert into event overriding system value select * from written order by seq")
            assert before == await list_events(database, organization_id=desk.house.organization_id)
            assert [] == await database.fetch(form)
            raise _Undone


class _Undone(Exception):
    pass


async def test_queue_items(desk: Desk, journal: Journal) -> None:
    queue = Queue(desk.pool, desk.house, desk.house.pipeline_id)
    base = f"/q/questionnaire/{desk.house.questionnaire_id}/pipeline/{desk.house.pipeline_id}/queue/item"

    async def item(**members: Any) -> str:
        document = {
            "responder_channel_identifier": "ann@example.com",
            "locale": "el",
            "metadata": {"responder": {"email": "ann@example.com"}},
            **members,
        }
        made = await desk.ask("POST", base, status=201, json=document)
        await journal.compare()
        return f"/q/queue/item/{made['item_id']}"

    path = await item(send_time=f"{YEAR}-07-01T09:00:00+01:00")
    await desk.ask("PATCH", path, json={"send_time": f"{YEAR}-07-02T09:00:00+01:00", "locale": None})
    await journal.compare()
    await desk.ask("PATCH", path, json={"status_id": 5})
    await journal.compare()
    await desk.ask("DELETE", path, status=204)
    await journal.compare()
    for outcome in (Retry("recipient", "busy", reply_code=450), Sent("reference", 250, "ok")):
        if isinstance(outcome, Retry):
            await item()
        else:
            async with db.connection(desk.pool) as database:
                await database.execute("update queue_item set due_time = now() - interval '1 s' where status = 1")
        await _send(queue, outcome)
        await journal.compare()
    await item(responder_channel_identifier="bob@example.com")
    await _send(queue, Refused("550 no", 550))
    await journal.compare()
    await desk.ask("PATCH", f"{base.removesuffix('/queue/item')}", json={"paused": True})
    await journal.compare()
    kinds = ("created", "updated", "aborted", "deleted", "retried", "sent", "failed")
    assert {f"queue_item.{kind}" for kind in kinds} <= journal.seen
    _check_seen(journal, "queue_item")


async def test_instances_and_people(desk: Desk, journal: Journal) -> None:
    base = f"/q/questionnaire/{desk.house.questionnaire_id}/instance"
    metadata = {"questionnaire": {"transaction_id": "1"}, "responder": {"email": "ann@example.com"}}
    made = await desk.ask("POST", base, status=201, json={"metadata": metadata, "editable": True})
    path = f"/q/instance/{made['instance_id']}"
    await journal.compare()
    await desk.ask("PATCH", f"/q/responder/{made['responder_id']}", json={"locale": "el"})
    await journal.compare()
    async with db.transaction(desk.pool) as database:
        await record_view(database, instance_id=made["instance_id"], now=database.clock.now())
    await journal.compare()
    async with db.connection(desk.pool) as database:
        version = await questionnaires_store.get_version(
            database, organization_id=desk.house.organization_id, version_id=desk.house.version_id
        )
    first, *others = [each for each in version.definition.questions() if each.is_answered]
    await _answer(desk, made["instance_id"], {first.question_id: Given(5)}, complete=False)
    await journal.compare()
    await _answer(desk, made["instance_id"], {first.question_id: Given(3)}, complete=False)
    await journal.compare()
    good: dict[str, Any] = {"text": "Well.", "multiple_choice": [1]}
    more: dict[str, Given | None] = {each.question_id: Given(good.get(each.type, 3)) for each in others}
    await _answer(desk, made["instance_id"], more, complete=True)
    await journal.compare()
    await desk.ask("PATCH", path, json={"valid_days": 3, "metadata": {"transaction_id": "2"}})
    await journal.compare()
    await desk.ask("POST", f"{path}/tag", status=201, json={"tag": "vip"})
    await journal.compare()
    await desk.ask("DELETE", f"{path}/tag/vip", status=204)
    await journal.compare()
    async with db.transaction(desk.pool) as database:
        await database.execute("update questionnaire_instance set flags = '{burst}', judgement = 'accepted'")
    for judgement in ("rejected", "accepted"):
        document = {"instance_ids": [made["instance_id"]], "judgement": judgement}
        await desk.ask("POST", "/q/response/doubtful/judgement", json=document)
    await journal.compare()  # the event of a rejection alone keeps the times, by which days are counted again
    await desk.ask("DELETE", path, status=204)
    await journal.compare()
    for family in ("questionnaire_instance", "answer", "responder", "tag"):
        _check_seen(journal, family)


async def _answer(desk: Desk, instance_id: str, answers: dict[str, Given | None], *, complete: bool) -> None:
    async with db.transaction(desk.pool) as database:
        saved = await save_answers(
            database,
            context=await lock_context(database, instance_id=instance_id),
            answers=answers,
            complete=complete,
            now=database.clock.now(),
        )
        assert not saved.wrong, saved.wrong


async def test_cases(desk: Desk, journal: Journal) -> None:
    rule: dict[str, Any] = {"application_id": desk.house.application_id, "title": "All", "trigger": "submitted"}
    rule["conditions"] = {"subject": "questionnaire_metadata:transaction_id", "operator": "equal", "value": "1"}
    await desk.ask("POST", "/alert", status=201, json=rule)
    base = f"/q/questionnaire/{desk.house.questionnaire_id}/instance"
    document = {"metadata": {"questionnaire": {"transaction_id": "1"}}}
    made = await desk.ask("POST", base, status=201, json=document)
    async with db.connection(desk.pool) as database:
        version = await questionnaires_store.get_version(
            database, organization_id=desk.house.organization_id, version_id=desk.house.version_id
        )
    answers: dict[str, Given | None] = {version.definition.questions()[0].question_id: Given(2)}
    await _answer(desk, made["instance_id"], answers, complete=False)
    await read_all(desk.pool, service.READER, service.raise_next)
    await journal.compare()
    (case,) = (await desk.ask("GET", "/alert/instance"))["results"]
    path = f"/alert/instance/{case['alert_instance_id']}"
    for change in ({"assigned_user_id": desk.house.user_id}, {"status_id": 3}, {"status_id": 1}):
        await desk.ask("PATCH", path, json=change)
        await journal.compare()
    user = await desk.ask("GET", f"/user/{desk.house.user_id}")
    for body in ("Called.", f"@{user['email']}: who calls?"):
        await desk.ask("POST", f"{path}/comment", status=201, json={"body": body})
        await journal.compare()
    _check_seen(journal, "alert_instance")


async def test_questionnaires_and_pipelines(desk: Desk, journal: Journal) -> None:
    document = {"owner_application_id": desk.house.application_id, "display_name": "New"}
    made = await desk.ask("POST", "/q/questionnaire", status=201, json=document)
    path = f"/q/questionnaire/{made['questionnaire_id']}"
    await journal.compare()
    await desk.ask("PATCH", path, json={"title": "Other"})
    await journal.compare()
    house = f"/q/questionnaire/{desk.house.questionnaire_id}"
    version = await desk.ask("GET", f"{house}/version/{desk.house.version_id}")
    answer = await desk.client.put(f"{path}/draft", headers=desk.house.headers, json=version["definition"])
    assert answer.status_code in {200, 201}, answer.text
    await desk.ask("POST", f"{path}/version", status=201, json={})
    await journal.compare()
    document = {"channel_id": 1, "title": "Mail", "message_subject": "Well?", "message_body": "Tell us."}
    pipeline = await desk.ask("POST", f"{path}/pipeline", status=201, json=document)
    await journal.compare()
    lane = f"{path}/pipeline/{pipeline['pipeline_id']}"
    window = {"dispatch_start_time": "09:00", "dispatch_end_time": "18:00", "weekdays": [1, 2]}
    for change in (window, {"paused": True}, {"paused": False}):
        await desk.ask("PATCH", lane, json=change)
        await journal.compare()
    await desk.ask("DELETE", lane, status=204)
    await journal.compare()
    await desk.ask("DELETE", path, status=204)
    await journal.compare()
    for family in ("questionnaire", "pipeline"):
        _check_seen(journal, family)


async def test_accounts_exports_and_webhooks(desk: Desk, journal: Journal) -> None:
    user = await desk.ask("POST", "/user", status=201, json={"email": "new@demo.test", "role": "agent"})
    await journal.compare()
    await desk.ask("DELETE", f"/user/{user['user_id']}", status=204)
    await journal.compare()
    token = await desk.ask("POST", "/token", status=201, json={"title": "New", "scopes": ["Queue.Read"]})
    await journal.compare()
    await desk.ask("DELETE", f"/token/{token['token_id']}", status=204)
    await journal.compare()
    async with db.transaction(desk.pool) as database:
        now = database.clock.now()
        plan = await plans.add_plan(
            database,
            organization_id=desk.house.organization_id,
            title="Once",
            kind="once",
            credits=1,
            start_time=now,
            now=now,
        )
        await plans.use_credit(
            database,
            organization_id=desk.house.organization_id,
            application_id=desk.house.application_id,
            now=now,
        )
    await journal.compare()
    async with db.transaction(desk.pool) as database:
        await plans.renew_plan(database, plan_id=plan.plan_id, now=database.clock.now())
    await journal.compare()
    path = f"/q/questionnaire/{desk.house.questionnaire_id}/export"
    await desk.ask("POST", path, status=201, json={"format": "csv"})
    assert await Exporter(desk.pool, uuid.uuid4()).work_next(asyncio.Event())
    await journal.compare()
    await desk.ask("POST", "/suppression", status=201, json={"channel_id": 1, "identifier": "no@example.com"})
    await journal.compare()
    for family in ("user", "token", "plan", "export", "suppression"):
        _check_seen(journal, family)


def _check_seen(journal: Journal, family: str) -> None:
    """Every type of the family was compared, or is named as one that is not."""
    wanted = {name for name in TYPES if name.partition(".")[0] == family}
    assert wanted - journal.seen <= ELSEWHERE.keys() | {"queue_item.waiting"}, wanted - journal.seen


async def test_erased_rows_are_shown_as_they_are(desk: Desk, client: httpx2.AsyncClient) -> None:
    (event_id,) = await desk.tell("queue_item.sent", data={"erased": True})
    assert {"erased": True} == (await desk.ask("GET", f"/event/{event_id}"))["data"]
