"""The HTTP routes of one person: the timeline, and a copy of all that is held."""

from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import partial
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from afterword.asking.instances import api as instances_api
from afterword.asking.instances.resources import held_instance_of
from afterword.asking.instances.responders import api as responders_api
from afterword.asking.instances.responders import service as responders
from afterword.asking.instances.responders.store import ShownResponder
from afterword.asking.instances.tags import api as tags_api
from afterword.asking.instances.tags import store as tags_store
from afterword.asking.instances.values import api as values_api
from afterword.asking.instances.values import store as values_store
from afterword.cases.alert_instances import store as cases_store
from afterword.cases.resources import AlertComment, AlertInstance, AlertMessage
from afterword.core.organizations.access import Caller
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.kit.nouns.structs import resource_of
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Download, Routes
from afterword.people.responders.suppressions import SUPPRESSION
from afterword.privacy.profiles import readable, service, store
from afterword.sending.queue import service as queue
from afterword.sending.queue.resources import QueueItem

JSON: Final = "application/json"
HTML: Final = "text/html"
TIMELINE_SCOPES: Final = ("Responder.Read", "Questionnaire Instance.Read", "Queue.Read")
SUBJECT_SCOPES: Final = ("Responder.Read", "Responder Value.Read", "Questionnaire Instance.Read")
routes = Routes(tag="Responders")


class TimelineEntry(fields.Resource):
    """One thing that happened to a person, or that is planned."""

    entry_id: Annotated[str, Meta(description="Names the entry in this list.")]
    kind: Annotated[
        Literal[
            "waiting", "sent", "not_sent", "issued", "viewed", "answered", "case_opened", "case_closed", "suppressed"
        ],
        Meta(description="`waiting`: an item, at the time when it is due. `issued`: an instance without an item."),
    ]  # fmt: skip
    time: Annotated[fields.DateTime, Meta(description="When it happened; of what waits, when it is due.")]
    title: Annotated[str | None, Meta(description="Of the questionnaire, or of the alert.")]
    questionnaire_id: fields.Id | None
    item_id: fields.Id | None
    instance_id: fields.Id | None
    alert_instance_id: fields.Id | None
    channel_id: int | None
    source: Annotated[str | None, Meta(description="The way by which an item came, such as `api` or `reminder`.")]
    order_key: Annotated[
        str | None,
        Meta(
            description=(
                "The item's `external_reference`; else, with Questionnaire Value.Read, `transaction_id`, `booking_no` "
                "or `case_id` of its metadata."
            )
        ),
    ]
    reason: Annotated[str | None, Meta(description="The code of why an item waits, was not sent, or of a suppression.")]
    result: Annotated[str | None, Meta(description="The same of an item as a sentence.")]
    test: bool
    score_question_id: Annotated[fields.Computed[fields.Id | None], Meta(description="The question with the score.")]
    score: Annotated[fields.Computed[int | None], Meta(description="Of an answer, as in the list of responses.")]
    band: Annotated[
        fields.Computed[Literal["detractor", "passive", "promoter"] | None], Meta(description="Of the score.")
    ]
    comment: Annotated[fields.Computed[str | None], Meta(description="The first thousand characters.")]


class HeldItem(QueueItem):
    """A queue item as long as it is held, also after it was deleted."""

    deleted_time: fields.DateTime | None


class SubjectQuery(fields.Request):
    """The form of the copy."""

    format: Literal["json", "html"] = "json"


TIMELINE: Final = fields.listing_of(TimelineEntry, order=(("time", "desc"),))
CASES: Final = fields.listing_of(AlertInstance)
COMMENTS: Final = fields.listing_of(AlertComment)


@routes.list(
    "/q/responder/{responder_id}/timeline",
    scope="Responder.Read",
    more_scopes=TIMELINE_SCOPES[1:],
    answer=TimelineEntry,
    listing=TIMELINE,
    summary="Get the timeline of a responder",
    description=(
        "What was sent, is planned, or was not sent and why; answers; cases, with Alert Instance.Read; suppressions. "
        "The newest first."
    ),
)
async def list_timeline(call: Call[None], db: Database) -> Answer:
    responder_id = call.ids["responder_id"]
    rows = await service.list_entries(db, caller=call.caller, responder_id=responder_id, page=call.page)
    await service.note(db, caller=call.caller, action="read", responder_id=responder_id, now=call.now)
    return Answer(rows.map(lambda entry: TimelineEntry.of(entry, call.zone)))


@routes.get(
    "/q/responder/{responder_id}/subject",
    scope="Responder.Read",
    more_scopes=SUBJECT_SCOPES[1:],
    answer=None,
    query=SubjectQuery,
    media_types=(JSON, HTML),
    summary="Get all that is held on a responder",
    description=(
        "One document for a request of access, as JSON or as a page to read: `responder`, `values`, `queue_items`, "
        "`instances`, `responses`, `tags`, `alert_instances`, `alert_comments`, `alert_messages`, `suppressions`, "
        "`generated_time`. Answers show their question as it stood, so a consent has its text, version and time. "
        "Items and instances that were deleted have their `deleted_time`. Events repeat these and are left out. "
        "Only for callers that reach the whole organization."
    ),
)
async def get_subject(call: Call[None], db: Database) -> Answer:
    query: SubjectQuery = call.query or SubjectQuery()
    return Answer(
        download=await subject(
            db,
            caller=call.caller,
            **call.ids,
            site=call.site,
            zone=call.zone,
            now=call.now,
            is_readable=query.format == "html",
        )
    )


async def subject(
    db: Database,
    *,
    caller: Caller,
    responder_id: str,
    site: Site,
    zone: tzinfo,
    now: datetime,
    is_readable: bool = False,
) -> Download:
    """The document as it is read. Raises NotFound, Forbidden for a caller that sees a part of the organization."""
    found = await responders.get(db, caller=caller, responder_id=responder_id)
    caller.require_whole()
    await service.note(db, caller=caller, action="downloaded", responder_id=responder_id, now=now)
    copy = _Copy(db=db, caller=caller, responder=found, site=site, zone=zone, now=now)
    return Download(
        media_type=HTML if is_readable else JSON,
        file_name=f"person-{responder_id}.{'html' if is_readable else 'json'}",
        length=None,
        chunks=copy.pages() if is_readable else copy.chunks(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    """A copy of all that is held on a person, each list a generator that reads page by page."""

    db: Database
    caller: Caller
    responder: ShownResponder
    site: Site
    zone: tzinfo
    now: datetime
    case_ids: list[str] = field(default_factory=list[str])  # those that were copied, whose comments follow

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        yield b'{"responder":' + msgspec.json.encode(await self._shown())
        for name, resources in self._lists().items():
            yield f',"{name}":['.encode()
            comma = b""
            async for resource in resources:
                yield comma + msgspec.json.encode(resource)
                comma = b","
            yield b"]"
        yield b',"generated_time":' + msgspec.json.encode(times.format_time(self.now, zone=self.zone)) + b"}"

    async def pages(self) -> AsyncGenerator[bytes, None]:
        """The same for people to read."""
        generated = readable.part({"generated_time": times.format_time(self.now, zone=self.zone)})
        person = readable.title("responder") + readable.part(msgspec.to_builtins(await self._shown()))
        yield (readable.HEAD + generated + person).encode()
        for name, resources in self._lists().items():
            yield readable.title(name).encode()
            is_empty = True
            async for resource in resources:
                is_empty = False
                yield readable.part(msgspec.to_builtins(resource)).encode()
            if is_empty:
                yield readable.NOTHING.encode()

    async def _shown(self) -> responders_api.Responder:
        views = await responders.views_of(self.db, caller=self.caller, responders=[self.responder], now=self.now)
        return responders_api.responder_of(views[self.responder.responder_id], self.zone)

    def _lists(self) -> dict[str, AsyncIterable[msgspec.Struct]]:
        return {
            "values": self._values(),
            "queue_items": self._items(),
            "instances": self._instances(),
            "responses": self._responses(),
            "tags": self._tags(),
            "alert_instances": self._cases(),
            "alert_comments": self._comments(),
            "alert_messages": self._messages(),
            "suppressions": self._suppressions(),
        }

    @property
    def _person(self) -> dict[str, str]:
        return {"organization_id": self.responder.organization_id, "responder_id": self.responder.responder_id}

    async def _values(self) -> AsyncGenerator[msgspec.Struct, None]:
        declared = await responders.declared(self.db, caller=self.caller, responder_id=self.responder.responder_id)
        read = partial(values_store.list_responder_values, self.db, **self._person, is_shown=True)
        async for value in service.rows_of(read, values_api.RESPONDER_VALUES):
            yield values_api.shown(values_api.ResponderValue, value, declared.responder, self.zone)

    async def _items(self) -> AsyncGenerator[msgspec.Struct, None]:
        async for item, deleted_time in service.items_of(self.db, **self._person):
            deleted = deleted_time and times.format_time(deleted_time, zone=self.zone)
            yield HeldItem.of(queue.visible(item, self.caller), self.zone, deleted_time=deleted)

    async def _instances(self) -> AsyncGenerator[msgspec.Struct, None]:
        async for found in service.instances_of(self.db, **self._person):
            for instance in found:
                yield held_instance_of(instance, self.site.pages(self.responder.organization_id), self.zone)

    async def _responses(self) -> AsyncGenerator[msgspec.Struct, None]:
        async for found in service.instances_of(self.db, **self._person):
            for content in await instances_api.contents_of(
                self.db, instances=found, caller=self.caller, zone=self.zone
            ):
                yield content

    async def _tags(self) -> AsyncGenerator[msgspec.Struct, None]:
        async for found in service.instances_of(self.db, **self._person):
            for tag in await tags_store.list_tags_of_instances(
                self.db,
                organization_id=self.responder.organization_id,
                instance_ids=[each.instance_id for each in found],
            ):
                yield tags_api.Tag.of(tag, self.zone)

    async def _cases(self) -> AsyncGenerator[msgspec.Struct, None]:
        read = partial(cases_store.list_cases, self.db, **self.caller.reach)
        async for case in service.rows_of(read, CASES, among={"responder_id": self.responder.responder_id}):
            self.case_ids.append(case.alert_instance_id)
            yield AlertInstance.of(case, self.zone)

    async def _comments(self) -> AsyncGenerator[msgspec.Struct, None]:
        read = partial(cases_store.list_comments, self.db, organization_id=self.responder.organization_id)
        async for comment in service.rows_of(read, COMMENTS, alert_instance_ids=self.case_ids):
            yield AlertComment.of(comment, self.zone)

    async def _messages(self) -> AsyncGenerator[msgspec.Struct, None]:
        async for message in service.messages_of(self.db, **self._person):
            yield AlertMessage.of(message, self.zone)

    async def _suppressions(self) -> AsyncGenerator[msgspec.Struct, None]:
        for one in await store.list_suppressions_of(self.db, **self._person):
            yield resource_of(SUPPRESSION).of(one, self.zone)
