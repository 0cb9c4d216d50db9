"""`afterword queue`: an operator settles an item of unknown outcome, or lets a failed import go on."""

from typing import Annotated

import cyclopts
from cyclopts import Parameter

from afterword import errors
from afterword.core.organizations.access import installation
from afterword.run.cli.context import open_organization
from afterword.run.cli.organizations import OrganizationDomain
from afterword.sending.intake.imports import service as imports
from afterword.sending.queue import service

app = cyclopts.App(name="queue")


@app.command(name="resolve")
async def resolve(
    item: str, /, *, sent: Annotated[bool, Parameter(negative="--not-sent")], organization: OrganizationDomain = None
) -> None:
    """Settle an item that failed with an unknown outcome, once you have found out.

    Args:
        item: Its id.
        sent: The outcome that you found out.
    """
    async with open_organization(organization) as (_, database, owner):
        try:
            found = await service.resolve(
                database, caller=installation(owner.organization_id), item_id=item, is_sent=sent
            )
        except errors.NotFound as refusal:
            raise errors.NotFound("There is no item with this id.") from refusal
    print(f"Item {found.item_id} is {'Sent' if sent else 'Failed'}. {found.result}.")


@app.command(name="resume")
async def resume_import(import_id: str, /, *, organization: OrganizationDomain = None) -> None:
    """Let an import that failed go on where it stopped; a running worker takes it.

    Args:
        import_id: Its id.
    """
    async with open_organization(organization) as (_, database, owner):
        job = await imports.get(database, caller=installation(owner.organization_id), import_id=import_id)
        job = await imports.resume(database, job=job, now=database.clock.now())
    print(f"The import is {job.state}: {job.rows_done:,} of {job.rows_total:,} rows are done.")
