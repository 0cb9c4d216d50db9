"""Kinds of provider accounts: what settings each takes, which channel they make, who reads their callbacks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from afterword.channels import webhook
from afterword.channels.base import EMAIL, SMS, WEBHOOK, Channel
from afterword.channels.email import EmailChannel
from afterword.channels.http import Caller
from afterword.channels.relay import parse_url
from afterword.channels.reports import Report, Unreadable
from afterword.channels.sms import gateway, smpp, twilio
from afterword.channels.sms.smpp import Reporter
from afterword.channels.webhook import WebhookChannel

Kind = Literal["smtp", "sms_http", "sms_twilio", "smpp", "webhook"]
Settings = Mapping[str, Any]

CHANNELS: Final[Mapping[Kind, int]] = {
    "smtp": EMAIL,
    "sms_http": SMS,
    "sms_twilio": SMS,
    "smpp": SMS,
    "webhook": WEBHOOK,
}
DEFAULT: Final = "default"  # the kind of an account without settings: the installation's own way
CALLED_BACK: Final[frozenset[str]] = frozenset({"sms_http", "sms_twilio"})
MASK: Final = "•••"
# Shown as they are; everything else in an account's settings may be, or may carry, a secret.
_OPEN: Final = frozenset(
    {"account_sid", "sender", "messaging_service_sid", "host", "port", "system_id", "system_type", "tls",
     "long", "receipts", "no_address", "method", "form", "seconds", "idempotent", "answer"}
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Dependencies of channels: guarded calls, slots, the consumer of receipts that a session returns."""

    caller: Caller
    slots: int
    report: Reporter


def kind_of(text: str) -> Kind | None:
    """The kind of this name."""
    return text if text in CHANNELS else None


def check(kind: Kind, settings: Settings) -> None:
    """Raises ValueError with a sentence that quotes no value."""
    match kind:
        case "smtp":
            _relay_of(settings)
        case "sms_http":
            gateway.settings_of(settings)
        case "sms_twilio":
            twilio.settings_of(settings)
        case "smpp":
            smpp.settings_of(settings)
        case "webhook":
            webhook.settings_of(settings)


def make(kind: Kind, settings: Settings, ground: Context) -> Channel:
    """The channel of an account; raises ValueError as `check` does."""
    match kind:
        case "smtp":
            return EmailChannel(_relay_of(settings), slots=ground.slots)
        case "sms_http":
            return gateway.GatewayChannel(gateway.settings_of(settings), caller=ground.caller)
        case "sms_twilio":
            return twilio.TwilioChannel(twilio.settings_of(settings), caller=ground.caller)
        case "smpp":
            return smpp.SmppChannel(smpp.settings_of(settings), slots=ground.slots, report=ground.report)
        case "webhook":
            secrets = webhook.settings_of(settings).secrets
            return WebhookChannel(caller=ground.caller, secrets_of=lambda _organization_id: secrets)


def parse_callback(
    kind: str, settings: Settings, *, headers: Mapping[str, str], query: str, body: bytes, url: str
) -> list[Report]:
    """Read a provider's callback by the kind of its account. Header names in lower case.

    `url` is the address that was called, with its query. Raises `reports.Unsigned` and `reports.Unreadable`.
    """
    match kind:
        case "sms_http":
            return gateway.parse_callback(headers, query, body, url, gateway.settings_of(settings))
        case "sms_twilio":
            return twilio.parse_callback(headers, query, body, url, twilio.settings_of(settings))
        case _:
            raise Unreadable("This kind of account is not called back.")


def urls_of(kind: Kind, settings: Settings) -> list[str]:
    """The addresses that it calls, as they would be called: to be judged before they are saved."""
    match kind:
        case "sms_http":
            return [gateway.sample_url(gateway.settings_of(settings))]
        case "sms_twilio":
            return [twilio.settings_of(settings).url]
        case _:
            return []


def masked(settings: Settings) -> dict[str, Any]:
    """The settings as they may be shown: what could be a secret is not."""
    return {name: value if name in _OPEN else MASK for name, value in settings.items()}


def _relay_of(settings: Settings) -> str:
    """The relay's address, the one setting of an smtp account."""
    url = settings.get("url")
    if set(settings) != {"url"} or not isinstance(url, str):
        raise ValueError("An smtp account has one setting, url: smtp://user:password@host:587 or smtps://…:465.")
    parse_url(url)
    return url
