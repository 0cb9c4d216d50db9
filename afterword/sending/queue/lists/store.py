"""The SQL of items over all pipelines. Each query reads a bounded part of an index, however many items there are.

Items that are being sent are few, and read by the index of their leases. All others are read by `queue_item_state`, in
groups of one status and reason: of each group at most `scanned` entries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, LiteralString

from afterword.asking.instances.responders.store import OF_ORDER_KEY
from afterword.core.scheduling.statuses import Item
from afterword.core.wire.lists import Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import qualified
from afterword.sending.queue.records import LISTED_COLUMNS, ShownItem

EARLIEST: Final = datetime(1, 1, 2, tzinfo=UTC)
LATEST: Final = datetime(9999, 12, 30, tzinfo=UTC)
FOUND_MAX: Final = 100
_LISTED: Final = qualified(LISTED_COLUMNS, "i")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """`reason`: None any, empty none. `pipeline_ids`: None all. The times are those of `send_time`, the end open."""

    statuses: Sequence[Item] = tuple(Item)
    reason: str | None = None
    pipeline_ids: Sequence[str] | None = None
    from_time: datetime = EARLIEST
    to_time: datetime = LATEST
    test_only: bool = False


class ListedItem(ShownItem, frozen=True):
    """An item with its next moment and the names that a list shows."""

    send_time: datetime
    created_time: datetime
    due_time: datetime
    channel_id: int
    pipeline_title: str
    questionnaire_name: str


Key = tuple[datetime, str]  # send_time, item_id


@dataclass(frozen=True, slots=True)
class Count:
    """Items of one status and reason; `is_capped`: there are more than that."""

    status: Item
    reason: str
    count: int
    is_capped: bool


@dataclass(frozen=True, slots=True)
class Overlap:
    """A pipeline that wrote to `people` of `sampled_people`."""

    pipeline_id: str
    title: str
    people: int
    sampled_people: int


@dataclass(frozen=True, slots=True)
class HourCount:
    """Waiting items that become due within an hour; `is_capped`: there may be more."""

    hour: datetime
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
_CHOSEN: Final[LiteralString] = "($4::text[] is null or i.pipeline_id = any($4)) and (i.test or not $5)"
_IN_PERIOD: Final[LiteralString] = "i.send_time >= $6 and i.send_time < $7"
_ITEM: Final[LiteralString] = f"""{_LISTED}, i.due_time, p.channel_id, p.title as pipeline_title,
  q.display_name as questionnaire_name,
  case when w.is_waiting then 'no_credits' else i.reason end as reason,
  case when w.is_waiting then 'waiting_credits' else i.result end as result
from queue_item i
join pipeline p on p.organization_id = i.organization_id and p.pipeline_id = i.pipeline_id
join questionnaire q on q.organization_id = i.organization_id and q.questionnaire_id = i.questionnaire_id
left join application_credit c on c.organization_id = q.organization_id
  and c.application_id = q.owner_application_id
cross join lateral (
  select i.status = 1 and i.due_time <= now() and q.credits_accountable and not c.has_credits as is_waiting) w"""


def _page(order: LiteralString, behind: LiteralString) -> LiteralString:
    """A page in an order by `i.send_time`; `behind` leaves the items behind the key $8, $9.

    Where a group was not looked at to its end, the newest such end is a row of its own without an item's columns: of
    what lies behind it nothing is known.
    """
    return f"""with {_GROUPS},
      entry as (
        select e.item_id, e.send_time, e.is_chosen, e.place from grp g cross join lateral (
          select n.item_id, n.send_time, n.is_chosen, row_number() over (order by {order.replace("i.", "n.")}) as place
          from (
            select i.item_id, i.send_time, {_CHOSEN} as is_chosen from queue_item i
            where {_OF_GROUP} and {_IN_PERIOD} and {behind}
            order by {order} limit $10) n) e
        union all
        select i.item_id, i.send_time, {_CHOSEN}, 0 from queue_item i
        where {_OF_HELD} and {_IN_PERIOD} and {behind}),
      shown as (
        (select i.item_id, i.send_time, false as is_end from entry i where i.is_chosen order by {order} limit $11)
        union all
        (select i.item_id, i.send_time, true from entry i where i.place = $10 order by {order} limit 1))
      select shown.is_end, {_ITEM}
      join shown on shown.item_id = i.item_id
      where i.organization_id = $1 order by {order}, shown.is_end"""


_NEWEST: Final = _page(
    "i.send_time desc, i.item_id", "i.send_time <= $8 and (i.send_time < $8 or i.item_id > $9::text)"
)
_OLDEST: Final = _page(
    "i.send_time, i.item_id desc", "i.send_time >= $8 and (i.send_time > $8 or i.item_id < $9::text)"
)


async def list_items(
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

    Without a filter by pipeline or test a page is full; with one it may have fewer items, as it looks at `scanned`
    items of each status and reason alone.
    """
    is_selective = chosen.pipeline_ids is not None or chosen.test_only
    start: Key = after or ((EARLIEST, "") if oldest_first else (LATEST, ""))
    rows = await db.fetch(
        _OLDEST if oldest_first else _NEWEST,
        organization_id,
        *_parameters(chosen),
        chosen.from_time,
        chosen.to_time,
        *start,
        max(scanned, limit + 1) if is_selective else limit + 1,
        limit + 1,
    )
    items: list[ListedItem] = []
    for row in rows:
        key = (row["send_time"], row["item_id"])
        if row["is_end"]:
            return Rows(items, next_key=key, has_more=True)
        if len(items) == limit:
            return Rows(items, next_key=(items[-1].send_time, items[-1].item_id), has_more=True)
        items.append(ListedItem(**{name: row[name] for name in ListedItem.__struct_fields__}))
    return Rows(items)


def _found(found: LiteralString, also: LiteralString) -> LiteralString:
    """The items of `found` that match a filter and `also`, the newest first; $3 is what is looked for."""
    return f"""with found as ({found})
           select {_ITEM} join found on found.item_id = i.item_id
           where i.organization_id = $1 and i.status = any($2::smallint[]) and {also}
             and {_CHOSEN} and {_IN_PERIOD} and ($8::text is null or coalesce(i.reason, '') = $8)
           order by i.send_time desc, i.item_id limit $9"""


_BY_REFERENCE: Final = _found(
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
)


async def list_items_by_reference(
    db: Database, *, organization_id: str, external_reference: str, order_key: str | None = None, chosen: Filter
) -> list[ListedItem]:
    """The items with this reference, the newest first: of each pipeline the one that holds it, and aborted ones.

    With `order_key` those with this key in their metadata, too.
    """
    values = _values(organization_id, external_reference, chosen)
    return _listed(await db.fetch(_BY_REFERENCE, *values, order_key))


async def list_items_by_address(
    db: Database, *, organization_id: str, address_keys: Sequence[bytes], chosen: Filter
) -> list[ListedItem]:
    """The items of these addresses, the newest first; sent ones are found by the instances of the person."""
    return _listed(await db.fetch(_BY_ADDRESS, *_values(organization_id, list(address_keys), chosen)))


def _values(organization_id: str, key: object, chosen: Filter) -> tuple[object, ...]:
    statuses, reason, pipeline_ids, test_only = _parameters(chosen)
    period = chosen.from_time, chosen.to_time
    return organization_id, statuses, key, pipeline_ids, test_only, *period, reason, FOUND_MAX


def _listed(rows: Sequence[Row]) -> list[ListedItem]:
    return [ListedItem(**{name: row[name] for name in ListedItem.__struct_fields__}) for row in rows]


async def count_items(db: Database, *, organization_id: str, chosen: Filter, limit: int) -> list[Count]:
    rows = await db.fetch(
        f"""with {_GROUPS}
           select g.status, g.reason, n.count, n.looked_at from grp g cross join lateral (
             select count(*) filter (where e.is_chosen) as count, count(*) as looked_at from (
               select {_CHOSEN} as is_chosen from queue_item i where {_OF_GROUP} and {_IN_PERIOD} limit $8 + 1) e) n
           union all
           select i.status, coalesce(i.reason, ''), count(*), 0 from queue_item i
           where {_OF_HELD} and {_CHOSEN} and {_IN_PERIOD} group by i.status, coalesce(i.reason, '')""",
        organization_id,
        *_parameters(chosen),
        chosen.from_time,
        chosen.to_time,
        limit,
    )
    return [
        Count(Item(row["status"]), row["reason"], min(row["count"], limit), row["looked_at"] > limit)
        for row in rows
        if row["count"] or row["looked_at"] > limit
    ]


async def count_hours(
    db: Database, *, organization_id: str, chosen: Filter, time_zone: str, limit: int
) -> list[HourCount]:
    """Count the waiting items by the hour of the zone in which they become due, the first ones of each pipeline."""
    _, _, pipeline_ids, test_only = _parameters(chosen)
    rows = await db.fetch(
        """with due as materialized (
             select e.due_time, e.place from pipeline p cross join lateral (
               select n.due_time, row_number() over (order by n.due_time, n.item_id) as place from (
                 select i.due_time, i.item_id from queue_item i
                 where i.organization_id = p.organization_id and i.pipeline_id = p.pipeline_id and i.status = 1
                   and i.due_time >= $4 and i.due_time < $5 and i.deleted_time is null and (i.test or not $3)
                 order by i.due_time, i.item_id limit $7 + 1) n) e
             where p.organization_id = $1 and ($2::text[] is null or p.pipeline_id = any($2))),
             cut as (select min(due_time) as time from due where place > $7)
           select date_trunc('hour', due.due_time, $6) as hour, count(*) as count,
             coalesce(bool_or(due.due_time >= cut.time), false) as is_capped
           from due cross join cut where due.place <= $7 group by 1 order by 1""",
        *(organization_id, pipeline_ids, test_only, chosen.from_time, chosen.to_time, time_zone, limit),
    )
    return [HourCount(**row) for row in rows]


async def list_pipeline_ids(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    questionnaire_id: str | None,
    pipeline_id: str | None,
) -> list[str]:
    """The pipelines of these applications (none: all), deleted ones too, whose items still show."""
    rows = await db.fetch(
        """select p.pipeline_id from pipeline p
           join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
           where p.organization_id = $1 and (cardinality($2::text[]) = 0 or q.owner_application_id = any($2))
             and ($3::text is null or p.questionnaire_id = $3) and ($4::text is null or p.pipeline_id = $4)""",
        *(organization_id, list(application_ids), questionnaire_id, pipeline_id),
    )
    return [row["pipeline_id"] for row in rows]


async def get_unknown(
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


async def list_overlaps(
    db: Database,
    *,
    organization_id: str,
    application_ids: Sequence[str],
    pipeline_id: str,
    test_only: bool,
    since: datetime,
    sample_max: int,
    limit: int,
) -> list[Overlap]:
    """Other pipelines that wrote to the people of this one's newest items, those of most people first."""
    rows = await db.fetch(
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
        *(organization_id, list(application_ids), pipeline_id, test_only, since, sample_max, limit),
    )
    return [Overlap(**row) for row in rows]


async def get_key(db: Database, *, organization_id: str, item_id: str) -> Key | None:
    row = await db.fetch_row(
        "select send_time, item_id from queue_item where organization_id = $1 and item_id = $2",
        *(organization_id, item_id),
    )
    return None if row is None else (row["send_time"], row["item_id"])


def _parameters(chosen: Filter) -> tuple[list[int], str | None, list[str] | None, bool]:
    pipeline_ids = None if chosen.pipeline_ids is None else list(chosen.pipeline_ids)
    return [int(status) for status in chosen.statuses], chosen.reason, pipeline_ids, chosen.test_only
