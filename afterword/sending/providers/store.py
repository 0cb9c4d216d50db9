"""The SQL of provider accounts as operators and organizations keep them; `sending.queue.lanes` uses them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.kit.db import Database

TITLE_CHARACTERS_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Account:
    """A login of an organization on a channel, and the number of pipelines that send through it.

    `is_own`: the organization made it; else the operator did, or it is the installation's own way.
    """

    organization_id: str
    account_id: str
    domain: str
    channel_id: int
    kind: str
    title: str | None
    settings: bytes | None  # sealed
    is_default: bool
    is_own: bool
    state: str  # active, paused, or resting after failures
    version: int
    slots_max: int
    rate: float | None
    rate_ceiling: float | None
    failures: int
    open_until: datetime | None
    paused_time: datetime | None
    paused_reason: str | None
    is_paused_by_operator: bool
    created_time: datetime
    pipelines: int
    inbound_id: str | None  # of its callback endpoint


_INBOUND_ID: Final[LiteralString] = """(select inbound_id from inbound_endpoint e
              where e.organization_id = a.organization_id and e.account_id = a.account_id and e.adapter = 'provider')
               as inbound_id"""
_SELECT: Final[
    LiteralString
] = f"""select a.organization_id, a.account_id, o.domain, a.channel_id, a.kind, a.title, a.settings,
             a.is_default, a.is_own, a.version, a.slots_max, a.rate, a.rate_ceiling, a.failures, a.open_until,
             a.paused_time, a.paused_reason, a.is_paused_by_operator, a.created_time,
             case when a.paused_time is not null then 'paused' when a.open_until > now() then 'resting'
               else 'active' end as state,
             (select count(*) from pipeline p
              where p.organization_id = a.organization_id and p.account_id = a.account_id and p.deleted_time is null)
               as pipelines,
             {_INBOUND_ID}
           from channel_account a join organization o on o.organization_id = a.organization_id"""


async def list_accounts(  # any tenant: for operators
    db: Database, *, organization_id: str | None, limit: int
) -> list[Account]:
    rows = await db.fetch(
        f"""{_SELECT}
           where $1::text is null or a.organization_id = $1
           order by o.domain, a.channel_id, a.is_default desc, a.account_id
           limit $2""",
        organization_id,
        limit,
    )
    return [Account(**row) for row in rows]


async def list_own_accounts(db: Database, *, organization_id: str, page: Page) -> Rows[Account]:
    rows = await db.fetch_list(f"{_SELECT} where a.organization_id = $1", organization_id, page=page)
    return rows.map(lambda row: Account(**row))


async def get_account(db: Database, *, account_id: str) -> Account | None:  # any tenant: for operators
    """The account of this id, locked until the transaction ends."""
    row = await db.fetch_row(f"{_SELECT} where a.account_id = $1 for update of a", account_id)
    return None if row is None else Account(**row)


async def get_own_account(db: Database, *, organization_id: str, account_id: str) -> Account | None:
    row = await db.fetch_row(
        f"{_SELECT} where a.organization_id = $1 and a.account_id = $2", organization_id, account_id
    )
    return None if row is None else Account(**row)


async def count_accounts_locked(db: Database, *, organization_id: str) -> int:
    """Count the accounts; other transactions that add one wait until we commit."""
    await db.execute("select 1 from organization where organization_id = $1 for no key update", organization_id)
    return await db.fetch_value("select count(*) from channel_account where organization_id = $1", organization_id)


async def get_has_own_accounts(db: Database) -> bool:  # any tenant: for operators
    return await db.fetch_value("select exists (select from channel_account where kind <> 'default')")


async def get_has_default(db: Database, *, organization_id: str, channel_id: int) -> bool:
    return await db.fetch_value(
        """select exists (
             select from channel_account where organization_id = $1 and channel_id = $2 and is_default)""",
        organization_id,
        channel_id,
    )


async def list_pipeline_titles(db: Database, *, organization_id: str, account_id: str, limit: int) -> list[str]:
    rows = await db.fetch(
        """select title from pipeline
           where organization_id = $1 and account_id = $2 and deleted_time is null
           order by title, pipeline_id limit $3""",
        organization_id,
        account_id,
        limit,
    )
    return [row["title"] for row in rows]


async def count_other_pipelines(db: Database, *, organization_id: str, channel_id: int, account_id: str) -> int:
    return await db.fetch_value(
        """select count(*) from pipeline
           where organization_id = $1 and channel_id = $2 and account_id <> $3 and deleted_time is null""",
        organization_id,
        channel_id,
        account_id,
    )


async def list_sender_addresses(db: Database, *, organization_id: str, account_id: str, limit: int) -> list[str]:
    """The senders of the mails that pipelines send through it, as far as the organization may send from these."""
    rows = await db.fetch(
        """select distinct p.sender_address from pipeline p
           join organization_sender_domain d on d.organization_id = p.organization_id
             and d.domain in (lower(p.sender_address), lower(split_part(p.sender_address, '@', 2)))
           where p.organization_id = $1 and p.account_id = $2 and p.deleted_time is null
           order by p.sender_address limit $3""",
        organization_id,
        account_id,
        limit,
    )
    return [row["sender_address"] for row in rows]


async def get_sealed(
    db: Database, *, organization_id: str, account_id: str
) -> tuple[str, bytes, int, int, bool, str | None] | None:
    """Kind, sealed settings, version, slots, `is_own` and callback endpoint of an account with settings of its own."""
    row = await db.fetch_row(
        f"""select a.kind, a.settings, a.version, a.slots_max, a.is_own, {_INBOUND_ID}
           from channel_account a where a.organization_id = $1 and a.account_id = $2 and a.settings is not null""",
        organization_id,
        account_id,
    )
    return None if row is None else tuple(row)


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
    is_own: bool,
    now: datetime,
) -> None:
    """Add one that no pipeline uses yet."""
    await db.execute(
        """insert into channel_account (organization_id, account_id, channel_id, kind, title, settings, is_own,
             created_time, updated_time)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $8)""",
        organization_id,
        account_id,
        channel_id,
        kind,
        title,
        settings,
        is_own,
        now,
    )


async def insert_callback(
    db: Database, *, organization_id: str, account_id: str, inbound_id: str, now: datetime
) -> None:
    """Add the address where the account's own provider reports."""
    await db.execute(
        """insert into inbound_endpoint (organization_id, inbound_id, account_id, adapter, created_time)
           values ($1, $2, $3, 'provider', $4)""",
        organization_id,
        inbound_id,
        account_id,
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
           set rate_ceiling = $3, rate = $3, tokens = least(tokens, 0), refilled_time = now(), version = version + 1,
             updated_time = now()
           where organization_id = $1 and account_id = $2""",
        organization_id,
        account_id,
        rate_ceiling,
    )


async def update_default(db: Database, *, organization_id: str, account_id: str, channel_id: int) -> int:
    """Make it the default of its channel and move the pipelines to it; the number of live ones."""
    await db.execute(
        """update channel_account set is_default = false, version = version + 1
           where organization_id = $1 and channel_id = $2 and is_default and account_id <> $3""",
        organization_id,
        channel_id,
        account_id,
    )
    await db.execute(
        """update channel_account set is_default = true, version = version + 1
           where organization_id = $1 and account_id = $2 and not is_default""",
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
