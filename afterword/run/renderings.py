"""Events as resources: what the log keeps of a row, shown as the GET of its subject shows it.

The log keeps no addresses of responders and nothing that alerts matched, for it outlives their erasure: of these the
resource is completed with what is there when it is read. Of anything that is gone by then, what the log kept is shown.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from afterword.asking.instances import (
    answers as answers_store,
    resources as instances_resources,
    responders,
    store as instances_store,
    tags,
)
from afterword.asking.questionnaires import api as questionnaires_api, store as questionnaires_store
from afterword.cases.alert_instances import store
from afterword.cases.chats import CHAT, Chat
from afterword.core.organizations.access import installation
from afterword.core.wire.site import Site
from afterword.events.service import Event
from afterword.events.webhooks import WEBHOOK, Webhook
from afterword.kit.db import Database
from afterword.kit.nouns.structs import resource_of
from afterword.kit.web import fields
from afterword.listening.exports import api as exports_api, store as exports_store
from afterword.listening.exports.schedules import SCHEDULE, ExportSchedule
from afterword.listening.imports import api as response_imports_api
from afterword.people.responders.suppressions import SUPPRESSION
from afterword.sending.intake.imports import service as imports_resources
from afterword.sending.pipelines import resources as pipelines_resources, store as pipelines_store
from afterword.sending.queue import records
from afterword.sending.queue.records import ShownItem
from afterword.sending.receipts import service as receipts
from afterword.tenants.organizations.plans import PLAN, Plan
from afterword.tenants.organizations.tokens import api as tokens_api, store as tokens_store
from afterword.tenants.organizations.users import USER, User

Record = TypeVar("Record")
ORDER_LAST: Final = 1 << 30


class RenderedEvent(msgspec.Struct, frozen=True, kw_only=True):
    event: Event
    site: Site
    zone: tzinfo

    def read(self, record: type[Record], **absent: object) -> Record:
        """The record that the data were made of; `absent`: columns that the log never keeps."""
        return msgspec.convert({**absent, **self.event.data}, record)


Renderer = Callable[[Database, RenderedEvent], Awaitable[msgspec.Struct | dict[str, Any]]]


async def render(
    db: Database, /, *, events: Sequence[Event], site: Site, zones: Mapping[str, tzinfo]
) -> list[dict[str, Any]]:
    """Render each event's subject as its GET showed it after the change; `zones` by organization_id."""
    return [
        await _render(db, RenderedEvent(event=event, site=site, zone=zones.get(event.organization_id, UTC)))
        for event in events
    ]


async def _render(db: Database, look: RenderedEvent) -> dict[str, Any]:
    renderer = RENDERERS.get(look.event.type) or RENDERERS.get(look.event.type.partition(".")[0])
    if renderer is None:
        return look.event.data
    try:
        return _shown(await renderer(db, look))
    except (msgspec.ValidationError, KeyError):  # of a row that lacks a column that is newer, or of one that was erased
        return look.event.data


def _row(show: Callable[[Any, tzinfo], msgspec.Struct], record: type[Any], **absent: object) -> Renderer:
    async def renderer(_: Database, look: RenderedEvent) -> msgspec.Struct:
        return show(look.read(record, **absent), look.zone)

    return renderer


async def _queue_item(_: Database, look: RenderedEvent) -> msgspec.Struct:
    """The item. The log keeps no metadata, and of its first releases neither source, reason nor test."""
    nothing: dict[str, object] = {"questionnaire": {}, "responder": {}}
    absent = {"source": "api", "reason": None, "test": look.event.test, "metadata": nothing}
    return records.QueueItem.of(look.read(ShownItem, **absent), look.zone)


async def _reported(db: Database, look: RenderedEvent) -> dict[str, Any]:
    return {**_shown(await _queue_item(db, look)), "report": receipts.of_event(look.event.data, look.zone)}


async def _instance(_: Database, look: RenderedEvent) -> msgspec.Struct:
    return instances_resources.instance_of(
        look.read(instances_store.ShownInstance, full_quota_id=None, anonymity=None),
        look.site.pages(look.event.organization_id),
        look.zone,
    )


async def _completed(db: Database, look: RenderedEvent) -> dict[str, Any]:
    """The instance, its answers in question order, and its metadata."""
    data = look.event.data
    shown = _shown(await _instance(db, look))
    key = {"organization_id": look.event.organization_id, "instance_id": shown["instance_id"]}
    version = await questionnaires_store.get_version(
        db, organization_id=look.event.organization_id, version_id=data["version_id"]
    )
    stored = {one.question_id: one for one in await answers_store.list_answers(db, **key)}
    completed_time = msgspec.convert(data["completed_time"], datetime)
    places = {question.question_id: place for place, question in enumerate(version.definition.questions())}
    answers: list[dict[str, Any]] = []
    for given in sorted(data.get("answers") or (), key=lambda one: places.get(one["question_id"], ORDER_LAST)):
        kept = stored.get(given["question_id"])
        answer = answers_store.Answer(
            **key,
            question_id=given["question_id"],
            questionnaire_id=shown["questionnaire_id"],
            version_id=data["version_id"],
            value=given["value"],
            other_text=given["other_text"],
            provisional=False,
            answered_time=min(kept.answered_time, completed_time) if kept else completed_time,
        )
        one = instances_resources.ResponseAnswer.shown(answer, version=version, locale=shown["locale"], zone=look.zone)
        answers.append(_shown(one))
    nothing: dict[str, Any] = {"questionnaire": {}, "responder": {}}
    return {**shown, "answers": answers, "metadata": data.get("metadata") or nothing}


async def _responder(db: Database, look: RenderedEvent) -> msgspec.Struct | dict[str, Any]:
    """The logged row, completed with today's addresses and figures."""
    event = look.event
    responder_id = event.subject_id or ""
    sight = installation(event.organization_id).sight
    found = await responders.get_responder_record(db, **sight, responder_id=responder_id)
    if found is None:
        return event.data
    if "created_time" in event.data:
        found = msgspec.convert({**event.data, "is_whole": found.is_whole}, responders.ShownResponder)
    [details] = await responders.list_details(db, **sight, responder_ids=[responder_id], now=db.clock.now())
    return responders.responder_of(responders.ResponderView(found, details), look.zone)


async def _case(db: Database, look: RenderedEvent) -> msgspec.Struct:
    """The case, with what it matched and the number to call as long as they are there."""
    case = look.read(store.Case)
    sight = installation(case.organization_id).sight
    kept = await store.get_case(db, **sight, alert_instance_id=case.alert_instance_id)
    if kept is not None:
        case = replace(
            case, matched=kept.matched, call_back_number=kept.call_back_number, call_back_note=kept.call_back_note
        )
    return store.ALERT_INSTANCE.of(case, look.zone)


async def _mentioned(db: Database, look: RenderedEvent) -> dict[str, Any]:
    return {**_shown(await _case(db, look)), "mentioned_user_ids": look.event.data["mentioned_user_ids"]}


async def _questionnaire(_: Database, look: RenderedEvent) -> msgspec.Struct:
    questionnaire = look.read(questionnaires_store.Questionnaire)
    return questionnaires_api.questionnaire_of(questionnaire, look.site, look.zone)


async def _pipeline(_: Database, look: RenderedEvent) -> msgspec.Struct:
    pipeline = look.read(pipelines_store.Pipeline, deleted_time=None, delay_from=None)
    return pipelines_resources.pipeline_of(pipeline, look.zone, look.event.created_time)


def _logged(resource: type[fields.Resource]) -> Renderer:
    async def renderer(_: Database, look: RenderedEvent) -> msgspec.Struct:
        return resource.of_log(look.event.data, look.zone)

    return renderer


async def _token(_: Database, look: RenderedEvent) -> msgspec.Struct:
    """The log keeps the hint in place of the selector; its older events have no networks."""
    token = look.read(tokens_store.Token, selector=look.event.data.get("hint", ""), networks=[])
    return tokens_api.Token.of(token, look.zone)


def _shown(resource: msgspec.Struct | dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(resource)
    return document


RENDERERS: Final[Mapping[str, Renderer]] = {
    "queue_item": _queue_item, "queue_item.delivered": _reported, "queue_item.bounced": _reported,
    "queue_item.complained": _reported, "questionnaire_instance": _instance,
    "questionnaire_instance.completed": _completed, "answer": _instance, "responder": _responder,
    "tag": _row(tags.Tag.of, tags.TagRecord), "alert_instance": _case, "alert_instance.mentioned": _mentioned,
    "questionnaire": _questionnaire, "pipeline": _pipeline, "import": _logged(imports_resources.Import),
    "response_import": _logged(response_imports_api.ResponseImport),
    "export": _row(exports_api.export_of, exports_store.Export, owner=None, lease_until=None, scopes=[]),
    "suppression": _logged(resource_of(SUPPRESSION)), "plan": _row(resource_of(PLAN).of, Plan),
    "user": _row(resource_of(USER).of, User), "token": _token,
    "webhook": _row(resource_of(WEBHOOK).of, Webhook), "chat": _row(resource_of(CHAT).of, Chat),
    "export_schedule": _row(resource_of(SCHEDULE).of, ExportSchedule, sealed_secret=None),
}  # fmt: skip
"""By the event's type, else by its family. A family that is not here is shown as the log has it."""


class CompletedInstance(instances_resources.QuestionnaireInstance):
    """A completed instance with its answers and metadata."""

    answers: list[instances_resources.ResponseAnswer]
    metadata: fields.MetadataGroups


RESOURCES: Final[Mapping[str, type[msgspec.Struct]]] = {
    "queue_item": records.QueueItem, "questionnaire_instance": instances_resources.QuestionnaireInstance,
    "answer": instances_resources.QuestionnaireInstance, "responder": responders.Responder, "tag": tags.Tag,
    "alert_instance": store.ALERT_INSTANCE, "questionnaire": questionnaires_api.Questionnaire,
    "pipeline": pipelines_resources.Pipeline, "import": imports_resources.Import, "export": exports_api.Export,
    "suppression": resource_of(SUPPRESSION), "plan": resource_of(PLAN), "user": resource_of(USER),
    "token": tokens_api.Token, "webhook": resource_of(WEBHOOK), "chat": resource_of(CHAT),
    "sequence": fields.Answer, "questionnaire_instance.completed": CompletedInstance,
    "response_import": response_imports_api.ResponseImport, "export_schedule": resource_of(SCHEDULE),
}  # fmt: skip
"""The Structs of what they show, by type or family; the data of a sequence have none."""
