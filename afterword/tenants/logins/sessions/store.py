"""SQL of sessions, and of the user as whom one acts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from afterword.kit.db import Database


@dataclass(frozen=True, slots=True)
class Session:
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
    domain: str
    organization_name: str
    time_zone: str
    default_locale: str
    is_demonstration: bool
    pause_reason: str | None  # where no account of the organization sends
    is_of_provider: bool  # the identity provider of the organization opened it
    networks: list[str]  # from which the organization lets its people in; empty: from anywhere
    needs_second_factor: bool  # before anything else is open
    needs_provider: bool  # this log-in opens nothing here


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session as its owner sees it in a list."""

    session_id: str
    device: str
    network: str
    created_time: datetime
    seen_time: datetime


async def insert_session(
    db: Database,
    *,
    organization_id: str,
    user_id: str,
    session_id: str,
    digest: bytes,
    login_id: str,
    device: str,
    network: str,
    now: datetime,
    proven_time: datetime,
    expires_time: datetime,
    id_token: bytes | None,
) -> None:
    await db.execute(
        """insert into login_session (digest, session_id, login_id, organization_id, user_id, device, network,
             created_time, seen_time, proven_time, expires_time, id_token)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11)""",
        *(digest, session_id, login_id, organization_id, user_id, device, network, now, proven_time, expires_time),
        id_token,
    )
    await db.execute(
        "update organization_user set last_login_time = $3 where organization_id = $1 and user_id = $2",
        *(organization_id, user_id, now),
    )


async def get_session(  # any tenant: the cookie says which
    db: Database, *, digest: bytes, now: datetime, seen_after: datetime
) -> Session | None:
    row = await db.fetch_row(
        """select s.session_id, s.login_id, s.organization_id, s.user_id, s.proven_time, s.seen_time, u.email,
             coalesce(u.display_name, nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.email) as user_name,
             u.locale as user_locale, u.role, u.application_ids, o.domain, o.display_name as organization_name,
             coalesce(u.time_zone, o.time_zone) as time_zone, o.default_locale,
             i.login_id is not null as is_of_provider, coalesce(p.console_networks, '{}') as networks,
             i.login_id is null
               and coalesce(p.requires_second_factor or (p.requires_provider and u.role = 'owner'), false)
               and exists (select from login l where l.login_id = s.login_id and l.totp_time is null)
               and not exists (select from login_passkey k where k.login_id = s.login_id) as needs_second_factor,
             i.login_id is null and coalesce(p.requires_provider and u.role <> 'owner', false) and exists (
               select from identity_provider ip
               where ip.organization_id = s.organization_id and ip.authorization_url is not null) as needs_provider,
             o.demonstration_time is not null as is_demonstration,
             (select coalesce(max(a.paused_reason), '') from channel_account a
              where a.organization_id = o.organization_id having bool_and(a.paused_time is not null)) as pause_reason
           from login_session s
             join organization_user u on u.organization_id = s.organization_id and u.user_id = s.user_id
               and u.active and u.removed_time is null
             left join login_identity i on i.organization_id = u.organization_id and i.user_id = u.user_id
               and i.login_id = s.login_id
             left join login_policy p on p.organization_id = s.organization_id
             join organization o on o.organization_id = s.organization_id
           where s.digest = $1 and s.expires_time > $2 and s.seen_time > $3
             and (u.login_id = s.login_id or i.login_id is not null)""",
        *(digest, now, seen_after),
    )
    return Session(**row) if row else None


async def list_sessions(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, now: datetime, seen_after: datetime
) -> list[OpenSession]:
    rows = await db.fetch(
        """select session_id, device, network, created_time, seen_time from login_session
           where login_id = $1 and expires_time > $2 and seen_time > $3 order by created_time desc limit 100""",
        *(login_id, now, seen_after),
    )
    return [OpenSession(**row) for row in rows]


async def update_session_user(
    db: Database, *, organization_id: str, user_id: str, session_id: str, login_id: str, digest: bytes
) -> bool:
    """Let the session act as another user of the same login, under a new cookie."""
    return bool(
        await db.execute(
            """update login_session s set organization_id = $1, user_id = $2, digest = $5
               where s.session_id = $3 and s.login_id = $4 and exists (
                 select from organization_user u where u.organization_id = $1 and u.user_id = $2
                   and u.login_id = $4 and u.active and u.removed_time is null)""",
            *(organization_id, user_id, session_id, login_id, digest),
        )
    )


async def update_session_proven(  # any tenant: a login belongs to a person
    db: Database, *, session_id: str, now: datetime
) -> None:
    await db.execute("update login_session set proven_time = $2 where session_id = $1", session_id, now)


async def update_sessions_seen(  # any tenant: sessions of a web process
    db: Database, *, used: Mapping[str, datetime], least_seconds: int
) -> None:
    await db.execute(
        """update login_session s set seen_time = t.seen_time
           from unnest($1::text[], $2::timestamptz[]) as t (session_id, seen_time)
           where s.session_id = t.session_id and s.seen_time < t.seen_time - make_interval(secs => $3)""",
        *(list(used), list(used.values()), least_seconds),
    )


async def delete_session(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, session_id: str
) -> bool:
    return bool(
        await db.execute("delete from login_session where login_id = $1 and session_id = $2", login_id, session_id)
    )


async def delete_sessions(  # any tenant: a login belongs to a person
    db: Database, *, login_id: str, but: str | None = None
) -> int:
    return await db.execute(
        "delete from login_session where login_id = $1 and session_id is distinct from $2", login_id, but
    )
