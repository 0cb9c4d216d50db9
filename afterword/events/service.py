"""The event log: each transaction records its changes in it; a reader follows with a cursor and misses nothing."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, tzinfo
from operator import attrgetter, itemgetter
from typing import Any, Final, LiteralString, Protocol

import msgspec
import structlog

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.wire.site import Site
from afterword.core.wire.times import format_time
from afterword.kit.db import Database, savepoint
from afterword.kit.db.columns import arrays, columns_of, qualified


class Actor(msgspec.Struct, frozen=True):
    """The author of a change. `kind`: `user`, `token`, `responder`, `worker` or `gateway`."""

    kind: str = "worker"
    id: str | None = None

    @classmethod
    def of(cls, caller: Caller | None) -> "Actor":
        """The worker where nobody called."""
        return cls(caller.actor_kind, caller.actor_id or None) if caller else cls()


WORKER: Final = Actor()


class NewEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event to append. `data` is the row after the change, as JSON; handlers render it as the resource."""

    organization_id: str
    event_id: str
    type: str
    subject_id: str | None
    subject_version: int | None = None
    questionnaire_id: str | None = None
    actor_kind: str = "worker"
    actor_id: str | None = None
    data: Mapping[str, Any]
    is_terminal: bool = False
    test: bool = False

    @classmethod
    def of(
        cls,
        row: Any,
        type: str,  # noqa: A002  the name of the member
        subject_id: str,
        data: Mapping[str, Any],
        *,
        now: datetime,
        actor: Actor = WORKER,
        **others: Any,
    ) -> "NewEvent":
        """About a row, which says its organization and, where it has them, version, questionnaire and `test`."""
        of_row: dict[str, Any] = {
            "organization_id": row.organization_id,
            "subject_version": getattr(row, "version", None),
            "questionnaire_id": getattr(row, "questionnaire_id", None),
            "test": getattr(row, "test", False),
        }
        event = {"event_id": ids.ordered(now), "type": type, "subject_id": subject_id, "data": data}
        return cls(**event, actor_kind=actor.kind, actor_id=actor.id, **{**of_row, **others})


class Event(msgspec.Struct, frozen=True):
    """A row of the log. `seq` grows with insertion, not with commit: readers order by (xid, seq)."""

    organization_id: str
    event_id: str
    seq: int
    type: str
    questionnaire_id: str | None
    subject_id: str | None
    subject_version: int | None
    is_terminal: bool
    actor_kind: str
    actor_id: str | None
    test: bool
    data: dict[str, Any]
    created_time: datetime


# Whether the log counts this cluster's transactions: it does not once it is restored into another one, until a worker
# has put it in order.
IS_NATIVE: Final[LiteralString] = """exists (
  select from event_cluster k join pg_control_system() s on s.system_identifier = k.system_identifier)"""
_HEAD: Final = columns_of(Event, without=("data",))
COLUMNS: Final[LiteralString] = f"{_HEAD}, data, item, instance, responder"


def data_of(alias: LiteralString) -> LiteralString:
    """The data of a row of the log, which has those of many items, instances and people as columns of own types."""
    return f"""coalesce({alias}.data,
      to_jsonb({alias}.item) || jsonb_build_object(
        'item_id', {alias}.subject_id, 'questionnaire_id', {alias}.questionnaire_id, 'test', {alias}.test),
      to_jsonb({alias}.instance) || jsonb_build_object(
        'instance_id', {alias}.subject_id, 'questionnaire_id', {alias}.questionnaire_id),
      to_jsonb({alias}.responder) || jsonb_build_object(
        'organization_id', {alias}.organization_id, 'responder_id', {alias}.subject_id,
        'version', {alias}.subject_version, 'created_time', {_text_of(f"({alias}.responder).created_time")},
        'updated_time', {_text_of(f"({alias}.responder).updated_time")}))"""


def _text_of(time: LiteralString) -> LiteralString:
    """A time as the encoder of JSON writes it."""
    return f"""replace(to_char({time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000', '')"""


def shown_of(alias: LiteralString) -> LiteralString:
    """The columns of `Event`."""
    return f"{qualified(_HEAD, alias)}, {data_of(alias)} as data"


_APPENDED: Final = columns_of(NewEvent, without=("data",))
_appended: Final = attrgetter(*_APPENDED.split(", "), "data")


async def _insert_events(db: Database, *, events: Sequence[NewEvent]) -> None:  # any tenant: a batch serves many
    await db.execute(
        f"""insert into event ({_APPENDED}, data, responder)
           select {_APPENDED}, case when not is_row then data end,
             case when is_row then jsonb_populate_record(null::logged_responder, data) end
           from (
             select *, type = 'responder.created' and data ? 'created_time' as is_row
             from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[],
                         $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::jsonb[])
               with ordinality as e ({_APPENDED}, data, position)) e
           order by position""",
        *arrays((_appended(event) for event in events), 11),
    )


async def claim_reader(db: Database, *, reader: str) -> bool:
    """Lock the reader's cursor until we commit; a new one begins at the start of the log.

    Returns False if another process has it, or while the log has the order of another cluster.
    """
    await db.execute(  # a conflict would wait for the process that moves the cursor
        """insert into event_cursor (reader) select $1 where not exists (select from event_cursor where reader = $1)
           on conflict (reader) do nothing""",
        reader,
    )
    return await db.touches(
        f"select from event_cursor where reader = $1 and {IS_NATIVE} for update skip locked", reader
    )


async def list_unread_events(  # any tenant: a reader serves all of them
    db: Database, *, reader: str, types: Sequence[str], limit: int
) -> tuple[list[Event], int]:
    """Return the events behind the reader's cursor in the order of (xid, seq), and the count of rows passed.

    Rows that a running transaction may still precede are left out. Of other types only the last row comes, with empty
    data, so that the cursor can move there.
    """
    rows = await db.fetch(
        f"""select {qualified(_HEAD, "e")}, e.passed,
                  case when e.type = any($2::text[]) then {data_of("e")} else '{{}}'::jsonb end as data
           from (
             select unread.*, row_number() over (order by unread.xid, unread.seq) as position,
               count(*) over () as passed
             from event_cursor c, lateral (
               select {COLUMNS}, xid from event
               where (event.xid, event.seq) > (c.xid, c.seq)
                 and event.xid < (select readable_before(pg_current_snapshot()))
               order by event.xid, event.seq limit $3
             ) unread
             where c.reader = $1
           ) e
           where e.type = any($2::text[]) or e.position = e.passed
           order by e.position""",
        *(reader, list(types), limit),
    )
    return [Event(*_values(row)) for row in rows], rows[0]["passed"] if rows else 0


async def list_unread_organizations(  # any tenant: a reader serves all of them
    db: Database, *, reader: str, limit: int
) -> list[str]:
    """The organization of each of the events that this transaction reads next; none where another process has it."""
    if not await claim_reader(db, reader=reader):
        return []
    return await db.fetch_column(
        """select unread.organization_id from event_cursor c, lateral (
             select organization_id from event
             where (event.xid, event.seq) > (c.xid, c.seq) and event.xid < pg_snapshot_xmin(pg_current_snapshot())
             order by event.xid, event.seq limit $2) unread
           where c.reader = $1""",
        *(reader, limit),
    )


async def settle_reader(db: Database, *, reader: str, last: Event) -> None:
    await db.execute(
        """update event_cursor c set xid = e.xid, seq = e.seq, updated_time = now()
           from event e where c.reader = $1 and e.organization_id = $2 and e.event_id = $3""",
        *(reader, last.organization_id, last.event_id),
    )


_values: Final = itemgetter(*Event.__struct_fields__)

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Render(Protocol):
    """The function that renders `data` of events as the GET of their subject shows it; `zones` by organization_id."""

    async def __call__(
        self, db: Database, /, *, events: Sequence[Event], site: Site, zones: Mapping[str, tzinfo]
    ) -> list[dict[str, Any]]:
        """One object per event, in order."""


def body_of(event: Event, data: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    """The body that a delivery posts: the members of the resource, and those of its event."""
    about = {
        "event_id": event.event_id,
        "type": event.type,
        "created_time": format_time(event.created_time, zone=zone),
        "organization_id": event.organization_id,
    }
    return {**data, "event": about}


async def record(db: Database, *, events: Sequence[NewEvent]) -> None:
    """Append the events of a change in order; the database refuses a second terminal event of one item."""
    if events:
        await _insert_events(db, events=events)


async def read_next(db: Database, *, reader: str, types: Collection[str], limit: int) -> tuple[list[Event], int]:
    """Return the next events of these types behind the reader's cursor, oldest first, and the count of rows passed.

    The cursor moves in this transaction, so each event is handled exactly once. Returns ([], 0) while another process
    has the cursor. A count of `limit` means that there may be more.
    """
    if not await claim_reader(db, reader=reader):
        return [], 0
    found, passed = await list_unread_events(db, reader=reader, types=list(types), limit=limit)
    if found:
        await settle_reader(db, reader=reader, last=found[-1])
    return [event for event in found if event.type in types], passed


async def handle_next(
    db: Database,
    *,
    reader: str,
    types: Collection[str],
    limit: int,
    handle: Callable[[Sequence[Event]], Awaitable[None]],
) -> int:
    """Pass the next events to `handle`, all at once, as `read_next` reads them; return the count of rows passed.

    If it fails, it gets the events one by one; those that fail again are logged and skipped, because one bad event
    must not stop the reader of every organization. Raises Unavailable if the database is unavailable.
    """
    events, passed = await read_next(db, reader=reader, types=types, limit=limit)
    if events and await _failure(db, events, handle):
        for event in events:
            error = await _failure(db, [event], handle)
            if error is not None:
                logger.error("an event was skipped", reader=reader, event_id=event.event_id, exc_info=error)
    return passed


async def _failure(
    db: Database, events: Sequence[Event], handle: Callable[[Sequence[Event]], Awaitable[None]]
) -> Exception | None:
    try:
        async with savepoint(db):
            await handle(events)
    except errors.Unavailable:
        raise
    except Exception as error:  # noqa: BLE001  it is told by the caller
        return error
    return None
