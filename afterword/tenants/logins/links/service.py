"""Links that work once: made with a secret that is stored nowhere, read by GET, used up by POST."""

import hashlib
from datetime import datetime, timedelta
from typing import Any, Final

from afterword import errors, ids
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.tenants.logins.links import store
from afterword.tenants.logins.links.store import Link
from afterword.tenants.mails import service as mails
from afterword.tenants.mails import store as mails_store
from afterword.tenants.organizations.users import User, get_user

LIFETIMES: Final = {
    "setup": timedelta(hours=1),
    "invitation": timedelta(hours=72),
    "reset": timedelta(hours=1),
    "address": timedelta(hours=1),
}
RESETS_PER_HOUR: Final = 3
LINKS_PER_HOUR: Final = 3  # of other purposes, for one user
INVITATIONS_PER_HOUR: Final = 200  # of an organization
HOUR: Final = timedelta(hours=1)


class LinkGone(errors.Gone):
    """It was used, replaced by a newer one, or its time is over."""

    code_default = "link_gone"


async def make(db: Database, *, link: Link, now: datetime) -> str:
    """The secret of a new link. Earlier ones for the same purpose of the same person, or organization, stop to work."""
    if link.purpose != "reset":
        await store.delete_links(
            db, purpose=link.purpose, organization_id=link.organization_id, login_id=link.login_id, user_id=link.user_id
        )
    secret = ids.secret()
    expires = now + LIFETIMES[link.purpose]
    await store.insert_link(db, digest=_digest(secret), link=link, now=now, expires_time=expires)
    return secret


async def invite(db: Database, *, user: User, site: Site, now: datetime) -> datetime:
    """Mail the link by which this person chooses a password; returns its end. Earlier ones stop to work.

    Raises Forbidden for a service account, TooMany.
    """
    if user.email is None:
        raise errors.Forbidden("A service account cannot log in, so it is not invited.")
    await get_user(db, organization_id=user.organization_id, user_id=user.user_id, is_locked=True)
    await require_few(db, organization_id=user.organization_id, user_id=user.user_id, purpose="invitation", now=now)
    link = Link("invitation", user.organization_id, user.user_id, None, user.email)
    secret = await make(db, link=link, now=now)
    await mails.schedule_link(
        db,
        organization_id=user.organization_id,
        user_id=user.user_id,
        purpose="invitation",
        url=f"{site.public_url}/console/invitation/{secret}",
        recipient=user.email,
        secret=site.secret,
        now=now,
    )
    return now + LIFETIMES["invitation"]


async def require_few(db: Database, *, organization_id: str, user_id: str, purpose: str, now: datetime) -> None:
    """Raise TooMany where strangers could be flooded with such mails."""
    sent: dict[str, Any] = {"organization_id": organization_id, "purpose": purpose, "since": now - HOUR}
    is_over = await mails_store.count_link_mails(db, user_id=user_id, **sent) >= LINKS_PER_HOUR
    if purpose == "invitation" and not is_over:
        is_over = await mails_store.count_link_mails(db, user_id=None, **sent) >= INVITATIONS_PER_HOUR
    if is_over:
        sentence = "Too many mails with such a link were sent within an hour. Wait an hour."
        raise errors.TooMany(sentence, headers={"Retry-After": str(int(HOUR.total_seconds()))})


async def read(db: Database, *, secret: str, purpose: str, now: datetime) -> Link:
    """Raises LinkGone."""
    found = await store.get_link(db, digest=_digest(secret), purpose=purpose, now=now)
    return _required(found)


async def use(db: Database, *, secret: str, purpose: str, now: datetime) -> Link:
    """Use the link up; it works again if the transaction is rolled back. Raises LinkGone."""
    return _required(await store.delete_link(db, digest=_digest(secret), purpose=purpose, now=now))


async def may_reset(db: Database, *, login_id: str, now: datetime) -> bool:
    """Whether another mail may be sent: a stranger must not fill somebody's mailbox."""
    return await store.count_links(db, purpose="reset", login_id=login_id, after=now - HOUR) < RESETS_PER_HOUR


async def end_resets(db: Database, *, login_id: str) -> None:
    await store.delete_links(db, purpose="reset", login_id=login_id)


def _required(link: Link | None) -> Link:
    if link is None:
        raise LinkGone("This link has been used already, a newer one has replaced it, or its time is over.")
    return link


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
