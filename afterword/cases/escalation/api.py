"""The route that says how many open cases an age of escalation touches."""

from typing import Final

from afterword.cases.escalation import service
from afterword.cases.resources import DueHours
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

PATH: Final = "/alert/{alert_id}/escalation"

routes = Routes(tag="Alerts")


class EscalationQuery(fields.Request):
    """The age that is tried."""

    escalation_hours: DueHours = 24


class AlertEscalation(fields.Resource):
    """The open cases that this age would escalate at once."""

    alert_id: fields.Id
    escalation_hours: int
    open_cases: int


@routes.get(
    PATH,
    scope="Alert.Read",
    query=EscalationQuery,
    answer=AlertEscalation,
    summary="Say how many open cases an escalation touches",
    description=f"Nothing is changed. At most {service.TOUCHED_MAX:,} are counted; cases that wait are left out.",
)
async def get_alert_escalation(call: Call[None], db: Database) -> Answer:
    query: EscalationQuery = call.query
    alert_id, hours = call.ids["alert_id"], query.escalation_hours
    count = await service.touched(db, caller=call.caller, alert_id=alert_id, hours=hours, now=call.now)
    return Answer(AlertEscalation(alert_id=alert_id, escalation_hours=hours, open_cases=count))
