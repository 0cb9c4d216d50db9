"""The HTTP route of invitations: the mail by which a user comes to a password."""

from afterword import errors
from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.logins import links, service
from afterword.tenants.organizations import users

routes = Routes(tag="Users")


class Invitation(fields.Answer):
    """A mail that is on its way. Its link works once, until `expires_time`."""

    user_id: fields.Id
    email: str
    expires_time: fields.DateTime


@routes.post(
    "/user/{user_id}/invitation",
    scope="User.Create",
    answer=Invitation,
    summary="Mail an invitation",
    description="The user opens the link and chooses a password for the console. Earlier links stop to work.",
    refusals=("already_exists",),
)
async def invite_user_by_mail(call: Call[None], db: Database) -> Answer:
    call.caller.require_real()
    organization_id, user_id = call.caller.organization_id, call.ids["user_id"]
    user = await users.get_user(db, organization_id=organization_id, user_id=user_id)
    if user is None or not user.active:
        raise errors.NotFound("There is no such user.")
    users.require_may_touch(call.caller, user)
    if await service.get_has_login(db, organization_id=organization_id, user_id=user_id):
        raise errors.Conflict("This user can log in already.", "already_exists")
    expires = await links.invite(db, user=user, site=call.site, now=call.now)
    return Answer(
        Invitation(user_id=user_id, email=user.email or "", expires_time=times.format_time(expires, zone=call.zone))
    )
