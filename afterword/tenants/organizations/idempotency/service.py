"""Stores the first answer to a POST with an `Idempotency-Key`, and returns it to repeated requests."""

import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from afterword import errors
from afterword.errors import FieldError
from afterword.kit import db as database
from afterword.tenants.organizations.idempotency import store

KEPT_HOURS: Final = 24
WAIT_SECONDS: Final = 2
PRUNE_ROWS_MAX: Final = 1000


class IdempotencyKeyReused(errors.Invalid):
    code_default = "idempotency_key_reused"


class IdempotencyInProgress(errors.Conflict):
    code_default = "idempotency_in_progress"


class Replay(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


async def claim_idempotency_key(
    db: database.Database, *, organization_id: str, key: str, digest: bytes, now: datetime
) -> Replay | None:
    """Claim the key for the request with this digest, or return the answer of the first one.

    Comes first in the request's transaction: the row is the lock. A second request waits for the end of the first one,
    `WAIT_SECONDS` at most. Raises IdempotencyKeyReused, IdempotencyInProgress.
    """
    stale_time = now - timedelta(hours=KEPT_HOURS)
    await store.update_lock_timeout(db, seconds=WAIT_SECONDS)
    try:
        is_ours = await store.claim_idempotency_key(
            db, organization_id=organization_id, key=key, request_digest=digest, now=now, stale_time=stale_time
        )
    except database.LockTimeout:
        raise _in_progress() from None
    await store.update_lock_timeout(db, seconds=database.LOCK_TIMEOUT_SECONDS)
    if is_ours:
        return None
    kept = await store.get_kept_answer(db, organization_id=organization_id, key=key)
    if kept is not None and not hmac.compare_digest(kept.request_digest, digest):
        raise IdempotencyKeyReused(
            "This Idempotency-Key belongs to another request.",
            errors=[FieldError("idempotency_key_reused", "Use a new key for a new request.", header="Idempotency-Key")],
        )
    if kept is None or kept.status is None:
        raise _in_progress()
    return Replay(kept.status, kept.headers or {}, kept.body or b"")


async def keep_idempotent_answer(
    db: database.Database, *, organization_id: str, key: str, status: int, headers: Mapping[str, str], body: bytes
) -> None:
    """Store a 2xx answer in the transaction of its change. A refusal rolls the key back, so a retry is possible."""
    await store.update_kept_answer(
        db, organization_id=organization_id, key=key, status=status, headers=headers, body=body
    )


def _in_progress() -> IdempotencyInProgress:
    return IdempotencyInProgress(
        "The first request with this Idempotency-Key is still running.", headers={"Retry-After": "1"}
    )
