"""The SQL of late acceptance: unknown attempts that turn out accepted, and the items that are sent by them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from afterword.db import Database
from afterword.db.columns import as_document
from afterword.queue.records import EVENT_COLUMNS

ItemKey = tuple[str, str]  # organization_id, item_id

_TOLD: Final = as_document(EVENT_COLUMNS, "q")


@dataclass(frozen=True, slots=True, kw_only=True)
class LateAcceptance:
    """An attempt was accepted after all: the one of `epoch`, or the latest of unknown outcome. `event_id` is new."""

    organization_id: str
    item_id: str
    epoch: int | None
    reply_code: int | None
    reply: str | None
    provider_reference: str | None
    event_id: str


@dataclass(frozen=True, slots=True)
class Corrected:
    """An item that is sent by a late acceptance, and its instance."""

    organization_id: str
    item_id: str
    questionnaire_instance_id: str | None

    @property
    def key(self) -> ItemKey:
        return self.organization_id, self.item_id


async def list_locked_items(  # any tenant: a worker's batch serves many
    db: Database, *, items: Sequence[ItemKey]
) -> list[ItemKey]:
    """Lock these items in the order of their keys, so that no late acceptance comes between reading and writing."""
    rows = await db.fetch(
        """select q.organization_id, q.item_id
           from queue_item q
           join unnest($1::text[], $2::text[]) as b (organization_id, item_id)
             on q.organization_id = b.organization_id and q.item_id = b.item_id
           order by q.organization_id, q.item_id for no key update of q""",
        *_columns(items),
    )
    return [(row["organization_id"], row["item_id"]) for row in rows]


async def list_accepted_late(  # any tenant: a worker's batch serves many
    db: Database, *, items: Sequence[ItemKey]
) -> dict[ItemKey, bool]:
    """List the items with a late acceptance; true where it belongs to the open attempt.

    Of that one somebody outside reported, with proof, while it was under way.
    """
    rows = await db.fetch(
        """select a.organization_id, a.item_id, bool_and(a.outcome is null) as is_open
           from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
           join attempt a on a.organization_id = b.organization_id and a.item_id = b.item_id
           where a.outcome = 'accepted_late' or (a.outcome is null and exists (
             select from delivery_report r
             where r.organization_id = a.organization_id and r.item_id = a.item_id and r.is_proven
               and r.created_time >= a.begin_time))
           group by a.organization_id, a.item_id""",
        *_columns(items),
    )
    return {(row["organization_id"], row["item_id"]): row["is_open"] for row in rows}


async def settle_late_items(db: Database, *, acceptances: Sequence[LateAcceptance]) -> list[Corrected]:
    """Mark the unknown attempts as accepted late; the items that are sent by that, with their event.

    An item that waits, is claimed, is uncertain, or failed because of an unknown outcome becomes sent, and whoever
    holds it is fenced. While a later attempt is on the wire the earlier one alone is marked, and its end is `known`.
    """
    rows = await db.fetch(
        f"""with b as materialized (
             select * from unnest($1::text[], $2::text[], $3::bigint[], $4::smallint[], $5::text[], $6::text[],
               $7::text[]) as b (organization_id, item_id, epoch, reply_code, reply, provider_reference, event_id)),
           known as materialized (
             select q.organization_id, q.item_id, q.status, a.epoch, b.reply_code, b.reply, b.provider_reference,
               b.event_id
             from b
             join queue_item q on q.organization_id = b.organization_id and q.item_id = b.item_id
             join lateral (
               select epoch from attempt
               where organization_id = b.organization_id and item_id = b.item_id and outcome = 'unknown'
                 and (b.epoch is null or epoch = b.epoch)
               order by epoch desc limit 1) a on true
             order by q.organization_id, q.item_id for no key update of q),
           closed as (
             update attempt a
             set outcome = 'accepted_late', reply_code = k.reply_code, reply = k.reply,
               provider_reference = k.provider_reference
             from known k where a.organization_id = k.organization_id and a.item_id = k.item_id and a.epoch = k.epoch
               and a.outcome = 'unknown'
             returning a.organization_id, a.item_id, a.outcome),
           counted as (
             insert into attempt_total (outcome, shard, total)
             select outcome, pg_backend_pid() % 16, count(*) from closed group by outcome
             on conflict (outcome, shard) do update set total = attempt_total.total + excluded.total),
           moved as (
             update queue_item q
             set status = 4, epoch = q.epoch + 1, owner = null, lease_until = null, reason = null, result = null,
               dispatched_time = now(), version = q.version + 1, updated_time = now()
             from known k join closed c on c.organization_id = k.organization_id and c.item_id = k.item_id
             where q.organization_id = k.organization_id and q.item_id = k.item_id and q.deleted_time is null
               and (q.status::int in (1, 2, 6) or (q.status::int = 5 and q.reason = 'outcome_unknown'))
             returning q.organization_id, q.item_id, q.questionnaire_id, q.version, q.test, k.event_id,
               q.questionnaire_instance_id, k.status < 4 as is_terminal,
               {_TOLD} as data),
           told as (
             insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
               is_terminal, actor_kind, test, data)
             select organization_id, event_id, 'queue_item.sent', questionnaire_id, item_id, version, is_terminal,
               'worker', test, data
             from moved)
           select organization_id, item_id, questionnaire_instance_id from moved""",
        [one.organization_id for one in acceptances],
        [one.item_id for one in acceptances],
        [one.epoch for one in acceptances],
        [one.reply_code for one in acceptances],
        [one.reply for one in acceptances],
        [one.provider_reference for one in acceptances],
        [one.event_id for one in acceptances],
    )
    return [Corrected(**row) for row in rows]


def _columns(items: Sequence[ItemKey]) -> tuple[list[str], list[str]]:
    return [organization_id for organization_id, _ in items], [item_id for _, item_id in items]
