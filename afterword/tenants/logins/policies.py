"""The login policy of an organization: set by owners, and never so that they lock themselves out.

Whether a session meets it is asked at each request (`sessions.store.get_session`), however and wherever it began.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from afterword import errors
from afterword.core.messaging.networks import NETWORKS_MAX, is_inside, networks_of
from afterword.core.organizations.access import Caller
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.nouns.api import answer_of, route_of
from afterword.kit.nouns.declaration import NO_SITE, Change, Editable, Noun, SettingsRecord
from afterword.kit.nouns.service import Made
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.logins.identities import service as identities
from afterword.tenants.organizations import checks

Networks = Annotated[list[fields.Text50], Meta(max_length=NETWORKS_MAX, examples=[["203.0.113.0/24"]])]
NETWORKS: Final = ("console_networks", "token_networks")


class LoginPolicy(SettingsRecord, kw_only=True):
    """Conditions on how people and tokens come in."""

    requires_second_factor: Annotated[
        bool,
        Editable(
            "A second factor is required",
            "People without one must set it up at their next log-in before they can continue.",
            "switch",
        ),
    ] = False
    requires_provider: Annotated[
        bool,
        Editable(
            "Log-in through your own provider only",
            "Owners may still use their passwords with a second factor, for days when the provider is down.",
            "switch",
        ),
    ] = False
    console_networks: Annotated[
        Networks,
        Editable(
            "Networks of the console",
            "One per line, such as 203.0.113.0/24. Empty: from anywhere.",
            "lines",
            holds="account",
        ),
    ] = msgspec.field(default_factory=list[str])
    token_networks: Annotated[
        Networks,
        Editable(
            "Networks of all tokens",
            "API tokens work only from these networks. A token may have narrower ones of its own.",
            "lines",
            holds="account",
        ),
    ] = msgspec.field(default_factory=list[str])
    version: int = 1
    updated_time: datetime | None = None


async def _check(change: Change[LoginPolicy]) -> None:
    for name in NETWORKS:
        if name in change.columns:
            change.columns[name] = checks.normal_networks(name, change.columns[name])
    if not change.after("requires_provider"):
        return
    provider = await identities.get_provider(change.db, organization_id=change.key)
    if provider is None or provider.authorization_url is None:
        raise errors.Invalid.at("/requires_provider", "unknown_value", "Connect an identity provider first.")


POLICY = Noun(
    record=LoginPolicy,
    table="login_policy",
    one="login policy",
    many="login policies",
    tag="Organizations",
    path="/organization/{organization_id}/login",
    scope="Organization",
    about_create="Conditions on how people and tokens come in. Conditions that are left out are lifted.",
    about={
        "replace": (
            "Only an owner does. It holds at once, for open sessions too. Owners may use a password with a second "
            "factor although `requires_provider`. `token_networks` without the address of this request is refused."
        )
    },
    names={"replace": "set_login_policy"},
    summaries={"replace": "Set Login Policy"},
    operations=("get", "replace"),
    is_single=True,
    check=_check,
    fixed=lambda caller, _policy: identities.require_owner(caller),
)


async def save(
    db: Database,
    *,
    caller: Caller,
    wanted: Mapping[str, Any],
    address: str | None,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> LoginPolicy:
    """Store the policy. `address`: of the browser or client that sets it, which must stay in; None: an operator.

    Raises Invalid, Forbidden, Stale.
    """
    key = caller.organization_id
    saved = await nouns.update(POLICY, db, caller=caller, key=key, changes=wanted, site=NO_SITE, now=now, expect=expect)
    own = "token_networks" if caller.token_id else "console_networks"
    networks: list[str] = getattr(saved, own)
    if address is not None and networks and not is_inside(address, networks_of(",".join(networks))):
        message = f"Your own address, {address}, is in none of them: you would lock yourself out."
        raise errors.Invalid.at(f"/{own}", "out_of_range", message)
    return saved


async def _set_login_policy(call: Call[Any], db: Database) -> Answer:
    wanted, now, expect = call.body.named(), call.now, call.expect
    saved = await save(db, caller=call.caller, wanted=wanted, address=call.source, now=now, expect=expect)
    return await answer_of(POLICY, call, db, Made(saved), is_new=False)


routes = Routes(tag="Organizations")
routes.all = [route_of(POLICY, "get"), replace(route_of(POLICY, "replace"), handler=_set_login_policy)]
