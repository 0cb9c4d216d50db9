"""Records late that an attempt of unknown outcome was accepted, by a fenced worker's 250, a callback or a bounce."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from afterword import ids
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, qualified
from afterword.sending.queue import reminders
from afterword.sending.queue.records import COUNTED, LOGGED, LOGGED_COLUMNS, ItemKey


class LateAcceptance(msgspec.Struct, frozen=True):
    """An attempt that was accepted, as is learned late: the one of `epoch`, or the latest of unknown outcome."""

    organization_id: str
    item_id: str
    event_id: str
    epoch: int | None = None
    reply_code: int | None = None
    reply: str | None = None
    provider_reference: str | None = None


async def list_locked_items(  # any tenant: a worker's batch serves many
    db: Database, *, items: Sequence[ItemKey]
) -> list[ItemKey]:
    """Lock these items in the order of their keys, so that no late acceptance comes between reading and writing."""
    return await db.fetch_tuples(
        """select q.organization_id, q.item_id
           from queue_item q
           join unnest($1::text[], $2::text[]) as b (organization_id, item_id)
             on q.organization_id = b.organization_id and q.item_id = b.item_id
           order by q.organization_id, q.item_id for no key update of q""",
        *arrays(items, 2),
    )


async def list_accepted_late(  # any tenant: a worker's batch serves many
    db: Database, *, items: Sequence[ItemKey]
) -> dict[ItemKey, bool]:
    """List the items with a late acceptance; true where it belongs to the open attempt, by a proven report."""
    rows = await db.fetch(
        """select a.organization_id, a.item_id, bool_and(a.outcome is null) as is_open
           from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
           join attempt a on a.organization_id = b.organization_id and a.item_id = b.item_id
           where a.outcome = 'accepted_late' or (a.outcome is null and exists (
             select from delivery_report r
             where r.organization_id = a.organization_id and r.item_id = a.item_id and r.is_proven
               and r.created_time >= a.begin_time))
           group by a.organization_id, a.item_id""",
        *arrays(items, 2),
    )
    return {(row["organization_id"], row["item_id"]): row["is_open"] for row in rows}


async def settle_late_items(db: Database, *, acceptances: Sequence[LateAcceptance]) -> dict[ItemKey, str | None]:
    """Mark the unknown attempts as accepted late; the items that become sent by that, with their instances.

    An item that waits, is claimed, is uncertain, or failed because of an unknown outcome becomes sent, and its holder
    is fenced. While a later attempt is on the wire only the earlier one is marked, and the later one's end is `known`.
    """
    rows = await db.fetch_tuples(
        f"""with b as materialized (
             select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::smallint[], $6::text[],
               $7::text[]) as b (organization_id, item_id, event_id, epoch, reply_code, reply, provider_reference)),
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
           {COUNTED},
           moved as (
             update queue_item q
             set status = 4, epoch = q.epoch + 1, owner = null, lease_until = null, reason = null, result = null,
               dispatched_time = now(), version = q.version + 1, updated_time = now()
             from known k join closed c on c.organization_id = k.organization_id and c.item_id = k.item_id
             where q.organization_id = k.organization_id and q.item_id = k.item_id and q.deleted_time is null
               and (q.status::int in (1, 2, 6) or (q.status::int = 5 and q.reason = 'outcome_unknown'))
             returning q.organization_id, q.item_id, q.questionnaire_id, q.version, q.test, k.event_id,
               k.status < 4 as is_terminal, {qualified(LOGGED_COLUMNS, "q")}),
           recorded as (
             insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
               is_terminal, actor_kind, test, {LOGGED})
             select organization_id, event_id, 'queue_item.sent', questionnaire_id, item_id, version, is_terminal,
               'worker', test, {LOGGED_COLUMNS}
             from moved)
           select organization_id, item_id, questionnaire_instance_id from moved""",
        *arrays(map(msgspec.structs.astuple, acceptances), 7),
    )
    return {(organization_id, item_id): instance_id for organization_id, item_id, instance_id in rows}


async def record_acceptances(db: Database, *, acceptances: Sequence[LateAcceptance], now: datetime) -> None:
    """Note these attempts as accepted, and the items that become sent by that. Repeating it changes nothing.

    The items are locked first: a worker that settles one of them has by then recorded the attempt's end, or reads
    after us that it was reported.
    """
    await list_locked_items(db, items=[(one.organization_id, one.item_id) for one in acceptances])
    await reminders.note_sent(db, sent=await settle_late_items(db, acceptances=acceptances), now=now)


async def list_known(db: Database, *, items: Sequence[ItemKey], is_locked: bool = False) -> Mapping[ItemKey, bool]:
    """List the items, about to be settled as not sent, that have a late acceptance.

    True where it is the attempt that is being settled, reported while it was under way; see `note_reported`. The items
    stay locked, so that an acceptance which comes now waits for the settlement.
    """
    if not items:
        return {}
    if not is_locked:
        items = await list_locked_items(db, items=items)
    return await list_accepted_late(db, items=items)


async def note_reported(db: Database, *, items: Iterable[ItemKey], now: datetime) -> None:
    """Note the reported attempt of items that were settled as sent because of it, if its own outcome is unknown."""
    acceptances = [
        LateAcceptance(*key, ids.ordered(now), reply="reported while it was under way") for key in sorted(items)
    ]
    if acceptances:
        await record_acceptances(db, acceptances=acceptances, now=now)
