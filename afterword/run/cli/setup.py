"""`afterword setup`: a link that works once, by which the first owner comes into being."""

from afterword.core.wire.site import Site
from afterword.kit import db
from afterword.run.cli import CommandError
from afterword.run.cli.context import Context, OrganizationDomain, open_pool
from afterword.tenants.logins import links, store
from afterword.tenants.logins.links import Link
from afterword.tenants.organizations import service as organizations


async def setup(*, organization: OrganizationDomain = None) -> None:
    """Print a link that makes an owner, once, within an hour. The first owner invites all others in the console."""
    async with open_pool(create=True) as (context, pool):
        url = await setup_url(pool, context.site, domain=organization)
    if url is None:
        raise CommandError("There is an owner already. Owners invite others in the console, under Settings.")
    print(f"Open this link within an hour. It works once:\n{url}")


async def first_owner_url(opened: Context) -> str | None:
    """The link where nobody can log in yet; None where somebody can, or organizations are several."""
    async with await db.open_pool(opened.database_url, size_max=1) as pool:
        try:
            return await setup_url(pool, opened.site)
        except CommandError:
            return None


async def setup_url(pool: db.Pool, site: Site, *, domain: str | None = None) -> str | None:
    """The link; None where an owner can log in. It is for the organization that is there, else for a new one."""
    async with db.transaction(pool) as database:
        found = await organizations.list_organizations(database, limit=2)
        if domain is not None:
            found = [await organizations.get_organization_by_domain(database, domain=domain)]
            if found[0] is None:
                raise CommandError(f"There is no organization with the domain “{domain}”.")
        chosen = found[0].organization_id if len(found) == 1 and found[0] else None
        if len(found) > 1:
            raise CommandError("There are several organizations. Name one with --organization DOMAIN.")
        if await store.get_owner_email(database, organization_id=chosen) is not None:
            return None
        secret = await links.make(database, link=Link("setup", chosen, None, None, None), now=database.clock.now())
    return f"{site.public_url}/console/setup/{secret}"
