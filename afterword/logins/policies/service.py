"""The login policy of an organization: set by owners, and never so that they lock themselves out.

Whether a session meets it is asked at each request (`sessions.store.get_session`), however and wherever it began.
"""

import ipaddress
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from afterword import errors
from afterword.core.messaging.networks import is_allowed, networks_of
from afterword.core.organizations.access import Caller
from afterword.db import Database
from afterword.logins.identities import service as identities
from afterword.logins.identities import store as identities_store
from afterword.logins.policies import store
from afterword.logins.policies.store import LoginPolicy

NETWORKS_MAX: Final = 100


async def save(
    db: Database,
    *,
    caller: Caller,
    requires_second_factor: bool,
    requires_provider: bool,
    console_networks: Sequence[str],
    address: str | None,
    now: datetime,
    check_version: Callable[[int], None],
) -> LoginPolicy:
    """Store the policy. `address`: of the browser that sets it, which must stay in; None: a token sets it.

    Raises Invalid, Forbidden, Stale.
    """
    identities.require_owner(caller)
    before = await store.get_login_policy(db, organization_id=caller.organization_id, is_locked=True)
    check_version(before.version)
    networks = _normal(console_networks)
    if address is not None and networks and not is_inside(address, networks):
        message = f"Your own address, {address}, is in none of them: you would lock yourself out."
        raise errors.Invalid.at("/console_networks", "out_of_range", message)
    provider = await identities_store.get_provider(db, organization_id=caller.organization_id)
    if requires_provider and (provider is None or provider.authorization_url is None):
        raise errors.Invalid.at("/requires_provider", "unknown_value", "Connect an identity provider first.")
    await store.update_login_policy(
        db,
        organization_id=caller.organization_id,
        requires_second_factor=requires_second_factor,
        requires_provider=requires_provider,
        console_networks=networks,
        now=now,
        updated_by=caller.actor_id or None,
    )
    return await store.get_login_policy(db, organization_id=caller.organization_id)


def is_inside(address: str, networks: Sequence[str]) -> bool:
    """Whether an address is in one of these networks; an address that is none is in no network."""
    try:
        return is_allowed(ipaddress.ip_address(address), networks_of(",".join(networks)))
    except ValueError:
        return False


def _normal(networks: Sequence[str]) -> list[str]:
    """Networks as they are written usually. Raises Invalid."""
    found: list[str] = []
    for place, text in enumerate(networks):
        try:
            found.append(str(ipaddress.ip_network(text.strip())))
        except ValueError as error:
            message = "A network or an address is expected, such as 203.0.113.0/24."
            raise errors.Invalid.at(f"/console_networks/{place}", "invalid_format", message) from error
    return list(dict.fromkeys(found))
