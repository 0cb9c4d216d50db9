"""Notes in cases that their customers are asked again, and who of them is won back."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from afterword import errors
from afterword.asking.instances import triggers
from afterword.asking.instances.resources import DEPTH_MAX
from afterword.cases import history
from afterword.cases.alert_instances import service as alert_instances
from afterword.cases.alert_instances.store import CASE_COLUMNS_I, Case
from afterword.core.messaging import alerts as core_alerts
from afterword.core.organizations.access import Caller
from afterword.core.questionnaires.conditions import Facts, Node, leaves_of
from afterword.core.wire.site import Site
from afterword.events import service as events
from afterword.kit.db import Database, Row
from afterword.kit.db.columns import arrays
from afterword.kit.web import fields
from afterword.kit.web.fields import MetadataGroups
from afterword.kit.web.operations import Answer, Call, Routes
from afterword.sending.intake import dry_runs
from afterword.sending.intake.sequences import TOO_DEEP, list_sources
from afterword.sending.queue import service as queue
from afterword.sending.queue.records import QueueItemRequest
from afterword.sending.queue.service import NewItem


async def _list_outcomes(
    db: Database, *, organization_id: str, instance_ids: Sequence[str]
) -> list[tuple[str, dict[str, Any]]]:
    """The cause and the remedy of each response's case that was closed last."""
    rows = await db.fetch(
        """select distinct on (instance_id) instance_id, cause, remedy from alert_instance
           where organization_id = $1 and instance_id = any($2::text[]) and resolved_time is not null
           order by instance_id, resolved_time desc, alert_instance_id""",
        *(organization_id, list(instance_ids)),
    )
    return [(row["instance_id"], {"case:cause": row["cause"], "case:remedy": row["remedy"]}) for row in rows]


async def list_facts(
    db: Database, *, organization_id: str, instance_ids: Sequence[str], condition: Node
) -> Mapping[str, Facts]:
    known = await triggers.list_facts(
        db, organization_id=organization_id, instance_ids=instance_ids, condition=condition
    )
    if not any(leaf.subject.startswith("case:") for leaf in leaves_of(condition)):
        return known
    outcomes = await _list_outcomes(db, organization_id=organization_id, instance_ids=list(known))
    return {**known, **{instance_id: {**known[instance_id], **outcome} for instance_id, outcome in outcomes}}


async def _update_recovered(  # any tenant: a batch of events serves many organizations
    db: Database, *, recoveries: Sequence[tuple[str, str, str]], now: datetime
) -> list[Case]:
    """Set the item (organization, instance, item) in the open cases of a response that have none."""
    return await db.records(Case.of).fetch(
        f"""update alert_instance i
           set recovery_item_id = b.item_id, version = i.version + 1, updated_time = greatest(i.updated_time, $4)
           from unnest($1::text[], $2::text[], $3::text[]) as b (organization_id, instance_id, item_id)
           where i.organization_id = b.organization_id and i.instance_id = b.instance_id
             and i.recovery_item_id is null and i.resolved_time is null returning {CASE_COLUMNS_I}""",
        *arrays(recoveries, 3),
        now,
    )


async def _list_recovery_answers(  # any tenant: the log's reader serves all
    db: Database, *, keys: Sequence[tuple[str, str]]
) -> list[Row]:
    """Lock the cases whose recovery items these responses (organization, instance) answer.

    With the id and time of the response, and the scores of the first response and of this one.
    """
    return await db.fetch(
        f"""select {CASE_COLUMNS_I}, r.instance_id as answer_id, r.submitted_time as answer_time,
             jsonb_build_array(f.score_kind, f.score, f.score_max, f.band) as before,
             jsonb_build_array(r.score_kind, r.score, r.score_max, r.band) as after
           from unnest($1::text[], $2::text[]) as k (organization_id, instance_id)
             join questionnaire_instance n on n.organization_id = k.organization_id and n.instance_id = k.instance_id
             join alert_instance i on i.organization_id = n.organization_id
               and i.instance_id = n.previous_questionnaire_instance_id and i.recovery_item_id = n.item_id
             join response r on r.organization_id = n.organization_id and r.instance_id = n.instance_id
             left join response f on f.organization_id = i.organization_id and f.instance_id = i.instance_id
           order by i.organization_id, i.alert_instance_id for no key update of i""",
        *arrays(keys, 2),
    )


async def record_recoveries(db: Database, *, recoveries: Sequence[tuple[str, str, str]], now: datetime) -> None:
    """Set the recovery item in the open cases of responses (organization, instance, item); a first one stays."""
    if recoveries:
        for case in await _update_recovered(db, recoveries=recoveries, now=now):
            await _record_recovery(db, case=case, caller=None, now=now)


async def record_asked_again(db: Database, *, caller: Caller, case: Case, item_id: str, now: datetime) -> Case:
    """Set the recovery item of a case that the caller has locked; the answer to an earlier one is forgotten."""
    changes = {
        "recovery_item_id": item_id,
        "recovery_instance_id": None,
        "recovery_time": None,
        "recovered": None,
        "updated_by": caller.actor_id or None,
    }
    found = await alert_instances.change(db, before=case, changes=changes, now=now)
    after = errors.found(found, alert_instances.NO_CASE)
    await _record_recovery(db, case=after, caller=caller, now=now)
    return after


async def record_recovery_answers(db: Database, *, keys: Sequence[tuple[str, str]], now: datetime) -> None:
    """Note which of these responses (organization, instance) answer recovery items, and who is won back."""
    for row in await _list_recovery_answers(db, keys=keys):
        case = Case.of(row)
        scores = (core_alerts.score_of(*row[name]) for name in ("before", "after"))
        changes = {
            "recovery_instance_id": row["answer_id"],
            "recovery_time": row["answer_time"],
            "recovered": core_alerts.is_recovered(*scores),
        }
        after = await alert_instances.change(db, before=case, changes=changes, now=now)
        if after is not None and case.recovery_instance_id is None:
            await history.record_change(db, before=case, after=after, caller=None, now=now)
            await events.record(db, events=[alert_instances.event(after, "recovery_answered", now=now)])


async def _record_recovery(db: Database, *, case: Case, caller: Caller | None, now: datetime) -> None:
    changes = {"recovery_item_id": {"from": None, "to": case.recovery_item_id}}
    await history.insert_change(db, case=case, caller=caller, changes=changes, now=now)


class PipelineChoice(msgspec.Struct, frozen=True, kw_only=True):
    questionnaire_id: str
    questionnaire_name: str
    pipeline_id: str
    channel_id: int


async def _get_way(db: Database, *, organization_id: str, alert_instance_id: str) -> PipelineChoice | None:
    """The pipeline of the recovery questionnaire of the settings, else of that of the case.

    One on which the customer has an address comes first, then the one that asked before, then the newest.
    """
    return await db.records(PipelineChoice).fetch_row(
        """select p.questionnaire_id, q.display_name as questionnaire_name, p.pipeline_id, p.channel_id
           from alert_instance c
             left join alert_settings s on s.organization_id = c.organization_id
             join pipeline p on p.organization_id = c.organization_id and p.deleted_time is null
               and p.questionnaire_id = coalesce(s.recovery_questionnaire_id, c.questionnaire_id)
             join questionnaire q on q.organization_id = p.organization_id and q.questionnaire_id = p.questionnaire_id
           where c.organization_id = $1 and c.alert_instance_id = $2
           order by exists (
               select from responder_address a
               where a.organization_id = c.organization_id and a.responder_id = c.responder_id
                 and a.channel_id = p.channel_id) desc, exists (
               select from questionnaire_instance n
               where n.organization_id = c.organization_id and n.instance_id = c.instance_id
                 and n.pipeline_id = p.pipeline_id) desc, p.channel_id, p.created_time desc limit 1""",
        *(organization_id, alert_instance_id),
    )


SOURCE = "recovery"


class AlreadyAsked(errors.Conflict):
    code_default = "already_asked"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    way: PipelineChoice
    request: QueueItemRequest
    planned_time: datetime | None
    reason: str | None


async def foresee(db: Database, *, caller: Caller, case: Case, site: Site) -> Plan:
    """When the customer can be asked again. Raises AlreadyAsked, and Conflict with a code of REFUSALS."""
    if case.recovery_item_id is not None and case.recovery_time is None:
        raise AlreadyAsked("The customer was asked again and has not answered yet.")
    if case.instance_id is None or case.responder_id is None:
        raise errors.Conflict("The case has no customer: a figure opened it, or the person was erased.", "no_address")
    way = await _get_way(db, **case.key)
    if way is None:
        raise errors.Conflict("The recovery questionnaire has no pipeline to send the message.", "no_sender")
    key = (case.organization_id, case.instance_id, way.pipeline_id, way.channel_id)
    source = next(iter(await list_sources(db, wanted=[key])), None)
    if source is None or source.identifier is None:
        message = "No address of this customer is known on a channel of the recovery questionnaire."
        raise errors.Conflict(message, "no_address")
    if source.ancestors >= DEPTH_MAX:
        raise errors.Conflict(TOO_DEEP[1], "may_not_ask")
    request = QueueItemRequest(
        responder_channel_identifier=source.identifier,
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
        raise errors.Conflict(forecast.refusal.detail, "may_not_ask")
    decision = forecast.decision
    if decision is not None and decision.verdict == "skip":
        raise errors.Conflict(f"The customer must not be asked now: {decision.text}", "may_not_ask")
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
    case = await alert_instances.get(db, caller=caller, alert_instance_id=alert_instance_id, is_locked=True)
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
    return await record_asked_again(db, caller=caller, case=case, item_id=item.item_id, now=now), plan


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
    case = await alert_instances.get(db, caller=call.caller, **call.ids)
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


def _shown(call: Call[None], plan: Plan, case_id: str, item_id: str | None) -> fields.Resource:
    way = {"questionnaire_id": plan.way.questionnaire_id, "pipeline_id": plan.way.pipeline_id}
    return AlertRecovery.of(plan, call.zone, alert_instance_id=case_id, item_id=item_id, **way)
