"""SQL of the mails of cases: claimed under a lease, settled under its epoch, answered by the customer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from afterword.kit.db import Database, Row
from afterword.kit.db.columns import columns_of, qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A mail. `state`: waiting, claimed, sending, sent, failed, unknown (it may have arrived), or received.

    `whole`: all of a received mail, where `body` is not all. `other_sender`: not an address of the customer.
    """

    organization_id: str
    message_id: str
    alert_instance_id: str
    incoming: bool
    user_id: str | None = None
    pipeline_id: str | None = None
    address: str
    subject: str
    body: str
    locale: str
    key: str | None
    state: str
    attempts: int = 0
    epoch: int = 0
    error: str | None = None
    created_time: datetime
    finished_time: datetime | None = None
    whole: str | None = None
    other_sender: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The way to the customer of a case: the address, and the pipeline whose account and sender are used.

    `suppressions`: the reasons of those in force. The others are what a saved text may name of person and order.
    """

    address: str | None
    pipeline_id: str | None
    locale: str
    suppressions: Sequence[str]
    responder_metadata: Mapping[str, str]
    instance_metadata: Mapping[str, str]
    external_reference: str | None


_COLUMNS: Final = columns_of(Message)
MESSAGE_COLUMNS_M: Final = qualified(_COLUMNS, "m")


async def get_route(db: Database, *, organization_id: str, alert_instance_id: str, now: datetime) -> Route:
    """By the pipeline that asked the customer; else the newest e-mail pipeline of the questionnaire."""
    row = await db.fetch_one(
        """select a.identifier as address, coalesce(n.locale, r.locale, o.default_locale) as locale,
             array(select s.reason from suppression s
                   where s.organization_id = c.organization_id and s.channel_id = 1 and s.address_key = a.address_key
                     and (s.expires_time is null or s.expires_time > $3)) as suppressions,
             coalesce(r.metadata, '{}') as responder_metadata, coalesce(n.metadata, '{}') as instance_metadata,
             (select i.external_reference from queue_item i
              where i.organization_id = n.organization_id and i.item_id = n.item_id
                and i.deleted_time is null) as external_reference,
             (select p.pipeline_id from pipeline p
              where p.organization_id = c.organization_id and p.questionnaire_id = c.questionnaire_id
                and p.channel_id = 1 and p.deleted_time is null
              order by exists (
                select from queue_item i
                where i.organization_id = c.organization_id and i.questionnaire_instance_id = c.instance_id
                  and i.pipeline_id = p.pipeline_id) desc, p.created_time desc limit 1) as pipeline_id
           from alert_instance c
             join organization o on o.organization_id = c.organization_id
             left join responder r on r.organization_id = c.organization_id and r.responder_id = c.responder_id
             left join questionnaire_instance n on n.organization_id = c.organization_id
               and n.instance_id = c.instance_id and n.deleted_time is null
             left join lateral (
               select identifier, address_key from responder_address
               where organization_id = c.organization_id and responder_id = c.responder_id and channel_id = 1
               order by created_time desc limit 1) a on true
           where c.organization_id = $1 and c.alert_instance_id = $2""",
        *(organization_id, alert_instance_id, now),
    )
    return Route(**row)


async def get_message(db: Database, *, organization_id: str, alert_instance_id: str, message_id: str) -> Message | None:
    row = await db.fetch_row(
        f"""select {_COLUMNS} from alert_message
           where organization_id = $1 and alert_instance_id = $2 and message_id = $3""",
        *(organization_id, alert_instance_id, message_id),
    )
    return _message(row) if row else None


async def get_by_key(db: Database, *, organization_id: str, alert_instance_id: str, key: str) -> Message | None:
    row = await db.fetch_row(
        f"""select {_COLUMNS} from alert_message
           where organization_id = $1 and alert_instance_id = $2 and key = $3""",
        *(organization_id, alert_instance_id, key),
    )
    return _message(row) if row else None


async def get_named(db: Database, *, message_id: str) -> Message | None:  # any tenant: an answer names none
    row = await db.fetch_row(f"select {_COLUMNS} from alert_message where message_id = $1 and not incoming", message_id)
    return _message(row) if row else None


async def list_exchanged(
    db: Database, *, organization_id: str, alert_instance_id: str, limit: int
) -> list[tuple[str | None, str, str]]:
    """The newest mails of the case as (`incoming` or `sent`, address, body), and (None, address, "") of theirs."""
    rows = await db.fetch(
        """(select case when incoming then 'incoming' else 'sent' end as kind, address, body from alert_message
            where organization_id = $1 and alert_instance_id = $2 order by created_time desc limit $3)
           union all
           select null, a.identifier, '' from alert_instance c
             join responder_address a on a.organization_id = c.organization_id and a.responder_id = c.responder_id
           where c.organization_id = $1 and c.alert_instance_id = $2 and a.channel_id = 1""",
        *(organization_id, alert_instance_id, limit),
    )
    return [(row["kind"], row["address"], row["body"]) for row in rows]


async def get_last_received(db: Database, *, organization_id: str, alert_instance_id: str) -> str | None:
    """The key of the customer's last mail, its Message-ID."""
    return await db.fetch_value(
        """select key from alert_message
           where organization_id = $1 and alert_instance_id = $2 and incoming
           order by created_time desc, message_id desc limit 1""",
        *(organization_id, alert_instance_id),
    )


async def insert_message(db: Database, *, message: Message) -> bool:  # any tenant: the message names its own
    """Insert it; False where the case has one of its key."""
    row = await db.fetch_row(
        f"""insert into alert_message ({_COLUMNS}, due_time)
           select {_COLUMNS}, created_time from jsonb_populate_record(null::alert_message, $1::jsonb)
           on conflict (organization_id, alert_instance_id, key) do nothing returning message_id""",
        message,
    )
    return row is not None


async def claim_messages(db: Database, *, now: datetime, lease_until: datetime, limit: int) -> list[Message]:
    """Claim due mails, the longest due first; an attempt counts when it begins."""
    rows = await db.fetch(
        f"""with due as materialized (
             select organization_id, message_id from alert_message
             where state = 'waiting' and due_time <= $1 order by due_time limit $3 for update skip locked)
           update alert_message m
           set state = 'claimed', epoch = m.epoch + 1, attempts = m.attempts + 1, lease_until = $2
           from due where m.organization_id = due.organization_id and m.message_id = due.message_id
           returning {MESSAGE_COLUMNS_M}""",
        *(now, lease_until, limit),
    )
    return [_message(row) for row in rows]


async def settle_message(  # any tenant: the message names its own
    db: Database,
    *,
    message: Message,
    state: str,
    due_time: datetime | None = None,
    error: str | None = None,
    now: datetime,
) -> int:
    """Record a step of a claimed mail, unless its lease was lost; return 1 if it was recorded."""
    return await db.execute(
        """update alert_message
           set state = $4, due_time = coalesce($5, due_time), error = $6,
             lease_until = case when $4 = 'sending' then lease_until end,
             finished_time = case when $4 in ('sent', 'failed', 'unknown') then $7::timestamptz end
           where organization_id = $1 and message_id = $2 and epoch = $3 and state in ('claimed', 'sending')""",
        *(message.organization_id, message.message_id, message.epoch, state, due_time, error, now),
    )


async def reap_messages(db: Database, *, now: datetime, limit: int) -> int:
    """Release mails of lost workers; one that was being sent may have arrived, and is not sent again."""
    return await db.execute(
        """update alert_message m
           set state = case m.state when 'claimed' then 'waiting' else 'unknown' end, lease_until = null,
             finished_time = case m.state when 'claimed' then null else $1::timestamptz end,
             error = 'The worker was lost.'
           where (m.organization_id, m.message_id) in (
             select organization_id, message_id from alert_message
             where lease_until < $1 order by lease_until limit $2 for update skip locked)""",
        *(now, limit),
    )


async def delete_messages_of(  # any tenant: a batch of events serves many organizations
    db: Database, *, responders: list[tuple[str, str]]
) -> int:
    return await db.execute(
        """delete from alert_message m
           using alert_instance i, unnest($1::text[], $2::text[]) as b (organization_id, responder_id)
           where i.organization_id = b.organization_id and i.responder_id = b.responder_id
             and m.organization_id = i.organization_id and m.alert_instance_id = i.alert_instance_id""",
        *([one[0] for one in responders], [one[1] for one in responders]),
    )


def _message(row: Row) -> Message:
    return Message(**{name: row[name] for name in Message.__dataclass_fields__})
