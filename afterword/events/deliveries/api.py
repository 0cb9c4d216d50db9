"""The HTTP routes of deliveries: the list of an endpoint, and redelivery."""

from datetime import datetime
from typing import Any, Final, Literal

from afterword import errors
from afterword.core.wire.lists import Rows
from afterword.errors import FieldError
from afterword.events.deliveries import service, store
from afterword.events.log import api as log
from afterword.events.log import service as log_service
from afterword.events.webhooks import WEBHOOK
from afterword.kit.db import Database
from afterword.kit.nouns import service as nouns
from afterword.kit.web import fields
from afterword.kit.web.operations import Answer, Call, Routes

routes = Routes(tag="Webhooks")

PATH: Final = "/webhook/{webhook_id}/delivery"


class Delivery(fields.Resource):
    """One event for one endpoint, and its outcome. `response_excerpt` is plain text, whatever type the target names."""

    delivery_id: fields.Id
    webhook_id: fields.Id
    event_id: fields.Id
    event_type: str
    state: Literal["pending", "delivered", "dead"]
    attempts: int
    response_status: int | None
    duration_ms: int | None
    response_excerpt: str | None
    error: str | None
    next_attempt_time: fields.DateTime | None
    finished_time: fields.DateTime | None
    created_time: fields.DateTime


class RedeliveryRequest(fields.Request):
    """A span of the event log: from a time on, or behind a cursor."""

    from_time: fields.Moment | None = None
    to_time: fields.Moment | None = None
    after: fields.Text500 | None = None


class Redelivery(fields.Answer):
    """`count` deliveries were created or restarted. `next_cursor`: `after` of the next request; null: no more."""

    count: int
    next_cursor: str | None


@routes.list(
    PATH,
    scope="Webhook.Read",
    answer=Delivery,
    summary="Get all deliveries of a webhook",
    description="Kept 30 days after their end.",
)
async def list_deliveries(call: Call[None], db: Database) -> Rows[service.Delivery]:
    webhook = await nouns.get(WEBHOOK, db, caller=call.caller, key=call.ids["webhook_id"])
    return await store.list_deliveries(
        db, organization_id=webhook.organization_id, webhook_id=webhook.webhook_id, page=call.page
    )


@routes.get(f"{PATH}/{{delivery_id}}", scope="Webhook.Read", answer=Delivery, summary="Get Delivery")
async def get_delivery(call: Call[None], db: Database) -> service.Delivery:
    return await service.get(db, caller=call.caller, **call.ids)


@routes.post(
    f"{PATH}/{{delivery_id}}/redelivery",
    scope="Webhook.Update",
    answer=Delivery,
    status=200,
    summary="Redeliver one delivery",
    description="From its first attempt on, with the same `webhook-id`; a waiting one is tried at once.",
)
async def redeliver(call: Call[Any], db: Database) -> service.Delivery:
    return await service.redeliver(db, caller=call.caller, **call.ids)


@routes.post(
    "/webhook/{webhook_id}/redelivery",
    scope="Webhook.Update",
    body=RedeliveryRequest,
    answer=Redelivery,
    status=200,
    summary="Redeliver a span of the event log",
    description="From `from_time` (until `to_time`), or behind the cursor `after`: all events that the webhook "
    f"subscribes to now, sent before or not. With the same `webhook-id`; at most "
    f"{service.REPLAY_EVENTS_MAX:,} events at a time.",
)
async def redeliver_span(call: Call[RedeliveryRequest], db: Database) -> Answer:
    await nouns.get(WEBHOOK, db, caller=call.caller, key=call.ids["webhook_id"])
    position = await _position(call, db)
    found = await service.replay(
        db,
        caller=call.caller,
        **call.ids,
        from_time=_instant(call.body.from_time),
        to_time=_instant(call.body.to_time),
        after=position,
    )
    cursor = None if found.last_id is None else log.cursor_of(found.last_id, secret=call.site.secret)
    return Answer(Redelivery(count=found.count, next_cursor=cursor))


async def _position(call: Call[RedeliveryRequest], db: Database) -> tuple[int, int] | None:
    """The position (xid, seq) of the cursor; raises Invalid if the request names no span."""
    body = call.body
    if body.after is None and body.from_time is None:
        raise errors.Invalid.at("/from_time", "required", "Either from_time or after is expected.")
    if body.after is None:
        return None
    try:
        event_id = log.event_id_of(body.after, secret=call.site.secret)
    except ValueError:
        message = "This is no cursor of the event log in its own order."
        raise errors.Invalid.at("/after", "invalid_cursor", message) from None
    wrong = FieldError("cursor_expired", log.EXPIRED, pointer="/after")
    organization_id = call.caller.organization_id
    return await log_service.position_of(db, organization_id=organization_id, event_id=event_id, wrong=wrong)


def _instant(moment: fields.Moment | None) -> datetime | None:
    return None if moment is None else moment.instant
