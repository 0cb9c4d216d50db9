"""The HTTP routes of an organization's identity provider."""

from typing import Annotated, Final, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType

from afterword.core.organizations.identities import Role
from afterword.core.wire.site import Site
from afterword.kit.db import Database, Pool
from afterword.kit.nouns.declaration import Editable
from afterword.kit.nouns.structs import shown_as
from afterword.kit.texts import Marked
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.tenants.logins.identities import service
from afterword.tenants.logins.identities.service import IdentityProvider as Provider

PATH: Final = "/organization/{organization_id}/identity"
GROUPS_MAX: Final = 100
SCOPES_MAX: Final = 10
ROLE_TEXTS: Final[tuple[tuple[str, Marked], ...]] = (
    ("", "none: they cannot log in"), ("agent", "Agent"), ("reporting", "Reporting"), ("admin", "Administrator"),
)  # fmt: skip

routes = Routes(tag="Organizations", scope="Organization")


class GroupRole(fields.Request):
    """The role of the people in a group."""

    group: fields.Text200
    role: Role


class IdentityProviderRequest(fields.Request):
    """The provider of an organization, by OpenID Connect."""

    issuer: Annotated[
        str,
        Meta(min_length=8, max_length=500, examples=["https://login.shop.example"]),
        Editable("Address of the provider", "Its issuer, such as https://login.shop.example."),
    ]
    client_id: Annotated[
        str, Meta(min_length=1, max_length=300), Editable("Client ID", "The provider gives it to you.")
    ]
    client_secret: Annotated[str, Meta(min_length=1, max_length=500)] | UnsetType | None = UNSET
    scopes: Annotated[
        list[Annotated[str, Meta(pattern=r"^[!#-\[\]-~]{1,100}(?![\s\S])", examples=["groups"])]],
        Meta(max_length=SCOPES_MAX),
        Editable("Additional scopes", "One per line. Some providers send groups only with an extra scope.", "lines"),
    ] = msgspec.field(default_factory=list[str])
    groups_claim: Annotated[fields.Text100, Editable("Claim with the groups")] = "groups"
    group_roles: Annotated[list[GroupRole], Meta(max_length=GROUPS_MAX)] = msgspec.field(
        default_factory=list[GroupRole]
    )
    default_role: Annotated[
        Role | None, Editable("Role of people without any of these groups", "", "choice", ROLE_TEXTS)
    ] = None
    trusts_addresses: Annotated[
        bool,
        Editable(
            "Trust addresses that are not marked as verified",
            "Switch it on only if people cannot choose their own address at the provider.",
            "switch",
        ),
    ] = False


IdentityProvider: Final = shown_as(
    "IdentityProvider",
    Provider,
    types={"group_roles": list[GroupRole]},
    before={
        "scopes": {"has_client_secret": fields.Computed[bool]},
        "created_time": {"return_url": fields.Computed[str], "login_url": fields.Computed[str]},
    },
)


@routes.get(PATH, answer=IdentityProvider, summary="Get Identity Provider")
async def get_identity_provider(call: Call[None], db: Database) -> Answer:
    return _shown(await service.get(db, caller=call.caller), call)


@routes.put(
    PATH,
    answer=IdentityProvider,
    summary="Set Identity Provider",
    description=(
        "Only an owner does. Nobody logs in before a check has found the provider. Without `client_secret` the stored "
        "one is kept while `issuer` stays. Another issuer ends the sessions that the one before opened."
    ),
)
async def set_identity_provider(call: Call[IdentityProviderRequest], db: Database) -> Answer:
    stored, is_new = await service.save(
        db, caller=call.caller, values=values_of(call.body), site=call.site, now=call.now, expect=call.expect
    )
    answer = _shown(stored, call)
    answer.status = 201 if is_new else 200
    return answer


@routes.delete(
    PATH,
    scope="Organization.Update",
    summary="Remove Identity Provider",
    description="Only an owner does. Nobody logs in through it any more, and the sessions that it opened end.",
)
async def remove_identity_provider(call: Call[None], db: Database) -> None:
    await service.remove(db, caller=call.caller, expect=call.expect)


@routes.act(
    f"{PATH}/check",
    scope="Organization.Update",
    answer=IdentityProvider,
    summary="Check Identity Provider",
    description="Only an owner does. Reads the provider's document, and tells in `problem` where that failed.",
)
async def check_identity_provider(call: Call[None], pool: Pool) -> Answer:
    return _shown(await service.check(pool, caller=call.caller, site=call.site, now=call.now), call)


def values_of(request: IdentityProviderRequest) -> dict[str, object]:
    values = request.named()
    values["group_roles"] = [{"group": one.group, "role": one.role} for one in request.group_roles]
    return values


def login_url(site: Site, domain: str) -> str:
    """The address at which people of the organization begin."""
    return f"{site.public_url}/console/login/with/{domain}"


def _shown(provider: Provider, call: Call[None] | Call[IdentityProviderRequest]) -> Answer:
    value = IdentityProvider.of(
        provider,
        call.zone,
        group_roles=[GroupRole(group=one["group"], role=cast("Role", one["role"])) for one in provider.group_roles],
        return_url=service.return_url(call.site),
        login_url=login_url(call.site, call.caller.domain),
    )
    return Answer(value, version=provider.version)
