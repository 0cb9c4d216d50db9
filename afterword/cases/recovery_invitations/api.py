"""The routes by which the customer of a case is asked again."""

from typing import Final

from afterword.cases.alert_instances import service as cases
from afterword.cases.recovery_invitations import service
from afterword.cases.recovery_invitations.service import Plan
from afterword.core.wire import times
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

PATH: Final = "/alert/instance/{alert_instance_id}/recovery"
REFUSALS: Final = ("no_address", "no_sender", "may_not_ask", "already_asked")

routes = Routes(tag="Alert Instance")


class AlertRecovery(fields.Resource):
    """The message by which the customer of a case is asked again; `item_id` is null before it is asked for."""

    alert_instance_id: fields.Id
    questionnaire_id: fields.Id
    pipeline_id: fields.Id
    item_id: fields.Id | None
    planned_time: fields.DateTime | None
    reason: str | None


@routes.get(
    PATH,
    scope="Alert Instance.Read",
    answer=AlertRecovery,
    summary="Say when the customer can be asked again",
    description="Nothing is sent. The rules of the pipeline, the contact policy and suppressions decide as if it were.",
    refusals=REFUSALS,
)
async def foresee_recovery(call: Call[None], db: Database) -> Answer:
    case = await cases.get(db, caller=call.caller, **call.ids)
    plan = await service.foresee(db, caller=call.caller, case=case, site=call.site)
    return Answer(_shown(call, plan, case.alert_instance_id, None))


@routes.post(
    PATH,
    scope="Alert Instance.Update",
    answer=AlertRecovery,
    summary="Ask the customer again",
    description=(
        "A queue item for the recovery questionnaire, by default the one of the case. Its answer is compared with the "
        "first: `recovered` of the case says whether the customer is won back."
    ),
    refusals=REFUSALS,
)
async def ask_again(call: Call[None], db: Database) -> Answer:
    case, plan = await service.ask(db, caller=call.caller, **call.ids, site=call.site, now=call.now, expect=call.expect)
    return Answer(_shown(call, plan, case.alert_instance_id, case.recovery_item_id))


def _shown(call: Call[None], plan: Plan, case_id: str, item_id: str | None) -> AlertRecovery:
    return AlertRecovery(
        alert_instance_id=case_id,
        questionnaire_id=plan.way.questionnaire_id,
        pipeline_id=plan.way.pipeline_id,
        item_id=item_id,
        planned_time=times.format_optional(plan.planned_time, zone=call.zone),
        reason=plan.reason,
    )
