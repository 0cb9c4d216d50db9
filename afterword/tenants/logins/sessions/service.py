"""Sessions: opened by a log-in, found by a cookie, ended one by one or all together."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from afterword import errors, ids
from afterword.core.organizations.access import ROLE_SCOPES, Caller
from afterword.kit.db import Database
from afterword.tenants.audit import service as audit
from afterword.tenants.logins.sessions import store
from afterword.tenants.logins.sessions.store import OpenSession, Session

LIFETIME: Final = timedelta(days=30)
IDLE: Final = timedelta(days=14)
PROVEN: Final = timedelta(minutes=15)  # so long after a password no other one is asked for
SEEN_SECONDS_MIN: Final = 3_600
DEVICE_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Source:
    """The browser and the network that a log-in comes from."""

    device: str
    network: str


async def start(
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
    cookie = ids.secret()
    await audit.record_login(
        db,
        login_id=login_id,
        organization_id=organization_id,
        action="logged_in" if is_known else "logged_in_anew",
        device=source.device[:DEVICE_CHARACTERS],
        network=source.network,
        now=now,
    )
    await store.insert_session(
        db,
        organization_id=organization_id,
        user_id=user_id,
        session_id=session_id or ids.ordered(now),
        digest=_digest(cookie),
        login_id=login_id,
        device=source.device[:DEVICE_CHARACTERS],
        network=source.network,
        now=now,
        proven_time=proven_time or now,
        expires_time=now + lifetime,
        id_token=id_token,
    )
    return cookie


async def find(db: Database, *, cookie: str, now: datetime) -> Session | None:
    return await store.get_session(db, digest=_digest(cookie), now=now, seen_after=now - IDLE)


def is_proven(session: Session, *, now: datetime) -> bool:
    """Whether the password was given so lately that tokens, members, secrets and erasure are open."""
    return now - session.proven_time < PROVEN


def caller_of(session: Session) -> Caller:
    return Caller(
        organization_id=session.organization_id,
        token_id="",
        user_id=session.user_id,
        scopes=ROLE_SCOPES[session.role],
        application_ids=tuple(session.application_ids),
        domain=session.domain,
        time_zone=session.time_zone,
        default_locale=session.default_locale,
        role=session.role,
    )


async def list_open(db: Database, *, login_id: str, now: datetime) -> list[OpenSession]:
    return await store.list_sessions(db, login_id=login_id, now=now, seen_after=now - IDLE)


async def prove(db: Database, *, session: Session, now: datetime) -> None:
    await store.update_session_proven(db, session_id=session.session_id, now=now)


async def switch(db: Database, *, session: Session, organization_id: str, user_id: str, now: datetime) -> str:
    """Act as another user of the same login; returns the new cookie. Raises NotFound."""
    cookie = ids.secret()
    is_changed = await store.update_session_user(
        db,
        organization_id=organization_id,
        user_id=user_id,
        session_id=session.session_id,
        login_id=session.login_id,
        digest=_digest(cookie),
    )
    if not is_changed:
        raise errors.NotFound("There is no such organization.")
    await audit.record_login(
        db, login_id=session.login_id, organization_id=organization_id, action="logged_in", now=now
    )
    return cookie


async def end(db: Database, *, session: Session, session_id: str, now: datetime) -> None:
    """End this session of the same login, or itself, which is a log-out. Raises NotFound."""
    if not await store.delete_session(db, login_id=session.login_id, session_id=session_id):
        raise errors.NotFound("There is no such session.")
    action = "logged_out" if session_id == session.session_id else "session_ended"
    await audit.record_login(
        db, login_id=session.login_id, organization_id=session.organization_id, action=action, now=now
    )


async def end_all(db: Database, *, login_id: str, but: str | None = None) -> int:
    return await store.delete_sessions(db, login_id=login_id, but=but)


async def note_use(db: Database, *, used: Mapping[str, datetime]) -> None:
    """Store when sessions were last seen, to the hour."""
    if used:
        await store.update_sessions_seen(db, used=used, least_seconds=SEEN_SECONDS_MIN)


def _digest(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode()).digest()
