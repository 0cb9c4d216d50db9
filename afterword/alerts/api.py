"""The HTTP routes of alerts, their statuses, cases and comments."""

from typing import Any, Final

import msgspec

from afterword import errors
from afterword.alerts import statuses
from afterword.alerts.assignments import api as assignments_api
from afterword.alerts.cases import service as cases
from afterword.alerts.cases import store as cases_store
from afterword.alerts.escalation import api as escalation_api
from afterword.alerts.figures import api as figures_api
from afterword.alerts.history import store as history_store
from afterword.alerts.messages import service as messages
from afterword.alerts.notifications import api as notifications_api
from afterword.alerts.previews import api as previews_api
from afterword.alerts.resources import (
    Alert,
    AlertComment,
    AlertCommentRequest,
    AlertCommentUpdate,
    AlertHistoryEntry,
    AlertInstance,
    AlertInstanceUpdate,
    AlertMessage,
    AlertMessageRequest,
    AlertRequest,
    AlertUpdate,
)
from afterword.alerts.rules import service as rules
from afterword.alerts.rules import store as rules_store
from afterword.alerts.settings import api as settings_api
from afterword.core.wire.lists import Rows
from afterword.core.wire.times import Moment
from afterword.db import Database
from afterword.web.fields import UNSET, listing_of
from afterword.web.operations import Answer, Call, Routes

routes = Routes(tag="Alerts")
instance_routes = Routes(tag="Alert Instance")

CASE: Final = "/alert/instance/{alert_instance_id}"
COMMENT: Final = f"{CASE}/comment/{{comment_id}}"
CONDITIONS: Final = (
    "The conditions are checked against the published questions and the declared metadata; those of trigger "
    "`schedule` compare figures (`metric:…`) and nothing else. Chat addresses are not delivered to in this release: "
    "`chat_urls` takes only the empty list."
)


@routes.list("/alert", scope="Alert.Read", answer=Alert, summary="Get all alerts")
async def list_alerts(call: Call[None], db: Database) -> Rows[rules.Alert]:
    return await rules_store.list_alerts(db, **call.caller.part, page=call.page)


@routes.post(
    "/alert", scope="Alert.Create", body=AlertRequest, answer=Alert, summary="Create new alert", description=CONDITIONS
)
async def create_alert(call: Call[AlertRequest], db: Database) -> Answer:
    alert = await rules.create(db, caller=call.caller, columns=_alert_columns(call.body), now=call.now)
    return Answer(record=alert, location=f"/alert/{alert.alert_id}")


@routes.get("/alert/{alert_id}", scope="Alert.Read", answer=Alert, summary="Get Alert")
async def get_alert(call: Call[None], db: Database) -> rules.Alert:
    return await rules.get(db, caller=call.caller, **call.ids)


@routes.patch(
    "/alert/{alert_id}",
    scope="Alert.Update",
    body=AlertUpdate,
    answer=Alert,
    summary="Update Alert",
    description=CONDITIONS,
)
async def update_alert(call: Call[AlertUpdate], db: Database) -> rules.Alert:
    return await rules.update(
        db, caller=call.caller, **call.ids, changes=_alert_columns(call.body), now=call.now, expect=call.check_version
    )


@routes.delete(
    "/alert/{alert_id}",
    scope="Alert.Delete",
    summary="Delete Alert",
    description="It opens no more cases; those that it opened stay.",
)
async def delete_alert(call: Call[None], db: Database) -> None:
    await rules.delete(db, caller=call.caller, **call.ids, now=call.now, expect=call.check_version)


@instance_routes.list(
    "/alert/instance", scope="Alert Instance.Read", answer=AlertInstance, summary="Get all alert instances"
)
async def list_alert_instances(call: Call[None], db: Database) -> Rows[cases.Case]:
    found = await cases_store.list_cases(db, **call.caller.reach, page=call.page)
    return found.map(lambda case: cases.visible(case, call.caller))


@instance_routes.list(
    "/alert/{alert_id}/instance",
    scope="Alert Instance.Read",
    answer=AlertInstance,
    summary="Get Alert Instance List by alert id",
)
async def list_instances_of_alert(call: Call[None], db: Database) -> Rows[cases.Case]:
    alert = await rules.get(db, caller=call.caller, **call.ids)
    found = await cases_store.list_cases_of_alert(
        db, organization_id=alert.organization_id, alert_id=alert.alert_id, test_only=call.caller.test, page=call.page
    )
    return found.map(lambda case: cases.visible(case, call.caller))


@instance_routes.get(CASE, scope="Alert Instance.Read", answer=AlertInstance, summary="Get Alert Instance")
async def get_alert_instance(call: Call[None], db: Database) -> cases.Case:
    case = await cases.get(db, caller=call.caller, **call.ids)
    return cases.visible(case, call.caller)


@instance_routes.patch(
    CASE,
    scope="Alert Instance.Update",
    body=AlertInstanceUpdate,
    answer=AlertInstance,
    summary="Update Alert Instance",
    description=(
        "A closing status sets `resolved_time` and `resolved_by`; any other opens the case again. With `waiting` the "
        "clock stands still: `due_time` is null and `due_left_seconds` of business hours are left until it goes on."
    ),
)
async def update_alert_instance(call: Call[AlertInstanceUpdate], db: Database) -> cases.Case:
    given = call.body.named()
    changes = {name: value.instant if isinstance(value, Moment) else value for name, value in given.items()}
    case = await cases.update(
        db, caller=call.caller, **call.ids, changes=changes, now=call.now, expect=call.check_version
    )
    return cases.visible(case, call.caller)


@instance_routes.list(
    f"{CASE}/history",
    scope="Alert Instance.Read",
    answer=AlertHistoryEntry,
    listing=listing_of(AlertHistoryEntry, order=(("created_time", "asc"),)),
    summary="Get the history of an alert instance",
    description="Its opening, every change and every comment, in the order of time.",
)
async def list_alert_history(call: Call[None], db: Database) -> Rows[history_store.Entry]:
    case = await cases.get(db, caller=call.caller, **call.ids)
    return await history_store.list_entries(
        db, organization_id=case.organization_id, alert_instance_id=case.alert_instance_id, page=call.page
    )


@instance_routes.post(
    f"{CASE}/message",
    scope="Alert Instance.Update",
    body=AlertMessageRequest,
    answer=AlertMessage,
    summary="Reply to the customer",
    description=(
        "The mail leaves by the account and sender address of the pipeline that asked the customer; its state stands "
        "in the history. An answer is added to the case, ends its waiting and opens it again."
    ),
    refusals=("no_address", "no_sender"),
)
async def send_alert_message(call: Call[AlertMessageRequest], db: Database) -> Answer:
    changes = call.body.named()
    message = await messages.send(
        db,
        caller=call.caller,
        **call.ids,
        subject=changes.pop("subject"),
        body=changes.pop("body"),
        changes=changes,
        key=None,
        now=call.now,
        expect=call.check_version,
    )
    return Answer(AlertMessage.of(message, call.zone))


@instance_routes.list(
    f"{CASE}/comment", scope="Alert Instance.Read", answer=AlertComment, summary="Get all comments of an alert instance"
)
async def list_alert_comments(call: Call[None], db: Database) -> Rows[cases.Comment]:
    case = await cases.get(db, caller=call.caller, **call.ids)
    return await cases_store.list_comments(
        db, organization_id=case.organization_id, alert_instance_ids=[case.alert_instance_id], page=call.page
    )


@instance_routes.post(
    f"{CASE}/comment",
    scope="Alert Instance.Update",
    body=AlertCommentRequest,
    answer=AlertComment,
    summary="Create new comment",
)
async def create_alert_comment(call: Call[AlertCommentRequest], db: Database) -> cases.Comment:
    return await cases.comment(db, caller=call.caller, **call.ids, body=call.body.body, now=call.now)


@instance_routes.patch(
    COMMENT,
    scope="Alert Instance.Update",
    body=AlertCommentUpdate,
    answer=AlertComment,
    summary="Update comment",
    description="Only its author may.",
)
async def update_alert_comment(call: Call[AlertCommentUpdate], db: Database) -> cases.Comment:
    return await cases.update_comment(
        db,
        caller=call.caller,
        **call.ids,
        body=None if call.body.body is UNSET else call.body.body,
        now=call.now,
        expect=call.check_version,
    )


@instance_routes.delete(
    COMMENT, scope="Alert Instance.Update", summary="Delete comment", description="Only its author may."
)
async def delete_alert_comment(call: Call[None], db: Database) -> None:
    await cases.delete_comment(db, caller=call.caller, **call.ids, now=call.now, expect=call.check_version)


routes.all[:0] = [
    *settings_api.routes.all, *figures_api.routes.all, *escalation_api.routes.all, *previews_api.routes.all,
    *assignments_api.routes.all,
]  # fmt: skip
routes.all += [*instance_routes.all, *statuses.routes.all, *notifications_api.routes.all]


def _alert_columns(body: AlertRequest | AlertUpdate) -> dict[str, Any]:
    """The columns in the body; lists of ids without duplicates."""
    columns = body.named()
    if columns.pop("chat_urls", None):
        message = "This release delivers to no chat; leave the list empty."
        raise errors.Invalid.at("/chat_urls", "unknown_value", message)
    for name in ("questionnaire_ids", "subscriber_user_ids"):
        if name in columns:
            columns[name] = list(dict.fromkeys(columns[name]))
    if columns.get("assignment") is not None:
        columns["assignment"] = msgspec.to_builtins(columns["assignment"])
    return columns
