"""HTTP handlers of batches: thousands of items in one request."""

from typing import Final

from afterword import errors
from afterword.kit.db import Database
from afterword.kit.web import problems
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.intake.batches import service
from afterword.sending.intake.batches.service import ROWS_MAX, Outcome
from afterword.sending.queue.resources import BatchQuery, BatchResult, BatchRow, QueueItemRequest
from afterword.sending.queue.scheduler import checked_rows
from afterword.sending.queue.service import declared_for

ITEMS: Final = "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item"

routes = Routes(tag="Queue")


@routes.post(
    f"{ITEMS}/batch",
    scope="Queue.Create",
    body=QueueItemRequest,
    query=BatchQuery,
    answer=BatchResult,
    rows_max=ROWS_MAX,
    summary="Create queue items",
    description=(
        "A JSON array or lines of JSON; each row is checked alone, and a bad one spoils no other. A row whose "
        "`external_reference` a live item has is refused, or with `on_conflict` changes that item (which also needs "
        "`Queue.Update`) or is skipped. `atomic=1`: any refusal creates nothing."
    ),
    refusals=("application_inactive", "questionnaire_not_published"),
)
async def schedule_batch(call: Call[list[QueueItemRequest | errors.Invalid]], db: Database) -> Answer:
    query: BatchQuery = call.query
    if query.on_conflict == "update":
        call.caller.require("Queue.Update")
    declared = await declared_for(
        db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"], is_strict=call.strict
    )
    outcomes = await service.schedule_batch(
        db,
        caller=call.caller,
        **call.ids,
        rows=checked_rows(call.body, declared),
        on_conflict=query.on_conflict,
        atomic=query.atomic,
        secret=call.site.secret,
    )
    rows = [_row(call, place, outcome) for place, outcome in enumerate(outcomes)]
    return Answer(
        BatchResult(
            results=rows,
            created=sum(outcome.status == 201 for outcome in outcomes),  # noqa: PLR2004
            updated=sum(outcome.is_changed for outcome in outcomes),
            failed=sum(outcome.refusal is not None for outcome in outcomes),
        )
    )


def _row(call: Call[list[QueueItemRequest | errors.Invalid]], place: int, outcome: Outcome) -> BatchRow:
    body, refusal = call.body[place], outcome.refusal
    reference = None if isinstance(body, errors.Invalid) else body.external_reference
    problem = problems.document_of(refusal, site=call.site, request_id=call.request_id) if refusal else None
    return BatchRow(place, outcome.status, outcome.item_id, reference, problem)
