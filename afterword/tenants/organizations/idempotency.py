"""Stores the first answer to a POST with an `Idempotency-Key`, and returns it to repeated requests."""

import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from afterword import errors
from afterword.errors import FieldError
from afterword.kit import db as database
from afterword.kit.db import Database
from afterword.kit.web.runner import Replay


async def _update_lock_timeout(db: Database, *, seconds: float) -> None:  # any tenant: of this transaction only
    """Limit waits for locks until the end of the transaction."""
    await db.execute("select set_config('lock_timeout', ($1::float8 * 1000)::bigint || 'ms', true)", seconds)


async def update_kept_answer(
    db: Database, *, organization_id: str, key: str, status: int, headers: Mapping[str, str], body: bytes
) -> None:
    """Store a 2xx answer in the transaction of its change. A refusal rolls the key back, so a retry is possible."""
    await db.execute(
        """update idempotency_key set status = $3, headers = $4, body = $5
           where organization_id = $1 and key = $2""",
        *(organization_id, key, status, headers, body),
    )


KEPT_HOURS: Final = 24
WAIT_SECONDS: Final = 2


class IdempotencyInProgress(errors.Conflict):
    code_default = "idempotency_in_progress"


async def claim_idempotency_key(
    db: database.Database, *, organization_id: str, key: str, digest: bytes, now: datetime
) -> Replay | None:
    """Claim the key for the request with this digest, or return the answer of the first one.

    Comes first in the request's transaction: the row is the lock. A second request waits for the end of the first one,
    `WAIT_SECONDS` at most. Raises Invalid `idempotency_key_reused`, IdempotencyInProgress.
    """
    await _update_lock_timeout(db, seconds=WAIT_SECONDS)
    try:
        is_ours = await db.touches(
            """insert into idempotency_key as k (organization_id, key, request_digest, created_time)
               values ($1, $2, $3, $4)
               on conflict (organization_id, key) do update
                 set request_digest = excluded.request_digest, created_time = excluded.created_time,
                     status = null, headers = null, body = null
                 where k.created_time <= $5""",
            *(organization_id, key, digest, now, now - timedelta(hours=KEPT_HOURS)),
        )
    except database.LockTimeout:
        raise _in_progress() from None
    await _update_lock_timeout(db, seconds=database.LOCK_TIMEOUT_SECONDS)
    if is_ours:
        return None
    kept = await db.fetch_row(
        "select request_digest, status, headers, body from idempotency_key where organization_id = $1 and key = $2",
        *(organization_id, key),
    )
    if kept is not None and not hmac.compare_digest(kept["request_digest"], digest):
        raise errors.Invalid(
            "This Idempotency-Key belongs to another request.",
            "idempotency_key_reused",
            [FieldError("idempotency_key_reused", "Use a new key for a new request.", header="Idempotency-Key")],
        )
    if kept is None or kept["status"] is None:  # the first request is still running
        raise _in_progress()
    return kept["status"], kept["headers"] or {}, kept["body"] or b""


def _in_progress() -> IdempotencyInProgress:
    return IdempotencyInProgress(
        "The first request with this Idempotency-Key is still running.", headers={"Retry-After": "1"}
    )
