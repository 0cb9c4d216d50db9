"""The request and answer structs of webhooks."""

from typing import Annotated

import msgspec
from msgspec import Meta

from afterword.core.messaging.webhooks import TYPE_DEFAULT
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
    """Changes of an endpoint; `active` true switches one on again that failures switched off."""

    title: fields.Text200 | UnsetType = UNSET
    target_url: fields.Url | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    questionnaire_id: fields.Id | UnsetType | None = UNSET
    application_id: fields.Id | UnsetType | None = UNSET
    event_types: EventTypes | UnsetType = UNSET


class Webhook(fields.Resource):
    """An endpoint of yours that receives events. `secret` signs them: shown when it is created, and never again."""

    webhook_id: fields.Id
    organization_id: fields.Id
    title: str
    active: bool
    target_url: str
    questionnaire_id: fields.Id | None
    application_id: fields.Id | None
    event_types: list[str]
    secret: fields.ShownOnce
    consecutive_failures: int
    disabled_time: fields.DateTime | None
    created_time: fields.DateTime
    updated_time: fields.DateTime
    created_by: fields.Id | None
    updated_by: fields.Id | None
