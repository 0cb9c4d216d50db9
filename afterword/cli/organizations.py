"""`afterword organization`: the tenants of an installation, each with a first application and an owner."""

from dataclasses import asdict, dataclass

from afterword import db
from afterword.core.wire.times import format_time
from afterword.organizations import service as accounts
from afterword.organizations import store as accounts_store

ORGANIZATIONS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Founded:
    """What the first token and the first questionnaire are made for."""

    organization_domain: str
    organization_id: str
    application_id: str
    user_id: str

    def as_document(self) -> dict[str, str]:
        """The members that the command prints."""
        return asdict(self)


async def create(
    pool: db.Pool,
    *,
    domain: str,
    name: str,
    owner: str,
    application: str | None,
    time_zone: str,
    locale: str,
    postal_address: str | None,
) -> Founded:
    """Found an organization with an application (named like it, unless another name is given) and its owner.

    Raises Invalid, and Taken when another organization has the domain.
    """
    async with db.transaction(pool) as database:
        if await accounts_store.get_organization_by_domain(database, domain=domain) is not None:
            raise db.Taken(f"There is an organization with the domain “{domain}” already.")
        now = database.clock.now()
        organization = await accounts.create_organization(
            database,
            domain=domain,
            display_name=name,
            time_zone=time_zone,
            default_locale=locale,
            postal_address=postal_address,
            now=now,
        )
        organization_id = organization.organization_id
        first = await accounts.create_application(
            database, organization_id=organization_id, display_name=application or name, now=now
        )
        user = await accounts.create_user(database, organization_id=organization_id, email=owner, role="owner", now=now)
    return Founded(domain, organization_id, first.application_id, user.user_id)


async def list_organizations(pool: db.Pool) -> list[str]:
    """A line for each organization."""
    async with db.connection(pool) as database:
        found = await accounts_store.list_organizations(database, limit=ORGANIZATIONS_MAX)
    return [
        f"{one.domain}  {one.organization_id}, “{one.display_name}”, since {format_time(one.created_time)}"
        for one in found
    ]
