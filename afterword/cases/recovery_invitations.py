"""Asks the customer of a case again: when that may be, and the queue item for it.

The item takes the same way as all others, so every rule decides about it once more when it is due.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from afterword import errors
from afterword.asking.instances.resources import DEPTH_MAX
from afterword.cases import recoveries
from afterword.cases.alert_instances import service as cases
from afterword.cases.alert_instances.store import Case
from afterword.core.organizations.access import Caller
from afterword.core.wire import times
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.fields import MetadataGroups
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.intake import dry_runs
from afterword.sending.intake.sequences import TOO_DEEP, list_sources
from afterword.sending.queue import service as queue
from afterword.sending.queue.resources import QueueItemRequest
from afterword.sending.queue.service import NewItem


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineChoice:
    """A pipeline; `has_address`: the customer has an address on its channel."""

    questionnaire_id: str
    questionnaire_name: str
    pipeline_id: str
    channel_id: int
    has_address: bool


async def _get_way(db: Database, *, organization_id: str, alert_instance_id: str) -> PipelineChoice | None:
    """The pipeline of the recovery questionnaire of the settings, else of that of the case.

    One on which the customer has an address comes first, then the one that asked before, then the newest.
    """
    row = await db.fetch_row(
        """select p.questionnaire_id, q.display_name as questionnaire_name, p.pipeline_id, p.channel_id, exists (
             select from responder_address a
             where a.organization_id = c.organization_id and a.responder_id = c.responder_id
               and a.channel_id = p.channel_id) as has_address
           from alert_instance c
             left join alert_settings s on s.organization_id = c.organization_id
             join pipeline p on p.organization_id = c.organization_id and p.deleted_time is null
               and p.questionnaire_id = coalesce(s.recovery_questionnaire_id, c.questionnaire_id)
             join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
           where c.organization_id = $1 and c.alert_instance_id = $2
           order by has_address desc, exists (
               select from questionnaire_instance n
               where n.organization_id = c.organization_id and n.instance_id = c.instance_id
                 and n.pipeline_id = p.pipeline_id) desc, p.channel_id, p.created_time desc limit 1""",
        *(organization_id, alert_instance_id),
    )
    return PipelineChoice(**row) if row else None


SOURCE = "recovery"


class NobodyToAsk(errors.Conflict):
    code_default = "no_address"


class NoPipeline(errors.Conflict):
    code_default = "no_sender"


class MayNotAsk(errors.Conflict):
    """The customer must not be asked now: unsubscribed, asked too often, or another rule."""

    code_default = "may_not_ask"


class AlreadyAsked(errors.Conflict):
    code_default = "already_asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    way: PipelineChoice
    request: QueueItemRequest
    planned_time: datetime | None
    reason: str | None


async def foresee(db: Database, *, caller: Caller, case: Case, site: Site) -> Plan:
    """When the customer can be asked again. Raises NobodyToAsk, NoPipeline, MayNotAsk, AlreadyAsked."""
    if case.recovery_item_id is not None and case.recovery_time is None:
        raise AlreadyAsked("The customer was asked again and has not answered yet.")
    if case.instance_id is None or case.responder_id is None:
        raise NobodyToAsk("The case has no customer: a figure opened it, or the person was erased.")
    way = await _get_way(db, organization_id=case.organization_id, alert_instance_id=case.alert_instance_id)
    if way is None:
        raise NoPipeline("The recovery questionnaire has no pipeline to send the message.")
    key = (case.organization_id, case.instance_id, way.pipeline_id, way.channel_id)
    sources = await list_sources(db, wanted=[key], ancestors_max=DEPTH_MAX)
    if not sources or sources[0].identifier is None:
        raise NobodyToAsk("No address of this customer is known on a channel of the recovery questionnaire.")
    source = sources[0]
    if source.ancestors >= DEPTH_MAX:
        raise MayNotAsk(TOO_DEEP[1])
    request = QueueItemRequest(
        responder_channel_identifier=sources[0].identifier,
        locale=source.locale,
        metadata=MetadataGroups(questionnaire=dict(source.metadata)),
    )
    [forecast] = await dry_runs.simulate(
        db,
        caller=caller,
        questionnaire_id=way.questionnaire_id,
        pipeline_id=way.pipeline_id,
        rows=[request],
        on_conflict="error",
        site=site,
    )
    if forecast.refusal is not None:
        raise MayNotAsk(forecast.refusal.detail)
    decision = forecast.decision
    if decision is not None and decision.verdict == "skip":
        raise MayNotAsk(f"The customer must not be asked now: {decision.text}")
    return Plan(
        way=way, request=request, planned_time=forecast.planned_time, reason=decision.text if decision else None
    )


async def ask(
    db: Database,
    *,
    caller: Caller,
    alert_instance_id: str,
    site: Site,
    now: datetime,
    expect: errors.Expect = errors.ANY,
) -> tuple[Case, Plan]:
    """Schedule the message, and note it in the case. Raises NotFound, what `foresee` and `expect` raise."""
    case = await cases.get(db, caller=caller, alert_instance_id=alert_instance_id, is_locked=True)
    expect(case.version)
    plan = await foresee(db, caller=caller, case=case, site=site)
    item = await queue.schedule(
        db,
        new=NewItem(
            caller=caller,
            questionnaire_id=plan.way.questionnaire_id,
            pipeline_id=plan.way.pipeline_id,
            request=plan.request,
            previous_questionnaire_instance_id=case.instance_id,
            source=SOURCE,
        ),
        secret=site.secret,
    )
    return await recoveries.ask_again(db, caller=caller, case=case, item_id=item.item_id, now=now), plan


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
    plan = await foresee(db, caller=call.caller, case=case, site=call.site)
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
    case, plan = await ask(db, caller=call.caller, **call.ids, site=call.site, now=call.now, expect=call.expect)
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
