"""The SQL of many items of one pipeline at once: thousands of rows and their events a statement."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from afterword.db import Database
from afterword.db.columns import as_document, qualified
from afterword.queue.records import EVENT_COLUMNS, ITEM_COLUMNS, QueueItem

_ITEM_COLUMNS_I: Final = qualified(ITEM_COLUMNS, "i")
_TOLD: Final = as_document(EVENT_COLUMNS, "i")


class NewItems(msgspec.Struct, frozen=True, kw_only=True):
    """New items of one pipeline, a list for each column that differs."""

    item_ids: Sequence[str]
    event_ids: Sequence[str]
    identifiers: Sequence[str]
    address_keys: Sequence[bytes]
    locales: Sequence[str | None]
    metadata: Sequence[Mapping[str, Any]]
    send_times: Sequence[datetime]
    send_offsets_minutes: Sequence[int]
    due_times: Sequence[datetime]
    not_after: Sequence[datetime]
    external_references: Sequence[str | None]


async def insert_items(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    pipeline_id: str,
    test: bool,
    limited: bool,
    attempts_max: int,
    resend_after_seconds: int | None,
    created_by: str | None,
    actor_kind: str,
    items: NewItems,
) -> set[str]:
    """Insert items and their events, in one statement; the ids of those whose `external_reference` was free."""
    rows = await db.fetch(
        f"""with d as materialized (
             select * from unnest($9::text[], $10::text[], $11::text[], $12::bytea[], $13::text[], $14::jsonb[],
               $15::timestamptz[], $16::smallint[], $17::timestamptz[], $18::timestamptz[], $19::text[])
             as d (item_id, event_id, identifier, address_key, locale, metadata, send_time, send_offset_minutes,
               due_time, not_after, external_reference)),
           item as (
             insert into queue_item (organization_id, item_id, questionnaire_id, pipeline_id, test,
               responder_channel_identifier, address_key, locale, metadata, send_time, send_offset_minutes, due_time,
               not_after, attempts_max, resend_after_seconds, source, external_reference, limited, created_by,
               updated_by)
             select $1, item_id, $2, $3, $4, identifier, address_key, locale, metadata, send_time,
               send_offset_minutes, due_time, not_after, $5, $6, 'bulk', external_reference, $20, $7,
               $7
             from d
             on conflict do nothing
             returning {ITEM_COLUMNS}),
           told as (
             insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
               actor_kind, actor_id, test, data)
             select $1, d.event_id, 'queue_item.created', $2, i.item_id, i.version, $8, $7, $4, {_TOLD}
             from item i join d on d.item_id = i.item_id)
           select item_id from item""",
        organization_id,
        questionnaire_id,
        pipeline_id,
        test,
        attempts_max,
        resend_after_seconds,
        created_by,
        actor_kind,
        items.item_ids,
        items.event_ids,
        items.identifiers,
        items.address_keys,
        items.locales,
        items.metadata,
        items.send_times,
        items.send_offsets_minutes,
        items.due_times,
        items.not_after,
        items.external_references,
        limited,
    )
    return {row["item_id"] for row in rows}


async def list_items_by_reference(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    pipeline_id: str,
    external_references: Sequence[str],
    test_only: bool,
) -> dict[str, QueueItem]:
    """The live items of a pipeline under these references."""
    rows = await db.fetch(
        f"""select {ITEM_COLUMNS} from queue_item
           where organization_id = $1 and questionnaire_id = $2 and pipeline_id = $3
             and external_reference = any($4::text[]) and external_reference is not null and status <> 7
             and deleted_time is null and (test or not $5)""",
        organization_id,
        questionnaire_id,
        pipeline_id,
        external_references,
        test_only,
    )
    return {row["external_reference"]: QueueItem.of(row) for row in rows}


async def claim_items_by_reference(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    pipeline_id: str,
    external_references: Sequence[str],
    test_only: bool,
) -> dict[str, QueueItem]:
    """As list_items_by_reference, those that wait, locked in their order until the transaction ends.

    What a worker holds is left alone, so that no batch and no worker ever wait for each other.
    """
    rows = await db.fetch(
        f"""select {ITEM_COLUMNS} from queue_item
           where organization_id = $1 and questionnaire_id = $2 and pipeline_id = $3
             and external_reference = any($4::text[]) and external_reference is not null and status = 1
             and deleted_time is null and (test or not $5)
           order by external_reference for update""",
        organization_id,
        questionnaire_id,
        pipeline_id,
        external_references,
        test_only,
    )
    return {row["external_reference"]: QueueItem.of(row) for row in rows}


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
               responder_channel_identifier text, address_key text, locale text, metadata jsonb,
               send_time timestamptz, send_offset_minutes smallint, due_time timestamptz, not_after timestamptz,
               reason text, result text)),
           changed as (
             update queue_item i
             set responder_channel_identifier = d.responder_channel_identifier,
               address_key = decode(d.address_key, 'hex'), locale = d.locale, metadata = d.metadata,
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
