"""Tokens: made, rotated, revoked, exchanged for access tokens; nobody hands out more than they hold."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from afterword import errors, ids
from afterword.core.organizations.access import SCOPES, Caller
from afterword.db import Database
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.organizations import access, checks
from afterword.organizations.people import store as people_store
from afterword.organizations.tokens import store
from afterword.organizations.tokens.store import Credential, Token

TITLE_CHARACTERS_MAX: Final = 200
SCOPES_MAX: Final = 200
OVERLAP_HOURS_MAX: Final = 168
USED_SECONDS_MIN: Final = 60.0
ACCESS_SECONDS: Final = 3600
ACCESS_TOKENS_MAX: Final = 1_000  # alive, of one token
MAKER_ROLES: Final = frozenset({"owner", "admin"})
Kind = Literal["user", "organization"]
Expect = Callable[[int], None]  # is given the version of the row, raises Stale


class TokenEnded(errors.Conflict):
    """What has ended is not rotated; make a new one."""

    code_default = "token_ended"


async def create_token(
    db: Database,
    *,
    organization_id: str,
    title: str,
    scopes: Collection[str],
    kind: Kind,
    user_id: str | None,
    now: datetime,
    application_ids: Sequence[str] = (),
    expires_time: datetime | None = None,
    test: bool = False,
    created_by: str | None = None,
    made_by_token_id: str | None = None,
    maker_scopes: Collection[str] = SCOPES,
    maker_role: str = "owner",
    among: Sequence[str] = (),
    actor: Actor | None = None,
) -> tuple[Token, str]:
    """Make a token; its text is in the answer and nowhere else.

    `maker_scopes`, `maker_role` and `among` (applications, empty: all) are those of whoever makes it: nobody hands out
    more. Raises Invalid (`unknown_scope`, `unknown_id`, …).
    """
    wrong = checks.length_errors("title", title, TITLE_CHARACTERS_MAX) + _scope_errors(scopes, maker_scopes)
    if (kind == "user") != (user_id is not None):
        wrong.append(FieldError("required", "A user's token has a user, an organization's has none.", pointer="/kind"))
    elif (
        user_id is not None
        and await people_store.get_user(db, organization_id=organization_id, user_id=user_id) is None
    ):
        wrong.append(FieldError("unknown_id", "There is no such user.", pointer="/user_id"))
    if expires_time is not None and expires_time <= now:
        wrong.append(FieldError("out_of_range", "A token expires in the future.", pointer="/expires_time"))
    wrong += await checks.application_errors(
        db, organization_id=organization_id, application_ids=application_ids, among=among
    )
    checks.refuse(wrong)
    secret = access.mint()
    token = await store.insert_token(
        db,
        organization_id=organization_id,
        token_id=ids.ordered(now),
        user_id=user_id,
        kind=kind,
        title=title,
        scopes=sorted(set(scopes)),
        application_ids=list(dict.fromkeys(application_ids)) or list(among),  # the whole is not the maker's to give
        selector=secret.selector,
        verifier_digest=secret.verifier_digest,
        maker_role=maker_role,
        test=test,
        expires_time=expires_time,
        now=now,
        created_by=created_by,
        made_by_token_id=made_by_token_id,
    )
    if actor is not None:
        await events.record(db, events=[_event(token, "created", actor=actor, now=now)])
    return token, secret.text


async def make(
    db: Database,
    *,
    caller: Caller,
    title: str,
    scopes: Sequence[str],
    kind: Kind | None,
    application_ids: Sequence[str],
    expires_time: datetime | None,
    test: bool,
    now: datetime,
) -> tuple[Token, str]:
    """As create_token, for the caller: a token of its user or of the organization; None: of whichever it is itself.

    Only owners and admins make an organization's, and a test token makes test tokens. It ends with the caller's at the
    latest. Raises Forbidden, Invalid.
    """
    _require_lasting(caller)
    kind = kind or ("user" if caller.user_id else "organization")
    if kind == "user" and caller.user_id is None:
        message = "Only a user makes a user's token; the one that asks belongs to the organization."
        raise errors.Invalid.of(FieldError("unknown_value", message, pointer="/kind"))
    if kind == "organization" and caller.role not in MAKER_ROLES:
        raise errors.Forbidden("Only an owner or an admin makes tokens of the organization.")
    if caller.test and not test:
        raise errors.Invalid.of(FieldError("unknown_value", "A test token makes test tokens.", pointer="/test"))
    return await create_token(
        db,
        organization_id=caller.organization_id,
        title=title,
        scopes=scopes,
        kind=kind,
        user_id=caller.user_id if kind == "user" else None,
        application_ids=application_ids,
        expires_time=_earlier(expires_time, caller.ends_time),
        test=test,
        created_by=caller.actor_id,
        made_by_token_id=caller.token_id,
        maker_scopes=caller.scopes,
        maker_role=caller.role if caller.role in MAKER_ROLES else "admin",
        among=caller.application_ids,
        actor=Actor.of(caller),
        now=now,
    )


async def rotate(
    db: Database, *, caller: Caller, token_id: str, overlap_hours: int, now: datetime
) -> tuple[Token, str]:
    """Put a new token in the place of one, which ends `overlap_hours` later; with its rights and its end.

    The answer shows a secret, so it takes who may hold it: a user's token is rotated by that user alone, any other by
    a caller that has all its scopes. Raises NotFound, Forbidden, TokenEnded.
    """
    _require_lasting(caller)
    await _require_seen(db, caller, token_id)
    old = await store.get_token_locked(db, organization_id=caller.organization_id, token_id=token_id)
    if old is None:
        raise _unknown()
    await _require_may_hold(db, caller, old)
    if old.revoked_time is not None or (old.ends_time is not None and old.ends_time <= now):
        raise TokenEnded("This token has ended. Make a new one.")
    secret = access.mint()
    token = await store.insert_token(
        db,
        organization_id=old.organization_id,
        token_id=ids.ordered(now),
        user_id=old.user_id,
        kind=old.kind,
        title=old.title,
        scopes=old.scopes,
        application_ids=old.application_ids,
        selector=secret.selector,
        verifier_digest=secret.verifier_digest,
        maker_role=old.maker_role,
        test=old.test,
        expires_time=_earlier(old.expires_time, None if caller.token_id == token_id else caller.ends_time),
        now=now,
        created_by=caller.actor_id,
        made_by_token_id=old.made_by_token_id if caller.token_id == token_id else caller.token_id,
    )
    await store.update_maker(
        db, organization_id=old.organization_id, made_by_token_id=token_id, successor_id=token.token_id
    )
    told = [_event(token, "created", actor=Actor.of(caller), now=now)]
    if overlap_hours:
        retires_time = now + timedelta(hours=overlap_hours)
        await store.update_token_to_retire(
            db, organization_id=old.organization_id, token_id=token_id, retires_time=retires_time
        )
        await events.record(db, events=told)
    else:
        await events.record(db, events=told)
        await revoke_token(db, organization_id=old.organization_id, token_id=token_id, actor=Actor.of(caller), now=now)
    return token, secret.text


async def revoke(db: Database, *, caller: Caller, token_id: str, now: datetime, expect: Expect | None = None) -> None:
    """End a token that the caller may see, an owner's only as an owner; what has ended stays so.

    Raises NotFound, Forbidden, and what `expect` raises.
    """
    token = await _require_seen(db, caller, token_id)
    if expect is not None:
        expect(token.version)
    if caller.role != "owner" and token.user_id not in {None, caller.user_id}:
        user = await people_store.get_user(db, organization_id=token.organization_id, user_id=token.user_id or "")
        if user is not None and user.role == "owner":
            raise errors.Forbidden("Only an owner ends the tokens of an owner.")
    await revoke_token(db, organization_id=caller.organization_id, token_id=token_id, actor=Actor.of(caller), now=now)


async def revoke_token(
    db: Database, *, organization_id: str, token_id: str, now: datetime, actor: Actor | None = None
) -> Token:
    """End a token and all that was made with it; the token as it is then.

    Processes that saw it good stop within `access.CACHE_SECONDS_MAX`. Raises NotFound.
    """
    before = await store.get_token_locked(db, organization_id=organization_id, token_id=token_id)
    if before is None:
        raise _unknown()
    ended = await store.update_family_to_revoked(db, organization_id=organization_id, token_id=token_id, now=now)
    await events.record(db, events=[_event(token, "revoked", actor=actor or Actor(), now=now) for token in ended])
    return next((token for token in ended if token.token_id == token_id), before)


async def revoke_tokens_of_user(
    db: Database, *, organization_id: str, user_id: str, actor: Actor, now: datetime
) -> None:
    """End all that open as this user."""
    ended = await store.update_user_tokens_to_revoked(db, organization_id=organization_id, user_id=user_id, now=now)
    await events.record(db, events=[_event(token, "revoked", actor=actor, now=now) for token in ended])


async def note_use(db: Database, *, used: Mapping[tuple[str, str], datetime]) -> None:
    """Write when tokens (organization, token) were last used, at most once a minute each."""
    if used:
        await store.update_tokens_used(db, used=used, least_seconds=USED_SECONDS_MIN)


async def exchange(db: Database, *, credential: Credential, scopes: Collection[str], now: datetime) -> str:
    """An access token within the credential's scopes; it lives `ACCESS_SECONDS`, and no longer than its parent.

    Raises TooMany when the parent has `ACCESS_TOKENS_MAX` living ones.
    """
    assert frozenset(scopes) <= credential.scopes, "the door has refused what is not held"  # noqa: S101
    secret = access.mint()
    kept = await store.insert_access_token(
        db,
        organization_id=credential.organization_id,
        access_token_id=ids.ordered(now),
        token_id=credential.token_id,
        selector=secret.selector,
        verifier_digest=secret.verifier_digest,
        scopes=sorted(scopes),
        expires_time=now + timedelta(seconds=ACCESS_SECONDS),
        now=now,
        alive_max=ACCESS_TOKENS_MAX,
    )
    if not kept:
        message = f"This client has {ACCESS_TOKENS_MAX:,} living access tokens. Use one until it ends."
        raise errors.TooMany(message, headers={"Retry-After": "60"})
    return secret.text


async def prune_access_tokens(db: Database, *, now: datetime, limit: int) -> int:
    """Forget access tokens that ended an hour ago or longer, at most `limit`; how many there were.

    For that hour who still sends one hears `token_expired`, and not that there never was one.
    """
    return await store.prune_access_tokens(db, ended_time=now - timedelta(seconds=ACCESS_SECONDS), limit=limit)


def _require_lasting(caller: Caller) -> None:
    if caller.is_access:
        raise errors.Forbidden("An access token makes no tokens.")


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min((end for end in (one, other) if end is not None), default=None)


async def _require_seen(db: Database, caller: Caller, token_id: str) -> Token:
    token = await store.get_token(
        db,
        organization_id=caller.organization_id,
        token_id=token_id,
        among=caller.application_ids,
        user_id=caller.user_id,
    )
    if token is None:
        raise _unknown()
    return token


async def _require_may_hold(db: Database, caller: Caller, token: Token) -> None:
    """Raise Forbidden for a token of somebody else, and for one with more scopes, applications or data."""
    is_theirs = token.user_id == caller.user_id if token.user_id else caller.role in {token.maker_role, "owner"}
    is_within = caller.scopes.issuperset(token.scopes) and (token.test or not caller.test)
    if not is_theirs or not is_within or not await _is_reached(db, caller, token):
        raise errors.Forbidden("This token opens more than you hold.")


async def _is_reached(db: Database, caller: Caller, token: Token) -> bool:
    """Whether the caller has all applications that the token opens; a user's are those of the user too."""
    if not caller.application_ids:
        return True
    opened = token.application_ids
    if token.user_id is not None:
        user = await people_store.get_user(db, organization_id=token.organization_id, user_id=token.user_id)
        opened = access.both(opened, user.application_ids if user else ())
    return bool(opened) and set(opened) <= set(caller.application_ids)


def _scope_errors(scopes: Collection[str], maker_scopes: Collection[str]) -> list[FieldError]:
    if isinstance(scopes, str) or not 1 <= len(scopes) <= SCOPES_MAX:
        return [FieldError("too_few" if not scopes else "too_many", f"1 to {SCOPES_MAX} scopes.", pointer="/scopes")]
    return [
        FieldError("unknown_scope", "There is no such scope, or you do not hold it.", pointer=f"/scopes/{place}")
        for place, scope in enumerate(scopes)
        if scope not in SCOPES or scope not in maker_scopes
    ]


def _unknown() -> errors.NotFound:
    return errors.NotFound("There is no such token.")


def _event(token: Token, kind: str, *, actor: Actor, now: datetime) -> NewEvent:
    data: dict[str, Any] = asdict(token)
    data["hint"] = token.hint
    del data["selector"]
    return NewEvent(
        organization_id=token.organization_id,
        event_id=ids.ordered(now),
        type=f"token.{kind}",
        subject_id=token.token_id,
        subject_version=None,
        questionnaire_id=None,
        actor_kind=actor.kind,
        actor_id=actor.id,
        data=data,
        test=token.test,
    )
