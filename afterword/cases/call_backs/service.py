"""Opens a case for a customer who asked to be called, or changes the call while nobody has taken the case."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from afterword import errors
from afterword.asking.instances.answers.service import AnswerContext
from afterword.asking.instances.call_backs.service import Read
from afterword.asking.instances.triggers import Response, facts_of
from afterword.cases import rules
from afterword.cases.alert_instances import service as cases
from afterword.cases.alert_instances import store as cases_store
from afterword.cases.assignments import service as assignments
from afterword.cases.rules import Alert
from afterword.cases.settings import service as settings
from afterword.core.messaging import alerts as core_alerts
from afterword.core.messaging.alerts import Match
from afterword.core.questionnaires import conditions
from afterword.core.questionnaires.conditions import Facts
from afterword.kit.db import Database
from afterword.kit.texts import texts


class Taken(errors.Conflict):
    code_default = "call_back_taken"


async def request(db: Database, *, context: AnswerContext, call: Read, now: datetime) -> None:
    """Open the case of the call, or change the call. The instance is locked, so there is one case. Raises Taken."""
    instance = context.instance
    columns: dict[str, Any] = {
        "call_back_number": call.number,
        "call_back_time": call.window[0],
        "call_back_until_time": call.window[1],
        "call_back_note": call.note,
        "due_time": call.window[1],
    }
    key = {"organization_id": instance.organization_id, "instance_id": instance.instance_id}
    before = await cases_store.get_case_of_call(db, **key)
    if before is None:
        await _open(db, context=context, columns=columns, now=now)
        return
    if before.updated_by is not None or before.resolved_time is not None:
        raise Taken("Somebody works on this call already.")
    if any(getattr(before, name) != value for name, value in columns.items()):
        await cases.change_call(db, before=before, call=columns, now=now)


async def _open(db: Database, *, context: AnswerContext, columns: dict[str, Any], now: datetime) -> None:
    instance = context.instance
    organization_id = instance.organization_id
    response = Response(
        organization_id, instance.instance_id, instance.questionnaire_id, instance.responder_id, test=False
    )
    facts = (await facts_of(db, responses=[response])).get((organization_id, instance.instance_id), {})
    alert, match = await _rule_for(db, context=context, facts=facts, now=now)
    assigner = await assignments.assigner_for(db, alerts=[alert])
    case = cases.new_case(
        alert,
        response=response,
        match=match,
        owner_id=assigner.owner_of(alert, facts),
        opens_closed=False,
        calendar=await settings.calendar_of(db, organization_id=organization_id),
        now=now,
    )
    case = replace(case, **columns, call_back_requested_time=now)
    await cases.open_cases(db, cases=[case], now=now)


async def _rule_for(db: Database, *, context: AnswerContext, facts: Facts, now: datetime) -> tuple[Alert, Match]:
    """The first rule for calls whose conditions hold; else the application's own, which is made when it is missing.

    A customer who was promised a call is not forgotten because no rule fits.
    """
    instance, application_id = context.instance, context.questionnaire.owner_application_id
    organization_id = instance.organization_id
    active = await rules.list_active_alerts(db, questionnaires=[(organization_id, instance.questionnaire_id)])
    found = _first([one.alert for one in active if not one.opens_closed], facts)
    if found is not None:
        return found
    words = texts("console", context.definition.default_locale)
    title = words("Customers who asked for a call")
    own = await rules.for_calls(
        db, organization_id=organization_id, application_id=application_id, title=title, now=now
    )
    return own, Match(holds=True, leaves=[])


def _first(alerts: Sequence[Alert], facts: Facts) -> tuple[Alert, Match] | None:
    for alert in alerts:
        if alert.trigger == core_alerts.CALL_BACK:
            match = core_alerts.judge(conditions.read_saved(alert.conditions), facts)
            if match.holds:
                return alert, match
    return None
