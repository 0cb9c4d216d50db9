"""The HTTP route that tries changed rules of a pipeline on its invitations of the last days."""

from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.pipelines.resources import PipelineUpdate
from afterword.sending.queue.backtests import service

routes = Routes(tag="Pipelines")


class TriedOutcome(fields.Answer):
    """Invitations with one outcome: `reason` says why they are not asked, null that they are."""

    reason: str | None
    before: int
    after: int


class PipelineTrial(fields.Answer):
    """Outcomes of the same invitations by the stored rules (`before`) and by the changed ones (`after`)."""

    items: int
    moved: int
    outcomes: list[TriedOutcome]


@routes.post(
    "/q/questionnaire/{questionnaire_id}/pipeline/{pipeline_id}/trial",
    scope="Pipeline.Update",
    more_scopes=("Queue.Read",),
    body=PipelineUpdate,
    answer=PipelineTrial,
    summary="Try changes of a pipeline",
    description=(
        f"The body of a change; nothing is written. The newest invitations of the last {service.DAYS} days, at most "
        f"{service.ITEMS_MAX} and without tests and reminders, are decided anew, each at its send time. Deliveries, "
        "responses and stops count from their own time on. A change that would be refused is refused here."
    ),
    status=200,
)
async def try_pipeline(call: Call[PipelineUpdate], db: Database) -> Answer:
    tried = await service.try_change(
        db,
        caller=call.caller,
        **call.ids,
        changes=call.body.given,
        expect=call.expect,
        now=call.now,
        networks=call.site.networks,
    )
    outcomes = [
        TriedOutcome(reason=reason or None, before=before, after=after) for reason, before, after in tried.outcomes
    ]
    return Answer(PipelineTrial(items=len(tried.before), moved=tried.moved, outcomes=outcomes))
