"""Finding what is a person's, and ending what is still on its way to the person."""

from typing import Final

import msgspec

from afterword.core.organizations.access import installation
from afterword.kit.db import Database
from afterword.sending.queue import service as queue

ScanResult = tuple[int, str | None]  # rows that were changed or found; the last row looked at, None at the end


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """The identifiers of a person: address keys, addresses as `written`, and in lower case."""

    responder_id: str
    keys: list[bytes]
    written: list[str]

    @property
    def texts(self) -> list[str]:
        return sorted({text.lower() for text in self.written})

    @property
    def words(self) -> list[str]:
        """Those of the texts that may be looked for inside of others: the key `7` of a shop is part of everything."""
        return [text for text in self.texts if "@" in text or text.startswith("+")]


async def get_person(db: Database, *, organization_id: str, erasure_id: str, responder_id: str) -> Person:
    row = await db.fetch_one(
        """with key as (
             select address_key, identifier from responder_address where organization_id = $1 and responder_id = $3
             union
             select s.address_key, null from erasure_subject e
               join suppression s on s.organization_id = e.organization_id and s.suppression_id = e.subject_id
             where e.organization_id = $1 and e.erasure_id = $2 and e.kind = 'suppression')
           select $3 as responder_id, array(select distinct address_key from key) as keys,
             array(select identifier from key where identifier is not null
                   union
                   select i.responder_channel_identifier from erasure_subject e
                     join queue_item i on i.organization_id = e.organization_id and i.item_id = e.subject_id
                   where e.organization_id = $1 and e.erasure_id = $2 and e.kind = 'item'
                     and i.anonymized_time is null) as written""",
        *(organization_id, erasure_id, responder_id),
    )
    return Person(**row)


async def list_subjects(
    db: Database, *, organization_id: str, erasure_id: str, kind: str, after: str, limit: int
) -> list[str]:
    return await db.fetch_column(
        """select subject_id from erasure_subject
           where organization_id = $1 and erasure_id = $2 and kind = $3 and subject_id > $4
           order by subject_id limit $5""",
        *(organization_id, erasure_id, kind, after, limit),
    )


async def get_has_open_import(db: Database, *, organization_id: str, erasure_id: str) -> bool:
    """True if an import older than the erasure may still create items."""
    return await db.fetch_value(
        """select exists (
             select from queue_import i join erasure e on e.organization_id = i.organization_id and e.erasure_id = $2
             where i.organization_id = $1 and i.state in ('queued', 'running')
               and i.created_time <= e.requested_time)""",
        *(organization_id, erasure_id),
    )


async def _insert_indexed_subjects(db: Database, *, organization_id: str, erasure_id: str, person: Person) -> int:
    """Note what indexes lead to: instances, their items, items that wait, what repeats or reminds; how many are new."""
    return await db.execute(
        """insert into erasure_subject (organization_id, erasure_id, kind, subject_id)
           select $1, $2, f.kind, f.subject_id from (
             select 'instance' as kind, i.instance_id as subject_id from questionnaire_instance i
             where i.organization_id = $1 and i.responder_id = $3
             union
             select 'item', i.item_id from questionnaire_instance i
               join queue_item q on q.organization_id = i.organization_id and q.item_id = i.item_id
             where i.organization_id = $1 and i.responder_id = $3
             union
             select 'item', q.item_id from queue_item q
             where q.organization_id = $1 and q.address_key = any($4::bytea[]) and q.status::integer = 1
             union
             select 'item', q.item_id from erasure_subject e
               join queue_item q on q.organization_id = e.organization_id and q.previous_item_id = e.subject_id
             where e.organization_id = $1 and e.erasure_id = $2 and e.kind = 'item'
               and (q.responder_id = $3 or q.address_key = any($4))
             union
             select 'suppression', s.suppression_id from suppression s
             where s.organization_id = $1 and s.address_key = any($4)) f
           on conflict do nothing""",
        *(organization_id, erasure_id, person.responder_id, person.keys),
    )


async def insert_scanned_subjects(
    db: Database, *, organization_id: str, erasure_id: str, person: Person, after: str
) -> str | None:
    """Note the person's among the next items of the organization: those that ended unsent have no other way to them.

    Returns the last row that was looked at, None at the end.

    An index on what an item is addressed to would cost every item that is sent; a scan costs the erasure alone.
    """
    row = await db.fetch_one(
        """with passed as materialized (
             select item_id, responder_id, address_key from queue_item
             where organization_id = $1 and item_id > $5 order by item_id limit $6),
           noted as (
             insert into erasure_subject (organization_id, erasure_id, kind, subject_id)
             select $1, $2, 'item', item_id from passed where responder_id = $3 or address_key = any($4::bytea[])
             on conflict do nothing returning subject_id)
           select (select count(*) from passed) as passed, (select max(item_id) from passed) as last""",
        *(organization_id, erasure_id, person.responder_id, person.keys, after, SCAN_ITEMS_MAX),
    )
    return row["last"] if row["passed"] == SCAN_ITEMS_MAX else None


async def _list_open_items(db: Database, *, organization_id: str, erasure_id: str, limit: int) -> list[str]:
    return await db.fetch_column(
        """select i.item_id from erasure_subject e
             join queue_item i on i.organization_id = e.organization_id and i.item_id = e.subject_id
           where e.organization_id = $1 and e.erasure_id = $2 and e.kind = 'item' and i.status in (1, 2, 3)
           order by i.status, i.item_id limit $3""",
        *(organization_id, erasure_id, limit),
    )


SCAN_ITEMS_MAX: Final = 5_000  # of the queue, in one transaction
INDEX_ROUNDS_MAX: Final = 10  # items that repeat one that repeats one …
OPEN_ITEMS_MAX: Final = 100


async def find_by_indexes(db: Database, *, organization_id: str, erasure_id: str, person: Person) -> int:
    """Note what indexes lead to; how many are new."""
    found = 0
    for _ in range(INDEX_ROUNDS_MAX):
        new = await _insert_indexed_subjects(db, organization_id=organization_id, erasure_id=erasure_id, person=person)
        found += new
        if not new:
            break
    return found


async def cancel_open_items(db: Database, *, organization_id: str, erasure_id: str) -> tuple[int, bool]:
    """Cancel items of the person that nobody has begun to send; how many, and whether all have come to their end."""
    items = await _list_open_items(db, organization_id=organization_id, erasure_id=erasure_id, limit=OPEN_ITEMS_MAX)
    cancelled = await queue.cancel_all(db, caller=installation(organization_id), item_ids=items)
    return len(cancelled), not items
