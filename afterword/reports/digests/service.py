"""Digests: a user has a report, or the overview, mailed every week or month, until the user stops it."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import structlog

from afterword import errors, ids
from afterword.alerts.mails import service as mails
from afterword.core.answers import form_tokens
from afterword.core.figures import digests
from afterword.core.organizations.access import ROLE_SCOPES, Caller
from afterword.core.wire import times
from afterword.db import Database, savepoint
from afterword.organizations import store as organizations
from afterword.organizations.store import Organization
from afterword.organizations.users import store as users
from afterword.reports import results
from afterword.reports.digests import store
from afterword.reports.digests.store import Digest

DIGESTS_MAX: Final = 50  # of a user
AGAIN_SECONDS: Final = 60  # between two mails that the user asks for
PURPOSE: Final = "report digest"
VERSION: Final = 1  # of every digest: they are made and stopped, never changed
Content = Mapping[str, Any]
Write = Callable[[Database, Caller, Digest], Awaitable[Content]]

logger: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def create(db: Database, *, caller: Caller, columns: Mapping[str, Any], now: datetime) -> Digest:
    """Raises Forbidden for a token for tests or without a user, Invalid for a report, a day and one too many."""
    caller.require_real()
    user_id = _user_of(caller)
    if columns["frequency"] == "weekly" and columns["day"] > digests.WEEK_DAYS:
        raise errors.Invalid.at("/day", "out_of_range", "A week has the days 1 (Monday) to 7.")
    if columns["report_id"] is not None:
        try:
            report = await results.get_saved(db, caller=caller, report_id=columns["report_id"])
        except errors.NotFound as refusal:
            raise errors.Invalid.at("/report_id", "unknown_id", refusal.detail) from None
        if report.has_texts:
            message = "It shows words of comments, and a mail has figures alone."
            raise errors.Invalid.at("/report_id", "unknown_value", message)
    if len(await list_of(db, caller=caller)) >= DIGESTS_MAX:
        raise errors.Invalid.at("", "too_many", f"A user has {DIGESTS_MAX} digests at most.")
    return await store.insert_digest(
        db,
        organization_id=caller.organization_id,
        digest_id=ids.ordered(now),
        user_id=user_id,
        columns=columns,
        due_time=digests.next_due(
            now,
            frequency=columns["frequency"],
            day=columns["day"],
            hour=columns["hour"],
            zone=times.zone_of(caller.time_zone),
        ),
        now=now,
    )


async def list_of(db: Database, *, caller: Caller) -> list[Digest]:
    if caller.user_id is None:
        return []
    return await store.list_digests(
        db, organization_id=caller.organization_id, user_id=caller.user_id, limit=DIGESTS_MAX
    )


async def get(db: Database, *, caller: Caller, digest_id: str) -> Digest:
    """Raises NotFound, for those of other users too."""
    found = await store.get_digest(db, organization_id=caller.organization_id, digest_id=digest_id)
    if found is None or found.user_id != caller.user_id:
        raise errors.NotFound("There is no such digest.")
    return found


async def send_now(db: Database, *, caller: Caller, digest_id: str, now: datetime) -> Digest:
    """Have a worker send one more mail; the days of the others stay. Raises Forbidden, NotFound, TooMany."""
    caller.require_real()
    found = await get(db, caller=caller, digest_id=digest_id)
    if found.sent_time is not None and now - found.sent_time < timedelta(seconds=AGAIN_SECONDS):
        raise errors.TooMany("One was sent a moment ago.", headers={"Retry-After": str(AGAIN_SECONDS)})
    await store.update_due_time(db, organization_id=caller.organization_id, digest_id=digest_id, due_time=now)
    return found


async def stop(db: Database, *, caller: Caller, digest_id: str, expect: errors.Expect = errors.ANY) -> None:
    """Raises NotFound, and what `expect` raises."""
    await get(db, caller=caller, digest_id=digest_id)
    expect(VERSION)
    await store.delete_digest(db, organization_id=caller.organization_id, digest_id=digest_id)


def stop_token(organization_id: str, digest_id: str, *, secret: bytes) -> str:
    """The secret of the address in a digest's mails, by which it is stopped without a login."""
    return form_tokens.token_of(secret, PURPOSE, f"{organization_id}/{digest_id}")


async def stop_by_token(
    db: Database, *, organization_id: str, digest_id: str, token: str, secret: bytes, is_done: bool
) -> bool:
    """Whether there was such a digest; with `is_done` there is none from now on. Raises NotFound for another token."""
    subject = f"{organization_id}/{digest_id}"
    if not form_tokens.is_token(token, secret=secret, purpose=PURPOSE, subject=subject):
        raise errors.NotFound("There is no such page.")
    if is_done:
        return await store.delete_digest(db, organization_id=organization_id, digest_id=digest_id) > 0
    return await store.get_digest(db, organization_id=organization_id, digest_id=digest_id) is not None


async def mail_due(db: Database, *, write: Write, now: datetime, limit: int) -> int:
    """Mail the digests that are due, each once a period; return their count, `limit` where more may wait.

    The mail is queued in the transaction that moves the digest to its next day. One that fails is logged and waits for
    that day, too: it must not block others.
    """
    due = await store.claim_digests(db, now=now, limit=limit)
    for number, digest in enumerate(due):
        organization = await organizations.get_organization(db, organization_id=digest.organization_id)
        assert organization is not None  # noqa: S101  a key says so
        try:
            async with savepoint(db):
                if (caller := await _reader(db, digest, organization)) is not None:
                    await mails.schedule_digest(
                        db,
                        organization_id=digest.organization_id,
                        user_id=digest.user_id,
                        content=await write(db, caller, digest),
                        now=now + timedelta(microseconds=number),  # one mail of a user at a time
                    )
        except Exception:  # of one digest
            logger.exception("a digest was passed over", digest_id=digest.digest_id)
        await store.settle_digest(
            db,
            organization_id=digest.organization_id,
            digest_id=digest.digest_id,
            due_time=digests.next_due(
                now,
                frequency=digest.frequency,
                day=digest.day,
                hour=digest.hour,
                zone=times.zone_of(organization.time_zone),
            ),
            now=now,
        )
    return len(due)


async def _reader(db: Database, digest: Digest, organization: Organization) -> Caller | None:
    """The user with the rights of this moment; None for one who may read no report any more, or has no address."""
    user = await users.get_user(db, organization_id=digest.organization_id, user_id=digest.user_id)
    if user is None or not user.active or user.email is None or "Report.Read" not in ROLE_SCOPES[user.role]:
        return None
    return Caller(
        organization_id=digest.organization_id,
        token_id="",
        user_id=user.user_id,
        scopes=ROLE_SCOPES[user.role],
        application_ids=tuple(user.application_ids),
        domain=organization.domain,
        time_zone=organization.time_zone,
        default_locale=organization.default_locale,
        role=user.role,
    )


def _user_of(caller: Caller) -> str:
    if caller.user_id is None:
        raise errors.Forbidden("Only a user has digests: use a token of a user.")
    return caller.user_id
