"""Sending deliveries: fan-out, claim, settle.

A webhook is a lane: at most two of its deliveries are in flight, and of one subject only the first open one, so that
events of one resource arrive in order. There is no begin: receivers drop an id that they know, so a repeat is safe.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from afterword.core.messaging.webhooks import ERROR_CHARACTERS_MAX, Reply, retry_time
from afterword.events import service, webhooks
from afterword.events.service import Event, shown_of
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays

LaneKey = tuple[str, str]  # organization_id, webhook_id
SubjectKey = tuple[str, str, str]  # and the subject_id


class DeliveryLease(msgspec.Struct, frozen=True, kw_only=True):
    """A claimed delivery; `epoch` invalidates earlier leases."""

    organization_id: str
    delivery_id: str
    webhook_id: str
    subject_id: str
    epoch: int
    attempts: int

    @property
    def lane(self) -> LaneKey:
        return self.organization_id, self.webhook_id


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery to send: `secrets` are sealed; `is_subscribed`: its webhook still matches the event."""

    lease: DeliveryLease
    event: Event
    target_url: str
    secrets: tuple[bytes, ...]
    time_zone: str
    is_subscribed: bool


async def _update_reader_to_end(db: Database) -> bool:  # any tenant: one reader serves all
    """Move the cursor to the end of the readable log if there is no active webhook; return True if there is none."""
    return await db.fetch_value(
        """with moved as (
             update event_cursor c set xid = l.xid, seq = l.seq, updated_time = now()
             from (select xid, seq from event where xid < (select readable_before(pg_current_snapshot()))
                   order by xid desc, seq desc limit 1) l
             where c.reader = $1 and (l.xid, l.seq) > (c.xid, c.seq) and not exists (select from webhook where active))
           select not exists (select from webhook where active)""",
        READER,
    )


async def _insert_next_deliveries(  # any tenant: one reader serves all
    db: Database, *, limit: int
) -> tuple[int, int, list[SubjectKey]]:
    """Insert deliveries of the next events and move the cursor; return the counts of events, deliveries, and subjects.

    Earlier events of each subject that are visible and unread are added: a transaction that began early and waited for
    a lock has a lower xid than the one it waited for. At most EARLIER_MAX of each subject are read, since some have a
    long history. A delivery without an open earlier one is due at once; `order_deliveries` does the rest.
    """
    row = await db.fetch_one(
        """with c as materialized (select xid, seq from event_cursor where reader = $1),
           passed as materialized (
             select e.* from c, lateral (
               select organization_id, event_id, xid, seq, type, questionnaire_id, subject_id, test, created_time
               from event
               where (event.xid, event.seq) > (c.xid, c.seq)
                 and event.xid < (select readable_before(pg_current_snapshot()))
               order by event.xid, event.seq limit $2) e),
           moved as (
             update event_cursor r set xid = l.xid, seq = l.seq, updated_time = now()
             from (select xid, seq from passed order by xid desc, seq desc limit 1) l where r.reader = $1),
           hook as materialized (
             select w.organization_id, w.webhook_id, w.event_types, w.test, w.since_time, w.questionnaire_id,
               w.application_id
             from (select distinct organization_id from passed) o
             join webhook w on w.organization_id = o.organization_id and w.active),
           overtaken as (
             select e.* from c, (
               select organization_id, subject_id, max(seq) as seq from passed
               where subject_id is not null and organization_id in (select organization_id from hook)
               group by organization_id, subject_id) s,
               lateral (
                 select organization_id, event_id, xid, seq, type, questionnaire_id, subject_id, test, created_time
                 from event x
                 where x.organization_id = s.organization_id and x.subject_id = s.subject_id and x.seq < s.seq
                 order by x.seq desc limit $3) e
             where (e.xid, e.seq) > (c.xid, c.seq)),
           matched as (
             select h.organization_id, h.webhook_id, e.event_id, e.type, e.seq,
               coalesce(e.subject_id, e.event_id) as subject_id, row_number() over (
                 partition by h.webhook_id, coalesce(e.subject_id, e.event_id) order by e.seq) as position
             from (select * from passed union select * from overtaken) e
             join hook h on h.organization_id = e.organization_id and h.test = e.test
               and e.created_time >= h.since_time and is_wanted(h.event_types, e.type)
               and (h.questionnaire_id is null or h.questionnaire_id = e.questionnaire_id)
             where h.application_id is null or h.application_id = coalesce(
               (select q.owner_application_id from questionnaire q
                where q.organization_id = e.organization_id and q.questionnaire_id = e.questionnaire_id),
               (select d.data ->> 'application_id' from event d
                where d.organization_id = e.organization_id and d.event_id = e.event_id))),
           inserted as (
             insert into delivery (organization_id, delivery_id, webhook_id, event_id, event_type, subject_id, seq,
               due_time)
             select organization_id, left(event_id, 9) || left(replace(gen_random_uuid()::text, '-', ''), 13),
               webhook_id, event_id, type, subject_id, seq,
               case when position = 1 and not exists (select from delivery x
                 where x.organization_id = matched.organization_id and x.webhook_id = matched.webhook_id
                   and x.subject_id = matched.subject_id and x.state in ('scheduled', 'claimed')) then now() end
             from matched
             on conflict do nothing
             returning organization_id, webhook_id, subject_id)
           select (select count(*) from passed) as passed, (select count(*) from inserted) as inserted,
             (select coalesce(jsonb_agg(distinct jsonb_build_array(organization_id, webhook_id, subject_id)), '[]')
              from inserted) as subjects""",
        *(READER, limit, EARLIER_MAX),
    )
    return row["passed"], row["inserted"], [(one[0], one[1], one[2]) for one in row["subjects"]]


async def _claim_webhooks(db: Database, *, keys: Sequence[LaneKey]) -> None:  # any tenant: a batch serves many
    """Lock these webhooks, always in the same order, so that no other transaction changes their deliveries."""
    await db.execute(
        """select 1 from webhook w
           join unnest($1::text[], $2::text[]) as k (organization_id, webhook_id)
             on w.organization_id = k.organization_id and w.webhook_id = k.webhook_id
           order by w.organization_id, w.webhook_id for no key update of w""",
        *arrays(keys, 2),
    )


async def _update_first_deliveries(db: Database, *, subjects: Sequence[SubjectKey]) -> int:  # any tenant: as above
    """Make the first open delivery of each subject due, unless it is in flight; return the count."""
    return await db.execute(
        """update delivery d set due_time = now(), version = d.version + 1
           from unnest($1::text[], $2::text[], $3::text[]) as s (organization_id, webhook_id, subject_id),
             lateral (
               select x.organization_id, x.delivery_id, x.state, x.due_time from delivery x
               where x.organization_id = s.organization_id and x.webhook_id = s.webhook_id
                 and x.subject_id = s.subject_id and x.state in ('scheduled', 'claimed')
               order by x.seq limit 1) f
           where d.organization_id = f.organization_id and d.delivery_id = f.delivery_id
             and f.state = 'scheduled' and f.due_time is null""",
        *arrays(subjects, 3),
    )


async def _update_later_deliveries(db: Database, *, subjects: Sequence[SubjectKey]) -> int:  # any tenant: as above
    """Postpone due deliveries whose subject has an earlier open one that was inserted after them."""
    return await db.execute(
        """update delivery d set due_time = null, version = d.version + 1
           from unnest($1::text[], $2::text[], $3::text[]) as s (organization_id, webhook_id, subject_id)
           where d.organization_id = s.organization_id and d.webhook_id = s.webhook_id
             and d.subject_id = s.subject_id and d.state = 'scheduled' and d.due_time is not null
             and exists (
               select from delivery x
               where x.organization_id = d.organization_id and x.webhook_id = d.webhook_id
                 and x.subject_id = d.subject_id and x.state in ('scheduled', 'claimed') and x.seq < d.seq)""",
        *arrays(subjects, 3),
    )


async def _list_lanes(db: Database, *, after: LaneKey, limit: int) -> list[LaneKey]:  # any tenant: workers serve all
    """The next webhooks with due deliveries, by one index probe each, however many a webhook has."""
    return await db.fetch_tuples(
        """with recursive lane as (
             (select organization_id, webhook_id from delivery
              where state = 'scheduled' and due_time is not null and (organization_id, webhook_id) > ($1, $2)
              order by organization_id, webhook_id limit 1)
             union all
             select n.organization_id, n.webhook_id from lane, lateral (
               select d.organization_id, d.webhook_id from delivery d
               where d.state = 'scheduled' and d.due_time is not null
                 and (d.organization_id, d.webhook_id) > (lane.organization_id, lane.webhook_id)
               order by d.organization_id, d.webhook_id limit 1) n)
           select organization_id, webhook_id from lane limit $3""",
        *after,
        limit,
    )


async def _claim_lanes(  # any tenant: workers serve all
    db: Database, *, keys: Sequence[LaneKey], limit: int
) -> list[LaneKey]:
    """Lock the webhooks that may be called now and have a due delivery; those locked by others are skipped.

    At random, and of an organization at most as many as its limit leaves: its other webhooks must neither use up
    `limit`, nor wait for those with lower keys.
    """
    return await db.fetch_tuples(
        """with due as materialized (
             select w.organization_id, w.webhook_id, k.position, (
               select count(*) from delivery d where d.organization_id = w.organization_id
                 and d.webhook_id = w.webhook_id and d.state = 'claimed') as in_flight
             from unnest($1::text[], $2::text[]) with ordinality as k (organization_id, webhook_id, position)
             join webhook w on w.organization_id = k.organization_id and w.webhook_id = k.webhook_id
             where w.active and (w.resume_time is null or w.resume_time <= now())
               and exists (
                 select from delivery d where d.organization_id = w.organization_id and d.webhook_id = w.webhook_id
                   and d.state = 'scheduled' and d.due_time <= now())),
           capacity as materialized (
             select o.organization_id, $4 - (
               select count(*) from delivery d
               where d.organization_id = o.organization_id and d.state = 'claimed') as free
             from (select distinct organization_id from due) o),
           drawn as materialized (
             select organization_id, webhook_id, position,
               row_number() over (partition by organization_id order by in_flight, random()) as turn
             from due where in_flight < $3)
           select w.organization_id, w.webhook_id
           from drawn n
           join capacity c on c.organization_id = n.organization_id and n.turn * $3 <= c.free
           join webhook w on w.organization_id = n.organization_id and w.webhook_id = n.webhook_id
           order by n.position limit $5 for no key update of w skip locked""",
        *arrays(keys, 2),
        *(IN_FLIGHT_MAX, ORGANIZATION_IN_FLIGHT_MAX, limit),
    )


async def _claim_deliveries(  # any tenant: workers serve all
    db: Database, *, keys: Sequence[LaneKey], limit: int, lease_seconds: float
) -> list[Delivery]:
    """Claim due deliveries of these locked webhooks, the longest due first, up to IN_FLIGHT_MAX each."""
    return await db.records(_delivery).fetch(
        f"""with lane as materialized (
             select k.*, $3 - (
               select count(*) from delivery d where d.organization_id = k.organization_id
                 and d.webhook_id = k.webhook_id and d.state = 'claimed') as free
             from unnest($1::text[], $2::text[]) with ordinality as k (organization_id, webhook_id, position)),
           chosen as materialized (
             select d.organization_id, d.delivery_id
             from lane l, lateral (
               select x.organization_id, x.delivery_id from delivery x
               where x.organization_id = l.organization_id and x.webhook_id = l.webhook_id
                 and x.state = 'scheduled' and x.due_time <= now()
               order by x.due_time limit greatest(l.free, 0)) d
             order by l.position limit $4),
           claimed as (
             update delivery d set state = 'claimed', epoch = d.epoch + 1, attempts = d.attempts + 1,
               lease_until = now() + make_interval(secs => $5::float8), version = d.version + 1
             from chosen c where d.organization_id = c.organization_id and d.delivery_id = c.delivery_id
             returning d.organization_id, d.delivery_id, d.webhook_id, d.event_id, d.subject_id, d.epoch, d.attempts)
           select h.delivery_id, h.webhook_id, h.subject_id as delivery_subject_id, h.epoch, h.attempts, w.target_url,
             w.secret, case when w.previous_secret_until > now() then w.previous_secret end as previous_secret,
             o.time_zone, is_wanted(w.event_types, e.type) and w.test = e.test
               and (w.questionnaire_id is null or w.questionnaire_id is not distinct from e.questionnaire_id)
               and (w.application_id is null or w.application_id is not distinct from
                 coalesce(q.owner_application_id, e.data ->> 'application_id')) as is_subscribed,
             {shown_of("e")}
           from claimed h
           join webhook w on w.organization_id = h.organization_id and w.webhook_id = h.webhook_id
           join event e on e.organization_id = h.organization_id and e.event_id = h.event_id
           join organization o on o.organization_id = h.organization_id
           left join questionnaire q
             on q.organization_id = e.organization_id and q.questionnaire_id = e.questionnaire_id""",
        *arrays(keys, 2),
        *(IN_FLIGHT_MAX, limit, lease_seconds),
    )


async def update_leases(  # any tenant: the leases name their own
    db: Database, *, leases: Sequence[DeliveryLease], lease_seconds: float
) -> None:
    """Prolong those that the worker still has, without the lock of a webhook.

    Rows that are locked are being settled at the moment: they need it no more, and are skipped.
    """
    await db.execute(
        """update delivery d set lease_until = now() + make_interval(secs => $4::float8)
           from (
             select x.organization_id, x.delivery_id from delivery x
             join unnest($1::text[], $2::text[], $3::bigint[]) as l (organization_id, delivery_id, epoch)
               on x.organization_id = l.organization_id and x.delivery_id = l.delivery_id and x.epoch = l.epoch
             where x.state = 'claimed' for update of x skip locked) held
           where d.organization_id = held.organization_id and d.delivery_id = held.delivery_id""",
        *arrays([(lease.organization_id, lease.delivery_id, lease.epoch) for lease in leases], 3),
        lease_seconds,
    )


async def _settle_delivery(
    db: Database, *, lease: DeliveryLease, state: str, due_time: datetime | None, reply: Reply, now: datetime
) -> bool:
    """End an attempt: `scheduled` for another at `due_time`, `delivered` or `dead`; False: the lease was lost."""
    return await db.touches(
        """update delivery set state = $5, due_time = $6, lease_until = null, response_status = $7, duration_ms = $8,
             response_excerpt = $9, error = $10, version = version + 1,
             finished_time = case when $5 = 'scheduled' then null else $11::timestamptz end
           where organization_id = $1 and delivery_id = $2 and webhook_id = $3 and epoch = $4 and state = 'claimed'""",
        *(lease.organization_id, lease.delivery_id, lease.webhook_id, lease.epoch, state, due_time),
        *(reply.status, reply.duration_ms, reply.excerpt, reply.error and reply.error[:ERROR_CHARACTERS_MAX], now),
    )


async def _update_delivery_to_waiting(  # any tenant: the lease names its own
    db: Database, *, lease: DeliveryLease
) -> None:
    await db.execute(
        """update delivery set state = 'scheduled', due_time = now(), lease_until = null, attempts = attempts - 1,
             version = version + 1
           where organization_id = $1 and delivery_id = $2 and epoch = $3 and state = 'claimed'""",
        *(lease.organization_id, lease.delivery_id, lease.epoch),
    )


async def _list_lost_leases(db: Database, *, limit: int) -> list[DeliveryLease]:  # any tenant: workers serve all
    return await db.records(DeliveryLease).fetch(
        """select organization_id, delivery_id, webhook_id, subject_id, epoch, attempts from delivery
           where state = 'claimed' and lease_until < now() order by lease_until limit $1""",
        limit,
    )


async def _update_total(db: Database, *, outcome: str) -> None:  # any tenant: figures of the installation
    """Count an outcome, in one of 16 shards."""
    await db.execute(
        """insert into delivery_total (outcome, shard, total) values ($1, pg_backend_pid() % 16, 1)
           on conflict (outcome, shard) do update set total = delivery_total.total + 1""",
        outcome,
    )


def _delivery(row: Row) -> Delivery:
    of_lease = {name: row[name] for name in DeliveryLease.__struct_fields__ if name != "subject_id"}
    return Delivery(
        lease=DeliveryLease(**of_lease, subject_id=row["delivery_subject_id"]),
        event=Event(**{name: row[name] for name in Event.__struct_fields__}),
        target_url=row["target_url"],
        secrets=tuple(filter(None, (row["secret"], row["previous_secret"]))),
        time_zone=row["time_zone"],
        is_subscribed=row["is_subscribed"],
    )


READER: Final = "webhooks"
IN_FLIGHT_MAX: Final = 2  # of one webhook
ORGANIZATION_IN_FLIGHT_MAX: Final = 8  # of all webhooks of one organization
LANES_MAX: Final = 200  # that one turn looks at
EARLIER_MAX: Final = 1_000  # of a subject: earlier events that may have committed later
LEASE_SECONDS: Final = 20.0  # renewed while a call lasts: what a killed worker had in hand waits this long
LOST: Final = "The worker that sent it did not come back."
START: Final[LaneKey] = ("", "")


async def fan_out(db: Database, *, limit: int) -> tuple[int, int]:
    """Insert deliveries of the next events for each webhook that subscribes; return the counts of events, deliveries.

    Moves the cursor in the same transaction. Returns (0, 0) if another process has it, or if there is no webhook.
    """
    if not await service.claim_reader(db, reader=READER):
        return 0, 0
    if await _update_reader_to_end(db):
        return 0, 0
    passed, delivery_count, subjects = await _insert_next_deliveries(db, limit=limit)
    await order_deliveries(db, subjects=subjects)
    return passed, delivery_count


async def order_deliveries(db: Database, *, subjects: Sequence[SubjectKey]) -> None:
    """After an insert: make the first open delivery of each subject due; later ones wait for it."""
    if not subjects:
        return
    await _claim_webhooks(db, keys=sorted({(organization, webhook) for organization, webhook, _ in subjects}))
    await _update_later_deliveries(db, subjects=subjects)
    await _update_first_deliveries(db, subjects=subjects)


async def claim(
    db: Database, *, after: LaneKey, limit: int, lease_seconds: float = LEASE_SECONDS
) -> tuple[list[Delivery], LaneKey]:
    """Claim up to `limit` due deliveries, two a webhook and eight an organization; also return the next `after`."""
    seen = await _list_lanes(db, after=after, limit=LANES_MAX)
    if not seen:
        return [], START
    lanes = await _claim_lanes(db, keys=seen, limit=limit)
    deliveries: list[Delivery] = []
    if lanes:
        deliveries = await _claim_deliveries(db, keys=lanes, limit=limit, lease_seconds=lease_seconds)
    if len(deliveries) >= limit:
        return deliveries, max(delivery.lease.lane for delivery in deliveries)
    return deliveries, seen[-1] if len(seen) == LANES_MAX else START


async def settle(db: Database, *, lease: DeliveryLease, reply: Reply, now: datetime, jitter: float) -> bool:
    """Record and count the outcome of an attempt; make the next of its subject due. False: the lease was lost."""
    await _claim_webhooks(db, keys=[lease.lane])
    again = None if reply.is_delivered else retry_time(reply, attempts=lease.attempts, now=now, jitter=jitter)
    state = "delivered" if reply.is_delivered else "scheduled" if again else "dead"
    if not await _settle_delivery(db, lease=lease, state=state, due_time=again, reply=reply, now=now):
        return False
    await _update_total(db, outcome="failed" if state == "scheduled" else state)
    if state != "scheduled":
        await _update_first_deliveries(db, subjects=[(*lease.lane, lease.subject_id)])
    if not reply.is_ours:
        await webhooks.record_reply(
            db, organization_id=lease.organization_id, webhook_id=lease.webhook_id, reply=reply, now=now
        )
    return True


async def release(db: Database, *, lease: DeliveryLease) -> None:
    await _claim_webhooks(db, keys=[lease.lane])
    await _update_delivery_to_waiting(db, lease=lease)


async def reap(db: Database, *, limit: int, now: datetime, jitter: float) -> int:
    """Settle the deliveries of lost workers as failed attempts; return the count."""
    lost = await _list_lost_leases(db, limit=limit)
    if lost:  # lock all of them before any total: settle takes locks in this order
        await _claim_webhooks(db, keys=sorted({lease.lane for lease in lost}))
    for lease in lost:
        reply = Reply(duration_ms=0, error=LOST, is_ours=True)
        await settle(db, lease=lease, reply=reply, now=now, jitter=jitter)
    return len(lost)
