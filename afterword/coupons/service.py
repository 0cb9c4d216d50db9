"""Makes, changes and removes coupon pools, and adds codes to them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from afterword import errors, ids
from afterword.core.organizations.access import Caller
from afterword.core.wire import code128
from afterword.coupons import store
from afterword.coupons.store import CouponPool
from afterword.db import Database

POOLS_MAX: Final = 200  # of an organization
CODES_MAX: Final = 1_000_000  # of a pool
CODES_ADDED_MAX: Final = 10_000  # at once
SPACES: Final = " \t\r"


class PoolInUse(errors.Conflict):
    code_default = "in_use"


async def get(db: Database, *, caller: Caller, pool_id: str, is_locked: bool = False) -> CouponPool:
    """Raises NotFound, and Forbidden for confined and test callers: its codes are worth money, and everybody's."""
    _check(caller)
    found = await store.get_pool(db, organization_id=caller.organization_id, pool_id=pool_id, is_locked=is_locked)
    return errors.found(found, "There is no such coupon pool.")


async def create(db: Database, *, caller: Caller, columns: Mapping[str, Any], now: datetime) -> CouponPool:
    """Raises Invalid, and Forbidden for confined and test callers."""
    _check(caller)
    if await store.count_pools_locked(db, organization_id=caller.organization_id) >= POOLS_MAX:
        raise errors.Invalid.at("", "too_many", f"An organization has at most {POOLS_MAX} coupon pools.")
    made = await store.insert_pool(
        db,
        organization_id=caller.organization_id,
        pool_id=ids.ordered(now),
        columns=columns,
        now=now,
        by=caller.actor_id or None,
    )
    return made or _refuse_key()


async def change(
    db: Database, *, caller: Caller, pool_id: str, changes: Mapping[str, Any], expect: errors.Expect, now: datetime
) -> CouponPool:
    before = await get(db, caller=caller, pool_id=pool_id, is_locked=True)
    expect(before.version)
    key = {"organization_id": before.organization_id, "pool_id": pool_id}
    if await store.get_has_key(db, **key, key=changes.get("key", before.key)):
        _refuse_key()
    await store.update_pool(db, **key, changes=changes, now=now, by=caller.actor_id or None)
    return await get(db, caller=caller, pool_id=pool_id)


async def delete(db: Database, *, caller: Caller, pool_id: str, expect: errors.Expect) -> None:
    """Raises NotFound, PoolInUse once a code was given, and what `expect` raises."""
    pool = await get(db, caller=caller, pool_id=pool_id, is_locked=True)
    expect(pool.version)
    if pool.given_count:
        raise PoolInUse("Customers have codes of it, which their pages show.")
    key = {"organization_id": pool.organization_id, "pool_id": pool_id}
    await store.delete_free_codes(db, **key)
    await store.delete_pool(db, **key)


async def withdraw(db: Database, *, caller: Caller, pool_id: str, expect: errors.Expect) -> int:
    """Remove the free codes; their number. Raises NotFound, Stale."""
    pool = await get(db, caller=caller, pool_id=pool_id, is_locked=True)
    expect(pool.version)
    return await store.delete_free_codes(db, organization_id=pool.organization_id, pool_id=pool_id)


async def add(db: Database, *, caller: Caller, pool_id: str, codes: Sequence[str], now: datetime) -> int:
    """Add codes; the number of those that were not in the pool. Raises NotFound, Invalid."""
    pool = await get(db, caller=caller, pool_id=pool_id, is_locked=True)
    errors.check(
        [
            errors.FieldError(
                "invalid_format",
                f"A code has 1 to {code128.CHARACTERS_MAX} printable letters, digits and signs of ASCII.",
                pointer=f"/codes/{place}",
            )
            for place, code in enumerate(codes)
            if code != code.strip() or not code128.can_write(code)
        ][:100]
    )
    if pool.free_count + pool.given_count + len(codes) > CODES_MAX:
        raise errors.Invalid.at("/codes", "too_many", f"A pool has at most {CODES_MAX:,} codes.")
    return await store.insert_codes(db, organization_id=pool.organization_id, pool_id=pool_id, codes=codes, now=now)


async def give(db: Database, *, organization_id: str, key: str, instance_id: str, now: datetime) -> bool:
    """Whether the response has a code of the pool now; False where the pool has none, or there is no such pool."""
    code = await store.claim_code(db, organization_id=organization_id, key=key, instance_id=instance_id, now=now)
    return code is not None


def read_lines(text: str) -> list[str]:
    """The codes of a pasted list or a CSV file: the first field of each line."""
    first = [line.split(",")[0].split(";")[0].strip(SPACES).strip('"') for line in text.lstrip("\ufeff").split("\n")]
    return [code for code in first if code]


def _check(caller: Caller) -> None:
    caller.require_whole()
    caller.require_real()


def _refuse_key() -> CouponPool:
    raise errors.Invalid.at("/key", "already_exists", "Another coupon pool has this key.")
