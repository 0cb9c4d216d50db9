"""The SQL of many items of one pipeline at once: thousands of rows and their events a statement."""

from collections.abc import Mapping, Sequence
from typing import Final

from afterword.kit.db import Database, Row
from afterword.kit.db.columns import as_document, assigned, qualified, suffixed
from afterword.sending.queue.records import EVENT_COLUMNS, ITEM_COLUMNS, TEXT_COLUMNS, QueueItem
from afterword.sending.queue.store import INSERTED_ITEMS

_ITEM_COLUMNS_I: Final = qualified(ITEM_COLUMNS, "i")
_TOLD: Final = as_document(EVENT_COLUMNS, "i")
_TEXTS_TYPED: Final = suffixed(TEXT_COLUMNS, "text")
_TEXTS_ASSIGNED: Final = assigned(TEXT_COLUMNS, "d")
_LIVE: Final = f"""select {ITEM_COLUMNS} from queue_item
  where organization_id = $1 and questionnaire_id = $2 and pipeline_id = $3 and (test or not $4)
    and external_reference = any($5::text[]) and external_reference is not null and status <> 7
    and deleted_time is null"""

ReferencePlace = tuple[str, str, bool]  # questionnaire_id, pipeline_id, whether only test items count


async def insert_items(  # any tenant: the documents name it
    db: Database, *, documents: Sequence[Mapping[str, object]]
) -> set[str]:
    """As `insert_items` of `sending/queue/store.py`; the ids of those whose `external_reference` was free."""
    rows = await db.fetch(f"{INSERTED_ITEMS} select item_id from item", documents)
    return {row["item_id"] for row in rows}


async def list_items_by_reference(
    db: Database, *, organization_id: str, place: ReferencePlace, external_references: Sequence[str]
) -> dict[str, QueueItem]:
    """The live items of a pipeline under these references: not cancelled, not deleted."""
    return _by_reference(await db.fetch(_LIVE, organization_id, *place, external_references))


async def list_items_by_reference_locked(
    db: Database, *, organization_id: str, place: ReferencePlace, external_references: Sequence[str]
) -> dict[str, QueueItem]:
    """As list_items_by_reference, locked in their order until the transaction ends."""
    query = f"{_LIVE} order by external_reference for update"
    return _by_reference(await db.fetch(query, organization_id, *place, external_references))


async def claim_items_by_reference(
    db: Database, *, organization_id: str, place: ReferencePlace, external_references: Sequence[str]
) -> dict[str, QueueItem]:
    """As list_items_by_reference_locked, those that wait.

    Items that a worker holds are left alone, so that no batch and no worker ever wait for each other.
    """
    query = f"{_LIVE} and status = 1 order by external_reference for update"
    return _by_reference(await db.fetch(query, organization_id, *place, external_references))


async def update_items(
    db: Database,
    *,
    organization_id: str,
    limited: bool,
    updated_by: str | None,
    actor_kind: str,
    documents: Sequence[Mapping[str, object]],
) -> int:
    """Write the editable columns of scheduled items, and their events, in one statement; how many.

    The documents have columns as keys; `address_key` is in hexadecimal, `event_id` the event's.
    """
    return await db.execute(
        f"""with d as materialized (
             select * from jsonb_to_recordset($4::jsonb) as d (item_id text, event_id text,
               responder_channel_identifier text, address_key text, {_TEXTS_TYPED}, metadata jsonb,
               send_time timestamptz, send_offset_minutes smallint, due_time timestamptz, not_after timestamptz,
               reason text, result text)),
           changed as (
             update queue_item i
             set responder_channel_identifier = d.responder_channel_identifier,
               address_key = decode(d.address_key, 'hex'), {_TEXTS_ASSIGNED}, metadata = d.metadata,
               send_time = d.send_time, send_offset_minutes = d.send_offset_minutes, due_time = d.due_time,
               not_after = d.not_after, reason = d.reason, result = d.result, limited = i.limited or $5,
               trace = case when d.reason is null then null else i.trace end,
               version = i.version + 1, updated_time = greatest(i.updated_time, now()), updated_by = $2
             from d
             where i.organization_id = $1 and i.item_id = d.item_id and i.status = 1 and i.deleted_time is null
             returning {_ITEM_COLUMNS_I})
           insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
             actor_kind, actor_id, test, data)
           select $1, d.event_id, 'queue_item.updated', i.questionnaire_id, i.item_id, i.version, $3, $2, i.test,
             {_TOLD}
           from changed i join d on d.item_id = i.item_id""",
        organization_id,
        updated_by,
        actor_kind,
        documents,
        limited,
    )


def _by_reference(rows: Sequence[Row]) -> dict[str, QueueItem]:
    return {row["external_reference"]: QueueItem.of(row) for row in rows}
