"""The SQL of what a decision knows: the address, who was asked lately, the message before this one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterword.db import Database

AddressKey = tuple[str, bytes]  # organization_id, address_key


@dataclass(frozen=True, slots=True)
class Recipient:
    """What is known of an address: why it must not be written to, and its responder's clock."""

    organization_id: str
    channel_id: int
    address_key: bytes
    suppression_reason: str | None
    suppressed_time: datetime | None
    time_zone: str | None


@dataclass(frozen=True, slots=True)
class PreviousItem:
    """The item that another one reminds of, with its instance."""

    organization_id: str
    item_id: str
    status: int
    submitted_time: datetime | None
    valid_days: int | None
    sent_time: datetime | None
    created_time: datetime | None


async def list_recipients(  # any tenant: a claimed batch serves many organizations
    db: Database, *, addresses: Sequence[tuple[str, int, bytes]]
) -> list[Recipient]:
    """What is known of these addresses, triples of organization, channel and key; unknown ones are left out."""
    rows = await db.fetch(
        """select b.organization_id, b.channel_id, b.address_key, s.reason as suppression_reason,
             s.created_time as suppressed_time, r.time_zone
           from unnest($1::text[], $2::smallint[], $3::bytea[]) as b (organization_id, channel_id, address_key)
           left join suppression s on s.organization_id = b.organization_id and s.channel_id = b.channel_id
             and s.address_key = b.address_key and (s.expires_time is null or s.expires_time > now())
           left join responder_address d on d.organization_id = b.organization_id and d.channel_id = b.channel_id
             and d.address_key = b.address_key
           left join responder r on r.organization_id = d.organization_id and r.responder_id = d.responder_id
           where s.suppression_id is not null or r.time_zone is not null""",
        [organization_id for organization_id, _, _ in addresses],
        [channel_id for _, channel_id, _ in addresses],
        [key for _, _, key in addresses],
    )
    return [Recipient(**row) for row in rows]


async def list_previous(  # any tenant: a claimed batch serves many organizations
    db: Database, *, items: Sequence[tuple[str, str]]
) -> list[PreviousItem]:
    """These items, pairs of organization and item, with their instances."""
    rows = await db.fetch(
        """select q.organization_id, q.item_id, q.status, i.submitted_time, i.valid_days, i.sent_time, i.created_time
           from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
           join queue_item q on q.organization_id = b.organization_id and q.item_id = b.item_id
           left join questionnaire_instance i on i.organization_id = q.organization_id
             and i.instance_id = q.questionnaire_instance_id and i.deleted_time is null""",
        [organization_id for organization_id, _ in items],
        [item_id for _, item_id in items],
    )
    return [PreviousItem(**row) for row in rows]


async def claim_contacts(db: Database, *, addresses: Sequence[AddressKey]) -> dict[AddressKey, list[dict[str, Any]]]:
    """Who was asked lately, locked in key order until the transaction ends: two batches cannot both be first."""
    ordered = sorted(set(addresses))
    rows = await db.fetch(
        """insert into contact as c (organization_id, address_key)
           select organization_id, address_key from unnest($1::text[], $2::bytea[]) as b (organization_id, address_key)
           order by organization_id, address_key
           on conflict (organization_id, address_key) do update set recent = c.recent
           returning c.organization_id, c.address_key, c.recent""",
        [organization_id for organization_id, _ in ordered],
        [key for _, key in ordered],
    )
    return {(row["organization_id"], row["address_key"]): row["recent"] for row in rows}


async def update_contacts(  # any tenant: a claimed batch serves many organizations
    db: Database, *, recent: Mapping[AddressKey, Sequence[Mapping[str, str]]]
) -> None:
    """Write down who was asked; the rows are locked by claim_contacts."""
    await db.execute(
        """update contact c set recent = b.recent -> 'entries'
           from unnest($1::text[], $2::bytea[], $3::jsonb[]) as b (organization_id, address_key, recent)
           where c.organization_id = b.organization_id and c.address_key = b.address_key""",
        [organization_id for organization_id, _ in recent],
        [key for _, key in recent],
        [{"entries": list(entries)} for entries in recent.values()],  # a list of lists would be a matrix
    )


async def delete_contacts(  # any tenant: a batch of outcomes serves many organizations
    db: Database, *, items: Sequence[tuple[str, str]]
) -> None:
    """Take back the places of items that ended unsent; one with an attempt of unknown outcome keeps its place."""
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
        [organization_id for organization_id, _ in items],
        [item_id for _, item_id in items],
    )
