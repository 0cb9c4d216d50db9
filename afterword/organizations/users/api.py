"""The HTTP routes of users. `me` instead of an id is the token's own user."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword import errors, ids
from afterword.core.organizations.access import ROLE_SCOPES, Caller
from afterword.core.wire.lists import Rows
from afterword.db import Database
from afterword.organizations.users import service, store
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType
from afterword.web.operations import Answer, Call, Routes

ME: Final = "me"
Role = Literal["owner", "admin", "reporting", "agent"]
Applications = Annotated[list[fields.Id], Meta(max_length=100)]
routes = Routes(tag="Users")


class UserRequest(fields.Request):
    """A user to invite, or a service account."""

    role: Role
    email: fields.Text320 | None = None
    first_name: fields.Text100 | None = None
    middle_name: fields.Text100 | None = None
    last_name: fields.Text100 | None = None
    display_name: fields.Text100 | None = None
    locale: fields.LocaleNormal | None = None
    time_zone: fields.Zone | None = None
    application_ids: Applications = msgspec.field(default_factory=list[str])
    active: bool = True
    service: bool = False


class UserUpdate(fields.Request):
    """Changes of a user."""

    first_name: fields.Text100 | UnsetType | None = UNSET
    middle_name: fields.Text100 | UnsetType | None = UNSET
    last_name: fields.Text100 | UnsetType | None = UNSET
    display_name: fields.Text100 | UnsetType | None = UNSET
    locale: fields.LocaleNormal | UnsetType | None = UNSET
    time_zone: fields.Zone | UnsetType | None = UNSET
    role: Role | UnsetType = UNSET
    application_ids: Applications | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class User(fields.Resource):
    """A user of the organization. Without `application_ids`: of all its applications."""

    user_id: fields.Id
    organization_id: fields.Id
    email: str | None
    first_name: str | None
    middle_name: str | None
    last_name: str | None
    display_name: str | None
    locale: str | None
    time_zone: str | None
    role: Role
    application_ids: list[str]
    active: bool
    service: bool
    invited_time: fields.DateTime
    last_login_time: fields.DateTime | None
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


class UserApplication(fields.Resource):
    """An application that a user reaches."""

    application_id: fields.Id
    display_name: str


class UserAccess(User):
    """A user, with all that they reach: of oneself the scopes of the token, of others those of the role."""

    scopes: fields.Computed[list[str]]
    applications: fields.Computed[list[UserApplication]]


@routes.list(
    "/user",
    scope="User.Read",
    answer=User,
    summary="Get all users",
    description="The people. Service accounts are listed only with a filter on `Service`.",
)
async def list_users(call: Call[None], db: Database) -> Rows[service.User]:
    with_service = any(each.column.name == "service" for each in call.page.criteria)
    return await store.list_users(
        db, organization_id=call.caller.organization_id, page=call.page, with_service=with_service
    )


@routes.post(
    "/user",
    scope="User.Create",
    body=UserRequest,
    answer=User,
    summary="Invite User",
    description=(
        "Only an owner invites owners; a caller of some applications invites to these. With `service` it makes a "
        "service account, which is no person: it has a `display_name` in place of an address, tokens, and no log-in."
    ),
    refusals=("already_exists", "invalid_address"),
)
async def invite_user(call: Call[UserRequest], db: Database) -> Answer:
    body = call.body
    user = await service.invite(
        db,
        caller=call.caller,
        email=body.email,
        role=body.role,
        application_ids=body.application_ids,
        profile={name: getattr(body, name) for name in service.PROFILE},
        active=body.active,
        service=body.service,
        now=call.now,
    )
    return Answer(record=user, location=f"/user/{user.user_id}")


@routes.get(
    "/user/{user_id}",
    scope="User.Read",
    answer=UserAccess,
    summary="Get User",
    description="`me`: the token's own user, for which no scope is needed.",
    texts=("user_id",),
    own=lambda caller, given: _is_own(caller, given["user_id"]),
)
async def get_user(call: Call[None], db: Database) -> Answer:
    caller = call.caller
    user = await store.get_user(db, organization_id=caller.organization_id, user_id=_user_id(call))
    if user is None:
        raise _unknown()
    reached = await store.list_applications_reached(
        db, organization_id=caller.organization_id, among=user.application_ids
    )
    scopes = caller.scopes if user.user_id == caller.user_id else ROLE_SCOPES[user.role]
    applications = [UserApplication.of(one) for one in reached]
    shown = UserAccess.of(user, call.zone, scopes=sorted(scopes), applications=applications)
    return Answer(shown, version=user.version)


@routes.patch(
    "/user/{user_id}",
    scope="User.Update",
    body=UserUpdate,
    answer=User,
    summary="Update User",
    description="Of oneself (`me`) the profile alone, for which no scope is needed: not role, applications, activity.",
    refusals=("last_owner",),
    texts=("user_id",),
    own=lambda caller, given: _is_own(caller, given["user_id"]),
)
async def update_user(call: Call[UserUpdate], db: Database) -> service.User:
    return await service.update_user(
        db, caller=call.caller, user_id=_user_id(call), changes=call.body.named(), expect=call.expect, now=call.now
    )


@routes.delete(
    "/user/{user_id}",
    scope="User.Delete",
    summary="Remove User",
    description="The user leaves the organization, and their tokens end at once. `me`: the token's own user.",
    refusals=("last_owner",),
    texts=("user_id",),
)
async def remove_user(call: Call[None], db: Database) -> None:
    await service.remove_user(db, caller=call.caller, user_id=_user_id(call), expect=call.expect, now=call.now)


def _is_own(caller: Caller, user_id: str) -> bool:
    return caller.user_id is not None and user_id in {ME, caller.user_id}


def _user_id(call: Call[Any]) -> str:
    """The id in the path, or the token's user for `me`. Raises NotFound."""
    given = call.ids["user_id"]
    user_id = call.caller.user_id if given == ME else given
    if user_id is None:
        raise errors.NotFound("This token belongs to the organization, so there is no user behind it.")
    if not ids.is_id(user_id):
        raise _unknown()
    return user_id


def _unknown() -> errors.NotFound:
    return errors.NotFound("There is no such user.")
