"""The SQL of a worker's moves: one statement each over arrays, in which every row keeps its own epoch and outcome.

No row returned means that another worker was faster, never an error. `status::int` in a condition keeps the planner off
the lease index, which it takes for empty.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, Final, LiteralString
from uuid import UUID

import msgspec

from afterword.core.scheduling.lanes import LaneKey
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays, qualified
from afterword.sending.queue.records import (
    CLAIMED_COLUMNS,
    COUNTED,
    LOGGED,
    LOGGED_COLUMNS,
    TIMELINE,
    Claimed,
    ItemKey,
    LeaseKey,
)

# A server that was promoted may lack what another one committed. Epochs of a new timeline begin above all of those.
_CLAIMING: Final = f"""update queue_item q
           set status = 2, epoch = greatest(q.epoch, (select ({TIMELINE} - 1) << 32)) + 1, attempts = q.attempts + 1,
             owner = $4::uuid, lease_until = now() + make_interval(secs => $5::float8)
           from due where q.organization_id = due.organization_id and q.item_id = due.item_id
           returning {qualified(CLAIMED_COLUMNS, "q")}, now() as database_now"""
_RETURNED: Final = f"""returning q.organization_id, q.item_id, q.questionnaire_id, q.version, q.test, b.event_id,
               b.type, {qualified(LOGGED_COLUMNS, "q")}"""
_RECORDED: Final = f"""recorded as (
             insert into event (organization_id, event_id, type, questionnaire_id, subject_id, subject_version,
               is_terminal, actor_kind, test, {LOGGED})
             select organization_id, event_id, type, questionnaire_id, item_id, version, status >= 4, 'worker', test,
               {LOGGED_COLUMNS}
             from moved where type is not null)
           select organization_id, item_id from moved"""


def _settling(statuses: LiteralString, epoch: LiteralString, attempt: LiteralString) -> LiteralString:
    """The statement that moves items of these statuses on, and ends their open attempts with these columns."""
    return f"""with b as materialized (
             select * from unnest($1::text[], $2::text[], $3::bigint[], $4::smallint[], $5::text[], $6::text[],
               $7::timestamptz[], $8::text[], $9::text[], $10::smallint[], $11::text[], $12::smallint[], $13::text[],
               $14::text[]) as b (organization_id, item_id, epoch, status, reason, result, due_time, event_id, type,
               counted, outcome, reply_code, reply, provider_reference)),
           moved as (
             update queue_item q
             set status = b.status, epoch = {epoch}, reason = b.reason, result = b.result,
               due_time = coalesce(b.due_time, q.due_time), attempts = q.attempts - 1 + b.counted,
               throttled = q.throttled + 1 - b.counted, owner = null, lease_until = null, version = q.version + 1,
               dispatched_time = case when b.status = 4 then now() end, updated_time = now()
             from b where q.organization_id = b.organization_id and q.item_id = b.item_id and q.epoch = b.epoch
               and q.status::int {statuses}
             {_RETURNED}),
           closed as (
             update attempt a set finish_time = now(), {attempt}
             from b where a.organization_id = b.organization_id and a.item_id = b.item_id and a.epoch = b.epoch
               and a.outcome is null
             returning a.outcome),
           {COUNTED},
           {_RECORDED}"""


_OUTCOME: Final = """outcome = b.outcome, reply_code = b.reply_code, reply = b.reply,
               provider_reference = b.provider_reference"""
_SETTLED: Final = _settling("= 3", "q.epoch", _OUTCOME)
_REAPED: Final = _settling("in (2, 3)", "q.epoch + 1", "outcome = 'unknown', reply = 'lease lost'")


class Overdue(msgspec.Struct, frozen=True):
    organization_id: str
    item_id: str
    epoch: int
    status: int
    attempts: int
    attempts_max: int
    resend_after_seconds: int | None
    not_after: datetime
    questionnaire_instance_id: str | None
    database_now: datetime

    @property
    def key(self) -> ItemKey:
        return self.organization_id, self.item_id


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """The next state of an item. `type`: of its event, null for none; `counted` 0 does not count the attempt."""

    organization_id: str
    item_id: str
    epoch: int
    status: int
    reason: str | None = None
    result: str | None = None
    due_time: datetime | None = None
    counted: int = 1
    trace: Sequence[Mapping[str, Any]] | None = None
    outcome: str | None = None
    reply_code: int | None = None
    reply: str | None = None
    provider_reference: str | None = None
    event_id: str | None = None
    type: str | None = None

    @property
    def key(self) -> ItemKey:
        return self.organization_id, self.item_id

    @property
    def lease_key(self) -> LeaseKey:
        return self.organization_id, self.item_id, self.epoch


async def claim_items(
    db: Database,
    *,
    shares: Mapping[LaneKey, int],
    owner: UUID,
    lease_seconds: float,
    seq_min: int = 0,
    timeline: int | None = None,
    empty_until: Mapping[LaneKey, datetime] = MappingProxyType({}),
) -> list[Claimed]:
    """Claim the oldest due items of each lane, at most its share; none while sending is paused.

    `seq_min`: an event that the caller knows of; a database whose log ends before it is an older one. `timeline`: that
    of the server that the caller has compared with what it sent; None does not ask. `empty_until`: the due time at
    which the search in a lane begins.
    """
    rows = await db.fetch(
        f"""with lane as materialized (
             select organization_id, pipeline_id, share, coalesce(since, '-infinity') as since
             from unnest($1::text[], $2::text[], $3::int[], $7::timestamptz[])
               as l (organization_id, pipeline_id, share, since)
             where (select last_value from event_seq_seq) >= $6
               and ($8::bigint is null or (select {TIMELINE}) = $8)
               and not exists (select from sending_guard where paused_time is not null)),
           due as materialized (
             select i.organization_id, i.item_id from lane l cross join lateral (
               select * from (
                 -- The constant limit: with the share alone the planner would sort every due row of the lane.
                 select organization_id, item_id from queue_item
                 where organization_id = l.organization_id and pipeline_id = l.pipeline_id and status = 1
                   and due_time <= now() and due_time >= l.since
                 order by due_time, item_id limit 200 for update skip locked) head
               limit l.share) i)
           {_CLAIMING}""",
        *arrays(shares, 2),
        list(shares.values()),
        owner,
        lease_seconds,
        seq_min,
        [empty_until.get(lane) for lane in shares],
        timeline,
    )
    return _claimed(rows)


async def claim_expired_items(
    db: Database, *, lanes: Sequence[LaneKey], owner: UUID, lease_seconds: float, limit: int
) -> list[Claimed]:
    rows = await db.fetch(
        f"""with lane as materialized (
             select * from unnest($1::text[], $2::text[]) as l (organization_id, pipeline_id)
             where not exists (select from sending_guard where paused_time is not null)),
           due as materialized (
             select q.organization_id, q.item_id from lane l cross join lateral ( -- the first of each, which end too
               select organization_id, item_id, not_after from queue_item
               where organization_id = l.organization_id and pipeline_id = l.pipeline_id and status = 1
                 and due_time <= now()
               order by due_time, item_id limit $3) i
             cross join lateral (
               select organization_id, item_id from queue_item
               where organization_id = i.organization_id and item_id = i.item_id and status::int = 1
                 and due_time <= now() and not_after <= now() for update skip locked) q
             where i.not_after <= now() limit $3)
           {_CLAIMING}""",
        *arrays(lanes, 2),
        limit,
        owner,
        lease_seconds,
    )
    return _claimed(rows)


async def settle_claimed_items(db: Database, *, settlements: Sequence[Settlement]) -> set[ItemKey]:
    """Move claimed items on before anything irrevocable happened: back, to their end, or handed back; those that moved.

    Without a reason it is a mere handing back, which no client notices: texts and version stay.
    """
    rows = await db.fetch_tuples(
        f"""with b as materialized (
             select * from unnest($1::text[], $2::text[], $3::bigint[], $4::smallint[], $5::text[], $6::text[],
               $7::timestamptz[], $8::text[], $9::text[], $10::smallint[], $11::jsonb[]) as b (organization_id, item_id,
               epoch, status, reason, result, due_time, event_id, type, counted, trace)),
           moved as (
             update queue_item q
             set status = b.status, reason = coalesce(b.reason, q.reason),
               result = case when b.reason is null then q.result else b.result end,
               trace = case when b.reason is null then q.trace else b.trace -> 'checks' end,
               due_time = coalesce(b.due_time, q.due_time), attempts = q.attempts - 1 + b.counted,
               throttled = q.throttled + coalesce(b.reason = 'throttled', false)::int,
               owner = null, lease_until = null, version = q.version + (b.reason is not null)::int,
               updated_time = case when b.reason is null then q.updated_time else now() end
             from b where q.organization_id = b.organization_id and q.item_id = b.item_id and q.epoch = b.epoch
               and q.status::int = 2
             {_RETURNED}),
           {_RECORDED}""",
        *arrays(map(_stopped_values, settlements), 10),
        [{"checks": list(s.trace)} if s.trace else None for s in settlements],  # a list of lists would be a matrix
    )
    return set(rows)


async def update_leases(  # any tenant: a worker's items are of many organizations
    db: Database, *, lease_keys: Sequence[LeaseKey], lease_seconds: float
) -> set[LeaseKey]:
    """Prolong the leases that still hold; those that are lost are missing from the answer.

    A row that another transaction has locked is left for the next time, so that it does not delay the others.
    """
    rows = await db.fetch_tuples(
        """with b as materialized (
             select * from unnest($1::text[], $2::text[], $3::bigint[]) as b (organization_id, item_id, epoch)),
           held as materialized (
             select q.organization_id, q.item_id, q.epoch
             from b join queue_item q on q.organization_id = b.organization_id and q.item_id = b.item_id
               and q.epoch = b.epoch and q.status::int in (2, 3) and q.lease_until > now()),
           free as materialized (
             select q.organization_id, q.item_id, q.epoch
             from held h join queue_item q on q.organization_id = h.organization_id and q.item_id = h.item_id
               and q.epoch = h.epoch and q.status::int in (2, 3) and q.lease_until > now()
             for no key update of q skip locked),
           renewed as (
             update queue_item q set lease_until = now() + make_interval(secs => $4::float8)
             from free f where q.organization_id = f.organization_id and q.item_id = f.item_id and q.epoch = f.epoch)
           select organization_id, item_id, epoch from held""",
        *arrays(lease_keys, 3),
        lease_seconds,
    )
    return set(rows)


async def update_items_to_sending(  # any tenant: a batch serves many
    db: Database, *, begins: Sequence[tuple[str, str, int, str, str, int]], lease_seconds: float, margin_seconds: float
) -> set[LeaseKey]:
    """Record the intent to send (lease key, instance, responder, channel) and open the attempts; the leases that hold.

    Items are left out whose address has been suppressed since they were claimed.
    """
    rows = await db.fetch_tuples(
        """with b as materialized (
             select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::smallint[])
               as b (organization_id, item_id, epoch, instance_id, responder_id, channel_id)),
           moved as (
             update queue_item q
             set status = 3, lease_until = now() + make_interval(secs => $7::float8),
               questionnaire_instance_id = b.instance_id, responder_id = b.responder_id
             from b where q.organization_id = b.organization_id and q.item_id = b.item_id and q.epoch = b.epoch
               and q.status::int = 2 and q.lease_until > now() + make_interval(secs => $8::float8)
               and not exists (
                 select from suppression s
                 where s.organization_id = q.organization_id and s.channel_id = b.channel_id
                   and s.address_key = q.address_key and (s.expires_time is null or s.expires_time > now()))
             returning q.organization_id, q.item_id, q.epoch, q.owner)
           insert into attempt (organization_id, item_id, epoch, owner) select * from moved
           returning organization_id, item_id, epoch""",
        *arrays(begins, 6),
        lease_seconds,
        margin_seconds,
    )
    return set(rows)


async def list_begun(  # any tenant: a batch serves many
    db: Database, *, lease_keys: Sequence[LeaseKey], margin_seconds: float
) -> set[LeaseKey]:
    """List the leases that have begun and are still ours, after the reply to a commit was lost."""
    rows = await db.fetch_tuples(
        """select q.organization_id, q.item_id, q.epoch
           from unnest($1::text[], $2::text[], $3::bigint[]) as b (organization_id, item_id, epoch)
           join queue_item q on q.organization_id = b.organization_id and q.item_id = b.item_id and q.epoch = b.epoch
           join attempt a on a.organization_id = q.organization_id and a.item_id = q.item_id and a.epoch = q.epoch
           where q.status::int = 3 and a.outcome is null
             and q.lease_until > now() + make_interval(secs => $4::float8)""",
        *arrays(lease_keys, 3),
        margin_seconds,
    )
    return set(rows)


async def list_lost(  # any tenant: a batch serves many
    db: Database, *, lease_keys: Sequence[LeaseKey]
) -> dict[LeaseKey, bool]:
    """Of attempts that a worker began, those that are still open here; true where there is no record of them."""
    return {
        (organization_id, item_id, epoch): is_lost
        for organization_id, item_id, epoch, is_lost in await db.fetch_tuples(
            """select b.organization_id, b.item_id, b.epoch, a.epoch is null
               from unnest($1::text[], $2::text[], $3::bigint[]) as b (organization_id, item_id, epoch)
               left join attempt a
                 on a.organization_id = b.organization_id and a.item_id = b.item_id and a.epoch = b.epoch
               where a.outcome is null""",
            *arrays(lease_keys, 3),
        )
    }


async def update_items_to_begun(  # any tenant: a batch serves many
    db: Database, *, begins: Sequence[tuple[str, str, int, int, str, str, bool]], owner: UUID, lease_seconds: float
) -> None:
    """Record attempts anew that had begun on a server that is gone: lease key, attempts, instance, responder, doubt.

    What has moved on since only gets an attempt of unknown outcome, where there is `doubt` whether it was accepted.
    The items are locked.
    """
    await db.execute(
        f"""with b as materialized (
             select b.*, q.status::int in (1, 2, 3) and q.epoch <= b.epoch as is_behind
             from unnest($1::text[], $2::text[], $3::bigint[], $4::smallint[], $5::text[], $6::text[], $7::boolean[])
               as b (organization_id, item_id, epoch, attempts, instance_id, responder_id, is_doubtful)
             join queue_item q on q.organization_id = b.organization_id and q.item_id = b.item_id),
           closed as (
             update attempt a set finish_time = now(), outcome = 'unknown', reply = 'lost with the server'
             from b where a.organization_id = b.organization_id and a.item_id = b.item_id and a.epoch < b.epoch
               and a.outcome is null and b.is_behind
             returning a.outcome),
           {COUNTED},
           moved as (
             update queue_item q
             set status = 3, epoch = b.epoch, attempts = b.attempts, owner = $8,
               lease_until = now() + make_interval(secs => $9::float8),
               questionnaire_instance_id = b.instance_id, responder_id = b.responder_id
             from b where q.organization_id = b.organization_id and q.item_id = b.item_id and b.is_behind)
           insert into attempt (organization_id, item_id, epoch, owner, finish_time, outcome, reply)
           select organization_id, item_id, epoch, $8, case when not is_behind then now() end,
             case when not is_behind then 'unknown' end, case when not is_behind then 'lost with the server' end
           from b where is_behind or is_doubtful
           on conflict do nothing""",
        *arrays(begins, 7),
        owner,
        lease_seconds,
    )


async def settle_items(db: Database, *, settlements: Sequence[Settlement]) -> set[ItemKey]:
    """Write and close the outcomes of attempts, record events; the items that moved, as the others were fenced."""
    return set(await db.fetch_tuples(_SETTLED, *arrays(map(_settled_values, settlements), 14)))


async def reap_items(db: Database, *, limit: int) -> list[Overdue]:
    """Lock items whose lease ran out, the longest overdue first; another reaper's are left to it."""
    return await db.records(Overdue).fetch(
        """select organization_id, item_id, epoch, status, attempts, attempts_max, resend_after_seconds, not_after,
             questionnaire_instance_id, now() as database_now
           from queue_item where status in (2, 3) and lease_until < now()
           order by lease_until limit $1 for update skip locked""",
        limit,
    )


async def settle_reaped_items(db: Database, *, settlements: Sequence[Settlement]) -> set[ItemKey]:
    """Move items of lost workers: fence the worker, close its open attempt as unknown, record events."""
    return set(await db.fetch_tuples(_REAPED, *arrays(map(_settled_values, settlements), 14)))


_claimed_values: Final = itemgetter(*Claimed.__struct_fields__)
_MOVED: Final = ("organization_id", "item_id", "epoch", "status", "reason", "result", "due_time", "event_id", "type")
_stopped_values: Final = attrgetter(*_MOVED, "counted")
_settled_values: Final = attrgetter(*_MOVED, "counted", "outcome", "reply_code", "reply", "provider_reference")


def _claimed(rows: Sequence[Row]) -> list[Claimed]:
    """The oldest first, as the lanes gave them: an update returns its rows in no order."""
    items = [Claimed(*_claimed_values(row)) for row in rows]
    return sorted(items, key=lambda item: (item.due_time, item.item_id))
