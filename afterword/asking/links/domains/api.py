"""The HTTP routes of an organization's own host for its public pages."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from afterword.asking.links.domains import service
from afterword.asking.links.domains.store import CustomDomain as Domain
from afterword.core.wire import hosts
from afterword.core.wire.site import Site
from afterword.kit.db import Database, Pool
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

PATH: Final = "/organization/{organization_id}/domain"

routes = Routes(tag="Organizations")


class CustomDomainRequest(fields.Request):
    """The host of an organization's public pages."""

    host: Annotated[
        str, Meta(min_length=1, max_length=300, description="A name in DNS.", examples=["ask.shop.example"])
    ]


class CustomDomain(fields.Resource):
    """The host of an organization's public pages; links lead there while it is `active`."""

    organization_id: fields.Id
    host: str
    url: fields.Computed[str]
    state: fields.Computed[
        Annotated[
            Literal["pending", "proven", "active", "lost"],
            Meta(
                description=(
                    "`pending`: the record was not found yet. `proven`: it was, and the host must now lead here. "
                    "`active`: new links have this host. `lost`: the record is gone, and new links have the "
                    "installation's address again."
                )
            ),
        ]
    ]
    record_name: fields.Computed[Annotated[str, Meta(description="The name of the TXT record to set.")]]
    record_value: fields.Computed[Annotated[str, Meta(description="The text of the TXT record to set.")]]
    target: fields.Computed[Annotated[str, Meta(description="The host to which a CNAME record of `host` points.")]]
    problem: Annotated[
        Literal["in_use", "not_asked", "not_reached", "record_missing"] | None,
        Meta(
            description=(
                "Of the last check. `in_use`: another organization holds the host. `not_asked`: no name server "
                "answered. `not_reached`: a call to the host did not come here. `record_missing`: no such record."
            )
        ),
    ]
    proven_time: fields.DateTime | None
    reached_time: fields.DateTime | None
    lost_time: fields.DateTime | None
    checked_time: fields.DateTime | None
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None


@routes.get(PATH, scope="Organization.Read", answer=CustomDomain, summary="Get Custom Domain")
async def get_custom_domain(call: Call[None], db: Database) -> Answer:
    return _shown(await service.get(db, caller=call.caller), call)


@routes.put(
    PATH,
    scope="Organization.Update",
    body=CustomDomainRequest,
    answer=CustomDomain,
    summary="Set Custom Domain",
    description="Nothing changes before a check has found the record. Another host gives the one before back.",
)
async def set_custom_domain(call: Call[CustomDomainRequest], db: Database) -> Answer:
    domain, is_new = await service.claim(
        db, caller=call.caller, host=call.body.host, site=call.site, now=call.now, expect=call.expect
    )
    answer = _shown(domain, call)
    answer.status = 201 if is_new else 200
    return answer


@routes.delete(
    PATH,
    scope="Organization.Update",
    summary="Remove Custom Domain",
    description=(
        "New links have the installation's address again. Those that were sent with the host work while it leads here."
    ),
)
async def remove_custom_domain(call: Call[None], db: Database) -> None:
    await service.remove(db, caller=call.caller, expect=call.expect)


@routes.act(
    f"{PATH}/check",
    scope="Organization.Update",
    answer=CustomDomain,
    summary="Check Custom Domain",
    description="Asks name servers for the record, then calls the host. It is asked for every six hours besides.",
)
async def check_custom_domain(call: Call[None], pool: Pool) -> Answer:
    return _shown(await service.check(pool, caller=call.caller, site=call.site, now=call.now), call)


def parts_of(domain: Domain, site: Site) -> dict[str, str]:
    """The members that follow from the host: its address, and the records to set."""
    return {
        "url": site.url_of(domain.host),
        "record_name": hosts.record_name(domain.host),
        "record_value": service.record_value(domain.organization_id, domain.host, site=site),
        "target": site.host,
    }


def _shown(domain: Domain, call: Call[None] | Call[CustomDomainRequest]) -> Answer:
    value = CustomDomain.of(domain, call.zone, state=domain.state, **parts_of(domain, call.site))
    return Answer(value, version=domain.version)
