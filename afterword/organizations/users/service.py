"""Users: invited, changed and removed as the caller's role allows; everybody may change their own profile."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from afterword import errors, ids
from afterword.core.organizations.access import ROLE_SCOPES, Caller
from afterword.core.text import locales
from afterword.db import Database, Taken
from afterword.errors import FieldError, Sentence
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.organizations import checks
from afterword.organizations.tokens import service as tokens
from afterword.organizations.users import store
from afterword.organizations.users.store import User

NAME_CHARACTERS_MAX: Final = 100
OWNER: Final = "owner"
PROFILE: Final = ("first_name", "middle_name", "last_name", "display_name", "locale", "time_zone")
RIGHTS: Final = frozenset({"role", "application_ids", "active"})  # nobody changes their own


class LastOwner(errors.Conflict):
    code_default = "last_owner"


async def create_user(
    db: Database,
    *,
    organization_id: str,
    email: str | None,
    role: str,
    now: datetime,
    service: bool = False,
    application_ids: Sequence[str] = (),
    profile: Mapping[str, str | None] = MappingProxyType({}),
    active: bool = True,
    among: Sequence[str] = (),
    created_by: str | None = None,
) -> User:
    """Create a user. Raises Invalid, and Taken if the organization has one with this e-mail address.

    `service`: an account that is no person, without an address. `profile`: some of PROFILE. `among`: the applications
    of the caller (none: all).
    """
    wrong = checks.email_errors(email) + _profile_errors(profile)
    wrong += _kind_errors(service=service, email=email, role=role, name=profile.get("display_name"))
    wrong += _role_errors(role)
    wrong += await checks.application_errors(
        db, organization_id=organization_id, application_ids=application_ids, among=among
    )
    errors.check(wrong)
    try:
        return await store.insert_user(
            db,
            organization_id=organization_id,
            user_id=ids.ordered(now),
            document=_normal(
                {**profile, "email": email, "role": role, "application_ids": application_ids, "active": active}
                | {"service": service}
            ),
            now=now,
            created_by=created_by,
        )
    except Taken as taken:
        raise Taken("The organization has a user with this e-mail address already.") from taken


async def make_owner(db: Database, *, organization_id: str, email: str, name: str, now: datetime) -> User:
    """A new user, or the one with this address that a command made without a name. Raises Invalid, Taken."""
    profile = {"display_name": name} if name else {}
    known = await store.get_user_by_email(db, organization_id=organization_id, email=email)
    if known is None or known.role != OWNER:
        return await create_user(db, organization_id=organization_id, email=email, role=OWNER, profile=profile, now=now)
    errors.check(_profile_errors(profile))
    return await store.update_user(
        db, organization_id=organization_id, user_id=known.user_id, changes=profile, now=now, updated_by=known.user_id
    )


async def invite(
    db: Database,
    *,
    caller: Caller,
    email: str | None,
    role: str,
    application_ids: Sequence[str],
    profile: Mapping[str, str | None],
    active: bool,
    service: bool = False,
    now: datetime,
) -> User:
    """As create_user, within the caller's rights: only an owner invites owners, only to the caller's applications.

    Raises Forbidden, Invalid, Taken.
    """
    if role == OWNER:
        _require_owner(caller)
    _require_reach(caller, application_ids)
    user = await create_user(
        db,
        organization_id=caller.organization_id,
        email=email,
        role=role,
        profile=profile,
        application_ids=application_ids,
        active=active,
        service=service,
        among=caller.application_ids,
        created_by=caller.actor_id,
        now=now,
    )
    if not service:
        await events.record(db, events=[_event(user, "invited", actor=Actor.of(caller), now=now)])
    return user


async def update_user(
    db: Database,
    *,
    caller: Caller,
    user_id: str,
    changes: Mapping[str, Any],
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> User:
    """Nobody changes their own RIGHTS, and only an owner changes an owner. Raises Forbidden, LastOwner."""
    owners = await _owners(db, caller.organization_id, changes)
    before = await _locked(db, caller, user_id, expect)
    changed = {name: value for name, value in _normal(changes).items() if value != getattr(before, name)}
    if not changed:
        return before
    _require_may_change(caller, before, changed)
    role, name = changed.get("role", before.role), changed.get("display_name", before.display_name)
    wrong = _profile_errors(changed) + _role_errors(role)
    wrong += _kind_errors(service=before.service, email=before.email, role=role, name=name)
    if "application_ids" in changed:
        _require_reach(caller, changed["application_ids"])
        wrong += await checks.application_errors(
            db,
            organization_id=caller.organization_id,
            application_ids=changed["application_ids"],
            among=caller.application_ids,
            known=before.application_ids,
        )
    errors.check(wrong)
    if changed.get("role", OWNER) != OWNER or changed.get("active") is False:
        _require_another_owner(owners, user_id)
    return await store.update_user(
        db,
        organization_id=caller.organization_id,
        user_id=user_id,
        changes=changed,
        now=now,
        updated_by=caller.actor_id,
    )


async def remove_user(
    db: Database, *, caller: Caller, user_id: str, now: datetime, expect: errors.Expect = errors.ANY
) -> None:
    """Remove a user; their tokens are revoked at once. Raises NotFound, Forbidden, LastOwner."""
    owners = await store.claim_owners(db, organization_id=caller.organization_id)
    before = await _locked(db, caller, user_id, expect)
    if before.user_id != caller.user_id:
        require_may_touch(caller, before)
    _require_another_owner(owners, user_id)
    removed = await store.delete_user(
        db, organization_id=caller.organization_id, user_id=user_id, now=now, updated_by=caller.actor_id
    )
    await tokens.revoke_tokens_of_user(
        db, organization_id=caller.organization_id, user_id=user_id, actor=Actor.of(caller), now=now
    )
    if not removed.service:
        await events.record(db, events=[_event(removed, "removed", actor=Actor.of(caller), now=now)])


async def _locked(db: Database, caller: Caller, user_id: str, expect: errors.Expect = errors.ANY) -> User:
    found = await store.get_user(db, organization_id=caller.organization_id, user_id=user_id, is_locked=True)
    if found is None:
        raise errors.NotFound("There is no such user.")
    expect(found.version)
    return found


async def _owners(db: Database, organization_id: str, changes: Mapping[str, Any]) -> set[str]:
    """Lock the owners, before the user, if the change could remove one."""
    if RIGHTS.isdisjoint(changes):
        return set()
    return await store.claim_owners(db, organization_id=organization_id)


def _require_may_change(caller: Caller, before: User, changed: Mapping[str, Any]) -> None:
    if before.user_id == caller.user_id:
        if not RIGHTS.isdisjoint(changed):
            raise errors.Forbidden("Nobody changes their own role, applications or activity; ask another one.")
        return
    require_may_touch(caller, before)
    if changed.get("role") == OWNER:
        _require_owner(caller)


def require_may_touch(caller: Caller, user: User) -> None:
    """Raise Forbidden for an owner, unless an owner asks, and for a user of more applications than the caller's."""
    if user.role == OWNER:
        _require_owner(caller)
    reach = set(caller.application_ids)
    if reach and not (user.application_ids and reach.issuperset(user.application_ids)):
        raise errors.Forbidden("This user has more applications than you.")


def _require_owner(caller: Caller) -> None:
    if caller.role != OWNER:
        raise errors.Forbidden("Only an owner makes, changes or removes an owner.")


def _require_reach(caller: Caller, application_ids: Sequence[str]) -> None:
    """Raise Forbidden if a caller of some applications gives all of them, which an empty list means."""
    if caller.application_ids and not application_ids:
        raise errors.Forbidden("You can give your own applications, not the whole organization.")


def _require_another_owner(owners: set[str], user_id: str) -> None:
    if owners == {user_id}:
        raise LastOwner("This is the last active owner. Make another one first.")


def _role_errors(role: str) -> list[FieldError]:
    if role in ROLE_SCOPES:
        return []
    message = Sentence("One of {values} is expected.", values=", ".join(ROLE_SCOPES))
    return [FieldError("unknown_value", message, pointer="/role")]


def _kind_errors(*, service: bool, email: str | None, role: str, name: str | None) -> list[FieldError]:
    """A person has an address. A service account has a name in place of one, and is no owner."""
    if not service:
        return [] if email else [FieldError("required", "A person has an address.", pointer="/email")]
    wrong = [FieldError("unknown_value", "A service account has no address.", pointer="/email")] if email else []
    if role == OWNER:
        wrong.append(FieldError("unknown_value", "Owners are people.", pointer="/role"))
    if not name:
        wrong.append(FieldError("required", "A service account has a name.", pointer="/display_name"))
    return wrong


def _profile_errors(profile: Mapping[str, Any]) -> list[FieldError]:
    wrong = checks.zone_errors(profile.get("time_zone")) + checks.locale_errors("locale", profile.get("locale"))
    for name in ("first_name", "middle_name", "last_name", "display_name"):
        wrong += checks.length_errors(name, profile.get(name), NAME_CHARACTERS_MAX)
    return wrong


def _normal(changes: Mapping[str, Any]) -> dict[str, Any]:
    normal = dict(changes)
    if normal.get("locale") is not None:
        normal["locale"] = locales.normalise(normal["locale"])
    if normal.get("application_ids") is not None:
        normal["application_ids"] = list(dict.fromkeys(normal["application_ids"]))
    return normal


def _event(user: User, kind: str, *, actor: Actor, now: datetime) -> NewEvent:
    return NewEvent(
        organization_id=user.organization_id,
        event_id=ids.ordered(now),
        type=f"user.{kind}",
        subject_id=user.user_id,
        subject_version=user.version,
        actor_kind=actor.kind,
        actor_id=actor.id,
        data=asdict(user),
    )
