"""The login policy of an organization: set by owners, and never so that they lock themselves out.

Whether a session meets it is asked at each request (`sessions.store.get_session`), however and wherever it began.
"""

from collections.abc import Sequence
from datetime import datetime

from afterword import errors
from afterword.core.messaging.networks import is_inside, networks_of
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.tenants.logins.identities import service as identities
from afterword.tenants.logins.identities import store as identities_store
from afterword.tenants.logins.policies import store
from afterword.tenants.logins.policies.store import LoginPolicy
from afterword.tenants.organizations import checks


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
) -> LoginPolicy:
    """Store the policy. `address`: of the browser or client that sets it, which must stay in; None: an operator.

    Raises Invalid, Forbidden, Stale.
    """
    identities.require_owner(caller)
    before = await store.get_login_policy(db, organization_id=caller.organization_id, is_locked=True)
    expect(before.version)
    networks = {
        name: checks.normal_networks(name, given)
        for name, given in (("console_networks", console_networks), ("token_networks", token_networks))
    }
    own = "token_networks" if caller.token_id else "console_networks"
    if address is not None and networks[own] and not is_inside(address, networks_of(",".join(networks[own]))):
        message = f"Your own address, {address}, is in none of them: you would lock yourself out."
        raise errors.Invalid.at(f"/{own}", "out_of_range", message)
    provider = await identities_store.get_provider(db, organization_id=caller.organization_id)
    if requires_provider and (provider is None or provider.authorization_url is None):
        raise errors.Invalid.at("/requires_provider", "unknown_value", "Connect an identity provider first.")
    await store.update_login_policy(
        db,
        organization_id=caller.organization_id,
        requires_second_factor=requires_second_factor,
        requires_provider=requires_provider,
        **networks,
        now=now,
        updated_by=caller.actor_id or None,
    )
    return await store.get_login_policy(db, organization_id=caller.organization_id)
