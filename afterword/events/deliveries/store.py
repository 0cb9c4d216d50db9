"""SQL of deliveries as clients see them: list, redelivery, retention. Sending is in events/sending."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database
from afterword.kit.web.metrics import Sample

FIGURE_ROWS_MAX: Final = 10_000
OUTCOMES: Final = ("afterword_webhook_attempts", "Attempts to deliver by outcome; dead: the last one failed too.")
_OUTCOMES: Final = ("delivered", "failed", "dead")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """`state`: `pending`, `delivered` or `dead`."""

    organization_id: str
    delivery_id: str
    webhook_id: str
    event_id: str
    event_type: str
    state: str
    attempts: int
    response_status: int | None
    duration_ms: int | None
    response_excerpt: str | None
    error: str | None
    next_attempt_time: datetime | None
    finished_time: datetime | None
    version: int
    created_time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The part of the log to send again: of a time, or behind a position (xid, seq); at most `limit` events."""

    from_time: datetime | None = None
    to_time: datetime | None = None
    first_id: str | None = None  # ids are ordered by time: no event of the span lies outside of these
    last_id: str | None = None
    after: tuple[int, int] | None = None
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The count of deliveries created or restarted, their subjects, and the last event if the limit cut the span."""

    count: int
    subject_ids: list[str]
    last_id: str | None


_SHOWN: Final[LiteralString] = """select organization_id, delivery_id, webhook_id, event_id, event_type,
  case when state in ('scheduled', 'claimed') then 'pending' else state end as state, attempts,
  response_status, duration_ms, response_excerpt, error,
  case when state = 'scheduled' then due_time end as next_attempt_time, finished_time, version, created_time
from delivery where organization_id = $1 and webhook_id = $2"""


async def list_deliveries(db: Database, *, organization_id: str, webhook_id: str, page: Page) -> Rows[Delivery]:
    rows = await db.fetch_list(_SHOWN, organization_id, webhook_id, page=page)
    return rows.map(lambda row: Delivery(**row))


async def get_delivery(db: Database, *, organization_id: str, webhook_id: str, delivery_id: str) -> Delivery | None:
    row = await db.fetch_row(f"{_SHOWN} and delivery_id = $3", organization_id, webhook_id, delivery_id)
    return Delivery(**row) if row else None


async def update_delivery_to_restart(
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


async def insert_span(db: Database, *, organization_id: str, webhook_id: str, span: Span) -> Replayed:
    """Insert deliveries of the span's events that match the endpoint; finished ones restart, open ones stay."""
    xid, seq = span.after or (None, None)
    row = await db.fetch_row(
        """with span as materialized (
             select e.organization_id, e.event_id, e.xid::text::bigint as xid, e.seq, e.type, e.subject_id
             from webhook w
             join event e on e.organization_id = w.organization_id
             left join questionnaire q
               on q.organization_id = e.organization_id and q.questionnaire_id = e.questionnaire_id
             where w.organization_id = $1 and w.webhook_id = $2 and w.deleted_time is null and w.test = e.test
               and e.xid < pg_snapshot_xmin(pg_current_snapshot())
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
        *(organization_id, webhook_id, span.from_time, span.to_time, span.first_id, span.last_id, xid, seq, span.limit),
    )
    assert row is not None, "counts are always there"  # noqa: S101
    last_id = row["last_id"] if row["found"] == span.limit else None
    return Replayed(count=row["count"], subject_ids=row["subject_ids"], last_id=last_id)


async def list_figures(db: Database) -> list[Sample]:  # any tenant: the metrics of a whole installation
    """Figures for /metrics: deliveries by state, attempts by outcome, and the lag of each reader."""
    name, text = "afterword_webhook_deliveries", f"Deliveries by state; due ones are counted up to {FIGURE_ROWS_MAX}."
    row = await db.fetch_row(
        """select (select count(*) from (
               select from delivery where state = 'scheduled' and due_time <= now() limit $1) d) as due,
             (select count(*) from delivery where state = 'claimed') as claimed""",
        FIGURE_ROWS_MAX,
    )
    assert row is not None, "counts are always there"  # noqa: S101
    totals = await db.fetch("select outcome, sum(total)::bigint as total from delivery_total group by outcome")
    lags = await db.fetch(
        """select c.reader, coalesce(extract(epoch from clock_timestamp() - (
             select e.created_time from event e where (e.xid, e.seq) > (c.xid, c.seq)
             order by e.xid, e.seq limit 1)), 0)::float8 as seconds
           from event_cursor c order by c.reader"""
    )
    lag, about = "afterword_event_reader_lag_seconds", "Age of the oldest event that the reader has not read."
    counted = {row["outcome"]: row["total"] for row in totals}
    return [
        Sample(name, text, row["due"], (("state", "due"),)),
        Sample(name, text, row["claimed"], (("state", "claimed"),)),
        *[Sample(*OUTCOMES, counted.get(one, 0), (("outcome", one),), only_grows=True) for one in _OUTCOMES],
        *[Sample(lag, about, max(each["seconds"], 0.0), (("reader", each["reader"]),)) for each in lags],
    ]
