"""The SQL of provider accounts as operators keep them; how a lane uses them is in `queue.lanes`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from afterword.db import Database

TITLE_CHARACTERS_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Account:
    """A login of an organization on a channel, and the number of pipelines that send through it."""

    organization_id: str
    account_id: str
    domain: str
    channel_id: int
    kind: str
    title: str | None
    settings: bytes | None  # sealed
    is_default: bool
    version: int
    slots_max: int
    rate: float | None
    rate_ceiling: float | None
    failures: int
    open_until: datetime | None
    paused_time: datetime | None
    paused_reason: str | None
    created_time: datetime
    pipelines: int
    inbound_id: str | None  # of its callback endpoint


_INBOUND_ID: Final = """(select inbound_id from inbound_endpoint e
              where e.organization_id = a.organization_id and e.account_id = a.account_id and e.adapter = 'provider')
               as inbound_id"""
_SELECT: Final = f"""select a.organization_id, a.account_id, o.domain, a.channel_id, a.kind, a.title, a.settings,
             a.is_default, a.version, a.slots_max, a.rate, a.rate_ceiling, a.failures, a.open_until, a.paused_time,
             a.paused_reason, a.created_time,
             (select count(*) from pipeline p
              where p.organization_id = a.organization_id and p.account_id = a.account_id and p.deleted_time is null)
               as pipelines,
             {_INBOUND_ID}
           from channel_account a join organization o on o.organization_id = a.organization_id"""


async def list_accounts(  # any tenant: for operators
    db: Database, *, organization_id: str | None, limit: int
) -> list[Account]:
    """The accounts of all organizations, or of one, by domain and channel."""
    rows = await db.fetch(
        f"""{_SELECT}
           where $1::text is null or a.organization_id = $1
           order by o.domain, a.channel_id, a.is_default desc, a.account_id
           limit $2""",
        organization_id,
        limit,
    )
    return [Account(**row) for row in rows]


async def get_account(db: Database, *, account_id: str) -> Account | None:  # any tenant: for operators
    """The account of this id, locked until the transaction ends."""
    row = await db.fetch_row(f"{_SELECT} where a.account_id = $1 for update of a", account_id)
    return None if row is None else Account(**row)


async def get_sealed(
    db: Database, *, organization_id: str, account_id: str
) -> tuple[str, bytes, int, int, str | None] | None:
    """Kind, sealed settings, version, slots and callback endpoint of an account that has settings of its own."""
    row = await db.fetch_row(
        f"""select a.kind, a.settings, a.version, a.slots_max, {_INBOUND_ID}
           from channel_account a where a.organization_id = $1 and a.account_id = $2 and a.settings is not null""",
        organization_id,
        account_id,
    )
    return None if row is None else (row["kind"], row["settings"], row["version"], row["slots_max"], row["inbound_id"])


async def get_settings_version(db: Database, *, organization_id: str, account_id: str) -> int | None:
    return await db.fetch_value(
        """select version from channel_account
           where organization_id = $1 and account_id = $2 and settings is not null""",
        organization_id,
        account_id,
    )


async def insert_account(
    db: Database,
    *,
    organization_id: str,
    account_id: str,
    channel_id: int,
    kind: str,
    title: str | None,
    settings: bytes,
    now: datetime,
) -> None:
    """Add one that no pipeline uses yet."""
    await db.execute(
        """insert into channel_account (organization_id, account_id, channel_id, kind, title, settings, created_time,
             updated_time)
           values ($1, $2, $3, $4, $5, $6, $7, $7)""",
        organization_id,
        account_id,
        channel_id,
        kind,
        title,
        settings,
        now,
    )


async def update_account(
    db: Database, *, organization_id: str, account_id: str, title: str | None, settings: bytes | None, slots_max: int
) -> None:
    """Write what an operator may change; null settings stay as they are. Workers make its channel anew."""
    await db.execute(
        """update channel_account
           set title = $3, settings = coalesce($4, settings), slots_max = $5, version = version + 1,
             updated_time = now()
           where organization_id = $1 and account_id = $2""",
        organization_id,
        account_id,
        title,
        settings,
        slots_max,
    )


async def update_ceiling(db: Database, *, organization_id: str, account_id: str, rate_ceiling: float | None) -> None:
    """Limit its messages a second; null: no limit but its slots, until it is throttled."""
    await db.execute(
        """update channel_account
           set rate_ceiling = $3, rate = $3, tokens = least(tokens, 0), refilled_time = now(), updated_time = now()
           where organization_id = $1 and account_id = $2""",
        organization_id,
        account_id,
        rate_ceiling,
    )


async def update_default(db: Database, *, organization_id: str, account_id: str, channel_id: int) -> int:
    """Make it the default of its channel and move the pipelines to it; the number of live ones."""
    await db.execute(
        """update channel_account set is_default = false
           where organization_id = $1 and channel_id = $2 and is_default and account_id <> $3""",
        organization_id,
        channel_id,
        account_id,
    )
    await db.execute(
        "update channel_account set is_default = true where organization_id = $1 and account_id = $2",
        organization_id,
        account_id,
    )
    count = await db.fetch_value(
        """with moved as (
             update pipeline set account_id = $3, version = version + 1
             where organization_id = $1 and channel_id = $2 and account_id <> $3
             returning deleted_time)
           select count(*) from moved where deleted_time is null""",
        organization_id,
        channel_id,
        account_id,
    )
    return int(count)


async def delete_account(db: Database, *, organization_id: str, account_id: str) -> bool:
    """Remove an account without pipelines, with its callback endpoint; False if it has any."""
    count = await db.execute(
        """delete from channel_account a
           where a.organization_id = $1 and a.account_id = $2 and not exists (
             select from pipeline p where p.organization_id = a.organization_id and p.account_id = a.account_id)""",
        organization_id,
        account_id,
    )
    return count == 1
