"""SQL of idempotency keys and their stored answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The row of an idempotency key. Without a status the first request is still running."""

    request_digest: bytes
    status: int | None
    headers: dict[str, str] | None
    body: bytes | None


async def claim_idempotency_key(
    db: Database, *, organization_id: str, key: str, request_digest: bytes, now: datetime, stale_time: datetime
) -> bool:
    """Claim the key; wait while another transaction has it. False: there is a stored answer newer than `stale_time`."""
    taken = await db.fetch_value(
        """insert into idempotency_key as k (organization_id, key, request_digest, created_time)
           values ($1, $2, $3, $4)
           on conflict (organization_id, key) do update
             set request_digest = excluded.request_digest, created_time = excluded.created_time,
                 status = null, headers = null, body = null
             where k.created_time <= $5
           returning true""",
        *(organization_id, key, request_digest, now, stale_time),
    )
    return bool(taken)


async def update_lock_timeout(db: Database, *, seconds: float) -> None:  # any tenant: of this transaction only
    """Limit waits for locks until the end of the transaction."""
    await db.execute("select set_config('lock_timeout', ($1::float8 * 1000)::bigint || 'ms', true)", seconds)


async def get_kept_answer(db: Database, *, organization_id: str, key: str) -> KeptAnswer | None:
    row = await db.fetch_row(
        """select request_digest, status, headers, body from idempotency_key
           where organization_id = $1 and key = $2""",
        *(organization_id, key),
    )
    return KeptAnswer(**dict(row)) if row else None


async def update_kept_answer(
    db: Database, *, organization_id: str, key: str, status: int, headers: Mapping[str, str], body: bytes
) -> None:
    await db.execute(
        """update idempotency_key set status = $3, headers = $4, body = $5
           where organization_id = $1 and key = $2""",
        *(organization_id, key, status, headers, body),
    )
