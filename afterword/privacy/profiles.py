"""The timeline of a person, and the rows of a copy of all that is held, read page by page."""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import partial
from html import escape
from typing import Annotated, Any, Final, Literal, LiteralString, TypeVar, cast

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword.asking.instances import api as instances_api, responders, tags, values
from afterword.asking.instances.resources import held_instance_of
from afterword.asking.instances.responders import ShownResponder
from afterword.asking.instances.store import INSTANCE_COLUMNS, Instance
from afterword.cases import messages as case_messages
from afterword.cases.alert_instances import store
from afterword.cases.messages import MESSAGE_COLUMNS_M, Message
from afterword.core.organizations.access import Caller
from afterword.core.wire import times
from afterword.core.wire.lists import Criterion, Listing, Page, Rows
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.kit.db.columns import has_own, within
from afterword.kit.nouns.structs import resource_of, shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Download, Routes
from afterword.people.responders.store import SUPPRESSION_COLUMNS, Suppression
from afterword.people.responders.suppressions import SUPPRESSION
from afterword.sending.queue import service as queue
from afterword.sending.queue.records import ITEM_COLUMNS, QueueItem, QueueItemRecord
from afterword.tenants import audit


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to a person, or that is planned."""

    entry_id: Annotated[str, Meta(description="Names the entry in this list.")]
    kind: Annotated[
        Literal[
            "waiting", "sent", "not_sent", "issued", "viewed", "answered", "case_opened", "case_closed", "suppressed"
        ],
        Meta(description="`waiting`: an item, at the time when it is due. `issued`: an instance without an item."),
    ]  # fmt: skip
    time: Annotated[datetime, Meta(description="When it happened; of what waits, when it is due.")]
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
    score_question_id: Annotated[
        fields.Computed[fields.Id | None], Meta(description="The question with the score.")
    ] = None
    score: Annotated[fields.Computed[int | None], Meta(description="Of an answer, as in the list of responses.")] = None
    band: Annotated[
        fields.Computed[Literal["detractor", "passive", "promoter"] | None], Meta(description="Of the score.")
    ] = None
    comment: Annotated[fields.Computed[str | None], Meta(description="The first thousand characters.")] = None


# Items that were sent, by their instances; reminders by the item before; those that wait, or ended unsent, by address.
_ITEMS: Final[LiteralString] = """select i.item_id from questionnaire_instance i
    where i.organization_id = $1 and i.responder_id = $2 and i.item_id is not null
  union
  select m.item_id from questionnaire_instance i
    join queue_item m on m.organization_id = i.organization_id and m.previous_item_id = i.item_id
    where i.organization_id = $1 and i.responder_id = $2 and m.source = 'reminder'
  union
  select m.item_id from responder_address a
    join queue_item m on m.organization_id = a.organization_id and m.address_key = a.address_key and m.status = 1
    where a.organization_id = $1 and a.responder_id = $2
  union
  select m.item_id from responder_address a
    join queue_item m on m.organization_id = a.organization_id and m.address_key = a.address_key and m.status >= 5
    where a.organization_id = $1 and a.responder_id = $2"""
_OF_ITEMS: Final[LiteralString] = f"""select 'item:' || m.item_id as entry_id,
      case when m.status = 4 then 'sent' when m.status < 4 then 'waiting' else 'not_sent' end as kind,
      case when m.status = 4 then m.dispatched_time when m.status < 4 then m.due_time else m.updated_time end as time,
      q.display_name as title, m.questionnaire_id, m.item_id, m.questionnaire_instance_id as instance_id,
      null::text as alert_instance_id, p.channel_id, m.source,
      coalesce(m.external_reference, case when $7::boolean then coalesce(
        m.metadata -> 'questionnaire' ->> 'transaction_id', m.metadata -> 'questionnaire' ->> 'booking_no',
        m.metadata -> 'questionnaire' ->> 'case_id') end) as order_key,
      case when m.status <> 4 then m.reason end as reason, case when m.status <> 4 then m.result end as result, m.test
    from ({_ITEMS}) f
      join queue_item m on m.organization_id = $1 and m.item_id = f.item_id and m.deleted_time is null
      join questionnaire q on q.organization_id = $1 and q.questionnaire_id = m.questionnaire_id
      join pipeline p on p.organization_id = $1 and p.pipeline_id = m.pipeline_id
    where (not $4::boolean or m.test) and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3))
      and {has_own("m.metadata -> 'questionnaire'", "$8")}"""
_OF_INSTANCES: Final[LiteralString] = f"""select e.kind || ':' || i.instance_id as entry_id, e.kind, e.time,
      q.display_name as title, i.questionnaire_id, i.item_id, i.instance_id, null::text as alert_instance_id,
      i.channel_id, null::text as source,
      case when $7::boolean then coalesce(i.metadata ->> 'transaction_id', i.metadata ->> 'booking_no',
        i.metadata ->> 'case_id') end as order_key,
      null::text as reason, null::text as result, i.test
    from questionnaire_instance i
      join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
      cross join lateral (values ('issued', case when i.item_id is null then i.created_time end),
        ('viewed', i.viewed_time), ('answered', i.submitted_time)) e (kind, time)
    where i.organization_id = $1 and i.responder_id = $2 and i.deleted_time is null and e.time is not null
      and (not $4::boolean or i.test) and (cardinality($3::text[]) = 0 or q.owner_application_id = any($3))
      and {has_own("i.metadata", "$8")}"""
_OF_CASES: Final[LiteralString] = f"""select e.kind || ':' || c.alert_instance_id as entry_id, e.kind, e.time,
      a.title, c.questionnaire_id, null::text as item_id, c.instance_id, c.alert_instance_id,
      null::smallint as channel_id, null::text as source, null::text as order_key, null::text as reason,
      null::text as result, false as test
    from alert_instance c join alert a on a.organization_id = c.organization_id and a.alert_id = c.alert_id
      cross join lateral (values ('case_opened', c.created_time), ('case_closed', c.resolved_time)) e (kind, time)
    where c.organization_id = $1 and c.responder_id = $2 and e.time is not null and $6::boolean
      and not $4::boolean and (cardinality($3::text[]) = 0 or a.application_id = any($3))
      and {within("c.instance_id", "$8")}"""
_OF_SUPPRESSIONS: Final[LiteralString] = """select 'suppression:' || s.suppression_id as entry_id,
      'suppressed' as kind, s.created_time as time, null::text as title, null::text as questionnaire_id,
      null::text as item_id, null::text as instance_id, null::text as alert_instance_id, s.channel_id,
      null::text as source, null::text as order_key, s.reason, null::text as result, false as test
    from responder_address d join suppression s on s.organization_id = d.organization_id
      and s.channel_id = d.channel_id and s.address_key = d.address_key
    where d.organization_id = $1 and d.responder_id = $2 and $5::boolean"""
_ENTRIES: Final[LiteralString] = f"""{_OF_ITEMS} union all {_OF_INSTANCES}
  union all {_OF_CASES} union all {_OF_SUPPRESSIONS}"""


async def _list_answered(
    db: Database, *, organization_id: str, instance_ids: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Of responses by instance: the question with the score and the score, and the first words."""
    rows = await db.fetch(
        """select instance_id, score_question_id, score, band, comment from response
           where organization_id = $1 and instance_id = any($2::text[])""",
        *(organization_id, list(instance_ids)),
    )
    return {row["instance_id"]: {name: row[name] for name in ANSWERED} for row in rows}


async def _list_items(
    db: Database, *, organization_id: str, responder_id: str, after: str, limit: int
) -> list[tuple[QueueItemRecord, datetime | None]]:
    """The items of the person with ids behind `after`, in their order, and when each was deleted."""
    rows = await db.fetch(
        f"""select {ITEM_COLUMNS}, deleted_time from queue_item where organization_id = $1
             and item_id in (select item_id from ({_ITEMS}) f where item_id > $3 order by item_id limit $4)
           order by item_id""",
        *(organization_id, responder_id, after, limit),
    )
    return [(QueueItemRecord.of(row), row["deleted_time"]) for row in rows]


async def _list_instances(
    db: Database, *, organization_id: str, responder_id: str, after: str, limit: int
) -> list[Instance]:
    """The instances of the person with ids behind `after`, in their order, deleted ones too."""
    return await db.records(Instance.of).fetch(
        f"""select {INSTANCE_COLUMNS} from questionnaire_instance where organization_id = $1 and responder_id = $2
             and instance_id > $3
           order by instance_id limit $4""",
        *(organization_id, responder_id, after, limit),
    )


async def _list_messages(
    db: Database, *, organization_id: str, responder_id: str, after: str, limit: int
) -> list[Message]:
    return await db.records(Message).fetch(
        f"""select {MESSAGE_COLUMNS_M} from alert_message m
           join alert_instance c on c.organization_id = m.organization_id
             and c.alert_instance_id = m.alert_instance_id
           where m.organization_id = $1 and c.responder_id = $2 and m.message_id > $3
           order by m.message_id limit $4""",
        *(organization_id, responder_id, after, limit),
    )


async def list_suppressions_of(db: Database, *, organization_id: str, responder_id: str) -> list[Suppression]:
    """Those of the person's addresses, also when they have ended."""
    return await db.records(Suppression).fetch(
        f"""select {SUPPRESSION_COLUMNS} from suppression where organization_id = $1 and (channel_id, address_key) in (
             select channel_id, address_key from responder_address where organization_id = $1 and responder_id = $2)
           order by suppression_id""",
        *(organization_id, responder_id),
    )


TITLES: Final[Mapping[str, str]] = {
    "responder": "The person", "values": "Values", "queue_items": "Messages",
    "instances": "Questionnaires that were sent or begun", "responses": "Answers", "tags": "Tags",
    "alert_instances": "Cases", "alert_comments": "Comments on cases", "alert_messages": "Mails of cases",
    "suppressions": "Addresses that are not written to",
}  # fmt: skip
HEAD: Final = (
    '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width">\n<title>All that is held on a person</title>\n'
    "<style>body{font:16px/1.5 sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}dl{display:grid;"
    "grid-template-columns:minmax(8rem,1fr) 3fr;gap:.2rem 1rem;border-top:1px solid;padding-top:.5rem}"
    "dd{margin:0;overflow-wrap:anywhere}dl dl{border:0;padding:0;margin:0}</style>\n"
    "<h1>All that is held on a person</h1>\n"
)
NOTHING: Final = "<p>Nothing.</p>\n"


def title(name: str) -> str:
    return f"<h2>{escape(TITLES[name])}</h2>\n"


def part(resource: Mapping[str, Any]) -> str:
    """A resource, as JSON has it, by its members; those without a value are left out."""
    rows = [
        f"<dt>{escape(name.replace('_', ' '))}</dt><dd>{_value(value)}</dd>\n"
        for name, value in resource.items()
        if value not in (None, "", [], {})
    ]
    return f"<dl>\n{''.join(rows)}</dl>\n"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return part(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return "<br>".join(_value(each) for each in cast("Sequence[object]", value))
    return escape(str(value))


Row = TypeVar("Row")
ANSWERED: Final = ("score_question_id", "score", "band", "comment")
READ_AT_ONCE: Final = 100
SEEN_IN: Final = timedelta(hours=1)  # a response, case or message shows a person: work on a case opens it often


async def note(
    db: Database,
    *,
    caller: Caller,
    action: Literal["read", "searched", "downloaded"],
    now: datetime,
    responder_id: str | None = None,
    once_in: timedelta | None = None,
) -> None:
    """Record in the audit log that somebody looks at a person, or searches."""
    thing: dict[str, Any] = {"thing_kind": "responder", "thing_id": responder_id}
    await audit.record(db, caller=caller, action=action, **thing, now=now, once_in=once_in)


async def list_entries(db: Database, *, caller: Caller, responder_id: str, is_whole: bool, page: Page) -> Rows[Entry]:
    """A page of the timeline of a person whom the caller may see. `is_whole`: all that is held of the person.

    Suppressions where the caller sees addresses, cases and values where it sees these.
    """
    rows = await db.fetch_list(
        f"select * from ({_ENTRIES}) e where true",
        *(caller.organization_id, responder_id, list(caller.application_ids), caller.test, is_whole),
        *("Alert Instance.Read" in caller.scopes, "Questionnaire Value.Read" in caller.scopes, caller.only),
        page=page,
    )
    entries = rows.map(lambda row: Entry(**row))
    answered = [one.instance_id for one in entries.items if one.kind == "answered" and one.instance_id]
    if not answered:
        return entries
    given = await _list_answered(db, organization_id=caller.organization_id, instance_ids=answered)
    return entries.map(
        lambda one: replace(one, **given.get(one.instance_id or "", {})) if one.kind == "answered" else one
    )


async def _pages_of(
    read: Callable[..., Awaitable[Sequence[Row]]], id_of: Callable[[Row], str]
) -> AsyncGenerator[Sequence[Row], None]:
    """All rows that `read` gives behind an id."""
    after = ""
    while True:
        found = await read(after=after, limit=READ_AT_ONCE)
        if found:
            yield found
        if len(found) < READ_AT_ONCE:
            return
        after = id_of(found[-1])


async def rows_of(
    read: Callable[..., Awaitable[Rows[Row]]], listing: Listing, *, among: dict[str, Any] | None = None, **given: Any
) -> AsyncGenerator[Row, None]:
    """All rows of a list that `read` gives by page; `among`: equal values by member."""
    criteria = tuple(Criterion("EQUAL", listing.columns[name], value) for name, value in (among or {}).items())
    page = replace(Page.first(listing, limit=READ_AT_ONCE), criteria=criteria)
    while True:
        rows = await read(**given, page=page)
        for row in rows.items:
            yield row
        if rows.next_key is None:
            return
        page = replace(page, after=rows.next_key)


async def count_entries(db: Database, *, caller: Caller, responder_id: str) -> dict[str, int]:
    """The number of entries of each kind, for the whole organization. Raises NotFound, Forbidden."""
    await responders.get(db, caller=caller, responder_id=responder_id)
    caller.require_whole()
    return await db.fetch_pairs(
        f"select e.kind, count(*) as count from ({_ENTRIES}) e group by e.kind",
        *(caller.organization_id, responder_id, [], False, True, True, False, None),
    )


JSON: Final = "application/json"
HTML: Final = "text/html"
TIMELINE_SCOPES: Final = ("Responder.Read", "Questionnaire Instance.Read", "Queue.Read")
SUBJECT_SCOPES: Final = ("Responder.Read", "Responder Value.Read", "Questionnaire Instance.Read")
routes = Routes(tag="Responders", scope="Responder")


class HeldItem(QueueItem):
    """A queue item as long as it is held, also after it was deleted."""

    deleted_time: fields.DateTime | None


class SubjectQuery(fields.Request):
    """The form of the copy."""

    format: Literal["json", "html"] = "json"


TimelineEntry: Final = shown_as("TimelineEntry", Entry)
TIMELINE: Final = fields.listing_of(TimelineEntry, order=(("time", "desc"),))
CASES: Final = fields.listing_of(store.ALERT_INSTANCE)
COMMENTS: Final = fields.listing_of(store.COMMENT)


@routes.list(
    "/q/responder/{responder_id}/timeline",
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
    found = await responders.get(db, caller=call.caller, responder_id=responder_id)
    rows = await list_entries(
        db, caller=call.caller, responder_id=responder_id, is_whole=found.is_whole, page=call.page
    )
    await note(db, caller=call.caller, action="read", responder_id=responder_id, now=call.now)
    return Answer(rows.map(lambda entry: TimelineEntry.of(entry, call.zone)))


@routes.get(
    "/q/responder/{responder_id}/subject",
    more_scopes=SUBJECT_SCOPES[1:],
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
    is_readable = call.query.format == "html"
    return Answer(download=await subject(db, **call.acting, **call.ids, zone=call.zone, is_readable=is_readable))


async def subject(
    db: Database,
    *,
    caller: Caller,
    responder_id: str,
    site: Site,
    zone: tzinfo,
    now: datetime,
    is_readable: bool,
) -> Download:
    """The document as it is read. Raises NotFound, Forbidden for a caller that sees a part of the organization."""
    found = await responders.get(db, caller=caller, responder_id=responder_id)
    caller.require_whole()
    await note(db, caller=caller, action="downloaded", responder_id=responder_id, now=now)
    copy = _Copy(db=db, caller=caller, responder=found, site=site, zone=zone, now=now)
    return Download(
        media_type=HTML if is_readable else JSON,
        file_name=f"person-{responder_id}.{'html' if is_readable else 'json'}",
        length=None,
        chunks=copy.pages() if is_readable else copy.chunks(),
    )


class _Copy(msgspec.Struct, frozen=True, kw_only=True):
    """A copy of all that is held on a person, each list a generator that reads page by page."""

    db: Database
    caller: Caller
    responder: ShownResponder
    site: Site
    zone: tzinfo
    now: datetime
    case_ids: list[str] = msgspec.field(default_factory=list[str])  # those that were copied, whose comments follow

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
        generated = part({"generated_time": times.format_time(self.now, zone=self.zone)})
        person = title("responder") + part(msgspec.to_builtins(await self._shown()))
        yield (HEAD + generated + person).encode()
        for name, resources in self._lists().items():
            yield title(name).encode()
            is_empty = True
            async for resource in resources:
                is_empty = False
                yield part(msgspec.to_builtins(resource)).encode()
            if is_empty:
                yield NOTHING.encode()

    async def _shown(self) -> responders.Responder:
        views = await responders.views_of(self.db, caller=self.caller, responders=[self.responder], now=self.now)
        return responders.responder_of(views[self.responder.responder_id], self.zone)

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
        declared = await responders.declared_names(
            self.db, caller=self.caller, responder_id=self.responder.responder_id
        )
        read = partial(values.list_responder_value_records, self.db, **self._person, is_shown=True)
        async for value in rows_of(read, values.RESPONDER_VALUES):
            yield values.shown(values.ResponderValue, value, declared.responder, self.zone)

    async def _items(self) -> AsyncGenerator[msgspec.Struct, None]:
        read = partial(_list_items, self.db, **self._person)
        async for found in _pages_of(read, lambda one: one[0].item_id):
            for item, deleted_time in found:
                deleted = deleted_time and times.format_time(deleted_time, zone=self.zone)
                yield HeldItem.of(queue.visible(item, self.caller), self.zone, deleted_time=deleted)

    def _pages_of_instances(self) -> AsyncGenerator[Sequence[Instance], None]:
        return _pages_of(partial(_list_instances, self.db, **self._person), lambda one: one.instance_id)

    async def _instances(self) -> AsyncGenerator[msgspec.Struct, None]:
        async for found in self._pages_of_instances():
            for instance in found:
                yield held_instance_of(instance, self.site.pages(self.responder.organization_id), self.zone)

    async def _responses(self) -> AsyncGenerator[msgspec.Struct, None]:
        async for found in self._pages_of_instances():
            for content in await instances_api.contents_of(
                self.db, instances=found, caller=self.caller, zone=self.zone
            ):
                yield content

    async def _tags(self) -> AsyncGenerator[msgspec.Struct, None]:
        async for found in self._pages_of_instances():
            for tag in await tags.list_tags_of_instances(
                self.db,
                organization_id=self.responder.organization_id,
                instance_ids=[each.instance_id for each in found],
            ):
                yield tags.Tag.of(tag, self.zone)

    async def _cases(self) -> AsyncGenerator[msgspec.Struct, None]:
        read = partial(store.list_cases, self.db, **self.caller.reach)
        async for case in rows_of(read, CASES, among={"responder_id": self.responder.responder_id}):
            self.case_ids.append(case.alert_instance_id)
            yield store.ALERT_INSTANCE.of(case, self.zone)

    async def _comments(self) -> AsyncGenerator[msgspec.Struct, None]:
        read = partial(store.list_comments, self.db, organization_id=self.responder.organization_id)
        async for comment in rows_of(read, COMMENTS, alert_instance_ids=self.case_ids):
            yield store.COMMENT.of(comment, self.zone)

    async def _messages(self) -> AsyncGenerator[msgspec.Struct, None]:
        read = partial(_list_messages, self.db, **self._person)
        async for found in _pages_of(read, lambda one: one.message_id):
            for message in found:
                yield case_messages.RESOURCE.of(message, self.zone)

    async def _suppressions(self) -> AsyncGenerator[msgspec.Struct, None]:
        for one in await list_suppressions_of(self.db, **self._person):
            yield resource_of(SUPPRESSION).of(one, self.zone)
