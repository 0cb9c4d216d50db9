"""The SQL of the facts of decisions: the address, its recent contacts, the message before this one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from afterword.core.scheduling.lanes import LaneKey
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, qualified
from afterword.people.responders.store import AddressId
from afterword.sending.queue.records import DECIDED_COLUMNS, ItemKey, WaitingItem

AddressKey = tuple[str, bytes]  # organization_id, address_key
CONTACTS: Final = 1  # a kind of row of the history
SENT: Final = 2


@dataclass(frozen=True, slots=True)
class PreviousItem:
    organization_id: str
    item_id: str
    status: int
    submitted_time: datetime | None
    full_quota_id: str | None
    valid_days: int | None
    sent_time: datetime | None
    created_time: datetime | None
    was_used: bool  # an anonymous invitation that took answers


@dataclass(frozen=True, slots=True)
class History:
    """Entries of `contact`, messages sent as such entries, the last response; `titles` of the pipelines of both."""

    contacts: dict[AddressKey, list[dict[str, Any]]]
    sent: dict[AddressKey, list[dict[str, Any]]]
    responded: dict[AddressKey, datetime]
    titles: dict[LaneKey, str]


async def list_previous(  # any tenant: a claimed batch serves many organizations
    db: Database, *, items: Sequence[ItemKey]
) -> list[PreviousItem]:
    rows = await db.fetch(
        """select q.organization_id, q.item_id, q.status, i.submitted_time, i.full_quota_id, i.valid_days, i.sent_time,
             i.created_time, coalesce(i.anonymity = 'invitation' and i.finalized, false) as was_used
           from unnest($1::text[], $2::text[]) as b (organization_id, item_id)
           join queue_item q on q.organization_id = b.organization_id and q.item_id = b.item_id
           left join questionnaire_instance i on i.organization_id = q.organization_id
             and i.instance_id = q.questionnaire_instance_id and i.deleted_time is null""",
        *arrays(items, 2),
    )
    return [PreviousItem(**row) for row in rows]


async def list_waiting(  # any tenant: a claimed batch serves many organizations
    db: Database, *, addresses: Collection[AddressKey], until: datetime, limit: int
) -> list[WaitingItem]:
    rows = await db.fetch(
        f"""select {qualified(DECIDED_COLUMNS, "q")}, not p.paused and p.deleted_time is null and a.paused_time is null
               and (a.open_until is null or a.open_until <= now()) as is_open
           from unnest($1::text[], $2::bytea[]) as b (organization_id, address_key)
           join queue_item q on q.organization_id = b.organization_id and q.address_key = b.address_key
             and q.status::int = 1 and q.due_time <= $3 -- as the index of addresses is written
           join pipeline p on p.organization_id = q.organization_id and p.pipeline_id = q.pipeline_id
           join channel_account a on a.organization_id = p.organization_id and a.account_id = p.account_id
           order by q.due_time, q.item_id limit $4""",
        *arrays(addresses, 2),
        until,
        limit,
    )
    return [WaitingItem(**row) for row in rows]


async def list_history(  # any tenant: a claimed batch serves many organizations
    db: Database,
    *,
    contacts_of: Collection[AddressKey],
    sent: Mapping[AddressId, tuple[datetime, datetime]],
    responded_since: Mapping[AddressId, datetime],
    sent_max: int,
) -> History:
    """Read contacts without a lock, messages sent between two times each, newest first, and the last response since.

    Tests are among the contacts alone.
    """
    rows = await db.fetch(
        """select 1 as kind, c.organization_id, c.address_key, c.recent, null::timestamptz as time,
             null as pipeline_id, null as item_id,
             (select jsonb_object_agg(p.pipeline_id, p.title) from jsonb_array_elements(c.recent) e
              join pipeline p on p.organization_id = c.organization_id and p.pipeline_id = e ->> 'pipeline_id'
             ) as titles
           from unnest($1::text[], $2::bytea[]) as b (organization_id, address_key)
           join contact c on c.organization_id = b.organization_id and c.address_key = b.address_key
           union all
           (select 2, b.organization_id, b.address_key, null, i.sent_time, q.pipeline_id, q.item_id,
             jsonb_build_object(p.pipeline_id, p.title)
           from unnest($3::text[], $4::smallint[], $5::bytea[], $6::timestamptz[], $7::timestamptz[])
             as b (organization_id, channel_id, address_key, since, until)
           join responder_address d on d.organization_id = b.organization_id and d.channel_id = b.channel_id
             and d.address_key = b.address_key
           join questionnaire_instance i on i.organization_id = d.organization_id and i.responder_id = d.responder_id
             and i.sent_time > b.since and i.sent_time < b.until and not i.test
           join queue_item q on q.organization_id = i.organization_id and q.item_id = i.item_id
             and q.address_key = b.address_key
           join pipeline p on p.organization_id = q.organization_id and p.pipeline_id = q.pipeline_id
           order by i.sent_time desc limit $8)
           union all
           select 3, b.organization_id, b.address_key, null, max(i.submitted_time), null, null, null
           from unnest($9::text[], $10::smallint[], $11::bytea[], $12::timestamptz[])
             as b (organization_id, channel_id, address_key, since)
           join responder_address d on d.organization_id = b.organization_id and d.channel_id = b.channel_id
             and d.address_key = b.address_key
           join questionnaire_instance i on i.organization_id = d.organization_id and i.responder_id = d.responder_id
             and i.submitted_time > b.since and i.deleted_time is null and not i.test
           group by b.organization_id, b.address_key""",
        *arrays(contacts_of, 2),
        *arrays(sent, 3),
        [since for since, _ in sent.values()],
        [until for _, until in sent.values()],
        sent_max,
        *arrays(responded_since, 3),
        list(responded_since.values()),
    )
    found = History({}, {}, {}, {})
    for row in rows:
        key = row["organization_id"], row["address_key"]
        found.titles.update(((key[0], pipeline_id), title) for pipeline_id, title in (row["titles"] or {}).items())
        if row["kind"] == CONTACTS:
            found.contacts[key] = row["recent"]
        elif row["kind"] == SENT:
            entry = {"time": row["time"].isoformat(), "pipeline_id": row["pipeline_id"], "item_id": row["item_id"]}
            found.sent.setdefault(key, []).append(entry)
        else:
            found.responded[key] = row["time"]
    return found


async def list_titles(  # any tenant: a claimed batch serves many organizations
    db: Database, *, pipelines: Collection[LaneKey]
) -> dict[LaneKey, str]:
    """The titles of these pipelines, also of deleted ones."""
    rows = await db.fetch(
        """select p.organization_id, p.pipeline_id, p.title
           from unnest($1::text[], $2::text[]) as b (organization_id, pipeline_id)
           join pipeline p on p.organization_id = b.organization_id and p.pipeline_id = b.pipeline_id""",
        *arrays(pipelines, 2),
    )
    return {(row["organization_id"], row["pipeline_id"]): row["title"] for row in rows}


async def claim_contacts(db: Database, *, addresses: Sequence[AddressKey]) -> dict[AddressKey, list[dict[str, Any]]]:
    """Lock the contacts of these addresses in key order, so that two batches cannot both reserve the last one."""
    rows = await db.fetch(
        """insert into contact as c (organization_id, address_key)
           select organization_id, address_key from unnest($1::text[], $2::bytea[]) as b (organization_id, address_key)
           order by organization_id, address_key
           on conflict (organization_id, address_key) do update set recent = c.recent
           returning c.organization_id, c.address_key, c.recent""",
        *arrays(sorted(set(addresses)), 2),
    )
    return {(row["organization_id"], row["address_key"]): row["recent"] for row in rows}


async def update_contacts(  # any tenant: a claimed batch serves many organizations
    db: Database, *, recent: Mapping[AddressKey, Sequence[Mapping[str, str]]]
) -> None:
    """Write the recent contacts; the rows are locked by claim_contacts."""
    await db.execute(
        """update contact c set recent = b.recent -> 'entries'
           from unnest($1::text[], $2::bytea[], $3::jsonb[]) as b (organization_id, address_key, recent)
           where c.organization_id = b.organization_id and c.address_key = b.address_key""",
        *arrays(recent, 2),
        [{"entries": list(entries)} for entries in recent.values()],  # a list of lists would be a matrix
    )
