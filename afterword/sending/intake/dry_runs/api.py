"""HTTP handlers of dry runs."""

from typing import Final

from afterword import errors
from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web import problems
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.intake.batches.service import ROWS_MAX
from afterword.sending.intake.dry_runs import service
from afterword.sending.intake.dry_runs.service import RowForecast
from afterword.sending.queue.resources import QueueItemRequest, Simulation, SimulationQuery, SimulationRow, checks_of
from afterword.sending.queue.scheduler import checked_rows
from afterword.sending.queue.service import declared_for

ITEMS: Final = "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/queue/item"

Rows = list[QueueItemRequest | errors.Invalid]

routes = Routes(tag="Queue")


@routes.post(
    f"{ITEMS}/simulate",
    scope="Queue.Create",
    body=QueueItemRequest,
    query=SimulationQuery,
    answer=Simulation,
    rows_max=ROWS_MAX,
    summary="Say what would become of queue items",
    description=(
        "The body of a batch; nothing is written. Each row is decided about as it would be when it is due, with every "
        "rule and the filled texts; links in them are samples. Earlier rows of an address count for later ones, and "
        "so do up to 20,000 items that wait for the same addresses in open lanes. What is known of a "
        "responder already fills the texts for those with `Responder Value.Read`."
    ),
    refusals=("application_inactive", "questionnaire_not_published"),
)
async def simulate_batch(call: Call[Rows], db: Database) -> Answer:
    query: SimulationQuery = call.query
    declared = await declared_for(
        db, caller=call.caller, questionnaire_id=call.ids["questionnaire_id"], is_strict=call.strict
    )
    foreseen = await service.simulate(
        db,
        caller=call.caller,
        **call.ids,
        rows=checked_rows(call.body, declared),
        on_conflict=query.on_conflict,
        site=call.site,
    )
    return Answer(Simulation(results=[_row(call, place, one) for place, one in enumerate(foreseen)]))


def _row(call: Call[Rows], place: int, one: RowForecast) -> SimulationRow:
    decision, refusal, zone = one.decision, one.refusal, call.zone
    return SimulationRow(
        row=place,
        valid=refusal is None,
        verdict=decision and decision.verdict,
        reason=decision and decision.reason,
        result=decision and decision.text,
        planned_time=times.format_optional(one.planned_time, zone=zone),
        time_zone=one.zone_name,
        locale=one.locale,
        responder_id=one.responder_id,
        checks=checks_of(decision.checks if decision else (), zone=zone, leaves=one.leaves),
        subject=one.subject,
        body=one.body,
        segments=one.length and one.length.segments,
        encoding=one.length and one.length.encoding,
        problem=problems.document_of(refusal, site=call.site, request_id=call.request_id) if refusal else None,
    )
