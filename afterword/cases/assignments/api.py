"""The route of the users who may take cases."""

from typing import Final

from afterword import errors
from afterword.cases.assignments import store
from afterword.core.wire.lists import Rows
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.operations import Call, Routes
from afterword.tenants.organizations import checks

PATH: Final = "/alert/assignee"

routes = Routes(tag="Alerts")


class AssigneeQuery(fields.Request):
    """The application of the cases; without one all that the caller has."""

    application_id: fields.Id | None = None


class AlertAssignee(fields.Resource):
    """A user who may take cases."""

    user_id: fields.Id
    email: str
    display_name: str | None
    open_cases: fields.Computed[int]
    created_time: fields.DateTime


@routes.list(
    PATH,
    scope="Alert.Read",
    more_scopes=("User.Read",),
    query=AssigneeQuery,
    answer=AlertAssignee,
    summary="Get the users who may take cases",
    description=f"Each with the cases that are open with this user, {store.OPEN_CASES_MAX:,} at most.",
)
async def list_alert_assignees(call: Call[None], db: Database) -> Rows[store.Assignee]:
    query: AssigneeQuery = call.query
    if query.application_id is not None:
        wrong = await checks.reach_errors(db, caller=call.caller, application_id=query.application_id)
        errors.check([errors.FieldError(one.code, one.message, parameter="application_id") for one in wrong])
    return await store.list_assignees(db, **call.caller.part, application_id=query.application_id, page=call.page)
