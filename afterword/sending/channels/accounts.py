"""Kinds of provider accounts: their settings, their channels, and the readers of their callbacks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from afterword.core.messaging.networks import Network
from afterword.extras import smpp
from afterword.extras.smpp import Reporter
from afterword.kit.transport.base import EMAIL, SMS, WEBHOOK, Channel, read_settings
from afterword.kit.transport.http import Caller
from afterword.kit.transport.mime import Report, Unreadable
from afterword.sending.channels import webhook
from afterword.sending.channels.conversation import Login, Relay, parse_url, relay_of
from afterword.sending.channels.email import EmailChannel
from afterword.sending.channels.sms import gateway, twilio
from afterword.sending.channels.webhook import WebhookChannel

Kind = Literal["smtp", "sms_http", "sms_twilio", "smpp", "webhook"]
Settings = Mapping[str, Any]

DEFAULT: Final = "default"  # the kind of an account without settings, which uses the installation's channel
MASK: Final = "•••"
# Settings that are shown; all others may hold a secret.
_OPEN: Final = frozenset(
    {"account_sid", "sender", "messaging_service_sid", "host", "port", "system_id", "system_type", "tls",
     "long", "receipts", "receipt_ids", "no_address", "method", "form", "seconds", "idempotent", "encodings", "answer",
     "security", "username"}
)  # fmt: skip
# Settings that say where secrets are sent, and how; with what holds where they are absent.
_PLACE: Final[Settings] = {
    "host": None, "port": None, "security": "starttls", "tls": False, "url": None, "method": "POST",
}  # fmt: skip


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """Dependencies of channels: guarded calls, slots, the consumer of a session's receipts.

    `networks`: the private ones that servers of an account may be in; None: they may be anywhere.
    """

    caller: Caller
    slots: int
    report: Reporter
    networks: Sequence[Network] | None


class _Form(msgspec.Struct, frozen=True, kw_only=True):
    """The behaviour of one kind; `read` checks settings for the other functions, and raises ValueError."""

    channel_id: int
    read: Callable[[Settings], Any]
    make: Callable[[Any, Context], Channel]
    urls: Callable[[Any], list[str]] = lambda _settings: []  # the addresses that it calls
    host: Callable[[Any], str | None] = lambda _settings: None  # the one that it connects to, not by HTTP
    parse_callback: Callable[[Mapping[str, str], str, bytes, str, Any], list[Report]] | None = None
    takes_get: Callable[[Any], bool] = lambda _settings: False  # whether its provider may call back by GET


def _relay_of(settings: Settings) -> Relay:
    """The relay of an operator's `url`, which may name files and go without TLS, or of its parts."""
    url = settings.get("url")
    if url is None and settings:
        return relay_of(read_settings(settings, Login))
    if set(settings) != {"url"} or not isinstance(url, str):
        raise ValueError(
            "An smtp account has one setting, url: smtp://user:password@host:587 or smtps://…:465; "
            "or host, port, security, username and password."
        )
    return parse_url(url)


def _smtp(relay: Relay, context: Context) -> Channel:
    return EmailChannel(relay, slots=context.slots, networks=context.networks)


def _smpp(account: smpp.Account, context: Context) -> Channel:
    return smpp.SmppChannel(account, slots=context.slots, report=context.report, networks=context.networks)


def _webhook(account: webhook.Account, context: Context) -> Channel:
    return WebhookChannel(caller=context.caller, secrets_of=lambda _organization_id: account.secrets)


_FORMS: Final[Mapping[Kind, _Form]] = {
    "smtp": _Form(channel_id=EMAIL, read=_relay_of, make=_smtp, host=lambda relay: relay.host),
    "sms_http": _Form(
        channel_id=SMS,
        read=gateway.settings_of,
        make=lambda account, context: gateway.GatewayChannel(account, caller=context.caller),
        urls=lambda account: [gateway.filled(account.url, dict.fromkeys(gateway.PLACEHOLDERS, "x"), is_url=True)],
        parse_callback=gateway.parse_callback,
        takes_get=lambda account: account.receipt is not None and account.receipt.form == "query",
    ),
    "sms_twilio": _Form(
        channel_id=SMS,
        read=twilio.settings_of,
        make=lambda account, context: twilio.TwilioChannel(account, caller=context.caller),
        urls=lambda account: [account.url],
        parse_callback=twilio.parse_callback,
    ),
    "smpp": _Form(channel_id=SMS, read=smpp.settings_of, make=_smpp, host=lambda account: account.host),
    "webhook": _Form(channel_id=WEBHOOK, read=webhook.settings_of, make=_webhook),
}
CHANNELS: Final[Mapping[Kind, int]] = {kind: form.channel_id for kind, form in _FORMS.items()}
CALLED_BACK: Final = frozenset(kind for kind, form in _FORMS.items() if form.parse_callback is not None)


def kind_of(text: str) -> Kind | None:
    return text if text in _FORMS else None


def make(kind: Kind, settings: Settings, context: Context) -> Channel:
    form = _FORMS[kind]
    return form.make(form.read(settings), context)


def urls_of(kind: Kind, settings: Settings) -> list[str]:
    """The addresses that it calls. Raises ValueError for settings that cannot be used."""
    form = _FORMS[kind]
    return form.urls(form.read(settings))


def host_of(kind: Kind, settings: Settings) -> str | None:
    form = _FORMS[kind]
    return form.host(form.read(settings))


def takes_get(kind: str, settings: Settings) -> bool:
    known = kind_of(kind)
    return known is not None and _FORMS[known].takes_get(_FORMS[known].read(settings))


def parse_callback(
    kind: str, settings: Settings, *, headers: Mapping[str, str], query: str, body: bytes, url: str
) -> list[Report]:
    """Read a provider's callback by the kind of its account. Header names in lower case.

    `url` is the address that was called, with its query. Raises `reports.Unsigned` and `reports.Unreadable`.
    """
    known = kind_of(kind)
    form = None if known is None else _FORMS[known]
    if form is None or form.parse_callback is None:
        raise Unreadable("This kind of account is not called back.")
    return form.parse_callback(headers, query, body, url, form.read(settings))


def masked(settings: Settings) -> dict[str, Any]:
    return {name: value if name in _OPEN else MASK for name, value in settings.items()}


def shown(settings: Settings) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name in _OPEN}


def secrets_in(settings: Settings) -> list[str]:
    return sorted(name for name, value in settings.items() if name not in _OPEN and value)


def needed_again(before: Settings, changes: Settings) -> list[str]:
    """The secrets that must come with these changes: who may redirect an account shall not learn its secrets so."""
    after = {**before, **changes}
    moved = any((before.get(name) or value) != (after.get(name) or value) for name, value in _PLACE.items())
    return [name for name in secrets_in(before) if name not in changes] if moved else []
