"""The HTTP routes of notifications and subscriptions of the token's user."""

from datetime import tzinfo
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from afterword.cases.notifications import service, store
from afterword.core.wire.lists import Rows
from afterword.core.wire.times import format_time
from afterword.kit.db import Database
from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.kit.web.operations import Answer, Call, Routes

routes = Routes(tag="Notifications")

DEFAULTS: Final = (
    "A type that is not named is notified on the web, and by mail only new alert instances, plans, disabled webhooks. "
    "Types of single messages, responses and people (queue_item, questionnaire_instance, answer, responder, "
    "suppression, tag) are notified only if named."
)

Digest = Literal["none", "daily", "weekly"]


class NotificationUpdate(fields.Request):
    """Marks a notification as read, or as unread."""

    read: bool | UnsetType = UNSET


class Notification(fields.Resource):
    """A notification of an event to a user. `link` is the API path of its subject."""

    notification_id: fields.Id
    user_id: fields.Id
    event_id: fields.Id
    type: str
    title: str
    body: str
    link: str | None
    read: bool
    read_time: fields.DateTime | None
    created_time: fields.DateTime


class NotificationWays(fields.Request):
    """The channels of one type of event."""

    web: bool
    email: bool


class NotificationWatch(fields.Request):
    """A watched thing."""

    entity: Literal["organization", "application", "questionnaire", "alert", "user"]
    entity_id: fields.Id


Watches = Annotated[list[NotificationWatch], Meta(max_length=service.WATCHES_MAX)]


class NotificationSubscriptionRequest(fields.Request):
    """The whole subscription of a user; members that are left out get their defaults."""

    types: dict[str, NotificationWays] = msgspec.field(default_factory=dict[str, NotificationWays])
    watches: Watches = msgspec.field(default_factory=list[NotificationWatch])
    digest: Digest = "none"

    def chosen(self) -> dict[str, Any]:
        """The members as the service takes them."""
        return {
            "types": {name: {"web": ways.web, "email": ways.email} for name, ways in self.types.items()},
            "watches": [(watch.entity, watch.entity_id) for watch in self.watches],
            "digest": self.digest,
        }


class NotificationSubscription(fields.Answer):
    """The subscription of a user: types of events and watched things. A type that is not named has its default."""

    user_id: fields.Id
    types: dict[str, NotificationWays]
    watches: list[NotificationWatch]
    digest: Digest
    updated_time: fields.DateTime

    @classmethod
    def of(
        cls, subscription: store.Subscription, watches: list[store.Watch], zone: tzinfo
    ) -> "NotificationSubscription":
        found: list[dict[str, Any]] = [{"entity": entity, "entity_id": entity_id} for entity, entity_id in watches]
        digest: Any = subscription.digest
        return cls(
            user_id=subscription.user_id,
            types={name: NotificationWays(**channels) for name, channels in subscription.types.items()},
            watches=[NotificationWatch(**watch) for watch in found],
            digest=digest,
            updated_time=format_time(subscription.updated_time, zone=zone),
        )


@routes.list(
    "/notification",
    scope="Notification.Read",
    answer=Notification,
    summary="Get all notifications",
    description="Those of the token's user; a token of the organization has none, nor has one for tests.",
)
async def list_notifications(call: Call[None], db: Database) -> Answer:
    if call.caller.user_id is None or call.caller.test:
        return Answer(Rows([], 0 if call.page.with_total else None))
    rows = await store.list_notifications(
        db, organization_id=call.caller.organization_id, user_id=call.caller.user_id, page=call.page
    )
    return Answer(Notification.of_rows(rows, call.zone))


@routes.patch(
    "/notification/{notification_id}",
    scope="Notification.Update",
    body=NotificationUpdate,
    answer=Notification,
    summary="Update Notification",
)
async def update_notification(call: Call[NotificationUpdate], db: Database) -> service.Notification:
    return await service.mark_read(
        db,
        caller=call.caller,
        **call.ids,
        read=None if call.body.read is UNSET else call.body.read,
        now=call.now,
        expect=call.expect,
    )


@routes.get(
    "/notification/subscription",
    scope="Notification.Read",
    answer=NotificationSubscription,
    summary="Get Notification Subscription",
    description=f"{DEFAULTS} A user without a subscription watches the things that they created.",
    refusals=("not_found",),
)
async def get_subscription(call: Call[None], db: Database) -> Answer:
    subscription, watches = await service.get_subscription(db, caller=call.caller)
    return Answer(NotificationSubscription.of(subscription, watches, call.zone), version=subscription.version)


@routes.put(
    "/notification/subscription",
    scope="Notification.Update",
    body=NotificationSubscriptionRequest,
    answer=NotificationSubscription,
    summary="Replace Notification Subscription",
    description=f"All of it. {DEFAULTS}",
    refusals=("not_found",),
)
async def replace_subscription(call: Call[NotificationSubscriptionRequest], db: Database) -> Answer:
    subscription, watches = await service.subscribe(
        db, caller=call.caller, **call.body.chosen(), now=call.now, expect=call.expect
    )
    return Answer(NotificationSubscription.of(subscription, watches, call.zone), version=subscription.version)
