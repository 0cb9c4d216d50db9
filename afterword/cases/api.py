"""The HTTP routes of alerts, their statuses, cases and comments."""

from typing import Final

from afterword.cases import (
    assignments,
    chats,
    escalation,
    figures,
    history,
    mailboxes,
    messages,
    notifications,
    previews,
    rules,
    settings,
    statuses,
)
from afterword.cases.alert_instances import service as alert_instances, store
from afterword.cases.resources import AlertCommentRequest, AlertCommentUpdate, AlertInstanceUpdate, AlertMessageRequest
from afterword.cases.rules import ALERT
from afterword.core.wire.lists import Rows
from afterword.core.wire.times import Moment
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.web.fields import UNSET, listing_of
from afterword.kit.web.operations import Answer, Call, Routes

instance_routes = Routes(tag="Alert Instance", scope="Alert Instance")

CASE: Final = "/alert/instance/{alert_instance_id}"
COMMENT: Final = f"{CASE}/comment/{{comment_id}}"


@instance_routes.list("/alert/instance", answer=store.ALERT_INSTANCE, summary="Get all alert instances")
async def list_alert_instances(call: Call[None], db: Database) -> Rows[alert_instances.Case]:
    found = await store.list_cases(db, **call.caller.reach, page=call.page)
    return found.map(lambda case: alert_instances.visible(case, call.caller))


@instance_routes.list(
    "/alert/{alert_id}/instance", answer=store.ALERT_INSTANCE, summary="Get Alert Instance List by alert id"
)
async def list_instances_of_alert(call: Call[None], db: Database) -> Rows[alert_instances.Case]:
    alert = await nouns.get(ALERT, db, caller=call.caller, key=call.ids["alert_id"])
    found = await store.list_cases_of_alert(
        db, organization_id=alert.organization_id, alert_id=alert.alert_id, test_only=call.caller.test, page=call.page
    )
    return found.map(lambda case: alert_instances.visible(case, call.caller))


@instance_routes.get(CASE, for_limited="part", answer=store.ALERT_INSTANCE, summary="Get Alert Instance")
async def get_alert_instance(call: Call[None], db: Database) -> alert_instances.Case:
    case = await alert_instances.get(db, caller=call.caller, **call.ids)
    return alert_instances.visible(case, call.caller)


@instance_routes.patch(
    CASE,
    for_limited="part",
    answer=store.ALERT_INSTANCE,
    summary="Update Alert Instance",
    description=(
        "A closing status sets `resolved_time` and `resolved_by`; any other opens the case again. With `waiting` the "
        "clock stands still: `due_time` is null and `due_left_seconds` of business hours are left until it goes on."
    ),
)
async def update_alert_instance(call: Call[AlertInstanceUpdate], db: Database) -> alert_instances.Case:
    given = call.body.named()
    changes = {name: value.instant if isinstance(value, Moment) else value for name, value in given.items()}
    case = await alert_instances.update(
        db, caller=call.caller, **call.ids, changes=changes, now=call.now, expect=call.expect
    )
    return alert_instances.visible(case, call.caller)


@instance_routes.list(
    f"{CASE}/history",
    for_limited="part",
    answer=history.RESOURCE,
    listing=listing_of(history.RESOURCE, order=(("created_time", "asc"),)),
    summary="Get the history of an alert instance",
    description="Its opening, every change and every comment, in the order of time.",
)
async def list_alert_history(call: Call[None], db: Database) -> Rows[history.Entry]:
    case = await alert_instances.get(db, caller=call.caller, **call.ids)
    return await history.list_entries(db, **case.key, page=call.page)


@instance_routes.post(
    f"{CASE}/message",
    scope="Alert Instance.Update",
    for_limited="part",
    answer=messages.RESOURCE,
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
        expect=call.expect,
    )
    return Answer(messages.RESOURCE.of(message, call.zone))


@instance_routes.list(
    f"{CASE}/comment", for_limited="part", answer=store.COMMENT, summary="Get all comments of an alert instance"
)
async def list_alert_comments(call: Call[None], db: Database) -> Rows[alert_instances.Comment]:
    case = await alert_instances.get(db, caller=call.caller, **call.ids)
    return await store.list_comments(
        db, organization_id=case.organization_id, alert_instance_ids=[case.alert_instance_id], page=call.page
    )


@instance_routes.post(
    f"{CASE}/comment",
    scope="Alert Instance.Update",
    for_limited="part",
    answer=store.COMMENT,
    summary="Create new comment",
)
async def create_alert_comment(call: Call[AlertCommentRequest], db: Database) -> alert_instances.Comment:
    return await alert_instances.comment(db, caller=call.caller, **call.ids, body=call.body.body, now=call.now)


@instance_routes.patch(
    COMMENT, for_limited="part", answer=store.COMMENT, summary="Update comment", description="Only its author may."
)
async def update_alert_comment(call: Call[AlertCommentUpdate], db: Database) -> alert_instances.Comment:
    return await alert_instances.update_comment(
        db,
        caller=call.caller,
        **call.ids,
        body=None if call.body.body is UNSET else call.body.body,
        now=call.now,
        expect=call.expect,
    )


@instance_routes.delete(
    COMMENT,
    scope="Alert Instance.Update",
    for_limited="part",
    summary="Delete comment",
    description="Only its author may.",
)
async def delete_alert_comment(call: Call[None], db: Database) -> None:
    await alert_instances.delete_comment(db, caller=call.caller, **call.ids, now=call.now, expect=call.expect)


routes = Routes(tag="Alerts")
routes.all = [
    *settings.routes.all, *mailboxes.routes.all, *figures.routes.all, *escalation.routes.all, *previews.routes.all,
    *assignments.routes.all, *rules.routes.all, *instance_routes.all, *statuses.routes.all,
    *notifications.routes.all, *chats.routes.all,
]  # fmt: skip
