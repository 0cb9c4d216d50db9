"""`afterword sender`: the domains that organizations may send mails from."""

import cyclopts

from afterword.run.cli.context import open_organization
from afterword.run.cli.organizations import OrganizationDomain
from afterword.tenants.organizations import senders

app = cyclopts.App(name="sender")


@app.command(name="list")
async def list_senders(*, organization: OrganizationDomain = None) -> None:
    """List the domains and addresses that an organization may send mails from."""
    async with open_organization(organization) as (_, database, owner):
        found = await senders.list_senders(database, organization_id=owner.organization_id)
    print("\n".join(found) or "None: its mails come from AFTERWORD_MAIL_FROM.")


@app.command(name="add")
async def add(domain: str, /, *, organization: OrganizationDomain = None) -> None:
    """Let an organization send mails from a domain.

    Args:
        domain: A domain, without its subdomains, or a single address.
    """
    async with open_organization(organization) as (_, database, owner):
        added = await senders.allow_sender(database, organization_id=owner.organization_id, text=domain)
    print(f"{owner.domain} may send from {added}.")


@app.command(name="remove")
async def remove(domain: str, /, *, organization: OrganizationDomain = None) -> None:
    """Let an organization send no more mails from a domain; those that wait will end as Failed.

    Args:
        domain: As “afterword sender list” shows it.
    """
    async with open_organization(organization) as (_, database, owner):
        await senders.forbid_sender(database, organization_id=owner.organization_id, text=domain)
    print(f"Removed. “afterword doctor” names the pipelines of {owner.domain} that sent from it.")
