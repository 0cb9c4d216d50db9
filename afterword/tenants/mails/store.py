"""SQL of mails with notices: claimed under a lease, settled under its epoch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from afterword.kit.db import Database
from afterword.kit.db.columns import arrays

NOTICES_SHOWN_MAX = 50  # in one mail; of more it says how many


@dataclass(frozen=True, slots=True)
class Notice:
    title: str
    body: str
    link: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A claimed mail with its content. `email` is None for a user who is not active any more.

    With a `purpose` (invitation, reset, address, answer) it carries a sealed `link` in place of notices, and for
    `digest` the `content` of a digest of figures.
    """

    organization_id: str
    mail_id: str
    epoch: int
    attempts: int
    email: str | None
    locale: str
    organization_name: str
    notices: tuple[Notice, ...]
    notices_count: int
    purpose: str | None = None
    link: bytes | None = field(default=None, repr=False)
    content: Mapping[str, Any] | None = None


async def insert_mails(  # any tenant: a batch of events serves many organizations
    db: Database, *, mails: Sequence[tuple[str, str, str, datetime]], now: datetime
) -> dict[tuple[str, str, datetime], str]:
    """Return the ids of the mails of these users and times: an existing untried one, else a new one.

    `mails`: a new id, the organization, the user and the time of each.
    """
    rows = await db.fetch(
        """insert into notice_mail as m (organization_id, mail_id, user_id, due_time, created_time)
           select organization_id, mail_id, user_id, due_time, $5
           from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
             as new (mail_id, organization_id, user_id, due_time)
           order by organization_id, user_id, due_time
           on conflict (organization_id, user_id, due_time) where state = 'waiting' and attempts = 0
             do update set due_time = m.due_time
           returning organization_id, user_id, due_time, mail_id""",
        *(*arrays(mails, 4), now),
    )
    return {(row["organization_id"], row["user_id"], row["due_time"]): row["mail_id"] for row in rows}


async def count_link_mails(
    db: Database, *, organization_id: str, user_id: str | None, purpose: str, since: datetime
) -> int:
    """Count the mails to the user, or to all (None), for this purpose since then."""
    return await db.fetch_value(
        """select count(*) from notice_mail where organization_id = $1 and ($2::text is null or user_id = $2)
             and purpose = $3 and created_time > $4""",
        *(organization_id, user_id, purpose, since),
    )


async def insert_mail(
    db: Database,
    *,
    organization_id: str,
    mail_id: str,
    user_id: str | None,
    purpose: str,
    now: datetime,
    recipient: str | None = None,
    locale: str | None = None,
    address_key: bytes | None = None,
    link: bytes | None = None,
    content: dict[str, Any] | None = None,
) -> None:
    """Insert a mail with a link or a digest, which nothing joins."""
    await db.execute(
        """insert into notice_mail (organization_id, mail_id, user_id, due_time, created_time, purpose, recipient,
             locale, address_key, link, content)
           values ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10)""",
        *(organization_id, mail_id, user_id, now, purpose, recipient, locale, address_key, link, content),
    )


async def claim_mails(db: Database, *, now: datetime, lease_until: datetime, limit: int) -> list[Mail]:
    """Claim due mails, the longest due first; an attempt counts when it begins."""
    rows = await db.fetch(
        """with due as materialized (
             select organization_id, mail_id from notice_mail
             where state = 'waiting' and due_time <= $1 order by due_time limit $3 for update skip locked),
           taken as (
             update notice_mail m
             set state = 'claimed', epoch = m.epoch + 1, attempts = m.attempts + 1, lease_until = $2
             from due where m.organization_id = due.organization_id and m.mail_id = due.mail_id
             returning m.organization_id, m.mail_id, m.user_id, m.due_time, m.epoch, m.attempts, m.purpose, m.recipient,
               m.link, m.content, m.locale)
           select t.organization_id, t.mail_id, t.epoch, t.attempts, t.purpose, t.link, t.content,
             case when u.active or t.purpose = 'answer' then coalesce(t.recipient, u.email) end as email,
             coalesce(u.locale, t.locale, o.default_locale) as locale, o.display_name as organization_name,
             array(select jsonb_build_array(n.title, n.body, n.link) from notification n
                   where n.organization_id = t.organization_id and n.mail_id = t.mail_id
                   order by n.created_time, n.notification_id limit $4) as notices,
             (select count(*) from notification n
              where n.organization_id = t.organization_id and n.mail_id = t.mail_id) as notices_count
           from taken t
             join organization o on o.organization_id = t.organization_id
             left join organization_user u on u.organization_id = t.organization_id and u.user_id = t.user_id
           order by t.due_time""",
        *(now, lease_until, limit, NOTICES_SHOWN_MAX),
    )
    return [Mail(**_values(row)) for row in rows]


async def settle_mail(  # any tenant: the mail names its own
    db: Database, *, mail: Mail, state: str, due_time: datetime | None, error: str | None, now: datetime
) -> None:
    """Record the outcome of a claimed mail, `waiting` until `due_time`, unless the lease was lost."""
    await db.execute(
        """update notice_mail
           set state = $4, due_time = coalesce($5, due_time), error = $6, lease_until = null,
             finished_time = case when $4 <> 'waiting' then $7::timestamptz end,
             recipient = case when $4 = 'waiting' or purpose <> 'answer' then recipient end,
             link = case when $4 = 'waiting' then link end, content = case when $4 = 'waiting' then content end
           where organization_id = $1 and mail_id = $2 and epoch = $3 and state = 'claimed'""",
        *(mail.organization_id, mail.mail_id, mail.epoch, state, due_time, error, now),
    )


async def reap_mails(db: Database, *, now: datetime, attempts_max: int, limit: int) -> int:
    """Release mails with an expired lease; those without attempts left fail."""
    return await db.execute(
        """update notice_mail m
           set state = case when m.attempts >= $2 then 'failed' else 'waiting' end, lease_until = null,
             finished_time = case when m.attempts >= $2 then $1::timestamptz end,
             due_time = case when m.attempts >= $2 then m.due_time else $1 end, error = 'The worker was lost.'
           where (m.organization_id, m.mail_id) in (
             select organization_id, mail_id from notice_mail
             where state = 'claimed' and lease_until < $1 order by lease_until limit $3 for update skip locked)""",
        *(now, attempts_max, limit),
    )


def _values(row: Any) -> dict[str, Any]:
    return {**dict(row), "notices": tuple(Notice(*notice) for notice in row["notices"])}
