"""The SQL of callback endpoints."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A callback endpoint of an account; `settings` are sealed, None where the account's own suffice."""

    organization_id: str
    inbound_id: str
    account_id: str
    channel_id: int
    adapter: str
    settings: bytes | None
    confirm_url: str | None
    confirm_time: datetime | None
    last_time: datetime | None
    created_time: datetime


_SELECT: Final[
    LiteralString
] = """select e.organization_id, e.inbound_id, e.account_id, a.channel_id, e.adapter, e.settings,
             e.confirm_url, e.confirm_time, e.last_time, e.created_time
           from inbound_endpoint e
           join channel_account a on a.organization_id = e.organization_id and a.account_id = e.account_id"""


async def get_endpoint(db: Database, *, inbound_id: str) -> Endpoint | None:  # any tenant: the path has none
    row = await db.fetch_row(f"{_SELECT} where e.inbound_id = $1", inbound_id)
    return None if row is None else Endpoint(**row)


async def list_endpoints(db: Database, *, organization_id: str) -> list[Endpoint]:
    rows = await db.fetch(
        f"{_SELECT} where e.organization_id = $1 order by e.created_time, e.inbound_id", organization_id
    )
    return [Endpoint(**row) for row in rows]


async def list_own_endpoints(db: Database, *, organization_id: str, page: Page) -> Rows[Endpoint]:
    rows = await db.fetch_list(f"{_SELECT} where e.organization_id = $1", organization_id, page=page)
    return rows.map(lambda row: Endpoint(**row))


async def get_own_endpoint(db: Database, *, organization_id: str, inbound_id: str) -> Endpoint | None:
    row = await db.fetch_row(
        f"{_SELECT} where e.organization_id = $1 and e.inbound_id = $2", organization_id, inbound_id
    )
    return None if row is None else Endpoint(**row)


async def list_account_ids(db: Database, *, organization_id: str, channel_id: int) -> list[str]:
    """The organization's accounts on a channel, its default first."""
    rows = await db.fetch(
        """select account_id from channel_account where organization_id = $1 and channel_id = $2
           order by is_default desc, created_time, account_id""",
        organization_id,
        channel_id,
    )
    return [row["account_id"] for row in rows]


async def insert_endpoint(
    db: Database,
    *,
    organization_id: str,
    inbound_id: str,
    account_id: str,
    adapter: str,
    settings: bytes | None,
    now: datetime,
) -> bool:
    """Add it; False if the account has one of that form."""
    row = await db.fetch_row(
        """insert into inbound_endpoint (organization_id, inbound_id, account_id, adapter, settings, created_time)
           values ($1, $2, $3, $4, $5, $6)
           on conflict (organization_id, account_id, adapter) do nothing returning inbound_id""",
        organization_id,
        inbound_id,
        account_id,
        adapter,
        settings,
        now,
    )
    return row is not None


async def update_endpoint_heard(
    db: Database, *, organization_id: str, inbound_id: str, confirm_url: str | None, now: datetime
) -> None:
    """Record the time of the last call, to the minute, and an address that asks to be confirmed."""
    await db.execute(
        """update inbound_endpoint
           set last_time = $4, confirm_url = coalesce($3, confirm_url),
             confirm_time = case when $3::text is null then confirm_time else $4 end
           where organization_id = $1 and inbound_id = $2
             and ($3::text is not null or last_time is null or last_time < $4::timestamptz - interval '1 minute')""",
        organization_id,
        inbound_id,
        confirm_url,
        now,
    )


async def delete_endpoint(db: Database, *, organization_id: str, inbound_id: str) -> bool:
    count = await db.execute(
        "delete from inbound_endpoint where organization_id = $1 and inbound_id = $2", organization_id, inbound_id
    )
    return count == 1
