"""Tokens: create, rotate, revoke, exchange for access tokens; never with more rights than the caller's."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from afterword import errors, ids
from afterword.core.messaging import networks as networks_core
from afterword.core.messaging.networks import NETWORKS_MAX
from afterword.core.organizations.access import SCOPES, Caller
from afterword.errors import FieldError
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import Database
from afterword.kit.nouns.declaration import Editable
from afterword.kit.web import fields
from afterword.tenants.organizations import checks
from afterword.tenants.organizations.tokens import access, store
from afterword.tenants.organizations.tokens.store import Credential, Token, UserRights

TITLE_CHARACTERS_MAX: Final = 200
SCOPES_MAX: Final = 200
OVERLAP_HOURS_MAX: Final = 168
ACCESS_SECONDS: Final = 3600
UNUSED_DAYS: Final = 90  # after them a token is told of
ACCESS_TOKENS_MAX: Final = 1_000  # alive, of one token
MAKER_ROLES: Final = frozenset({"owner", "admin"})
NOTHING: Final = "There is no such token."
NO_SCOPE: Final = "There is no such scope. A scope is an entity and an action, such as Queue.Create; /docs lists all."
NOT_HELD: Final = "You do not hold this scope, so you cannot pass it on."
Kind = Literal["user", "organization"]
Networks = Annotated[
    list[fields.Text50],
    Meta(max_length=NETWORKS_MAX, examples=[["203.0.113.0/24"]]),
    Editable(
        "Networks",
        "One per line, such as 203.0.113.0/24. Requests from elsewhere are refused. Empty: from anywhere.",
        "lines",
    ),
]


class TokenRequest(fields.Request):
    """A token to create. Without `kind`: of the same kind as the caller's."""

    title: fields.Text200
    scopes: Annotated[list[str], Meta(min_length=1, max_length=SCOPES_MAX)]
    kind: Kind | None = None
    user_id: fields.Id | None = None
    application_ids: Annotated[list[fields.Id], Meta(max_length=100)] = msgspec.field(default_factory=list[str])
    only_where: checks.OnlyWhere | None = None
    only_values: checks.OnlyValues = msgspec.field(default_factory=list[str])
    networks: Networks = msgspec.field(default_factory=list[str])
    expires_time: fields.Moment | None = None
    test: bool = False


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
    only_where: str | None = None,
    only_values: Sequence[str] = (),
    networks: Sequence[str] = (),
    expires_time: datetime | None = None,
    test: bool = False,
    maker: Caller | None = None,
    actor: Actor | None = None,
) -> tuple[Token, str]:
    """Create a token; return it with its text, which is not stored.

    Scopes, applications and networks of the `maker` limit its rights. Raises Invalid (`unknown_scope`, …).
    """
    among = maker.application_ids if maker else ()
    wrong = checks.length_errors("title", title, TITLE_CHARACTERS_MAX)
    wrong += _scope_errors(scopes, maker.scopes if maker else SCOPES)
    if (kind == "user") != (user_id is not None):
        wrong.append(FieldError("required", "A user's token has a user, an organization's has none.", pointer="/kind"))
    elif user_id and await store.get_user_rights(db, organization_id=organization_id, user_id=user_id) is None:
        wrong.append(FieldError("unknown_id", "There is no such user.", pointer="/user_id"))
    if expires_time is not None and expires_time <= now:
        wrong.append(FieldError("out_of_range", "A token expires in the future.", pointer="/expires_time"))
    wrong += await checks.application_errors(
        db, organization_id=organization_id, application_ids=application_ids, among=among
    )
    wrong += await checks.only_errors(
        db, organization_id=organization_id, only_where=only_where, only_values=only_values
    )
    errors.check(wrong)
    document = {
        "user_id": user_id,
        "kind": kind,
        "title": title,
        "scopes": sorted(set(scopes)),
        "application_ids": list(dict.fromkeys(application_ids)) or among,  # the whole is not the maker's to give
        "only_where": only_where,
        "only_values": list(dict.fromkeys(only_values)),
        "networks": _networks_within(networks, maker.networks if maker else ()),
        "maker_role": "owner" if maker is None else maker.role if maker.role in MAKER_ROLES else "admin",
        "test": test,
        "expires_time": expires_time,
        "created_by": (maker.actor_id or None) if maker else None,
        "made_by_token_id": (maker.token_id or None) if maker else None,  # none in a session
    }
    return await _insert(db, organization_id, document, actor=Actor.of(maker) if maker else actor, now=now)


async def make(db: Database, *, caller: Caller, request: TokenRequest, now: datetime) -> tuple[Token, str]:
    """As create_token, with the rights of the caller.

    `user_id`: a service account that gets the token; its role and applications limit it too. Only owners and admins
    create such, and tokens of the organization; a test token creates test tokens. The new one ends no later than the
    caller's. Raises Forbidden, Invalid.
    """
    _require_lasting(caller)
    if caller.limit:
        caller.refuse_limited(caller.limit)  # it would have to pass on its limit
    user_id, kind = request.user_id, request.kind or ("user" if caller.user_id else "organization")
    if user_id is not None:
        await _require_service(db, caller, user_id)
        kind = "user"
    if kind == "user" and (user_id or caller.user_id) is None:
        message = "Only a user makes a user's token; the one that asks belongs to the organization."
        raise errors.Invalid.at("/kind", "unknown_value", message)
    if kind == "organization" and caller.role not in MAKER_ROLES:
        raise errors.Forbidden("Only an owner or an admin makes tokens of the organization.")
    if caller.test and not request.test:
        raise errors.Invalid.at("/test", "unknown_value", "A test token makes test tokens.")
    given: dict[str, Any] = {**request.named(), "kind": kind}
    given["user_id"] = (user_id or caller.user_id) if kind == "user" else None
    given["expires_time"] = _earlier(request.expires_time.instant if request.expires_time else None, caller.ends_time)
    return await create_token(db, organization_id=caller.organization_id, **given, maker=caller, now=now)


async def get(db: Database, *, caller: Caller, token_id: str) -> Token:
    token = await store.get_token(db, **caller.part, token_id=token_id, user_id=caller.user_id)
    return errors.found(token, NOTHING)


async def update(
    db: Database, *, caller: Caller, token_id: str, changes: Mapping[str, Any], expect: errors.Expect = errors.ANY
) -> Token:
    """Of the `title` and the `networks`; more networks open more, so the rules are those of `rotate`."""
    _require_lasting(caller)
    before = await _locked(db, caller, token_id)
    expect(before.version)
    await _require_may_hold(db, caller, before)
    title, networks = changes.get("title", before.title), before.networks
    errors.check(checks.length_errors("title", title, TITLE_CHARACTERS_MAX))
    if "networks" in changes:
        networks = _networks_within(changes["networks"], caller.networks)
    return await store.update_token(
        db, organization_id=before.organization_id, token_id=token_id, title=title, networks=networks
    )


async def rotate(
    db: Database, *, caller: Caller, token_id: str, overlap_hours: int, now: datetime
) -> tuple[Token, str]:
    """Replace a token by one with the same rights and end; the old one ends `overlap_hours` later.

    The answer has the secret, so only its user rotates a person's token, and only a caller with all its scopes another
    one. Raises NotFound, Forbidden, Conflict `token_ended`.
    """
    _require_lasting(caller)
    old = await _locked(db, caller, token_id)
    await _require_may_hold(db, caller, old)
    if has_ended(old, now=now):
        raise errors.Conflict("This token has ended. Make a new one.", "token_ended")
    is_own = caller.token_id == token_id
    document = {
        **asdict(old),
        "expires_time": _earlier(old.expires_time, None if is_own else caller.ends_time),
        "created_by": caller.actor_id,
        "made_by_token_id": old.made_by_token_id if is_own else caller.token_id or None,
    }
    token, text = await _insert(db, old.organization_id, document, actor=Actor.of(caller), now=now)
    await store.update_maker(
        db, organization_id=old.organization_id, made_by_token_id=token_id, successor_id=token.token_id
    )
    if overlap_hours:
        retires_time = now + timedelta(hours=overlap_hours)
        await store.update_token_to_retire(
            db, organization_id=old.organization_id, token_id=token_id, retires_time=retires_time
        )
    else:
        await revoke_token(db, organization_id=old.organization_id, token_id=token_id, actor=Actor.of(caller), now=now)
    return token, text


async def revoke(
    db: Database, *, caller: Caller, token_id: str, now: datetime, expect: errors.Expect = errors.ANY
) -> None:
    """Only an owner revokes an owner's. One that has ended stays ended. Raises Forbidden."""
    token = await get(db, caller=caller, token_id=token_id)
    expect(token.version)
    is_of_another = caller.role != "owner" and token.user_id not in {None, caller.user_id}
    if is_of_another and (await _rights_of(db, token)).role == "owner":
        raise errors.Forbidden("Only an owner ends the tokens of an owner.")
    await revoke_token(db, organization_id=caller.organization_id, token_id=token_id, actor=Actor.of(caller), now=now)


async def revoke_token(
    db: Database, *, organization_id: str, token_id: str, now: datetime, actor: Actor | None = None
) -> Token:
    """Also all that were made with it. Processes with it in their cache stop within `access.CACHE_SECONDS_MAX`."""
    before = await _claim(db, organization_id, token_id)
    ended = await store.update_family_to_revoked(db, organization_id=organization_id, token_id=token_id, now=now)
    await events.record(db, events=[_event(token, "revoked", actor=actor or Actor(), now=now) for token in ended])
    return next((token for token in ended if token.token_id == token_id), before)


async def revoke_tokens_of_user(
    db: Database, *, organization_id: str, user_id: str, actor: Actor, now: datetime
) -> None:
    ended = await store.update_user_tokens_to_revoked(db, organization_id=organization_id, user_id=user_id, now=now)
    await events.record(db, events=[_event(token, "revoked", actor=actor, now=now) for token in ended])


def has_ended(token: Token, *, now: datetime) -> bool:
    return token.revoked_time is not None or (token.ends_time is not None and token.ends_time <= now)


def is_unused(token: Token, *, now: datetime) -> bool:
    """Whether a valid token was not used for so long that nobody may need it."""
    return not has_ended(token, now=now) and (token.last_used_time or token.created_time) < now - timedelta(
        days=UNUSED_DAYS
    )


async def note_use(db: Database, *, used: Mapping[tuple[str, str], datetime]) -> None:
    if used:
        await store.update_tokens_used(db, used=used)


async def exchange(db: Database, *, credential: Credential, scopes: Collection[str], now: datetime) -> str:
    """Create an access token with `scopes`; it ends after `ACCESS_SECONDS`, and no later than its parent.

    Raises TooMany if the parent has `ACCESS_TOKENS_MAX` valid ones.
    """
    assert frozenset(scopes) <= credential.scopes, "the handler has refused other scopes"  # noqa: S101
    secret = access.mint()
    columns = {
        "access_token_id": ids.ordered(now),
        "selector": secret.selector,
        "scopes": sorted(scopes),
        "expires_time": now + timedelta(seconds=ACCESS_SECONDS),
        "created_time": now,
    }
    digest = secret.verifier_digest
    kept = await store.insert_access_token(
        db, parent=credential, columns=columns, verifier_digest=digest, alive_max=ACCESS_TOKENS_MAX
    )
    if not kept:
        message = f"This client has {ACCESS_TOKENS_MAX:,} living access tokens. Use one until it ends."
        raise errors.TooMany(message, headers={"Retry-After": "60"})
    return secret.text


async def _insert(
    db: Database, organization_id: str, document: Mapping[str, object], *, actor: Actor | None, now: datetime
) -> tuple[Token, str]:
    secret = access.mint()
    token = await store.insert_token(
        db,
        organization_id=organization_id,
        token_id=ids.ordered(now),
        document={**document, "selector": secret.selector, "created_time": now},
        verifier_digest=secret.verifier_digest,
    )
    if actor is not None:
        await events.record(db, events=[_event(token, "created", actor=actor, now=now)])
    return token, secret.text


async def _locked(db: Database, caller: Caller, token_id: str) -> Token:
    await get(db, caller=caller, token_id=token_id)
    return await _claim(db, caller.organization_id, token_id)


async def _claim(db: Database, organization_id: str, token_id: str) -> Token:
    token = await store.get_token(db, organization_id=organization_id, token_id=token_id, is_locked=True)
    return errors.found(token, NOTHING)


def _networks_within(networks: Sequence[str], among: Sequence[str]) -> list[str]:
    """The networks as they are stored: those of the maker where none are given. Raises Invalid."""
    normal = checks.normal_networks("networks", networks)
    for place, network in enumerate(normal):
        if among and not networks_core.is_within(network, among):
            raise errors.Invalid.at(f"/networks/{place}", "out_of_range", "It is in none of your own networks.")
    return normal or list(among)


def _require_lasting(caller: Caller) -> None:
    if caller.is_access:
        raise errors.Forbidden("An access token makes no tokens.")


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min((end for end in (one, other) if end is not None), default=None)


async def _require_may_hold(db: Database, caller: Caller, token: Token) -> None:
    """Raise Forbidden for another user's token, and for one with more scopes, applications, networks or data."""
    if token.user_id:
        is_theirs = token.user_id == caller.user_id or (
            caller.role in MAKER_ROLES and (await _rights_of(db, token)).service
        )
    else:
        is_theirs = caller.role in {token.maker_role, "owner"}
    is_within = caller.scopes.issuperset(token.scopes) and (token.test or not caller.test)
    if caller.networks:
        inside = [networks_core.is_within(network, caller.networks) for network in token.networks]
        is_within &= bool(inside) and all(inside)
    if not is_theirs or not is_within or not await _is_reached(db, caller, token):
        raise errors.Forbidden("This token opens more than you hold.")


async def _is_reached(db: Database, caller: Caller, token: Token) -> bool:
    """True if the caller has all applications of the token, which are also limited to those of its user."""
    if not caller.application_ids:
        return True
    opened: Sequence[str] = token.application_ids
    if token.user_id is not None:
        opened = access.both(opened, (await _rights_of(db, token)).application_ids)
    return bool(opened) and set(opened) <= set(caller.application_ids)


async def _rights_of(db: Database, token: Token) -> UserRights:
    """Those of the token's user; of nobody, where the user was removed."""
    found = await store.get_user_rights(db, organization_id=token.organization_id, user_id=token.user_id or "")
    return found or UserRights("", [], service=False)


async def _require_service(db: Database, caller: Caller, user_id: str) -> None:
    """Raise Invalid where it is no service account, Forbidden where the caller may not make tokens of it."""
    found = await store.get_user_rights(db, organization_id=caller.organization_id, user_id=user_id)
    if found is None or not found.service:
        raise errors.Invalid.at("/user_id", "unknown_id", "There is no such service account.")
    if caller.role not in MAKER_ROLES:
        raise errors.Forbidden("Only an owner or an admin makes tokens of a service account.")
    reach = set(caller.application_ids)
    if reach and not (found.application_ids and reach.issuperset(found.application_ids)):
        raise errors.Forbidden("This service account has more applications than you.")


def _scope_errors(scopes: Collection[str], maker_scopes: Collection[str]) -> list[FieldError]:
    if isinstance(scopes, str) or not 1 <= len(scopes) <= SCOPES_MAX:
        return [FieldError("too_few" if not scopes else "too_many", f"1 to {SCOPES_MAX} scopes.", pointer="/scopes")]
    return [
        FieldError("unknown_scope", NOT_HELD if scope in SCOPES else NO_SCOPE, pointer=f"/scopes/{place}")
        for place, scope in enumerate(scopes)
        if scope not in SCOPES or scope not in maker_scopes
    ]


def _event(token: Token, kind: str, *, actor: Actor, now: datetime) -> NewEvent:
    data: dict[str, Any] = asdict(token)
    data["hint"] = token.hint
    del data["selector"]
    return NewEvent.of(token, f"token.{kind}", token.token_id, data, now=now, actor=actor, subject_version=None)
