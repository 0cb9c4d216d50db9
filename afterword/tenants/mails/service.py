"""Mails to users, with notices or with a link that works once, and to visitors: schedule, claim, settle."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from afterword import ids
from afterword.core.scheduling import retries
from afterword.kit import sealing
from afterword.kit.db import Database
from afterword.tenants.mails import store
from afterword.tenants.mails.store import Mail

SEND_SECONDS_MAX: Final = 60
LEASE_SECONDS: Final = 180
ATTEMPTS_MAX: Final = 8
ERROR_CHARACTERS_MAX: Final = 500

assert LEASE_SECONDS > 2 * SEND_SECONDS_MAX  # noqa: S101  a mail is settled long before somebody else may take it

MailKey = tuple[str, str, datetime]  # organization_id, user_id, due_time
Outcome = Literal["sent", "refused", "retry"]
Purpose = Literal["invitation", "reset", "address", "answer"]


async def schedule(db: Database, *, keys: Iterable[MailKey], now: datetime) -> dict[MailKey, str]:
    """Return the ids of the mails to these users at these times; later notices join the same mails."""
    mails = [(ids.ordered(now), *key) for key in sorted(set(keys))]
    return await store.insert_mails(db, mails=mails, now=now) if mails else {}


async def schedule_link(
    db: Database,
    *,
    organization_id: str,
    user_id: str | None,
    purpose: Purpose,
    url: str,
    recipient: str,
    locale: str | None = None,
    address_key: bytes | None = None,
    secret: bytes,
    now: datetime,
) -> None:
    """Mail the address of a page that opens something, in the user's language, else in `locale`. It is stored sealed.

    Without a user it goes to a visitor who confirms an address.
    """
    mail_id = ids.ordered(now)
    await store.insert_mail(
        db,
        organization_id=organization_id,
        mail_id=mail_id,
        user_id=user_id,
        purpose=purpose,
        recipient=recipient,
        locale=locale,
        address_key=address_key,
        link=sealing.seal(url, secret=secret, context=link_context(mail_id)),
        now=now,
    )


async def schedule_digest(
    db: Database, *, organization_id: str, user_id: str, content: Mapping[str, Any], now: datetime
) -> None:
    await store.insert_mail(
        db,
        organization_id=organization_id,
        mail_id=ids.ordered(now),
        user_id=user_id,
        purpose="digest",
        content=dict(content),
        now=now,
    )


def link_context(mail_id: str) -> str:
    return f"mail:{mail_id}"


async def claim(db: Database, *, now: datetime, limit: int) -> list[Mail]:
    """Claim due mails for `LEASE_SECONDS`, after those of lost workers were released."""
    await store.reap_mails(db, now=now, attempts_max=ATTEMPTS_MAX, limit=limit)
    return await store.claim_mails(db, now=now, lease_until=now + timedelta(seconds=LEASE_SECONDS), limit=limit)


async def settle(db: Database, *, mail: Mail, outcome: Outcome, reason: str, now: datetime, jitter: float) -> None:
    """Record the outcome of a mail, with the reason of a failure; `retry` waits longer each time."""
    state, due_time = {"sent": "sent", "refused": "failed", "retry": "waiting"}[outcome], None
    if outcome == "retry":
        if retries.is_used_up(mail.attempts, attempts_max=ATTEMPTS_MAX):
            state = "failed"
        else:
            due_time = now + retries.backoff(mail.attempts, jitter=jitter)
    error = None if outcome == "sent" else reason[:ERROR_CHARACTERS_MAX]
    await store.settle_mail(db, mail=mail, state=state, due_time=due_time, error=error, now=now)
