"""Statements about sources: the one that is called, its rules, and its events with what was decided about them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec

from afterword.core.sources.parts import Value, What
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields

KEPT_DAYS: Final = 30
PROBLEM_CHARACTERS_MAX: Final = 500
WAITING_MAX: Final = 100  # items that one event cancels
KNOWN_MAX: Final = 20  # earlier events of one order or ticket, of which a later one is completed


class SourceDecision(fields.Answer):
    """The decision of a rule: an item was made, the one that waited was cancelled, or why nothing was done."""

    source_rule_id: fields.Id
    state: Literal["asked", "cancelled", "not_asked"]
    reason: str | None
    detail: str | None
    item_id: fields.Id | None


class SourceEventRecord(msgspec.Struct, kw_only=True):
    """An event that a source told of: kept for 30 days. `time`: when it happened there."""

    source_event_id: fields.Id
    source_id: fields.Id
    event_id: str
    what: What
    name: str
    time: datetime
    subject: str
    values: dict[str, Value]
    is_test: bool
    object_id: Annotated[str, Hidden()]  # equal in all events of one order or ticket
    person: Annotated[dict[str, str], Hidden()]  # address, phone, names and language, as far as the source gave them
    state: Literal["asked", "waiting", "cancelled", "not_asked", "no_rule"]
    decisions: Annotated[list[Mapping[str, Any]], Hidden()]
    received_time: datetime


SourceEvent: Final = shown_as(
    "SourceEvent", SourceEventRecord, before={"received_time": {"decisions": list[SourceDecision]}}
)
EVENTS: Final = fields.listing_of(SourceEvent, order=(("received_time", "desc"),), id="source_event_id")

_SHOWN: Final[LiteralString] = """select e.source_event_id, e.source_id, e.event_id, e.what, e.name, e.time, e.subject,
             e.facts as values, e.is_test, e.object_id, e.person,
             case when e.decisions = '[]' then 'no_rule'
               when e.decisions @> '[{"state": "asked"}]' then coalesce((
                 select case when bool_or(i.status in (1, 2, 3)) then 'waiting'
                   when bool_and(i.status = 7) then 'cancelled' end
                 from jsonb_array_elements(e.decisions) d
                   join queue_item i on i.organization_id = e.organization_id and i.item_id = d ->> 'item_id'
                 where d ->> 'state' = 'asked'), 'asked')
               when e.decisions @> '[{"state": "cancelled"}]' then 'cancelled'
               else 'not_asked' end as state,
             e.decisions, e.received_time
           from source_event e where e.organization_id = $1"""
_STORED: Final[LiteralString] = columns_of(SourceEventRecord, without={"source_id", "values", "state"})


async def list_events(db: Database, *, organization_id: str, source_id: str, page: Page) -> Rows[SourceEventRecord]:
    return await db.records(SourceEventRecord).fetch_list(
        f"{_SHOWN} and e.source_id = $2", organization_id, source_id, page=page
    )


async def get_event(
    db: Database, *, organization_id: str, source_id: str, source_event_id: str
) -> SourceEventRecord | None:
    return await db.records(SourceEventRecord).fetch_row(
        f"{_SHOWN} and e.source_id = $2 and e.source_event_id = $3", organization_id, source_id, source_event_id
    )


async def claim_objects(db: Database, *, organization_id: str, source_id: str, object_ids: Sequence[str]) -> None:
    """Wait for other calls about the same orders and tickets; in one order, so that no two wait for each other."""
    await db.execute(
        """select pg_advisory_xact_lock(hashtextextended('source:' || $1 || $2 || one, 0))
           from unnest($3::text[]) one""",
        *(organization_id, source_id, list(object_ids)),
    )


async def list_known(
    db: Database, *, organization_id: str, source_id: str, object_ids: Sequence[str]
) -> list[SourceEventRecord]:
    """The last events of these orders and tickets, the oldest first."""
    return await db.records(SourceEventRecord).fetch(
        f"""select {columns_of(SourceEventRecord)} from unnest($3::text[]) wanted cross join lateral (
             {_SHOWN} and e.object_id = wanted and e.object_id <> '' and e.source_id = $2
               and not e.is_test order by e.time desc limit $4) k order by time""",
        *(organization_id, source_id, list(object_ids), KNOWN_MAX),
    )


async def insert_events(
    db: Database, *, organization_id: str, source_id: str, documents: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Insert those whose `event_id` is new; the ids of those rows."""
    return await db.fetch_column(
        f"""insert into source_event (organization_id, source_id, facts, {_STORED})
           select $1, $2, facts, {_STORED} from jsonb_populate_recordset(null::source_event, $3::jsonb)
           order by event_id on conflict do nothing returning source_event_id""",
        *(organization_id, source_id, list(documents)),
    )


async def list_stops(
    db: Database, *, organization_id: str, source_id: str, object_ids: Sequence[str], whats: Sequence[str]
) -> dict[str, dict[str, datetime]]:
    """By order or ticket the time of the last event of each of these sorts."""
    rows = await db.fetch(
        """select object_id, what, max(time) as time from source_event
           where organization_id = $1 and object_id = any($3::text[]) and object_id <> '' and source_id = $2
             and what = any($4::text[]) and not is_test
           group by object_id, what""",
        *(organization_id, source_id, list(object_ids), list(whats)),
    )
    found: dict[str, dict[str, datetime]] = {}
    for row in rows:
        found.setdefault(row["object_id"], {})[row["what"]] = row["time"]
    return found


async def list_waiting(db: Database, *, organization_id: str, source_id: str, object_id: str) -> list[Any]:
    """The rule, the id, and the time of the event of each item of an order or ticket that nobody has begun to send."""
    return await db.fetch_tuples(
        """select d ->> 'source_rule_id', i.item_id, e.time
           from source_event e cross join jsonb_array_elements(e.decisions) d
           join queue_item i on i.organization_id = e.organization_id and i.item_id = d ->> 'item_id'
             and i.status in (1, 2) and i.deleted_time is null
           where e.organization_id = $1 and e.object_id = $3 and e.object_id <> '' and e.source_id = $2
             and d ->> 'state' = 'asked' order by i.item_id limit $4""",
        *(organization_id, source_id, object_id, WAITING_MAX),
    )


async def update_decisions(
    db: Database, *, organization_id: str, decisions: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    """Write what was decided, by the event's id."""
    documents = [{"source_event_id": key, "decisions": list(found)} for key, found in decisions.items()]
    await db.execute(
        """update source_event e set decisions = d.decisions
           from jsonb_to_recordset($2::jsonb) d (source_event_id text, decisions jsonb)
           where e.organization_id = $1 and e.source_event_id = d.source_event_id""",
        *(organization_id, documents),
    )


async def insert_items(
    db: Database, *, organization_id: str, source_id: str, event_ids: Sequence[str], noted: Sequence[str], id_form: str
) -> None:
    """Keep for the items of these events what they are about, where it takes notes: `noted` has kinds with sorts."""
    await db.execute(
        """insert into source_item (organization_id, item_id, source_id, object_id, what)
           select $1, d ->> 'item_id', s.source_id, e.object_id, e.what
           from source_event e cross join jsonb_array_elements(e.decisions) d
             join source s on s.organization_id = e.organization_id and s.source_id = e.source_id
           where e.organization_id = $1 and e.source_id = $2 and e.source_event_id = any($3::text[])
             and d ->> 'state' = 'asked' and s.kind || ' ' || e.what = any($4::text[]) and e.object_id ~ $5
           on conflict do nothing""",
        *(organization_id, source_id, list(event_ids), list(noted), f"^{id_form}$"),
    )


async def get_called(db: Database, *, source_id: str) -> Mapping[str, Any] | None:  # any tenant: the path has none
    """The source of an address, unless it is switched off."""
    return await db.fetch_row(
        """select organization_id, source_id, kind, settings, sealed_secret, test from source
           where source_id = $1 and active""",
        source_id,
    )


async def update_called(
    db: Database, *, organization_id: str, source_id: str, problem: str | None, now: datetime
) -> None:
    """Count a call that was refused, with its problem, or record the time of one that was taken, to the minute."""
    await db.execute(
        """update source set problem = $3::text, refused_count = refused_count + ($3::text is not null)::integer,
             refused_time = case when $3::text is null then refused_time else $4 end,
             last_time = case when $3::text is null then $4 else last_time end
           where organization_id = $1 and source_id = $2
             and (coalesce($3, problem) is not null or last_time is null
               or last_time < $4::timestamptz - interval '1 minute')""",
        *(organization_id, source_id, problem and problem[:PROBLEM_CHARACTERS_MAX], now),
    )
