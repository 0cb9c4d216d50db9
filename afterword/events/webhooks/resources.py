"""What webhooks are on the wire."""

from datetime import tzinfo
from typing import Annotated

import msgspec
from msgspec import Meta

from afterword.core.messaging.webhooks import TYPE_DEFAULT
from afterword.core.wire.times import format_optional, format_time
from afterword.events.webhooks import store
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType

EventTypes = Annotated[
    list[fields.Text100], Meta(min_length=1, max_length=50, examples=[["queue_item.*", TYPE_DEFAULT]])
]


class WebhookRequest(fields.Request):
    """A new endpoint. No `questionnaire_id`, no `application_id`: of all of them."""

    title: fields.Text200
    target_url: fields.Url
    active: bool = True
    questionnaire_id: fields.Id | None = None
    application_id: fields.Id | None = None
    event_types: EventTypes = msgspec.field(default_factory=lambda: [TYPE_DEFAULT])


class WebhookUpdate(fields.Request):
    """What of an endpoint may change; `active` true switches one on again that failure switched off."""

    title: fields.Text200 | UnsetType = UNSET
    target_url: fields.Url | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    questionnaire_id: fields.Id | UnsetType | None = UNSET
    application_id: fields.Id | UnsetType | None = UNSET
    event_types: EventTypes | UnsetType = UNSET


class Webhook(fields.Answer):
    """An endpoint of yours that is told of events. `secret` signs them: shown when it is made, and never again."""

    webhook_id: fields.Id
    organization_id: fields.Id
    title: str
    active: bool
    target_url: str
    questionnaire_id: fields.Id | None
    application_id: fields.Id | None
    event_types: list[str]
    secret: str | None
    consecutive_failures: int
    disabled_time: fields.DateTime | None
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None

    @classmethod
    def of(cls, webhook: store.Webhook, zone: tzinfo, *, secret: str | None = None) -> "Webhook":
        """The record as the wire shows it, its times in the organization's zone."""
        return cls(
            webhook_id=webhook.webhook_id,
            organization_id=webhook.organization_id,
            title=webhook.title,
            active=webhook.active,
            target_url=webhook.target_url,
            questionnaire_id=webhook.questionnaire_id,
            application_id=webhook.application_id,
            event_types=list(webhook.event_types),
            secret=secret,
            consecutive_failures=webhook.consecutive_failures,
            disabled_time=format_optional(webhook.disabled_time, zone=zone),
            created_time=format_time(webhook.created_time, zone=zone),
            updated_time=format_time(webhook.updated_time, zone=zone),
            created_by=webhook.created_by,
            updated_by=webhook.updated_by,
        )
