"""The HTTP routes of an organization's login policy."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from afterword.core.messaging.networks import NETWORKS_MAX
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.logins.policies import service, store

PATH: Final = "/organization/{organization_id}/login"
Networks = Annotated[list[fields.Text50], Meta(max_length=NETWORKS_MAX, examples=[["203.0.113.0/24"]])]

routes = Routes(tag="Organizations")


class LoginPolicyRequest(fields.Request):
    """Conditions on how people and tokens come in. Conditions that are left out are lifted."""

    requires_second_factor: bool = False
    requires_provider: bool = False
    console_networks: Networks = msgspec.field(default_factory=list[str])
    token_networks: Networks = msgspec.field(default_factory=list[str])


class LoginPolicy(fields.Resource):
    """Conditions on how people and tokens come in."""

    organization_id: fields.Id
    requires_second_factor: bool
    requires_provider: bool
    console_networks: list[str]
    token_networks: list[str]
    updated_time: fields.DateTime | None
    updated_by: fields.Id | None


@routes.get(PATH, scope="Organization.Read", answer=LoginPolicy, summary="Get Login Policy")
async def get_login_policy(call: Call[None], db: Database) -> Answer:
    policy = await store.get_login_policy(db, organization_id=call.caller.organization_id)
    return Answer(LoginPolicy.of(policy, call.zone), version=policy.version)


@routes.put(
    PATH,
    scope="Organization.Update",
    body=LoginPolicyRequest,
    answer=LoginPolicy,
    summary="Set Login Policy",
    description=(
        "Only an owner does. It holds at once, for open sessions too. Owners may use a password with a second factor "
        "although `requires_provider`. `token_networks` without the address of this request is refused."
    ),
)
async def set_login_policy(call: Call[LoginPolicyRequest], db: Database) -> Answer:
    policy = await service.save(
        db,
        caller=call.caller,
        requires_second_factor=call.body.requires_second_factor,
        requires_provider=call.body.requires_provider,
        console_networks=call.body.console_networks,
        token_networks=call.body.token_networks,
        address=call.source,
        now=call.now,
        expect=call.expect,
    )
    return Answer(LoginPolicy.of(policy, call.zone), version=policy.version)
