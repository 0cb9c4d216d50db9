"""The event log for clients: reading, expired cursors, retention, and a restore from another cluster."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, LiteralString, cast

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import errors, ids
from afterword.core.messaging.notices import TYPES, read_of
from afterword.core.messaging.webhooks import TYPE_DEFAULT, check_type
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Column, Page, Rows
from afterword.core.wire.site import API_PREFIX
from afterword.errors import FieldError
from afterword.events.service import COLUMNS, IS_NATIVE, Event as EventRecord, Render, body_of, shown_of
from afterword.kit.db import Database, Row
from afterword.kit.web import fields, paging
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.kit.web.read_only import behind
from afterword.kit.web.vocabulary import example_of

PASSED_MAX: Final = 20_000  # events that one page of a filtered log reads: matches may be rare
ANSWERS_MAX: Final = 5_000  # of all completions on one page
SAMPLES_MAX: Final = 3
BEGINNING: Final = (0, 0)  # a position before all events
ADOPTION_SECONDS_MAX: Final = 3_600.0
ID_MARGIN: Final = timedelta(hours=1)  # between an id's time, from a worker's reading of the clock, and its row's


# Rows that this cluster wrote have the number of the transaction that wrote them, or an earlier one. The system column
# `xmin` has the lower 32 bits of the writing transaction's number.
_IS_FOREIGN: Final[LiteralString] = """xid::text::bigint > (
  select newest.xid - (newest.xid - xmin::text::bigint & 4294967295)
  from (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as xid) newest)"""


_ENTRIES: Final[LiteralString] = f"""select {shown_of("e")}, e.xid::text::bigint as xid,
  coalesce(q.owner_application_id, e.data ->> 'application_id') as application_id
  from event e
  left join questionnaire q on q.organization_id = e.organization_id and q.questionnaire_id = e.questionnaire_id"""


class Position(msgspec.Struct, frozen=True):
    """`position`: (xid, seq), None: not in the log. `is_native`: the numbers are those of this cluster.

    `since`: the moment up to which a standby has what was committed; None of a primary.
    """

    position: tuple[int, int] | None
    is_pruned: bool
    is_native: bool
    since: datetime | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An event with its position in the log; `application_id` is that of its questionnaire."""

    event: EventRecord
    xid: int
    application_id: str | None

    @property
    def position(self) -> tuple[int, int, str]:
        return self.xid, self.event.seq, self.event.event_id


async def _list_event_entries(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    test_only: bool,
    types: Sequence[str],
    page: Page,
) -> Rows[Entry]:
    """A page of the organization's log. `types`: names or `prefix.*`, none for all.

    In the default order a page reads at most 20,000 events and 5,000 answers: it may have fewer rows, or none, and
    more to come.
    """
    is_narrowed = bool(types or page.criteria or application_ids or test_only)
    is_in_order = tuple(page.order) == page.listing.default_order
    last = await _get_last(db, organization_id=organization_id, page=page) if is_narrowed and is_in_order else None
    rows = await db.fetch_list(
        f"""{_ENTRIES}
           where e.organization_id = $1 and e.xid < (select readable_before(pg_current_snapshot()))
             and (cardinality($2::text[]) = 0
               or coalesce(q.owner_application_id, e.data ->> 'application_id') = any($2))
             and (e.test or not $3::boolean)
             and (cardinality($4::text[]) = 0 or e.type = any($4) or '*' = any($4)
               or split_part(e.type, '.', 1) || '.*' = any($4))
             and ($5::bigint is null or (e.xid::text::bigint, e.seq) <= ($5, $6::bigint))""",
        organization_id,
        list(application_ids),
        test_only,
        list(types),
        last[0] if last else None,
        last[1] if last else None,
        page=page,
    )
    found = rows.map(_entry)
    if is_in_order:
        found = _within_answers(found)
    return found if last is None or found.has_more else replace(found, next_key=last, has_more=True)


def _within_answers(rows: Rows[Entry]) -> Rows[Entry]:
    """Cut the page before its completions exceed ANSWERS_MAX answers; one event at least stays."""
    count = 0
    for position, entry in enumerate(rows.items):
        count += len(entry.event.data.get("answers") or ())
        if position and count > ANSWERS_MAX:
            return Rows(rows.items[:position], None, rows.items[position - 1].position, has_more=True)
    return rows


async def _get_last(db: Database, *, organization_id: str, page: Page) -> tuple[int, int, str] | None:
    """The key of the last event that the page may read; None: no limit."""
    xid, seq, *_ = page.after or (None, None)
    row = await db.fetch_row(
        """select e.xid::text::bigint as xid, e.seq, e.event_id from event e
           where e.organization_id = $1 and e.xid < (select readable_before(pg_current_snapshot()))
             and (e.xid::text::bigint, e.seq) > (coalesce($2::bigint, 0), coalesce($3::bigint, 0))
           order by e.xid::text::bigint, e.seq offset $4 limit 1""",
        *(organization_id, xid, seq, PASSED_MAX - 1),
    )
    return (row["xid"], row["seq"], row["event_id"]) if row else None


async def _list_last_events(
    db: Database, *, organization_id: str, application_ids: Sequence[str], test_only: bool, type_name: str
) -> list[EventRecord]:
    """The newest events of a type among the newest of the log, the last one first."""
    return await db.records(EventRecord).fetch(
        f"""select {shown_of("e")} from (
             select {COLUMNS}, xid from event
             where organization_id = $1 and xid < (select readable_before(pg_current_snapshot()))
             order by xid::text::bigint desc, seq desc limit $5) e
           left join questionnaire q on q.organization_id = e.organization_id
             and q.questionnaire_id = e.questionnaire_id
           where e.type = $4 and (e.test or not $3::boolean) and (cardinality($2::text[]) = 0
             or coalesce(q.owner_application_id, e.data ->> 'application_id') = any($2))
           order by e.xid::text::bigint desc, e.seq desc limit $6""",
        *(organization_id, list(application_ids), test_only, type_name, PASSED_MAX, SAMPLES_MAX),
    )


async def _get_position(db: Database, *, organization_id: str, event_id: str | None) -> Position:
    """The position of an event; also of the last removed one."""
    row = await db.fetch_one(
        f"""select {IS_NATIVE} as is_native, e.xid::text::bigint as xid, e.seq,
             coalesce((h.xid, h.seq) > (e.xid, e.seq), false) as is_pruned,
             case when pg_is_in_recovery() then coalesce(pg_last_xact_replay_timestamp(), to_timestamp(0)) end as since
           from (select) one
           left join event_horizon h on h.organization_id = $1
           left join lateral (
             select xid, seq from event where organization_id = $1 and event_id = $2
             union all
             select h.xid, h.seq where h.event_id = $2 limit 1) e on true""",
        *(organization_id, event_id),
    )
    position = None if row["seq"] is None else (row["xid"], row["seq"])
    return Position(position, is_pruned=row["is_pruned"], is_native=row["is_native"], since=row["since"])


async def prune_events(  # any tenant: retention
    db: Database, *, after: tuple[int, int], now: datetime, limit: int
) -> tuple[int, tuple[int, int]]:
    """Look at the first events behind `after`, and remove those older than 90 days that no delivery refers to.

    However long the log is, it reads `limit` of its events, all of which every reader has read. Returns how many of
    them are older, and the (xid, seq) of the last one. The last one removed is noted.
    """
    row = await db.fetch_row(
        f"""with first as materialized (
             select e.organization_id, e.event_id, e.xid, e.seq, e.created_time from event e
             where (e.xid, e.seq) > ($3::text::xid8, $4) and {_READ}
             order by e.xid, e.seq limit $2),
           old as materialized (
             select e.organization_id, e.event_id from first e where e.created_time < $1 and {_FREE}),
           deleted as (
             delete from event e using old
             where e.organization_id = old.organization_id and e.event_id = old.event_id
             returning e.organization_id, e.xid, e.seq, e.event_id),
           furthest as (
             select distinct on (organization_id) organization_id, xid, seq, event_id from deleted
             order by organization_id, xid desc, seq desc),
           horizon as (
             insert into event_horizon as h (organization_id, xid, seq, event_id)
             select organization_id, xid, seq, event_id from furthest
             on conflict (organization_id) do update
               set xid = excluded.xid, seq = excluded.seq, event_id = excluded.event_id, updated_time = now()
             where (h.xid, h.seq) < (excluded.xid, excluded.seq))
           select count(*) over () as passed, f.xid::text::bigint as xid, f.seq from first f
           where f.created_time < $1 order by f.xid desc, f.seq desc limit 1""",
        *(now - timedelta(days=KEPT_DAYS), limit, str(after[0]), after[1]),
    )
    return (row["passed"], (row["xid"], row["seq"])) if row else (0, after)


_READ: Final[LiteralString] = """
  (e.xid, e.seq) <= (select c.xid, c.seq from event_cursor c order by c.xid, c.seq limit 1)"""
_FREE: Final[LiteralString] = """
  not exists (select from delivery d where d.organization_id = e.organization_id and d.event_id = e.event_id)"""
# Of organization $1, events `e` from before $2 that every reader has seen and no delivery needs. Ids are ordered by
# time, so those that are too young for $3 are not read.
_OLD_OF: Final[LiteralString] = f"""e.organization_id = $1 and e.created_time < $2 and e.event_id < $3
  and {_READ} and {_FREE}"""


async def count_events_of(db: Database, *, organization_id: str, before: datetime, limit: int) -> int:
    return await db.fetch_value(
        f"select count(*) from (select from event e where {_OLD_OF} limit $4) old",
        *(organization_id, before, ids.ordered_first(before + ID_MARGIN), limit),
    )


async def prune_of(db: Database, *, organization_id: str, before: datetime, limit: int) -> int:
    """As `prune_events`, of one organization, which keeps its own for a shorter time."""
    return await db.fetch_value(
        f"""with old as materialized (
             select e.event_id, e.xid, e.seq from event e where {_OLD_OF} order by e.event_id limit $4),
           deleted as (
             delete from event e using old where e.organization_id = $1 and e.event_id = old.event_id),
           horizon as (
             insert into event_horizon as h (organization_id, xid, seq, event_id)
             select $1, xid, seq, event_id from old order by xid desc, seq desc limit 1
             on conflict (organization_id) do update
               set xid = excluded.xid, seq = excluded.seq, event_id = excluded.event_id, updated_time = now()
             where (h.xid, h.seq) < (excluded.xid, excluded.seq))
           select count(*) from old""",
        *(organization_id, before, ids.ordered_first(before + ID_MARGIN), limit),
    )


async def _get_is_foreign(db: Database) -> bool:  # any tenant: the log of a whole installation
    """True if the log came from another cluster, or has transaction numbers that this one has not reached."""
    return await db.fetch_value(
        f"""select not {IS_NATIVE} or exists (select from event where xid >= pg_snapshot_xmax(pg_current_snapshot()))
             or exists (select from event_cursor where xid >= pg_snapshot_xmax(pg_current_snapshot()))"""
    )


async def _update_to_native(db: Database) -> int:  # any tenant: the log of a whole installation
    """Give restored events and cursors numbers below any of this cluster's; return the count of events.

    Events between two cursors get one number, from 0 on, so each reader keeps what it has read. Events written here
    since have a larger `seq` than the last restored one; they keep their numbers and are unread by all.
    """
    await db.execute(
        """select set_config(name, '0', true) from pg_settings
           where name in ('statement_timeout', 'transaction_timeout')"""
    )
    await db.execute("lock table event, event_cursor, event_horizon in share row exclusive mode")
    await db.execute(f"update event_horizon set xid = '0', seq = 0 where {_IS_FOREIGN}")
    # Another worker may have done it while we waited for the lock: then there is no boundary, and nothing is written.
    return await db.execute(
        f"""with boundary as materialized (
             select greatest((select max(seq) from event where {_IS_FOREIGN}),
               (select max(seq) from event_cursor where {_IS_FOREIGN})) as seq),
           position as materialized (
             select xid, seq, row_number() over (order by xid, seq) - 1 as number
             from (select distinct xid, seq from event_cursor) c),
           cursors as (
             update event_cursor c set xid = p.number::text::xid8, seq = 9223372036854775807
             from position p, boundary b where p.xid = c.xid and p.seq = c.seq and b.seq is not null)
           update event e
           set xid = (select count(*) from position p where (p.xid, p.seq) < (e.xid, e.seq))::text::xid8
           from boundary b where e.seq <= b.seq""",
        seconds=ADOPTION_SECONDS_MAX,
    )


async def _update_cluster(db: Database) -> None:  # any tenant: the log of a whole installation
    await db.execute(
        """with current as (select system_identifier from pg_control_system()),
           former as (
             delete from event_cluster where system_identifier <> (select system_identifier from current))
           insert into event_cluster select system_identifier from current on conflict do nothing"""
    )


def _entry(row: Row) -> Entry:
    event = EventRecord(**{name: row[name] for name in EventRecord.__struct_fields__})
    return Entry(event=event, xid=row["xid"], application_id=row["application_id"])


KEPT_DAYS: Final = 90
RESTORED: Final = "The event log was restored from another cluster; a worker renumbers it first."
RESTORED_SECONDS: Final = 10


async def get_entry(db: Database, *, caller: Caller, event_id: str) -> Entry:
    found = await db.records(_entry).fetch_row(
        f"""{_ENTRIES}
           where e.organization_id = $1 and e.event_id = $2
             and (cardinality($3::text[]) = 0
               or coalesce(q.owner_application_id, e.data ->> 'application_id') = any($3))
             and (e.test or not $4::boolean)""",
        *(caller.organization_id, event_id, list(caller.application_ids), caller.test),
    )
    return errors.found(found, "There is no such event.")


async def position_of(
    db: Database, *, organization_id: str, event_id: str | None, wrong: FieldError
) -> tuple[int, int] | None:
    """The position of an event in the log as (xid, seq); None for the log's beginning.

    Raises Invalid with `wrong` if the event is unknown, or events behind it were removed, which the reader missed.
    Raises Unavailable while the log has the order of another cluster, and of a standby that may not have the event yet.
    """
    found = await _get_position(db, organization_id=organization_id, event_id=event_id)
    if not found.is_native:
        raise errors.Unavailable(RESTORED, headers={"Retry-After": str(RESTORED_SECONDS)})
    if event_id is None:
        return None
    if found.position is None and found.since is not None:
        made = ids.moment_of(event_id)
        if made is not None and made > found.since - ID_MARGIN:  # an older one would be here
            raise behind()
    if found.position is None or found.is_pruned:
        raise errors.Invalid.of(wrong)
    return found.position


async def adopt(db: Database) -> int | None:
    """Renumber a log that was restored from another cluster; return its count of events, or None if it is native.

    Readers order by transaction numbers, and a dump has those of its own cluster: numbers that this one reaches later
    or never. Each reader keeps what it has read.
    """
    if not await _get_is_foreign(db):
        return None
    count = await _update_to_native(db)
    await _update_cluster(db)
    return count


LOG: Final = f"{API_PREFIX}/event"
EXPIRED: Final = (
    "The event of this cursor, or one behind it, is no longer kept: it is older than 90 days, or was lost when the "
    "database was restored to an earlier moment. Start again without the cursor."
)


class EventQuery(fields.Request):
    """Event types, or `prefix.*`; none: all."""

    type: Annotated[list[fields.Text100], Meta(max_length=50)] = msgspec.field(default_factory=list[str])


class EventActor(fields.Answer):
    """The author of a change: its kind and id."""

    kind: Literal["user", "token", "responder", "worker", "gateway"]
    id: str | None


class Event(fields.Resource):
    """A change. `data` is the changed resource after it; `cursor` its position in the log, for `after`."""

    event_id: fields.Id
    cursor: fields.Computed[str]
    type: str
    created_time: fields.DateTime
    organization_id: fields.Id
    application_id: fields.Id | None
    questionnaire_id: fields.Id | None
    subject_id: fields.Id | None
    subject_version: int | None
    actor: EventActor
    test: bool
    data: dict[str, Any]


class SampleQuery(fields.Request):
    """The type of an event; a webhook without types gets this one too."""

    event_type: fields.Text100 = TYPE_DEFAULT


class SampleEvent(fields.Answer):
    """The event of a delivery."""

    event_id: fields.Id
    type: str
    created_time: fields.DateTime
    organization_id: fields.Id


class WebhookSample(fields.Answer):
    """The body of a delivery: the members of the changed resource beside `event`."""

    event: SampleEvent


EVENTS: Final = fields.listing_of(
    Event,
    order=(("xid", "asc"), ("seq", "asc")),
    hidden={"xid": Column("xid", "integer"), "seq": Column("seq", "integer")},
)


def cursor_of(event_id: str, *, secret: bytes) -> str:
    return paging.seal_entry(event_id, path=LOG, listing=EVENTS, secret=secret)


def routes_of(render: Render, resources: Mapping[str, type[msgspec.Struct]]) -> Routes:
    """`resources`: what an event shows, by its type or its family, for examples."""
    routes = Routes(tag="Events")

    @routes.get(
        "/event",
        scope="Event.Read",
        answer=Event,
        shape="cursor",
        listing=EVENTS,
        query=EventQuery,
        summary="Get all events",
        description="Oldest first and without gaps: an event is shown once none can come before it any more. Read on "
        "with `after`: `next_cursor`, else the cursor of the last event seen. A page may have fewer events than "
        "`limit`, or none, and a `next_cursor`. `type[]` is a type, `prefix.*` or `*`. Kept 90 days. `data` "
        "needs the Read scope of what the event is about, and is empty without.",
    )
    async def list_events(call: Call[None], db: Database) -> Answer:
        page = call.page
        is_in_order = tuple(page.order) == EVENTS.default_order
        after_id = str(page.after[-1]) if page.after is not None and is_in_order else None
        wrong = FieldError("cursor_expired", EXPIRED, parameter="after")
        position = await position_of(db, organization_id=call.caller.organization_id, event_id=after_id, wrong=wrong)
        if position is not None:
            page = replace(page, after=(*position, after_id))
        rows = await _list_event_entries(db, **call.caller.reach, types=_types(call.query), page=page)
        shown = iter(await _shown(call, db, rows.items))
        return Answer(rows.map(lambda _: next(shown)))

    @routes.get("/event/{event_id}", scope="Event.Read", answer=Event, summary="Get Event")
    async def get_event(call: Call[None], db: Database) -> Answer:
        entry = await get_entry(db, caller=call.caller, **call.ids)
        return Answer((await _shown(call, db, [entry]))[0])

    async def _shown(call: Call[None], db: Database, entries: list[Entry]) -> list[Event]:
        zones = {call.caller.organization_id: call.zone}
        open_events = [entry.event for entry in entries if read_of(entry.event.type) in call.caller.scopes]
        rendered = await render(db, events=open_events, site=call.site, zones=zones)
        data = {event.event_id: shown for event, shown in zip(open_events, rendered, strict=True)}
        return [
            Event.of(
                entry.event,
                call.zone,
                cursor=cursor_of(entry.event.event_id, secret=call.site.secret),
                application_id=entry.application_id,
                actor=EventActor(kind=entry.event.actor_kind, id=entry.event.actor_id),  # pyrefly: ignore[bad-argument-type]  a check of the table
                data=data.get(entry.event.event_id, {}),
            )
            for entry in entries
        ]

    routes.all += _sample_routes(render, resources).all
    return routes


def _sample_routes(render: Render, resources: Mapping[str, type[msgspec.Struct]]) -> Routes:
    routes = Routes(tag="Webhooks")

    @routes.get(
        "/webhook/sample",
        scope="Webhook.Read",
        answer=WebhookSample,
        shape="array",
        query=SampleQuery,
        summary="Get sample deliveries",
        description=f"Up to {SAMPLES_MAX} bodies as a webhook gets them: of the newest events of this type, or else an "
        "example. Those of events need the Read scope of what the event is about.",
    )
    async def list_webhook_samples(call: Call[None], db: Database) -> Answer:
        type_name: str = call.query.event_type
        if type_name not in TYPES:
            message = check_type(type_name) or "Name one type, not a family."
            raise errors.Invalid.of(FieldError("unknown_value", message, parameter="event_type"))
        found: list[EventRecord] = []
        if read_of(type_name) in call.caller.scopes:
            found = await _list_last_events(db, **call.caller.reach, type_name=type_name)
        zones = {call.caller.organization_id: call.zone}
        rendered = await render(db, events=found, site=call.site, zones=zones)
        bodies = [body_of(one, data, call.zone) for one, data in zip(found, rendered, strict=True)]
        if not bodies:
            about = {**example_of(SampleEvent, is_request=False), "type": type_name}
            resource = resources.get(type_name) or resources[type_name.partition(".")[0]]
            bodies = [{**example_of(resource, is_request=False), "event": about}]
        return Answer(cast("Sequence[msgspec.Struct]", bodies))

    return routes


def _types(query: EventQuery) -> list[str]:
    for index, one in enumerate(query.type):
        if message := check_type(one):
            raise errors.Invalid.in_query(f"type[{index}]", "unknown_value", message)
    return query.type
