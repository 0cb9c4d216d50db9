"""SQL of receipts: their items, and each receipt once."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any, Final

from afterword.kit.db import Database
from afterword.kit.db.columns import arrays, as_document
from afterword.sending.queue.records import EVENT_COLUMNS, ItemKey

_TOLD: Final = as_document(EVENT_COLUMNS, "q")


@dataclass(frozen=True, slots=True)
class Item:
    """An item that was sent, or may have been, with the columns that reports need."""

    organization_id: str
    item_id: str
    account_id: str
    channel_id: int
    responder_channel_identifier: str
    address_key: bytes
    locale: str | None
    responder_id: str | None
    questionnaire_instance_id: str | None
    dispatched_time: datetime | None
    test: bool
    is_unknown: bool  # the outcome of an attempt is unknown or open, and no other attempt was accepted

    @property
    def key(self) -> ItemKey:
        return self.organization_id, self.item_id


@dataclass(frozen=True, slots=True)
class Receipt:
    """An item as events show it, in `data`."""

    questionnaire_id: str
    version: int
    test: bool
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NewReport:
    """A report of one item, as it is stored. `said` is its text, with addresses masked."""

    organization_id: str
    item_id: str
    kind: str
    is_hard: bool
    is_proven: bool
    code: str
    said: str
    reported_time: datetime | None

    @property
    def key(self) -> tuple[str, str, str, bool, bool]:
        """Identity of a receipt, which is counted once."""
        return self.organization_id, self.item_id, self.kind, self.is_hard, self.is_proven


async def list_items(
    db: Database, *, organization_id: str, item_ids: Sequence[str], since: datetime, account_id: str | None = None
) -> list[Item]:
    """Items sent since then, also by unfinished attempts, on the account's channel or on any."""
    rows = await db.fetch(
        """select q.organization_id, q.item_id, p.account_id, p.channel_id, q.responder_channel_identifier,
             q.address_key, coalesce(q.locale, p.locale) as locale, q.responder_id, q.questionnaire_instance_id,
             q.dispatched_time, q.test, a.is_unknown
           from queue_item q
           join pipeline p on p.organization_id = q.organization_id and p.pipeline_id = q.pipeline_id
           cross join lateral (
             select max(begin_time) as begin_time,
               bool_or(outcome is null or outcome = 'unknown')
                 and not coalesce(bool_or(outcome in ('accepted', 'accepted_late')), false) as is_unknown
             from attempt
             where organization_id = q.organization_id and item_id = q.item_id
               and (outcome is null or outcome in ('accepted', 'accepted_late', 'unknown'))) a
           where q.organization_id = $1 and q.item_id = any($2::text[]) and a.begin_time >= $3
             and ($4::text is null or p.channel_id = (
               -- Pipelines move to other accounts while receipts are under way, so that the channel decides.
               select channel_id from channel_account where organization_id = $1 and account_id = $4))""",
        organization_id,
        list(item_ids),
        since,
        account_id,
    )
    return [Item(**row) for row in rows]


async def get_item_key(  # any tenant: a returned mail names no organization
    db: Database, *, item_id: str
) -> ItemKey | None:
    row = await db.fetch_row(
        """select q.organization_id, q.item_id
           from organization o
           join queue_item q on q.organization_id = o.organization_id and q.item_id = $1""",
        item_id,
    )
    return None if row is None else (row["organization_id"], row["item_id"])


async def list_item_ids_by_reference(
    db: Database, *, organization_id: str, account_id: str, references: Sequence[str]
) -> dict[str, str]:
    rows = await db.fetch(
        """select provider_reference, item_id from provider_reference
           where organization_id = $1 and account_id = $2 and provider_reference = any($3::text[])""",
        organization_id,
        account_id,
        list(references),
    )
    return {row["provider_reference"]: row["item_id"] for row in rows}


async def get_last_item_id(
    db: Database, *, organization_id: str, account_id: str, channel_id: int, address_key: bytes, since: datetime
) -> str | None:
    return await db.fetch_value(
        """select q.item_id
           from responder_address r
           join questionnaire_instance i on i.organization_id = r.organization_id and i.responder_id = r.responder_id
           join queue_item q on q.organization_id = i.organization_id and q.item_id = i.item_id
           join pipeline p on p.organization_id = q.organization_id and p.pipeline_id = q.pipeline_id
           join channel_account a on a.organization_id = q.organization_id and a.account_id = $2
             and a.channel_id = p.channel_id
           where r.organization_id = $1 and r.channel_id = $3 and r.address_key = $4
             and q.address_key = $4 and q.dispatched_time >= $5
           order by q.dispatched_time desc limit 1""",
        organization_id,
        account_id,
        channel_id,
        address_key,
        since,
    )


async def get_last_item(  # any tenant: a returned mail names no organization
    db: Database, *, channel_id: int, address_key: bytes, since: datetime
) -> ItemKey | None:
    row = await db.fetch_row(
        """select q.organization_id, q.item_id
           from organization o
           join responder_address r on r.organization_id = o.organization_id and r.channel_id = $1
             and r.address_key = $2
           join questionnaire_instance i on i.organization_id = r.organization_id and i.responder_id = r.responder_id
           join queue_item q on q.organization_id = i.organization_id and q.item_id = i.item_id
           where q.address_key = $2 and q.dispatched_time >= $3
           order by q.dispatched_time desc limit 1""",
        channel_id,
        address_key,
        since,
    )
    return None if row is None else (row["organization_id"], row["item_id"])


async def list_told(db: Database, *, organization_id: str, item_ids: Sequence[str]) -> dict[str, Receipt]:
    rows = await db.fetch(
        f"""select q.item_id, q.questionnaire_id, q.version, q.test, {_TOLD} as data
           from queue_item q where q.organization_id = $1 and q.item_id = any($2::text[])""",
        organization_id,
        list(item_ids),
    )
    return {row["item_id"]: Receipt(row["questionnaire_id"], row["version"], row["test"], row["data"]) for row in rows}


async def insert_reports(  # any tenant: each report has its own
    db: Database, *, reports: Sequence[NewReport]
) -> set[tuple[str, str, str, bool, bool]]:
    """Insert reports, at the database's time as attempts have it; the keys of the new ones."""
    ordered = sorted(reports, key=lambda report: report.key)
    rows = await db.fetch(
        """insert into delivery_report (organization_id, item_id, kind, is_hard, is_proven, code, said, reported_time,
             created_time)
           select organization_id, item_id, kind, is_hard, is_proven, code, said, reported_time, now()
           from unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::boolean[], $6::text[], $7::text[],
             $8::timestamptz[])
             with ordinality as n (organization_id, item_id, kind, is_hard, is_proven, code, said, reported_time, place)
           order by place
           on conflict do nothing
           returning organization_id, item_id, kind, is_hard, is_proven""",
        *arrays(map(astuple, ordered), 8),
    )
    return {(row["organization_id"], row["item_id"], row["kind"], row["is_hard"], row["is_proven"]) for row in rows}
