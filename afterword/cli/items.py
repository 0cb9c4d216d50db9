"""`afterword queue resolve`: a person's word about an item of unknown outcome."""

from afterword import db, errors
from afterword.cli import item_imports, tokens
from afterword.queue import service
from afterword.queue.service import ItemScope


async def resolve(pool: db.Pool, *, domain: str | None, item_id: str, is_sent: bool) -> str:
    """Say what became of the item; a sentence of what it is now. Raises NotFound, NotUncertain."""
    async with db.transaction(pool) as database:
        organization = await tokens.organization_of(database, domain)
        caller = item_imports.caller_of(organization)
        try:
            item = await service.resolve(database, caller=caller, place=ItemScope(item_id=item_id), is_sent=is_sent)
        except errors.NotFound as refusal:
            raise errors.NotFound("There is no item with this id.") from refusal
    return f"Item {item.item_id} is {'Sent' if is_sent else 'Failed'}. {item.result}."
