"""The SQL of queue items as clients see and change them; claiming and sending is in `sending/store.py` beside it."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Final, LiteralString

import msgspec

from afterword.core.scheduling.decisions import NO_CREDITS, WAITING_CREDITS
from afterword.core.scheduling.statuses import PUBLIC_ITEM, Item
from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays, assigned, has_own, qualified, suffixed
from afterword.kit.db.list_queries import output
from afterword.sending.queue.records import (
    ITEM_COLUMNS,
    LISTED_COLUMNS,
    LOGGED,
    LOGGED_COLUMNS,
    QUEUE_ITEMS,
    TEXT_COLUMNS,
    ItemKey,
    QueueItemRecord,
)

_ITEM_COLUMNS_I: Final = qualified(ITEM_COLUMNS, "i")
_LISTED_COLUMNS_I: Final = qualified(LISTED_COLUMNS, "i")
_STATUS_IDS: Final = tuple(int(PUBLIC_ITEM[status]) for status in Item)
# Of an item `i` of organization $1 and questionnaire $2. Asked once at most, when a row is due.
_WAITS_FOR_CREDITS: Final[LiteralString] = """i.status = 1 and i.due_time <= now() and (
  select q.credits_accountable and not c.has_credits
  from questionnaire q join application_credit c
    on c.organization_id = q.organization_id and c.application_id = q.owner_application_id
  where q.organization_id = $1 and q.questionnaire_id = $2)"""
# A due item says that credits are used up, though no row was rewritten for it.
_COMPUTED: Final[LiteralString] = f"""
  case when {_WAITS_FOR_CREDITS} then '{WAITING_CREDITS}' else i.result end as result,
  case when {_WAITS_FOR_CREDITS} then '{NO_CREDITS}' else i.reason end as reason,
  ($6::int[])[i.status] as status_id, case when i.attempts > 1 then i.attempts - 1 end as retry_attempts"""
_REACHED: Final[LiteralString] = f"""from queue_item i
  where i.organization_id = $1 and i.item_id = any($8::text[]) and i.deleted_time is null and (i.test or not $5)
    and ($2::text is null or i.questionnaire_id = $2) and ($3::text is null or i.pipeline_id = $3)
    and {has_own("i.metadata -> 'questionnaire'", "$7")} and (cardinality($4::text[]) = 0 or exists (
      select 1 from questionnaire q where q.organization_id = i.organization_id
        and q.questionnaire_id = i.questionnaire_id and q.owner_application_id = any($4)))"""
RECORD: Final[LiteralString] = f"select {_ITEM_COLUMNS_I} {_REACHED} and $6::int[] is not null"
SHOWN: Final[LiteralString] = f"""select {output(QUEUE_ITEMS)}, version from (
  select {_LISTED_COLUMNS_I}, i.version, {_COMPUTED.replace("$2", "i.questionnaire_id")}
  {_REACHED}) listed"""
_EDITED: Final[LiteralString] = f"""responder_channel_identifier, address_key, {TEXT_COLUMNS}, metadata, send_time,
  send_offset_minutes, due_time, not_after, reason, result"""
_INSERTED: Final[LiteralString] = f"""organization_id, item_id, questionnaire_id, pipeline_id, test, limited,
  responder_channel_identifier, address_key, responder_id, {TEXT_COLUMNS}, metadata, send_time, send_offset_minutes,
  due_time, not_after, attempts_max, resend_after_seconds, source, external_reference, questionnaire_instance_id,
  previous_item_id, previous_questionnaire_instance_id, reminder_number, sequence_id, created_by"""
# Inserts items from a JSON list of documents whose keys are columns, and their events, named by `event_id` and
# `actor_kind`. Documents are left out whose `external_reference` is taken, and repetitions of sequences and reminders.
INSERTED_ITEMS: Final = f"""with d as materialized (
             select * from json_to_recordset($1::json) as d (organization_id text, item_id text, questionnaire_id text,
               pipeline_id text, test boolean, limited boolean, responder_channel_identifier text, address_key bytea,
               responder_id text, {suffixed(TEXT_COLUMNS, "text")}, metadata jsonb, send_time timestamptz,
               send_offset_minutes smallint, due_time timestamptz, not_after timestamptz, attempts_max smallint,
               resend_after_seconds integer, source text, external_reference text, questionnaire_instance_id text,
               previous_item_id text, previous_questionnaire_instance_id text, reminder_number smallint,
               sequence_id text, created_by text, event_id text, actor_kind text)),
           item as (
             insert into queue_item ({_INSERTED}, updated_by)
             select {_INSERTED}, created_by from d
             on conflict do nothing
             returning {ITEM_COLUMNS}),
           recorded as (
             insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
               actor_kind, actor_id, test, {LOGGED})
             select i.organization_id, d.event_id, 'queue_item.created', i.questionnaire_id, i.item_id, i.version,
               d.actor_kind, i.created_by, i.test, {qualified(LOGGED_COLUMNS, "i")}
             from item i join d on d.organization_id = i.organization_id and d.item_id = i.item_id)"""


class Intake(msgspec.Struct, frozen=True):
    """A pipeline as scheduling needs it, with the database's time."""

    organization_id: str
    pipeline_id: str
    questionnaire_id: str
    application_id: str
    channel_id: int
    locale: str | None
    delay_cap_minutes: int
    delay_cap_hours: int
    delay_cap_days: int
    delay_from: str | None
    start_time: datetime | None
    dispatch_start_time: time | None
    dispatch_end_time: time | None
    time_zone: str | None
    zone_of: str
    weekdays: list[int]
    if_outside: str
    on_holidays: str
    quiet_start_time: time | None
    quiet_end_time: time | None
    holiday_country: str | None
    holidays: list[date]
    max_retry_attempts: int
    not_after_days: int
    is_published: bool
    application_active: bool
    valid_days: int
    application_zone: str | None
    organization_zone: str
    test_clock_seconds: int
    now: datetime

    @property
    def test_offset(self) -> timedelta:
        """Lead of the clock of the organization's test items over the real time."""
        return timedelta(seconds=self.test_clock_seconds)


async def list_intakes(  # any tenant: requests that wait at the same moment share a transaction
    db: Database, *, wanted: Sequence[tuple[str, str, str]]
) -> list[Intake]:
    """Read these pipelines (organization, questionnaire, pipeline) for scheduling; unknown ones are left out."""
    return await db.records(Intake).fetch(
        """select p.organization_id, p.pipeline_id, p.questionnaire_id, q.owner_application_id as application_id,
             p.channel_id, p.locale, p.delay_cap_minutes, p.delay_cap_hours, p.delay_cap_days, p.delay_from,
             p.start_time, p.dispatch_start_time, p.dispatch_end_time, p.time_zone, p.zone_of, p.weekdays, p.if_outside,
             p.on_holidays, c.quiet_start_time, c.quiet_end_time, c.holiday_country,
             coalesce(c.holidays, '{}') as holidays, p.max_retry_attempts, p.not_after_days,
             q.published_version_id is not null as is_published, a.active as application_active, q.valid_days,
             a.time_zone as application_zone, o.time_zone as organization_zone,
             o.test_clock_seconds, now() as now
           from unnest($1::text[], $2::text[], $3::text[]) as b (organization_id, questionnaire_id, pipeline_id)
           join pipeline p on p.organization_id = b.organization_id and p.pipeline_id = b.pipeline_id
             and p.questionnaire_id = b.questionnaire_id and p.deleted_time is null
           join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
           join application a on a.organization_id = q.organization_id and a.application_id = q.owner_application_id
           join organization o on o.organization_id = p.organization_id
           left join contact_policy c on c.organization_id = p.organization_id""",
        *arrays(wanted, 3),
    )


async def insert_items(  # any tenant: requests that wait at the same moment share a transaction
    db: Database, *, documents: Sequence[Mapping[str, object]]
) -> list[QueueItemRecord]:
    """Insert items and their events from documents, as `INSERTED_ITEMS` says; the items that are new."""
    return await db.records(QueueItemRecord.of).fetch(
        f"{INSERTED_ITEMS} select {ITEM_COLUMNS} from item", list(documents)
    )


async def get_item(
    db: Database,
    *,
    organization_id: str,
    item_id: str,
    questionnaire_id: str | None = None,
    pipeline_id: str | None = None,
    application_ids: Sequence[str] = (),
    test_only: bool = False,
    only: tuple[str, ...] | None = None,
    query: LiteralString = SHOWN,
) -> Row | None:
    """The item as `records.shown_of` takes it, with its version, or the row of its RECORD."""
    reach = organization_id, questionnaire_id, pipeline_id, tuple(application_ids), test_only
    return await db.fetch_by_id(query, *reach, _STATUS_IDS, only, id=item_id)


async def list_locked_items(db: Database, *, organization_id: str, item_ids: Sequence[str]) -> list[QueueItemRecord]:
    """The items as they are now, locked until the transaction ends: claims skip them, other changes wait."""
    return await db.records(QueueItemRecord.of).fetch(
        f"""select {ITEM_COLUMNS} from queue_item
           where organization_id = $1 and item_id = any($2::text[]) and deleted_time is null
           order by item_id for update""",
        *(organization_id, list(item_ids)),
    )


async def count_unknown_attempts(db: Database, *, organization_id: str, item_id: str) -> int:
    """Count attempts that may have delivered a copy."""
    return await db.fetch_value(
        """select count(*) from attempt
           where organization_id = $1 and item_id = $2 and outcome in ('unknown', 'accepted_late')""",
        *(organization_id, item_id),
    )


async def list_items(
    db: Database,
    *,
    organization_id: str,
    questionnaire_id: str,
    pipeline_id: str,
    application_ids: Sequence[str] = (),
    test_only: bool = False,
    page: Page,
) -> Rows[Row]:
    """The items of a pipeline as `records.shown_of` takes them; none of a pipeline that is out of reach."""
    return await db.fetch_list(
        f"""select {_LISTED_COLUMNS_I}, {_COMPUTED}
           from queue_item i
           where i.organization_id = $1 and i.questionnaire_id = $2 and i.pipeline_id = $3 and i.deleted_time is null
             and (i.test or not $5) and exists (
               select 1 from pipeline p join questionnaire q
                 on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
               where p.organization_id = $1 and p.questionnaire_id = $2 and p.pipeline_id = $3
                 and p.deleted_time is null and (cardinality($4::text[]) = 0 or q.owner_application_id = any($4)))""",
        *(organization_id, questionnaire_id, pipeline_id, list(application_ids), test_only, _STATUS_IDS),
        page=page,
    )


async def update_items(
    db: Database,
    *,
    organization_id: str,
    limited: bool,
    updated_by: str | None,
    actor_kind: str,
    documents: Sequence[Mapping[str, object]],
) -> list[str]:
    """Write the editable columns of items that are locked and scheduled, and their events; the ids of the items.

    The documents have columns as keys, and `event_id`.
    """
    return await db.fetch_column(
        f"""with d as materialized (
             select * from jsonb_to_recordset($4::jsonb) as d (item_id text, event_id text,
               responder_channel_identifier text, address_key bytea, {suffixed(TEXT_COLUMNS, "text")}, metadata jsonb,
               send_time timestamptz, send_offset_minutes smallint, due_time timestamptz, not_after timestamptz,
               reason text, result text)),
           changed as (
             update queue_item i
             set {assigned(_EDITED, "d")}, limited = i.limited or $5,
               trace = case when d.reason is null then null else i.trace end,
               version = i.version + 1, updated_time = greatest(i.updated_time, now()), updated_by = $2
             from d
             where i.organization_id = $1 and i.item_id = d.item_id and i.status = 1 and i.deleted_time is null
             returning {_ITEM_COLUMNS_I}),
           recorded as (
             insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
               actor_kind, actor_id, test, {LOGGED})
             select $1, d.event_id, 'queue_item.updated', i.questionnaire_id, i.item_id, i.version, $3, $2, i.test,
               {qualified(LOGGED_COLUMNS, "i")}
             from changed i join d on d.item_id = i.item_id)
           select item_id from changed""",
        *(organization_id, updated_by, actor_kind, list(documents), limited),
    )


async def update_items_to_aborted(
    db: Database,
    *,
    organization_id: str,
    item_ids: Sequence[str],
    result: str,
    note: str,
    characters_max: int,
    updated_by: str,
) -> list[QueueItemRecord]:
    """Cancel locked items that have not begun, and fence their holders.

    `note` ends the result, which it shortens to `characters_max`, of an item of which a copy may have been delivered.
    """
    return await db.records(QueueItemRecord.of).fetch(
        f"""update queue_item i
           set status = 7, epoch = epoch + 1, owner = null, lease_until = null, reason = 'cancelled',
             result = case when exists (
               select from attempt a where a.organization_id = i.organization_id and a.item_id = i.item_id
                 and a.outcome in ('unknown', 'accepted_late')) then left($3, $6 - 1 - length($4)) || ' ' || $4
               else $3 end,
             version = version + 1, updated_time = greatest(updated_time, now()), updated_by = nullif($5, '')
           where organization_id = $1 and item_id = any($2::text[]) and status in (1, 2) and deleted_time is null
           returning {ITEM_COLUMNS}""",
        *(organization_id, list(item_ids), result, note, updated_by, characters_max),
    )


async def update_item_to_resolved(
    db: Database, *, organization_id: str, item_id: str, is_sent: bool, result: str, updated_by: str
) -> QueueItemRecord | None:
    """End the doubt about an uncertain item; None when there is none."""
    return await db.records(QueueItemRecord.of).fetch_row(
        f"""update queue_item
           set status = case when $3 then 4 else 5 end, epoch = epoch + 1, reason = 'resolved', result = $4,
             dispatched_time = case when $3 then now() end, version = version + 1,
             updated_time = greatest(updated_time, now()), updated_by = nullif($5, '')
           where organization_id = $1 and item_id = $2 and status = 6 and deleted_time is null
           returning {ITEM_COLUMNS}""",
        *(organization_id, item_id, is_sent, result, updated_by),
    )


async def delete_item(db: Database, *, organization_id: str, item_id: str, deleted_by: str) -> QueueItemRecord:
    """Hide an item that is locked and has ended without being sent; its record stays until retention."""
    return await db.records(QueueItemRecord.of).fetch_one(
        f"""update queue_item
           set deleted_time = now(), version = version + 1, updated_time = greatest(updated_time, now()),
             updated_by = $3
           where organization_id = $1 and item_id = $2 and status in (5, 7, 8) and deleted_time is null
           returning {ITEM_COLUMNS}""",
        *(organization_id, item_id, deleted_by),
    )


async def delete_contacts(  # any tenant: a batch of outcomes serves many organizations
    db: Database, *, items: Sequence[ItemKey]
) -> None:
    await db.execute(
        """with b as (
             select q.organization_id, q.address_key, array_agg(q.item_id) as item_ids
             from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
             join queue_item q on q.organization_id = b.organization_id and q.item_id = b.item_id
             where not exists (
               select from attempt a where a.organization_id = q.organization_id and a.item_id = q.item_id
                 and a.outcome in ('unknown', 'accepted_late'))
             group by q.organization_id, q.address_key),
           locked as (
             select c.organization_id, c.address_key, b.item_ids
             from b join contact c on c.organization_id = b.organization_id and c.address_key = b.address_key
             order by c.organization_id, c.address_key for update of c)
           update contact c
           set recent = (select coalesce(jsonb_agg(entry), '[]') from jsonb_array_elements(c.recent) entry
                         where entry ->> 'item_id' <> all (l.item_ids))
           from locked l where c.organization_id = l.organization_id and c.address_key = l.address_key""",
        *arrays(items, 2),
    )


async def count_attempts(db: Database) -> dict[str, int]:  # any tenant: the metrics of a whole installation
    """Attempts by outcome, since the installation."""
    return await db.fetch_pairs("select outcome, sum(total)::bigint as total from attempt_total group by outcome")
