"""Users of an organization: people with their profiles, roles and applications, and service accounts.

They are invited, changed and removed as the caller's role allows; everybody may change their own profile. A removed one
is invisible. `me` instead of an id is the token's own user.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import errors, ids
from afterword.core.organizations.access import ROLE_SCOPES, Caller, installation
from afterword.core.text import locales
from afterword.core.wire.lists import Criterion, Page, Rows
from afterword.errors import FieldError, Sentence
from afterword.events import service as events
from afterword.events.service import Actor, NewEvent
from afterword.kit.db import Database, Taken
from afterword.kit.db.columns import columns_of
from afterword.kit.nouns import service as nouns, structs
from afterword.kit.nouns.declaration import NO_SITE, Change, Editable, Noun, Record
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.organizations import checks
from afterword.tenants.organizations.tokens import service as tokens

NAME_CHARACTERS_MAX: Final = 100
OWNER: Final = "owner"
ME: Final = "me"
RIGHTS: Final = frozenset(
    {"role", "application_ids", "only_where", "only_values", "active"}
)  # nobody changes their own

Role = Literal["owner", "admin", "reporting", "agent"]
Applications = Annotated[list[fields.Id], Meta(max_length=100)]


class LastOwner(errors.Conflict):
    code_default = "last_owner"


class User(Record, kw_only=True):
    """A user of the organization. Without `application_ids`: of all its applications."""

    user_id: fields.Id
    email: Annotated[fields.Text320 | None, Editable(once=True, holds="account")] = None
    first_name: Annotated[fields.Text100 | None, Editable(holds="account")] = None
    middle_name: Annotated[fields.Text100 | None, Editable(holds="account")] = None
    last_name: Annotated[fields.Text100 | None, Editable(holds="account")] = None
    display_name: Annotated[fields.Text100 | None, Editable(holds="account")] = None
    locale: Annotated[fields.LocaleNormal | None, Editable(holds="account")] = None
    time_zone: Annotated[fields.Zone | None, Editable(holds="account")] = None
    role: Annotated[Role, Editable(holds="fixed")]
    application_ids: Annotated[Applications, Editable(shown=list[str])] = msgspec.field(default_factory=list[str])
    only_where: Annotated[checks.OnlyWhere | None, Editable(shown=str | None)] = None
    only_values: Annotated[checks.OnlyValues, Editable(shown=list[str])] = msgspec.field(default_factory=list[str])
    active: Annotated[bool, Editable()] = True
    service: Annotated[bool, Editable(once=True)] = False
    invited_time: datetime
    last_login_time: datetime | None


UserUpdate: Any = structs.changes_as("UserUpdate", User, base=fields.Request, about="Changes of a user.", more={})


class UserApplication(fields.Resource):
    """An application that a user reaches."""

    application_id: fields.Id
    display_name: str


async def _check(change: Change[User]) -> None:
    """Raise Invalid, LastOwner, and Forbidden: nobody changes their own RIGHTS, only an owner changes an owner."""
    caller, before, columns = change.caller, change.before, change.columns
    if before is not None:
        _require_may_change(caller, before, columns)
    wrong = checks.email_errors(columns.get("email")) + _profile_errors(columns) + _kind_errors(change)
    wrong += _role_errors(change.after("role"))
    if "application_ids" in columns:
        if caller.application_ids and not columns["application_ids"]:  # an empty list means all
            raise errors.Forbidden("You can give your own applications, not the whole organization.")
        wrong += await checks.application_errors(
            change.db,
            organization_id=caller.organization_id,
            application_ids=columns["application_ids"],
            among=caller.application_ids,
            known=before.application_ids if before else (),
        )
    if not {"role", "only_where", "only_values"}.isdisjoint(columns):
        wrong += await _only_errors(change)
    errors.check(wrong)
    if before is not None and (columns.get("role", OWNER) != OWNER or columns.get("active") is False):
        await _require_another_owner(change)
    if columns.get("locale") is not None:
        columns["locale"] = locales.normalise(columns["locale"])
    for name in {"application_ids", "only_values"} & columns.keys():
        columns[name] = list(dict.fromkeys(columns[name]))


async def _remove(change: Change[User], _options: Mapping[str, Any]) -> None:
    """Mark the user as removed; rows that name the user keep their reference. Their tokens are revoked at once."""
    caller, before = change.caller, change.row
    if before.user_id != caller.user_id:
        require_may_touch(caller, before)
    await _require_another_owner(change)
    await _delete_user(change)
    actor = Actor.of(caller)
    await tokens.revoke_tokens_of_user(
        change.db, organization_id=caller.organization_id, user_id=before.user_id, actor=actor, now=change.now
    )
    if not before.service:
        removed = msgspec.structs.replace(
            before,
            active=False,
            version=before.version + 1,
            updated_time=max(change.now, before.updated_time),
            updated_by=caller.actor_id,
        )
        await events.record(change.db, events=[_event(removed, "removed", actor=actor, now=change.now)])


USER = Noun(
    record=User,
    table="organization_user",
    one="user",
    many="users",
    tag="Users",
    path="/user",
    scope="User",
    about_create="A user to invite, or a service account.",
    operations=("list", "create", "get", "update"),
    shows_organization=True,
    live="t.removed_time is null",
    filled=("invited_time",),
    check=_check,
    conflict=lambda _error: Taken("The organization has a user with this e-mail address already."),
    delete=_remove,
)
_COLUMNS: Final = columns_of(User)
USERS: Final = structs.listing_of(USER)
_Shown: Any = structs.resource_of(USER)
routes = Routes(tag="Users", scope="User")


class UserAccess(_Shown):
    """A user, with all that they reach: of oneself the scopes of the token, of others those of the role."""

    scopes: fields.Computed[list[str]]
    applications: fields.Computed[list[UserApplication]]


def _is_own(caller: Caller, ids_of_path: Mapping[str, str]) -> bool:
    return caller.user_id is not None and ids_of_path["user_id"] in {ME, caller.user_id}


@routes.list(
    "/user",
    name="list_users",
    answer=_Shown,
    summary="Get all users",
    description="The people. Service accounts are listed only with a filter on `Service`.",
)
async def get_users(call: Call[None], db: Database) -> Rows[User]:
    with_service = any(each.column.name == "service" for each in call.page.criteria)
    return await list_users(db, organization_id=call.caller.organization_id, page=call.page, with_service=with_service)


@routes.post(
    "/user",
    body=structs.creation_of(USER),
    answer=_Shown,
    summary="Invite User",
    description=(
        "Only an owner invites owners; a caller of some applications invites to these. With `service` it makes a "
        "service account, which is no person: it has a `display_name` in place of an address, tokens, and no log-in."
    ),
    refusals=("already_exists", "invalid_address"),
)
async def invite_user(call: Call[Any], db: Database) -> Answer:
    user = await invite(db, caller=call.caller, request=call.body, now=call.now)
    return Answer(record=user, location=f"/user/{user.user_id}")


@routes.get(
    "/user/{user_id}",
    name="get_user",
    answer=UserAccess,
    summary="Get User",
    description="`me`: the token's own user, for which no scope is needed.",
    texts=("user_id",),
    own=_is_own,
)
async def read_user(call: Call[None], db: Database) -> Answer:
    caller = call.caller
    user = await nouns.get(USER, db, caller=caller, key=_user_id(call))
    reached = await _list_applications_reached(db, organization_id=caller.organization_id, among=user.application_ids)
    scopes = caller.scopes if user.user_id == caller.user_id else ROLE_SCOPES[user.role]
    shown = UserAccess.of(user, call.zone, scopes=sorted(scopes), applications=reached)
    return Answer(shown, version=user.version)


@routes.patch(
    "/user/{user_id}",
    name="update_user",
    body=UserUpdate,
    answer=_Shown,
    summary="Update User",
    description="Of oneself (`me`) the profile alone, for which no scope is needed: not role, applications, activity.",
    refusals=("last_owner",),
    texts=("user_id",),
    own=_is_own,
)
async def change_user(call: Call[Any], db: Database) -> User:
    return await update_user(
        db,
        caller=call.caller,
        user_id=_user_id(call),
        changes=call.body.named(),
        expect=call.expect,
        now=call.now,
    )


@routes.delete(
    "/user/{user_id}",
    name="remove_user",
    summary="Remove User",
    description="The user leaves the organization, and their tokens end at once. `me`: the token's own user.",
    refusals=("last_owner",),
    texts=("user_id",),
)
async def delete_user(call: Call[None], db: Database) -> None:
    await remove_user(db, caller=call.caller, user_id=_user_id(call), expect=call.expect, now=call.now)


def _user_id(call: Call[Any]) -> str:
    """The id in the path, or the token's user for `me`. Raises NotFound."""
    given = call.ids["user_id"]
    user_id = call.caller.user_id if given == ME else given
    if user_id is None:
        raise errors.NotFound("This token belongs to the organization, so there is no user behind it.")
    if not ids.is_id(user_id):
        raise errors.NotFound(USER.nothing)
    return user_id


async def create_user(
    db: Database,
    *,
    organization_id: str,
    email: str | None,
    role: str,
    now: datetime,
    **columns: Any,
) -> User:
    """The installation adds a user. Raises Invalid, and Taken if the organization has one with this e-mail address.

    `columns`: other members of the request that creates one.
    """
    request = structs.creation_of(USER)(**{"email": email, "role": role, **columns})
    values, caller = {**request.named(), "invited_time": now}, installation(organization_id)
    return (await nouns.create(USER, db, caller=caller, columns=values, site=NO_SITE, now=now)).record


async def make_owner(db: Database, *, organization_id: str, email: str, name: str, now: datetime) -> User:
    """A new user, or the one with this address that a command made without a name. Raises Invalid, Taken."""
    profile = {"display_name": name} if name else {}
    known = await get_user_by_email(db, organization_id=organization_id, email=email)
    if known is None or known.role != OWNER:
        return await create_user(db, organization_id=organization_id, email=email, role=OWNER, now=now, **profile)
    caller = dataclasses.replace(installation(organization_id), user_id=known.user_id)
    return await update_user(db, caller=caller, user_id=known.user_id, changes=profile, now=now)


async def invite(db: Database, *, caller: Caller, request: Any, now: datetime) -> User:
    """As create_user, within the caller's rights: only an owner invites owners, only to the caller's applications.

    `request`: one for the creation of a user. Raises Forbidden, Invalid, Taken.
    """
    if request.role == OWNER:
        _require_owner(caller)
    columns = {**request.named(), "invited_time": now}
    user = (await nouns.create(USER, db, caller=caller, columns=columns, site=NO_SITE, now=now)).record
    if not user.service:
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
    """Raises NotFound, Stale, and as `_check` does."""
    if not RIGHTS.isdisjoint(changes):
        await _claim_owners(db, organization_id=caller.organization_id)  # before the user
    acting: dict[str, Any] = {"caller": caller, "site": NO_SITE, "now": now}
    return await nouns.update(USER, db, key=user_id, changes=changes, expect=expect, **acting)


async def remove_user(
    db: Database, *, caller: Caller, user_id: str, now: datetime, expect: errors.Expect = errors.ANY
) -> None:
    """Raises NotFound, Stale, Forbidden, LastOwner."""
    await _claim_owners(db, organization_id=caller.organization_id)
    await nouns.delete(USER, db, caller=caller, key=user_id, site=NO_SITE, now=now, expect=expect)


async def get_user(db: Database, *, organization_id: str, user_id: str, is_locked: bool = False) -> User | None:
    return await nouns.find(USER, db, organization_id=organization_id, key=user_id, is_locked=is_locked)


async def get_user_by_email(db: Database, *, organization_id: str, email: str) -> User | None:
    return await db.records(User).fetch_row(
        f"""select {_COLUMNS} from organization_user
           where organization_id = $1 and lower(email) = lower($2) and removed_time is null""",
        *(organization_id, email),
    )


async def list_users(db: Database, *, organization_id: str, page: Page, with_service: bool) -> Rows[User]:
    if not with_service:
        people = Criterion("EQUAL", USERS.columns["service"], value=False)
        page = replace(page, criteria=(*page.criteria, people))
    return await nouns.rows(USER, db, organization_id=organization_id, page=page)


async def _list_applications_reached(
    db: Database, *, organization_id: str, among: Sequence[str]
) -> list[UserApplication]:
    return await db.records(UserApplication).fetch(
        """select application_id, display_name from application
           where organization_id = $1 and (cardinality($2::text[]) = 0 or application_id = any($2))
           order by display_name, application_id limit 500""",
        *(organization_id, list(among)),
    )


async def _claim_owners(db: Database, *, organization_id: str) -> set[str]:
    """Lock the active owners in one order, so that two removals at the same time see each other."""
    found = await db.fetch_column(
        """select user_id from organization_user
           where organization_id = $1 and role = 'owner' and active and removed_time is null
           order by user_id for no key update""",
        organization_id,
    )
    return set(found)


async def _delete_user(change: Change[User]) -> None:
    await change.db.execute(
        """update organization_user
           set removed_time = $3, active = false, version = version + 1, updated_time = greatest($3, updated_time),
             updated_by = $4
           where organization_id = $1 and user_id = $2 and removed_time is null""",
        *(change.caller.organization_id, change.key, change.now, change.caller.actor_id),
    )


def _require_may_change(caller: Caller, before: User, changed: Mapping[str, Any]) -> None:
    if before.user_id == caller.user_id:
        if not RIGHTS.isdisjoint(changed):
            raise errors.Forbidden("Nobody changes their own role, applications, limit or activity; ask another one.")
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


async def _require_another_owner(change: Change[User]) -> None:
    """The owners are locked already."""
    if await _claim_owners(change.db, organization_id=change.caller.organization_id) == {change.key}:
        raise LastOwner("This is the last active owner. Make another one first.")


def _role_errors(role: str) -> list[FieldError]:
    if role in ROLE_SCOPES:
        return []
    message = Sentence("One of {values} is expected.", values=", ".join(ROLE_SCOPES))
    return [FieldError("unknown_value", message, pointer="/role")]


async def _only_errors(change: Change[User]) -> list[FieldError]:
    limit: dict[str, Any] = {name: change.after(name) for name in ("only_where", "only_values")}
    if limit["only_where"] and change.after("role") == OWNER:
        return [FieldError("unknown_value", "An owner sees everything.", pointer="/only_where")]
    return await checks.only_errors(change.db, organization_id=change.caller.organization_id, **limit)


def _kind_errors(change: Change[User]) -> list[FieldError]:
    """A person has an address. A service account has a name in place of one, and is no owner."""
    email = change.after("email")
    if not change.after("service"):
        return [] if email else [FieldError("required", "A person has an address.", pointer="/email")]
    wrong = [FieldError("unknown_value", "A service account has no address.", pointer="/email")] if email else []
    if change.after("role") == OWNER:
        wrong.append(FieldError("unknown_value", "Owners are people.", pointer="/role"))
    if not change.after("display_name"):
        wrong.append(FieldError("required", "A service account has a name.", pointer="/display_name"))
    return wrong


def _profile_errors(profile: Mapping[str, Any]) -> list[FieldError]:
    wrong = checks.zone_errors(profile.get("time_zone")) + checks.locale_errors("locale", profile.get("locale"))
    for name in ("first_name", "middle_name", "last_name", "display_name"):
        wrong += checks.length_errors(name, profile.get(name), NAME_CHARACTERS_MAX)
    return wrong


def _event(user: User, kind: str, *, actor: Actor, now: datetime) -> NewEvent:
    data = nouns.columns_of(USER, user)
    return NewEvent.of(user, f"user.{kind}", user.user_id, data, now=now, actor=actor)
