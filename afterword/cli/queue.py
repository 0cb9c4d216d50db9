"""`afterword queue`: an operator settles an item of unknown outcome, or lets a failed import go on."""

from typing import Annotated

import cyclopts
from cyclopts import Parameter

from afterword import errors
from afterword.cli import tokens
from afterword.cli.context import OrganizationDomain, open_transaction
from afterword.core.organizations.access import Caller
from afterword.db import Database
from afterword.intake.imports import service as imports
from afterword.queue import service
from afterword.queue.service import ItemScope

app = cyclopts.App(name="queue")


@app.command(name="resolve")
async def resolve_command(
    item: str,
    /,
    *,
    sent: Annotated[bool, Parameter(negative="--not-sent")],
    organization: OrganizationDomain = None,
) -> None:
    """Settle an item that failed with an unknown outcome, once you have found out.

    Args:
        item: Its id.
        sent: The outcome that you found out.
    """
    async with open_transaction() as (_, database):
        sentence = await resolve(database, domain=organization, item_id=item, is_sent=sent)
    print(sentence)


@app.command(name="resume")
async def resume_import(import_id: str, /, *, organization: OrganizationDomain = None) -> None:
    """Let an import that failed go on where it stopped; a running worker takes it.

    Args:
        import_id: Its id.
    """
    async with open_transaction() as (_, database):
        caller = await _operator(database, organization)
        job = await imports.get(database, caller=caller, import_id=import_id)
        job = await imports.resume(database, job=job, now=database.clock.now())
    print(f"The import is {job.state}: {job.rows_done:,} of {job.rows_total:,} rows are done.")


async def resolve(database: Database, *, domain: str | None, item_id: str, is_sent: bool) -> str:
    """Settle the item; a sentence of its status now. Raises NotFound, NotUncertain."""
    caller = await _operator(database, domain)
    try:
        item = await service.resolve(database, caller=caller, place=ItemScope(item_id=item_id), is_sent=is_sent)
    except errors.NotFound as refusal:
        raise errors.NotFound("There is no item with this id.") from refusal
    return f"Item {item.item_id} is {'Sent' if is_sent else 'Failed'}. {item.result}."


async def _operator(database: Database, domain: str | None) -> Caller:
    """The installation itself, for an organization of it."""
    organization = await tokens.organization_of(database, domain)
    return Caller(
        organization_id=organization.organization_id,
        token_id="",
        user_id=None,
        scopes=frozenset(),
        application_ids=(),
        domain=organization.domain,
        time_zone=organization.time_zone,
        default_locale=organization.default_locale,
    )
