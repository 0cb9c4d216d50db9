"""SQL of coupon pools and their codes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from afterword.core.wire.lists import Page, Rows
from afterword.db import Database, Row
from afterword.db.columns import assigned, qualified


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponPool:
    organization_id: str
    pool_id: str
    key: str
    title: str
    low_count: int
    version: int
    created_time: datetime
    updated_time: datetime
    created_by: str | None
    updated_by: str | None
    free_count: int = 0
    given_count: int = 0

    @property
    def is_low(self) -> bool:
        return self.free_count <= self.low_count


@dataclass(frozen=True, slots=True, kw_only=True)
class CouponCode:
    code: str
    instance_id: str | None
    responder_id: str | None
    given_time: datetime | None
    created_time: datetime


_CHANGEABLE: Final[LiteralString] = "key, title, low_count"
_COLUMNS: Final[LiteralString] = f"""organization_id, pool_id, {_CHANGEABLE}, version, created_time, updated_time,
  created_by, updated_by"""
_POOLS: Final[LiteralString] = f"""select {qualified(_COLUMNS, "p")},
    (select count(*) from coupon_code c where c.organization_id = p.organization_id and c.pool_id = p.pool_id
       and c.instance_id is null) as free_count,
    (select count(*) from coupon_code c where c.organization_id = p.organization_id and c.pool_id = p.pool_id
       and c.instance_id is not null) as given_count
  from coupon_pool p where p.organization_id = $1"""

# The pools of $1 with few free codes, which are counted up to that.
LOW_POOLS: Final[LiteralString] = """select * from (
    select p.pool_id, p.title, p.low_count, (select count(*) from (
      select from coupon_code c where c.organization_id = p.organization_id and c.pool_id = p.pool_id
        and c.instance_id is null limit p.low_count + 1) f) as free_count
    from coupon_pool p where p.organization_id = $1) p
  where free_count <= low_count"""


async def get_pool(db: Database, *, organization_id: str, pool_id: str, is_locked: bool = False) -> CouponPool | None:
    lock: LiteralString = "for no key update of p" if is_locked else ""
    row = await db.fetch_row(f"{_POOLS} and p.pool_id = $2 {lock}", organization_id, pool_id)
    return _pool(row) if row else None


async def list_pools(db: Database, *, organization_id: str, page: Page) -> Rows[CouponPool]:
    rows = await db.fetch_list(_POOLS, organization_id, page=page)
    return rows.map(_pool)


async def list_keys(db: Database, *, organization_id: str, keys: Sequence[str]) -> set[str]:
    rows = await db.fetch(
        "select key from coupon_pool where organization_id = $1 and key = any($2::text[])", organization_id, keys
    )
    return {row["key"] for row in rows}


async def count_pools_locked(db: Database, *, organization_id: str) -> int:
    await db.execute("select pg_advisory_xact_lock(hashtextextended('coupon_pool:' || $1, 0))", organization_id)
    return await db.fetch_value("select count(*) from coupon_pool where organization_id = $1", organization_id)


async def insert_pool(
    db: Database, *, organization_id: str, pool_id: str, columns: Mapping[str, Any], now: datetime, by: str | None
) -> CouponPool | None:
    """None where another pool has the key."""
    row = await db.fetch_row(
        f"""insert into coupon_pool (organization_id, pool_id, {_CHANGEABLE}, created_time, updated_time, created_by,
             updated_by)
           select $1, $2, {qualified(_CHANGEABLE, "s")}, $4, $4, $5, $5
           from jsonb_populate_record(null::coupon_pool, $3::jsonb) s
           on conflict (organization_id, key) do nothing
           returning {_COLUMNS}""",
        *(organization_id, pool_id, dict(columns), now, by),
    )
    return _pool(row) if row else None


async def get_has_key(db: Database, *, organization_id: str, key: str, pool_id: str) -> bool:
    return await db.fetch_value(
        "select exists (select from coupon_pool where organization_id = $1 and key = $2 and pool_id <> $3)",
        *(organization_id, key, pool_id),
    )


async def update_pool(
    db: Database, *, organization_id: str, pool_id: str, changes: Mapping[str, Any], now: datetime, by: str | None
) -> None:
    await db.execute(
        f"""update coupon_pool p
           set {assigned(_CHANGEABLE, "s")}, version = p.version + 1, updated_time = greatest(p.updated_time, $4),
             updated_by = $5
           from coupon_pool o, jsonb_populate_record(o, $3::jsonb) s
           where p.organization_id = $1 and p.pool_id = $2 and o.organization_id = $1 and o.pool_id = $2
             and ({qualified(_CHANGEABLE, "p")}) is distinct from ({qualified(_CHANGEABLE, "s")})""",
        *(organization_id, pool_id, dict(changes), now, by),
    )


async def delete_pool(db: Database, *, organization_id: str, pool_id: str) -> None:
    """With its codes; call `delete_free_codes` first."""
    await db.execute("delete from coupon_pool where organization_id = $1 and pool_id = $2", organization_id, pool_id)


async def delete_free_codes(db: Database, *, organization_id: str, pool_id: str) -> int:
    return await db.execute(
        "delete from coupon_code where organization_id = $1 and pool_id = $2 and instance_id is null",
        *(organization_id, pool_id),
    )


async def insert_codes(db: Database, *, organization_id: str, pool_id: str, codes: Sequence[str], now: datetime) -> int:
    return await db.execute(
        """insert into coupon_code (organization_id, pool_id, code, created_time)
           select $1, $2, code, $4 from unnest($3::text[]) code order by code on conflict do nothing""",
        *(organization_id, pool_id, list(codes), now),
    )


async def list_codes(db: Database, *, organization_id: str, pool_id: str, page: Page) -> Rows[CouponCode]:
    """Each with the response that has it, and the person."""
    rows = await db.fetch_list(
        """select c.code, c.instance_id, i.responder_id, c.given_time, c.created_time from coupon_code c
           left join questionnaire_instance i on i.organization_id = $1 and i.instance_id = c.instance_id
           where c.organization_id = $1 and c.pool_id = $2""",
        *(organization_id, pool_id),
        page=page,
    )
    return rows.map(lambda row: CouponCode(**dict(row)))


async def list_codes_of(db: Database, *, organization_id: str, instance_id: str) -> dict[str, str]:
    """The codes of a response, by the key of their pool."""
    rows = await db.fetch(
        """select p.key, c.code from coupon_code c
           join coupon_pool p on p.organization_id = $1 and p.pool_id = c.pool_id
           where c.organization_id = $1 and c.instance_id = $2""",
        *(organization_id, instance_id),
    )
    return {row["key"]: row["code"] for row in rows}


async def claim_code(db: Database, *, organization_id: str, key: str, instance_id: str, now: datetime) -> str | None:
    """The code that the response has of this pool, else the next free one, which it has from now on; None: no code."""
    return await db.fetch_value(
        """with had as (
             select c.code from coupon_code c
             join coupon_pool p on p.organization_id = $1 and p.pool_id = c.pool_id and p.key = $2
             where c.organization_id = $1 and c.instance_id = $3),
           free as (
             select c.pool_id, c.code from coupon_code c
             where c.organization_id = $1 and c.instance_id is null and not exists (select from had)
               and c.pool_id = (select pool_id from coupon_pool where organization_id = $1 and key = $2)
             order by c.code limit 1 for update skip locked),
           given as (
             update coupon_code c set instance_id = $3, given_time = $4 from free f
             where c.organization_id = $1 and c.pool_id = f.pool_id and c.code = f.code returning c.code)
           select code from had union all select code from given""",
        *(organization_id, key, instance_id, now),
    )


def _pool(row: Row) -> CouponPool:
    return CouponPool(**dict(row))
