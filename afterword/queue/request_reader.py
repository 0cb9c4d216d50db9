"""Checks the metadata of requests under strict handling, for all handlers that take queue items."""

from collections.abc import Sequence
from typing import Any, TypeVar

from afterword import errors
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import Declared
from afterword.db import Database
from afterword.questionnaires.metadata import service as metadata_service
from afterword.queue.resources import QueueItemRequest, QueueItemUpdate
from afterword.web.fields import MetadataGroups
from afterword.web.operations import Call

Body = TypeVar("Body", QueueItemRequest, QueueItemUpdate)


async def declared_for(call: Call[Any], db: Database, *, questionnaire_id: str) -> Declared:
    """The names that the questionnaire's application knows. Grouped metadata are told apart by them if strict alone."""
    if not call.strict:
        return metadata.GLOBAL
    return await metadata_service.declared_of(
        db,
        organization_id=call.caller.organization_id,
        questionnaire_id=questionnaire_id,
        application_ids=call.caller.application_ids,
    )


def checked(body: Body, *, declared: Declared, is_strict: bool) -> Body:
    """The request; raises Invalid for metadata that strict handling does not take."""
    if is_strict and isinstance(body.metadata, MetadataGroups):  # names and values were read with the request
        metadata.changes_of(body.metadata.named(), declared=declared, strict=True)
    return body


def checked_rows(
    rows: Sequence[QueueItemRequest | errors.Invalid], *, declared: Declared, is_strict: bool
) -> Sequence[QueueItemRequest | errors.Invalid]:
    """Each row, or what is wrong with it."""
    return [_row(row, declared) for row in rows] if is_strict else rows


def _row(row: QueueItemRequest | errors.Invalid, declared: Declared) -> QueueItemRequest | errors.Invalid:
    try:
        return row if isinstance(row, errors.Invalid) else checked(row, declared=declared, is_strict=True)
    except errors.Invalid as refusal:
        return refusal
