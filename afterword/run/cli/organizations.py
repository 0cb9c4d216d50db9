"""`afterword organization`: the tenants of an installation, each with a first application and an owner."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Final

import cyclopts

from afterword import errors
from afterword.core.organizations.access import installation
from afterword.core.wire.times import format_time
from afterword.errors import FieldError
from afterword.kit import db
from afterword.kit.nouns import structs
from afterword.run.cli.context import open_transaction, shell_lines
from afterword.tenants.logins import policies
from afterword.tenants.organizations import checks, service

ORGANIZATIONS_MAX = 1_000
_OPTIONS: Final[Mapping[str, str]] = {
    "domain": "DOMAIN", "display_name": "--name", "default_locale": "--locale", "email": "--owner",
}  # fmt: skip

OrganizationDomain = Annotated[
    str | None, cyclopts.Parameter(help="The organization's domain; needed when there are several.")
]
OnlyDomain = Annotated[str | None, cyclopts.Parameter(help="Only those of the organization with this domain.")]
app = cyclopts.App(name="organization")


@app.command(name="create")
async def create(
    domain: str,
    /,
    *,
    name: str,
    owner: str,
    application: str | None = None,
    time_zone: str = "UTC",
    locale: str = "en",
    postal_address: str | None = None,
) -> None:
    """Create an organization with its first application and its owner; prints lines that a shell can `eval`.

    Args:
        domain: Its short name: lower-case letters, digits and hyphens. It cannot be changed.
        name: The name that responders read.
        owner: The e-mail address of the user who owns it.
        application: The name of its first application; without, the organization's.
        time_zone: Its IANA time zone, such as Europe/Athens.
        locale: Its language.
        postal_address: The address at the foot of its mails, where a law asks for one.
    """
    async with open_transaction() as (_, database):
        if await service.get_organization_by_domain(database, domain=domain) is not None:
            raise db.Taken(f"There is an organization with the domain “{domain}” already.")
        now = database.clock.now()
        wrong = checks.email_errors(owner)
        try:
            organization = await service.create_organization(
                database,
                domain=domain,
                display_name=name,
                time_zone=time_zone,
                default_locale=locale,
                postal_address=postal_address,
                now=now,
            )
        except errors.Invalid as refusal:
            raise errors.Invalid.of(*map(_of_option, [*refusal.errors, *wrong])) from None
        errors.check([_of_option(error) for error in wrong])
        organization_id = organization.organization_id
        first = await service.create_application(
            database, organization_id=organization_id, display_name=application or name, now=now
        )
        user = await service.create_user(database, organization_id=organization_id, email=owner, role="owner", now=now)
    created = {"organization_domain": domain, "organization_id": organization_id}
    print(shell_lines({**created, "application_id": first.application_id, "user_id": user.user_id}))


@app.command(name="unlock")
async def unlock(domain: str, /) -> None:
    """Take the login policy of an organization back, for owners who can meet it no more.

    Args:
        domain: Its short name.
    """
    async with open_transaction() as (_, database):
        organization = await service.get_organization_by_domain(database, domain=domain)
        if organization is None:
            raise errors.NotFound(f"There is no organization with the domain “{domain}”.")
        await policies.save(
            database,
            caller=installation(organization.organization_id),
            wanted=structs.creation_of(policies.POLICY)().named(),
            address=None,
            now=database.clock.now(),
        )
    print("Its people log in from anywhere again, by each method, and its tokens work from anywhere.")


@app.command(name="list")
async def list_organizations() -> None:
    """List the organizations, one a line."""
    async with open_transaction() as (_, database):
        found = await service.list_organizations(database, limit=ORGANIZATIONS_MAX)
    lines = [
        f"{one.domain}  {one.organization_id}, “{one.display_name}”, since {format_time(one.created_time)}"
        for one in found
    ]
    print("\n".join(lines) or "No organization.")


def _of_option(error: FieldError) -> FieldError:
    option = _OPTIONS.get(error.place, f"--{error.place.replace('_', '-')}")
    return replace(error, message=f"{option}: {error.message}")
