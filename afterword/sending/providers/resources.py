"""The request and answer structs of provider accounts."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from afterword.kit.web import fields
from afterword.kit.web.fields import UNSET, UnsetType
from afterword.sending.channels.accounts import Kind
from afterword.sending.providers import service

Settings = Annotated[
    dict[str, Any],
    Meta(examples=[{"host": "smtp.example.com", "security": "tls", "username": "shop", "password": "…"}]),
]
Rate = Annotated[float, Meta(ge=service.RATE_MIN, le=service.RATE_MAX)]


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


class DnsQuery(msgspec.Struct, kw_only=True):
    """The selector of the DKIM key; without one, those that are common and those of known providers."""

    selector: Annotated[str, Meta(min_length=1, max_length=63)] | None = None


class DomainFinding(fields.Resource):
    """A record of a domain. `found`: the texts that stand at `name`; `record`: the text to set, if it can be known."""

    kind: Literal["spf", "dkim", "dmarc"]
    state: Literal["good", "weak", "wrong", "missing", "unknown"]
    code: str
    message: str
    name: str
    found: list[str]
    record: str | None


class SenderDomain(fields.Answer):
    """A domain that mails are sent from, with what DNS says of it."""

    domain: str
    findings: list[DomainFinding]


class ProviderDns(fields.Answer):
    """The records of the domains that an account sends from, at most five."""

    account_id: fields.Id
    domains: list[SenderDomain]


class ReportedShare(fields.Resource):
    """Messages of which something was reported, as a share with its interval of 95 %. `is_high`: all of it is above."""

    count: int
    share: float | None
    low: float | None
    high: float | None
    share_max: float
    is_high: bool


class SlowDomain(fields.Answer):
    """A recipient domain that throttles, and how many messages a second go there."""

    domain: str
    rate: float


class ProviderHealth(fields.Answer):
    """The newest 2,000 messages of 30 days that the account's pipelines sent, and reports of them."""

    account_id: fields.Id
    sent: int
    last_sent_time: fields.DateTime | None
    bounces: ReportedShare
    complaints: ReportedShare
    slow_domains: list[SlowDomain]


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
