"""Links that work once: made with a secret that is stored nowhere, read by GET, used up by POST."""

from datetime import datetime, timedelta
from typing import Any, Final, LiteralString

import msgspec

from afterword import errors, ids
from afterword.core.wire.site import Site
from afterword.kit.db import Database, Row
from afterword.tenants import mails
from afterword.tenants.organizations.users import User, get_user


class Link(msgspec.Struct, frozen=True):
    """`purpose` is setup, invitation, reset or address; the ids are those that it needs."""

    purpose: str
    organization_id: str | None
    user_id: str | None
    login_id: str | None
    email: str | None


_COLUMNS: Final[LiteralString] = "purpose, organization_id, user_id, login_id, email"


async def _insert_link(  # any tenant: a login belongs to a person
    db: Database, *, digest: bytes, link: Link, now: datetime, expires_time: datetime
) -> None:
    await db.execute(
        f"""insert into login_link (digest, {_COLUMNS}, created_time, expires_time)
           values ($1, $2, $3, $4, $5, $6, $7, $8)""",
        *(digest, link.purpose, link.organization_id, link.user_id, link.login_id, link.email, now, expires_time),
    )


async def get_link(  # any tenant: the link says which
    db: Database, *, secret: str, purpose: str, now: datetime
) -> Link:
    """Raises LinkGone."""
    row = await db.fetch_row(
        f"select {_COLUMNS} from login_link where digest = $1 and purpose = $2 and expires_time > $3",
        *(ids.digest(secret), purpose, now),
    )
    return _required(row)


async def claim_link(  # any tenant: the link says which
    db: Database, *, secret: str, purpose: str, now: datetime
) -> Link:
    """Use the link up; it works again if the transaction is rolled back. Raises LinkGone.

    Of those who come at the same time one gets it.
    """
    row = await db.fetch_row(
        f"delete from login_link where digest = $1 and purpose = $2 and expires_time > $3 returning {_COLUMNS}",
        *(ids.digest(secret), purpose, now),
    )
    return _required(row)


async def delete_links(  # any tenant: a login belongs to a person
    db: Database,
    *,
    purpose: str,
    organization_id: str | None = None,
    login_id: str | None = None,
    user_id: str | None = None,
) -> None:
    await db.execute(
        """delete from login_link where purpose = $1 and login_id is not distinct from $2
             and user_id is not distinct from $3 and organization_id is not distinct from $4""",
        *(purpose, login_id, user_id, organization_id),
    )


async def get_may_reset(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, now: datetime
) -> bool:
    """Whether another mail may be sent: a stranger must not fill somebody's mailbox."""
    sent = await db.fetch_value(
        "select count(*) from login_link where purpose = 'reset' and login_id = $1 and created_time > $2",
        *(login_id, now - HOUR),
    )
    return sent < RESETS_PER_HOUR


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
        await delete_links(
            db, purpose=link.purpose, organization_id=link.organization_id, login_id=link.login_id, user_id=link.user_id
        )
    secret = ids.secret()
    expires = now + LIFETIMES[link.purpose]
    await _insert_link(db, digest=ids.digest(secret), link=link, now=now, expires_time=expires)
    return secret


async def mail(
    db: Database,
    *,
    purpose: mails.Purpose,
    email: str,
    organization_id: str,
    user_id: str,
    login_id: str | None = None,
    site: Site,
    now: datetime,
) -> None:
    """Mail a link for this login, without one for this user, in the language of the user."""
    named = (None, None, login_id) if login_id else (organization_id, user_id, None)
    secret = await make(db, link=Link(purpose, *named, email), now=now)
    await mails.insert_mail(
        db,
        organization_id=organization_id,
        user_id=user_id,
        purpose=purpose,
        url=f"{site.public_url}/console/{purpose}/{secret}",
        recipient=email,
        secret=site.secret,
        now=now,
    )


async def invite(db: Database, *, user: User, site: Site, now: datetime) -> datetime:
    """Mail the link by which this person chooses a password; returns its end. Earlier ones stop to work.

    Raises Forbidden for a service account, TooMany.
    """
    if user.email is None:
        raise errors.Forbidden("A service account cannot log in, so it is not invited.")
    key = {"organization_id": user.organization_id, "user_id": user.user_id}
    await get_user(db, **key, is_locked=True)
    await require_few(db, **key, purpose="invitation", now=now)
    await mail(db, purpose="invitation", email=user.email, **key, site=site, now=now)
    return now + LIFETIMES["invitation"]


async def require_few(db: Database, *, organization_id: str, user_id: str, purpose: str, now: datetime) -> None:
    """Raise TooMany where strangers could be flooded with such mails."""
    sent: dict[str, Any] = {"organization_id": organization_id, "purpose": purpose, "since": now - HOUR}
    is_over = await mails.count_link_mails(db, user_id=user_id, **sent) >= LINKS_PER_HOUR
    if purpose == "invitation" and not is_over:
        is_over = await mails.count_link_mails(db, user_id=None, **sent) >= INVITATIONS_PER_HOUR
    if is_over:
        sentence = "Too many mails with such a link were sent within an hour. Wait an hour."
        raise errors.TooMany(sentence, headers={"Retry-After": str(int(HOUR.total_seconds()))})


def _required(row: Row | None) -> Link:
    if row is None:
        raise LinkGone("This link has been used already, a newer one has replaced it, or its time is over.")
    return Link(**row)
