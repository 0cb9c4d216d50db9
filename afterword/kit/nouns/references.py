"""Rules about what nouns refer to: applications, questionnaires, users."""

from afterword import errors
from afterword.core.organizations.access import Caller
from afterword.errors import FieldError
from afterword.kit.nouns.declaration import Change, R


def is_of_all(caller: Caller, application_id: str | None) -> errors.Refusal | None:
    """Why a caller with some applications may not change what is of the whole organization."""
    if caller.application_ids and application_id is None:
        return errors.Forbidden("This is for the whole organization; your token is for certain applications.")
    return None


async def check_application(change: Change[R]) -> None:
    """Raise Invalid unless `application_id` is one that the caller reaches, or null for who reaches all."""
    application_id = change.after("application_id")
    if application_id is None:
        if change.caller.application_ids:
            message = "Your token is for certain applications; name one of them."
            raise errors.Invalid.at("/application_id", "required", message)
    elif not await get_reaches_application(change, application_id):
        raise errors.Invalid.of(FieldError("unknown_id", "There is no such application.", pointer="/application_id"))


async def get_reaches_application(change: Change[R], application_id: str) -> bool:
    """Whether the organization has the application, and the caller may use it."""
    reached = change.caller.application_ids
    return (not reached or application_id in reached) and await change.db.fetch_value(
        "select exists (select from application where organization_id = $1 and application_id = $2)",
        *(change.caller.organization_id, application_id),
    )
