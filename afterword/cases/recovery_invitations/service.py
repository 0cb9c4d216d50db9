"""Asks the customer of a case again: when that may be, and the queue item for it.

The item takes the same way as all others, so every rule decides about it once more when it is due.
"""

from dataclasses import dataclass
from datetime import datetime

from afterword import errors
from afterword.asking.instances.resources import DEPTH_MAX
from afterword.cases.alert_instances import service as cases
from afterword.cases.alert_instances.store import Case
from afterword.cases.recoveries import service as recoveries
from afterword.cases.recovery_invitations import store
from afterword.cases.recovery_invitations.store import PipelineChoice
from afterword.core.organizations.access import Caller
from afterword.core.wire.site import Site
from afterword.kit.db import Database
from afterword.kit.web.fields import MetadataGroups
from afterword.sending.intake.dry_runs import service as dry_runs
from afterword.sending.intake.sequences import TOO_DEEP, list_sources
from afterword.sending.queue import service as queue
from afterword.sending.queue.resources import QueueItemRequest
from afterword.sending.queue.service import NewItem

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
    way = await store.get_way(db, organization_id=case.organization_id, alert_instance_id=case.alert_instance_id)
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
