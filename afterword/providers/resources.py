"""The request and answer structs of provider accounts."""

from typing import Annotated, Any, Literal, get_args

from msgspec import Meta

from afterword.channels.accounts import Kind
from afterword.providers import service
from afterword.web import fields
from afterword.web.fields import UNSET, UnsetType

Settings = Annotated[
    dict[str, Any],
    Meta(examples=[{"host": "smtp.example.com", "security": "tls", "username": "shop", "password": "…"}]),
]
Rate = Annotated[float, Meta(ge=service.RATE_MIN, le=service.RATE_MAX)]
KINDS = get_args(Kind)


class ProviderRequest(fields.Request):
    """A new account. `settings` as its kind has them; `rate_ceiling`: at most so many messages a second."""

    kind: Kind
    title: fields.Text200
    settings: Settings
    is_default: bool = False
    rate_ceiling: Rate | None = None


class ProviderUpdate(fields.Request):
    """Changes of an account. `settings` that are not named stay, null removes one."""

    title: fields.Text200 | UnsetType = UNSET
    settings: Settings | UnsetType = UNSET
    is_default: bool | UnsetType = UNSET
    rate_ceiling: Rate | UnsetType | None = UNSET


class PauseRequest(fields.Request):
    """The reason is shown to people who ask why a message waits."""

    reason: fields.Text500


class Provider(fields.Resource):
    """An account at a provider. `settings` shows those without a secret, `secrets` the names of the others.

    `is_own`: the organization made it, and may change it. `rate` is today's, `rate_ceiling` its limit, both a second.
    `inbound_url` is where its provider reports, null where it reports over the connection or not at all.
    """

    account_id: fields.Id
    organization_id: fields.Id
    channel_id: fields.ChannelId
    kind: Literal["default", "smtp", "sms_http", "sms_twilio", "smpp", "webhook"]
    title: str | None
    is_default: bool
    is_own: bool
    state: Literal["active", "paused", "resting"]
    settings: dict[str, Any]
    secrets: list[str]
    rate: float | None
    rate_ceiling: float | None
    slots: Annotated[int, fields.named("slots_max")]
    pipelines: int
    failures: int
    resting_until: Annotated[fields.DateTime, fields.named("open_until")] | None
    paused_time: fields.DateTime | None
    paused_reason: str | None
    inbound_url: fields.Computed[str | None]
    created_time: fields.DateTime
