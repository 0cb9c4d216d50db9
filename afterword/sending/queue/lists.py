"""Items of all pipelines that a caller may see: one page of them, and their counts by status and reason."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Annotated, Any, Final, LiteralString

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import errors
from afterword.asking.instances.responders import OF_ORDER_KEY
from afterword.core.messaging.addresses import CHANNEL_EMAIL, CHANNEL_SMS, InvalidAddress, address_key, normalise
from afterword.core.organizations.access import Caller
from afterword.core.scheduling.statuses import PUBLIC_ITEM, Item, PublicItem
from afterword.core.wire.lists import Column, Listing, Rows
from afterword.core.wire.times import zone_of
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import has_own, qualified
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.queue import service as queue
from afterword.sending.queue.records import LISTED_COLUMNS, QueueItem, Reference, ShownItem, StatusId

EARLIEST: Final = datetime(1, 1, 2, tzinfo=UTC)
LATEST: Final = datetime(9999, 12, 30, tzinfo=UTC)
FOUND_MAX: Final = 100
COUNT_MAX: Final = 10_000  # of each status and reason; beyond it a count says "at least"
_LISTED: Final = qualified(LISTED_COLUMNS, "i")


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """`reason`: None any, empty none. `pipeline_ids`: None all. The times are those of `send_time`, the end open.

    `only`: the limit of the caller.
    """

    statuses: Sequence[Item] = tuple(Item)
    reason: str | None = None
    pipeline_ids: Sequence[str] | None = None
    from_time: datetime = EARLIEST
    to_time: datetime = LATEST
    test_only: bool = False
    only: Sequence[str] | None = None


class ListedItem(ShownItem, frozen=True):
    """An item with its next moment and the names that a list shows."""

    send_time: datetime
    created_time: datetime
    due_time: datetime
    channel_id: int
    pipeline_title: str
    questionnaire_name: str
    is_kept: bool  # the outbox has it: nobody got it


Key = tuple[datetime, str]  # send_time, item_id


class Count(msgspec.Struct, frozen=True):
    """Items of one status and reason."""

    status_id: PublicItem
    reason: str | None
    count: int
    is_capped: Annotated[bool, Meta(description=f"True: there are more; counting ends at {COUNT_MAX:,}.")]


class QueueOverlap(fields.Resource):
    """Another pipeline that wrote to the same people lately."""

    pipeline_id: fields.Id
    title: str
    people: Annotated[int, Meta(description="Those that it wrote to.")]
    sampled_people: Annotated[int, Meta(description="Those that were looked at.")]


class HourCount(msgspec.Struct, frozen=True):
    """Waiting items that become due within an hour."""

    hour: Annotated[datetime, Meta(description="Its beginning, in the organization's time zone.")]
    count: int
    is_capped: bool


# The statuses and reasons that there are, found by one look at the index each. $1 organization, $2 statuses, $3 reason.
_GROUPS: Final[LiteralString] = """recursive step as (
  select s.status, (
    select coalesce(i.reason, '') from queue_item i
    where i.organization_id = $1 and i.status = s.status and i.status not in (2, 3) and i.deleted_time is null
    order by i.status, coalesce(i.reason, '') limit 1) as reason
  from unnest($2::smallint[]) s (status)
  union all
  select s.status, (
    select coalesce(i.reason, '') from queue_item i
    where i.organization_id = $1 and i.status = s.status and i.status not in (2, 3) and i.deleted_time is null
      and coalesce(i.reason, '') > s.reason
    order by i.status, coalesce(i.reason, '') limit 1)
  from step s where s.reason is not null),
grp as (select status, reason from step where reason is not null and ($3::text is null or reason = $3))"""
_OF_GROUP: Final[LiteralString] = """i.organization_id = $1 and i.status = g.status and i.status not in (2, 3)
  and i.deleted_time is null and coalesce(i.reason, '') = g.reason"""
_OF_HELD: Final[LiteralString] = """i.organization_id = $1 and i.status = any($2::smallint[]) and i.status in (2, 3)
  and i.lease_until > '-infinity' and i.deleted_time is null and ($3::text is null or coalesce(i.reason, '') = $3)"""
_OWN: Final[LiteralString] = "i.metadata -> 'questionnaire'"  # the values by which an item is within a limit
_IN_PERIOD: Final[LiteralString] = "i.send_time >= $6 and i.send_time < $7"
_ITEM: Final[LiteralString] = f"""{_LISTED}, i.due_time, p.channel_id, p.title as pipeline_title,
  q.display_name as questionnaire_name, i.status = 4 and exists (
    select from attempt a where a.organization_id = i.organization_id and a.item_id = i.item_id
      and a.reply = 'captured') as is_kept,
  case when w.is_waiting then 'no_credits' else i.reason end as reason,
  case when w.is_waiting then 'waiting_credits' else i.result end as result
from queue_item i
join pipeline p on p.organization_id = i.organization_id and p.pipeline_id = i.pipeline_id
join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
left join application_credit c on c.organization_id = q.organization_id
  and c.application_id = q.owner_application_id
cross join lateral (
  select i.status = 1 and i.due_time <= now() and q.credits_accountable and not c.has_credits as is_waiting) w"""


def _chosen(only: LiteralString, *, is_limited: bool = True) -> LiteralString:
    """Without a limit no value is read, so that an index alone answers."""
    own: LiteralString = has_own(_OWN, only) if is_limited else f"{only}::text[] is null"
    return f"($4::text[] is null or i.pipeline_id = any($4)) and (i.test or not $5) and {own}"


def _page(order: LiteralString, behind: LiteralString, *, is_limited: bool) -> LiteralString:
    """A page in an order by `i.send_time`; `behind` leaves the items behind the key $8, $9.

    Where a group was not looked at to its end, the newest such end is a row of its own without an item's columns: of
    what lies behind it nothing is known.
    """
    chosen: LiteralString = _chosen("$12", is_limited=is_limited)
    return f"""with {_GROUPS},
      entry as (
        select e.item_id, e.send_time, e.is_chosen, e.place from grp g cross join lateral (
          select n.item_id, n.send_time, n.is_chosen, row_number() over (order by {order.replace("i.", "n.")}) as place
          from (
            select i.item_id, i.send_time, {chosen} as is_chosen from queue_item i
            where {_OF_GROUP} and {_IN_PERIOD} and {behind}
            order by {order} limit $10) n) e
        union all
        select i.item_id, i.send_time, {chosen}, 0 from queue_item i
        where {_OF_HELD} and {_IN_PERIOD} and {behind}),
      shown as (
        (select i.item_id, i.send_time, false as is_end from entry i where i.is_chosen order by {order} limit $11)
        union all
        (select i.item_id, i.send_time, true from entry i where i.place = $10 order by {order} limit 1))
      select shown.is_end, {_ITEM}
      join shown on shown.item_id = i.item_id
      where i.organization_id = $1 order by {order}, shown.is_end"""


_NEWEST: Final[tuple[LiteralString, LiteralString]] = (
    "i.send_time desc, i.item_id", "i.send_time <= $8 and (i.send_time < $8 or i.item_id > $9::text)",
)  # fmt: skip
_OLDEST: Final[tuple[LiteralString, LiteralString]] = (
    "i.send_time, i.item_id desc", "i.send_time >= $8 and (i.send_time > $8 or i.item_id < $9::text)",
)  # fmt: skip


async def list_item_records(
    db: Database,
    *,
    organization_id: str,
    chosen: Filter,
    after: Key | None = None,
    oldest_first: bool = False,
    limit: int,
    scanned: int,
) -> Rows[ListedItem]:
    """A page of items, with the key behind which the next one begins.

    Without a filter by pipeline or test, and without a limit, a page is full; with one it may have fewer items, as it
    looks at `scanned` items of each status and reason alone.
    """
    is_selective = chosen.pipeline_ids is not None or chosen.test_only or chosen.only is not None
    start: Key = after or ((EARLIEST, "") if oldest_first else (LATEST, ""))
    rows = await db.fetch(
        _page(*(_OLDEST if oldest_first else _NEWEST), is_limited=chosen.only is not None),
        organization_id,
        *_parameters(chosen),
        *(chosen.from_time, chosen.to_time, *start),
        *(max(scanned, limit + 1) if is_selective else limit + 1, limit + 1, chosen.only),
    )
    items: list[ListedItem] = []
    for row in rows:
        key = (row["send_time"], row["item_id"])
        if row["is_end"]:
            return Rows(items, next_key=key, has_more=True)
        if len(items) == limit:
            return Rows(items, next_key=(items[-1].send_time, items[-1].item_id), has_more=True)
        items += _listed([row])
    return Rows(items)


def _found(found: LiteralString, also: LiteralString, only: LiteralString) -> LiteralString:
    """The items of `found` that match a filter and `also`, the newest first; $3 is what is looked for."""
    return f"""with found as ({found})
           select {_ITEM} join found on found.item_id = i.item_id
           where i.organization_id = $1 and i.status = any($2::smallint[]) and {also}
             and {_chosen(only)} and {_IN_PERIOD} and ($8::text is null or coalesce(i.reason, '') = $8)
           order by i.send_time desc, i.item_id limit $9"""


_BY_REFERENCE: Final[LiteralString] = _found(
    f"""select i.item_id from pipeline p
        join queue_item i on i.organization_id = p.organization_id and i.pipeline_id = p.pipeline_id
          and i.external_reference = $3 and i.external_reference is not null and i.status <> 7
          and i.deleted_time is null
        where p.organization_id = $1
        union all
        (select i.item_id from queue_item i
         where i.organization_id = $1 and i.external_reference = $3 and i.status = 7
           and i.external_reference is not null and i.deleted_time is null limit $9)
        union
        (select m.item_id from queue_item m where {OF_ORDER_KEY} = left($10::text, 100) limit $9)""",
    "true",
    "$11",
)
_BY_ADDRESS: Final = _found(
    """(select i.item_id from queue_item i
         where i.organization_id = $1 and i.address_key = any($3::bytea[]) and i.status::integer = 1 limit $9)
        union
        (select i.item_id from queue_item i
         where i.organization_id = $1 and i.address_key = any($3) and i.status >= 5 limit $9)
        union
        (select n.item_id from responder_address a
         join questionnaire_instance n on n.organization_id = $1 and n.responder_id = a.responder_id
         where a.organization_id = $1 and a.address_key = any($3) and n.item_id is not null
         order by n.created_time desc limit $9)""",
    "i.address_key = any($3) and i.deleted_time is null",
    "$10",
)


async def _list_items_by_reference(
    db: Database, *, organization_id: str, external_reference: str, order_key: str | None = None, chosen: Filter
) -> list[ListedItem]:
    """The items with this reference, the newest first: of each pipeline the one that holds it, and aborted ones.

    With `order_key` those with this key in their metadata, too.
    """
    values = _values(organization_id, external_reference, chosen)
    return _listed(await db.fetch(_BY_REFERENCE, *values, order_key, chosen.only))


async def _list_items_by_address(
    db: Database, *, organization_id: str, address_keys: Sequence[bytes], chosen: Filter
) -> list[ListedItem]:
    """The items of these addresses, the newest first; sent ones are found by the instances of the person."""
    values = _values(organization_id, list(address_keys), chosen)
    return _listed(await db.fetch(_BY_ADDRESS, *values, chosen.only))


def _values(organization_id: str, key: object, chosen: Filter) -> tuple[object, ...]:
    statuses, reason, pipeline_ids, test_only = _parameters(chosen)
    period = chosen.from_time, chosen.to_time
    return organization_id, statuses, key, pipeline_ids, test_only, *period, reason, FOUND_MAX


def _listed(rows: Sequence[Row]) -> list[ListedItem]:
    return [ListedItem(*_values_of(row)) for row in rows]


_values_of: Final = itemgetter(*ListedItem.__struct_fields__)


async def count_items_record(db: Database, *, organization_id: str, chosen: Filter, limit: int) -> list[Count]:
    met: LiteralString = _chosen("$9", is_limited=chosen.only is not None)
    rows = await db.fetch_tuples(
        f"""with {_GROUPS}
           select g.status, g.reason, n.count, n.looked_at from grp g cross join lateral (
             select count(*) filter (where e.is_chosen) as count, count(*) as looked_at from (
               select {met} as is_chosen from queue_item i where {_OF_GROUP} and {_IN_PERIOD} limit $8 + 1) e) n
           union all
           select i.status, coalesce(i.reason, ''), count(*), 0 from queue_item i
           where {_OF_HELD} and {met} and {_IN_PERIOD} group by i.status, coalesce(i.reason, '')""",
        organization_id,
        *_parameters(chosen),
        *(chosen.from_time, chosen.to_time, limit, chosen.only),
    )
    return [
        Count(PUBLIC_ITEM[Item(status)], reason or None, min(count, limit), looked_at > limit)
        for status, reason, count, looked_at in rows
        if count or looked_at > limit
    ]


async def count_hours_record(
    db: Database, *, organization_id: str, chosen: Filter, time_zone: str, limit: int
) -> list[HourCount]:
    """Count the waiting items by the hour of the zone in which they become due, the first ones of each pipeline."""
    _, _, pipeline_ids, test_only = _parameters(chosen)
    return await db.records(HourCount).fetch(
        f"""with due as materialized (
             select e.due_time, e.place, e.is_own from pipeline p cross join lateral (
               select n.due_time, n.is_own, row_number() over (order by n.due_time, n.item_id) as place from (
                 select i.due_time, i.item_id, {has_own(_OWN, "$8")} as is_own from queue_item i
                 where i.organization_id = p.organization_id and i.pipeline_id = p.pipeline_id and i.status = 1
                   and i.due_time >= $4 and i.due_time < $5 and i.deleted_time is null and (i.test or not $3)
                 order by i.due_time, i.item_id limit $7 + 1) n) e
             where p.organization_id = $1 and ($2::text[] is null or p.pipeline_id = any($2))),
             cut as (select min(due_time) as time from due where place > $7)
           select date_trunc('hour', due.due_time, $6) as hour, count(*) as count,
             coalesce(bool_or(due.due_time >= cut.time), false) as is_capped
           from due cross join cut where due.place <= $7 and due.is_own group by 1 order by 1""",
        *(organization_id, pipeline_ids, test_only, chosen.from_time, chosen.to_time, time_zone, limit, chosen.only),
    )


async def _list_pipeline_ids(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    questionnaire_id: str | None,
    pipeline_id: str | None,
) -> list[str]:
    """The pipelines of these applications (none: all), deleted ones too, whose items still show."""
    return await db.fetch_column(
        """select p.pipeline_id from pipeline p
           join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
           where p.organization_id = $1 and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
             and ($3::text is null or p.questionnaire_id = $3) and ($4::text is null or p.pipeline_id = $4)""",
        *(organization_id, list(application_ids), questionnaire_id, pipeline_id),
    )


async def _get_unknown(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    application_id: str | None,
    questionnaire_id: str | None,
    pipeline_id: str | None,
) -> str | None:
    """The name of the id that these applications (none: all) lack; None if they have all that are given."""
    return await db.fetch_value(
        """select case
             when $3::text is not null and not exists (
               select from application a where a.organization_id = $1 and a.application_id = $3
                 and (cardinality($2::text[]) = 0 or a.application_id = any($2))) then 'application_id'
             when $4::text is not null and not exists (
               select from questionnaire q where q.organization_id = $1 and q.questionnaire_id = $4
                 and (cardinality($2) = 0 or q.owner_application_id = any($2))) then 'questionnaire_id'
             when $5::text is not null and not exists (
               select from pipeline p join questionnaire q on q.organization_id = p.organization_id
                 and q.questionnaire_id = p.questionnaire_id
               where p.organization_id = $1 and p.pipeline_id = $5
                 and (cardinality($2) = 0 or q.owner_application_id = any($2))) then 'pipeline_id' end""",
        *(organization_id, list(application_ids), application_id, questionnaire_id, pipeline_id),
    )


async def _list_overlaps(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    pipeline_id: str,
    test_only: bool,
    since: datetime,
) -> list[QueueOverlap]:
    """Other pipelines that wrote to the people of this one's newest items, those of most people first."""
    return await db.records(QueueOverlap).fetch(
        """with person as materialized (
             select distinct i.responder_id from (
               select questionnaire_instance_id from queue_item
               where organization_id = $1 and pipeline_id = $3 and send_time >= $5 and test = $4
                 and questionnaire_instance_id is not null and deleted_time is null
               order by send_time desc, item_id limit $6) newest
             join questionnaire_instance i
               on i.organization_id = $1 and i.instance_id = newest.questionnaire_instance_id
             where i.responder_id is not null)
           select p.pipeline_id, p.title, count(*) as people, (select count(*) from person) as sampled_people
           from person cross join lateral (
             select distinct i.pipeline_id from questionnaire_instance i
             where i.organization_id = $1 and i.responder_id = person.responder_id and i.sent_time >= $5
               and i.test = $4 and i.pipeline_id <> $3 and i.deleted_time is null) other
           join pipeline p on p.organization_id = $1 and p.pipeline_id = other.pipeline_id and p.deleted_time is null
           join questionnaire q on q.organization_id = $1 and q.questionnaire_id = p.questionnaire_id
             and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
           group by p.pipeline_id, p.title order by people desc, p.pipeline_id limit $7""",
        *(organization_id, list(application_ids), pipeline_id, test_only, since, OVERLAP_ITEMS_MAX, OVERLAPS_MAX),
    )


async def _get_send_time(db: Database, *, organization_id: str, item_id: str) -> datetime | None:
    return await db.fetch_value(
        "select send_time from queue_item where organization_id = $1 and item_id = $2", organization_id, item_id
    )


def _parameters(chosen: Filter) -> tuple[list[int], str | None, list[str] | None, bool]:
    pipeline_ids = None if chosen.pipeline_ids is None else list(chosen.pipeline_ids)
    return [int(status) for status in chosen.statuses], chosen.reason, pipeline_ids, chosen.test_only


WEEK: Final = timedelta(days=7)
OVERLAP_DAYS: Final = 30
OVERLAP_ITEMS_MAX: Final = 500  # the newest of a pipeline whose people are looked at
OVERLAPS_MAX: Final = 5  # pipelines that are told
SCANNED_MAX: Final = 2_000  # items of one status and reason that a page looks at to find those of a pipeline


class RequestedItems(msgspec.Struct, frozen=True, kw_only=True):
    """The items that a caller asks for. None: not filtered. `reason` empty: those without one."""

    statuses: Sequence[PublicItem] = tuple(PublicItem)
    reason: str | None = None
    pipeline_id: str | None = None
    questionnaire_id: str | None = None
    application_id: str | None = None
    external_reference: str | None = None
    with_order_key: bool = False  # those with the reference in their metadata, too
    identifier: str | None = None  # an address of a person
    from_time: datetime | None = None
    to_time: datetime | None = None


async def list_items(
    db: Database,
    *,
    caller: Caller,
    wanted: RequestedItems,
    after: Key | None = None,
    oldest_first: bool = False,
    limit: int,
    secret: bytes = b"",
) -> Rows[ListedItem]:
    """A page of the items; `secret` is needed to find an address. Raises Invalid `unknown_id`."""
    organization_id = caller.organization_id
    chosen = await _filter(db, caller=caller, wanted=wanted)
    if (reference := wanted.external_reference) is not None:
        is_open = wanted.with_order_key and "Questionnaire Value.Read" in caller.scopes
        given = {"external_reference": reference, "order_key": reference if is_open else None}
        found = await _list_items_by_reference(db, organization_id=organization_id, **given, chosen=chosen)
        return Rows(found[:limit])
    if wanted.identifier is not None:
        keys = [key for _, key in keys_of(wanted.identifier, secret=secret)]
        found = await _list_items_by_address(db, organization_id=organization_id, address_keys=keys, chosen=chosen)
        return Rows(found[:limit])
    return await list_item_records(
        db,
        organization_id=organization_id,
        chosen=chosen,
        after=after,
        oldest_first=oldest_first,
        limit=limit,
        scanned=SCANNED_MAX,
    )


def keys_of(identifier: str, *, secret: bytes) -> list[tuple[int, bytes]]:
    """The channels on which this can be an address, each with the key of the address."""
    found: list[tuple[int, bytes]] = []
    for channel_id in (CHANNEL_EMAIL, CHANNEL_SMS):
        with suppress(InvalidAddress):
            found.append((channel_id, address_key(secret, channel_id, normalise(channel_id, identifier))))
    return found


async def key_of(db: Database, *, caller: Caller, item_id: str) -> Key:
    """The place of an item in the list. Raises Invalid `invalid_cursor` where it is gone."""
    send_time = await _get_send_time(db, organization_id=caller.organization_id, item_id=item_id)
    if send_time is None:
        message = "The item that this cursor stood on is gone; start again."
        raise errors.Invalid.in_query("after", "invalid_cursor", message)
    return send_time, item_id


async def unknown_of(db: Database, *, caller: Caller, wanted: RequestedItems) -> str | None:
    """The member of the wanted that names nothing the caller can see; None: there is none."""
    named = {name: getattr(wanted, name) for name in ("application_id", "questionnaire_id", "pipeline_id")}
    if not any(named.values()):
        return None
    return await _get_unknown(db, **caller.part, **named)


async def count_items(db: Database, *, caller: Caller, wanted: RequestedItems, limit: int = COUNT_MAX) -> list[Count]:
    """The counts by status and reason, each up to `limit`. Raises Invalid `unknown_id`."""
    chosen = await _filter(db, caller=caller, wanted=wanted)
    found = await count_items_record(db, organization_id=caller.organization_id, chosen=chosen, limit=limit)
    sums: dict[tuple[PublicItem, str], tuple[int, bool]] = defaultdict(lambda: (0, False))
    for one in found:
        count, is_capped = sums[one.status_id, one.reason or ""]
        sums[one.status_id, one.reason or ""] = (count + one.count, is_capped or one.is_capped)
    return [
        Count(status, reason or None, min(count, limit), is_capped or count > limit)
        for (status, reason), (count, is_capped) in sorted(sums.items())
    ]


async def list_overlaps(db: Database, *, caller: Caller, pipeline_id: str, now: datetime) -> list[QueueOverlap]:
    """Other pipelines that wrote to the same people lately. Raises Invalid for a pipeline that is not there."""
    if await unknown_of(db, caller=caller, wanted=RequestedItems(pipeline_id=pipeline_id)) is not None:
        raise errors.Invalid.at("/pipeline_id", "unknown_id", "There is no such pipeline.")
    since = now - timedelta(days=OVERLAP_DAYS)
    return await _list_overlaps(db, **caller.reach, pipeline_id=pipeline_id, since=since)


async def count_hours(
    db: Database, *, caller: Caller, wanted: RequestedItems, time_zone: str, now: datetime
) -> list[HourCount]:
    """The waiting items of a week by the hour in which they become due, from this hour on. Raises Invalid `unknown_id`.

    Each hour of the week occurs once: the last one is that before this hour.
    """
    local = now.astimezone(zone_of(time_zone)).replace(minute=0, second=0, microsecond=0)
    chosen = await _filter(db, caller=caller, wanted=replace(wanted, from_time=now, to_time=local + WEEK))
    return await count_hours_record(
        db, organization_id=caller.organization_id, chosen=chosen, time_zone=time_zone, limit=COUNT_MAX
    )


async def _filter(db: Database, *, caller: Caller, wanted: RequestedItems) -> Filter:
    """Raises Invalid `unknown_id`."""
    statuses, own, asked = set(wanted.statuses), caller.application_ids, wanted.application_id
    place = {"questionnaire_id": wanted.questionnaire_id, "pipeline_id": wanted.pipeline_id}
    organization_id = caller.organization_id
    pipeline_ids: list[str] | None = None
    if (unknown := await unknown_of(db, caller=caller, wanted=wanted)) is not None:
        raise errors.Invalid.in_query(unknown, "unknown_id", "There is nothing with this id.")
    if asked or own or any(place.values()):
        pipeline_ids = await _list_pipeline_ids(
            db, organization_id=organization_id, application_ids=[asked] if asked else own, **place
        )
    return Filter(
        statuses=[status for status in Item if PUBLIC_ITEM[status] in statuses],
        reason=wanted.reason,
        pipeline_ids=pipeline_ids,
        from_time=wanted.from_time or EARLIEST,
        to_time=wanted.to_time or LATEST,
        test_only=caller.test,
        only=caller.only,
    )


ITEMS: Final = "/q/queue/item"
LISTING: Final = Listing({}, (("send_time", "desc"),), "item_id", hidden={"send_time": Column("send_time", "time")})
REASON: Final = Meta(description="A code of docs/rules.md, such as `quiet_hours`.")

routes = Routes(tag="Queue", scope="Queue")


class WaitingFilter(fields.Request):
    """A filter of items. A missing member filters nothing. The times are those of `send_time`, the end open."""

    reason: Annotated[fields.Text50, REASON] | None = None
    pipeline_id: fields.Id | None = None
    questionnaire_id: fields.Id | None = None
    application_id: fields.Id | None = None
    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None

    @property
    def wanted(self) -> RequestedItems:
        named = ("reason", "pipeline_id", "questionnaire_id", "application_id")
        return RequestedItems(
            **{name: getattr(self, name) for name in named},
            from_time=self.from_time and self.from_time.instant,
            to_time=self.to_time and self.to_time.instant,
        )


class ItemFilter(WaitingFilter):
    """The items that are counted."""

    status_id: Annotated[list[StatusId], Meta(max_length=6)] = msgspec.field(default_factory=list[Any])

    @property
    def wanted(self) -> RequestedItems:
        statuses = [PublicItem(one) for one in self.status_id] or tuple(PublicItem)
        return replace(super().wanted, statuses=statuses)


class ItemQuery(ItemFilter):
    """The items that are listed, and their order."""

    external_reference: Reference | None = None
    responder_channel_identifier: fields.Text320 | None = None
    oldest_first: bool = False


QueueCount: Final = shown_as("QueueCount", Count, types={"status_id": StatusId})


class HourQuery(fields.Request):
    """The items that are counted."""

    pipeline_id: fields.Id | None = None
    questionnaire_id: fields.Id | None = None
    application_id: fields.Id | None = None


class OverlapQuery(fields.Request):
    """The pipeline whose people are looked at."""

    pipeline_id: fields.Id


Capped = Annotated[bool, Meta(description=f"True: there may be more, as {COUNT_MAX:,} of each pipeline are counted.")]
QueueHour: Final = shown_as("QueueHour", HourCount, types={"is_capped": Capped})


@routes.get(
    ITEMS,
    query=ItemQuery,
    answer=QueueItem,
    for_limited="part",
    shape="cursor",
    listing=LISTING,
    summary="Get the queue items of all pipelines",
    description="The latest `send_time` first, or the earliest. Read on with `after`. A page filtered by pipeline, "
    "questionnaire or application, or of a caller with a limit, may have fewer items than `limit`, or none, and a "
    "`next_cursor`.",
)
async def list_all_items(call: Call[None], db: Database) -> Answer:
    query: ItemQuery = call.query or ItemQuery()
    after_id = str(call.page.after[-1]) if call.page.after else None
    rows = await list_items(
        db,
        caller=call.caller,
        wanted=replace(
            query.wanted, external_reference=query.external_reference, identifier=query.responder_channel_identifier
        ),
        after=await key_of(db, caller=call.caller, item_id=after_id) if after_id else None,
        oldest_first=query.oldest_first,
        limit=call.page.limit,
        secret=call.site.secret,
    )
    return Answer(record=rows.map(lambda item: queue.visible(item, call.caller)))


@routes.get(
    "/q/queue/count",
    query=ItemFilter,
    answer=QueueCount,
    for_limited="part",
    shape="array",
    summary="Count the queue items of all pipelines by status and reason",
)
async def count_all_items(call: Call[None], db: Database) -> Answer:
    query: ItemFilter = call.query or ItemFilter()
    found = await count_items(db, caller=call.caller, wanted=query.wanted)
    return Answer([QueueCount.of(one) for one in found])


@routes.get(
    "/q/queue/overlap",
    query=OverlapQuery,
    answer=QueueOverlap,
    shape="array",
    summary="Get the pipelines that write to the same people",
    description=f"Of the people of the newest {OVERLAP_ITEMS_MAX} items of {OVERLAP_DAYS} days. "
    f"At most {OVERLAPS_MAX} pipelines, those that wrote to most of them first.",
)
async def list_overlaps_of_pipeline(call: Call[None], db: Database) -> Answer:
    found = await list_overlaps(db, caller=call.caller, pipeline_id=call.query.pipeline_id, now=call.now)
    return Answer(found)


@routes.get(
    "/q/queue/hour",
    query=HourQuery,
    answer=QueueHour,
    for_limited="part",
    shape="array",
    summary="Count the waiting queue items of the next seven days by hour",
    description="By the hour in which they become due; the rules then decide about each. Empty hours are absent.",
)
async def count_hours_of_items(call: Call[None], db: Database) -> Answer:
    query: HourQuery = call.query or HourQuery()
    found = await count_hours(
        db,
        caller=call.caller,
        wanted=RequestedItems(**{name: getattr(query, name) for name in HourQuery.__struct_fields__}),
        time_zone=call.caller.time_zone,
        now=call.now,
    )
    return Answer([QueueHour.of(one, call.zone) for one in found])
