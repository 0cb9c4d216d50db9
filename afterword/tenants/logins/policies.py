"""The login policy of an organization: set by owners, and never so that they lock themselves out.

Whether a session meets it is asked at each request (`sessions.store.get_session`), however and wherever it began.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, LiteralString

import msgspec
from msgspec import Meta

from afterword import errors
from afterword.core.messaging.networks import NETWORKS_MAX, is_inside, networks_of
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.logins.identities import service
from afterword.tenants.organizations import checks


@dataclass(frozen=True, slots=True)
class LoginPolicyRecord:
    """Networks empty: from anywhere. Before one was set nothing is required, in version 1."""

    organization_id: str
    requires_second_factor: bool
    requires_provider: bool
    console_networks: list[str]
    token_networks: list[str]
    version: int
    updated_time: datetime | None
    updated_by: str | None


_COLUMNS: Final[
    LiteralString
] = """o.organization_id, coalesce(p.requires_second_factor, false) as requires_second_factor,
  coalesce(p.requires_provider, false) as requires_provider, coalesce(p.console_networks, '{}') as console_networks,
  coalesce(p.token_networks, '{}') as token_networks, coalesce(p.version, 0) + 1 as version, p.updated_time,
  p.updated_by"""


async def get_login_policy_record(db: Database, *, organization_id: str, is_locked: bool = False) -> LoginPolicyRecord:
    """`is_locked`: the organization is, since there may be no policy yet."""
    lock: LiteralString = "for no key update of o" if is_locked else ""
    row = await db.fetch_one(
        f"""select {_COLUMNS} from organization o left join login_policy p on p.organization_id = o.organization_id
           where o.organization_id = $1 {lock}""",
        organization_id,
    )
    return LoginPolicyRecord(**row)


async def _update_login_policy(
    db: Database,
    *,
    organization_id: str,
    requires_second_factor: bool,
    requires_provider: bool,
    console_networks: Sequence[str],
    token_networks: Sequence[str],
    now: datetime,
    updated_by: str | None,
) -> None:
    await db.execute(
        """insert into login_policy as p (organization_id, requires_second_factor, requires_provider, console_networks,
             token_networks, updated_time, updated_by)
           values ($1, $2, $3, $4, $5, $6, $7)
           on conflict (organization_id) do update set (requires_second_factor, requires_provider, console_networks,
               token_networks, version, updated_time, updated_by)
             = (excluded.requires_second_factor, excluded.requires_provider, excluded.console_networks,
                excluded.token_networks, p.version + 1, excluded.updated_time, excluded.updated_by)""",
        *(organization_id, requires_second_factor, requires_provider, list(console_networks), list(token_networks)),
        *(now, updated_by),
    )


async def save(
    db: Database,
    *,
    caller: Caller,
    requires_second_factor: bool,
    requires_provider: bool,
    console_networks: Sequence[str],
    token_networks: Sequence[str],
    address: str | None,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> LoginPolicyRecord:
    """Store the policy. `address`: of the browser or client that sets it, which must stay in; None: an operator.

    Raises Invalid, Forbidden, Stale.
    """
    service.require_owner(caller)
    before = await get_login_policy_record(db, organization_id=caller.organization_id, is_locked=True)
    expect(before.version)
    networks = {
        name: checks.normal_networks(name, given)
        for name, given in (("console_networks", console_networks), ("token_networks", token_networks))
    }
    own = "token_networks" if caller.token_id else "console_networks"
    if address is not None and networks[own] and not is_inside(address, networks_of(",".join(networks[own]))):
        message = f"Your own address, {address}, is in none of them: you would lock yourself out."
        raise errors.Invalid.at(f"/{own}", "out_of_range", message)
    provider = await service.get_provider(db, organization_id=caller.organization_id)
    if requires_provider and (provider is None or provider.authorization_url is None):
        raise errors.Invalid.at("/requires_provider", "unknown_value", "Connect an identity provider first.")
    await _update_login_policy(
        db,
        organization_id=caller.organization_id,
        requires_second_factor=requires_second_factor,
        requires_provider=requires_provider,
        **networks,
        now=now,
        updated_by=caller.actor_id or None,
    )
    return await get_login_policy_record(db, organization_id=caller.organization_id)


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
    policy = await get_login_policy_record(db, organization_id=call.caller.organization_id)
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
    policy = await save(
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
