"""Reads schedule requests and their metadata, for all handlers that take queue items."""

from collections.abc import Sequence
from typing import Any

from afterword import errors
from afterword.core.questionnaires import metadata
from afterword.core.questionnaires.metadata import Changes, Declared
from afterword.db import Database
from afterword.questionnaires.metadata import service as metadata_service
from afterword.queue.resources import QueueItemRequest
from afterword.queue.scheduler import ScheduleRequest
from afterword.web import fields
from afterword.web.fields import UNSET
from afterword.web.operations import Call


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


def changes_of(
    groups: fields.MetadataGroups | None, *, declared: Declared = metadata.GLOBAL, is_strict: bool
) -> Changes:
    """The metadata of a request; raises Invalid for what strict handling does not take."""
    if groups is None:
        return Changes()
    given = {
        kind: values
        for kind, values in (("questionnaire", groups.questionnaire), ("responder", groups.responder))
        if values is not UNSET
    }
    if not is_strict:  # names and values were read with the request
        return Changes(**given)
    changes, wrong = metadata.read_grouped(given, declared=declared, strict=True)
    if wrong:
        raise errors.Invalid.of(*wrong)
    return changes


def schedule_request_of(
    body: QueueItemRequest, *, declared: Declared = metadata.GLOBAL, is_strict: bool
) -> ScheduleRequest:
    """Read one schedule request; raises Invalid."""
    return ScheduleRequest(
        responder_channel_identifier=body.responder_channel_identifier,
        locale=body.locale,
        send_time=body.send_time,
        metadata=changes_of(body.metadata, declared=declared, is_strict=is_strict),
        external_reference=body.external_reference,
    )


def schedule_requests_of(
    rows: Sequence[QueueItemRequest | errors.Invalid], *, declared: Declared = metadata.GLOBAL, is_strict: bool
) -> list[ScheduleRequest | errors.Invalid]:
    """Each row's wish, or what is wrong with it."""
    found: list[ScheduleRequest | errors.Invalid] = []
    for row in rows:
        try:
            found.append(
                row
                if isinstance(row, errors.Invalid)
                else schedule_request_of(row, declared=declared, is_strict=is_strict)
            )
        except errors.Invalid as refusal:
            found.append(refusal)
    return found
