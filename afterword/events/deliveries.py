"""Deliveries as clients see them: read, sent again alone or by a span of the log, pruned."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal, LiteralString

import msgspec

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.wire.lists import Page, Rows
from afterword.errors import FieldError
from afterword.events import log, sending
from afterword.events.webhooks import WEBHOOK
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.declaration import Hidden
from afterword.kit.nouns.structs import shown_as
from afterword.kit.web import fields, paging
from afterword.kit.web.metrics import Sample
from afterword.kit.web.operations import Answer, Call, Routes

FIGURE_ROWS_MAX: Final = 10_000
OUTCOMES: Final = ("afterword_webhook_attempts", "Attempts to deliver by outcome; dead: the last one failed too.")
_OUTCOMES: Final = ("delivered", "failed", "dead")


class DeliveryRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One event for one endpoint, and its outcome. `response_excerpt` is plain text, whatever type the target names."""

    organization_id: Annotated[str, Hidden()]
    delivery_id: fields.Id
    webhook_id: fields.Id
    event_id: fields.Id
    event_type: str
    state: Literal["pending", "delivered", "dead"]
    attempts: int
    response_status: int | None
    duration_ms: int | None
    response_excerpt: str | None
    error: str | None
    next_attempt_time: datetime | None
    finished_time: datetime | None
    version: Annotated[int, Hidden()]
    created_time: datetime


_SHOWN: Final[LiteralString] = """select organization_id, delivery_id, webhook_id, event_id, event_type,
  case when state in ('scheduled', 'claimed') then 'pending' else state end as state, attempts,
  response_status, duration_ms, response_excerpt, error,
  case when state = 'scheduled' then due_time end as next_attempt_time, finished_time, version, created_time
from delivery where organization_id = $1 and webhook_id = $2"""


async def list_deliverie_records(
    db: Database, *, organization_id: str, webhook_id: str, page: Page
) -> Rows[DeliveryRecord]:
    return await db.records(DeliveryRecord).fetch_list(_SHOWN, organization_id, webhook_id, page=page)


async def _update_delivery_to_restart(
    db: Database, *, organization_id: str, webhook_id: str, delivery_id: str
) -> str | None:
    """Restart it, or make a waiting one due at once. Returns its subject, or None if it is being sent."""
    return await db.fetch_value(
        """update delivery set state = 'scheduled', finished_time = null, epoch = epoch + 1, version = version + 1,
             attempts = case when state = 'scheduled' then attempts else 0 end,
             due_time = case when state = 'scheduled' and due_time is not null then now() end
           where organization_id = $1 and webhook_id = $2 and delivery_id = $3 and state <> 'claimed'
           returning subject_id""",
        *(organization_id, webhook_id, delivery_id),
    )


async def _insert_span(
    db: Database,
    *,
    organization_id: str,
    webhook_id: str,
    from_time: datetime | None,
    to_time: datetime | None,
    after: tuple[int, int] | None,
) -> tuple[int, list[str], str | None]:
    """Insert deliveries of the span's events that match the endpoint; finished ones restart, open ones stay.

    The span is of a time, or behind a position (xid, seq). Returns the count of those created or restarted, their
    subjects, and the last event if the limit cut the span.
    """
    first_id = ids.ordered_first(from_time - log.ID_MARGIN) if from_time else None  # ids are ordered by time
    last_id = ids.ordered_first(to_time + log.ID_MARGIN) if to_time else None
    xid, seq = after or (None, None)
    row = await db.fetch_one(
        """with span as materialized (
             select e.organization_id, e.event_id, e.xid::text::bigint as xid, e.seq, e.type, e.subject_id
             from webhook w
             join event e on e.organization_id = w.organization_id
             left join questionnaire q
               on q.organization_id = e.organization_id and q.questionnaire_id = e.questionnaire_id
             where w.organization_id = $1 and w.webhook_id = $2 and w.deleted_time is null and w.test = e.test
               and e.xid < (select readable_before(pg_current_snapshot()))
               and ($3::timestamptz is null or e.created_time >= $3)
               and ($4::timestamptz is null or e.created_time < $4)
               and ($5::text is null or e.event_id >= $5) and ($6::text is null or e.event_id < $6)
               and ($7::bigint is null or e.xid::text::bigint >= $7)
               and ($7::bigint is null or e.xid::text::bigint > $7 or e.seq > $8::bigint)
               and is_wanted(w.event_types, e.type)
               and (w.questionnaire_id is null or w.questionnaire_id = e.questionnaire_id)
               and (w.application_id is null
                 or w.application_id = coalesce(q.owner_application_id, e.data ->> 'application_id'))
             order by e.xid::text::bigint, e.seq limit $9),
           written as (
             insert into delivery (organization_id, delivery_id, webhook_id, event_id, event_type, subject_id, seq)
             select organization_id, left(event_id, 9) || left(replace(gen_random_uuid()::text, '-', ''), 13), $2,
               event_id, type, coalesce(subject_id, event_id), seq
             from span
             on conflict (organization_id, webhook_id, event_id) do update
               set state = 'scheduled', due_time = null, finished_time = null, attempts = 0, epoch = delivery.epoch + 1,
                 version = delivery.version + 1
               where delivery.state in ('delivered', 'dead')
             returning subject_id)
           select (select count(*) from written) as count,
             array(select distinct subject_id from written) as subject_ids,
             (select count(*) from span) as found,
             (select event_id from span order by xid desc, seq desc limit 1) as last_id""",
        *(organization_id, webhook_id, from_time, to_time, first_id, last_id, xid, seq, REPLAY_EVENTS_MAX),
    )
    is_cut = row["found"] == REPLAY_EVENTS_MAX
    return row["count"], row["subject_ids"], row["last_id"] if is_cut else None


async def list_figures(db: Database) -> list[Sample]:  # any tenant: the metrics of a whole installation
    """Figures for /metrics: deliveries by state, attempts by outcome, and the lag of each reader."""
    name, text = "afterword_webhook_deliveries", f"Deliveries by state; due ones are counted up to {FIGURE_ROWS_MAX}."
    row = await db.fetch_one(
        """select (select count(*) from (
               select from delivery where state = 'scheduled' and due_time <= now() limit $1) d) as due,
             (select count(*) from delivery where state = 'claimed') as claimed""",
        FIGURE_ROWS_MAX,
    )
    counted = await db.fetch_pairs("select outcome, sum(total)::bigint as total from delivery_total group by outcome")
    lags = await db.fetch(
        """select c.reader, coalesce(extract(epoch from clock_timestamp() - (
             select e.created_time from event e where (e.xid, e.seq) > (c.xid, c.seq)
             order by e.xid, e.seq limit 1)), 0)::float8 as seconds
           from event_cursor c order by c.reader"""
    )
    lag, about = "afterword_event_reader_lag_seconds", "Age of the oldest event that the reader has not read."
    return [
        Sample(name, text, row["due"], (("state", "due"),)),
        Sample(name, text, row["claimed"], (("state", "claimed"),)),
        *[Sample(*OUTCOMES, counted.get(one, 0), (("outcome", one),), only_grows=True) for one in _OUTCOMES],
        *[Sample(lag, about, max(each["seconds"], 0.0), (("reader", each["reader"]),)) for each in lags],
    ]


REPLAY_EVENTS_MAX: Final = 10_000  # of one request; its answer says where to go on
KEPT_DAYS: Final = 30  # after they were delivered or died
OPEN_DAYS_MAX: Final = 90  # of an endpoint that is switched off


async def get_record(db: Database, *, caller: Caller, webhook_id: str, delivery_id: str) -> DeliveryRecord:
    webhook = await nouns.get(WEBHOOK, db, caller=caller, key=webhook_id)
    found = await db.records(DeliveryRecord).fetch_row(
        f"{_SHOWN} and delivery_id = $3", webhook.organization_id, webhook_id, delivery_id
    )
    return errors.found(found, "There is no such delivery.")


async def redeliver_one(db: Database, *, caller: Caller, webhook_id: str, delivery_id: str) -> DeliveryRecord:
    """With the same `webhook-id`, its attempts anew. A waiting one is tried at once, one in flight is left alone."""
    delivery = await get_record(db, caller=caller, webhook_id=webhook_id, delivery_id=delivery_id)
    key = {"organization_id": delivery.organization_id, "webhook_id": webhook_id}
    await nouns.get(WEBHOOK, db, caller=caller, key=webhook_id, is_locked=True)
    subject_id = await _update_delivery_to_restart(db, **key, delivery_id=delivery_id)
    if subject_id is not None:
        await sending.order_deliveries(db, subjects=[(delivery.organization_id, webhook_id, subject_id)])
    return await get_record(db, caller=caller, webhook_id=webhook_id, delivery_id=delivery_id)


async def replay(
    db: Database,
    *,
    caller: Caller,
    webhook_id: str,
    from_time: datetime | None,
    to_time: datetime | None,
    after: tuple[int, int] | None,
) -> tuple[int, str | None]:
    """Those that match the endpoint now, also from before it was created, at most 10,000, oldest first.

    Returns their count, and the last event if there are more.
    """
    await nouns.get(WEBHOOK, db, caller=caller, key=webhook_id, is_locked=True)
    key = {"organization_id": caller.organization_id, "webhook_id": webhook_id}
    count, subject_ids, last_id = await _insert_span(db, **key, from_time=from_time, to_time=to_time, after=after)
    await sending.order_deliveries(db, subjects=[(caller.organization_id, webhook_id, one) for one in subject_ids])
    return count, last_id


routes = Routes(tag="Webhooks", scope="Webhook")

PATH: Final = "/webhook/{webhook_id}/delivery"


Delivery: Final = shown_as("Delivery", DeliveryRecord)


class RedeliveryRequest(fields.Request):
    """A span of the event log: from a time on, or behind a cursor."""

    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None
    after: fields.Text500 | None = None


class Redelivery(fields.Answer):
    """`count` deliveries were created or restarted. `next_cursor`: `after` of the next request; null: no more."""

    count: int
    next_cursor: str | None


@routes.list(
    PATH, answer=Delivery, summary="Get all deliveries of a webhook", description="Kept 30 days after their end."
)
async def list_deliveries(call: Call[None], db: Database) -> Rows[DeliveryRecord]:
    webhook = await nouns.get(WEBHOOK, db, caller=call.caller, key=call.ids["webhook_id"])
    return await list_deliverie_records(
        db, organization_id=webhook.organization_id, webhook_id=webhook.webhook_id, page=call.page
    )


@routes.get(f"{PATH}/{{delivery_id}}", answer=Delivery, summary="Get Delivery")
async def get_delivery(call: Call[None], db: Database) -> DeliveryRecord:
    return await get_record(db, caller=call.caller, **call.ids)


@routes.post(
    f"{PATH}/{{delivery_id}}/redelivery",
    scope="Webhook.Update",
    answer=Delivery,
    status=200,
    summary="Redeliver one delivery",
    description="From its first attempt on, with the same `webhook-id`; a waiting one is tried at once.",
)
async def redeliver(call: Call[Any], db: Database) -> DeliveryRecord:
    return await redeliver_one(db, caller=call.caller, **call.ids)


@routes.post(
    "/webhook/{webhook_id}/redelivery",
    scope="Webhook.Update",
    answer=Redelivery,
    status=200,
    summary="Redeliver a span of the event log",
    description="From `from_time` (until `to_time`), or behind the cursor `after`: all events that the webhook "
    f"subscribes to now, sent before or not. With the same `webhook-id`; at most "
    f"{REPLAY_EVENTS_MAX:,} events at a time.",
)
async def redeliver_span(call: Call[RedeliveryRequest], db: Database) -> Answer:
    await nouns.get(WEBHOOK, db, caller=call.caller, key=call.ids["webhook_id"])
    count, last_id = await replay(
        db,
        caller=call.caller,
        **call.ids,
        from_time=call.body.from_time and call.body.from_time.instant,
        to_time=call.body.to_time and call.body.to_time.instant,
        after=await _position(call, db),
    )
    cursor = None if last_id is None else log.cursor_of(last_id, secret=call.site.secret)
    return Answer(Redelivery(count=count, next_cursor=cursor))


async def _position(call: Call[RedeliveryRequest], db: Database) -> tuple[int, int] | None:
    """The position (xid, seq) of the cursor; raises Invalid if the request names no span."""
    body = call.body
    if body.after is None and body.from_time is None:
        raise errors.Invalid.at("/from_time", "required", "Either from_time or after is expected.")
    if body.after is None:
        return None
    try:
        event_id = paging.open_entry(body.after, path=log.LOG, listing=log.EVENTS, secret=call.site.secret)
    except ValueError:
        message = "This is no cursor of the event log in its own order."
        raise errors.Invalid.at("/after", "invalid_cursor", message) from None
    wrong = FieldError("cursor_expired", log.EXPIRED, pointer="/after")
    organization_id = call.caller.organization_id
    return await log.position_of(db, organization_id=organization_id, event_id=event_id, wrong=wrong)
