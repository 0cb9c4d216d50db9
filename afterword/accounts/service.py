"""Organizations, applications, users and tokens come into being and end here; so do the kept answers of POSTs."""

import hmac
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from afterword import db as database
from afterword import errors, ids
from afterword.accounts import access, store
from afterword.accounts.store import CUSTOM_APPLICATION_TYPE_ID, Application, Organization, Token, User
from afterword.core import locales
from afterword.core.access import ROLE_SCOPES, SCOPES
from afterword.errors import FieldError

IDEMPOTENCY_HOURS: Final = 24
IDEMPOTENCY_WAIT_SECONDS: Final = 2
IDEMPOTENCY_PRUNE_ROWS_MAX: Final = 1000
SCOPES_MAX: Final = 200
APPLICATIONS_MAX: Final = 100

_DOMAIN: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")
_EMAIL: Final = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}\Z")


class IdempotencyKeyReused(errors.Invalid):
    """The key belongs to another request."""

    code_default = "idempotency_key_reused"


class IdempotencyInProgress(errors.Conflict):
    """The first request with this key has no answer yet."""

    code_default = "idempotency_in_progress"


@dataclass(frozen=True, slots=True)
class Replay:
    """The first answer to a request that was sent again."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def create_organization(
    db: database.Database,
    *,
    domain: str,
    display_name: str,
    now: datetime,
    time_zone: str = "UTC",
    default_locale: str = "en",
    legal_name: str | None = None,
    postal_address: str | None = None,
    created_by: str | None = None,
) -> Organization:
    """Found a tenant. Raises Invalid, and Taken when another has the domain."""
    wrong: list[FieldError] = []
    if not _DOMAIN.match(domain):
        message = "1 to 63 lower-case letters, digits and hyphens, neither first nor last a hyphen."
        wrong.append(FieldError("invalid_format", message, pointer="/domain"))
    wrong += _zone_errors(time_zone) + _locale_errors(default_locale)
    wrong += _length_errors("display_name", display_name, 200)
    _refuse(wrong)
    return await store.insert_organization(
        db,
        organization_id=ids.ordered(now),
        domain=domain,
        display_name=display_name,
        legal_name=legal_name,
        postal_address=postal_address,
        default_locale=locales.normalise(default_locale),
        time_zone=time_zone,
        now=now,
        created_by=created_by,
    )


async def create_application(
    db: database.Database,
    *,
    organization_id: str,
    display_name: str,
    now: datetime,
    application_type_id: str = CUSTOM_APPLICATION_TYPE_ID,
    description: str | None = None,
    time_zone: str | None = None,
    default_locale: str | None = None,
    website_urls: Sequence[str] = (),
    created_by: str | None = None,
) -> Application:
    """Add an application. Raises Invalid, and Dangling when the type does not exist."""
    _refuse(
        _length_errors("display_name", display_name, 200)
        + (_zone_errors(time_zone) if time_zone is not None else [])
        + (_locale_errors(default_locale) if default_locale is not None else [])
    )
    return await store.insert_application(
        db,
        organization_id=organization_id,
        application_id=ids.ordered(now),
        application_type_id=application_type_id,
        display_name=display_name,
        description=description,
        time_zone=time_zone,
        default_locale=locales.normalise(default_locale) if default_locale is not None else None,
        website_urls=website_urls,
        now=now,
        created_by=created_by,
    )


async def create_user(
    db: database.Database,
    *,
    organization_id: str,
    email: str,
    role: str,
    now: datetime,
    display_name: str | None = None,
    application_ids: Sequence[str] = (),
    locale: str | None = None,
    time_zone: str | None = None,
    created_by: str | None = None,
) -> User:
    """Invite a person. Raises Invalid, and Taken when the organization has one with this e-mail address."""
    wrong: list[FieldError] = []
    if not _EMAIL.match(email):
        wrong.append(FieldError("invalid_address", "This is not an e-mail address.", pointer="/email"))
    if role not in ROLE_SCOPES:
        wrong.append(FieldError("unknown_value", f"One of {', '.join(ROLE_SCOPES)}.", pointer="/role"))
    wrong += await _application_errors(db, organization_id, application_ids)
    _refuse(wrong)
    return await store.insert_user(
        db,
        organization_id=organization_id,
        user_id=ids.ordered(now),
        email=email,
        display_name=display_name,
        role=role,
        application_ids=application_ids,
        locale=locale,
        time_zone=time_zone,
        now=now,
        created_by=created_by,
    )


async def create_token(
    db: database.Database,
    *,
    organization_id: str,
    title: str,
    scopes: Collection[str],
    kind: Literal["user", "organization"],
    user_id: str | None,
    now: datetime,
    application_ids: Sequence[str] = (),
    expires_time: datetime | None = None,
    test: bool = False,
    created_by: str | None = None,
    maker_scopes: Collection[str] = SCOPES,
) -> tuple[Token, str]:
    """Make a token; its text is in the answer and nowhere else.

    `maker_scopes` are those that whoever makes it holds: nobody hands out more. Raises Invalid (`unknown_scope`,
    `unknown_id`, …).
    """
    wrong = _length_errors("title", title, 200) + _scope_errors(scopes, maker_scopes)
    if (kind == "user") != (user_id is not None):
        wrong.append(FieldError("required", "A user's token has a user, an organization's has none.", pointer="/kind"))
    elif user_id is not None and await store.get_user(db, organization_id=organization_id, user_id=user_id) is None:
        wrong.append(FieldError("unknown_id", "There is no such user.", pointer="/user_id"))
    if expires_time is not None and expires_time <= now:
        wrong.append(FieldError("out_of_range", "A token expires in the future.", pointer="/expires_time"))
    wrong += await _application_errors(db, organization_id, application_ids)
    _refuse(wrong)
    secret = access.mint()
    token = await store.insert_token(
        db,
        organization_id=organization_id,
        token_id=ids.ordered(now),
        user_id=user_id,
        kind=kind,
        title=title,
        scopes=sorted(set(scopes)),
        application_ids=application_ids,
        selector=secret.selector,
        verifier_digest=secret.verifier_digest,
        test=test,
        expires_time=expires_time,
        now=now,
        created_by=created_by,
    )
    return token, secret.text


async def revoke_token(db: database.Database, *, organization_id: str, token_id: str, now: datetime) -> Token:
    """End a token; processes that saw it good stop within `access.CACHE_SECONDS_MAX`. Raises NotFound."""
    token = await store.update_token_to_revoked(db, organization_id=organization_id, token_id=token_id, now=now)
    if token is None:
        raise errors.NotFound("There is no such token.")
    return token


async def claim_idempotency_key(
    db: database.Database, *, organization_id: str, key: str, digest: bytes, now: datetime
) -> Replay | None:
    """Take the key for the request whose digest this is, or give the answer that it got when it was sent before.

    Comes first in the request's transaction: the row is the lock. A second request waits for the first one's end,
    `IDEMPOTENCY_WAIT_SECONDS` at most. Raises IdempotencyKeyReused, IdempotencyInProgress.
    """
    stale_time = now - timedelta(hours=IDEMPOTENCY_HOURS)
    await store.update_lock_timeout(db, seconds=IDEMPOTENCY_WAIT_SECONDS)
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
    """Keep a 2xx answer with its change, in one transaction.

    A refusal is not for keeping: it rolls the key back with everything else, so the request may be tried again.
    """
    await store.update_kept_answer(
        db, organization_id=organization_id, key=key, status=status, headers=headers, body=body
    )


async def prune_idempotency_keys(
    db: database.Database, *, now: datetime, limit: int = IDEMPOTENCY_PRUNE_ROWS_MAX
) -> int:
    """Forget answers older than `IDEMPOTENCY_HOURS`, at most `limit`; how many there were."""
    return await store.prune_idempotency_keys(db, stale_time=now - timedelta(hours=IDEMPOTENCY_HOURS), limit=limit)


def _in_progress() -> IdempotencyInProgress:
    return IdempotencyInProgress(
        "The first request with this Idempotency-Key is still running.", headers={"Retry-After": "1"}
    )


def _scope_errors(scopes: Collection[str], maker_scopes: Collection[str]) -> list[FieldError]:
    if isinstance(scopes, str) or not 1 <= len(scopes) <= SCOPES_MAX:
        return [FieldError("too_few" if not scopes else "too_many", f"1 to {SCOPES_MAX} scopes.", pointer="/scopes")]
    return [
        FieldError("unknown_scope", "There is no such scope, or you do not hold it.", pointer=f"/scopes/{place}")
        for place, scope in enumerate(scopes)
        if scope not in SCOPES or scope not in maker_scopes
    ]


async def _application_errors(
    db: database.Database, organization_id: str, application_ids: Sequence[str]
) -> list[FieldError]:
    if len(application_ids) > APPLICATIONS_MAX:
        return [FieldError("too_many", f"At most {APPLICATIONS_MAX} applications.", pointer="/application_ids")]
    if not application_ids:
        return []
    known = await store.list_application_ids(db, organization_id=organization_id, among=application_ids)
    return [
        FieldError("unknown_id", "There is no such application.", pointer=f"/application_ids/{place}")
        for place, application_id in enumerate(application_ids)
        if application_id not in known
    ]


def _length_errors(name: str, text: str, characters_max: int) -> list[FieldError]:
    if 1 <= len(text) <= characters_max:
        return []
    code = "too_long" if text else "too_short"
    return [FieldError(code, f"1 to {characters_max} characters.", pointer=f"/{name}")]


def _zone_errors(time_zone: str) -> list[FieldError]:
    try:
        ZoneInfo(time_zone)
    except (KeyError, ValueError, OSError):
        return [FieldError("unknown_value", "An IANA time zone, such as Europe/Athens.", pointer="/time_zone")]
    return []


def _locale_errors(locale: str) -> list[FieldError]:
    try:
        locales.normalise(locale)
    except locales.InvalidLocale as error:
        return [FieldError("invalid_locale", str(error), pointer="/default_locale")]
    return []


def _refuse(wrong: Sequence[FieldError]) -> None:
    if wrong:
        raise errors.Invalid.of(*wrong)
