"""Mails to users, with notices or with a link that works once, and to visitors: schedule, claim, settle."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal, LiteralString

import msgspec

from afterword import ids
from afterword.core.scheduling import retries
from afterword.core.wire.site import API_PREFIX, Site
from afterword.kit import sealing
from afterword.kit.db import Database
from afterword.kit.db.columns import arrays
from afterword.kit.texts import Texts, texts
from afterword.kit.transport import base
from afterword.kit.transport.base import EMAIL, Message
from afterword.kit.transport.mime import one_line
from afterword.kit.web import html

Purpose = Literal["invitation", "reset", "address", "answer", "digest", "consent"]

NOTICES_SHOWN_MAX = 50  # in one mail; of more it says how many


class Notice(msgspec.Struct, frozen=True):
    title: str
    body: str
    link: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A message that one worker has, until its lease ends."""

    organization_id: str
    mail_id: str
    epoch: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail(Claimed):
    """A claimed mail with its content. `email` is None for a user who is not active any more.

    With a `purpose` (invitation, reset, address, answer) it carries a sealed `link` in place of notices, and for
    `digest` and `consent` the `content` of a digest of figures.
    """

    email: str | None
    locale: str
    organization_name: str
    notices: tuple[Notice, ...]
    notices_count: int
    purpose: str | None = None
    link: bytes | None = field(default=None, repr=False)
    content: Mapping[str, Any] | None = None


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
    user_id: str | None,
    purpose: Purpose,
    now: datetime,
    recipient: str | None = None,
    locale: str | None = None,
    address_key: bytes | None = None,
    url: str = "",
    secret: bytes = b"",
    content: Mapping[str, Any] | None = None,
    chat_id: str | None = None,
) -> None:
    """Mail a link or a digest, which nothing joins: to `recipient`, else to the user, or into a chat.

    `url`: of a page that opens something, stored sealed by the `secret`; without a user a visitor confirms an address.
    In the user's language, else in `locale`. A digest has figures, or asks whether `recipient` wants them (consent).
    """
    mail_id = ids.ordered(now)
    link = sealing.seal(url, secret=secret, context=link_context(mail_id)) if url else None
    await db.execute(
        """insert into notice_mail (organization_id, mail_id, user_id, due_time, created_time, purpose, recipient,
             locale, address_key, link, content, chat_id)
           values ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11)""",
        *(organization_id, mail_id, user_id, now, purpose, recipient, locale, address_key, link, content, chat_id),
    )


SUBJECT_CHARACTERS_MAX = 200
SETTINGS: Final = "/console/settings/notifications"
CASE: Final = re.compile(rf"{re.escape(API_PREFIX)}/alert/instance/([0-9A-Za-z]{{22}})")
# Subject and sentence by purpose.
LINKS: Final[Mapping[str, tuple[str, str]]] = {
    "invitation": (
        "{organization} invites you to Afterword",
        "Open this page and choose a password. The link works once, for three days.",
    ),
    "reset": (
        "A new password for Afterword",
        "Open this page and choose a new password. The link works once, for an hour.",
    ),
    "address": (
        "Your new address for Afterword",
        "Open this page to log in with this address from now on. The link works once, for an hour.",
    ),
    "answer": (
        "Your link to the questions of {organization}",
        "Open this page to answer. The link is for you alone, and opens the questions for a day.",
    ),
}


class _Content(msgspec.Struct, frozen=True):
    subject: str
    template: str
    lines: Sequence[str]  # of the plain text, a paragraph each
    language: str
    locale: str
    values: Mapping[str, Any]  # of the template
    stop_url: str = ""


def compose(mail: Mail, *, recipient: str, sender: str, site: Site, now: datetime) -> Message:
    words = texts("notices", mail.locale)
    if mail.content is not None:
        content = _of_digest(mail.content, site)
    elif mail.purpose:
        content = _of_link(mail, words, site)
    else:
        content = _of_notices(mail, words, site)
    subject = one_line(content.subject)[:SUBJECT_CHARACTERS_MAX]
    headers = {"Content-Language": content.language}
    if content.stop_url:
        headers["List-Unsubscribe"] = f"<{content.stop_url}>"
    return Message(
        item_id=mail.mail_id,
        organization_id=mail.organization_id,
        channel_id=EMAIL,
        recipient=recipient,
        sender=sender,
        sender_name=mail.organization_name,
        reply_to=None,
        subject=subject,
        html=html.render(f"email/{content.template}.html", subject=subject, **content.values),
        text="\n\n".join(filter(None, content.lines)),
        locale=content.locale,
        composed_time=now,
        headers=headers,
        to_user=True,
    )


def _of_notices(mail: Mail, words: Texts, site: Site) -> _Content:
    """The subject is the title of a single one, else their count."""
    pages = [page_of_case(one.link) for one in mail.notices]
    shown = [
        {"title": one.title, "body": one.body, "where": f"{site.public_url}{page}" if page else ""}
        for one, page in zip(mail.notices, pages, strict=True)
    ]
    several = words.plural("{n} notice", "{n} notices", mail.notices_count)
    rest = mail.notices_count - len(shown)
    return _listed(
        mail,
        words,
        subject=mail.notices[0].title if mail.notices_count == 1 else several,
        notices=shown,
        why=words("You get this mail because you follow this in Afterword."),
        more=words.plural("And {n} more.", "And {n} more.", rest) if rest > 0 else "",
        settings_url=f"{site.public_url}{SETTINGS}",
    )


def _of_link(mail: Mail, words: Texts, site: Site) -> _Content:
    """Raises sealing.Unreadable where the installation's secret has changed since."""
    title, body = LINKS[mail.purpose or ""]
    url = sealing.unseal(mail.link or b"", secret=site.secret, context=link_context(mail.mail_id))
    subject = one_line(words(title, organization=mail.organization_name))
    return _listed(
        mail,
        words,
        subject=subject,
        notices=[{"title": subject, "body": words(body), "where": url}],
        why=words("If you did not expect this mail, do nothing: without the link nothing changes."),
    )


def _listed(
    mail: Mail,
    words: Texts,
    *,
    subject: str,
    notices: Sequence[Mapping[str, str]],
    why: str,
    more: str = "",
    settings_url: str = "",
) -> _Content:
    """`settings_url`: where the user chooses what is mailed."""
    # Without the marks of direction around it, which mail programs would take for a part of the address.
    choosing = words("To choose what is mailed: {url}").split("{url}") if settings_url else []
    lines = ["\n".join(filter(None, (one["title"], one["body"], one["where"]))) for one in notices]
    values = {"language": words.language, "direction": words.direction, "notices": notices, "more": more, "why": why}
    return _Content(
        subject,
        "notices",
        [*lines, more, why, settings_url.join(choosing)],
        words.language,
        mail.locale,
        {**values, "choosing": choosing, "settings_url": settings_url},
    )


def _of_digest(content: Mapping[str, Any], site: Site) -> _Content:
    """Figures in words and tables. `content` has the texts in their language, and addresses without the site's own."""
    url, stop_url = (f"{site.public_url}{path}" if (path := content[name]) else "" for name in ("url", "stop_url"))
    lines: list[str] = [content["period"]]
    for section in content["sections"]:
        links = [f"{text}: {site.public_url}{path}" if path else text for text, path in section.get("links", ())]
        lines.append("\n".join(filter(None, (section["title"], *section["sentences"], *links))))
        heads = section["head"]
        lines += [
            f"{row[0]}: {', '.join(f'{head} {cell}' for head, cell in zip(heads[1:], row[1:], strict=False) if cell)}"
            for row in section["rows"]
        ]
    lines += [f"{content['open']}: {url}" if url else "", f"{content['why']} {content['stop']}: {stop_url}"]
    values = {"content": content, "url": url, "stop_url": stop_url, "site_url": site.public_url}
    return _Content(content["subject"], "digest", lines, content["language"], content["language"], values, stop_url)


def page_of_case(link: str | None) -> str:
    """The path of the console's page of a case, by a notice's link; empty for what has none."""
    case = CASE.fullmatch(link or "")
    return f"/console/cases/{case[1]}" if case else ""


SEND_SECONDS_MAX: Final = 60
LEASE_SECONDS: Final = 180
ATTEMPTS_MAX: Final = 8
ERROR_CHARACTERS_MAX: Final = 500
GATHER_SECONDS: Final = 40  # that a call waits for the score and the words of its response
FAILING_DAYS_MAX: Final = 5  # of nothing but failures

assert LEASE_SECONDS > 2 * SEND_SECONDS_MAX  # noqa: S101  a mail is settled long before somebody else may take it

MailKey = tuple[str, str, datetime]  # organization_id, user_id, due_time
Outcome = Literal["sent", "failed", "retry"]


async def insert_mails(  # any tenant: a batch of events serves many organizations
    db: Database, *, keys: Iterable[MailKey], now: datetime
) -> dict[MailKey, str]:
    """Return the ids of the mails to these users at these times, untried ones or new; later notices join them."""
    mails = [(ids.ordered(now), *key) for key in sorted(set(keys))]
    if not mails:
        return {}
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


def link_context(mail_id: str) -> str:
    return f"mail:{mail_id}"


async def claim_mails(db: Database, *, now: datetime, limit: int) -> list[Mail]:  # any tenant: workers serve all
    """Claim due mails for `LEASE_SECONDS`, the longest due first, after those of lost workers were released.

    An attempt counts when it begins.
    """
    await reap_mails(db, now=now, limit=limit)
    rows = await db.fetch(
        f"""with due as materialized (
             select organization_id, mail_id from notice_mail
             where state = 'waiting' and due_time <= $1 and {_OWNER} = ''
             order by due_time limit $3 for update skip locked),
           taken as (
             update notice_mail m
             set state = 'claimed', epoch = m.epoch + 1, attempts = m.attempts + 1, lease_until = $2
             from due where m.organization_id = due.organization_id and m.mail_id = due.mail_id
             returning m.organization_id, m.mail_id, m.user_id, m.due_time, m.epoch, m.attempts, m.purpose, m.recipient,
               m.link, m.content, m.locale)
           select t.organization_id, t.mail_id, t.epoch, t.attempts, t.purpose, t.link, t.content,
             case when (u.active or t.purpose = 'answer') and d.user_id is null
               then coalesce(t.recipient, u.email) end as email,
             coalesce(u.locale, t.locale, o.default_locale) as locale, o.display_name as organization_name,
             array(select jsonb_build_array(n.title, n.body, n.link) from notification n
                   where n.organization_id = t.organization_id and n.mail_id = t.mail_id
                   order by n.created_time, n.notification_id limit $4) as notices,
             (select count(*) from notification n
              where n.organization_id = t.organization_id and n.mail_id = t.mail_id) as notices_count
           from taken t
             join organization o on o.organization_id = t.organization_id
             left join organization_user u on u.organization_id = t.organization_id and u.user_id = t.user_id
             left join demonstration d on d.organization_id = t.organization_id  -- from which no mail leaves
           order by t.due_time""",
        *(now, now + timedelta(seconds=LEASE_SECONDS), limit, NOTICES_SHOWN_MAX),
    )
    return [Mail(**dict[str, Any](row, notices=tuple(Notice(*one) for one in row["notices"]))) for row in rows]


async def reap_mails(db: Database, *, now: datetime, limit: int) -> None:  # any tenant: workers serve all
    """Release mails and calls with an expired lease; those without attempts left fail."""
    await db.execute(
        """update notice_mail m
           set state = case when m.attempts >= $2 then 'failed' else 'waiting' end, lease_until = null,
             finished_time = case when m.attempts >= $2 then $1::timestamptz end,
             due_time = case when m.attempts >= $2 then m.due_time else $1 end, error = 'The worker was lost.'
           where (m.organization_id, m.mail_id) in (
             select organization_id, mail_id from notice_mail
             where state = 'claimed' and lease_until < $1 order by lease_until limit $3 for update skip locked)""",
        *(now, ATTEMPTS_MAX, limit),
    )


async def settle_mail(
    db: Database,
    *,
    mail: Claimed,
    outcome: Outcome,
    reason: str,
    now: datetime,
    jitter: float,
    after: timedelta = timedelta(0),
) -> None:
    """Record the outcome of a mail, with the reason of a failure, unless the lease was lost.

    `retry` waits longer each time, at least `after`.
    """
    state, due_time = "waiting" if outcome == "retry" else outcome, None
    if outcome == "retry":
        if retries.is_used_up(mail.attempts, attempts_max=ATTEMPTS_MAX):
            state = "failed"
        else:
            due_time = now + max(retries.backoff(mail.attempts, jitter=jitter), after)
    error = None if outcome == "sent" else reason[:ERROR_CHARACTERS_MAX]
    await db.execute(
        """update notice_mail
           set state = $4, due_time = coalesce($5, due_time), error = $6, lease_until = null,
             finished_time = case when $4 <> 'waiting' then $7::timestamptz end,
             recipient = case when $4 = 'waiting' or purpose not in ('answer', 'consent', 'digest') then recipient end,
             link = case when $4 = 'waiting' then link end, content = case when $4 = 'waiting' then content end
           where organization_id = $1 and mail_id = $2 and epoch = $3 and state = 'claimed'""",
        *(mail.organization_id, mail.mail_id, mail.epoch, state, due_time, error, now),
    )


_OWNER: Final[LiteralString] = "coalesce(chat_id, source_id, '')"  # of a call; '' of a mail to a user


def _claiming(owner: LiteralString, prefix: LiteralString) -> LiteralString:
    """The beginning of a statement that claims the first due call of each owner, a table: one at a time, as `taken`.

    $1: now, $2: the end of the lease, $3: how many, $4: for how many seconds the row of a new response is awaited.
    """
    return f"""with recursive owner as ( -- those for which something waits, by a probe of the index each
             (select organization_id, {_OWNER} as id from notice_mail
              where state = 'waiting' and {_OWNER} > '' order by {_OWNER}, due_time limit 1)
             union all
             select n.organization_id, n.id from owner, lateral (
               select organization_id, {_OWNER} as id from notice_mail
               where state = 'waiting' and {_OWNER} > owner.id order by {_OWNER}, due_time limit 1) n),
           due as materialized (
             select c.organization_id, m.mail_id from owner
               join {owner} c on c.organization_id = owner.organization_id and c.{owner}_id = owner.id
               cross join lateral (
                 select w.mail_id, w.due_time from notice_mail w
                 where w.organization_id = c.organization_id and coalesce(w.chat_id, w.source_id, '') = c.{owner}_id
                   and w.state = 'waiting'
                   and w.due_time <= $1 and (w.content ->> 'instance_id' is null
                     or w.created_time < $1 - make_interval(secs => $4) or exists (
                       select from response r where r.organization_id = w.organization_id
                         and r.instance_id = w.content ->> 'instance_id'))
                 order by w.due_time, w.mail_id limit 1 for update skip locked) m
             where c.{prefix}active and (c.{prefix}resume_time is null or c.{prefix}resume_time <= $1) and not exists (
               select from notice_mail o where o.organization_id = c.organization_id
                 and o.{owner}_id = c.{owner}_id and o.state = 'claimed')
             order by m.due_time limit $3),
           taken as (
             update notice_mail m
             set state = 'claimed', epoch = m.epoch + 1, attempts = m.attempts + 1, lease_until = $2
             from due where m.organization_id = due.organization_id and m.mail_id = due.mail_id
             returning m.organization_id, m.mail_id, m.epoch, m.attempts, m.{owner}_id, m.purpose, m.content)"""


CLAIM_OF_CHATS: Final[LiteralString] = _claiming("chat", "")
CLAIM_OF_SOURCES: Final[LiteralString] = _claiming("source", "note_")


async def settle_call(
    db: Database,
    owner: LiteralString,
    prefix: LiteralString,
    *,
    organization_id: str,
    owner_id: str,
    outcome: base.Outcome,
    now: datetime,
    call: Claimed | None = None,
    composed: bool = True,
    jitter: float = 1.0,
    is_gone: bool = False,
) -> bool:
    """Record how a call to the owner went; True where that switched it off: it is gone, or all have failed for days.

    `call`: the claimed one, None where the owner was only tried; `composed`: whether it could be made. It is
    made again where its outcome is unknown.
    """
    reason = "" if isinstance(outcome, base.Sent) else outcome.reason
    after = retries.clamped(outcome.after_seconds if isinstance(outcome, base.Retry) else None)
    if call is not None:
        is_over: Outcome = "sent" if isinstance(outcome, base.Sent) else "failed"
        told = is_over if isinstance(outcome, base.Sent | base.Refused) else "retry"
        await settle_mail(db, mail=call, outcome=told, reason=reason, now=now, jitter=jitter, after=after)
    return composed and bool(
        await db.fetch_value(
            _outcome(owner, prefix),
            *(organization_id, owner_id, reason[:ERROR_CHARACTERS_MAX], now + after, now, is_gone),
            now - timedelta(days=FAILING_DAYS_MAX),
        )
    )


def _outcome(owner: LiteralString, prefix: LiteralString) -> LiteralString:
    return f"""update {owner} c set {prefix}problem = nullif($3, ''),
                 {prefix}resume_time = nullif($4::timestamptz, $5),
                 {prefix}sent_time = case when $3 = '' then $5::timestamptz else c.{prefix}sent_time end,
                 {prefix}failing_since = case when $3 <> '' then coalesce(c.{prefix}failing_since, $5) end,
                 {prefix}active = c.{prefix}active and not o.is_over, version = c.version + o.is_over::integer,
                 {prefix}disabled_time = case when o.is_over then $5 else c.{prefix}disabled_time end,
                 updated_time = case when o.is_over then $5 else c.updated_time end
               from (select organization_id, {owner}_id,
                   {prefix}active and $3 <> '' and ($6 or coalesce({prefix}failing_since <= $7, false)) as is_over
                 from {owner} where organization_id = $1 and {owner}_id = $2 for no key update) o
               where c.organization_id = $1 and c.{owner}_id = $2 returning o.is_over"""
