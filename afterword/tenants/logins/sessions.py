"""Sessions: opened by a log-in, found by a cookie, ended one by one or all together."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from afterword import errors, ids
from afterword.core.organizations.access import ROLE_SCOPES, VISITOR_SCOPES, Caller, limit_of
from afterword.kit.db import Database
from afterword.tenants import audit


class Session(msgspec.Struct, frozen=True):
    """A session that has not ended, with the user as whom it acts now."""

    session_id: str
    login_id: str
    organization_id: str
    user_id: str
    proven_time: datetime
    seen_time: datetime
    email: str
    user_name: str
    user_locale: str | None
    role: str
    application_ids: list[str]
    only_where: str | None  # with `only_values` the limit
    only_values: list[str]
    only_title: str | None  # of the limit's metadata, where the organization declared it
    domain: str
    organization_name: str
    logo: str | None  # the address of a picture of ours
    time_zone: str
    first_weekday: int
    default_locale: str
    demonstration_time: datetime | None  # when its customers and answers were made up, if they are
    home: str | None  # organization/user to go back to, while it only looks at the made-up shop
    pause_reason: str | None  # where no account of the organization sends
    mail_kind: str | None  # of the account that its mails leave through; None: it has none yet
    mail_fails: bool  # that account is paused, or its last mail could not be handed over
    is_of_provider: bool  # the identity provider of the organization opened it
    networks: list[str]  # from which the organization lets its people in; empty: from anywhere
    needs_second_factor: bool  # before anything else is open
    needs_provider: bool  # this log-in opens nothing here


class OpenSession(msgspec.Struct, frozen=True):
    session_id: str
    device: str
    network: str
    created_time: datetime
    seen_time: datetime


async def get_session(
    db: Database, *, cookie: str, now: datetime
) -> Session | None:  # any tenant: the cookie says which
    return await db.records(Session).fetch_row(
        """select s.session_id, s.login_id, s.organization_id, s.user_id, s.proven_time, s.seen_time, u.email,
             coalesce(u.display_name, nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.email) as user_name,
             u.locale as user_locale, u.role, u.application_ids, u.only_where, u.only_values,
             case when u.only_where is not null then (
               select t.title from metadata_definition t where t.organization_id = o.organization_id
                 and t.kind = 'questionnaire' and t.name = u.only_where order by t.level <> 'organization' limit 1)
               end as only_title,
             o.domain, o.display_name as organization_name,
             case when o.brand->>'logo' like '/%' then o.brand->>'logo' end as logo,
             coalesce(u.time_zone, o.time_zone) as time_zone, o.first_weekday, o.default_locale,
             i.login_id is not null as is_of_provider, coalesce(p.console_networks, '{}') as networks,
             i.login_id is null
               and coalesce(p.requires_second_factor or (p.requires_provider and u.role = 'owner'), false)
               and exists (select from login l where l.login_id = s.login_id and l.totp_time is null)
               and not exists (select from login_passkey k where k.login_id = s.login_id) as needs_second_factor,
             i.login_id is null and coalesce(p.requires_provider and u.role <> 'owner', false) and exists (
               select from identity_provider ip
               where ip.organization_id = s.organization_id and ip.authorization_url is not null) as needs_provider,
             o.demonstration_time,
             case when d.user_id is not null then s.home_organization_id || '/' || s.home_user_id end as home,
             (select coalesce(max(a.paused_reason), '') from channel_account a
              where a.organization_id = o.organization_id having bool_and(a.paused_time is not null)) as pause_reason,
             m.kind as mail_kind, coalesce(m.paused_time is not null or m.failures > 0, false) as mail_fails
           from login_session s
             join organization_user u on u.organization_id = s.organization_id and u.user_id = s.user_id
               and u.active and u.removed_time is null
             left join login_identity i on i.organization_id = u.organization_id and i.user_id = u.user_id
               and i.login_id = s.login_id
             left join login_policy p on p.organization_id = s.organization_id
             left join demonstration d on d.organization_id = s.organization_id and d.user_id = s.user_id
               and s.home_user_id is not null
             join organization o on o.organization_id = s.organization_id
             left join channel_account m on m.organization_id = s.organization_id and m.channel_id = 1 and m.is_default
           where s.digest = $1 and s.expires_time > $2 and s.seen_time > $3
             and (u.login_id = s.login_id or i.login_id is not null or d.user_id is not null)""",
        *(ids.digest(cookie), now, now - IDLE),
    )


async def list_sessions(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, now: datetime
) -> list[OpenSession]:
    return await db.records(OpenSession).fetch(
        """select session_id, device, network, created_time, seen_time from login_session
           where login_id = $1 and expires_time > $2 and seen_time > $3 order by created_time desc limit 100""",
        *(login_id, now, now - IDLE),
    )


async def _update_session_user(
    db: Database, *, organization_id: str, user_id: str, session_id: str, login_id: str, digest: bytes
) -> bool:
    """Let the session act as another user of the same login, or as before a look at the made-up shop."""
    return await db.touches(
        """update login_session s set organization_id = $1, user_id = $2, digest = $5,
             home_organization_id = null, home_user_id = null
           where s.session_id = $3 and s.login_id = $4 and exists (
             select from organization_user u where u.organization_id = $1 and u.user_id = $2
               and (u.login_id = $4 or (s.home_organization_id, s.home_user_id) = ($1, $2))
               and u.active and u.removed_time is null)""",
        *(organization_id, user_id, session_id, login_id, digest),
    )


async def update_proven(  # any tenant: a login belongs to a person
    db: Database, *, session: Session, now: datetime
) -> None:
    await db.execute("update login_session set proven_time = $2 where session_id = $1", session.session_id, now)


async def update_sessions_seen(  # any tenant: sessions of a web process
    db: Database, *, used: Mapping[str, datetime]
) -> None:
    """Store when sessions were last seen, to the hour."""
    await db.execute(
        """update login_session s set seen_time = t.seen_time
           from unnest($1::text[], $2::timestamptz[]) as t (session_id, seen_time)
           where s.session_id = t.session_id and s.seen_time < t.seen_time - make_interval(secs => $3)""",
        *(list(used), list(used.values()), SEEN_SECONDS_MIN),
    )


async def delete_sessions(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, but: str | None = None
) -> int:
    return await db.execute(
        "delete from login_session where login_id = $1 and session_id is distinct from $2", login_id, but
    )


LIFETIME: Final = timedelta(days=30)
IDLE: Final = timedelta(days=14)
PROVEN: Final = timedelta(minutes=15)  # so long after a password no other one is asked for
SEEN_SECONDS_MIN: Final = 3_600
DEVICE_CHARACTERS: Final = 200


class Source(msgspec.Struct, frozen=True):
    device: str
    network: str


async def insert_session(
    db: Database,
    *,
    login_id: str,
    organization_id: str,
    user_id: str,
    source: Source,
    is_known: bool,
    now: datetime,
    lifetime: timedelta = LIFETIME,
    proven_time: datetime | None = None,
    session_id: str | None = None,
    id_token: bytes | None = None,
) -> str:
    """Open a session; returns its cookie. `is_known`: the person has logged in from this browser before.

    `proven_time`: when the person proved to be it, if that was not now. `id_token`: sealed for this `session_id`.
    """
    cookie, device = ids.secret(), source.device[:DEVICE_CHARACTERS]
    action = "logged_in" if is_known else "logged_in_anew"
    told: dict[str, Any] = {"organization_id": organization_id, "device": device, "network": source.network}
    await audit.record_login(db, login_id=login_id, action=action, **told, now=now)
    await db.execute(
        """insert into login_session (digest, session_id, login_id, organization_id, user_id, device, network,
             created_time, seen_time, proven_time, expires_time, id_token)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11)""",
        *(ids.digest(cookie), session_id or ids.ordered(now), login_id, organization_id, user_id),
        *(device, source.network, now, proven_time or now, now + lifetime, id_token),
    )
    await db.execute(
        "update organization_user set last_login_time = $3 where organization_id = $1 and user_id = $2",
        *(organization_id, user_id, now),
    )
    return cookie


def is_proven(session: Session, *, now: datetime) -> bool:
    """Whether the password was given so lately that tokens, members, secrets and erasure are open."""
    return now - session.proven_time < PROVEN


def caller_of(session: Session) -> Caller:
    return Caller(
        organization_id=session.organization_id,
        token_id="",
        user_id=session.user_id,
        scopes=VISITOR_SCOPES if session.home else ROLE_SCOPES[session.role],
        application_ids=tuple(session.application_ids),
        domain=session.domain,
        time_zone=session.time_zone,
        default_locale=session.default_locale,
        role=session.role,
        limit=limit_of(session.only_where, session.only_values),
    )


async def switch(db: Database, *, session: Session, organization_id: str, user_id: str, now: datetime) -> str:
    """Act as another user of the same login; returns the new cookie. Raises NotFound."""
    cookie = ids.secret()
    is_changed = await _update_session_user(
        db,
        organization_id=organization_id,
        user_id=user_id,
        session_id=session.session_id,
        login_id=session.login_id,
        digest=ids.digest(cookie),
    )
    if not is_changed:
        raise errors.NotFound("There is no such organization.")
    await audit.record_login(
        db, login_id=session.login_id, organization_id=organization_id, action="logged_in", now=now
    )
    return cookie


async def update_to_demonstration(  # any tenant: whoever is logged in may look at the made-up shop
    db: Database, *, session: Session
) -> str | None:
    """Look at the made-up shop, until it switches; returns the new cookie. None: it is not made yet."""
    cookie = ids.secret()
    is_inside = await db.touches(
        """update login_session s set home_organization_id = s.organization_id, home_user_id = s.user_id,
             organization_id = d.organization_id, user_id = d.user_id, digest = $2
           from demonstration d where s.session_id = $1 and s.home_user_id is null and d.user_id is not null""",
        *(session.session_id, ids.digest(cookie)),
    )
    return cookie if is_inside else None


async def insert_demonstration(db: Database, *, now: datetime) -> None:  # any tenant: one for the installation
    """Let a worker make it, once."""
    await db.execute("insert into demonstration (asked_time) values ($1) on conflict do nothing", now)


async def get_is_demonstration_made(db: Database) -> bool | None:  # any tenant: one for the installation
    """None: nobody has asked for it, or it failed."""
    return await db.fetch_value("select user_id is not null from demonstration")


async def delete_session(  # any tenant: a login belongs to a person
    db: Database, *, session: Session, session_id: str, now: datetime
) -> None:
    """End this session of the same login, or itself, which is a log-out. Raises NotFound."""
    is_ended = await db.touches(
        "delete from login_session where login_id = $1 and session_id = $2", session.login_id, session_id
    )
    if not is_ended:
        raise errors.NotFound("There is no such session.")
    action = "logged_out" if session_id == session.session_id else "session_ended"
    await audit.record_login(
        db, login_id=session.login_id, organization_id=session.organization_id, action=action, now=now
    )
